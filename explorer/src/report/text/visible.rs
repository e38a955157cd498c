//! Control characters of what a test, a monitor or a schedule says: in a text they are shown. The terminal would obey them.
//!
//! A text is looked through once, when it is complete. It may have the colours of [`TextStyle::paint`] then, which stay.
//! Blind spot: a test that names exactly one of these colours gets it, in a text that has colours.

use super::style::{Part, TextStyle};
use anstyle::Reset;

impl TextStyle {
    /// Returns the text with its control characters as Rust writes them: `\u{1b}`. Line breaks and tabs stay, and so do the
    /// colours of this style.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::TextStyle;
    ///
    /// let text = "a\tb\n\u{1b}[2J".to_owned();
    /// assert_eq!(TextStyle::default().visible(text), "a\tb\n\\u{1b}[2J");
    /// ```
    pub fn visible(&self, text: String) -> String {
        if !text.contains(is_hidden) {
            return text;
        }
        let mut colours: Vec<String> = match self.colour {
            true => Part::ALL.map(Part::begin).into(),
            false => Vec::new(),
        };
        // One may begin with another.
        colours.sort_by_key(|colour| std::cmp::Reverse(colour.len()));
        let reset = Reset.render().to_string();
        let mut shown = String::with_capacity(text.len() + 16);
        let mut is_painted = false;
        let mut rest = text.as_str();
        while let Some(at) = rest.find(is_hidden) {
            shown.push_str(&rest[..at]);
            rest = &rest[at..];
            let colour = colours.iter().find(|&colour| rest.starts_with(colour));
            let ends = Some(&reset).filter(|&reset| is_painted && rest.starts_with(reset));
            let length = match colour.or(ends) {
                Some(sequence) => {
                    is_painted = colour.is_some();
                    shown.push_str(sequence);
                    sequence.len()
                }
                None => {
                    let hidden = rest.chars().next().unwrap_or_default();
                    shown.extend(hidden.escape_default());
                    hidden.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        shown.push_str(rest);
        shown
    }
}

/// `true` for a character that changes how others are shown, or that has no shape: control characters, and those that turn
/// the direction of others around.
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let plain = TextStyle::default();
        for (text, shown) in [
            ("plain é 界\n\tx", "plain é 界\n\tx"),
            ("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("over\rwritten\u{8}", "over\\rwritten\\u{8}"),
            ("\u{9b}2J\u{7f}\0", "\\u{9b}2J\\u{7f}\\u{0}"),
            ("\u{202e}txt", "\\u{202e}txt"),
        ] {
            assert_eq!(plain.visible(text.to_owned()), shown);
        }
    }

    #[test]
    fn the_colours_of_a_style_stay() {
        let style = TextStyle {
            colour: true,
            ..TextStyle::default()
        };
        let painted = Part::ALL.map(|part| style.paint(part, "x")).concat();
        assert_eq!(style.visible(painted.clone()), painted);
        let text = format!("{painted}\u{1b}[31mred\u{1b}[0m{painted}");
        let shown = format!("{painted}\\u{{1b}}[31mred\\u{{1b}}[0m{painted}");
        assert_eq!(style.visible(text), shown);
        assert!(!TextStyle::default().visible(painted).contains('\u{1b}'));
    }
}
