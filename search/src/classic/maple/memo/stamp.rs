//! Stamps that identify the text of source files, because a place has no meaning in a different text.
//!
//! A file that can be found from the working directory of the process, or a directory above it, is identified by its
//! length and CRC-32. It cannot be found if the program was built elsewhere, or if several files could be meant. Then
//! it is identified by the running program, so that any other build counts as a different text.

use intermezzo_engine::source::Search;
use std::collections::BTreeMap;

/// The stamps of source files. Each is computed once.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    known: BTreeMap<String, String>,
    build: Option<String>,
}

impl Stamps {
    /// Returns the stamp of a file, which is named as the compiler names it.
    pub(super) fn of(&mut self, file: &str) -> String {
        if let Some(known) = self.known.get(file) {
            return known.clone();
        }
        let found = Search::here().find(file).ok();
        let found = found.and_then(|path| std::fs::read(path).ok());
        let stamp = match found {
            Some(text) => format!("source {} {:08x}", text.len(), crc32fast::hash(&text)),
            None => self.build.get_or_insert_with(build).clone(),
        };
        self.known.insert(file.to_owned(), stamp.clone());
        stamp
    }
}

/// Returns the identity of the running program.
fn build() -> String {
    match std::env::current_exe().and_then(std::fs::read) {
        Ok(program) => format!("build {} {:08x}", program.len(), crc32fast::hash(&program)),
        // This differs from every other stamp, so data with it are dropped by the next process.
        Err(_) => format!("process {}", std::process::id()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_text() {
        let mut stamps = Stamps::default();
        let own = stamps.of(file!());
        assert!(own.starts_with("source "), "{own}");
        let elsewhere = stamps.of("no/such/file.rs");
        assert!(elsewhere.starts_with("build "), "{elsewhere}");
        assert_eq!(stamps.of("another.rs"), elsewhere);
    }
}
