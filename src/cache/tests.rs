//! The cache with other processes, a full disk, damage and pruning.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex as StdMutex};

use tempfile::TempDir;

use super::*;

pub(super) fn answer(text: &str) -> KeptAnswer {
    KeptAnswer {
        kind: AnswerKind::Summary,
        text: text.to_owned(),
        redactions: 2,
        model: "m".to_owned(),
        prompt_tokens: 1000,
        completion_tokens: 10,
    }
}

pub(super) fn key(number: usize) -> AnswerKey {
    AnswerKey::of(&[&number.to_string()])
}

/// A cache, and the warnings that it gives.
fn store(folder: &Path, access: CacheAccess) -> (AnswerCache, Arc<StdMutex<Vec<String>>>) {
    let warnings = Arc::new(StdMutex::new(Vec::new()));
    let told = Arc::clone(&warnings);
    let warn = move |warning: &str| told.lock().unwrap().push(warning.to_owned());
    (
        AnswerCache::new(folder.to_owned(), access, Box::new(warn)),
        warnings,
    )
}

pub(super) fn opened(folder: &Path) -> AnswerCache {
    let (store, _) = store(folder, CacheAccess::Keep);
    store.open().unwrap();
    store
}

pub(super) fn sql(store: &AnswerCache, statement: &str) {
    let open = lock(&store.open);
    open.as_ref()
        .unwrap()
        .connection
        .execute_batch(statement)
        .unwrap();
}

fn refusal(folder: &Path) -> NotReady {
    store(folder, CacheAccess::Keep).0.open().unwrap_err()
}

/// A folder with a closed cache of this many answers.
fn filled(answers: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path());
    for number in 0..answers {
        store.put(
            &key(number),
            answer(&format!("{number} {}", "words ".repeat(200))),
        );
    }
    store.close();
    folder
}

#[test]
fn what_was_put_is_there_for_other_connections_and_later_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (opened(folder.path()), opened(folder.path()));
    assert_eq!(one.put(&key(1), answer("first")), answer("first"));
    assert_eq!(other.get(&key(1)), Some(answer("first")));
    assert_eq!(other.put(&key(1), answer("second")), answer("first"));
    assert_eq!(other.get(&key(2)), None);
    one.close();
    other.close();
    assert_eq!(opened(folder.path()).get(&key(1)), Some(answer("first")));
}

#[test]
fn what_was_put_is_in_the_files_at_that_moment_as_a_killed_process_leaves_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path());
    for number in 0..300 {
        store.put(&key(number), answer(&number.to_string()));
        if number % 60 == 59 {
            let left = tempfile::tempdir().unwrap();
            for file in file_name::files(folder.path()) {
                // Shared memory does not survive a kill.
                if !file.to_string_lossy().ends_with("-shm") {
                    std::fs::copy(&file, left.path().join(file.file_name().unwrap())).unwrap();
                }
            }
            let found = opened(left.path());
            assert!((0..=number).all(|number| found.get(&key(number)).is_some()));
        }
    }
}

#[test]
fn several_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let kept = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (folder, kept) = (folder.path(), &kept);
            scope.spawn(move || {
                // None of them finds a file, and all try to create it.
                let (store, warnings) = store(folder, CacheAccess::Keep);
                store.open().unwrap();
                for number in 0..100 {
                    store.put(&key(writer * 50 + number), answer("x"));
                    kept.fetch_add(1, Ordering::Relaxed);
                }
                assert!(warnings.lock().unwrap().is_empty());
            });
        }
    });
    assert_eq!(kept.load(Ordering::Relaxed), 400);
    assert_eq!(stats(folder.path()).unwrap().unwrap().answers, 250);
}

#[test]
fn nothing_is_made_before_it_is_opened_nor_for_looking() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a/b");
    let (keeping, _) = store(&place, CacheAccess::Keep);
    assert_eq!(keeping.get(&key(1)), None);
    let (looking, _) = store(&place, CacheAccess::Look);
    looking.open().unwrap();
    looking.put(&key(1), answer("x"));
    assert!(!place.exists());
    assert_eq!(stats(&place).unwrap(), None);
    assert_eq!(prune(&place, Prune::All).unwrap(), None);
    keeping.open().unwrap();
    assert!(place.join(FILE).exists());
}

#[test]
fn looking_changes_nothing() {
    let folder = filled(3);
    let before = std::fs::read(folder.path().join(FILE)).unwrap();
    let (looking, warnings) = store(folder.path(), CacheAccess::Look);
    looking.open().unwrap();
    assert!(looking.get(&key(1)).is_some());
    looking.put(&key(9), answer("x"));
    looking.close();
    assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), before);
    assert_eq!(warnings.lock().unwrap().len(), 1);
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "the log is gone");
}

#[test]
fn a_store_that_takes_nothing_more_warns_once_and_remembers_for_the_run() {
    for statement in ["PRAGMA max_page_count = 1", "PRAGMA query_only = true"] {
        let folder = filled(5);
        let (store, warnings) = store(folder.path(), CacheAccess::Keep);
        store.open().unwrap();
        sql(&store, statement);
        let long = answer(&"long ".repeat(5000));
        for number in 10..20 {
            assert_eq!(store.put(&key(number), long.clone()), long);
        }
        assert!((10..20).all(|number| store.get(&key(number)) == Some(long.clone())));
        assert!(store.get(&key(1)).is_some());
        let warnings = warnings.lock().unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("cannot write the cache"), "{warnings:?}");
    }
}

#[test]
fn damage_is_told_with_what_helps_and_pruning_all_mends_it() {
    let whole = std::fs::read(filled(40).path().join(FILE)).unwrap();
    let page = |number: usize| number * 4096..(number + 1) * 4096;
    let mut no_header = whole.clone();
    no_header[..100].fill(b'x');
    let mut bad_page = whole.clone();
    bad_page[page(5)].fill(0xA5);
    let damaged = [
        no_header,
        bad_page,
        whole[..whole.len() / 2].to_vec(),
        b"not a database at all, but text of some length".repeat(10),
    ];
    for bytes in damaged {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), bytes).unwrap();
        let refused = refusal(folder.path());
        assert!(refused.message.contains("is damaged"), "{}", refused.message);
        assert!(refused.help.contains("cache prune") && refused.help.contains("--no-cache"));
        assert!(stats(folder.path()).is_err());
        assert!(prune(folder.path(), Prune::MaxSize(10)).is_err());
        let pruned = prune(folder.path(), Prune::All).unwrap().unwrap();
        assert_eq!((pruned.removed, pruned.bytes), (None, 0));
        opened(folder.path()).put(&key(1), answer("x"));
    }
}

#[test]
fn a_file_of_another_program_or_a_later_version_is_left_alone() {
    for (statement, says) in [
        ("PRAGMA application_id = 5", "no cache of answers"),
        ("PRAGMA user_version = 99", "a later version"),
        ("ALTER TABLE answers RENAME TO others", "is damaged"),
    ] {
        let folder = filled(2);
        let store = opened(folder.path());
        sql(&store, statement);
        store.close();
        let before = std::fs::read(folder.path().join(FILE)).unwrap();
        let refused = refusal(folder.path());
        assert!(refused.message.contains(says), "{}", refused.message);
        assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), before);
    }
    let folder = tempfile::tempdir().unwrap();
    let other = Connection::open(folder.path().join(FILE)).unwrap();
    other.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(other);
    assert!(refusal(folder.path()).message.contains("no cache of answers"));
    assert!(prune(folder.path(), Prune::All).is_err());
}

#[test]
fn a_place_that_cannot_be_written_is_refused_at_once() {
    let refused = refusal(Path::new("/proc/trajfit/cache"));
    assert!(refused.message.contains("/proc/trajfit"), "{}", refused.message);
    assert!(refused.help.contains("--no-cache") && refused.help.contains("--cache"));
}

#[test]
fn stats_say_how_much_there_is_of_whom_and_since_when() {
    let folder = filled(3);
    let store = opened(folder.path());
    let others = KeptAnswer {
        model: "other".to_owned(),
        ..answer("of another model")
    };
    store.put(&key(7), others);
    sql(
        &store,
        "UPDATE answers SET created = 5, used = 6 WHERE model = 'other'",
    );
    store.close();
    let stats = stats(folder.path()).unwrap().unwrap();
    assert_eq!((stats.answers, stats.oldest), (4, Some(5)));
    assert!(stats.newest > Some(1_600_000_000) && stats.last_used >= stats.newest);
    assert!(stats.bytes >= 3 * 1200);
    let models: Vec<_> = stats
        .models
        .iter()
        .map(|model| (model.model.as_str(), model.answers))
        .collect();
    assert_eq!(models, [("m", 3), ("other", 1)]);
    assert_eq!(
        (stats.models[0].prompt_tokens, stats.models[1].text_bytes),
        (3000, 16)
    );
}

#[test]
fn pruning_takes_what_was_not_used_for_long_and_using_it_is_noticed_to_the_day() {
    let folder = filled(10);
    let store = opened(folder.path());
    sql(
        &store,
        "UPDATE answers SET used = used - 40 * 86400 WHERE id <= 5",
    );
    assert!(store.get(&key(0)).is_some());
    let month = Prune::OlderThan(Duration::from_hours(30 * 24));
    // Pruning while another process has the file open.
    let pruned = prune(folder.path(), month).unwrap().unwrap();
    assert_eq!((pruned.removed, pruned.left), (Some(4), 6));
    assert!(store.get(&key(0)).is_some() && store.get(&key(1)).is_none() && store.get(&key(7)).is_some());
    store.put(&key(1), answer("again"));
    assert_eq!(prune(folder.path(), month).unwrap().unwrap().removed, Some(0));
}

#[test]
fn pruning_to_a_size_keeps_what_was_used_last() {
    let folder = filled(400);
    let before = stats::bytes(folder.path());
    let pruned = prune(folder.path(), Prune::MaxSize(before / 3)).unwrap().unwrap();
    assert_eq!(
        (pruned.bytes_before, pruned.bytes),
        (before, stats::bytes(folder.path()))
    );
    assert!(
        pruned.bytes <= before / 3 && pruned.bytes > before / 5,
        "{pruned:?}"
    );
    let store = opened(folder.path());
    assert!(store.get(&key(399)).is_some() && store.get(&key(0)).is_none());
    store.close();
    let all = prune(folder.path(), Prune::MaxSize(0)).unwrap().unwrap();
    assert_eq!(all.left, 0);
    let pruned = prune(folder.path(), Prune::MaxSize(u64::MAX)).unwrap().unwrap();
    assert_eq!(pruned.removed, Some(0));
}

#[test]
fn joined_caches_hold_each_answer_once_and_the_first_of_several() {
    let [one, other] = [filled(3), filled(5)];
    let store = opened(other.path());
    sql(
        &store,
        "UPDATE answers SET text = 'second', used = used + 100 WHERE id <= 3",
    );
    store.close();
    let into = tempfile::tempdir().unwrap();
    let into = into.path().join("new/all");
    let from = [one.path().to_owned(), other.path().to_owned()];
    let joined = |added, known| MergedCaches {
        added,
        known,
        answers: 5,
    };
    assert_eq!(merge(&from, &into), Ok(joined(5, 3)));
    let last_used = |folder: &Path| stats(folder).unwrap().unwrap().last_used;
    assert_eq!(last_used(&into), last_used(other.path()));
    assert_eq!(merge(&from, &into), Ok(joined(0, 8)));
    let store = opened(&into);
    for number in 0..5 {
        let text = store.get(&key(number)).unwrap().text;
        assert!(text.starts_with(&format!("{number} words")), "{text}");
    }
    // They are left as they were.
    assert_eq!(opened(other.path()).get(&key(0)).unwrap().text, "second");
}

#[test]
fn a_cache_that_is_missing_or_no_cache_is_an_error_before_anything_is_written() {
    let one = filled(1);
    let into = tempfile::tempdir().unwrap();
    let into = into.path().join("all");
    let missing = one.path().join("missing");
    let from = |other: &Path| [one.path().to_owned(), other.to_owned()];
    let error = merge(&from(&missing), &into).unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
    let foreign = tempfile::tempdir().unwrap();
    std::fs::write(foreign.path().join(FILE), "text").unwrap();
    assert!(matches!(
        merge(&from(foreign.path()), &into),
        Err(CacheError::Damaged { .. })
    ));
    assert!(!into.exists());
    // An answer of a kind that another version knows is kept as it is.
    let store = opened(one.path());
    sql(&store, "UPDATE answers SET kind = 'later'");
    store.close();
    assert_eq!(merge(&from(one.path()), &into).unwrap().answers, 1);
    let text = opened(&into).get(&key(0));
    assert_eq!(text, None);
}
