//! Places in the source that a finding names: numbered in its message, and shown below it with their lines.

use super::style::{Part, TextStyle};
use crate::report::count;
use crate::report::lines::{cut, path, width};
use crate::report::source::{self, Sources};
use std::fmt::Write;

/// The largest number of places that are shown.
const SHOWN: usize = 8;

/// The spaces that replace a tab in the source.
const TAB: &str = "    ";

/// Places by number, from 1.
#[derive(Default)]
pub(super) struct Places {
    /// Each place, with its descriptions.
    places: Vec<(String, Vec<String>)>,
}

impl Places {
    /// Returns the number of a place, and assigns one if it has none.
    pub(super) fn number(&mut self, site: &str) -> usize {
        if let Some(known) = self.places.iter().position(|(known, _)| known == site) {
            return known + 1;
        }
        self.places.push((site.to_owned(), Vec::new()));
        self.places.len()
    }

    /// Adds a description to a place that the message does not name.
    pub(super) fn add(&mut self, site: &str, what: &str) {
        let number = self.number(site);
        let known = &mut self.places[number - 1].1;
        if !known.iter().any(|known| known == what) {
            known.push(what.to_owned());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the text with each place replaced by its number.
    pub(super) fn numbered(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive(char::is_whitespace) {
            let bare = piece.trim_matches(|c: char| c.is_whitespace() || ",;:.()`".contains(c));
            match source::parts(bare).filter(|(file, ..)| file.ends_with(".rs")) {
                Some(_) => {
                    let number = self.number(bare);
                    out.push_str(&piece.replacen(bare, &format!("[{number}]"), 1));
                }
                None => out.push_str(piece),
            }
        }
        out
    }

    /// Returns each place with its line, if the line is found.
    pub(super) fn show(&self, style: &TextStyle, sources: &mut Sources) -> String {
        let columns = style.columns();
        let numbers = self.places.iter().take(SHOWN);
        let gutter = numbers
            .filter_map(|(site, _)| Some(source::parts(site)?.1.to_string().len()))
            .max()
            .unwrap_or(1)
            .max(3);
        let mut text = String::new();
        for ((site, what), number) in self.places.iter().zip(1..).take(SHOWN) {
            let label = format!("[{number}]");
            let room = columns - gutter.max(width(&label)) - 1;
            let place = path(site, room);
            let mut said = String::new();
            if !what.is_empty() && width(&place) + 4 <= room {
                said = format!("  {}", cut(&what.join("; "), room - width(&place) - 2));
            }
            let label = style.paint(Part::Mark, &format!("{label:>gutter$}"));
            line(&mut text, &format!("{label} {place}{said}"));
            let Some((source, column)) = sources.line(site) else {
                continue;
            };
            let number = source::parts(site).map_or(0, |(_, line, _)| line);
            let (source, column, marked) = laid_out(source, column);
            let bar = |left: &str| style.paint(Part::Mark, &format!("{left:>gutter$} |"));
            let room = columns - gutter - 3;
            line(
                &mut text,
                &format!("{} {}", bar(&number.to_string()), cut(&source, room)),
            );
            // No mark under the part that was cut off.
            if column + marked < room {
                let mark = style.paint(Part::Error, &"^".repeat(marked));
                line(&mut text, &format!("{} {}{mark}", bar(""), " ".repeat(column)));
            }
        }
        if self.places.len() > SHOWN {
            line(
                &mut text,
                &format!("and {}", count((self.places.len() - SHOWN) as u64, "more place")),
            );
        }
        text
    }
}

/// Returns the text with numbers for the places in it, and the places with their source.
pub fn with_places(text: &str, style: &TextStyle) -> (String, String) {
    let mut places = Places::default();
    let text = places.numbered(text);
    (text, places.show(style, &mut Sources::of(style)))
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
}

/// Returns a line without its indentation and with tabs expanded, the column of the place in it, and the length of the
/// name there.
fn laid_out(source: &str, column: usize) -> (String, usize, usize) {
    let before: String = source.chars().take(column).collect();
    let rest = &source[before.len()..];
    let name = |c: &char| c.is_alphanumeric() || *c == '_';
    let marked = rest.chars().take_while(name).count().max(1);
    let indentation = source.len() - source.trim_start().len();
    let before = before.get(indentation..).unwrap_or_default().replace('\t', TAB);
    let shown = source.trim().replace('\t', TAB);
    (shown, width(&before), marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_prose_get_numbers() {
        let mut places = Places::default();
        let text = "main waits at src/a.rs:1:2, held since src/b.rs:3:4; again at src/a.rs:1:2 (src/c.rs:5:6)\n 10:30:20";
        assert_eq!(
            places.numbered(text),
            "main waits at [1], held since [2]; again at [1] ([3])\n 10:30:20"
        );
    }

    #[test]
    fn the_name_is_marked() {
        let (shown, column, marked) = laid_out("\t    x.load(SeqCst); \tlet", 7);
        assert_eq!(
            (shown.as_str(), column, marked),
            ("x.load(SeqCst);     let", 2, 4)
        );
    }
}
