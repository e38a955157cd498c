//! The scope of preemptions: lists of module paths, source files and variable names.
//!
//! CHESS scopes preemptions by assembly, namespace, type and method (Musuvathi et al., OSDI 2008, section 4.4.1). Here
//! the source file and the variable of an operation are known, so a module is identified by the file that holds it:
//! `a::b` is `a/b.rs`, `a/b/mod.rs` and everything below `a/b/`. The file itself shows the modules, types and functions
//! around a place, so `a::b::Ring::push` is a function of a type, whether or not `b` has its own file. Patterns that
//! never matched anything are reported.
//!
//! Blind spots: items that a macro generates, and files that are not found.

use std::fmt;
use std::path::Path;

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// A module and its contents, without `crate`.
    Module(Vec<String>),
    /// The end of a source file's path, in whole components.
    File(Vec<String>),
    /// A variable by its identity.
    Variable(String),
    /// Variables by the name that they have in the source, or that the test gives them.
    Named(String),
}

/// Places and variables: a part of the value of the setting `preempt`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(Vec<Pattern>);

impl Scope {
    /// Parses a list separated by commas: paths of modules, types and functions (`queue::ring`, `Ring::push`), source
    /// files (`ring.rs`, `queue/ring.rs`) and variables as reports name them (`tail`, `slots[_].seq`, `atomic 0.2`). A
    /// single name is a module or a variable; in backticks it is a variable. One element, as `slots[2].seq`, is
    /// refused.
    ///
    /// # Errors
    /// If an entry is none of these; the text says what would be valid.
    pub fn parse(text: &str) -> Result<Scope, String> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(Pattern::parse).collect::<Result<_, _>>().map(Scope)
    }

    /// Returns `true` if it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the numbers of the entries that include a place, given by its source file and the items around it, each
    /// with its depth: the number of modules, types and functions down to the end of the entry's path.
    pub(crate) fn entries_of_place<'a>(
        &'a self,
        file: &str,
        items: &'a [String],
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let path: Vec<String> = file
            .split(['/', '\\'])
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        let depths = self.0.iter().enumerate();
        depths.filter_map(move |(at, pattern)| Some((at, pattern.depth(&path, items)?)))
    }

    /// Returns `true` if an entry can only be a variable.
    pub fn has_variables(&self) -> bool {
        let is = |pattern: &Pattern| matches!(pattern, Pattern::Variable(_) | Pattern::Named(_));
        self.0.iter().any(is)
    }

    /// Returns `true` if an entry includes a place, given by its source file and the items around it.
    pub fn has_place(&self, file: &str, items: &[String]) -> bool {
        self.entries_of_place(file, items).next().is_some()
    }

    /// Returns `true` if an entry may name an item in a file.
    pub(crate) fn may_name_items(&self) -> bool {
        self.0.iter().any(|pattern| matches!(pattern, Pattern::Module(_)))
    }

    /// Returns the number of the entry that includes a variable.
    pub(crate) fn entry_of_variable(&self, name: &str) -> Option<usize> {
        let is = |pattern: &Pattern| matches!(pattern, Pattern::Variable(variable) if variable == name);
        self.0.iter().position(is)
    }

    /// Returns the number of the entry that includes the variables with a name from the source or the test.
    pub(crate) fn entry_of_name(&self, name: &str) -> Option<usize> {
        let is = |pattern: &Pattern| match pattern {
            Pattern::Named(of) => has_name(of, name),
            Pattern::Module(path) => path.len() == 1 && has_name(&path[0], name),
            _ => false,
        };
        self.0.iter().position(is)
    }

    /// Returns `true` if any entry may be a variable's name.
    pub(crate) fn has_names(&self) -> bool {
        let may_be = |pattern: &Pattern| match pattern {
            Pattern::Named(_) => true,
            Pattern::Module(path) => path.len() == 1,
            _ => false,
        };
        self.0.iter().any(may_be)
    }

    /// Returns `true` if any entry is a variable.
    pub(crate) fn names_variables(&self) -> bool {
        self.0
            .iter()
            .any(|pattern| matches!(pattern, Pattern::Variable(_)))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns an entry as text.
    pub fn entry(&self, at: usize) -> impl fmt::Display + '_ {
        &self.0[at]
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, pattern) in self.0.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{pattern}")?;
        }
        Ok(())
    }
}

/// Returns `true` if a variable with the second name is one of those with the first. At a schedule point, the name of
/// an element contains its index only if the source has the index as a number there, so `slots[2].seq` is one of
/// `slots[_].seq`. The name of an array includes its elements.
fn has_name(wanted: &str, name: &str) -> bool {
    let is = |name: &str| name == wanted || name.strip_suffix("[_]") == Some(wanted);
    is(name) || without_numbers(name).is_some_and(|name| is(&name))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name that a variable shares with those from which only a report distinguishes it: `slots[_].seq` for
/// `slots[2].seq` and `slots#2.seq`, `tail` for `tail#2`, and `next` for `Node#2.next`. `None` if it has no numbers.
fn without_numbers(name: &str) -> Option<String> {
    let mut general = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(['#', '[']) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, end) = after.split_at(digits);
        let is_number = is_number(number);
        if is_number && rest[at..].starts_with('[') && end.starts_with(']') {
            general.extend([before, "[_"]);
        } else if is_number && rest[at..].starts_with('#') && (end.is_empty() || end.starts_with('.')) {
            // An object of a type, or an element of an array: only types begin with a capital letter.
            let is_object = before.starts_with(char::is_uppercase) && general.is_empty();
            match end.strip_prefix('.') {
                Some(field) if is_object => {
                    rest = field;
                    continue;
                }
                Some(_) => general.extend([before, "[_]"]),
                None => general.push_str(before),
            }
        } else {
            general.extend([before, &rest[at..=at], number]);
        }
        rest = end;
    }
    general.push_str(rest);
    (general != name).then_some(general)
}

impl Pattern {
    fn parse(entry: &str) -> Result<Pattern, String> {
        let quoted = entry
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix('`'))
            .filter(|name| !name.is_empty() && !name.contains('`'));
        if let Some(name) = quoted {
            return Ok(Pattern::Named(name.to_owned()));
        }
        let components = |separators: &[char]| {
            let parts = entry
                .split(separators)
                .filter(|part| !part.is_empty() && *part != ".");
            parts.map(str::to_owned).collect::<Vec<String>>()
        };
        if entry.contains(' ') {
            // `atomic 0.2`, `task 1`: the last word is the number.
            let number = entry.rsplit(' ').next().unwrap_or_default();
            if number.split('.').all(|part| part.parse::<u32>().is_ok()) {
                return Ok(Pattern::Variable(entry.to_owned()));
            }
        } else if Path::new(entry)
            .extension()
            .is_some_and(|extension| extension == "rs")
        {
            return Ok(Pattern::File(components(&['/', '\\'])));
        } else {
            let mut path: Vec<String> = entry.split("::").map(str::to_owned).collect();
            if path.first().is_some_and(|first| first == "crate") {
                path.remove(0);
            }
            let plain =
                |part: &String| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !path.is_empty() && path.iter().all(plain) {
                return Ok(Pattern::Module(path));
            }
            let part_of_name = |c: char| c.is_alphanumeric() || "_.[]#()".contains(c);
            if entry.starts_with(|c: char| c.is_alphabetic() || c == '_') && entry.chars().all(part_of_name) {
                return match without_numbers(entry) {
                    None => Ok(Pattern::Named(entry.to_owned())),
                    Some(all) => Err(format!(
                        "`{entry}` is one of several variables, which only a report distinguishes: give `{all}`, which is \
                         all of them; or give this one a name in the test, as in `intermezzo::name(&.., \"mine\")`, and \
                         that name here"
                    )),
                };
            }
        }
        Err(format!(
            "`{entry}` is not a path (`queue::ring`, `Ring::push`), a source file (`queue/ring.rs`) or a variable as a report \
             names it (`tail`, `slots[_].seq`, `atomic 0.2`)"
        ))
    }

    /// Returns the depth of its last component, if it includes a place in the source file with this path, with these
    /// items around it.
    fn depth(&self, path: &[String], items: &[String]) -> Option<usize> {
        match self {
            Pattern::Variable(_) | Pattern::Named(_) => None,
            Pattern::File(end) => path.ends_with(end).then_some(path.len()),
            Pattern::Module(module) => {
                // The file without its extension, `a/b/mod.rs` as `a/b`; files below begin with the same components.
                let mut parts: Vec<&str> = path.iter().map(String::as_str).collect();
                if let Some(last) = parts.last_mut() {
                    *last = last.strip_suffix(".rs").unwrap_or(last);
                }
                if parts.last() == Some(&"mod") {
                    parts.pop();
                }
                let of_file = parts.len();
                parts.extend(items.iter().map(String::as_str));
                let ends = (module.len()..=parts.len()).rev();
                let mut ends = ends.filter(|&end| parts[end - module.len()..end] == module[..]);
                // A single name in lower case may be a variable's, so it is not taken as a function.
                let is_item = module.len() > 1 || module[0].starts_with(char::is_uppercase);
                ends.find(|&end| end <= of_file || is_item)
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Module(path) => f.write_str(&path.join("::")),
            Pattern::File(path) => f.write_str(&path.join("/")),
            Pattern::Variable(name) => f.write_str(name),
            Pattern::Named(name) => match Pattern::parse(name) {
                Ok(Pattern::Named(_)) => f.write_str(name),
                _ => write!(f, "`{name}`"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_their_modules() {
        for (entry, file, within) in [
            ("ring", "src/ring.rs", true),
            ("ring", "src/ring/mod.rs", true),
            ("ring", "src/ring/slots.rs", true),
            ("ring", "src/string.rs", false),
            ("queue::ring", "crates/q/src/queue/ring.rs", true),
            ("crate::queue::ring", "src/queue/ring/mod.rs", true),
            ("queue::ring", "src/queue.rs", false),
            ("queue::ring", "src/ring.rs", false),
            ("queue", "src\\queue\\ring.rs", true),
            ("ring.rs", "src/queue/ring.rs", true),
            ("ring.rs", "src/string.rs", false),
            ("./queue/ring.rs", "src/queue/ring.rs", true),
            ("src/queue/ring.rs", "queue/ring.rs", false),
            ("atomic 0.1", "src/atomic.rs", false),
        ] {
            let scope = Scope::parse(entry).unwrap();
            let entries = scope.entries_of_place(file, &[]).count();
            assert_eq!(entries == 1, within, "{entry} and {file}");
        }
    }

    #[test]
    fn types_and_functions_are_in_their_modules() {
        let items = ["slots", "Ring", "push"].map(str::to_owned);
        for (entry, depth) in [
            ("queue", Some(2)),
            ("queue.rs", Some(2)),
            ("queue::slots", Some(3)),
            ("slots::Ring", Some(4)),
            ("Ring", Some(4)),
            ("Ring::push", Some(5)),
            ("crate::queue::slots::Ring::push", Some(5)),
            ("push", None),
            ("Ring::pop", None),
            ("queue::Ring", None),
        ] {
            let scope = Scope::parse(entry).unwrap();
            let found = scope.entries_of_place("src/queue.rs", &items).next();
            assert_eq!(found, depth.map(|depth| (0, depth)), "{entry}");
        }
    }

    #[test]
    fn variables_have_names_of_the_source() {
        for (entry, name, is) in [
            ("tail", "tail", true),
            ("`tail`", "tail", true),
            ("crate::tail", "tail", true),
            ("tail", "head", false),
            ("tail", "tail#2", true),
            ("slots[_].seq", "slots[_].seq", true),
            ("slots[_].seq", "slots[1].seq", true),
            ("slots", "slots[_]", true),
            ("slots", "slots[_].seq", false),
            ("slots[_]", "slots[_].seq", false),
            ("next", "next", true),
            ("next", "Node#2.next", true),
            ("Node.next", "next", false),
            ("Q.0", "Q.0", true),
            ("`slot 1`", "slot 1", true),
            ("`the #1 slot`", "the #1 slot", true),
            ("`slot#1`", "slot#1", true),
            ("`slot#1`", "slot#2", false),
            ("`slots[1]`", "slots[_]", false),
            ("head()", "head()", true),
            ("`the journal`", "the journal", true),
            ("queue::tail", "tail", false),
            ("tail.rs", "tail", false),
        ] {
            let scope = Scope::parse(entry).unwrap();
            assert_eq!(scope.entry_of_name(name).is_some(), is, "{entry} and {name}");
            assert!(scope.has_names() || !is, "{entry}");
            assert_eq!(Scope::parse(&scope.to_string()), Ok(scope), "{entry}");
        }
    }

    #[test]
    fn lists_are_read_and_shown() {
        let scope = Scope::parse("queue::ring, ring.rs,atomic 0.2").unwrap();
        assert_eq!(scope.to_string(), "queue::ring, ring.rs, atomic 0.2");
        assert_eq!(scope.entry_of_variable("atomic 0.2"), Some(2));
        assert_eq!(scope.entry_of_variable("atomic 0.21"), None);
        assert!(scope.names_variables() && !Scope::parse("ring.rs").unwrap().names_variables());
        assert!(Scope::parse("").unwrap().is_empty());
        for (one, all) in [
            ("slots[2].seq", "slots[_].seq"),
            ("grid[1][_]", "grid[_][_]"),
            ("tail#2", "tail"),
            ("Node#2.next", "next"),
            ("Node#2.next#3", "next"),
            ("slots#2.seq", "slots[_].seq"),
            ("taken#2", "taken"),
        ] {
            let error = Scope::parse(one).unwrap_err();
            assert!(error.contains(&format!("give `{all}`")), "{one}: {error}");
        }
        for wrong in ["a:b", "src/*", "the ring", "queue/ring", "::"] {
            let error = Scope::parse(wrong).unwrap_err();
            assert!(error.contains("is not a path"), "{wrong}: {error}");
        }
    }
}
