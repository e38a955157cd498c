//! Which text of a source file a place is in: a place means nothing in another.
//!
//! A file that can be found from where the process runs, or above, is known by its length and CRC-32. One that cannot, because
//! the program was built elsewhere, or could be one of several, is known by the program that runs: then any other build is taken for
//! another text.

use intermezzo_engine::source::Search;
use std::collections::BTreeMap;

/// Stamps of source files, each looked at once.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    known: BTreeMap<String, String>,
    build: Option<String>,
}

impl Stamps {
    /// Returns the stamp of a file, as the compiler names it.
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

/// Returns the program that runs.
fn build() -> String {
    match std::env::current_exe().and_then(std::fs::read) {
        Ok(program) => format!("build {} {:08x}", program.len(), crc32fast::hash(&program)),
        // Like no other: what is noted under it is dropped by whoever can tell.
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
