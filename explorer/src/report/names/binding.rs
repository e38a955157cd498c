//! The place where a local name is bound: the `let`, the parameter, the loop or the pattern.
//!
//! The tokens before the use are read backwards, from the inside of the function to the outside. Groups in brackets that
//! do not contain the use are skipped. Misses: names that a macro binds.

use super::tokens::Tokens;
use std::ops::Range;

/// The meaning of a local name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// `let name = ..`, with the tokens of the initial value.
    Let(Range<usize>),
    /// One of several names of a `let`, with the tokens of the pattern and of the initial value.
    PartOfLet(Range<usize>, Range<usize>),
    /// A field that a pattern takes out.
    Field(String),
    /// Each element of the value of these tokens in turn.
    Element(Range<usize>),
    /// The value of these tokens.
    Same(Range<usize>),
    /// A parameter of a function or of a closure, or a name of another pattern.
    Own,
}

/// Methods whose closure gets element by element.
const OVER_ELEMENTS: &[&str] = &[
    "all",
    "any",
    "filter",
    "filter_map",
    "find",
    "flat_map",
    "for_each",
    "inspect",
    "map",
    "max_by_key",
    "min_by_key",
    "position",
    "try_for_each",
];

/// A walk outwards from a use, through the tokens before it.
struct Walk {
    at: usize,
    /// `true` if a statement ended since the last step out of a bracket.
    past_statement: bool,
    /// `true` if an argument or an arm ended since then.
    past_part: bool,
    /// `true` if a part of a condition ended since then, at `&&`.
    past_condition: bool,
    /// `true` if a group in braces was skipped since then.
    past_block: bool,
    /// The brace out of which the last step led, unless a group followed.
    brace: Option<usize>,
}

impl Walk {
    /// `true` if the use may be in a condition, or in the guard of an arm, that the walk has not left.
    fn is_in_condition(&self) -> bool {
        !self.past_statement && !self.past_part && !self.past_block && self.brace.is_none()
    }
}

impl Tokens {
    /// Returns the meaning of the local name of this token.
    pub(super) fn binding(&self, name: &str, used: usize) -> Option<Binding> {
        let mut walk = Walk {
            at: used,
            past_statement: false,
            past_part: false,
            past_condition: false,
            past_block: false,
            brace: None,
        };
        while walk.at > 0 {
            walk.at -= 1;
            let at = walk.at;
            match self.text(at) {
                ")" | "]" | "}" => {
                    let is_brace = self.text(at) == "}";
                    walk.at = self.partner(at);
                    if is_brace {
                        walk.brace = None;
                        walk.past_block = true;
                        walk.past_part |= self.before(walk.at) == "=>";
                    }
                }
                open @ ("(" | "[" | "{") => {
                    (walk.past_statement, walk.past_part) = (false, false);
                    (walk.past_condition, walk.past_block) = (false, false);
                    walk.brace = (open == "{").then_some(at);
                }
                ";" => {
                    walk.past_statement = true;
                    walk.brace = None;
                }
                "," => walk.past_part = true,
                "&&" => walk.past_condition = true,
                // The guard of an arm.
                "if" if walk.is_in_condition() && at > 0 && self.ends_expression(at - 1) => {
                    let first = self.arm(at);
                    if first < at
                        && let Some(meaning) = self.in_pattern(name, first..at)
                    {
                        return Some(meaning);
                    }
                }
                "=>" if !walk.past_part && !walk.past_statement => {
                    let first = self.arm(at);
                    if let Some(meaning) = self.in_pattern(name, first..at) {
                        return Some(meaning);
                    }
                }
                "|" => {
                    let Some(open) = self.closure(at) else { continue };
                    let within = !walk.past_part && !walk.past_statement;
                    if within && self.in_pattern(name, open + 1..at).is_some() {
                        return Some(self.parameter_of_closure(name, open, at));
                    }
                    walk.at = open;
                }
                "let" => {
                    if let Some(meaning) = self.in_let(name, &walk) {
                        return Some(meaning);
                    }
                }
                "for" if !walk.past_statement && self.text(at + 1) != "<" => {
                    if let Some(meaning) = walk.brace.and_then(|brace| self.in_loop(name, at, brace)) {
                        return Some(meaning);
                    }
                }
                // A function sees only items of the code around it.
                "fn" if walk.brace.is_some() && self.is_name(at + 1) => {
                    return self.is_parameter(name, at).then_some(Binding::Own);
                }
                "macro_rules" => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the `fn` of the function in whose body this token is.
    pub(super) fn function_around(&self, used: usize) -> Option<usize> {
        let mut at = used;
        let mut brace = false;
        while at > 0 {
            at -= 1;
            match self.text(at) {
                ")" | "]" => at = self.partner(at),
                "}" => (at, brace) = (self.partner(at), false),
                "{" => brace = true,
                ";" => brace = false,
                "fn" if brace && self.is_name(at + 1) => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// Returns the name of the type in whose `impl` this token is.
    pub(super) fn type_around(&self, used: usize) -> Option<&str> {
        let mut at = used;
        let mut brace = None;
        while at > 0 {
            at -= 1;
            match self.text(at) {
                ")" | "]" => at = self.partner(at),
                "}" => (at, brace) = (self.partner(at), None),
                "{" => brace = Some(at),
                ";" => brace = None,
                "impl"
                    if brace.is_some() && !matches!(self.before(at), "(" | ":" | "->" | "," | "&" | "<") =>
                {
                    return self.type_of_impl(at, brace?);
                }
                "trait" if brace.is_some() => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the last name of the type between `impl` and its brace, without parameters.
    pub(super) fn type_of_impl(&self, at: usize, brace: usize) -> Option<&str> {
        let mut depth = 0;
        let mut last = None;
        for at in at + 1..brace {
            match self.text(at) {
                "<" => depth += 1,
                ">" => depth -= 1,
                "for" if depth == 0 => last = None,
                "where" if depth == 0 => break,
                "&" | "(" | "[" | "dyn" if depth == 0 => return None,
                text if depth == 0 && self.is_name(at) => last = Some(text),
                _ => {}
            }
        }
        last
    }

    /// Returns the first token of the pattern of an arm.
    fn arm(&self, arrow: usize) -> usize {
        let mut at = arrow;
        while at > 0 {
            match self.text(at - 1) {
                ")" | "]" => at = self.partner(at - 1),
                // The fields of a pattern, or the body of the arm before.
                "}" if self.partner(at - 1) > 0 && self.is_name(self.partner(at - 1) - 1) => {
                    at = self.partner(at - 1);
                }
                "{" | "}" | "," | ";" | "(" | "[" => break,
                _ => at -= 1,
            }
        }
        at
    }

    /// Returns the `|` at which the parameters of a closure begin that end with this one.
    fn closure(&self, close: usize) -> Option<usize> {
        let mut at = close;
        while at > 0 {
            at -= 1;
            match self.text(at) {
                "|" => break,
                ")" | "]" => at = self.partner(at),
                ";" | "{" | "}" | "(" | "[" | "=>" | "||" | "==" => return None,
                _ => {}
            }
        }
        let begins = self.text(at) == "|" && !(at > 0 && self.ends_expression(at - 1));
        begins.then_some(at)
    }

    /// Returns the meaning of a name in a pattern, if the pattern has that name.
    fn in_pattern(&self, name: &str, pattern: Range<usize>) -> Option<Binding> {
        let at = pattern.clone().find(|&at| {
            let type_or_field = self.before(at) == "." || matches!(self.text(at + 1), "::" | "(" | "!");
            self.text(at) == name && self.is_name(at) && !type_or_field && !self.is_type(at, &pattern)
        })?;
        // In `field: pattern` the field's name is no binding.
        if self.text(at + 1) == ":" && self.is_in_fields(at, &pattern) {
            return None;
        }
        if !self.is_in_fields(at, &pattern) {
            return Some(Binding::Own);
        }
        let field = match self.before(at) {
            ":" if at >= 2 => self.text(at - 2),
            _ => name,
        };
        Some(Binding::Field(field.to_owned()))
    }

    /// `true` if the token is directly in the braces of a pattern for a struct.
    fn is_in_fields(&self, at: usize, pattern: &Range<usize>) -> bool {
        let mut before = at;
        while before > pattern.start {
            before -= 1;
            match self.text(before) {
                ")" | "]" | "}" => before = self.partner(before),
                "(" | "[" => return false,
                "{" => return true,
                _ => {}
            }
        }
        false
    }

    /// `true` if the token is in the type of a parameter: after a `:`, without a comma in between.
    fn is_type(&self, at: usize, pattern: &Range<usize>) -> bool {
        if self.is_in_fields(at, pattern) {
            return false;
        }
        let mut before = at;
        while before > pattern.start {
            before -= 1;
            match self.text(before) {
                ")" | "]" | "}" => before = self.partner(before),
                ">" => before = self.angle(before).unwrap_or(before),
                ":" => return true,
                "," => return false,
                _ => {}
            }
        }
        false
    }

    /// Returns the meaning of a parameter of the closure whose parameters are between these tokens.
    fn parameter_of_closure(&self, name: &str, open: usize, close: usize) -> Binding {
        let call = open.checked_sub(1 + usize::from(self.before(open) == "move"));
        let of = call
            .filter(|&call| self.text(call) == "(")
            .and_then(|call| Some((self.name_of_call(call)?, call)));
        let Some((method, _)) = of.filter(|&(method, _)| self.before(method) == "." && method >= 2) else {
            return Binding::Own;
        };
        let last = method - 2;
        let said = self.text(method);
        let Some(first) = self.first_of(last) else {
            return Binding::Own;
        };
        if OVER_ELEMENTS.contains(&said) {
            return self.element(name, open + 1..close, first..last + 1);
        }
        let simple = self.simple(open + 1..close) == Some(name);
        match said {
            "with" if simple && self.path_within(first, last).is_some() => Binding::Same(first..last + 1),
            _ => Binding::Own,
        }
    }

    /// Returns the first token of the expression that ends with this one.
    fn first_of(&self, last: usize) -> Option<usize> {
        self.path_ending(last).map(|path| path.first)
    }

    /// Returns the only name of a pattern: of `x`, `mut x`, `ref x`, `&x`.
    fn simple(&self, pattern: Range<usize>) -> Option<&str> {
        let mut pattern = pattern;
        while matches!(self.text(pattern.start), "mut" | "ref" | "&") && !pattern.is_empty() {
            pattern.start += 1;
        }
        let is_name = pattern.len() == 1 || pattern.len() > 1 && self.text(pattern.start + 1) == ":";
        (is_name && self.is_name(pattern.start)).then(|| self.text(pattern.start))
    }

    /// Returns the meaning of a name in the pattern for the elements of an expression.
    fn element(&self, name: &str, pattern: Range<usize>, of: Range<usize>) -> Binding {
        let mut last = of.end - 1;
        let mut numbered = false;
        while self.text(last) == ")" && self.partner(last) > of.start {
            let open = self.partner(last);
            let Some(method) = self
                .name_of_call(open)
                .filter(|&name| self.before(name) == "." && name >= 2)
            else {
                break;
            };
            match self.text(method) {
                "enumerate" if !numbered => numbered = true,
                "iter" | "iter_mut" | "into_iter" | "rev" | "take" | "skip" | "cloned" | "copied" => {}
                _ => return Binding::Own,
            }
            last = method - 2;
        }
        let mut pattern = pattern;
        if numbered {
            // `(i, x)`
            let is_pair = self.text(pattern.start) == "(" && self.text(pattern.start + 2) == ",";
            if !is_pair {
                return Binding::Own;
            }
            pattern = pattern.start + 3..self.partner(pattern.start);
        }
        match self.simple(pattern) == Some(name) && self.path_within(of.start, last).is_some() {
            true => Binding::Element(of.start..last + 1),
            false => Binding::Own,
        }
    }

    /// Returns the meaning that a loop gives a name: `for name in ..`.
    fn in_loop(&self, name: &str, at: usize, brace: usize) -> Option<Binding> {
        let within = (at + 1..brace).find(|&at| self.text(at) == "in")?;
        self.in_pattern(name, at + 1..within)?;
        let mut first = within + 1;
        while matches!(self.text(first), "&" | "mut") {
            first += 1;
        }
        Some(self.element(name, at + 1..within, first..brace))
    }

    /// `true` if the function with this `fn` has a parameter of that name.
    fn is_parameter(&self, name: &str, at: usize) -> bool {
        let mut open = at + 2;
        if self.text(open) == "<" {
            let mut depth = 0;
            while open < self.count() {
                match self.text(open) {
                    "<" => depth += 1,
                    ">" => depth -= 1,
                    _ => {}
                }
                open += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.text(open) == "(" && self.in_pattern(name, open + 1..self.partner(open)).is_some()
    }

    /// Returns the meaning that the `let` at which the walk has arrived gives a name.
    fn in_let(&self, name: &str, walk: &Walk) -> Option<Binding> {
        let at = walk.at;
        let is_condition = matches!(self.before(at), "if" | "while" | "&&");
        let in_scope = match is_condition {
            true => {
                walk.brace.is_some() && !walk.past_statement || walk.is_in_condition() && walk.past_condition
            }
            false => walk.past_statement,
        };
        if !in_scope {
            return None;
        }
        let mut equals = at + 1;
        let mut colon = None;
        loop {
            match self.text(equals) {
                "" | ";" | "}" | ")" | "]" => return None,
                "(" | "[" | "{" => equals = self.partner(equals),
                ":" if colon.is_none() => colon = Some(equals),
                "=" => break,
                _ => {}
            }
            equals += 1;
        }
        let pattern = at + 1..colon.unwrap_or(equals);
        let meaning = self.in_pattern(name, pattern.clone())?;
        let end = match walk.brace.filter(|_| is_condition) {
            Some(brace) => brace,
            // The end of a part of a condition is not looked for.
            None if is_condition => return Some(Binding::Own),
            None => (equals + 1..self.count())
                .scan(equals + 1, |next, _| {
                    let at = *next;
                    *next = match self.text(at) {
                        "(" | "[" | "{" => self.partner(at) + 1,
                        _ => at + 1,
                    };
                    Some(at)
                })
                .find(|&at| matches!(self.text(at), ";" | "else" | "" | "}"))?,
        };
        let value = equals + 1..end;
        if self.simple(pattern.clone()) == Some(name) {
            return Some(Binding::Let(value));
        }
        if meaning != Binding::Own {
            return Some(meaning);
        }
        let (open, first) = (self.text(pattern.start), self.text(value.start));
        let in_one_group = pattern.start + 1 < pattern.end && self.is_group(pattern.clone());
        if matches!(open, "(" | "[") && in_one_group {
            let names = self.parts(pattern.start);
            let place = names
                .iter()
                .position(|part| self.simple(part.clone()) == Some(name));
            let Some(place) = place else {
                return Some(Binding::Own);
            };
            if first == open && self.is_group(value.clone()) {
                let values = self.parts(value.start);
                if values.len() == names.len() {
                    return Some(Binding::Let(values[place].clone()));
                }
            }
            return Some(Binding::PartOfLet(pattern, value));
        }
        // `Some(x)` of a value that leads to one variable.
        let wraps = matches!(open, "Some" | "Ok") && self.text(pattern.start + 1) == "(";
        let inner = pattern.start + 2..pattern.end.saturating_sub(1);
        if wraps && self.simple(inner) == Some(name) && self.path_within(value.start, value.end - 1).is_some()
        {
            return Some(Binding::Same(value));
        }
        Some(Binding::Own)
    }

    /// `true` if these tokens are one group in brackets.
    pub(super) fn is_group(&self, tokens: Range<usize>) -> bool {
        !tokens.is_empty()
            && matches!(self.text(tokens.start), "(" | "[")
            && self.partner(tokens.start) == tokens.end - 1
    }

    /// Returns the parts of a group between its commas.
    pub(super) fn parts(&self, open: usize) -> Vec<Range<usize>> {
        let close = self.partner(open);
        let mut parts = Vec::new();
        let (mut first, mut at) = (open + 1, open + 1);
        while at < close {
            match self.text(at) {
                "(" | "[" | "{" => at = self.partner(at),
                "," => {
                    parts.push(first..at);
                    first = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        if first < close {
            parts.push(first..close);
        }
        parts
    }
}
