//! Lines that are no longer than they may be.
//!
//! Prose is wrapped at spaces. A path that is too long loses its beginning, behind an ellipsis: its end says more. A command is broken as
//! a shell takes it, so that it can be copied.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for what was left out.
const ELLIPSIS: char = '…';

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// As much of a text as fits, from its beginning; the ellipsis says if that is not all.
pub fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut taken = head(text, room.saturating_sub(1)).to_owned();
    taken.push(ELLIPSIS);
    taken
}

/// The longest beginning that fits.
fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    let fits = |(_, c): &(usize, char)| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    let end = text
        .char_indices()
        .take_while(fits)
        .last()
        .map_or(0, |(at, c)| at + c.len_utf8());
    &text[..end]
}

/// As much of a path as fits, from its end: whole names if there is room for one.
pub fn path(path: &str, room: usize) -> String {
    if width(path) <= room {
        return path.to_owned();
    }
    let whole = path.match_indices(['/', '\\']).map(|(at, _)| &path[at..]);
    if let Some(tail) = whole.into_iter().find(|tail| width(tail) < room) {
        return format!("{ELLIPSIS}{tail}");
    }
    let tails = path.char_indices().map(|(at, _)| &path[at..]);
    let tail = tails.into_iter().find(|tail| width(tail) < room).unwrap_or("");
    format!("{ELLIPSIS}{tail}")
}

/// The beginning of a word that is too long for a line: up to the end of a module's name, if there is one.
fn piece(word: &str, room: usize) -> &str {
    let fits = head(word, room);
    match fits.rfind("::") {
        Some(at) => &fits[..at + 2],
        // Something has to be taken.
        None if fits.is_empty() => &word[..word.chars().next().map_or(0, char::len_utf8)],
        None => fits,
    }
}

/// Prose in lines of at most so many columns, those after the first indented.
pub fn wrap(text: &str, columns: usize, first: usize, others: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let margin = " ".repeat(others.min(columns / 2));
    for (number, paragraph) in text.split('\n').enumerate() {
        let first = if number == 0 { first } else { others };
        // What the user has indented stays so, as far as there is room.
        let own = width(paragraph) - width(paragraph.trim_start());
        let mut line = " ".repeat((first + own).min(columns / 2));
        let mut empty = true;
        // Two spaces are as meant.
        for word in paragraph.trim_start().split(' ') {
            let mut word = word.to_owned();
            if !empty && width(&line) + 1 + width(&word) > columns {
                lines.push(std::mem::replace(&mut line, margin.clone()).trim_end().to_owned());
                empty = true;
            }
            while empty && width(&line) + width(&word) > columns {
                let room = columns - width(&line);
                if word.contains(['/', '\\']) {
                    word = path(&word, room);
                    break;
                }
                let part = piece(&word, room).len();
                let rest = word.split_off(part);
                lines.push(std::mem::replace(&mut line, margin.clone()) + &word);
                word = rest;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(&word);
            empty &= word.is_empty();
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// A command in lines that a shell takes for one: at spaces where it can, else within a word, where the next line must not be
/// indented.
pub fn command(text: &str, columns: Option<usize>, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent);
    let mut rest = format!("{margin}{text}");
    let Some(columns) = columns else {
        return vec![rest];
    };
    let mut lines = Vec::new();
    while width(&rest) > columns {
        let line = head(&rest, columns - 1).to_owned();
        rest.drain(..line.len());
        lines.push(line + "\\");
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_end() {
        for (room, shown) in [
            (40, "explorer/src/a.rs:1:2"),
            (20, "…/src/a.rs:1:2"),
            (14, "…/src/a.rs:1:2"),
            (13, "…/a.rs:1:2"),
            (6, "…rs:1:2"),
        ] {
            let came = path("explorer/src/a.rs:1:2", room);
            assert!(width(&came) <= room, "{came}");
            assert!(
                shown.starts_with(&came) || shown.ends_with(came.trim_start_matches('…')),
                "{came}"
            );
        }
    }

    #[test]
    fn prose_is_wrapped_and_nothing_of_it_lost() {
        let text = "main waits at explorer/src/a/very/long/path/indeed.rs:1:2, and 界界界界界界界界界界界界\n  left: 1";
        for columns in 20..80 {
            let lines = wrap(text, columns, 0, 2);
            assert!(
                lines.iter().all(|line| width(line) <= columns),
                "{columns}: {lines:#?}"
            );
            assert!(lines.iter().any(|line| line.trim() == "left: 1"), "{lines:#?}");
            let paths: Vec<&String> = lines.iter().filter(|line| line.contains(".rs")).collect();
            assert_eq!(paths.len(), 1, "{lines:#?}");
            let whole = paths[0].contains("explorer/src/a/very/long/path/indeed.rs:1:2,");
            assert!(whole || paths[0].contains('…'), "{lines:#?}");
        }
    }

    #[test]
    fn a_shell_takes_a_broken_command_for_one() {
        let command_line = "INTERMEZZO_REPLAY=imz1.abcdefghijklmnopqrstuvwxyz cargo test -- --exact a::b";
        for columns in 20..100 {
            let lines = command(command_line, Some(columns), 2);
            assert!(lines.iter().all(|line| width(line) <= columns), "{lines:#?}");
            assert_eq!(lines.join("\n").replace("\\\n", ""), format!("  {command_line}"));
        }
        assert_eq!(command(command_line, None, 2).len(), 1);
    }
}
