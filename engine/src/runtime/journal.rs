//! The journal: a file with the choices of the current execution, which remains if the process ends.
//!
//! The file is mapped into memory and shared with the kernel, which keeps what was written however the process ends. A
//! loss of power may cost the last seconds. A choice costs a few stores, and an operation costs nothing. A process has
//! one locked file for each worker that runs at the same time, and reuses it for later ones. It removes its files when
//! it ends. A file that remains, is not locked, and records an execution in progress belongs to a process that ended
//! during that execution.
//!
//! A program that calls `exit` in the middle of an execution ends the process without a verdict. That is reported on
//! stderr, with the schedule, and the process ends with the status of a failed test.
//!
//! A file may be damaged: by a disk, a loss of power, or another program. One store writes the number of choices
//! together with a checksum of them and of the rest of the schedule. So whenever the process ends, the two match. A
//! damaged file is reported, and not replayed as another execution.
//!
//! Works on Unix; elsewhere no journal is kept.

mod left_behind;

pub use left_behind::{Damaged, Unfinished, take_damaged, take_left, unfinished};

use crate::schedule::{Choice, ChoiceKind, Schedule};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, PoisonError};

/// The first word of a journal's file. Its last byte is the version of the format.
const MAGIC: u64 = u64::from_le_bytes(*b"imzjrn/2");

/// The second word of the file while an execution runs; `LISTS_ALL` if tasks that fairness holds back count as
/// alternatives in it. Otherwise the word is 0. A few flipped bits do not turn one of these values into another.
const RUNS: u64 = u64::from_le_bytes(*b"it runs.");
const LISTS_ALL: u64 = u64::from_le_bytes(*b"lists it");

/// The number of words of a file. It consists of a magic number, a flag for an execution in progress, the number of
/// choices with their checksum, and the size of the schedule in bytes; the schedule without choices; and the choices.
const WORDS: usize = HEAD_WORDS + CHOICES_MAX;
const HEAD_WORDS: usize = 512;
const TEXT_BYTES: usize = (HEAD_WORDS - 4) * 8;

/// The maximum number of choices that are kept of an execution. Pages that are never touched cost nothing.
const CHOICES_MAX: usize = 1 << 15;

/// The bits of the third word that have the number of choices. The others are those of the checksum.
const LENGTH: u64 = 0xFFFF;
const _: () = assert!(CHOICES_MAX as u64 <= LENGTH);

/// Returns the schedule in a journal's bytes, and `true` if it is whole; `None` if no execution was in progress.
///
/// # Errors
/// The bytes are not as they were written.
fn read(bytes: &[u8]) -> Result<Option<(Schedule, bool)>, String> {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect();
    // A process makes the file, its size and its first word one after the other.
    if words.iter().all(|&word| word == 0) {
        return Ok(None);
    }
    if words[0] & !(0xFF << 56) == MAGIC & !(0xFF << 56) && words[0] != MAGIC {
        return Err("another version of intermezzo wrote it, or its first bytes have changed".into());
    }
    if words[0] != MAGIC {
        return Err("its first bytes are not those of a journal".into());
    }
    if bytes.len() != WORDS * 8 {
        return Err(format!("it has {} bytes in place of {}", bytes.len(), WORDS * 8));
    }
    let (state, length, text) = (words[1], (words[2] & LENGTH) as usize, words[3]);
    if state == 0 {
        return Ok(None);
    }
    let text = usize::try_from(text).ok().filter(|&text| text <= TEXT_BYTES);
    let (true, Some(text), true) = (matches!(state, RUNS | LISTS_ALL), text, length <= CHOICES_MAX) else {
        return Err("its first words are not those of a journal".into());
    };
    let choices = &words[HEAD_WORDS..][..length];
    let begun = checksum_of_text(text, words[4..].iter().copied());
    let check = choices.iter().fold(begun, |check, &word| checksum(check, word));
    if with_length(check, length) != words[2] {
        return Err("its checksum is wrong".into());
    }
    let schedule = std::str::from_utf8(&bytes[32..][..text])
        .ok()
        .and_then(|token| Schedule::from_token(token).ok());
    let choices = choices.iter().map(|&word| unpack(word)).collect::<Option<_>>();
    let (Some(mut schedule), Some(choices)) = (schedule, choices) else {
        return Err("its schedule cannot be read".into());
    };
    schedule.choices = choices;
    schedule.all_listed |= state == LISTS_ALL;
    Ok(Some((schedule, length < CHOICES_MAX)))
}

/// Returns the checksum of some words, from the last one and the checksum of those before it. If two lists differ in
/// one word, their checksums differ, because each step has an inverse.
#[inline(always)]
fn checksum(of_those_before: u64, word: u64) -> u64 {
    (of_those_before.rotate_left(32) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns the checksum of a text of this many bytes, which is at the beginning of these words.
fn checksum_of_text(bytes: usize, words: impl Iterator<Item = u64>) -> u64 {
    words
        .take(bytes.div_ceil(8))
        .fold(checksum(MAGIC, bytes as u64), checksum)
}

/// Returns the third word of a file.
#[inline(always)]
fn with_length(check: u64, length: usize) -> u64 {
    check & !LENGTH | length as u64
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
    /// The number of choices in the file.
    written: usize,
    /// `true` if the choices are not those of the search's own plan.
    is_rewritten: bool,
}

/// A mapped file.
struct Kept {
    words: &'static [AtomicU64],
    /// The checksum of the schedule up to each of its choices.
    checks: Box<[u64; CHOICES_MAX + 1]>,
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
        let Some(kept) = &mut self.kept else { return };
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
        let words = kept.words[4..].iter().map(|word| word.load(Relaxed));
        kept.checks[0] = checksum_of_text(bytes.len(), words);
        self.written = 0;
    }

    /// Begins an execution that must make these choices first; the first `same` of them are those of the one before.
    #[inline]
    pub(super) fn begin(&mut self, choices: &[Choice], same: usize) {
        let Some(kept) = &mut self.kept else { return };
        let same = if std::mem::take(&mut self.is_rewritten) {
            0
        } else {
            same
        };
        let length = choices.len().min(CHOICES_MAX);
        let from = same.min(self.written).min(length);
        let mut check = kept.checks[from];
        let places = kept.words[HEAD_WORDS + from..]
            .iter()
            .zip(&mut kept.checks[from + 1..]);
        for ((word, check_here), &choice) in places.zip(&choices[from..length]) {
            let packed = pack(choice);
            check = checksum(check, packed);
            *check_here = check;
            word.store(packed, Relaxed);
        }
        kept.words[2].store(with_length(check, length), Release);
        kept.words[1].store(RUNS, Release);
        self.written = length;
    }

    /// Returns `true` if it records anything.
    pub(super) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Replaces the choices of the execution by these.
    pub(super) fn rewrite(&mut self, choices: &[Choice]) {
        // Meanwhile the choices have no checksum.
        self.end();
        self.begin(choices, 0);
        self.is_rewritten = true;
    }

    /// Records a choice of the execution.
    #[inline]
    pub(super) fn push(&mut self, at: usize, choice: Choice) {
        if let Some(kept) = &mut self.kept
            && at < CHOICES_MAX
        {
            debug_assert!(at <= self.written, "choices are written one after the other");
            let packed = pack(choice);
            let check = checksum(kept.checks[at], packed);
            kept.checks[at + 1] = check;
            kept.words[HEAD_WORDS + at].store(packed, Relaxed);
            // In this order: if the process ends in between, the file does not have the choice.
            kept.words[2].store(with_length(check, at + 1), Release);
            self.written = at + 1;
        }
    }

    /// Notes that tasks that fairness holds back count as alternatives in the execution.
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
        read(&bytes).ok().flatten().map(|(schedule, _)| schedule)
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
        checks: vec![0; CHOICES_MAX + 1].try_into().expect("this many words"),
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
    let Some(engine) = Engine::of_thread() else { return };
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

    /// Returns a schedule, and a file in memory with its execution, of which some choices were replaced.
    fn recorded() -> (Schedule, Vec<u8>) {
        let choice = |taken| Choice {
            kind: ChoiceKind::Task,
            preempts: taken % 2 == 0,
            alternatives: 5,
            taken,
        };
        let token = "imz1.AQAbY29ycHVzOjp3b3JrX3N0ZWFsaW5nX3F1ZXVlBzGDgwoFIA_yajI";
        let mut schedule = Schedule::from_token(token).unwrap();
        schedule.choices.clear();
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        words[0].store(MAGIC, Relaxed);
        let mut journal = Journal {
            kept: Some(Kept {
                words: words.leak(),
                checks: vec![0; CHOICES_MAX + 1].try_into().unwrap(),
                path: PathBuf::new(),
                _file: File::open("/dev/null").unwrap(),
            }),
            written: 0,
            is_rewritten: false,
        };
        journal.executions_of(&schedule);
        journal.begin(&[0, 1, 2, 3].map(choice), 0);
        journal.push(4, choice(4));
        journal.push(2, choice(1));
        journal.rewrite(&[4, 4].map(choice));
        journal.begin(&[0, 1, 4].map(choice), 2);
        journal.begin(&[0, 1, 2, 2].map(choice), 2);
        journal.push(3, choice(3));
        journal.list_all();
        schedule.choices = [0, 1, 2, 3].map(choice).into();
        schedule.all_listed = true;
        let kept = journal.kept.take().unwrap();
        let bytes = kept
            .words
            .iter()
            .flat_map(|word| word.load(Relaxed).to_ne_bytes());
        (schedule, bytes.collect())
    }

    #[test]
    fn a_damaged_journal_is_refused() {
        let (schedule, bytes) = recorded();
        assert_eq!(read(&bytes), Ok(Some((schedule, true))));
        // What matters of the file: its first words, the text, and the choices.
        let text = u64::from_ne_bytes(bytes[24..32].try_into().unwrap()) as usize;
        let used = (0..32 + text).chain(HEAD_WORDS * 8..HEAD_WORDS * 8 + 4 * 8);
        for at in used {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(read(&damaged).is_err(), "byte {at}, bit {bit}");
            }
        }
        for length in (8..bytes.len()).step_by(4096) {
            assert!(read(&bytes[..length]).is_err(), "{length} bytes");
        }
        assert!(read(&[u8::MAX; WORDS * 8]).is_err());
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[0; WORDS * 8]), Ok(None));
    }
}
