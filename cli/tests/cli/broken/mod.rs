//! More than ten thousand damaged files of every format that we read. Each is read, or refused with the file and the place
//! in it, and left as it is. Most are read in this process, some of each format by the command line.
//!
//! 2,000 more damaged reports are in `cli/src/view/tests/mutations.rs`, where each is shown in every form, and libraries in
//! `explorer/tests/plugins`.

mod damage;
mod formats;
mod outputs;
mod processes;

use crate::run_in;
use damage::{Dice, damaged};
use formats::{Format, Problem};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;
use std::{fs, thread};
use tempfile::TempDir;

/// The number of files of each format that are read in this process.
const TRIED: usize = 2_000;

/// The seed of the damage.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The time limit of one file: a thousand times the usual time, because the machine may be busy.
const TIME_MAX: Duration = Duration::from_secs(30);

/// The maximum growth of this process's memory: far less than a length of 64 bits asks for.
const GROWTH_KIB_MAX: u64 = 512 << 10;

/// The number of a format's files that were accepted, and refused.
#[derive(Default)]
struct Counts {
    taken: usize,
    refused: usize,
}

#[test]
fn damaged_files_are_read_or_refused() {
    let before = memory_kib();
    let formats = formats::all();
    let count = formats.len();
    let (began, beginnings) = mpsc::channel();
    let worker = thread::spawn(move || in_this_process(&formats, &began));
    let mut last = (0, 0);
    loop {
        match beginnings.recv_timeout(TIME_MAX) {
            Ok(case) => last = case,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("format {}, file {}: there is no end", last.0, last.1),
        }
    }
    let tried = worker
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert!(tried > 10_000, "{tried} files of {count} formats");
    if let (Some(before), Some(after)) = (before, memory_kib()) {
        let growth = after.saturating_sub(before);
        assert!(growth < GROWTH_KIB_MAX, "{growth} KiB more memory was used");
    }
}

/// Returns the greatest size of this process's memory so far; `None` if the system does not report it.
fn memory_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Damages files of all formats. Returns how many.
fn in_this_process(formats: &[Format], began: &Sender<(usize, usize)>) -> usize {
    let others: Vec<Vec<u8>> = formats.iter().flat_map(|format| format.whole.clone()).collect();
    let mut tried = 0;
    let mut complaints = Vec::new();
    for (at, format) in formats.iter().enumerate() {
        let directory = directory();
        let path = directory.path().join(format.file);
        let whole = format.whole.iter().map(|whole| said_by(format, &path, whole));
        let whole: BTreeSet<String> = whole.map(|said| said.expect("a file of ours is read")).collect();
        let mut dice = Dice(SEED);
        let mut counts = Counts::default();
        for number in 0..TRIED {
            let _ = began.send((at, number));
            let original = &format.whole[dice.roll(format.whole.len())];
            let mut bytes = damaged(original, &others, &mut dice);
            // A file with a correct checksum is parsed further.
            let sealed = format.seal.filter(|_| number % 3 == 0);
            if let Some(seal) = sealed {
                bytes = seal(&bytes);
            }
            let complaint = match catch_unwind(AssertUnwindSafe(|| said_by(format, &path, &bytes))) {
                Err(_) => Some("it panicked".to_owned()),
                Ok(Err(problem)) => {
                    counts.refused += 1;
                    format.complaint(&problem)
                }
                Ok(Ok(said)) => {
                    counts.taken += 1;
                    let wrong = format.checked && sealed.is_none() && !whole.contains(&said);
                    wrong.then(|| format!("it is read as something else than was written: {said}"))
                }
            };
            let told = |complaint| format!("{}, file {number}: {complaint}: {}", format.name, shown(&bytes));
            complaints.extend(complaint.map(told));
        }
        assert!(
            counts.refused > TRIED / 10 && counts.taken > 0,
            "{}: {} refused, {} taken: too little is changed, or too much",
            format.name,
            counts.refused,
            counts.taken
        );
        // A token is not in a file, and this test itself reads the files of histories.
        for (what, put) in in_place_of_a_file().into_iter().filter(|_| format.names_file) {
            remove(&path);
            put(&path);
            let problem = (format.read)(&path).expect_err(what);
            let told = |complaint| format!("{}, {what}: {complaint}", format.name);
            complaints.extend(format.complaint(&problem).map(told));
            remove(&path);
        }
        tried += TRIED;
    }
    assert_no(&complaints);
    tried
}

/// Shows the first complaints, if there are any.
#[track_caller]
fn assert_no(complaints: &[String]) {
    let first: Vec<&str> = complaints.iter().map(String::as_str).take(20).collect();
    assert!(
        first.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        first.join("\n")
    );
}

/// Reads a file of these bytes, which is left as it is if it is refused.
fn said_by(format: &Format, path: &Path, bytes: &[u8]) -> Result<String, Problem> {
    fs::write(path, bytes).unwrap();
    let said = (format.read)(path);
    if said.is_err() {
        assert!(
            fs::read(path).unwrap() == bytes,
            "{}: what was refused has changed: {}",
            format.name,
            shown(bytes)
        );
    }
    said
}

/// A function that puts something at a path.
type Put = fn(&Path);

/// Returns functions that put something at a path that is not a readable file, each with a name.
fn in_place_of_a_file() -> Vec<(&'static str, Put)> {
    let mut all: Vec<(_, Put)> = vec![("a directory", |path| fs::create_dir(path).unwrap())];
    if cfg!(unix) {
        all.push(("a link to itself", |path| link(path, path)));
        all.push(("a file without an end", endless));
    }
    all
}

/// Makes a link to a file without an end, which must not be read as a whole.
fn endless(path: &Path) {
    link(Path::new("/dev/zero"), path);
}

/// Makes a link. No user can read a link to itself, not even one whom permissions do not stop.
#[cfg(unix)]
fn link(to: &Path, path: &Path) {
    std::os::unix::fs::symlink(to, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) {}

/// Removes the file, link or directory at a path.
fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Returns the bytes as text for diagnosing a failure, cut.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    format!("{text:.2000?}")
}

/// The arguments of a command that reads a checkpoint, and of one that reads a memo, with these names.
const CHECKPOINT: &[&str] = &[
    "corpus",
    "run",
    "counter",
    "--checkpoint",
    "search",
    "--executions",
    "5",
];
const MEMO: &[&str] = &["corpus", "run", "counter", "--strategy", "maple(memo=memo)"];

/// The report of a program that fails, in JSON, and the token of its first finding.
fn report(directory: &Path) -> (String, String) {
    let report = run_in(directory, &["corpus", "run", "abba", "--json"]).stdout;
    let token = crate::token(&serde_json::from_str(&report).unwrap());
    (report, token)
}

/// Returns the arguments, with `word` replaced by `meaning`.
fn spelled_out<'a>(arguments: &[&'a str], word: &str, meaning: &'a str) -> Vec<&'a str> {
    let spelled = arguments
        .iter()
        .map(|&argument| if argument == word { meaning } else { argument });
    spelled.collect()
}

/// Returns a directory for files that are written very often, and synced each time. It is in memory, if possible.
fn directory() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).unwrap()
}

/// Returns the entries of a directory, with the contents of files.
fn entries(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            let bytes = fs::read(&path).ok();
            (path, bytes)
        })
        .collect()
}
