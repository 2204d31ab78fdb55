//! Prefixes that loggers put before a line: its time, its level and the name of its writer.

/// Longest name of a program.
const MAX_SERVICE: usize = 40;

/// Longest text before a line in a log.
const MAX_LOG: usize = 120;

/// The levels of logs.
const LEVELS: [&[u8]; 12] = [
    b"TRACE",
    b"DEBUG",
    b"INFO",
    b"NOTICE",
    b"WARNING",
    b"WARN",
    b"ERROR",
    b"CRITICAL",
    b"FATAL",
    b"info",
    b"debug",
    b"error",
];

/// `2025-04-02T10:11:12Z INFO app: line`, `[10:11:12] line`, `Apr  2 10:11:12 host app[3]: line`, `INFO: line`
pub fn log(line: &[u8]) -> Option<usize> {
    let time = time(line);
    let rest = line.get(time..)?;
    let level = level(rest);
    if time == 0 && level == 0 {
        return None;
    }
    let rest = rest.get(level..)?;
    Some(time + level + source(rest))
}

/// The length of a time and the blanks behind it.
fn time(line: &[u8]) -> usize {
    let month = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let start = if month == 3 {
        3
    } else {
        usize::from(line.first() == Some(&b'['))
    };
    let is_time = |byte: &u8| {
        byte.is_ascii_digit()
            || matches!(
                byte,
                b':' | b'-' | b'.' | b',' | b'T' | b'Z' | b'/' | b'+' | b' ' | b']'
            )
    };
    let rest = line.get(start..).unwrap_or_default();
    let length = rest.iter().take(40).take_while(|byte| is_time(byte)).count();
    let stamp = rest.get(..length).unwrap_or_default();
    let colons = memchr::memchr_iter(b':', stamp).count();
    let digits = stamp.iter().filter(|byte| byte.is_ascii_digit()).count();
    // A sign at its end begins what follows.
    let blanks = memchr::memrchr(b' ', stamp).map_or(0, |at| at + 1);
    let is_end = stamp
        .get(blanks..)
        .is_some_and(|tail| !tail.iter().any(u8::is_ascii_digit));
    if colons >= 2 && digits >= 6 && blanks > 0 && is_end {
        start + blanks
    } else {
        0
    }
}

/// The length of a level, in brackets or not, and of what stands behind it.
fn level(line: &[u8]) -> usize {
    let open = usize::from(matches!(line.first(), Some(b'[' | b'<')));
    let rest = line.get(open..).unwrap_or_default();
    let Some(level) = LEVELS.iter().find(|level| rest.starts_with(level)) else {
        return 0;
    };
    let behind = rest.get(level.len()..).unwrap_or_default();
    let signs = behind
        .iter()
        .take(8)
        .take_while(|byte| matches!(byte, b']' | b'>' | b':' | b' ' | b'-'))
        .count();
    if signs > 0 { open + level.len() + signs } else { 0 }
}

/// The length of the name of what wrote a line: `[main] `, `app.db: `, `host app[12]: `.
fn source(line: &[u8]) -> usize {
    let window = line.get(..line.len().min(MAX_LOG)).unwrap_or_default();
    let is_name = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'.' | b'-' | b'_' | b'[' | b']' | b'(' | b')' | b'/' | b'$')
    };
    let mut at = 0;
    for _ in 0..4 {
        let rest = window.get(at..).unwrap_or_default();
        let name = rest.iter().take_while(|byte| is_name(byte)).count();
        match rest.get(name..) {
            Some([b':', b' ', ..]) if name > 0 && rest.get(..name).is_some_and(is_source) => at += name + 2,
            Some([b' ', b'-', b' ', ..]) if name > 0 => at += name + 3,
            Some([b' ', ..]) if rest.first() == Some(&b'[') => at += name + 1,
            Some([b' ', ..]) if name > 0 && host_of(rest.get(name + 1..).unwrap_or_default()) => {
                at += name + 1;
            }
            Some([b'-', b' ', ..]) => at += 2,
            _ => break,
        }
    }
    at
}

/// Returns true if a name before a colon is that of a program and not of a setting.
fn is_source(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b'.' | b'[' | b'/'))
}

/// Returns true if a program and its number follow: `app[12]: `.
fn host_of(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take(MAX_SERVICE)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        .count();
    name > 0 && rest.get(name) == Some(&b'[')
}
