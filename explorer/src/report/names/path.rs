//! The expression before a method's name, as a path: `self.slots[i].seq` is `self`, `slots`, an element, `seq`.

use super::tokens::Tokens;
use std::ops::Range;

/// The beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// `self`.
    Receiver,
    /// A local variable, a parameter or a binding, with its token.
    Local(String, usize),
    /// A static.
    Item(String),
    /// A call whose result is not known: `head()`.
    Call(String),
    /// A call of a method of `self`.
    Method(Call),
}

/// A call of a method, by its name and the `(` of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) method: String,
    pub(super) open: usize,
}

/// The index of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// The index, if it is a number.
    pub(super) number: Option<String>,
    /// The tokens of the index, if it has some.
    pub(super) tokens: Option<Range<usize>>,
    /// The call of the method that the tokens are in, if they are in another one.
    pub(super) call: Option<Call>,
}

/// A further part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Field(String),
    Element(Index),
}

/// An expression that names a place in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) root: Root,
    pub(super) steps: Vec<Step>,
    /// Its first token.
    pub(super) first: usize,
}

/// Methods whose result leads to the same variable.
const SAME: &[&str] = &[
    "as_deref",
    "as_mut",
    "as_ptr",
    "as_ref",
    "as_slice",
    "borrow",
    "borrow_mut",
    "by_ref",
    "cast",
    "clone",
    "cloned",
    "copied",
    "deref",
    "deref_mut",
    "downgrade",
    "expect",
    "get_ref",
    "iter",
    "iter_mut",
    "lock",
    "ok",
    "read",
    "to_owned",
    "unwrap",
    "unwrap_unchecked",
    "upgrade",
    "write",
];

/// Methods that return an element.
const ELEMENT: &[&str] = &["get", "get_mut", "get_unchecked", "get_unchecked_mut"];

/// Functions of a type that return the same variable: `Arc::clone(&x)`.
const SAME_FUNCTIONS: &[&str] = &["as_ptr", "as_ref", "clone", "deref", "downgrade", "upgrade"];

impl Tokens {
    /// Returns the path that ends with this token.
    pub(super) fn path_ending(&self, last: usize) -> Option<Path> {
        let mut steps: Vec<Step> = Vec::new();
        // After a call whose result is not known, only the beginning of the expression is of interest.
        let mut call: Option<(Root, usize)> = None;
        let mut at = last;
        let done = |root: Root, first: usize, mut steps: Vec<Step>, call: Option<(Root, usize)>| {
            let root = match call {
                Some((call, known)) => {
                    steps.truncate(known);
                    call
                }
                None => root,
            };
            steps.reverse();
            Some(Path { root, steps, first })
        };
        loop {
            match self.text(at) {
                "?" => at = at.checked_sub(1)?,
                ")" => {
                    let open = self.partner(at);
                    let name = self.name_of_call(open);
                    let Some(name) = name else {
                        // In parentheses.
                        if open > 0
                            && (self.ends_expression(open - 1) || matches!(self.text(open - 1), ">" | "!"))
                        {
                            return None;
                        }
                        let inner = self.path_within(open + 1, at - 1)?;
                        let Path {
                            root, steps: inner, ..
                        } = inner;
                        steps.extend(inner.into_iter().rev());
                        return done(root, open, steps, call);
                    };
                    let said = self.text(name);
                    match self.before(name) {
                        "." => {
                            // `get` without an argument returns the whole of a cell.
                            if ELEMENT.contains(&said) && open + 1 < at {
                                steps.push(Step::Element(self.index(open, at)));
                            } else if !SAME.contains(&said) && !ELEMENT.contains(&said) && call.is_none() {
                                let of_self = self.before(name - 1) == "self" && self.before(name - 2) != ".";
                                let root = match of_self {
                                    true => Root::Method(Call {
                                        method: said.to_owned(),
                                        open,
                                    }),
                                    false => Root::Call(format!("{said}()")),
                                };
                                call = Some((root, steps.len()));
                            }
                            at = name.checked_sub(2)?;
                        }
                        "::" if SAME_FUNCTIONS.contains(&said) && open + 1 < at => {
                            let Path {
                                root, steps: inner, ..
                            } = self.path_within(open + 1, at - 1)?;
                            steps.extend(inner.into_iter().rev());
                            return done(root, self.beginning(name), steps, call);
                        }
                        // A new value has no name.
                        _ if said.starts_with(char::is_uppercase)
                            || ["new", "default", "from"].contains(&said) =>
                        {
                            return None;
                        }
                        _ => {
                            let root = Root::Call(format!("{said}()"));
                            return done(root, self.beginning(name), steps, call);
                        }
                    }
                }
                "]" => {
                    let open = self.partner(at);
                    if open == 0 || !self.ends_expression(open - 1) {
                        return None;
                    }
                    steps.push(Step::Element(self.index(open, at)));
                    at = open - 1;
                }
                "}" => {
                    let open = self.partner(at);
                    if self.before(open) != "unsafe" {
                        return None;
                    }
                    let Path {
                        root, steps: inner, ..
                    } = self.path_within(open + 1, at.checked_sub(1)?)?;
                    steps.extend(inner.into_iter().rev());
                    return done(root, open - 1, steps, call);
                }
                text => match self.before(at) {
                    "." if self.is_number(at) || self.is_name(at) || text == "await" => {
                        if text != "await" {
                            steps.push(Step::Field(text.to_owned()));
                        }
                        at = at.checked_sub(2)?;
                    }
                    _ if text == "self" => return done(Root::Receiver, at, steps, call),
                    _ if !self.is_name(at) => return None,
                    "::" if is_static(text) => {
                        return done(Root::Item(text.to_owned()), self.beginning(at), steps, call);
                    }
                    "::" | "$" => return None,
                    _ if is_static(text) => return done(Root::Item(text.to_owned()), at, steps, call),
                    _ => return done(Root::Local(text.to_owned(), at), at, steps, call),
                },
            }
        }
    }

    /// Returns the path that all of these tokens form, without leading references and dereferences.
    pub(super) fn path_within(&self, first: usize, last: usize) -> Option<Path> {
        let mut first = first;
        while matches!(self.text(first), "&" | "&&" | "*" | "mut" | "const" | "raw") {
            first += 1;
        }
        if first > last || last >= self.count() {
            return None;
        }
        self.path_ending(last).filter(|path| path.first == first)
    }

    /// Returns the token with the name of the function or method whose arguments begin here.
    pub(super) fn name_of_call(&self, open: usize) -> Option<usize> {
        let mut before = open.checked_sub(1)?;
        if self.text(before) == ">" {
            before = self.angle(before)?.checked_sub(1)?;
            if self.text(before) != "::" {
                return None;
            }
            before = before.checked_sub(1)?;
        }
        self.is_name(before).then_some(before)
    }

    /// Returns the `<` of this `>`.
    pub(super) fn angle(&self, close: usize) -> Option<usize> {
        let mut depth = 0;
        let mut at = close;
        loop {
            match self.text(at) {
                ">" => depth += 1,
                "<" => depth -= 1,
                ")" | "]" => at = self.partner(at),
                ";" | "{" | "}" | "(" | "[" => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
            at = at.checked_sub(1)?;
        }
    }

    /// Returns the first token of the path of modules and types that ends with this name.
    fn beginning(&self, name: usize) -> usize {
        let mut at = name;
        while self.before(at) == "::" && at >= 2 {
            let before = at - 2;
            at = match self.text(before) {
                ">" => match self.angle(before) {
                    // `Vec::<u8>::new`, `Arc<u8>::new` and `<T as Trait>::new`.
                    Some(open) if self.before(open) == "::" => open - 1,
                    Some(open) if open > 0 && self.is_name(open - 1) => open - 1,
                    Some(open) => return open,
                    None => return at,
                },
                _ => before,
            };
        }
        at
    }

    /// Returns the tokens of the body of the function with this name, if the file has one such function.
    pub(super) fn body_of(&self, function: &str) -> Option<Range<usize>> {
        let mut with_name =
            (1..self.count()).filter(|&at| self.text(at) == function && self.before(at) == "fn");
        let (at, None) = (with_name.next()?, with_name.next()) else {
            return None;
        };
        let mut at = at + 1;
        while self.text(at) != "{" {
            at = match self.text(at) {
                "" | ";" => return None,
                "(" | "[" => self.partner(at) + 1,
                _ => at + 1,
            };
        }
        Some(at + 1..self.partner(at))
    }

    /// Returns the index between these brackets.
    fn index(&self, open: usize, close: usize) -> Index {
        let is_number = close == open + 2 && self.is_number(open + 1);
        Index {
            number: is_number.then(|| self.text(open + 1).to_owned()),
            tokens: Some(open + 1..close),
            call: None,
        }
    }
}

/// `true` for a name in capitals, which only statics and constants have.
fn is_static(name: &str) -> bool {
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
