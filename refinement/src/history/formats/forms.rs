//! EDN, as far as histories use it: `nil`, `true`, numbers, texts, words, keywords, lists, vectors, sets, maps.
//!
//! Differs: words and keywords are texts, and so are numbers that are not whole; tags are left out.

use super::error::{FormatError, Place};
use super::value::Value;

/// A form of EDN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Value(Value),
    /// A list, a vector or a set with a map in it.
    Forms(Vec<(Form, usize)>),
    /// Keys and values, in the order in which they are written.
    Map(Vec<(Form, Form)>),
}

/// The deepest nesting of a history.
const DEPTH_MAX: usize = 64;

/// Reads forms one after the other.
pub(super) struct Forms<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Forms<'a> {
    /// Creates a reader of a text that begins on this line.
    pub(super) fn new(text: &'a str, line: usize) -> Forms<'a> {
        Forms { rest: text, line }
    }

    /// Returns the next form and its line; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<(Form, usize)>, FormatError> {
        self.skip_blank(0)?;
        if self.rest.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        Ok(Some((self.form(0)?, line)))
    }

    fn wrong(&self, expected: &str) -> FormatError {
        let found = self.rest.lines().next().unwrap_or("");
        if self.rest.is_empty() {
            return FormatError::because(Place::Line(self.line), "the end of the text", expected);
        }
        FormatError::new(Place::Line(self.line), found, expected)
    }

    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
        self.rest = rest;
    }

    /// Skips spaces, commas, comments, and forms that are marked as left out.
    fn skip_blank(&mut self, depth: usize) -> Result<(), FormatError> {
        loop {
            let blank = |at: char| at.is_whitespace() || at == ',';
            let end = self.rest.find(|at| !blank(at)).unwrap_or(self.rest.len());
            self.advance(end);
            if self.rest.starts_with(';') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.advance(end);
            } else if self.rest.starts_with("#_") {
                self.advance(2);
                self.form(depth + 1)?;
            } else {
                return Ok(());
            }
        }
    }

    fn form(&mut self, depth: usize) -> Result<Form, FormatError> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("fewer forms within forms"));
        }
        self.skip_blank(depth)?;
        match self.rest.chars().next() {
            None => Err(self.wrong("a form")),
            Some('(') => self.list(')', 1, depth),
            Some('[') => self.list(']', 1, depth),
            Some('{') => self.map(depth),
            Some('"') => self.text(),
            Some('#') if self.rest.starts_with("#{") => self.list('}', 2, depth),
            Some('#') => {
                self.advance(1);
                self.word()?;
                self.form(depth + 1)
            }
            Some(_) => self.word().map(Form::Value),
        }
    }

    /// Reads forms up to a closing sign.
    fn until(&mut self, close: char, depth: usize) -> Result<Vec<(Form, usize)>, FormatError> {
        let mut forms = Vec::new();
        loop {
            self.skip_blank(depth)?;
            if self.rest.starts_with(close) {
                self.advance(close.len_utf8());
                return Ok(forms);
            }
            if self.rest.is_empty() {
                return Err(self.wrong(&format!("{close:?}")));
            }
            let line = self.line;
            forms.push((self.form(depth + 1)?, line));
        }
    }

    fn list(&mut self, close: char, open: usize, depth: usize) -> Result<Form, FormatError> {
        self.advance(open);
        let forms = self.until(close, depth)?;
        let value = |(form, _): &(Form, usize)| match form {
            Form::Value(value) => Some(value.clone()),
            _ => None,
        };
        Ok(match forms.iter().map(value).collect() {
            Some(values) => Form::Value(Value::List(values)),
            None => Form::Forms(forms),
        })
    }

    fn map(&mut self, depth: usize) -> Result<Form, FormatError> {
        let line = self.line;
        self.advance(1);
        let forms = self.until('}', depth)?;
        if forms.len() % 2 != 0 {
            return Err(FormatError::because(
                Place::Line(line),
                "a map with a key and no value",
                "a value after each key",
            ));
        }
        let mut forms = forms.into_iter().map(|(form, _)| form);
        let mut pairs = Vec::new();
        while let (Some(key), Some(value)) = (forms.next(), forms.next()) {
            pairs.push((key, value));
        }
        Ok(Form::Map(pairs))
    }

    fn text(&mut self) -> Result<Form, FormatError> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, char)) = chars.next() {
            match char {
                '"' => {
                    self.advance(at + 1);
                    return Ok(Form::Value(Value::Text(text)));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, char @ ('"' | '\\'))) => text.push(char),
                    _ => return Err(self.wrong("a text with the escapes \\n, \\t, \\r, \\\" and \\\\")),
                },
                char => text.push(char),
            }
        }
        Err(self.wrong("a text that ends with '\"'"))
    }

    fn word(&mut self) -> Result<Value, FormatError> {
        let ends = |at: char| {
            at.is_whitespace() || matches!(at, ',' | ';' | '"' | '(' | ')' | '[' | ']' | '{' | '}')
        };
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.wrong("a form"));
        }
        let word = &self.rest[..end];
        let value = match word {
            "nil" => Value::Nil,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => match word.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Text(word.to_owned()),
            },
        };
        self.advance(end);
        Ok(value)
    }
}

/// Returns the one value that a text consists of.
pub(super) fn value(text: &str, line: usize) -> Result<Value, FormatError> {
    let mut forms = Forms::new(text, line);
    match (forms.next()?, forms.next()?) {
        (Some((Form::Value(value), _)), None) => Ok(value),
        _ => Err(FormatError::new(
            Place::Line(line),
            text,
            "one value, such as nil, 4 or [1 2]",
        )),
    }
}
