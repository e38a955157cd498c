//! The journal: a file with the choices of the current execution, which remains if the process ends.
//!
//! The file is mapped into memory and shared with the kernel, which keeps what was written however the process ends. A
//! loss of power may cost the last seconds. A choice costs one store, an operation nothing. A process has one locked
//! file for each exploration that runs at the same time, and uses it again for the next one. It removes its files when
//! it ends. A file that remains, is not locked, and records an execution in progress belongs to a process that was
//! ended in the middle.
//!
//! A program that calls `exit` in the middle of an execution ends the process without a verdict. That is reported on
//! stderr, with the schedule, and the process ends with the status of a failed test.
//!
//! Works on Unix; elsewhere no journal is kept.

use crate::schedule::{Choice, ChoiceKind, Schedule, TestBinary};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The first word of a journal's file.
const MAGIC: u64 = u64::from_le_bytes(*b"imzjrn/1");

/// The second word while an execution runs, and if tasks that fairness holds back are alternatives of it.
const RUNS: u64 = 1;
const LISTS_ALL: u64 = 2;

/// The number of words of a file. It consists of a magic number, a flag for an execution in progress, the number of
/// choices, and the size of the schedule in bytes; the schedule without choices; and the choices.
const WORDS: usize = HEAD_WORDS + CHOICES_MAX;
const HEAD_WORDS: usize = 512;
const TEXT_BYTES: usize = (HEAD_WORDS - 4) * 8;

/// The largest number of choices that are kept of an execution. Pages that are never touched cost nothing.
const CHOICES_MAX: usize = 1 << 15;

/// An execution that was in progress when its process ended.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// Its schedule, as far as it had run.
    pub schedule: Schedule,
    /// The journal that recorded it.
    pub file: PathBuf,
}

/// Returns the executions in this directory that were in progress when their processes ended, in the order of their
/// programs.
pub fn unfinished(directory: &Path) -> Vec<Unfinished> {
    let mut found: Vec<Unfinished> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| left_behind(&entry.ok()?.path()))
        .collect();
    found.sort_by(|a, b| (&a.schedule.program, &a.file).cmp(&(&b.schedule.program, &b.file)));
    found
}

/// Returns the schedule of an execution of this test that was in progress when its process ended, and forgets it. Each
/// directory is searched once.
pub fn take_left(directory: &Path, (program, binary): (&str, &TestBinary)) -> Option<Schedule> {
    static LEFT: Mutex<BTreeMap<PathBuf, Vec<Unfinished>>> = Mutex::new(BTreeMap::new());
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    let left = left
        .entry(directory.to_owned())
        .or_insert_with(|| unfinished(directory));
    let at = left
        .iter()
        .position(|one| one.schedule.program == program && one.schedule.binary == *binary)?;
    let Unfinished { schedule, file } = left.remove(at);
    let _ = fs::remove_file(file);
    Some(schedule)
}

/// Returns the execution that this file records, if its process has ended. Removes a file that records none.
fn left_behind(path: &Path) -> Option<Unfinished> {
    if path.extension()? != "journal" {
        return None;
    }
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    let bytes = fs::read(path).ok()?;
    let schedule = read(&bytes);
    if schedule.is_none() {
        let _ = fs::remove_file(path);
    }
    Some(Unfinished {
        schedule: schedule?,
        file: path.to_owned(),
    })
}

/// Returns the schedule in a journal's bytes, if an execution was in progress.
fn read(bytes: &[u8]) -> Option<Schedule> {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect();
    let [MAGIC, state @ (RUNS | LISTS_ALL), length, text, ..] = words[..] else {
        return None;
    };
    let text = bytes.get(32..32 + usize::try_from(text).ok()?.min(TEXT_BYTES))?;
    let mut schedule = Schedule::from_token(std::str::from_utf8(text).ok()?).ok()?;
    let length = usize::try_from(length).ok()?.min(CHOICES_MAX);
    let choices = words
        .get(HEAD_WORDS..)?
        .get(..length)?
        .iter()
        .map(|&word| unpack(word));
    schedule.choices = choices.collect::<Option<_>>()?;
    schedule.all_listed |= state == LISTS_ALL;
    Some(schedule)
}

fn pack(choice: Choice) -> u64 {
    let Choice {
        kind,
        preempts,
        alternatives,
        taken,
    } = choice;
    // No decision has millions of alternatives; if one had, it could not be read again.
    (kind as u64)
        | u64::from(preempts) << 4
        | u64::from(alternatives & 0xFFF_FFFF) << 8
        | u64::from(taken) << 36
}

fn unpack(word: u64) -> Option<Choice> {
    let choice = Choice {
        kind: *ChoiceKind::ALL.get((word & 15) as usize)?,
        preempts: word >> 4 & 1 == 1,
        alternatives: (word >> 8 & 0xFFF_FFFF) as u32,
        taken: (word >> 36) as u32,
    };
    (choice.alternatives >= 2 && choice.taken < choice.alternatives).then_some(choice)
}

/// The file with the executions of one worker of a running exploration.
pub struct Journal {
    kept: Option<Kept>,
    /// The number of choices that are there from the execution before.
    written: usize,
    /// `true` if the choices are not those of the search's own plan.
    is_rewritten: bool,
}

/// A mapped file.
struct Kept {
    words: &'static [AtomicU64],
    path: PathBuf,
    /// It is locked for as long as the process lives.
    _file: File,
}

/// The files of this process that no exploration uses at the moment.
static SPARE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// All files of this process; they are removed when it ends.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl Journal {
    /// Returns a journal that records nothing.
    pub fn none() -> Journal {
        Journal {
            kept: None,
            written: 0,
            is_rewritten: false,
        }
    }

    /// Opens a journal in this directory, for executions whose schedules differ from this one only in their choices. If
    /// the file cannot be created, the journal records nothing: the exploration does not depend on it.
    pub fn open(directory: &Path, schedule: &Schedule) -> Journal {
        let mut journal = Journal {
            kept: spare(directory).or_else(|| map(directory).ok()),
            written: 0,
            is_rewritten: false,
        };
        journal.executions_of(schedule);
        journal
    }

    /// Sets the schedule of executions from now on, without their choices.
    pub fn executions_of(&mut self, schedule: &Schedule) {
        let Some(kept) = &self.kept else { return };
        let token = Schedule {
            choices: Vec::new(),
            ..schedule.clone()
        }
        .token();
        let bytes = token.as_bytes();
        if bytes.len() > TEXT_BYTES {
            self.close();
            return;
        }
        kept.words[1].store(0, Relaxed);
        kept.words[3].store(bytes.len() as u64, Relaxed);
        for (word, bytes) in kept.words[4..].iter().zip(bytes.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(eight), Relaxed);
        }
    }

    /// Begins an execution that must make these choices first; the first `same` of them are those of the one before.
    #[inline]
    pub(super) fn begin(&mut self, choices: &[Choice], same: usize) {
        let Some(kept) = &self.kept else { return };
        let same = if std::mem::take(&mut self.is_rewritten) {
            0
        } else {
            same
        };
        let length = choices.len().min(CHOICES_MAX);
        let from = same.min(self.written).min(length);
        for (word, &choice) in kept.words[HEAD_WORDS + from..].iter().zip(&choices[from..length]) {
            word.store(pack(choice), Relaxed);
        }
        kept.words[2].store(length as u64, Relaxed);
        kept.words[1].store(RUNS, Relaxed);
        self.written = length;
    }

    /// Returns `true` if it records anything.
    pub(super) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Replaces the choices of the execution by these.
    pub(super) fn rewrite(&mut self, choices: &[Choice]) {
        self.begin(choices, 0);
        self.is_rewritten = true;
    }

    /// Records a choice of the execution.
    #[inline]
    pub(super) fn push(&mut self, at: usize, choice: Choice) {
        if let Some(kept) = &self.kept
            && at < CHOICES_MAX
        {
            kept.words[HEAD_WORDS + at].store(pack(choice), Relaxed);
            kept.words[2].store(at as u64 + 1, Relaxed);
            self.written = at + 1;
        }
    }

    /// Notes that tasks that fairness holds back are alternatives of the execution.
    pub(super) fn list_all(&self) {
        if let Some(kept) = &self.kept {
            kept.words[1].store(LISTS_ALL, Relaxed);
        }
    }

    /// Notes that the execution has ended.
    #[inline]
    pub(super) fn end(&self) {
        if let Some(kept) = &self.kept {
            kept.words[1].store(0, Relaxed);
        }
    }

    /// Returns the schedule of the current execution so far.
    fn schedule(&self) -> Option<Schedule> {
        let bytes = |word: &AtomicU64| word.load(Relaxed).to_ne_bytes();
        let bytes: Vec<u8> = self.kept.as_ref()?.words.iter().flat_map(bytes).collect();
        read(&bytes)
    }

    fn close(&mut self) {
        if let Some(kept) = self.kept.take() {
            kept.words[1].store(0, Relaxed);
            SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

/// Takes a file in this directory that is not in use.
fn spare(directory: &Path) -> Option<Kept> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = spare
        .iter()
        .position(|kept| kept.path.parent() == Some(directory) && kept.path.exists())?;
    Some(spare.swap_remove(at))
}

/// Returns the default directory of journals: the directory that cargo builds in, or else that of temporary files.
pub fn usual_directory() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").exists());
    match target {
        Some(target) => target.join("intermezzo").join("journal"),
        None => std::env::temp_dir().join("intermezzo-journal"),
    }
}

#[cfg(not(unix))]
fn map(_: &Path) -> io::Result<Kept> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a file in this directory, and maps it.
#[cfg(unix)]
fn map(directory: &Path) -> io::Result<Kept> {
    use std::os::fd::AsRawFd;
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler is a function without arguments that may be called at the end of the process.
    ONCE.call_once(|| _ = unsafe { libc::atexit(at_exit) });
    fs::create_dir_all(directory)?;
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("{}-{}.journal", std::process::id(), all.len() + 1);
    let path = directory.join(name);
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)?;
    file.try_lock()
        .map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
    file.set_len((WORDS * 8) as u64)?;
    // SAFETY: a mapping of its own. The file is as long as the mapping, and this process makes it no shorter.
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            WORDS * 8,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: mapped above, aligned to a page, initially zeros, and never unmapped.
    let words = unsafe { std::slice::from_raw_parts(place.cast::<AtomicU64>().cast_const(), WORDS) };
    words[0].store(MAGIC, Relaxed);
    all.push(path.clone());
    Ok(Kept {
        words,
        path,
        _file: file,
    })
}

/// Removes the files when the process ends by `exit`. If a task called it, reports that, and exits with the status of a
/// failed test.
#[cfg(unix)]
extern "C" fn at_exit() {
    use super::Engine;
    use std::io::Write;
    // A lock that another thread holds is not waited for.
    for path in ALL.try_lock().iter().flat_map(|all| all.iter()) {
        let _ = fs::remove_file(path);
    }
    let Some(engine) = Engine::current() else { return };
    // SAFETY: the process ends: what called `exit` does not continue.
    let schedule = unsafe { engine.interrupt(|rt| rt.decisions.journal.schedule()) };
    let told = match &schedule {
        Some(schedule) => format!(
            "error[exit]: `{}` called `exit` in the middle of an execution: the process ends with it, and nothing more is \
             explored\n\nreplay it:\n  INTERMEZZO_REPLAY={} cargo test\n",
            schedule.program,
            schedule.token()
        ),
        None => "error[exit]: a test that is explored called `exit`: the process ends with it, and nothing more is explored\n"
            .to_owned(),
    };
    // No macro is used: the output of a test would be captured, and lost.
    let _ = io::stderr().write_all(told.as_bytes());
    // SAFETY: plain calls. C's buffers are flushed first, which `_exit` does not do.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(EXIT_STATUS);
    }
}

/// The exit status of a process with failed tests.
#[cfg(unix)]
const EXIT_STATUS: i32 = 101;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_packed_and_unpacked() {
        for kind in ChoiceKind::ALL {
            for (preempts, alternatives, taken) in [(false, 2, 0), (true, 3, 2), (false, 1 << 20, 1 << 19)] {
                let choice = Choice {
                    kind,
                    preempts,
                    alternatives,
                    taken,
                };
                assert_eq!(unpack(pack(choice)), Some(choice));
            }
        }
        assert_eq!(unpack(0), None);
        assert_eq!(unpack(15), None);
    }

    #[test]
    fn a_damaged_journal_tells_of_nothing() {
        assert!(read(&[]).is_none());
        let mut words = vec![MAGIC, 1, u64::MAX, u64::MAX];
        let bytes = |words: &[u64]| {
            words
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .collect::<Vec<u8>>()
        };
        assert!(read(&bytes(&words)).is_none());
        words.resize(WORDS, u64::MAX);
        assert!(read(&bytes(&words)).is_none());
    }
}
