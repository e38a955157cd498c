//! The items around a place in the source: modules, the type of an `impl`, functions.

use super::source_files::SourceFiles;
use super::tokens::Tokens;

impl Tokens {
    /// Returns the names of the modules, types, traits and functions in whose braces this token is, the outermost first:
    /// `["slots", "Ring", "push"]`.
    fn items_around(&self, used: usize) -> Vec<String> {
        let mut items = Vec::new();
        let (mut at, mut begin) = (0, 0);
        while at < used {
            match self.text(at) {
                "(" | "[" | "{" if self.partner(at) < used => {
                    let is_body = self.text(at) == "{";
                    at = self.partner(at);
                    if is_body {
                        begin = at + 1;
                    }
                }
                "{" => {
                    items.extend(self.item(begin, at));
                    begin = at + 1;
                }
                "(" | "[" | ";" => begin = at + 1,
                _ => {}
            }
            at += 1;
        }
        items
    }

    /// Returns the name of the item whose head begins there and ends with this brace.
    fn item(&self, begin: usize, brace: usize) -> Option<String> {
        let mut at = begin;
        while at < brace {
            match self.text(at) {
                "(" | "[" => at = self.partner(at),
                "fn" | "mod" | "trait" if self.is_name(at + 1) => return Some(self.text(at + 1).to_owned()),
                "impl" => return self.type_of_impl(at, brace).map(str::to_owned),
                _ => {}
            }
            at += 1;
        }
        None
    }
}

impl SourceFiles {
    /// Returns the items around `file:line:column`, the outermost first. Empty if the source is not found.
    pub(super) fn items(&mut self, site: &str) -> Vec<String> {
        let found = self.token(site);
        found.map_or_else(Vec::new, |(tokens, at)| tokens.items_around(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_in_its_items() {
        let source = "
            use a::{b, c};
            struct Ring { slots: [u8; 4] }
            impl<T: Fn(u8) -> fn(u8)> Queue for Ring<T> where T: Send {
                fn len(&self) -> usize { 0 }
                #[inline(always)]
                pub(crate) fn push(&self, f: impl Fn()) -> impl Iterator<Item = u8> {
                    let s = Slot { at: 1 };
                    match s { _ => std::thread::spawn(move || { self.tail.PUSH() }) }
                }
            }
            mod slots { pub fn take() { static X: [u8; 2] = [1, 2]; if true { x.TAKE() } } }
            trait Queue { fn peek(&self) { self.PEEK() } }
            fn test() { fn inner() { INNER() } OUTER() }
            const F: fn() = || { CONST() };";
        let tokens = Tokens::read(source.to_owned()).unwrap();
        for (word, items) in [
            ("PUSH", &["Ring", "push"][..]),
            ("TAKE", &["slots", "take"]),
            ("PEEK", &["Queue", "peek"]),
            ("INNER", &["test", "inner"]),
            ("OUTER", &["test"]),
            ("CONST", &[]),
        ] {
            let at = (0..tokens.count()).find(|&at| tokens.text(at) == word).unwrap();
            assert_eq!(tokens.items_around(at), items, "{word}");
        }
    }
}
