//! The file of a checkpoint. It is either whole or missing, and never replaces a file of another kind.
//!
//! ```text
//! intermezzo-checkpoint/4
//! 9ae0daaf 1234
//! ..
//! ```
//!
//! The second line has the CRC-32 of the rest, and its length in bytes. The rest consists of lines of JSON. A
//! checkpoint is first written to a file next to it, `NAME.partial`, which is then renamed. So the last checkpoint
//! stays whole even if the process is killed at any moment. The partial file stays locked while the search runs, so
//! that two searches do not share one checkpoint.

use super::error::CheckpointProblem;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const FORMAT_NAME: &str = "intermezzo-checkpoint/";

const VERSION: u32 = 5;

fn io_problem(doing: &'static str) -> impl Fn(io::Error) -> CheckpointProblem {
    move |error| CheckpointProblem::Io {
        doing,
        reason: error.to_string(),
    }
}

/// Returns the contents of the checkpoint at this path; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, CheckpointProblem> {
    let reading = io_problem("read");
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.map_err(&reading)?,
    };
    if !metadata.is_file() {
        return Err(CheckpointProblem::NotACheckpoint);
    }
    let mut file = File::open(path).map_err(&reading)?;
    if !begins_as_ours(&mut file).map_err(&reading)? {
        return Err(CheckpointProblem::NotACheckpoint);
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(&reading)?;
    file.read_to_end(&mut bytes).map_err(&reading)?;
    contents(&bytes).map(Some)
}

/// `true` if the file begins with the name of the format.
fn begins_as_ours(file: &mut File) -> io::Result<bool> {
    Ok(begin(file)? == FORMAT_NAME.as_bytes())
}

/// Returns the first bytes of a file, at most as many as the format's name has.
fn begin(file: &mut File) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    file.take(FORMAT_NAME.len() as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

/// Returns the text after the first two lines, if its length and checksum match.
fn contents(bytes: &[u8]) -> Result<String, CheckpointProblem> {
    let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (format, sum, contents) = (line(), line(), line());
    let version = String::from_utf8_lossy(format.strip_prefix(FORMAT_NAME.as_bytes()).unwrap_or(format));
    if version != VERSION.to_string() {
        return Err(CheckpointProblem::OtherVersion {
            found: version.chars().take(20).collect(),
            needed: VERSION,
        });
    }
    let sum = str::from_utf8(sum).unwrap_or_default().split_once(' ');
    let Some((checksum, length)) = sum.and_then(|(checksum, length)| Some((checksum, length.parse().ok()?)))
    else {
        return Err(CheckpointProblem::ChecksumMismatch);
    };
    let found = contents.len() as u64;
    if found != length {
        return Err(CheckpointProblem::OtherLength {
            found,
            needed: length,
        });
    }
    if checksum != format!("{:08x}", crc32fast::hash(contents)) {
        return Err(CheckpointProblem::ChecksumMismatch);
    }
    String::from_utf8(contents.to_vec()).map_err(|_| CheckpointProblem::ChecksumMismatch)
}

/// A checkpoint that only this search writes.
pub(super) struct Writer {
    path: PathBuf,
    partial: PathBuf,
    /// The locked file that is to become the next checkpoint.
    file: Option<File>,
}

impl Writer {
    /// Prepares to write a checkpoint at this path, which either does not exist or is a checkpoint.
    pub(super) fn new(path: &Path) -> Result<Writer, CheckpointProblem> {
        let Some(name) = path.file_name() else {
            return Err(CheckpointProblem::NotACheckpoint);
        };
        let mut partial = name.to_owned();
        partial.push(".partial");
        let mut writer = Writer {
            path: path.to_owned(),
            partial: path.with_file_name(partial),
            file: None,
        };
        writer.file = Some(writer.open()?);
        Ok(writer)
    }

    /// Opens and locks the partial file. One that a killed search left behind is overwritten.
    fn open(&self) -> Result<File, CheckpointProblem> {
        let writing = io_problem("write beside");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.partial).map_err(&writing)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(CheckpointProblem::InUse),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(writing(error)),
        }
        // A killed search may have written only part of the format's name.
        let begin = begin(&mut file).map_err(&writing)?;
        if !FORMAT_NAME.as_bytes().starts_with(&begin) {
            let reason = format!("{:?} exists and is not a file of this tool", self.partial);
            return Err(writing(io::Error::other(reason)));
        }
        Ok(file)
    }

    /// Writes the checkpoint in place of the last one.
    pub(super) fn write(&mut self, contents: &str) -> Result<(), CheckpointProblem> {
        let writing = io_problem("write");
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        // Another program may have put another file there meanwhile.
        if let Ok(mut there) = File::open(&self.path)
            && !begins_as_ours(&mut there).map_err(&writing)?
        {
            self.file = Some(file);
            return Err(CheckpointProblem::NotACheckpoint);
        }
        let head = format!(
            "{FORMAT_NAME}{VERSION}\n{:08x} {}\n",
            crc32fast::hash(contents.as_bytes()),
            contents.len()
        );
        let written = (|| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(head.as_bytes())?;
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
        written.map_err(writing)?;
        // Opened again at once, so that the lock is released only for a moment. If this fails, the next write reports
        // it.
        self.file = self.open().ok();
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The lock is held, so the file belongs to this search and can be removed. If that fails, it does no harm.
        if self.file.is_some() {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed at the end.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let path = std::env::temp_dir().join(format!("intermezzo-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Directory(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = Directory::new("written");
        let path = directory.0.join("file");
        assert_eq!(read(&path), Ok(None));
        let mut writer = Writer::new(&path).unwrap();
        for contents in ["one\n", "", "three\nlines\n\n"] {
            writer.write(contents).unwrap();
            assert_eq!(read(&path), Ok(Some(contents.to_owned())));
        }
        drop(writer);
        assert_eq!(
            fs::read_dir(&directory.0).unwrap().count(),
            1,
            "nothing else is left"
        );
    }

    #[test]
    fn two_searches_do_not_share_one() {
        let directory = Directory::new("shared");
        let path = directory.0.join("file");
        let first = Writer::new(&path).unwrap();
        assert_eq!(Writer::new(&path).err(), Some(CheckpointProblem::InUse));
        drop(first);
        assert!(Writer::new(&path).is_ok());
    }

    #[test]
    fn nothing_else_is_overwritten() {
        let directory = Directory::new("else");
        let path = directory.0.join("file");
        let mut writer = Writer::new(&path).unwrap();
        fs::write(&path, "a letter").unwrap();
        assert_eq!(writer.write("x"), Err(CheckpointProblem::NotACheckpoint));
        assert_eq!(read(&path), Err(CheckpointProblem::NotACheckpoint));
        drop(writer);
        fs::write(directory.0.join("file.partial"), "another").unwrap();
        let error = Writer::new(&path).err().unwrap();
        assert!(
            matches!(error, CheckpointProblem::Io { reason, .. } if reason.contains("not a file of this tool"))
        );
        assert_eq!(
            fs::read_to_string(directory.0.join("file.partial")).unwrap(),
            "another"
        );
        assert_eq!(read(&directory.0), Err(CheckpointProblem::NotACheckpoint));
    }

    /// Every prefix, and every file with one bit changed, is refused.
    #[test]
    fn damage_is_noticed() {
        let directory = Directory::new("damage");
        let path = directory.0.join("file");
        Writer::new(&path)
            .unwrap()
            .write("some contents\nof two lines\n")
            .unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(read(&path).is_err(), "{length} bytes");
        }
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &damaged).unwrap();
            assert!(read(&path).is_err(), "bit {bit}");
        }
        let mut longer = whole.clone();
        longer.push(b'\n');
        fs::write(&path, &longer).unwrap();
        assert!(matches!(read(&path), Err(CheckpointProblem::OtherLength { .. })));
        fs::write(&path, &whole).unwrap();
        assert!(read(&path).unwrap().is_some());
    }
}
