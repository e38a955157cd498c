//! A source file as tokens: enough of Rust's grammar to read the expression in front of a method's name.
//!
//! Comments are left out; strings, characters and numbers are tokens without parts. A macro's body is read like other
//! code. Misses: nothing that is valid Rust, except that `>>` is always two tokens.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    Number,
    /// A string, a character or a lifetime.
    Literal,
    Sign,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    at: Range<usize>,
}

/// The tokens of a file.
#[derive(Debug)]
pub(super) struct Tokens {
    text: String,
    tokens: Vec<Token>,
    /// For each bracket the index of its partner.
    partners: Vec<usize>,
    /// The offset of each line.
    lines: Vec<usize>,
}

/// Signs of several characters that are one token, longest first.
const SIGNS: &[&str] = &[
    "..=", "...", "::", "->", "=>", "||", "&&", "..", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=",
    "^=", "|=", "&=",
];

/// No partner: the token is no bracket.
const NONE: usize = usize::MAX;

impl Tokens {
    /// Reads a file. Returns `None` if its brackets do not match: then it is no Rust, or this reader is wrong.
    pub(super) fn read(text: String) -> Option<Tokens> {
        let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 4);
        let mut rest = 0;
        while let Some(first) = text[rest..].chars().next() {
            let after_dot = || {
                tokens
                    .last()
                    .is_some_and(|last| &text[last.at.clone()] == "." && last.at.end == rest)
            };
            let (kind, length) = match first {
                c if c.is_whitespace() => (None, c.len_utf8()),
                '/' if text[rest..].starts_with("//") => {
                    (None, text[rest..].find('\n').unwrap_or(text.len() - rest))
                }
                '/' if text[rest..].starts_with("/*") => (None, block_comment(&text[rest..])),
                '"' => (Some(Kind::Literal), string(&text[rest..])),
                '\'' => (Some(Kind::Literal), character(&text[rest..])),
                c if c.is_ascii_digit() => (Some(Kind::Number), number(&text[rest..], after_dot())),
                c if c == '_' || c.is_alphabetic() => match prefixed(&text[rest..]) {
                    Some(length) => (Some(Kind::Literal), length),
                    None => (Some(Kind::Word), word(&text[rest..])),
                },
                c => {
                    let long = SIGNS.iter().find(|sign| text[rest..].starts_with(**sign));
                    (Some(Kind::Sign), long.map_or(c.len_utf8(), |sign| sign.len()))
                }
            };
            if let Some(kind) = kind {
                let at = rest..rest + length;
                tokens.push(Token { kind, at });
            }
            rest += length;
        }
        let mut read = Tokens {
            partners: vec![NONE; tokens.len()],
            lines: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
            text,
            tokens,
        };
        let mut open: Vec<usize> = Vec::new();
        for at in 0..read.count() {
            match read.text(at) {
                "(" | "[" | "{" => open.push(at),
                close @ (")" | "]" | "}") => {
                    let partner = open.pop()?;
                    let fits = matches!((read.text(partner), close), ("(", ")") | ("[", "]") | ("{", "}"));
                    if !fits {
                        return None;
                    }
                    read.partners[partner] = at;
                    read.partners[at] = partner;
                }
                _ => {}
            }
        }
        open.is_empty().then_some(read)
    }

    pub(super) fn count(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the token's text; nothing if there is no such token.
    pub(super) fn text(&self, at: usize) -> &str {
        self.tokens
            .get(at)
            .map_or("", |token| &self.text[token.at.clone()])
    }

    /// Returns the text of the token before this one; nothing if it is the first.
    pub(super) fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.text(before))
    }

    /// Returns the partner of a bracket.
    pub(super) fn partner(&self, at: usize) -> usize {
        self.partners[at]
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Number)
    }

    /// `true` for an identifier that is no keyword.
    pub(super) fn is_name(&self, at: usize) -> bool {
        let is_word = self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word);
        is_word && !KEYWORDS.contains(&self.text(at))
    }

    /// `true` if an expression may end with this token, so that what follows is an operator.
    pub(super) fn ends_expression(&self, at: usize) -> bool {
        let ends = |token: &Token| match token.kind {
            Kind::Number | Kind::Literal => true,
            Kind::Word => self.is_name(at) || matches!(self.text(at), "self" | "await"),
            Kind::Sign => matches!(self.text(at), ")" | "]" | "}" | "?"),
        };
        self.tokens.get(at).is_some_and(ends)
    }

    /// Returns line and column of this token, both from 1; columns are counted in characters.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let begin = self.tokens[at].at.start;
        let line = self.lines.partition_point(|&line| line <= begin);
        (line, self.text[self.lines[line - 1]..begin].chars().count() + 1)
    }

    /// Returns the token with the name of the static of that name, if the file has one such static.
    pub(super) fn static_named(&self, name: &str) -> Option<usize> {
        let name = name.rsplit("::").next()?;
        let is_its = |at: &usize| {
            let before = self.before(*at);
            self.text(*at) == name
                && (before == "static" || before == "mut" && self.before(at - 1) == "static")
        };
        let mut with_name = (1..self.count()).filter(is_its);
        let first = with_name.next()?;
        with_name.next().is_none().then_some(first)
    }

    /// Returns the token that begins in this line and column, both from 1; the compiler counts characters.
    pub(super) fn at(&self, line: usize, column: usize) -> Option<usize> {
        let begin = *self.lines.get(line.checked_sub(1)?)?;
        let there = self.text[begin..].lines().next()?;
        let (offset, _) = there.char_indices().nth(column.checked_sub(1)?)?;
        self.tokens
            .binary_search_by_key(&(begin + offset), |token| token.at.start)
            .ok()
    }

    /// Returns the source from one token to another, if it is in one line.
    pub(super) fn line_of(&self, first: usize, last: usize) -> Option<&str> {
        let (first, last) = (self.tokens.get(first)?, self.tokens.get(last)?);
        let text = self.text.get(first.at.start..last.at.end)?;
        (!text.contains('\n')).then_some(text)
    }
}

const KEYWORDS: &[&str] = &[
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false",
    "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
    "self", "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while",
];

fn is_part_of_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn word(text: &str) -> usize {
    // A raw identifier.
    let hash = usize::from(text.starts_with("r#")) * 2;
    hash + text[hash..]
        .find(|c| !is_part_of_word(c))
        .unwrap_or(text.len() - hash)
}

/// Returns the length of a literal that begins with a letter: `b"..."`, `r#"..."#`, `c"..."`, `b'x'`.
fn prefixed(text: &str) -> Option<usize> {
    let letters = text
        .find(|c: char| !matches!(c, 'b' | 'r' | 'c'))
        .filter(|&at| at <= 2)?;
    let (prefix, rest) = text.split_at(letters);
    if prefix.ends_with('r') {
        let hashes = rest.find(|c| c != '#')?;
        if !rest[hashes..].starts_with('"') {
            return None;
        }
        let end = format!("\"{}", "#".repeat(hashes));
        let body = hashes + 1;
        let closed = rest[body..].find(&end).map(|at| body + at + end.len());
        return Some(letters + closed.unwrap_or(rest.len()));
    }
    match rest.chars().next()? {
        '"' => Some(letters + string(rest)),
        '\'' if prefix == "b" => Some(letters + character(rest)),
        _ => None,
    }
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a character or a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((_, first)) = chars.next() else {
        return text.len();
    };
    if first == '\\' {
        chars.next();
        return chars
            .find(|(_, c)| *c == '\'')
            .map_or(text.len(), |(at, _)| at + 1);
    }
    match chars.next() {
        Some((at, '\'')) => at + 1,
        _ if is_part_of_word(first) => 1 + word(&text[1..]),
        _ => 1,
    }
}

/// Returns the length of a number. A field of a tuple, after a dot, has digits only.
fn number(text: &str, is_field: bool) -> usize {
    let digits = |c: char| !is_part_of_word(c);
    if is_field {
        return text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    }
    let whole = text.find(digits).unwrap_or(text.len());
    let rest = &text[whole..];
    match rest.strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => {
            whole + 1 + fraction.find(digits).unwrap_or(fraction.len())
        }
        _ => whole,
    }
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let tokens = Tokens::read(text.to_owned()).unwrap();
        (0..tokens.count()).map(|at| tokens.text(at).to_owned()).collect()
    }

    #[test]
    fn literals_and_comments_are_no_code() {
        for (text, expected) in [
            ("a.b /* ( /* [ */ */ .c // }\n()", "a . b . c ( )"),
            (
                r#"f("\"(", 'x', '\'', '\u{7f}', '(', b'{')"#,
                r#"f ( "\"(" , 'x' , '\'' , '\u{7f}' , '(' , b'{' )"#,
            ),
            (
                r##"r#"a"("# b"(" br"(" c"(" r#type rb"##,
                r##"r#"a"("# b"(" br"(" c"(" r#type rb"##,
            ),
            (
                "x.0.1.load 1.5 0..3 1.max(2) x.0",
                "x . 0 . 1 . load 1.5 0 .. 3 1 . max ( 2 ) x . 0",
            ),
            ("&'a str 'outer: loop {}", "& 'a str 'outer : loop { }"),
            (
                "a::<Vec<u8>>() => || |x| ..= &&",
                "a :: < Vec < u8 > > ( ) => || | x | ..= &&",
            ),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn brackets_that_do_not_match_are_refused() {
        for text in ["(", "(]", "}", "\"(\" )"] {
            assert!(Tokens::read(text.to_owned()).is_none(), "{text}");
        }
    }

    #[test]
    fn columns_count_characters() {
        let tokens = Tokens::read("a;\n  é.load(x)\n".to_owned()).unwrap();
        assert_eq!(tokens.text(tokens.at(2, 5).unwrap()), "load");
        assert_eq!(tokens.at(2, 6), None);
        assert_eq!(tokens.at(7, 1), None);
    }
}
