//! Source files as tokens, each read once.

use super::tokens::Tokens;
use crate::report::source::{Search, parts, read};
use std::collections::BTreeMap;

/// The source files that a finding names.
#[derive(Debug)]
pub(in crate::report) struct SourceFiles {
    search: Search,
    files: BTreeMap<String, Option<Tokens>>,
}

impl SourceFiles {
    pub(in crate::report) fn new(search: Search) -> SourceFiles {
        let files = BTreeMap::new();
        SourceFiles { search, files }
    }

    /// Returns the file of `file:line:column`, and the token that begins there.
    pub(super) fn token(&mut self, site: &str) -> Option<(&Tokens, usize)> {
        let (file, line, column) = parts(site)?;
        if !self.files.contains_key(file) {
            let tokens = read(file, &self.search).ok().and_then(Tokens::read);
            self.files.insert(file.to_owned(), tokens);
        }
        let tokens = self.files.get(file)?.as_ref()?;
        Some((tokens, tokens.at(line, column)?))
    }

    /// Returns the call at `file:line:column` with its receiver, if it is in one line: `self.tail.load(SeqCst)`.
    pub(in crate::report) fn call(&mut self, site: &str) -> Option<String> {
        let (tokens, at) = self.token(site)?;
        let open = at + 1;
        if tokens.text(open) != "(" || tokens.before(at) != "." {
            return None;
        }
        let first = tokens.path_ending(at.checked_sub(2)?)?.first;
        tokens.line_of(first, tokens.partner(open)).map(str::to_owned)
    }
}
