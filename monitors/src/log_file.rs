//! The file of an event log that is asked for by name.

use crate::EventLog;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// A file that is made, or emptied, when the first word is written to it: a log that is only tried out leaves what is
/// there alone.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(File::create(&self.path)?)),
        };
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// An event log with arguments: `file=PATH` says where it goes; the others are those of
/// [`EventLog::with_arguments`]. With several workers each needs a file of its own, which nobody can give them: it is
/// for one.
///
/// # Errors
/// There is no file, no such argument, or it cannot have that value.
pub fn event_log(arguments: &str) -> Result<EventLog<LogFile>, String> {
    let is_file = |part: &&str| part.trim().starts_with("file=");
    let (files, others): (Vec<&str>, Vec<&str>) = arguments.split(',').partition(is_file);
    let path = match files.as_slice() {
        [file] => file.trim().trim_start_matches("file=").trim(),
        _ => "",
    };
    if path.is_empty() {
        return Err(
            "event-log: give one file to write to: file=PATH (and points, data: true or false)".into(),
        );
    }
    let path = PathBuf::from(path);
    EventLog::with_arguments(LogFile { path, file: None }, &others.join(","))
}
