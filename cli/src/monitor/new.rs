//! `monitor new`: a project of a monitor that compiles as it is.

use crate::args::MonitorNewArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The greatest length of a name, which becomes part of file names.
const NAME_MAX: usize = 64;

/// Names that cargo reserves, or that have another meaning for rustc.
const RESERVED: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "intermezzo-sdk",
    "intermezzo_sdk",
];

/// The path of the SDK if this command was built in a checkout of intermezzo.
const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sdk");

/// A file of a template: its name in the project, and its text.
type File = (&'static str, &'static str);

const RUST: &[File] = &[
    (
        "Cargo.toml",
        include_str!("../../templates/rust/Cargo.toml.template"),
    ),
    ("README.md", include_str!("../../templates/rust/README.md")),
    ("src/lib.rs", include_str!("../../templates/rust/lib.rs.template")),
];

const C: &[File] = &[
    ("Makefile", include_str!("../../templates/c/Makefile")),
    ("README.md", include_str!("../../templates/c/README.md")),
    ("NAME.c", include_str!("../../templates/c/monitor.c")),
    ("intermezzo.h", intermezzo::sdk::abi::HEADER),
];

/// The project in JSON.
#[derive(Serialize)]
struct Made<'a> {
    name: &'a str,
    language: &'static str,
    files: Vec<String>,
    library: String,
}

/// Makes the project.
pub(crate) fn run(args: &MonitorNewArgs) -> Result<Exit, Problem> {
    let name = args.name.as_str();
    check_name(name)?;
    let root = Path::new(name);
    fs::create_dir(root).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Problem::usage(format!(
            "{name:?} already exists in this directory: it is left alone; give another name, or go to another directory"
        )),
        _ => Problem::file("make the directory", root, &error, "go where files can be written"),
    })?;
    let template = if args.c { C } else { RUST };
    let mut files = Vec::new();
    for (file, text) in template {
        let file = file.replace("NAME", name);
        write(&root.join(&file), &filled(text, name))?;
        files.push(format!("{name}/{file}"));
    }
    let library = library(name, args.c);
    if args.json {
        output::json(&Made {
            name,
            language: if args.c { "c" } else { "rust" },
            files,
            library,
        })?;
    } else {
        let build = if args.c { "make" } else { "cargo build" };
        output::text(&format!(
            "made the monitor `{name}` in {name}/: {}\nnext:\n  cd {name} && {build}\n  \
             cargo intermezzo monitor check {library}\n  cargo intermezzo corpus run counter --monitor {library}\n",
            files
                .iter()
                .map(|file| &file[name.len() + 1..])
                .collect::<Vec<_>>()
                .join(", "),
        ))?;
    }
    Ok(Exit::Pass)
}

/// Returns the path of the library once it is built, as seen from the project.
fn library(name: &str, c: bool) -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    if c {
        // As in the Makefile.
        format!(
            "./{name}.{}",
            if cfg!(target_os = "macos") { "dylib" } else { "so" }
        )
    } else {
        format!("target/debug/{DLL_PREFIX}{}{DLL_SUFFIX}", name.replace('-', "_"))
    }
}

fn check_name(name: &str) -> Result<(), Problem> {
    let letters = name
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter));
    if !letters || !name.starts_with(|first: char| first.is_ascii_lowercase()) || name.len() > NAME_MAX {
        return Err(Problem::usage(format!(
            "{name:?} cannot be the name of a monitor: give at most {NAME_MAX} lower-case letters, digits, `-` and `_`, \
             beginning with a letter"
        )));
    }
    if RESERVED.contains(&name) {
        return Err(Problem::usage(format!(
            "{name:?} is reserved by cargo or rustc: give another name"
        )));
    }
    Ok(())
}

/// Returns the template's text, with its placeholders filled for this name.
fn filled(text: &str, name: &str) -> String {
    let sdk = match fs::canonicalize(SDK) {
        Ok(path) if path.join("Cargo.toml").is_file() => format!("{{ path = {:?} }}", path.to_string_lossy()),
        _ => format!("\"{}\"", env!("CARGO_PKG_VERSION")),
    };
    text.replace("{{name}}", name)
        .replace("{{sdk}}", &sdk)
        .replace("{{library}}", &library(name, false))
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let trouble =
        |error: std::io::Error| Problem::file("write", path, &error, "go where files can be written");
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(trouble)?;
    fs::write(path, text).map_err(trouble)
}
