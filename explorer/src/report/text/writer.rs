//! A text that grows by lines of at most so many columns: what is told of findings, and of failures of objects.

use super::style::{Part, TextStyle};
use crate::report::lines::{command, cut, width, wrap};

/// Columns by which what belongs to a line above is set in.
pub const INDENT: usize = 2;

/// A text that grows by lines.
#[derive(Debug)]
pub struct Text<'a> {
    /// What there is of it; each line is ended by a line break.
    pub text: String,
    /// How it is to look.
    pub style: &'a TextStyle,
}

impl Text<'_> {
    /// Nothing yet.
    pub fn new(style: &TextStyle) -> Text<'_> {
        Text {
            text: String::new(),
            style,
        }
    }

    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// What sets apart what comes.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Words, the first line after so many columns, the others after so many.
    pub fn prose(&mut self, text: &str, first: usize, others: usize) {
        for line in wrap(text, self.style.columns(), first, others) {
            self.line(&line);
        }
    }

    /// Words of which one is painted.
    pub fn painted(&mut self, text: &str, word: &str, part: Part) {
        for line in wrap(text, self.style.columns(), 0, INDENT) {
            let painted = line.replacen(word, &self.style.paint(part, word), 1);
            self.line(&painted);
        }
    }

    /// Lines that are there, apart from what is above.
    pub fn section(&mut self, section: &str) {
        if !section.is_empty() {
            self.blank();
            self.text.push_str(section);
        }
    }

    /// `help: take the locks in one order`, apart from what is above.
    pub fn marked(&mut self, word: &str, text: &str) {
        let head = format!("{word}:");
        self.blank();
        self.painted(&format!("{head} {text}"), &head, Part::Heading);
    }

    /// A heading, apart from what is above.
    pub fn title(&mut self, title: &str) {
        self.blank();
        for line in wrap(title, self.style.columns(), 0, INDENT) {
            let painted = self.style.paint(Part::Heading, &line);
            self.line(&painted);
        }
    }

    /// A command, or code that is to be copied like one: cut where a shell goes on, and only if the width is known.
    pub fn command(&mut self, text: &str, indent: usize) {
        for line in command(text, self.style.width, indent) {
            self.line(&line);
        }
    }

    /// Lines of a drawing, which are not wrapped.
    pub fn drawing(&mut self, drawing: &str) {
        for line in drawing.lines() {
            let line = cut(line, self.style.columns());
            self.line(&line);
        }
    }

    /// Code: as it is, unless there is not room for it.
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
