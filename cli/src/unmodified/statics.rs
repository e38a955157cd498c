//! The statics of a test binary that belong to the code under test: their bytes are restored before each execution.
//!
//! They are found by their names in the binary's symbol table. The statics of the overlays, of their dependencies, and of
//! the toolchain's own libraries are left out, because explorations themselves use them.

use crate::problem::Problem;
use object::read::archive::ArchiveFile;
use object::{
    BinaryFormat, Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags, SymbolKind,
    SymbolSection, elf,
};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file, next to the overlays, with the names of the statics that are not the project's. Its first line is the digest
/// of the overlays.
const OTHERS: &str = "statics";

/// Writes the names of the statics in the libraries of these directories to the file that [`lines`] reads, with the digest
/// of the overlays.
pub(super) fn list_others(directory: &Path, digest: &str, libraries: &[PathBuf]) -> Result<(), Problem> {
    let mut names: Vec<String> = Vec::new();
    for libraries in libraries {
        let help =
            "if it is a library of the toolchain, install that again; else remove its directory `target`";
        let cannot_read = |file: &Path, error| Problem::file("read", file, &error, help);
        for file in fs::read_dir(libraries).map_err(|error| cannot_read(libraries, error))? {
            let file = file.map_err(|error| cannot_read(libraries, error))?.path();
            if file.extension().is_some_and(|extension| extension == "rlib") {
                let found =
                    fs::read(&file).and_then(|bytes| statics_of_library(&bytes).map_err(io::Error::other));
                names.extend(found.map_err(|error| cannot_read(&file, error))?);
            }
        }
    }
    names.sort();
    names.dedup();
    let help = "set INTERMEZZO_CACHE to a directory that can be written";
    let file = directory.join(OTHERS);
    let text = format!("{digest}\n{}", names.join("\n"));
    replace(directory, &file, &text).map_err(|error| Problem::file("write", &file, &error, help))
}

/// Replaces a file in one step, because the compiler's wrapper of another run may be reading it. A static that it did not
/// find in a partial list would be restored, even if explorations use it.
fn replace(directory: &Path, file: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(file).is_ok_and(|written| written == text) {
        return Ok(());
    }
    // Only one run prepares the overlays at a time.
    let begun = directory.join("statics.begun");
    fs::write(&begun, text)?;
    fs::rename(begun, file)
}

/// `true` if the names were written to this directory, for the overlays with this digest.
pub(super) fn are_others_listed(directory: &Path, digest: &str) -> bool {
    fs::read_to_string(directory.join(OTHERS)).is_ok_and(|text| text.lines().next() == Some(digest))
}

/// Returns the names of the statics in a library.
fn statics_of_library(bytes: &[u8]) -> object::Result<Vec<String>> {
    let mut names = Vec::new();
    for member in ArchiveFile::parse(bytes)?.members() {
        // The member with the compiler's metadata is not an object file.
        let Ok(file) = object::File::parse(member?.data(bytes)?) else {
            continue;
        };
        names.extend(statics(&file).map(|(name, _)| without_suffix(name).to_owned()));
    }
    Ok(names)
}

/// Returns lines about the project's statics in this test binary, for the overlay of `test`: first the word `statics`, then
/// for each static the word `static`, its address in the file and its size, in hexadecimal. Returns no line if the statics
/// cannot be found: then they are not restored, and the report says so.
pub(super) fn lines(binary: &Path, overlays: &Path) -> String {
    let found = || -> Option<String> {
        let (bytes, others) = (
            fs::read(binary).ok()?,
            fs::read_to_string(overlays.join(OTHERS)).ok()?,
        );
        let parsed = object::File::parse(&*bytes).ok()?;
        (parsed.format() == BinaryFormat::Elf).then(|| list(&parsed, &others.lines().skip(1).collect()))
    };
    found().unwrap_or_default()
}

/// Returns the lines for the statics with other names than these.
fn list(file: &object::File<'_>, others: &HashSet<&str>) -> String {
    let mut ranges: Vec<(u64, u64)> = statics(file)
        .filter(|(name, _)| !others.contains(without_suffix(name)))
        .map(|(_, range)| range)
        .collect();
    ranges.sort_unstable();
    ranges.dedup();
    let lines = ranges
        .into_iter()
        .map(|(address, size)| format!("static {address:x} {size:x}\n"));
    std::iter::once("statics\n".to_owned()).chain(lines).collect()
}

/// Returns the statics of Rust code that can change: the name of each, its address, and its size.
fn statics<'a>(file: &'a object::File<'a>) -> impl Iterator<Item = (&'a str, (u64, u64))> {
    file.symbols().filter_map(|symbol| {
        let SymbolSection::Section(section) = symbol.section() else {
            return None;
        };
        let name = symbol.name().ok()?;
        let is_rust = name.starts_with("_ZN") || name.starts_with("_R");
        let is_static = symbol.kind() == SymbolKind::Data && symbol.size() > 0;
        (is_rust && is_static && can_change(&file.section_by_index(section).ok()?))
            .then(|| (name, (symbol.address(), symbol.size())))
    })
}

/// `true` if code can write to a section. Sections that the loader fills in and then protects do not count.
fn can_change(section: &object::Section<'_, '_>) -> bool {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
        return false;
    };
    let name = section.name().unwrap_or_default();
    sh_flags.contains(elf::SHF_WRITE) && !sh_flags.contains(elf::SHF_TLS) && !name.starts_with(".data.rel.ro")
}

/// Returns a name as it was before the compiler made it unique among the parts of a crate.
fn without_suffix(name: &str) -> &str {
    name.split_once(".llvm.").map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn readers_see_a_whole_list() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(OTHERS);
        let texts = ["one\n".repeat(10_000), "other\n".repeat(10_000)];
        replace(directory.path(), &file, &texts[0]).unwrap();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 1..200 {
                    replace(directory.path(), &file, &texts[number % 2]).unwrap();
                }
            });
            while !writer.is_finished() {
                let seen = fs::read_to_string(&file).unwrap();
                assert!(texts.contains(&seen), "{} bytes", seen.len());
            }
        });
    }

    #[test]
    fn a_library_that_cannot_be_read_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let library = directory.path().join("broken.rlib");
        fs::write(&library, "no archive").unwrap();
        let libraries = [directory.path().to_owned()];
        let problem = list_others(directory.path(), "1", &libraries).unwrap_err();
        assert!(problem.to_string().contains("broken.rlib"), "{problem}");
        assert!(!are_others_listed(directory.path(), "1"));
    }

    #[test]
    fn a_list_is_only_valid_for_its_overlays() {
        let directory = tempfile::tempdir().unwrap();
        list_others(directory.path(), "1", &[directory.path().to_owned()]).unwrap();
        assert!(are_others_listed(directory.path(), "1"));
        assert!(!are_others_listed(directory.path(), "2"));
    }
}
