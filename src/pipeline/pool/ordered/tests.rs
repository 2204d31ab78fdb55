//! Tests of the line from reader to taker: order is kept, and a waiting batch delays no other.

use std::io::Write as _;
use std::path::Path;

use tokio::sync::Semaphore;

use super::*;
use crate::pipeline::pool::reorder_buffer::Overflow;
use crate::pipeline::pool::spill::Spill;
use crate::pipeline::read::batch::Position;
use crate::pipeline::read::inputs::sources;
use crate::pipeline::{Counters, Sample};

/// Number of lines, each a batch.
const LINES: usize = 24;

fn feed(folder: &Path) -> Feed {
    let path = folder.join("in.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    for number in 0..LINES {
        let line = format!("{number} {}\n", "x".repeat(256 * 1024));
        file.write_all(line.as_bytes()).unwrap();
    }
    Feed {
        sources: sources(&[path]).unwrap(),
        from: (0, Position::default()),
        limit: None,
        sample: Sample::ALL,
        max_record_bytes: u64::MAX,
        merged: false,
        counters: Arc::new(Counters::default()),
        help: "",
    }
}

/// A window of four batches.
fn window() -> Arc<Window> {
    Arc::new(Window::new(Share {
        bytes: 4 * 257 * 1024 * BATCH_WEIGHT,
        batches: 4,
    }))
}

/// Takes all lines, the first of which is done after all others; gives up after a time that no passing test needs.
fn lines_taken(folder: &Path, spill_file: &Path) -> Vec<String> {
    let stop = Arc::new(AtomicBool::new(false));
    let others = Arc::new(Semaphore::new(0));
    let process = move |batch: ReadBatch| {
        let others = Arc::clone(&others);
        async move {
            let line = batch.items[0].line;
            if line == 1 {
                let _all = others.acquire_many(LINES as u32 - 1).await.unwrap();
            } else {
                others.add_permits(1);
            }
            let result = format!("{line} of {}", batch.bytes.len()).into_bytes();
            (batch, result)
        }
    };
    let mut taken = Vec::new();
    let take = |batch: &ReadBatch, result: Vec<u8>| {
        let number = batch.bytes.split(|byte| *byte == b' ').next().unwrap();
        let number = String::from_utf8_lossy(number);
        taken.push(format!("{number}: {}", String::from_utf8(result).unwrap()));
        Ok(())
    };
    let overflow = Overflow {
        spill: Spill::new(spill_file.to_owned()),
        texts: |batch, result: &mut Vec<u8>| vec![&mut batch.bytes, result],
    };
    let window = window();
    let line = ResultLine {
        jobs: 2,
        window: &window,
        stop: &stop,
    };
    let (ended, is_over) = mpsc::channel::<()>();
    let giving_up = Arc::clone(&stop);
    let guard = thread::spawn(move || {
        if is_over.recv_timeout(Duration::from_secs(30)) == Err(RecvTimeoutError::Timeout) {
            giving_up.store(true, Ordering::Relaxed);
        }
    });
    line.run(feed(folder), Some(overflow), process, take).unwrap();
    drop(ended);
    guard.join().unwrap();
    taken
}

#[test]
fn one_that_waits_for_all_others_holds_nobody_up_and_order_stays() {
    let folder = tempfile::tempdir().unwrap();
    let taken = lines_taken(folder.path(), &folder.path().join("out.spill"));
    let expected = (0..LINES).map(|number| {
        let bytes = number.to_string().len() + 1 + 256 * 1024 + 1;
        format!("{number}: {} of {bytes}", number + 1)
    });
    assert_eq!(taken, expected.collect::<Vec<_>>());
    assert!(!folder.path().join("out.spill").exists());
}
