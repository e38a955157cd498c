//! Removal of directories that were built for another toolchain, or with another version of intermezzo. There is no way to
//! know that one is never needed again, so those that were not used for a month are removed when a new one is made.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file in each directory. Its modification time is the time of the directory's last use.
const USED: &str = "last-used";

/// The time after which a directory is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Marks the directory as used now. If that fails, an earlier mark still counts. A directory without a mark is never
/// removed.
pub(super) fn mark(directory: &Path) {
    let marked = fs::create_dir_all(directory).and_then(|()| File::create(directory.join(USED)));
    let _ = marked.and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes the directories next to this one that were not used for a month. Directories of other programs have no mark. One
/// that cannot be removed stays.
pub(super) fn remove_beside(directory: &Path) {
    let now = SystemTime::now();
    let is_old = |path: &Path| {
        let modified = fs::metadata(path.join(USED)).and_then(|mark| mark.modified());
        modified.is_ok_and(|used| now.duration_since(used).is_ok_and(|since| since > KEPT))
    };
    let entries = directory
        .parent()
        .map(fs::read_dir)
        .into_iter()
        .flatten()
        .flatten();
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && path != directory && is_old(&path) {
            // Another run may be about to use it: such a run takes the lock first, and then marks the directory.
            let lock = File::open(path.join("lock"));
            let is_taken = lock.as_ref().is_ok_and(|lock| lock.try_lock().is_err());
            if !is_taken && is_old(&path) {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_not_used_for_a_month_are_removed() {
        let all = tempfile::tempdir().unwrap();
        let days_ago = |name: &str, days: u64| {
            let directory = all.path().join(name);
            mark(&directory);
            let mark = File::options().write(true).open(directory.join(USED)).unwrap();
            let before = Duration::from_secs(days * 24 * 60 * 60);
            mark.set_modified(SystemTime::now() - before).unwrap();
            directory
        };
        let [old, recent, own] =
            [("old", 31), ("recent", 29), ("own", 31)].map(|(name, days)| days_ago(name, days));
        let others = all.path().join("others");
        fs::create_dir(&others).unwrap();
        fs::write(old.join("content"), "").unwrap();
        remove_beside(&own);
        assert_eq!(
            [&old, &recent, &own, &others].map(|path| path.exists()),
            [false, true, true, true]
        );

        days_ago("old", 31);
        mark(&old);
        remove_beside(&own);
        remove_beside(&all.path().join("missing/own"));
        assert!(old.exists());
    }
}
