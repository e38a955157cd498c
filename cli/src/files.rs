//! Files that commands write. Files that intermezzo did not write are not overwritten.

use crate::problem::Problem;
use serde::Deserialize;
use std::fs;
use std::io;
use std::path::Path;

/// The largest file that is read before it is overwritten. Our own files are smaller.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The kind of a file that intermezzo writes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A schedule file.
    Schedule,
    /// A report in its JSON form.
    Report,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Schedule => "schedule",
            Kind::Report => "report",
        }
    }

    /// Returns the beginning of the `format` of such a file, whatever its version.
    fn format(self) -> String {
        format!("intermezzo-{}/", self.name())
    }
}

/// The fields that all files of intermezzo have.
#[derive(Deserialize)]
struct Header {
    format: String,
}

/// Checks that a file of this kind may be written at this path: there is no file, or one of the same kind.
///
/// # Errors
/// If there is something else.
pub(crate) fn check_may_write(path: &Path, kind: Kind) -> Result<(), Problem> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return check_may_create(path),
        Err(error) => return Err(Problem::file("access", path, &error, "give another path")),
        Ok(found) => found,
    };
    if found.is_file() && found.len() <= FILE_BYTES_MAX {
        let text =
            fs::read(path).map_err(|error| Problem::file("read", path, &error, "give another path"))?;
        if serde_json::from_slice(&text).is_ok_and(|header: Header| header.format.starts_with(&kind.format()))
        {
            return Ok(());
        }
    }
    let name = kind.name();
    Err(Problem::usage(format!(
        "{path:?} exists and is not an intermezzo {name}: it is left alone; give another path"
    )))
}

/// Checks that a file can be created at a path where there is none.
///
/// # Errors
/// If the directory does not exist, or no file can be created in it.
pub(crate) fn check_may_create(path: &Path) -> Result<(), Problem> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // This file has no name, and disappears when it is closed.
    match tempfile::tempfile_in(directory.unwrap_or_else(|| Path::new("."))) {
        Ok(_) => Ok(()),
        Err(error) => Err(Problem::file(
            "write",
            path,
            &error,
            "give a path that can be written",
        )),
    }
}

/// Writes a file of this kind, over another one of the same kind if there is one.
///
/// # Errors
/// If there is something else, or the file system refuses.
pub(crate) fn write(path: &Path, kind: Kind, text: &str) -> Result<(), Problem> {
    check_may_write(path, kind)?;
    fs::write(path, text)
        .map_err(|error| Problem::file("write", path, &error, "give a path that can be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_files_are_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let schedule = "{\"format\":\"intermezzo-schedule/9\"}";
        write(&path, Kind::Schedule, schedule).unwrap();
        write(&path, Kind::Schedule, schedule).unwrap();
        for (there, says) in [
            (schedule, "not an intermezzo report"),
            ("", "not an intermezzo report"),
            ("{}", "left alone"),
        ] {
            fs::write(&path, there).unwrap();
            let error = write(&path, Kind::Report, "{}").unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), there);
        }
        let error = write(directory.path(), Kind::Schedule, schedule)
            .unwrap_err()
            .to_string();
        assert!(error.contains("left alone"), "{error}");
        let error = write(&directory.path().join("no/file"), Kind::Schedule, schedule)
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot write"), "{error}");
    }
}
