//! Source files as tokens, each read once.

use super::kinds::{OTHERS, is_method};
use super::path::Root;
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

    /// Makes one file with this text.
    #[cfg(test)]
    pub(super) fn of(file: &str, text: String) -> SourceFiles {
        let tokens = Tokens::read(text);
        let mut files = SourceFiles::new(Search::here());
        files.files.insert(file.to_owned(), tokens);
        files
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

    /// Returns the name of the method that is called at `file:line:column`, if one of an object of ours is.
    pub(in crate::report) fn method(&mut self, site: &str) -> Option<&str> {
        let (tokens, at) = self.token(site)?;
        let is_called = tokens.before(at) == "." && matches!(tokens.text(at + 1), "(" | "::");
        (is_called && is_method(tokens.text(at))).then(|| tokens.text(at))
    }

    /// Returns the call at `file:line:column`, if it is of a function that is no operation: one of the test, with
    /// `#[track_caller]`. The arguments are left out if it does not fit.
    pub(in crate::report) fn boundary(
        &mut self,
        site: &str,
        fits: impl Fn(&String) -> bool,
    ) -> Option<String> {
        let (tokens, at) = self.token(site)?;
        let mut name = at;
        while tokens.before(at) != "." && tokens.text(name + 1) == "::" && tokens.is_name(name + 2) {
            name += 2;
        }
        let is_call = tokens.text(name + 1) == "(";
        let is_own = !is_method(tokens.text(name)) && !OTHERS.contains(&tokens.text(name));
        (is_call && is_own).then(|| self.call(site, fits)).flatten()
    }

    /// Returns the object of the call at `file:line:column`, if it is in one line: `self.tail` of `self.tail.load(SeqCst)`.
    pub(in crate::report) fn object(&mut self, site: &str) -> Option<String> {
        let (tokens, at) = self.token(site)?;
        if tokens.before(at) != "." || !matches!(tokens.text(at + 1), "(" | "::") {
            return None;
        }
        let last = at.checked_sub(2)?;
        let first = tokens.path_ending(last)?.first;
        tokens.line_of(first, last).map(str::to_owned)
    }

    /// Returns the object of the call at one place as another place has it: both are in one function, and the name at its
    /// beginning means the same at both.
    pub(in crate::report) fn object_seen_from(&mut self, site: &str, other: &str) -> Option<String> {
        let (file, ..) = parts(site)?;
        if parts(other)?.0 != file {
            return None;
        }
        let there = self.token(other)?.1;
        let (tokens, at) = self.token(site)?;
        let same_function = tokens.function_around(at)? == tokens.function_around(there)?;
        let is_same = same_function
            && match tokens.path_ending(at.checked_sub(2)?)?.root {
                Root::Receiver | Root::Item(_) => true,
                Root::Local(name, used) => tokens.binding(&name, used) == tokens.binding(&name, there),
                Root::Call(_) | Root::Method(_) => false,
            };
        if is_same { self.object(site) } else { None }
    }

    /// Returns the call at `file:line:column` with its receiver, if it is in one line: `self.tail.store(end, SeqCst)`. If
    /// that does not fit, its arguments are left out: `self.tail.store(…)`.
    pub(in crate::report) fn call(&mut self, site: &str, fits: impl Fn(&String) -> bool) -> Option<String> {
        let (tokens, at) = self.token(site)?;
        let is_method = tokens.before(at) == ".";
        let mut name = at;
        while !is_method && tokens.text(name + 1) == "::" && tokens.is_name(name + 2) {
            name += 2;
        }
        let open = name + 1;
        if tokens.text(open) != "(" {
            return None;
        }
        let first = match is_method {
            true => tokens.path_ending(at.checked_sub(2)?)?.first,
            false => at,
        };
        let whole = tokens.line_of(first, tokens.partner(open)).map(str::to_owned);
        let short = || tokens.line_of(first, name).map(|called| format!("{called}(…)"));
        whole.filter(&fits).or_else(short).filter(&fits)
    }
}
