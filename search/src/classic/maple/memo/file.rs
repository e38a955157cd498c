//! The file of a memo: whole or absent, and never written over another file.
//!
//! ```text
//! intermezzo-memo/1
//! 9ae0daaf 1234
//! {"files": ..}
//! ```
//!
//! The second line has the CRC-32 of the rest, and its length in bytes. The memo is first written to another file,
//! `NAME.partial`, which then takes its name: if the process ends at any moment, the memo stays as it was. A process
//! that reads or writes holds a lock meanwhile, on a third file, `NAME.lock`, which stays empty and is not removed.

use super::error::MemoProblem;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FORMAT_NAME: &str = "intermezzo-memo/";

const VERSION: u32 = 1;

/// The time to wait for other processes that hold the lock: far longer than reading and writing takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two attempts to lock.
const PAUSE: Duration = Duration::from_millis(5);

fn io_problem(doing: &'static str) -> impl Fn(io::Error) -> MemoProblem {
    move |error| MemoProblem::Io {
        doing,
        reason: error.to_string(),
    }
}

fn damaged(reason: impl Into<String>) -> MemoProblem {
    MemoProblem::Damaged {
        reason: reason.into(),
    }
}

/// A memo's file that no other process reads or writes meanwhile.
pub(super) struct Locked<'a> {
    path: &'a Path,
    _lock: File,
}

/// Returns the path with a suffix.
fn beside(path: &Path, end: &str) -> Result<PathBuf, MemoProblem> {
    let mut name: OsString = path.file_name().ok_or(MemoProblem::NotAMemo)?.to_owned();
    name.push(end);
    Ok(path.with_file_name(name))
}

impl<'a> Locked<'a> {
    /// Waits until no other process reads or writes it.
    pub(super) fn new(path: &'a Path) -> Result<Locked<'a>, MemoProblem> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(MemoProblem::NotAMemo);
        }
        let locking = io_problem("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let lock = options.open(beside(path, ".lock")?).map_err(&locking)?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                // If there are no locks, the last writer prevails.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => break,
                Err(TryLockError::Error(error)) => return Err(locking(error)),
                Err(TryLockError::WouldBlock) if began.elapsed() > PATIENCE => {
                    return Err(MemoProblem::InUse);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
        Ok(Locked { path, _lock: lock })
    }

    /// Returns its contents; `None` if there is no file.
    pub(super) fn read(&self) -> Result<Option<String>, MemoProblem> {
        let reading = io_problem("read");
        let mut file = match File::open(self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(&reading)?,
        };
        let mut bytes = Vec::new();
        // A file that does not begin like a memo may be large.
        let begin = FORMAT_NAME.len() as u64;
        (&mut file)
            .take(begin)
            .read_to_end(&mut bytes)
            .map_err(&reading)?;
        if bytes != FORMAT_NAME.as_bytes() {
            return Err(MemoProblem::NotAMemo);
        }
        file.read_to_end(&mut bytes).map_err(&reading)?;
        contents(&bytes).map(Some)
    }

    /// Replaces the file with these contents.
    pub(super) fn write(&self, contents: &str) -> Result<(), MemoProblem> {
        let writing = io_problem("write");
        let partial = beside(self.path, ".partial")?;
        if !is_ours_to_overwrite(&partial).map_err(&writing)? {
            let reason = format!("{partial:?} exists and is not a file of this tool");
            return Err(writing(io::Error::other(reason)));
        }
        let checksum = crc32fast::hash(contents.as_bytes());
        let written = (|| {
            let mut file = File::create(&partial)?;
            writeln!(file, "{FORMAT_NAME}{VERSION}\n{checksum:08x} {}", contents.len())?;
            file.write_all(contents.as_bytes())?;
            file.sync_all()?;
            fs::rename(&partial, self.path)?;
            // The new name is safe once the directory is.
            #[cfg(unix)]
            if let Some(directory) = self.path.parent() {
                let here = directory.as_os_str().is_empty();
                File::open(if here { Path::new(".") } else { directory })?.sync_all()?;
            }
            Ok(())
        })();
        written.map_err(writing)
    }
}

/// Returns `true` if there is no file, or one left by a process that was killed while writing.
fn is_ours_to_overwrite(partial: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    match File::open(partial) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        opened => opened?.take(FORMAT_NAME.len() as u64).read_to_end(&mut begin)?,
    };
    Ok(FORMAT_NAME.as_bytes().starts_with(&begin))
}

/// Returns the contents after the first two lines, if they match those.
fn contents(bytes: &[u8]) -> Result<String, MemoProblem> {
    let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (format, sum, contents) = (line(), line(), line());
    let version = String::from_utf8_lossy(&format[FORMAT_NAME.len().min(format.len())..]);
    if version != VERSION.to_string() {
        return Err(MemoProblem::OtherVersion {
            found: version.chars().take(20).collect(),
            needed: VERSION,
        });
    }
    let right = format!("{:08x} {}", crc32fast::hash(contents), contents.len());
    if sum != right.as_bytes() {
        return Err(damaged("its checksum or length is another"));
    }
    String::from_utf8(contents.to_vec()).map_err(|_| damaged("it is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed at the end.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let path = std::env::temp_dir().join(format!("intermezzo-memo-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Directory(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn read(path: &Path) -> Result<Option<String>, MemoProblem> {
        Locked::new(path)?.read()
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = Directory::new("written");
        let path = directory.0.join("file");
        assert_eq!(read(&path), Ok(None));
        for contents in ["one\n", "", "three\nlines\n\n"] {
            Locked::new(&path).unwrap().write(contents).unwrap();
            assert_eq!(read(&path), Ok(Some(contents.to_owned())));
        }
    }

    #[test]
    fn nothing_else_is_overwritten() {
        let directory = Directory::new("else");
        let path = directory.0.join("file");
        for foreign in ["", "a letter", "intermezzo-checkpoint/2\n"] {
            fs::write(&path, foreign).unwrap();
            assert_eq!(read(&path), Err(MemoProblem::NotAMemo));
        }
        fs::remove_file(&path).unwrap();
        fs::write(directory.0.join("file.partial"), "another").unwrap();
        let problem = Locked::new(&path).unwrap().write("x").unwrap_err();
        assert!(
            matches!(problem, MemoProblem::Io { reason, .. } if reason.contains("not a file of this tool"))
        );
        assert_eq!(
            fs::read_to_string(directory.0.join("file.partial")).unwrap(),
            "another"
        );
        assert_eq!(read(&directory.0), Err(MemoProblem::NotAMemo));
    }

    /// Every prefix, and every file with one bit changed, is refused.
    #[test]
    fn damage_is_noticed() {
        let directory = Directory::new("damage");
        let path = directory.0.join("file");
        Locked::new(&path)
            .unwrap()
            .write("some contents\nof two lines\n")
            .unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            assert!(
                length < FORMAT_NAME.len() || contents(&whole[..length]).is_err(),
                "{length} bytes"
            );
        }
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &damaged).unwrap();
            assert!(read(&path).is_err(), "bit {bit}");
        }
    }
}
