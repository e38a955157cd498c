//! Files of tests in directories that the command line gives: checkpoints and reports.

use intermezzo_engine::serial::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Writes the report of the test of this name, as JSON, into a directory, for the command line that asked for it. No
/// existing file is overwritten, since tests of different binaries may have the same name. If a report cannot be
/// written, it is missing there, and the reader of the directory notices; the test's own outcome is not affected.
pub fn write_beside(directory: &Path, program: &str, json: &str) {
    let _ = std::fs::create_dir_all(directory);
    let name = file_stem(program);
    for number in 1..1000 {
        let file = if number == 1 {
            format!("{name}.json")
        } else {
            format!("{name}.{number}.json")
        };
        match std::fs::File::create_new(directory.join(file)) {
            Ok(mut file) => return drop(file.write_all(json.as_bytes())),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => return,
        }
    }
}

/// Writes a value as JSON, as [`write_beside`] does, into the directory that this environment variable names. Returns
/// `false` if there is no such variable.
pub(crate) fn write_asked_for(variable: &str, program: &str, value: &impl Serialize) -> bool {
    let Some(directory) = std::env::var_os(variable) else {
        return false;
    };
    match intermezzo_engine::serial::to_string_pretty(value) {
        Ok(json) => write_beside(Path::new(&directory), program, &json),
        // Text has a JSON form, so the feature `files` is off.
        Err(error) => panic!("{variable}: {error}"),
    }
    true
}

/// Returns the path of the checkpoint of the test of this name in a directory. Each binary has its own, and so has each
/// exploration of one name in a process, in the order in which they begin. If the directory cannot be made, opening the
/// checkpoint reports it.
pub(crate) fn checkpoint_in(directory: &Path, program: &str) -> PathBuf {
    static BEGUN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let _ = std::fs::create_dir_all(directory);
    let binary = std::env::current_exe().unwrap_or_default();
    let binary = binary.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{}-{}", file_stem(program), file_stem(&binary));
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let number = begun.entry(name.clone()).or_default();
    *number += 1;
    directory.join(match number {
        1 => format!("{name}.checkpoint"),
        number => format!("{name}.{number}.checkpoint"),
    })
}

/// Returns a program's name in a form that is valid in a file name.
fn file_stem(program: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    program.chars().map(plain).collect()
}
