//! The values of index expressions: of `tail % 4`, where the source has `let tail = self.tail.load(SeqCst)` and the
//! execution has what that load returned.
//!
//! These are evaluated: numbers, constants of the file, results of operations of the same task, unchanged local variables
//! and parameters of methods with such values, and arithmetic on them. Other expressions have no value, and neither has
//! an expression that would overflow. The last execution of an operation counts. So expressions in a function that calls
//! itself, or that another one may interrupt in the same task (`async`), have no value.

use super::binding::Binding;
use super::path::Call;
use super::tokens::Tokens;
use std::ops::Range;

/// The deepest nesting of expressions that are evaluated.
const DEPTH_MAX: usize = 24;

/// The fields of an event that determine its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) task: &'a str,
    pub(super) site: &'a str,
    pub(super) read: Option<u64>,
}

/// An event at which an expression is evaluated, with those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    pub(super) before: &'a [Seen<'a>],
    pub(super) task: &'a str,
    /// The source file of the expression.
    pub(super) file: &'a str,
}

/// Methods that return the value that their variable had.
const READING: &[&str] = &[
    "fetch_add",
    "fetch_and",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "fetch_sub",
    "fetch_xor",
    "load",
    "swap",
];

/// Returns a result that no integer type cuts: the types of expressions are not known.
fn small(result: u64) -> Option<u64> {
    (result <= i8::MAX as u64).then_some(result)
}

/// A binary operator; nothing where it has no result.
type Operator = fn(u64, u64) -> Option<u64>;

/// An expression that is evaluated, by its tokens not yet read.
struct Expression<'e> {
    tokens: &'e Tokens,
    moment: &'e Moment<'e>,
    /// The call of the method that the expression is in, if it is in another one than the event.
    call: Option<Call>,
    rest: Range<usize>,
    depth: usize,
}

impl Tokens {
    /// Returns the value of an expression at this event. `call` is the call of the method that the expression is in, if
    /// the event is in the caller.
    pub(super) fn value(&self, of: Range<usize>, call: Option<Call>, moment: &Moment<'_>) -> Option<u64> {
        if !self.has_steady_values(of.start) {
            return None;
        }
        let expression = Expression {
            tokens: self,
            moment,
            call,
            rest: of,
            depth: 0,
        };
        expression.value()
    }

    /// `true` if the last execution of an operation in the function around this token belongs to its last call.
    fn has_steady_values(&self, at: usize) -> bool {
        let Some(function) = self.function_around(at) else {
            return false;
        };
        let name = self.text(function + 1);
        let mut end = function;
        while !matches!(self.text(end), "{" | ";" | "") {
            end = match self.text(end) {
                "(" | "[" => self.partner(end) + 1,
                _ => end + 1,
            };
        }
        let body = match self.text(end) {
            "{" => end..self.partner(end),
            _ => return false,
        };
        let is_async = self.before(function) == "async"
            || self.before(function) == "unsafe" && self.before(function - 1) == "async";
        let interrupts = body.clone().any(|at| matches!(self.text(at), "async" | "await"));
        let calls_itself = body
            .clone()
            .any(|at| self.text(at) == name && matches!(self.text(at + 1), "(" | "::"));
        !is_async && !interrupts && !calls_itself
    }

    /// Returns the closures around a token, by the brackets in which they begin.
    pub(super) fn closures_around(&self, used: usize) -> Vec<usize> {
        let first = self.function_around(used).unwrap_or(0);
        let opens = (first..used).filter(|&open| matches!(self.text(open), "(" | "[" | "{"));
        let around = opens.filter(|&open| self.partner(open) > used && self.begins_closure(open, used));
        around.collect()
    }
}

impl Expression<'_> {
    fn value(mut self) -> Option<u64> {
        if self.depth > DEPTH_MAX {
            return None;
        }
        let value = self.binary(0)?;
        self.rest.is_empty().then_some(value)
    }

    fn within(&self, rest: Range<usize>) -> Option<u64> {
        let inner = Expression {
            rest,
            depth: self.depth + 1,
            call: self.call.clone(),
            ..*self
        };
        inner.value()
    }

    fn next(&self) -> &str {
        match self.rest.is_empty() {
            true => "",
            false => self.tokens.text(self.rest.start),
        }
    }

    /// Reads operators that bind at least this tightly, and their operands.
    fn binary(&mut self, least: u8) -> Option<u64> {
        let mut left = self.unary()?;
        loop {
            let (binds, apply): (u8, Operator) = match self.next() {
                "|" => (1, |a, b| Some(a | b)),
                "^" => (2, |a, b| Some(a ^ b)),
                "&" => (3, |a, b| Some(a & b)),
                "+" => (4, |a, b| small(a.checked_add(b)?)),
                "-" => (4, |a, b| small(a.checked_sub(b)?)),
                "*" => (5, |a, b| small(a.checked_mul(b)?)),
                "/" => (5, u64::checked_div),
                "%" => (5, u64::checked_rem),
                _ => return Some(left),
            };
            if binds < least.max(1) {
                return Some(left);
            }
            self.rest.start += 1;
            let right = self.binary(binds + 1)?;
            left = apply(left, right)?;
        }
    }

    /// Reads an operand with its casts.
    fn unary(&mut self) -> Option<u64> {
        while matches!(self.next(), "*" | "&") {
            self.rest.start += 1;
        }
        let value = self.operand()?;
        while self.next() == "as" {
            let to = self.tokens.text(self.rest.start + 1);
            // A smaller type would cut the value, and a signed one change what may overflow.
            if !matches!(to, "usize" | "u64") {
                return None;
            }
            self.rest.start += 2;
        }
        Some(value)
    }

    fn operand(&mut self) -> Option<u64> {
        let tokens = self.tokens;
        let first = self.rest.start;
        if self.next() == "(" {
            let close = tokens.partner(first);
            self.rest.start = close + 1;
            return match self.next() {
                "." | "?" | "[" => None,
                _ => self.within(first + 1..close),
            };
        }
        if tokens.is_number(first) {
            self.rest.start += 1;
            return match self.next() {
                "." => None,
                _ => tokens.number(first..first + 1).map(|number| number as u64),
            };
        }
        let mut end = first + 1;
        let mut call = None;
        loop {
            match tokens.text(end) {
                _ if end >= self.rest.end => break,
                "." | "::" => {
                    end += 2;
                    call = None;
                }
                "(" => {
                    call = Some(end);
                    end = tokens.partner(end) + 1;
                }
                "[" => {
                    call = None;
                    end = tokens.partner(end) + 1;
                }
                _ => break,
            }
        }
        self.rest.start = end.min(self.rest.end);
        match call {
            Some(open) if tokens.partner(open) + 1 == end => self.called(first, open),
            None if end == first + 1 => self.named(first),
            _ => None,
        }
    }

    /// Returns the result of a method, with the `(` of its arguments.
    fn called(&self, first: usize, open: usize) -> Option<u64> {
        let tokens = self.tokens;
        let method = open - 1;
        if !tokens.is_name(method) || tokens.before(method) != "." {
            return None;
        }
        let said = tokens.text(method);
        if READING.contains(&said) {
            let (line, column) = tokens.place(method);
            let Moment { before, task, file } = self.moment;
            let site = format!("{file}:{line}:{column}");
            let mut seen = before.iter().rev().filter(|seen| seen.task == *task);
            return seen.find(|seen| seen.site == site)?.read;
        }
        let argument = || self.within(open + 1..tokens.partner(open));
        let receiver = || self.within(first..method - 1);
        match said {
            "clone" => receiver(),
            "wrapping_add" => small(receiver()?.checked_add(argument()?)?),
            "wrapping_sub" => small(receiver()?.checked_sub(argument()?)?),
            _ => None,
        }
    }

    /// Returns the value of a constant, of a parameter, or of a local variable that does not change.
    fn named(&self, at: usize) -> Option<u64> {
        let tokens = self.tokens;
        if !tokens.is_name(at) {
            return None;
        }
        let name = tokens.text(at);
        match tokens.binding(name, at) {
            Some(Binding::Let(value)) => {
                let mut begin = value
                    .start
                    .checked_sub(1)
                    .filter(|equals| tokens.text(*equals) == "=")?;
                while begin > 0 && !matches!(tokens.text(begin), "let" | ";" | "{" | "}") {
                    begin -= 1;
                }
                let is_plain = tokens.text(begin) == "let"
                    && tokens.text(begin + 1) == name
                    // The value of a type that is not named has the type of its operations.
                    && matches!(tokens.text(begin + 2), "=" | ":");
                let same_closure = tokens.closures_around(value.start) == tokens.closures_around(at);
                (is_plain && same_closure).then(|| self.within(value)).flatten()
            }
            Some(Binding::Own) => {
                let call = self.call.as_ref()?;
                let argument = tokens.argument(call, name, at)?;
                let in_caller = Expression {
                    rest: argument,
                    depth: self.depth + 1,
                    call: None,
                    ..*self
                };
                tokens
                    .has_steady_values(call.open)
                    .then(|| in_caller.value())
                    .flatten()
            }
            None => tokens.number(at..at + 1).map(|number| number as u64),
            _ => None,
        }
    }
}

impl Tokens {
    /// Returns the argument that a call of a method gives a parameter of this name, which the token is.
    fn argument(&self, call: &Call, name: &str, at: usize) -> Option<Range<usize>> {
        let function = self.function_around(at)?;
        if self.text(function + 1) != call.method || self.text(function + 2) != "(" {
            return None;
        }
        if !self.closures_around(at).is_empty() {
            return None;
        }
        let parameters = self.parts(function + 2);
        let (receiver, parameters) = parameters.split_first()?;
        if self.text(receiver.end - 1) != "self" {
            return None;
        }
        let place = parameters
            .iter()
            .position(|part| self.text(part.start) == name && self.text(part.start + 1) == ":")?;
        self.parts(call.open).get(place).cloned()
    }
}
