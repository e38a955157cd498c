//! The loops around places in the source, by their heads: `while self.busy()`.

use super::source_files::SourceFiles;
use super::tokens::Tokens;
use crate::report::source::parts;

/// A loop: its first token, and the `{` of its body.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Loop {
    first: usize,
    body: usize,
}

impl Tokens {
    /// Returns the loops whose heads or bodies have this token, the innermost first. A loop around a closure is none of
    /// them: the closure may run elsewhere.
    fn loops_around(&self, used: usize) -> Vec<Loop> {
        let mut loops = Vec::new();
        let Some(function) = self.function_around(used) else {
            return loops;
        };
        for first in (function..used).rev() {
            let partner = match self.text(first) {
                "(" | "[" | "{" => self.partner(first),
                "while" | "for" | "loop" => {
                    let found = self.body_of_loop(first);
                    let around = found.filter(|&body| used <= self.partner(body));
                    loops.extend(around.map(|body| Loop { first, body }));
                    continue;
                }
                _ => continue,
            };
            if partner > used && self.begins_closure(first, used) {
                break;
            }
        }
        loops
    }

    /// `true` if the token is in a loop of its function or closure.
    pub(super) fn is_in_loop(&self, at: usize) -> bool {
        !self.loops_around(at).is_empty()
    }

    /// Returns the `{` of the body of the loop that begins with this word, if one does.
    fn body_of_loop(&self, first: usize) -> Option<usize> {
        let mut at = first + 1;
        let mut has_in = self.text(first) != "for";
        loop {
            match self.text(at) {
                "{" => return has_in.then_some(at),
                "(" | "[" => at = self.partner(at),
                "in" => has_in = true,
                "" | ";" | "}" => return None,
                _ => {}
            }
            at += 1;
        }
    }

    /// `true` if the token is in a closure that begins in this bracket, or whose body the bracket is.
    pub(super) fn begins_closure(&self, open: usize, used: usize) -> bool {
        if self.text(open) == "{" && matches!(self.before(open), "|" | "||") {
            return true;
        }
        let mut at = open + 1;
        while at < used {
            let before = self.before(at);
            let begins = matches!(before, "(" | "[" | "{" | "," | "=" | "move" | "return" | ";");
            match self.text(at) {
                "|" | "||" if begins => return true,
                "(" | "[" | "{" if self.partner(at) < used => at = self.partner(at),
                "(" | "[" | "{" => return false,
                _ => {}
            }
            at += 1;
        }
        false
    }
}

impl SourceFiles {
    /// Returns the head of the innermost loop around all these places: `while self.busy()`. Returns `None` if there is
    /// none, or if its head takes more than one line.
    pub(in crate::report) fn loop_around<'s>(
        &mut self,
        sites: impl IntoIterator<Item = &'s str>,
    ) -> Option<String> {
        let mut sites = sites.into_iter();
        let first = sites.next()?;
        let file = parts(first)?.0;
        let mut around = self.loops_at(first)?;
        for site in sites {
            if parts(site)?.0 != file {
                return None;
            }
            let these = self.loops_at(site)?;
            around.retain(|found| these.contains(found));
        }
        let innermost = around.first()?;
        let (tokens, _) = self.token(first)?;
        tokens
            .line_of(innermost.first, innermost.body - 1)
            .map(str::to_owned)
    }

    fn loops_at(&mut self, site: &str) -> Option<Vec<Loop>> {
        let (tokens, at) = self.token(site)?;
        Some(tokens.loops_around(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the heads of the loops around the word `here`.
    fn heads(body: &str) -> Vec<String> {
        let tokens = Tokens::read(format!("impl A {{ fn f(&self) {{ {body} }} }}")).unwrap();
        let here = (0..tokens.count()).find(|&at| tokens.text(at) == "here").unwrap();
        let loops = tokens.loops_around(here).into_iter();
        let head = |found: Loop| tokens.line_of(found.first, found.body - 1).unwrap().to_owned();
        loops.map(head).collect()
    }

    #[test]
    fn loops_are_named_by_their_heads() {
        for (body, expected) in [
            ("while self.here() { a() }", &["while self.here()"][..]),
            ("loop { for x in 0..n { a[here()] } }", &["for x in 0..n", "loop"]),
            (
                "while let Some(x) = f(|y| y) { if a { here(); } }",
                &["while let Some(x) = f(|y| y)"],
            ),
            ("while a() {} here();", &[]),
            ("for _ in 0..3 { spawn(move || here()); }", &[]),
            ("for _ in 0..3 { spawn(|| { loop { here() } }); }", &["loop"]),
            ("for _ in 0..3 { scope.spawn(1, |s| s.here()); }", &[]),
            ("while a | here() {}", &["while a | here()"]),
            ("let f: for<'a> fn(&'a u8) = g; here();", &[]),
        ] {
            assert_eq!(heads(body), expected, "{body}");
        }
    }
}
