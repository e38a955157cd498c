//! Crates that name what std has, compiled with the overlays: the compiler says which names are there.

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
    /// Returns a probe without names. The crate has a name of its own, and begins with this, on one line.
    pub(super) fn new(name: &'static str, begin: &'static str) -> Probe {
        Probe {
            name,
            begin,
            lines: Vec::new(),
        }
    }

    /// Adds a name, with what is compiled for it.
    pub(super) fn add(&mut self, name: &str, rust: &str) {
        let number = self.lines.len();
        self.lines
            .push((name.to_owned(), format!("mod n{number} {{ {rust} }}")));
    }

    /// Compiles everything, and returns the names with errors, with the codes and messages of these.
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
        // Without errors there is a test binary, without tests.
        assert!(ran.code == 3 || !errors.is_empty(), "{}", ran.stderr);
        errors
    }
}

/// A lint that [`Probe`]s deny. Denied lints warn under `--unmodified`.
const LINT: &str = "ambiguous_glob_imports";

/// Returns the errors of the compiler, and those of the lint, each with the lines of the library that it is about.
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
        // The last message counts the others.
        all.extend(lines.into_iter().map(|line| (line, error.clone())));
    }
    all
}
