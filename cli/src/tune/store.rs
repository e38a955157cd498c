//! Results in a file, line by line, so that a comparison that was interrupted can continue.

use super::matrix::Matrix;
use super::work::Item;
use crate::problem::Problem;
use intermezzo::foreign;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The format of the file, in its first line.
const FORMAT: &str = "intermezzo-tune/1";

/// The results of a matrix. Without a file they are not kept.
pub(crate) struct Store {
    file: Option<(PathBuf, File)>,
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: String,
    matrix: Matrix,
}

impl Store {
    /// Creates a store without results, which keeps none.
    pub(crate) fn in_memory() -> Store {
        Store {
            file: None,
            items: Vec::new(),
        }
    }

    /// Opens the results of this matrix in `results.jsonl` in this directory, which is created if necessary.
    ///
    /// # Errors
    /// If the file has results of another matrix or of another version of intermezzo, or something else; or if the file
    /// system refuses.
    pub(crate) fn open(directory: &Path, matrix: &Matrix) -> Result<Store, Problem> {
        let help = "give --out another path";
        fs::create_dir_all(directory)
            .map_err(|error| Problem::file("make the directory", directory, &error, help))?;
        let path = directory.join("results.jsonl");
        let header = Header {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            matrix: matrix.clone(),
        };
        let there = match foreign::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Problem::file("read", &path, &error, help)),
        };
        let there = String::from_utf8(there).map_err(|error| {
            let byte = error.utf8_error().valid_up_to();
            Problem::usage(format!(
                "{path:?} is not text from byte {byte} on: it is left alone; {help}"
            ))
        })?;
        let items = match there.as_str() {
            "" => Vec::new(),
            text => {
                parse(text, &header).map_err(|what| Problem::usage(format!("{path:?} {what}; {help}")))?
            }
        };
        let trouble = |error: io::Error| Problem::file("write", &path, &error, help);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(trouble)?;
        if items.is_empty() && there.is_empty() {
            write_line(&mut file, &header).map_err(trouble)?;
        } else {
            // Removes a partial last line, which was being written when the comparison was interrupted.
            let whole = there.rfind('\n').map_or(0, |end| end + 1);
            file.set_len(whole as u64).map_err(trouble)?;
        }
        Ok(Store {
            file: Some((path, file)),
            items,
        })
    }

    /// Takes the result of this program, search and seed, with this limit of executions.
    pub(crate) fn take(&mut self, program: usize, search: usize, seed: u64, most: u64) -> Option<Item> {
        let is_it =
            |item: &Item| (item.program, item.search, item.seed, item.most) == (program, search, seed, most);
        let at = self.items.iter().position(is_it)?;
        Some(self.items.swap_remove(at))
    }

    /// Writes a result to the file, if there is one.
    ///
    /// # Errors
    /// If the file system refuses.
    pub(crate) fn keep(&mut self, item: &Item) -> Result<(), Problem> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        write_line(file, item).map_err(|error| {
            Problem::file(
                "write",
                path,
                &error,
                "make room, and run the command again: it continues",
            )
        })
    }
}

fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(value).expect("results have text for keys");
    line.push('\n');
    file.write_all(line.as_bytes())
}

/// Reads the results in this text, which must be of the same matrix. A partial last line is left out.
fn parse(text: &str, wanted: &Header) -> Result<Vec<Item>, String> {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut lines = whole.lines();
    let header: Header = lines
        .next()
        .and_then(|line| serde_json::from_str(line).ok())
        .filter(|header: &Header| header.format == FORMAT)
        .ok_or("has no results of `tune`: it is left alone")?;
    if header.version != wanted.version {
        return Err(format!("has results of version {} of intermezzo", header.version));
    }
    if header.matrix != wanted.matrix {
        return Err("has results of another comparison: it is left alone".into());
    }
    let items = lines.zip(2..).map(|(line, number)| {
        serde_json::from_str(line).map_err(|error| {
            format!(
                "is altered in line {number} ({})",
                error.to_string().replace(char::is_control, "\u{fffd}")
            )
        })
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use super::super::matrix::Programs;
    use super::*;

    fn matrix(executions: u64) -> Matrix {
        Matrix {
            programs: Programs::Corpus(vec!["counter".into()]),
            searches: Vec::new(),
            seeds: 1,
            executions,
            settings: Vec::new(),
            halving: false,
        }
    }

    fn item(seed: u64) -> Item {
        Item {
            program: 0,
            search: 0,
            seed,
            most: 5,
            runs: Vec::new(),
        }
    }

    fn refused(directory: &Path, executions: u64) -> String {
        Store::open(directory, &matrix(executions))
            .err()
            .unwrap()
            .to_string()
    }

    #[test]
    fn results_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.jsonl");
        let mut store = Store::open(directory.path(), &matrix(5)).unwrap();
        store.keep(&item(0)).unwrap();
        store.keep(&item(1)).unwrap();
        let whole = fs::read_to_string(&path).unwrap();

        // Interrupted in the middle of a line.
        fs::write(&path, format!("{whole}{{\"program\":0,")).unwrap();
        let mut store = Store::open(directory.path(), &matrix(5)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        assert_eq!(
            (store.take(0, 0, 1, 5), store.take(0, 0, 2, 5)),
            (Some(item(1)), None)
        );
        store.keep(&item(2)).unwrap();
        let mut store = Store::open(directory.path(), &matrix(5)).unwrap();
        assert_eq!(
            [0, 1, 2].map(|seed| store.take(0, 0, seed, 5)),
            [0, 1, 2].map(|seed| Some(item(seed)))
        );

        let kept = fs::read_to_string(&path).unwrap();
        assert!(refused(directory.path(), 6).contains("another comparison"));
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
    }

    #[test]
    fn other_files_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.jsonl");
        for text in ["notes", "{}\n"] {
            fs::write(&path, text).unwrap();
            assert!(refused(directory.path(), 5).contains("no results of `tune`"));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_file(&path).unwrap();
        Store::open(directory.path(), &matrix(5)).unwrap();
        let header = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{header}nonsense\n")).unwrap();
        assert!(refused(directory.path(), 5).contains("altered in line 2"));
    }
}
