//! Files that are written as a whole, such as checkpoints. Such a file is either complete or missing, and never
//! replaces a file of another kind.
//!
//! ```text
//! intermezzo-memo/1
//! 9ae0daaf 1234
//! {"files": ..}
//! ```
//!
//! The first line has the name and the version of the [`Format`]. The second line has the CRC-32 of the rest, and its
//! length in bytes. The rest is text. The contents are first written to another file next to it, `NAME.partial`, which
//! is then renamed. So the last contents stay intact even if the process is killed at any moment.
//!
//! There are two ways to prevent processes from interfering with each other's files. With a [`Writer`], one process
//! writes the file repeatedly, and the partial file is locked in the meantime. With [`Locked`], several processes read
//! and replace the file, under a lock on a third file, `NAME.lock`, which stays empty and is not removed.

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two attempts to lock.
const PAUSE: Duration = Duration::from_millis(5);

/// A kind of file, with a version.
///
/// ```
/// use intermezzo_engine::store::Format;
///
/// const NOTES: Format = Format::new("notes", 1);
/// let path = std::env::temp_dir().join(format!("notes-{}", std::process::id()));
/// NOTES.writer(&path)?.write("first line\n")?;
/// assert_eq!(NOTES.read(&path)?.as_deref(), Some("first line\n"));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), intermezzo_engine::store::Problem>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Format {
    name: &'static str,
    version: u32,
}

/// The reason why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The operating system refused an operation on the file.
    Io {
        /// The operation: `read`, `write`, `lock`.
        doing: &'static str,
        /// The reason it gave.
        reason: String,
    },
    /// The partial file cannot be opened, or is of another kind.
    Partial {
        /// The reason.
        reason: String,
    },
    /// The path is a directory, a file of another kind, or an empty file.
    Foreign,
    /// The file has another version of the format.
    OtherVersion {
        /// The version found.
        found: String,
        /// The version that can be read.
        needed: u32,
    },
    /// The file ends before its contents do, or continues after them.
    OtherLength {
        /// The actual length of the contents in bytes.
        found: u64,
        /// The expected length in bytes.
        needed: u64,
    },
    /// The contents do not have the checksum that is recorded.
    ChecksumMismatch,
    /// The checksum is right, but the contents are not UTF-8.
    NotText,
    /// Another process writes to the file.
    InUse,
}

fn io_problem(doing: &'static str) -> impl Fn(io::Error) -> Problem {
    move |error| Problem::Io {
        doing,
        reason: error.to_string(),
    }
}

/// Returns the path of a file next to this one: its name with a suffix.
fn next_to(path: &Path, suffix: &str) -> Result<PathBuf, Problem> {
    let mut name = path.file_name().ok_or(Problem::Foreign)?.to_owned();
    name.push(suffix);
    Ok(path.with_file_name(name))
}

/// Opens a file to write, without changing it. Creates an empty one if there is none.
fn open_to_write(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

/// Locks a file. Returns `false` if another process has locked it. Where files cannot be locked, it does nothing.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Format {
    /// Returns the format with this name, as in `intermezzo-memo`.
    pub const fn new(name: &'static str, version: u32) -> Format {
        Format { name, version }
    }

    /// Returns the beginning of a file in any version of the format.
    fn mark(self) -> String {
        format!("{}/", self.name)
    }

    /// Returns the lines before these contents.
    fn head(self, contents: &[u8]) -> String {
        let Format { name, version } = self;
        let checksum = crc32fast::hash(contents);
        format!("{name}/{version}\n{checksum:08x} {}\n", contents.len())
    }

    /// Returns the contents of the file at this path; `None` if there is no file.
    ///
    /// # Errors
    /// If it cannot be read, is of another kind or version, or is damaged.
    pub fn read(self, path: &Path) -> Result<Option<String>, Problem> {
        let reading = io_problem("read");
        let Some(mut file) = self.open(path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).map_err(&reading)?;
        file.read_to_end(&mut bytes).map_err(&reading)?;
        self.contents(&bytes).map(Some)
    }

    /// Opens the file at this path; `None` if there is no file. Of a file of another kind, which may be large, only the
    /// first bytes are read.
    fn open(self, path: &Path) -> Result<Option<File>, Problem> {
        let reading = io_problem("read");
        let metadata = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(&reading)?,
        };
        if !metadata.is_file() {
            return Err(Problem::Foreign);
        }
        let mut file = File::open(path).map_err(&reading)?;
        if self.first_bytes(&mut file).map_err(&reading)? != self.mark().as_bytes() {
            return Err(Problem::Foreign);
        }
        Ok(Some(file))
    }

    /// Returns the first bytes of a file, at most as many as the mark of the format has.
    fn first_bytes(self, file: &mut File) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.take(self.mark().len() as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the text after the first two lines of a file that begins with the mark, if those lines match it.
    fn contents(self, bytes: &[u8]) -> Result<String, Problem> {
        let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (format, sum, contents) = (line(), line(), line());
        let version = String::from_utf8_lossy(format.get(self.mark().len()..).unwrap_or_default());
        if version != self.version.to_string() {
            return Err(Problem::OtherVersion {
                found: version.chars().take(20).collect(),
                needed: self.version,
            });
        }
        let sum = str::from_utf8(sum).unwrap_or_default().split_once(' ');
        let found = contents.len() as u64;
        if let Some(needed) = sum.and_then(|(_, length)| length.parse().ok())
            && found != needed
        {
            return Err(Problem::OtherLength { found, needed });
        }
        if bytes[..bytes.len() - contents.len()] != *self.head(contents).as_bytes() {
            return Err(Problem::ChecksumMismatch);
        }
        String::from_utf8(contents.to_vec()).map_err(|_| Problem::NotText)
    }

    /// Prepares to write the file at this path. Neither the file nor the partial file is opened yet.
    ///
    /// # Errors
    /// If the path has no file name.
    pub fn writer(self, path: &Path) -> Result<Writer, Problem> {
        Ok(Writer {
            format: self,
            path: path.to_owned(),
            partial: next_to(path, ".partial")?,
            file: None,
        })
    }

    /// Waits until no other process has locked the file at this path, and locks it.
    ///
    /// # Errors
    /// If the path is not that of a file, or other processes had it locked for all of `patience`.
    pub fn lock(self, path: &Path, patience: Duration) -> Result<Locked<'_>, Problem> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Problem::Foreign);
        }
        let locking = io_problem("lock");
        let lock = open_to_write(&next_to(path, ".lock")?).map_err(&locking)?;
        let began = Instant::now();
        while !try_lock(&lock).map_err(&locking)? {
            if began.elapsed() > patience {
                return Err(Problem::InUse);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(Locked {
            format: self,
            path,
            _lock: lock,
        })
    }
}

/// A file that no other process reads or writes while it is locked, provided that all of them lock it. Where files
/// cannot be locked, the last writer prevails.
pub struct Locked<'a> {
    format: Format,
    path: &'a Path,
    _lock: File,
}

impl Locked<'_> {
    /// Returns its contents; `None` if there is no file.
    ///
    /// # Errors
    /// As for [`Format::read`].
    pub fn read(&self) -> Result<Option<String>, Problem> {
        self.format.read(self.path)
    }

    /// Replaces the file with these contents.
    ///
    /// # Errors
    /// As for [`Writer::write`].
    pub fn write(&self, contents: &str) -> Result<(), Problem> {
        self.format.writer(self.path)?.write(contents)
    }
}

/// The right to write a file.
pub struct Writer {
    format: Format,
    path: PathBuf,
    partial: PathBuf,
    /// The partial file, locked.
    file: Option<File>,
}

impl Writer {
    /// Locks the partial file, so that no other process can write. The lock is held until the next write.
    ///
    /// # Errors
    /// If another process holds the lock, or there is a partial file of another kind.
    pub fn hold(&mut self) -> Result<(), Problem> {
        if self.file.is_none() {
            self.file = Some(self.open_partial()?);
        }
        Ok(())
    }

    /// Opens and locks the partial file, which a killed process may have left behind.
    fn open_partial(&self) -> Result<File, Problem> {
        let partial = |reason| Problem::Partial { reason };
        let io_problem = |error: io::Error| partial(error.to_string());
        let mut file = open_to_write(&self.partial).map_err(io_problem)?;
        if !try_lock(&file).map_err(io_problem)? {
            return Err(Problem::InUse);
        }
        // A killed process may have written only part of the mark.
        let first = self.format.first_bytes(&mut file).map_err(io_problem)?;
        if !self.format.mark().as_bytes().starts_with(&first) {
            return Err(partial(format!(
                "{:?} exists and is not a file of this tool",
                self.partial
            )));
        }
        Ok(file)
    }

    /// Replaces the contents of the file. Releases the lock, unless there is a file of another kind.
    ///
    /// # Errors
    /// If there is a file of another kind, which is not changed, or if the operating system refuses.
    pub fn write(&mut self, contents: &str) -> Result<(), Problem> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open_partial()?,
        };
        // Another program may have put another file there in the meantime.
        if let Err(problem) = self.format.open(&self.path) {
            self.file = Some(file);
            return Err(problem);
        }
        let written = (|| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(self.format.head(contents.as_bytes()).as_bytes())?;
            file.write_all(contents.as_bytes())?;
            file.sync_all()?;
            fs::rename(&self.partial, &self.path)?;
            // The rename is durable only when the directory is synced.
            #[cfg(unix)]
            if let Some(directory) = self.path.parent() {
                let here = directory.as_os_str().is_empty();
                File::open(if here { Path::new(".") } else { directory })?.sync_all()?;
            }
            Ok(())
        })();
        written.map_err(io_problem("write"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The lock is held, so no other process uses the file, and it can be removed. If that fails, it does no harm.
        if self.file.is_some() {
            let _ = fs::remove_file(&self.partial);
        }
    }
}
