//! Reads the blocks, commands, tables, and code in sentences of documents, each with its place.

use std::fs;
use std::path::{Path, PathBuf};

/// A file in Markdown.
pub(crate) struct Document {
    /// Its path from the root of the workspace.
    pub(super) name: String,
    pub(super) text: String,
}

/// A block between fences.
pub(super) struct Block {
    /// The number of its first line.
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
}

/// A command, or variables that are set.
pub(super) struct Command {
    pub(super) place: String,
    pub(super) text: String,
    /// `true` if it has lines of its own, `false` if a sentence mentions it.
    pub(super) in_block: bool,
}

/// A table, without the line under its heading.
pub(super) struct Table {
    pub(super) line: usize,
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns all documents that a user reads.
pub(super) fn documents() -> Vec<Document> {
    let mut files: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md"].map(PathBuf::from).into();
    for folder in ["docs", "docs/decisions", "docs/guide/src"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()));
        files.extend(names.filter(|name| name.extension().is_some_and(|extension| extension == "md")));
    }
    files.sort();
    files
        .iter()
        .map(|file| document(&file.display().to_string()))
        .collect()
}

/// Returns the document of this name.
pub(super) fn document(name: &str) -> Document {
    Document {
        name: name.to_owned(),
        text: fs::read_to_string(root().join(name)).unwrap(),
    }
}

impl Document {
    /// Returns the blocks, and the lines outside of them with their numbers.
    fn parts(&self) -> (Vec<Block>, Vec<(usize, &str)>) {
        let (mut blocks, mut lines) = (Vec::new(), Vec::new());
        let mut open: Option<Block> = None;
        for (at, line) in self.text.lines().enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(language)) => {
                    open = Some(Block {
                        line: at + 2,
                        language: language.to_owned(),
                        text: String::new(),
                    });
                }
                (None, None) => lines.push((at + 1, line)),
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
        }
        (blocks, lines)
    }

    pub(super) fn blocks(&self) -> Vec<Block> {
        self.parts().0
    }

    /// Returns the code in sentences and tables, with the numbers of the lines in which it begins.
    pub(super) fn code(&self) -> Vec<(usize, String)> {
        let mut code = Vec::new();
        let mut open: Option<(usize, String)> = None;
        for (number, line) in self.parts().1 {
            // Code that was not closed ends with its paragraph.
            if line.trim().is_empty() {
                open = None;
            }
            for (at, piece) in line.split('`').enumerate() {
                if at > 0 {
                    match open.take() {
                        Some(whole) => code.push(whole),
                        None => open = Some((number, String::new())),
                    }
                } else if let Some((_, text)) = &mut open {
                    text.push(' ');
                }
                if let Some((_, text)) = &mut open {
                    text.push_str(piece);
                }
            }
        }
        code
    }

    /// Returns every command: first those in blocks, then those in sentences.
    pub(super) fn commands(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut add = |line: usize, text: &str, in_block| {
            commands.push(Command {
                place: format!("{}:{line}", self.name),
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                in_block,
            });
        };
        for block in self.blocks().iter().filter(|block| block.may_have_commands()) {
            for (line, text) in block.commands() {
                add(line, text.as_str(), true);
            }
        }
        for (line, text) in self.code().iter().filter(|(_, text)| is_command(text)) {
            add(*line, text.as_str(), false);
        }
        commands
    }

    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables: Vec<Table> = Vec::new();
        let mut last = 0;
        for (number, line) in self.parts().1 {
            let line = line.trim();
            if !line.starts_with('|') {
                continue;
            }
            let inner = line.trim_start_matches('|').trim_end_matches('|');
            let cells = inner.replace("\\|", "\u{1}");
            let cells = cells.split('|').map(|cell| cell.trim().replace('\u{1}', "|"));
            match tables.last_mut().filter(|_| last + 1 == number) {
                Some(_) if line.starts_with("|-") || line.starts_with("| -") => {}
                Some(table) => table.rows.push(cells.collect()),
                None => tables.push(Table {
                    line: number,
                    heading: cells.collect(),
                    rows: Vec::new(),
                }),
            }
            last = number;
        }
        tables
    }

    /// Returns the table whose heading has this beginning.
    pub(super) fn table(&self, heading: &str) -> Table {
        let mut tables = self.tables().into_iter();
        let table = tables.find(|table| table.heading.join(" | ").starts_with(heading));
        table.unwrap_or_else(|| panic!("{} has no table {heading:?}", self.name))
    }
}

impl Block {
    fn may_have_commands(&self) -> bool {
        ["", "sh", "text", "console"].contains(&self.language.as_str())
    }

    /// Returns the commands with the numbers of their lines: a line continued by `\` is part of the same command, and
    /// `&&` separates several.
    pub(super) fn commands(&self) -> Vec<(usize, String)> {
        let mut commands = Vec::new();
        let mut begun = String::new();
        for (at, line) in self.text.lines().enumerate() {
            begun.push_str(line);
            if let Some(part) = begun.strip_suffix('\\') {
                begun = part.to_owned();
                continue;
            }
            let whole = std::mem::take(&mut begun);
            let whole = whole.trim().trim_start_matches("$ ");
            let whole = whole.split(" # ").next().unwrap_or_default().trim();
            let is_shell = self.language == "sh";
            for part in whole.split(" && ").filter(|part| is_shell || is_command(part)) {
                commands.push((self.line + at, part.to_owned()));
            }
        }
        commands.retain(|(_, command)| !command.is_empty());
        commands
    }

    /// `true` if every line is a command.
    pub(super) fn is_all_commands(&self) -> bool {
        let lines = self.text.lines().filter(|line| !line.trim().is_empty());
        self.language == "sh" || lines.count() == self.commands().len()
    }
}

/// Returns the name and the value of a variable that is set.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    is_name.then_some((name, value))
}

/// `true` if this is a call of cargo, or sets variables.
fn is_command(text: &str) -> bool {
    let words = words(text);
    let rest = words.iter().find(|word| assignment(word).is_none());
    match rest {
        Some(word) => word == "cargo" && !text.ends_with("cargo"),
        None => !words.is_empty(),
    }
}

/// Returns the words of a command as a shell takes them: quotes hold one together.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    for c in command.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => (quote, begun) = (Some(c), true),
            None if c.is_whitespace() => {
                if std::mem::take(&mut begun) {
                    words.push(std::mem::take(&mut word));
                }
            }
            None => {
                word.push(c);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}
