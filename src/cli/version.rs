//! The text of `--version`: the program's version and those of the engines that count tokens.

/// The program's version, then a line for each engine. Equal engines count equally, so a report of a wrong count
/// should carry these lines.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nbpe ",
    env!("CARGO_PKG_VERSION"),
    "\ntokenizers 0.23.2",
);

#[cfg(test)]
mod tests {
    use super::LONG;

    #[test]
    fn the_engine_versions_are_those_that_are_built_in() {
        let lock = include_str!("../../Cargo.lock");
        for line in LONG.lines().skip(2) {
            let (name, version) = line.split_once(' ').unwrap();
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{name} {version}");
        }
    }
}
