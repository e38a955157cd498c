//! The source files that reports name, found from the working directory of the process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Returns file, line and column of `file:line:column`, each from 1.
pub fn parts(site: &str) -> Option<(&str, usize, usize)> {
    let mut parts = site.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |text: &str| text.parse().ok().filter(|&number| number > 0);
    Some((file, number(line)?, number(column)?)).filter(|_| !file.is_empty())
}

/// The directories in which files are searched for.
///
/// The compiler names a file of a workspace from the workspace's root, and tests run in a package of it. If the root is
/// known, the file is there and nowhere else. Otherwise it is in one of the directories in which the search begins, or
/// above. If files with that name are in several of these, only the position of a `Cargo.lock` shows which of them is
/// the workspace's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// The root of the workspace.
    Root(PathBuf),
    /// Directories of or below that root.
    From(Vec<PathBuf>),
}

/// The file that distinguishes the root of a workspace from directories above and below.
const LOCK: &str = "Cargo.lock";

impl Search {
    /// Returns the search from the current directory.
    pub fn here() -> Search {
        Search::From(std::env::current_dir().into_iter().collect())
    }

    /// Returns the search in the workspace of the package in this directory, given the compiler's name of one of its
    /// files. If these two do not determine the root, the search is from the current directory.
    pub fn of_package(directory: &Path, file: &str) -> Search {
        // A root from which the name leads out of the package is not valid.
        let leads_there = |root: &&Path| {
            let path = root.join(file);
            path.starts_with(directory) && path.is_file()
        };
        let mut roots = directory.ancestors().filter(leads_there);
        match (roots.next(), roots.next()) {
            (Some(root), None) => Search::Root(root.to_owned()),
            _ => Search::here(),
        }
    }

    /// Returns the path of the file with this name, as the compiler names it.
    ///
    /// # Errors
    /// If there is none, or several are possible; the text follows the file's name.
    pub fn find(&self, file: &str) -> Result<PathBuf, String> {
        let found = |directory: &Path| Some(directory.join(file)).filter(|path| path.is_file());
        let from = match self {
            Search::Root(root) => return found(root).ok_or_else(|| NOT_FOUND.into()),
            Search::From(from) => from,
        };
        // The files are collected by their whole paths, because several directories may lead to the same one.
        let mut paths: BTreeMap<PathBuf, bool> = BTreeMap::new();
        for directory in from.iter().flat_map(|start| start.ancestors()) {
            if let Some(path) = found(directory) {
                let whole = path.canonicalize().unwrap_or(path);
                *paths.entry(whole).or_default() |= directory.join(LOCK).is_file();
            }
        }
        if paths.len() > 1 {
            paths.retain(|_, is_of_workspace| *is_of_workspace);
            if paths.len() != 1 {
                return Err("could be one of several files of that name".into());
            }
        }
        paths.into_keys().next().ok_or_else(|| NOT_FOUND.into())
    }
}

const NOT_FOUND: &str = "was not found";

/// Returns the text of a Rust source file. Other files are refused, so that a report cannot make any file of the
/// machine visible.
///
/// # Errors
/// If there is none; the text gives the reason, and follows the file's name.
pub fn read(file: &str, search: &Search) -> Result<String, String> {
    if Path::new(file)
        .extension()
        .is_none_or(|extension| extension != "rs")
    {
        return Err("is not a Rust source file".into());
    }
    let path = search.find(file)?;
    let problem = |error| format!("could not be read ({error})");
    if fs::metadata(&path).map_err(problem)?.len() > FILE_BYTES_MAX {
        return Err("is too large".into());
    }
    let text = fs::read(&path).map_err(problem)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_apart() {
        assert_eq!(parts("src/a.rs:12:3"), Some(("src/a.rs", 12, 3)));
        assert_eq!(parts("C:\\src\\a.rs:12:3"), Some(("C:\\src\\a.rs", 12, 3)));
        for none in ["", "a.rs", "a.rs:x:1", "a.rs:0:1", "12:3", ":1:1"] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    /// Creates a workspace whose root and a member each have a file of one name, and the member a file of its own.
    fn workspace(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("intermezzo-{name}-{}", std::process::id()));
        for (file, text) in [
            ("Cargo.lock", ""),
            ("src/lib.rs", "the root's"),
            ("member/src/lib.rs", "the member's"),
            ("member/src/own.rs", "its own"),
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn names_lead_from_the_workspaces_root() {
        let root = workspace("sources");
        let from_member = Search::From(vec![root.join("member")]);
        let known = Search::of_package(&root.join("member"), "member/src/lib.rs");
        assert_eq!(known, Search::Root(root.clone()));
        for search in [&from_member, &known] {
            assert_eq!(read("src/lib.rs", search).unwrap(), "the root's");
            assert_eq!(read("member/src/lib.rs", search).unwrap(), "the member's");
        }
        // The member was a workspace once.
        fs::write(root.join("member/Cargo.lock"), "").unwrap();
        let several = read("src/lib.rs", &from_member).unwrap_err();
        assert!(several.contains("one of several"), "{several}");
        assert_eq!(read("src/lib.rs", &known).unwrap(), "the root's");
        // The same without any lock file; but a file that exists once is not ambiguous.
        fs::remove_file(root.join("Cargo.lock")).unwrap();
        fs::remove_file(root.join("member/Cargo.lock")).unwrap();
        assert!(read("src/lib.rs", &from_member).is_err());
        assert_eq!(read("src/own.rs", &from_member).unwrap(), "its own");
        // From the known root, that name leads nowhere.
        assert_eq!(read("src/own.rs", &known).unwrap_err(), NOT_FOUND);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_root_that_is_not_certain_is_none() {
        let root = workspace("roots");
        let member = root.join("member");
        // As far as the names go, the member may be the root of a workspace as well as a part of one.
        fs::create_dir_all(member.join("member/src")).unwrap();
        fs::write(member.join("member/src/lib.rs"), "").unwrap();
        for (directory, file) in [
            (&member, "member/src/lib.rs"),
            (&member, "no/such.rs"),
            (&root, "../lib.rs"),
        ] {
            assert_eq!(Search::of_package(directory, file), Search::here(), "{file}");
        }
        fs::remove_dir_all(root).unwrap();
    }
}
