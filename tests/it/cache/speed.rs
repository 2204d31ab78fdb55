//! What keeping an answer on disk costs. Ignored unless asked for, since it measures; `TRAJFIT_BENCH_DIR` names the disk:
//! `cargo test --release --test it cache::speed -- --ignored --nocapture`.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, named_params};
use trajfit::internals::cache::{AnswerCache, CacheAccess, FILE};
use trajfit::internals::summarize::answers::{AnswerKey, AnswerKind, AnswerStore, KeptAnswer};

/// As many answers a second as a fast server gives, for so long.
const RATE: usize = 250;
const SECONDS: usize = 8;

fn folder() -> tempfile::TempDir {
    match std::env::var_os("TRAJFIT_BENCH_DIR") {
        Some(disk) => tempfile::tempdir_in(disk).unwrap(),
        None => tempfile::tempdir().unwrap(),
    }
}

fn store(folder: &Path) -> AnswerCache {
    let store = AnswerCache::new(
        folder.to_owned(),
        CacheAccess::Keep,
        Box::new(|warning| println!("{warning}")),
    );
    store.open().unwrap();
    store
}

fn key(number: usize) -> AnswerKey {
    AnswerKey::of(&[&number.to_string()])
}

fn answer(number: usize) -> KeptAnswer {
    KeptAnswer {
        kind: AnswerKind::Summary,
        text: format!("Step {number} was done and it worked.\n").repeat(100),
        redactions: 0,
        model: "a-model".to_owned(),
        prompt_tokens: 12_000,
        completion_tokens: 700,
    }
}

/// Does something so often at the pace of a server, and tells how long each took.
fn paced(what: &str, mut each: impl FnMut(usize)) {
    let started = Instant::now();
    let mut times: Vec<Duration> = (0..RATE * SECONDS)
        .map(|number| {
            let due = Duration::from_secs_f64(number as f64 / RATE as f64);
            std::thread::sleep(due.saturating_sub(started.elapsed()));
            let began = Instant::now();
            each(number);
            began.elapsed()
        })
        .collect();
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    let total: Duration = times.iter().sum();
    println!(
        "{what:28} mean {:.3} ms, median {:.3}, p99 {:.3}, longest {:.1}; {:.1} % of the time",
        ms(total) / times.len() as f64,
        at(0.5),
        at(0.99),
        at(1.0),
        100.0 * total.as_secs_f64() / started.elapsed().as_secs_f64()
    );
}

#[test]
#[ignore = "it measures"]
fn keeping_an_answer() {
    let folder = folder();
    let kept = store(&folder.path().join("ours"));
    paced("put", |number| drop(kept.put(&key(number), answer(number))));
    paced("get", |number| drop(kept.get(&key(number)).unwrap()));
    paced("get what is not there", |number| {
        drop(kept.get(&key(number + 1_000_000)));
    });
    let began = Instant::now();
    kept.close();
    println!("{:28} {:.1} ms", "close", began.elapsed().as_secs_f64() * 1e3);
    let bytes = folder.path().join("ours").join(FILE).metadata().unwrap().len();
    println!(
        "{:28} {bytes} bytes for {} answers of {} bytes",
        "file",
        RATE * SECONDS,
        answer(1).text.len()
    );
    let began = Instant::now();
    store(&folder.path().join("ours"));
    println!(
        "{:28} {:.2} ms",
        "open, with its check",
        began.elapsed().as_secs_f64() * 1e3
    );
    for synchronous in ["FULL", "NORMAL"] {
        let other = Connection::open(folder.path().join(synchronous)).unwrap();
        other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (id INTEGER PRIMARY KEY, key BLOB UNIQUE, text TEXT)").unwrap();
        other.pragma_update(None, "synchronous", synchronous).unwrap();
        paced(&format!("plain, synchronous={synchronous}"), |number| {
            let mut statement = other
                .prepare_cached("INSERT INTO a (key, text) VALUES (:key, :text)")
                .unwrap();
            let (key, answer) = (key(number), answer(number));
            statement
                .execute(named_params! {":key": key.bytes(), ":text": answer.text})
                .unwrap();
        });
    }
}
