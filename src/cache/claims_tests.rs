//! Claims of several processes, here one store each: a file lock belongs to the open file, not to the process.

use std::path::Path;

use super::tests::{answer, key, opened, sql};
use super::*;

/// Number of lock files in the folder of the database.
fn lock_files(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(".lock"))
        .count()
}

/// A claim of a process that was killed: no process holds the lock.
fn leave_behind(store: &AnswerCache, folder: &Path, number: usize) {
    let name = "00000000deadbeef";
    std::fs::write(folder.join(format!("{FILE}-{name}.lock")), "").unwrap();
    let until = now() + 50;
    let open = lock(&store.open);
    let insert = "INSERT INTO claims (key, owner, until) VALUES (?1, ?2, ?3)";
    let key = key(number);
    let row = (key.bytes(), name, until);
    open.as_ref().unwrap().connection.execute(insert, row).unwrap();
}

#[test]
fn one_of_two_asks_and_the_other_one_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (opened(folder.path()), opened(folder.path()));
    assert!(one.claim(&key(1)) && !other.claim(&key(1)) && !other.claim(&key(1)));
    assert!(other.claim(&key(2)) && !one.claim(&key(2)));
    // A request in flight in this process stays claimed.
    assert!(!one.claim(&key(1)));
    other.release(&key(1));
    assert!(!other.claim(&key(1)), "only its owner gives a claim up");
    one.release(&key(1));
    assert!(other.claim(&key(1)));
}

#[test]
fn a_closed_store_claims_nothing_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (opened(folder.path()), opened(folder.path()));
    assert!(one.claim(&key(1)) && one.claim(&key(2)) && other.claim(&key(3)));
    assert_eq!(lock_files(folder.path()), 2);
    one.close();
    assert!(other.claim(&key(1)) && other.claim(&key(2)));
    assert_eq!(lock_files(folder.path()), 1);
    drop(other);
    assert_eq!(lock_files(folder.path()), 0);
}

#[test]
fn what_a_killed_owner_claimed_is_free_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path());
    leave_behind(&store, folder.path(), 1);
    assert!(store.claim(&key(1)));
    assert_eq!(lock_files(folder.path()), 1, "its own");
    leave_behind(&store, folder.path(), 2);
    // The next one to open the store removes leftovers.
    let next = opened(folder.path());
    assert_eq!(lock_files(folder.path()), 1);
    assert!(next.claim(&key(2)) && !next.claim(&key(1)));
}

#[test]
fn an_owner_that_does_not_go_on_loses_its_claims_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let (stopped, other) = (opened(folder.path()), opened(folder.path()));
    assert!(stopped.claim(&key(1)) && stopped.claim(&key(2)) && !other.claim(&key(1)));
    // It holds its file, but its claim has expired, or its clock was far wrong.
    sql(&stopped, "UPDATE claims SET until = until - 61");
    assert!(other.claim(&key(1)) && !stopped.claim(&key(1)));
    sql(&stopped, "UPDATE claims SET until = 4102444800");
    assert!(other.claim(&key(2)));
}

#[test]
fn an_owner_that_goes_on_puts_the_end_off() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (opened(folder.path()), opened(folder.path()));
    assert!(one.claim(&key(1)));
    sql(&one, "UPDATE claims SET until = 1");
    let name = match &*lock(&one.claims) {
        Claims::Of(owner) => owner.name().to_owned(),
        _ => String::new(),
    };
    claims::renew(&lock(&one.open).as_ref().unwrap().connection, &name).unwrap();
    assert!(!other.claim(&key(1)));
}

#[test]
fn where_claims_cannot_be_kept_everybody_asks() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (opened(folder.path()), opened(folder.path()));
    assert!(one.claim(&key(1)));
    sql(&other, "PRAGMA query_only = true");
    assert!(other.claim(&key(2)) && other.claim(&key(1)));
    sql(&one, "DROP TABLE claims");
    assert!(one.claim(&key(1)));
    assert_eq!(one.put(&key(1), answer("x")), answer("x"));
    let looking = AnswerCache::new(folder.path().to_owned(), CacheAccess::Look, Box::new(|_| {}));
    looking.open().unwrap();
    assert!(looking.claim(&key(1)) && looking.claim(&key(1)));
}

#[test]
fn an_owner_whose_file_is_cleared_away_before_it_is_locked_makes_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let made = Mutex::new(Vec::new());
    let make = |path: &Path| {
        let mut made = lock(&made);
        made.push(path.to_owned());
        if made.len() > 3 {
            return crate::files::create_new(path, crate::files::Access::Private);
        }
        // Another process opens the store between the two.
        std::fs::write(path, "").unwrap();
        claims::remove_leftovers(folder.path());
        assert!(!path.exists());
        Err(std::io::ErrorKind::ResourceBusy.into())
    };
    let (_, path, _locked) = claims::new_file(folder.path(), make).unwrap();
    let made = lock(&made);
    assert!(made.len() == 4 && made[0] != made[3] && made[3] == path);
    let refused = |_: &Path| Err(std::io::ErrorKind::PermissionDenied.into());
    assert!(claims::new_file(folder.path(), refused).is_err());
}
