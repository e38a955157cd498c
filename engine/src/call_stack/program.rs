//! The functions of the program on a call stack, from the program's debugging information.

use super::is_ours;
use crate::site::Place;
use std::fs;
use std::path::{Path, PathBuf};

/// A function on a stack, and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) name: String,
    /// File, line and column, if the program has debugging information.
    pub(crate) file: Option<(PathBuf, u32, u32)>,
    /// The address of an instruction in it.
    address: usize,
}

/// A place of the program on a stack.
pub(crate) struct ProgramPlace {
    /// The address on the stack.
    #[allow(dead_code, reason = "for leaks, which are seen in unmodified tests only")]
    pub(crate) address: usize,
    /// The path of the function, without closures, as far as it is known.
    pub(crate) function: String,
    pub(crate) file: PathBuf,
    pub(crate) line: u32,
    column: u32,
    /// `true` if it is in a package of the user's, and not in one that cargo has downloaded.
    #[allow(dead_code, reason = "for leaks, which are seen in unmodified tests only")]
    pub(crate) is_users: bool,
}

impl ProgramPlace {
    /// Returns the name of the function, for texts.
    pub(crate) fn described(&self) -> String {
        match self.function.as_str() {
            // A closure's own name is a number.
            closure if closure.starts_with("{closure") => "a closure".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Returns the place for texts: `file:line:column`.
    pub(crate) fn shown(&self) -> String {
        format!("{}:{}:{}", shown(&self.file).display(), self.line, self.column)
    }

    /// Returns the place, for texts.
    #[allow(dead_code, reason = "for leaks, which are seen in unmodified tests only")]
    pub(crate) fn place(&self) -> Place {
        Place {
            file: shown(&self.file).to_string_lossy().into_owned().leak(),
            line: self.line,
            column: self.column,
        }
    }
}

/// Returns the places of the program on a stack, innermost first.
#[allow(dead_code, reason = "for leaks, which are seen in unmodified tests only")]
pub(crate) fn programs(stack: &[usize]) -> Vec<ProgramPlace> {
    let mut frames = resolve(stack);
    frames.reverse();
    places(frames)
}

/// Returns the places of the program at a return address, innermost first.
pub(crate) fn returning_to(address: usize) -> Vec<ProgramPlace> {
    let mut frames = Vec::new();
    // A return address may already belong to the next line.
    resolve_one(address, address.saturating_sub(1), &mut frames);
    places(frames)
}

/// Returns the places of those frames that are the program's.
fn places(mut frames: Vec<Frame>) -> Vec<ProgramPlace> {
    frames.retain(Frame::is_programs);
    let place = |frame: Frame| {
        let (file, line, column) = frame.file?;
        let is_in = |part: &str| file.to_string_lossy().contains(part);
        Some(ProgramPlace {
            address: frame.address,
            function: frame.name,
            is_users: !is_in("/registry/src/") && !is_in("/git/checkouts/"),
            line,
            column,
            file,
        })
    };
    frames.into_iter().filter_map(place).collect()
}

impl Frame {
    /// Returns `true` if it belongs to the program, and neither to the standard library nor to the engine.
    pub(crate) fn is_programs(&self) -> bool {
        if OTHERS.iter().any(|other| owner(&self.name).starts_with(other)) {
            return false;
        }
        match &self.file {
            // If there are only line tables, an inlined function has a name without its path.
            Some((file, ..)) => {
                let text = file.to_string_lossy();
                let of_std = file.starts_with("/rustc/") || text.contains("/rust/library/");
                // A file that is not Rust belongs to a runtime library.
                text.ends_with(".rs") && !of_std && !is_ours(file) && !text.contains("/backtrace-")
            }
            // A name that is not a path is not Rust, or belongs to a runtime library.
            None => owner(&self.name)
                .split('<')
                .next()
                .is_some_and(|path| path.contains("::")),
        }
    }
}

/// The beginnings of paths that are not the program's own.
const OTHERS: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "__rustc::",
    // The functions of the global allocator, at the place of its static.
    "__rust_",
    "backtrace::",
    "intermezzo_engine::",
    "intermezzo_lookalikes::",
    // The look-alikes' own, which has no path.
    "syscall",
];

/// Returns the path of the type whose function this is, or of the trait if the type is a parameter; otherwise the
/// function's own path.
fn owner(name: &str) -> &str {
    let Some(implemented) = name.strip_prefix('<') else {
        return name;
    };
    let owner = match implemented.split_once(" as ") {
        Some((any, of)) if !any.contains("::") => of,
        _ => implemented,
    };
    owner.trim_start_matches(['&', '*', '[', '('])
}

/// Returns the functions of a stack, outermost first.
pub(crate) fn resolve(stack: &[usize]) -> Vec<Frame> {
    let mut frames = Vec::new();
    for (at, &address) in stack.iter().enumerate() {
        // A return address may already belong to the next line.
        let within = if at == 0 {
            address
        } else {
            address.saturating_sub(1)
        };
        resolve_one(address, within, &mut frames);
    }
    frames.reverse();
    frames
}

/// Adds the functions that contain the instruction at `within`, innermost first.
fn resolve_one(address: usize, within: usize, frames: &mut Vec<Frame>) {
    backtrace::resolve(std::ptr::without_provenance_mut(within), |symbol| {
        let Some(name) = symbol.name() else { return };
        frames.push(Frame {
            name: plain(&format!("{name:#}")),
            file: symbol
                .filename()
                .and_then(|file| Some((file.to_owned(), symbol.lineno()?, symbol.colno().unwrap_or(0)))),
            address,
        });
    });
}

/// Returns a function's name without its closures, whose numbers mean nothing to a reader.
fn plain(name: &str) -> String {
    const NUMBERED: &str = "::{closure#";
    let mut plain = name.replace("::{{closure}}", "");
    while let Some(begin) = plain.find(NUMBERED)
        && let Some(length) = plain[begin..].find('}')
    {
        plain.replace_range(begin..=begin + length, "");
    }
    plain
}

/// Returns a path as `cargo` would show it, from the root of its workspace. A workspace may be in a directory of another one.
pub(crate) fn shown(file: &Path) -> &Path {
    let has_lock = |directory: &&Path| directory.join("Cargo.lock").exists();
    let says_so = |directory: &&Path| {
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| line.starts_with("[workspace"))
    };
    let roots = || file.ancestors().skip(1).filter(has_lock);
    let root = roots().find(says_so).or_else(|| roots().last());
    root.and_then(|root| file.strip_prefix(root).ok()).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_closures() {
        for (name, without) in [
            ("f::{{closure}}", "f"),
            ("f::{closure#1}::{closure#0}", "f"),
            ("<m::T<X>>::f::{closure#2}", "<m::T<X>>::f"),
            ("{closure#3}", "{closure#3}"),
        ] {
            assert_eq!(plain(name), without);
        }
    }

    #[test]
    fn paths_begin_at_the_root_of_the_innermost_workspace() {
        let all = std::env::temp_dir().join(format!("intermezzo-shown-{}", std::process::id()));
        let inner = all.join("tests/inner");
        let member = inner.join("member");
        fs::create_dir_all(&member).unwrap();
        for (directory, manifest) in [
            (&all, "[workspace]\n"),
            (&inner, "[package]\n\n[workspace]\n"),
            (&member, "[package]\n"),
        ] {
            fs::write(directory.join("Cargo.lock"), "").unwrap();
            fs::write(directory.join("Cargo.toml"), manifest).unwrap();
        }
        let file = member.join("src/lib.rs");
        assert_eq!(shown(&file), Path::new("member/src/lib.rs"));
        fs::write(inner.join("Cargo.toml"), "[package]\n").unwrap();
        assert_eq!(shown(&file), Path::new("tests/inner/member/src/lib.rs"));
        fs::remove_dir_all(all).unwrap();
    }

    #[test]
    fn functions_of_ours_are_not_the_programs() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let is_programs = |file: &str| {
            let frame = Frame {
                name: "f".to_owned(),
                file: Some((root.join(file), 1, 1)),
                address: 0,
            };
            frame.is_programs()
        };
        for ours in ["src/lib.rs", "shims/shuttle/src/thread.rs", "engine/src/lib.rs"] {
            assert!(!is_programs(ours), "{ours}");
        }
        assert!(is_programs("corpus/src/programs/abba.rs"));
    }

    #[test]
    fn the_programs_own_functions_are_known_by_their_names() {
        let own = |name: &str| {
            let name = name.to_owned();
            let address = 0;
            Frame {
                name,
                file: None,
                address,
            }
            .is_programs()
        };
        for name in [
            "mine::f",
            "<mine::T as core::iter::Iterator>::next",
            "<T as mine::Trait>::f",
        ] {
            assert!(own(name), "{name}");
        }
        for name in [
            "memset",
            "std::thread::sleep",
            "<T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
            "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
            "<&std::io::Stdin as std::io::Read>::read",
            "intermezzo_engine::runtime::abandon::serve",
        ] {
            assert!(!own(name), "{name}");
        }
    }
}
