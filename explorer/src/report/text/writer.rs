//! A text that grows by lines of limited width: for findings, and for failures of objects.

use super::style::{Part, TextStyle};
use crate::report::lines::{command, cut, width, wrap};

/// The indentation of text that belongs to the line above, in columns.
pub const INDENT: usize = 2;

/// A text that grows by lines.
#[derive(Debug)]
pub struct Text<'a> {
    /// The text so far; each line is ended by a line break.
    pub text: String,
    /// The look of the text.
    pub style: &'a TextStyle,
}

impl Text<'_> {
    /// Makes an empty text.
    pub fn new(style: &TextStyle) -> Text<'_> {
        Text {
            text: String::new(),
            style,
        }
    }

    /// Writes a line as it is.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Writes an empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes prose. `first` and `others` are the indents of the first line and of the others.
    pub fn prose(&mut self, text: &str, first: usize, others: usize) {
        for line in wrap(text, self.style.columns(), first, others) {
            self.line(&line);
        }
    }

    /// Writes prose in which one word is painted.
    pub fn painted(&mut self, text: &str, word: &str, part: Part) {
        for line in wrap(text, self.style.columns(), 0, INDENT) {
            let painted = line.replacen(word, &self.style.paint(part, word), 1);
            self.line(&painted);
        }
    }

    /// Writes complete lines, after an empty line.
    pub fn section(&mut self, section: &str) {
        if !section.is_empty() {
            self.blank();
            self.text.push_str(section);
        }
    }

    /// Writes a remark such as `help: take the locks in one order`, after an empty line.
    pub fn marked(&mut self, word: &str, text: &str) {
        let head = format!("{word}:");
        self.blank();
        self.painted(&format!("{head} {text}"), &head, Part::Heading);
    }

    /// Writes a heading, after an empty line.
    pub fn title(&mut self, title: &str) {
        self.blank();
        for line in wrap(title, self.style.columns(), 0, INDENT) {
            let painted = self.style.paint(Part::Heading, &line);
            self.line(&painted);
        }
    }

    /// Writes a command, or code that is copied like one. It is broken as a shell accepts it, and only if the width is
    /// known.
    pub fn command(&mut self, text: &str, indent: usize) {
        for line in command(text, self.style.width, indent) {
            self.line(&line);
        }
    }

    /// Writes the lines of a drawing, which are cut instead of wrapped.
    pub fn drawing(&mut self, drawing: &str) {
        for line in drawing.lines() {
            let line = cut(line, self.style.columns());
            self.line(&line);
        }
    }

    /// Writes code: as it is, unless it does not fit.
    pub fn code(&mut self, code: &str) {
        for line in code.lines() {
            match self.style.width.filter(|&columns| width(line) > columns) {
                Some(columns) => {
                    let lines = wrap(line, columns, 0, 2 * INDENT);
                    lines.iter().for_each(|line| self.line(line));
                }
                None => self.line(line),
            }
        }
    }
}
