//! Crates that name items of std, compiled with the overlays. The compiler shows which names exist.

use super::page::Names;
use crate::Ran;
use serde_json::Value;
use std::path::Path;

/// Names, each with a piece of Rust on one line.
pub(super) struct Probe {
    name: &'static str,
    begin: &'static str,
    lines: Vec<(String, String)>,
}

impl Probe {
    /// Returns a probe without names. `name` is the crate's name, and `begin` its first line.
    pub(super) fn new(name: &'static str, begin: &'static str) -> Probe {
        Probe {
            name,
            begin,
            lines: Vec::new(),
        }
    }

    /// Adds a name, with the code that is compiled for it.
    pub(super) fn add(&mut self, name: &str, rust: &str) {
        let number = self.lines.len();
        self.lines
            .push((name.to_owned(), format!("mod n{number} {{ {rust} }}")));
    }

    /// Compiles everything, and returns the names with errors, each with the codes and messages of its errors.
    pub(super) fn errors(self) -> Names {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| &**line).collect();
        let library = format!("{}\n{}\n", self.begin, lines.join("\n"));
        let project = crate::unmodified::project_of(self.name, "", &library);
        let arguments = [
            "test",
            "--unmodified",
            "--lib",
            "--no-run",
            "--message-format",
            "json",
        ];
        let ran = crate::unmodified::run(&project, &arguments);
        let mut errors: Names = Names::new();
        for (line, error) in located(&ran, &project) {
            let name = match line.checked_sub(2).and_then(|line| self.lines.get(line)) {
                Some((name, _)) => name.clone(),
                None => panic!("{error}"),
            };
            errors.entry(name).or_default().insert(error);
        }
        // Without errors, there is a test binary that has no tests.
        assert!(ran.code == 3 || !errors.is_empty(), "{}", ran.stderr);
        errors
    }
}

/// A lint that [`Probe`]s deny. Denied lints warn under `--unmodified`.
const LINT: &str = "ambiguous_glob_imports";

/// Returns the errors of the compiler and of the lint, each with a line of the library to which it refers.
fn located(ran: &Ran, project: &Path) -> Vec<(usize, String)> {
    let messages = ran
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|mut message| message["message"].take())
        .filter(|message| message["level"] == "error" || message["code"]["code"] == LINT);
    let mut all = Vec::new();
    for message in messages {
        let code = message["code"]["code"].as_str().unwrap_or_default();
        let error = format!("{code} {}", message["message"].as_str().unwrap_or_default());
        let spans = message["spans"].as_array().unwrap();
        let primary = spans.iter().filter(|span| span["is_primary"] == true);
        let lines: Vec<usize> = primary
            .map(|span| {
                assert_eq!(
                    span["file_name"],
                    "src/lib.rs",
                    "{}: {message:#}",
                    project.display()
                );
                span["line_start"].as_u64().unwrap() as usize
            })
            .collect();
        // The last message is the number of errors.
        all.extend(lines.into_iter().map(|line| (line, error.clone())));
    }
    all
}
