//! The compiler's input for a program that is explored as a whole: its root file, with a function that is called instead
//! of its `main`.
//!
//! `#![no_main]` is added, so that `main` is an ordinary function, and at the end a call of the macro `explore_main` of
//! `overlays/test.rs`. Nothing is written next to the user's sources: the compiler reads the text from stdin, like that
//! of a test in documentation, and two environment variables name the file. Lines and columns do not change, except for
//! the columns of the first line.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The name by which the crate knows the overlay of `test`.
pub(super) const OVERLAY: &str = "__intermezzo_program";

/// The variables by which rustdoc tells the compiler the file and the first line of the text.
const FILE: &str = "UNSTABLE_RUSTDOC_TEST_PATH";
const LINE: &str = "UNSTABLE_RUSTDOC_TEST_LINE";

/// The input of the compiler.
pub(super) struct Root {
    /// The file, as cargo names it.
    file: PathBuf,
    text: String,
}

impl Root {
    /// Replaces the root file in these arguments of the compiler by `-`, for stdin. `notes` is the file about the program.
    ///
    /// # Errors
    /// If the file cannot be read, or its name does not end in `.rs`.
    pub(super) fn take(arguments: &mut [OsString], notes: &Path) -> io::Result<Root> {
        let is_root =
            |argument: &&mut OsString| Path::new(&**argument).extension().is_some_and(|e| e == "rs");
        let Some(root) = arguments.iter_mut().find(is_root) else {
            let text = "its root file has no name that ends in `.rs`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        };
        let file = PathBuf::from(std::mem::replace(root, "-".into()));
        let text = fs::read_to_string(&file)?;
        let mut editions = arguments.iter().filter_map(|argument| {
            let edition = argument.to_str()?.strip_prefix("--edition=")?;
            Some(edition.to_owned())
        });
        let is_2015 = editions.next().is_none_or(|edition| edition == "2015");
        let name = env::var("CARGO_BIN_NAME").unwrap_or_default();
        let is_example = notes.parent().is_some_and(|parent| parent.ends_with("examples"));
        let kind = if is_example { "example" } else { "bin" };
        let shown = file.to_string_lossy();
        let place = match place_of_main(&text) {
            Some((line, column)) => format!("{shown}:{line}:{column}"),
            None => shown.to_string(),
        };
        let whole = std::path::absolute(&file)?;
        let words = [
            kind,
            &name,
            &shown,
            &place,
            &notes.to_string_lossy(),
            &whole.to_string_lossy(),
        ];
        let text = with_end(&text, is_2015, &words.map(|word| format!("{word:?}")).join(", "));
        Ok(Root { file, text })
    }

    /// Starts the compiler with this input.
    pub(super) fn compile(&self, mut compiler: Command) -> io::Result<Child> {
        let mut child = compiler
            .env(FILE, &self.file)
            .env(LINE, "0")
            .stdin(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // If the compiler stops reading, it reports the reason itself.
            let _ = stdin.write_all(self.text.as_bytes());
        }
        Ok(child)
    }
}

/// Returns the text with the attribute at its beginning and the macro at its end.
fn with_end(text: &str, is_2015: bool, words: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    // A first line such as `#!/usr/bin/env ..` is not an attribute.
    let is_for_shell = text
        .strip_prefix("#!")
        .is_some_and(|rest| !rest.trim_start().starts_with('['));
    let text = match text.find('\n').filter(|_| is_for_shell) {
        Some(end) => &text[end..],
        None => text,
    };
    let path = match is_2015 {
        true => format!("extern crate {OVERLAY}; {OVERLAY}"),
        false => format!("::{OVERLAY}"),
    };
    format!("#![no_main] {text}\n{path}::explore_main! {{ {words} }}\n")
}

/// Returns the line and the column of `main`, if a line begins with its declaration.
fn place_of_main(text: &str) -> Option<(usize, usize)> {
    text.lines().zip(1..).find_map(|(line, number)| {
        let (before, after) = line.split_once("fn main")?;
        let declares = ["", "pub ", "async ", "pub async "].contains(&before);
        (declares && after.trim_start().starts_with(['(', '<']))
            .then_some((number, before.len() + "fn ".len() + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_keeps_its_lines() {
        for (text, becomes) in [
            (
                "//! A.\nfn main() {}",
                "#![no_main] //! A.\nfn main() {}\n::__intermezzo_program::explore_main! { 1 }\n",
            ),
            (
                "\u{feff}#![a]\nb",
                "#![no_main] #![a]\nb\n::__intermezzo_program::explore_main! { 1 }\n",
            ),
            (
                "#!/bin/x\nb",
                "#![no_main] \nb\n::__intermezzo_program::explore_main! { 1 }\n",
            ),
        ] {
            assert_eq!(with_end(text, false, "1"), becomes);
        }
        assert!(
            with_end("", true, "1")
                .contains("extern crate __intermezzo_program; __intermezzo_program::explore")
        );
    }

    #[test]
    fn main_is_found_where_it_is_declared() {
        for (text, place) in [
            ("// fn main()\n\nfn main() {}\n", Some((3, 4))),
            ("#[tokio::main]\nasync fn main() {\n", Some((2, 10))),
            ("fn mainly() {}\nlaunch!(main);\n", None),
        ] {
            assert_eq!(place_of_main(text), place, "{text}");
        }
    }
}
