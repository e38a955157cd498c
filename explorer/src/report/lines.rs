//! Lines of limited width.
//!
//! Prose is wrapped at spaces. A path that is too long loses its beginning, since its end says more; an ellipsis marks
//! the cut. A command is broken as a shell accepts it, so that it can be copied.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The mark for omitted text.
const ELLIPSIS: char = '…';

/// Returns the number of columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns as much of a text as fits, from its beginning, with an ellipsis if that is not all.
pub fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut taken = head(text, room.saturating_sub(1)).to_owned();
    taken.push(ELLIPSIS);
    taken
}

/// Returns the longest prefix that fits.
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

/// Returns as much of a path as fits, from its end: whole names if there is room for one.
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

/// Returns the part of a word that fits into a line, if the whole is too long: up to the end of a module's name, if
/// there is one.
fn piece(word: &str, room: usize) -> &str {
    let fits = head(word, room);
    match fits.rfind("::") {
        Some(at) => &fits[..at + 2],
        // At least one character has to be taken.
        None if fits.is_empty() => &word[..word.chars().next().map_or(0, char::len_utf8)],
        None => fits,
    }
}

/// Returns `true` if a schedule's token is in the word.
fn has_token(word: &str) -> bool {
    let after = word.split_once("imz").map_or("", |(_, after)| after);
    let version = after.split_once('.').map_or("", |(version, _)| version);
    version.parse::<u32>().is_ok()
}

/// Wraps prose in lines of at most `columns` columns, but for words with a schedule. `first` and `others` are the indents of
/// the first line and of the others.
pub fn wrap(text: &str, columns: usize, first: usize, others: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let margin = " ".repeat(others.min(columns / 2));
    for (number, paragraph) in text.split('\n').enumerate() {
        let first = if number == 0 { first } else { others };
        // The user's own indentation is kept, as far as there is room.
        let own = width(paragraph) - width(paragraph.trim_start());
        let mut line = " ".repeat((first + own).min(columns / 2));
        let mut empty = true;
        // Two spaces in a row are intended.
        for word in paragraph.trim_start().split(' ') {
            let mut word = word.to_owned();
            if !empty && width(&line) + 1 + width(&word) > columns {
                lines.push(std::mem::replace(&mut line, margin.clone()).trim_end().to_owned());
                empty = true;
            }
            while empty && width(&line) + width(&word) > columns {
                // A schedule in two parts cannot be copied.
                if has_token(&word) {
                    break;
                }
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

/// Breaks a command into lines that a shell takes as one: after the environment variables in front of it, and else in front
/// of a word, or within one that is longer than a line.
/// A line that continues a word or a quoted text is not indented, for the shell would take the indent as a part of it.
/// In single quotes it would take the break, too, so a command with such quotes is left whole.
pub fn command(text: &str, columns: Option<usize>, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent);
    let is_broken = |columns: &usize| indent + width(text) > *columns && !text.contains('\'');
    let Some(columns) = columns.filter(is_broken) else {
        return vec![format!("{margin}{text}")];
    };
    let mut lines = Vec::new();
    let mut line = margin.clone();
    let mut quoted = false;
    let mut assigns = false;
    for (number, word) in text.split(' ').enumerate() {
        let further = if quoted { String::new() } else { margin.repeat(2) };
        let room = columns.saturating_sub(1);
        if number > 0 {
            line.push(' ');
            let ends_assignments = !quoted && assigns && !is_assignment(word);
            let overflows = width(&line) + width(word) > room;
            if ends_assignments || overflows && width(&further) + width(word) <= room {
                // Where the next line is not indented, it needs the space.
                let mut further = further;
                if width(&line) > room {
                    line.pop();
                    if further.is_empty() {
                        further.push(' ');
                    }
                }
                lines.push(std::mem::replace(&mut line, further) + "\\");
            }
        }
        line.push_str(word);
        while width(&line) > room {
            let piece = head(&line, room).to_owned();
            line.drain(..piece.len());
            lines.push(piece + "\\");
        }
        assigns = is_assignment(word) || quoted && assigns;
        quoted ^= word.matches('"').count() % 2 == 1;
    }
    lines.push(line);
    lines
}

/// `true` for the beginning of `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
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
    fn a_schedule_in_prose_stays_whole() {
        let word = format!("INTERMEZZO_REPLAY=imz3.{}", "aB0-_".repeat(30));
        let lines = wrap(&format!("it ended in the middle: {word} runs it again"), 60, 2, 4);
        assert_eq!(
            lines,
            [
                "  it ended in the middle:",
                &format!("    {word}"),
                "    runs it again"
            ]
        );
    }

    #[test]
    fn a_shell_takes_a_broken_command_for_one() {
        let long = "INTERMEZZO_REPLAY=imz1.abcdefghijklmnopqrstuvwxyz cargo test -- --exact a::b";
        let quoted = "INTERMEZZO_BREAKPOINTS=\"src/a.rs:1:2 before src/b.rs:3:4  skip=1/0\" cargo test";
        for text in [long, quoted] {
            for columns in 20..100 {
                let lines = command(text, Some(columns), 2);
                assert!(lines.iter().all(|line| width(line) <= columns), "{lines:#?}");
                let script = format!(
                    "f() {{ printf '%s\\n' \"$@\"; }}\nf {}",
                    lines.join("\n").trim_start()
                );
                let output = std::process::Command::new("sh")
                    .args(["-c", &script])
                    .output()
                    .unwrap();
                let words = String::from_utf8(output.stdout).unwrap();
                let (assignment, rest) = words.split_once('\n').unwrap();
                let expected = text.replace('"', "");
                assert_eq!(
                    format!("{assignment} {}", rest.trim_end().replace('\n', " ")),
                    expected
                );
            }
        }
        let lines = command(long, Some(60), 2);
        assert_eq!(
            lines,
            [
                "  INTERMEZZO_REPLAY=imz1.abcdefghijklmnopqrstuvwxyz \\",
                "    cargo test -- --exact a::b"
            ]
        );
        assert_eq!(command(long, None, 2).len(), 1);
        assert_eq!(command(&format!("{long} 'in one'"), Some(60), 2).len(), 1);
    }
}
