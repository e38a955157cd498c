//! Declarations in a source file: the fields of structs, and the lengths and elements of arrays.

use super::kinds::{BOXES, MADE};
use super::path::Step;
use super::tokens::Tokens;
use std::ops::Range;

/// A struct with named fields.
pub(super) struct Struct {
    /// The token of its name.
    pub(super) name: usize,
    /// The tokens of its fields' names, and of their types.
    pub(super) fields: Vec<(usize, Range<usize>)>,
}

/// An array, as one expression or type shows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Array {
    pub(super) length: Option<usize>,
    /// `true` if each element is a variable, `false` if each has some.
    pub(super) is_dense: Option<bool>,
}

/// Returns `true` for the name of a type that is a variable.
pub(super) fn is_variable(name: &str) -> bool {
    MADE.contains(&name) || name.starts_with("Atomic")
}

/// Returns `true` for the name of a type that is a variable and nothing else, so that variables in an array have its size
/// as their distance.
fn is_one_object(name: &str) -> bool {
    name.starts_with("Atomic") || name == "Mutex"
}

impl Tokens {
    /// Returns the structs with named fields.
    pub(super) fn structs(&self) -> impl Iterator<Item = Struct> {
        let begins = |at: &usize| self.before(*at) == "struct" && self.is_name(*at);
        (1..self.count()).filter(begins).filter_map(|name| {
            let mut open = name + 1;
            while self.text(open) != "{" {
                open = match self.text(open) {
                    "" | ";" => return None,
                    "(" | "[" => self.partner(open) + 1,
                    _ => open + 1,
                };
            }
            let parts = self.parts(open).into_iter();
            let fields = parts.filter_map(|part| self.field(part)).collect();
            Some(Struct { name, fields })
        })
    }

    /// Returns the name and the type of a field in the declaration of a struct.
    fn field(&self, part: Range<usize>) -> Option<(usize, Range<usize>)> {
        let mut at = part.start;
        loop {
            match self.text(at) {
                "#" => at = self.partner(at + 1) + 1,
                "pub" if self.text(at + 1) == "(" => at = self.partner(at + 1) + 1,
                "pub" => at += 1,
                _ => break,
            }
        }
        (at + 1 < part.end && self.is_name(at) && self.text(at + 1) == ":").then(|| (at, at + 2..part.end))
    }

    /// Returns the only struct of the file that has this field; or the one in whose `impl` the token is, if that has it.
    pub(super) fn struct_with(&self, field: &str, in_impl: Option<usize>) -> Option<Struct> {
        let has = |each: &Struct| each.fields.iter().any(|(at, _)| self.text(*at) == field);
        if let Some(used) = in_impl {
            return self.struct_named(self.type_around(used)?).filter(has);
        }
        let mut with_field = self.structs().filter(has);
        let first = with_field.next()?;
        with_field.next().is_none().then_some(first)
    }

    /// Returns the struct with this name, if the file has one such struct.
    pub(super) fn struct_named(&self, name: &str) -> Option<Struct> {
        let mut with_name = self.structs().filter(|each| self.text(each.name) == name);
        let first = with_name.next()?;
        with_name.next().is_none().then_some(first)
    }

    /// Returns the number that these tokens are: a literal, or a constant of the file.
    pub(super) fn number(&self, tokens: Range<usize>) -> Option<usize> {
        if tokens.len() != 1 {
            return None;
        }
        let text = self.text(tokens.start);
        if self.is_number(tokens.start) {
            let digits = text.replace('_', "");
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let is_plain = matches!(&digits[end..], "" | "usize" | "u64" | "u32" | "i32");
            return digits[..end].parse().ok().filter(|_| is_plain);
        }
        // A parameter of that name is declared by `const`, too.
        let mut with_name =
            (1..self.count()).filter(|&at| self.text(at) == text && self.before(at) == "const");
        let (at, None) = (with_name.next()?, with_name.next()) else {
            return None;
        };
        let is_constant = self.text(at + 1) == ":" && self.text(at + 3) == "=" && self.text(at + 5) == ";";
        (is_constant && self.is_number(at + 4))
            .then(|| self.number(at + 4..at + 5))
            .flatten()
    }

    /// Returns the array that a type is, perhaps in a box. `after` leads from an element to the variable.
    pub(super) fn array_of_type(&self, mut of: Range<usize>, after: &[Step]) -> Option<Array> {
        loop {
            let first = of.start;
            let last = of.end.checked_sub(1).filter(|last| *last > first)?;
            match self.text(first) {
                "&" | "mut" => of.start += 1,
                text if text.starts_with('\'') => of.start += 1,
                "[" if self.partner(first) == last => {
                    let semicolon = self.semicolon(first + 1..last);
                    let length = semicolon.and_then(|at| self.number(at + 1..last));
                    let is_dense = self.element_of_type(first + 1..semicolon.unwrap_or(last), after);
                    return Some(Array { length, is_dense });
                }
                _ if self.text(first + 1) == "::" => of.start += 2,
                name if self.text(first + 1) == "<" && self.text(last) == ">" => {
                    let within = first + 2..last;
                    if name == "Vec" {
                        let is_dense = self.element_of_type(within, after);
                        return Some(Array {
                            length: None,
                            is_dense,
                        });
                    }
                    if !BOXES.contains(&name) {
                        return None;
                    }
                    of = within;
                }
                _ => return None,
            }
        }
    }

    fn semicolon(&self, mut tokens: Range<usize>) -> Option<usize> {
        while tokens.start < tokens.end {
            match self.text(tokens.start) {
                ";" => return Some(tokens.start),
                "(" | "[" | "{" => tokens.start = self.partner(tokens.start) + 1,
                _ => tokens.start += 1,
            }
        }
        None
    }

    /// Returns whether elements of this type are variables, or have one behind these fields. `None` if that is not known,
    /// or if they lie elsewhere.
    fn element_of_type(&self, of: Range<usize>, after: &[Step]) -> Option<bool> {
        let mut at = of.start;
        while self.text(at + 1) == "::" && at < of.end {
            at += 2;
        }
        let name = self.text(at);
        if name == "CachePadded" && self.text(at + 1) == "<" {
            return self
                .element_of_type(at + 2..of.end.checked_sub(1)?, after)
                .map(|_| false);
        }
        self.element_named(name, after)
    }

    fn element_named(&self, name: &str, after: &[Step]) -> Option<bool> {
        match after {
            [] if is_variable(name) => Some(is_one_object(name)),
            [Step::Field(field)] if !is_variable(name) => {
                let of = self.struct_named(name)?;
                let (_, kind) = of.fields.into_iter().find(|(at, _)| self.text(*at) == field)?;
                self.element_of_type(kind, &[]).map(|_| false)
            }
            _ => None,
        }
    }

    /// Returns the array that an expression makes, perhaps in a box. `after` leads from an element to the variable.
    pub(super) fn array_of_value(&self, of: Range<usize>, after: &[Step]) -> Option<Array> {
        let first = of.start;
        if of.is_empty() {
            return None;
        }
        match self.text(first) {
            "vec" if self.text(first + 1) == "!" => self.array_of_value(first + 2..of.end, after),
            "[" => {
                let close = self.partner(first);
                let semicolon = self.semicolon(first + 1..close);
                let mapped = self
                    .argument_of(close + 1, "map")
                    .filter(|(_, end)| *end == of.end);
                if close + 1 != of.end && mapped.is_none() {
                    return None;
                }
                let parts = self.parts(first);
                let length = match semicolon {
                    Some(at) => self.number(at + 1..close),
                    None => Some(parts.len()),
                };
                let is_dense = match (mapped, semicolon) {
                    (Some((made, _)), _) => self.element_made(made, after),
                    (None, Some(at)) => self.element_made(first + 1..at, after),
                    (None, None) => {
                        let mut each = parts.into_iter().map(|part| self.element_made(part, after));
                        let of_first = each.next()??;
                        each.all(|other| other == Some(of_first)).then_some(of_first)
                    }
                };
                Some(Array { length, is_dense })
            }
            // `(0..4).map(|_| ..).collect()`
            "(" if self.text(first + 1) == "0" && self.text(first + 2) == ".." => {
                let close = self.partner(first);
                let (made, mut next) = self.argument_of(close + 1, "map")?;
                while next < of.end {
                    let collects = matches!(self.text(next + 1), "collect" | "into_boxed_slice" | "into");
                    if self.text(next) != "." || !collects {
                        return None;
                    }
                    next = (next..of.end).find(|&at| self.text(at) == "(")?;
                    next = self.partner(next) + 1;
                }
                Some(Array {
                    length: self.number(first + 3..close),
                    is_dense: self.element_made(made, after),
                })
            }
            name if BOXES.contains(&name) && self.text(first + 1) == "::" => {
                let open = (self.text(first + 2) == "new").then_some(first + 3)?;
                let whole = self.text(open) == "(" && self.partner(open) + 1 == of.end;
                whole
                    .then(|| self.array_of_value(open + 1..of.end - 1, after))
                    .flatten()
            }
            "from_fn" if self.text(first + 1) == "(" && self.partner(first + 1) + 1 == of.end => {
                Some(Array {
                    length: None,
                    is_dense: self.element_made(first + 2..of.end - 1, after),
                })
            }
            "Default" if of.len() == 5 => Some(Array::default()),
            _ if self.text(first + 1) == "::" => self.array_of_value(first + 2..of.end, after),
            _ => None,
        }
    }

    /// `true` if a value of these tokens is an array of variables.
    pub(super) fn makes_array(&self, value: &Range<usize>) -> bool {
        let array = self.array_of_value(value.clone(), &[]);
        array.is_some_and(|array| array.is_dense.is_some())
    }

    /// Returns the argument of a call of this method, and the token behind the call, if one begins here with its dot.
    fn argument_of(&self, dot: usize, method: &str) -> Option<(Range<usize>, usize)> {
        let is_call = self.text(dot) == "." && self.text(dot + 1) == method && self.text(dot + 2) == "(";
        is_call.then(|| {
            let close = self.partner(dot + 2);
            (dot + 3..close, close + 1)
        })
    }

    /// Returns whether the expression or function makes a variable, or a value that has one behind these fields.
    fn element_made(&self, of: Range<usize>, after: &[Step]) -> Option<bool> {
        let mut of = of;
        loop {
            let (first, last) = (of.start, of.end.checked_sub(1)?);
            match self.text(first) {
                "const" | "move" => of.start += 1,
                "||" => of.start += 1,
                "|" => of.start = (first + 1..of.end).find(|&at| self.text(at) == "|")? + 1,
                "{" if self.partner(first) == last => of = first + 1..last,
                name if name.starts_with(char::is_uppercase) => {
                    let makes = matches!(self.text(first + 1), "::" | "{" | "(");
                    // Behind it comes nothing: `A::new(0).into()` is something else.
                    let open = (first..of.end).find(|&at| matches!(self.text(at), "(" | "{"));
                    let ends = open.is_none_or(|open| self.partner(open) + 1 == of.end);
                    return (makes && ends).then(|| self.element_named(name, after)).flatten();
                }
                _ if self.text(first + 1) == "::" => of.start += 2,
                _ => return None,
            }
            if of.is_empty() {
                return None;
            }
        }
    }
}
