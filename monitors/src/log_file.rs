//! The file of an event log that is requested by name.

use crate::EventLog;
use crate::event_log::BEGINNING;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A file that is created, or emptied, at the first write. A log that is only tried out leaves an existing file
/// alone.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                check_is_ours(&self.path)?;
                self.file.insert(BufWriter::new(File::create(&self.path)?))
            }
        };
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Checks that a log may be written there: over another log, or where there is nothing yet.
fn check_is_ours(path: &Path) -> io::Result<()> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
    if !is_file {
        return Ok(());
    }
    let mut beginning = Vec::new();
    File::open(path)?
        .take(BEGINNING.len() as u64)
        .read_to_end(&mut beginning)?;
    if beginning == BEGINNING.as_bytes() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("{path:?} exists and is not an event log: it is left alone; give another path, or remove it"),
    ))
}

/// Creates an event log with arguments: `file=PATH` gives its file; the others are those of
/// [`EventLog::with_arguments`]. With several workers each would need a file of its own, and there is no way to give
/// them: it is for one worker.
///
/// # Errors
/// If there is no file, no such argument, or it cannot have that value; or if the file exists and is not an event log.
pub fn event_log(arguments: &str) -> Result<EventLog<LogFile>, String> {
    let is_file = |part: &&str| part.trim().starts_with("file=");
    let (files, others): (Vec<&str>, Vec<&str>) = arguments.split(',').partition(is_file);
    let path = match files.as_slice() {
        [file] => file.trim().trim_start_matches("file=").trim(),
        _ => "",
    };
    if path.is_empty() {
        return Err(
            "event-log: give one file to write to, as in `event-log:file=events.txt` (or `event-log:file=events.txt,points=true,data=true` \
             for more)"
                .into(),
        );
    }
    let path = PathBuf::from(path);
    check_is_ours(&path).map_err(|error| format!("event-log: {error}"))?;
    EventLog::with_arguments(LogFile { path, file: None }, &others.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_sdk::Monitor;
    use std::fs;

    #[test]
    fn only_another_log_is_overwritten() {
        let path = std::env::temp_dir().join(format!("intermezzo-event-log-{}", std::process::id()));
        let arguments = format!("file={}", path.display());
        let log = |text: &str| {
            fs::write(&path, text).unwrap();
            event_log(&arguments)
        };
        for theirs in ["my diary", "execute", "executions\n"] {
            let error = log(theirs).unwrap_err();
            assert!(error.contains("exists and is not an event log"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
        }
        for ours in ["", "execution 7\n"] {
            assert_eq!(log(ours).unwrap().name(), "event-log");
        }
        // A file that was created since then is left alone, too.
        let mut file = LogFile {
            path: path.clone(),
            file: None,
        };
        fs::write(&path, "my diary").unwrap();
        assert!(file.write_all(b"execution 1\n").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "my diary");
        fs::remove_file(&path).unwrap();
        assert!(event_log(&arguments).is_ok());
    }
}
