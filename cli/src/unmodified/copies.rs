//! Copies of published crates without some of their trait implementations. The overlays depend on the copies.
//!
//! All crates of a project see the implementations in a crate on which the overlay of std depends. Where std has only one
//! implementation that fits, the compiler infers the type; with a second one from such a crate it no longer can.

use super::metadata;
use crate::problem::Problem;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The packages that are copied, and the items that are left out of each.
const COPIES: [(&str, &[Left]); 2] = [
    (
        "serde_json",
        // Breaks `number == text.parse().unwrap()`.
        &[("src/value/mod.rs", &["mod partial_eq;"])],
    ),
    (
        "winnow",
        // Breaks `bytes.as_ref().into()`. The comparisons use `AsRef`.
        &[
            (
                "src/stream/bstr.rs",
                &["impl AsRef<BStr> for ", "impl_partial_eq!(", "impl_partial_ord!("],
            ),
            (
                "src/stream/bytes.rs",
                &[
                    "impl AsRef<Bytes> for ",
                    "impl_partial_eq!(",
                    "impl_partial_ord!(",
                ],
            ),
        ],
    ),
];

/// A file of a package, and the beginnings of the items that are left out of it.
type Left = (&'static str, &'static [&'static str]);

/// Returns the manifest of the overlays' workspace, which replaces packages by those copies that exist.
pub(super) fn manifest(place: &Path, members: &str) -> String {
    let names = COPIES.map(|(name, _)| name);
    let mut manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\nexclude = {names:?}\n");
    let mut copied = names.iter().filter(|name| place.join(name).exists()).peekable();
    if copied.peek().is_some() {
        manifest += "\n[patch.crates-io]\n";
    }
    for name in copied {
        manifest += &format!("{name} = {{ path = \"{name}\" }}\n");
    }
    manifest
}

/// Makes the copies that do not exist yet. `cargo` is a command that runs cargo for the overlays. A package without the
/// items to leave out is not copied.
pub(super) fn make(place: &Path, host: &str, cargo: Command) -> Result<(), Problem> {
    let missing = || COPIES.iter().filter(|(name, _)| !place.join(name).exists());
    if missing().next().is_none() {
        return Ok(());
    }
    let manifest = place.join("Cargo.toml").into_os_string();
    let arguments = vec!["--manifest-path".into(), manifest];
    let metadata = metadata(arguments, host, cargo)?;
    let packages = metadata["packages"].as_array();
    for (name, left) in missing() {
        let package = packages.and_then(|all| all.iter().find(|package| package["name"] == *name));
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let source = manifest.and_then(|path| Path::new(path).parent());
        let Some((source, changed)) = source.and_then(|source| Some((source, changed(source, left)?))) else {
            continue;
        };
        let copy = place.join(name);
        // Copied under another name first, so that an interrupted copy is not used.
        let begun = place.join(format!("{name}.begun"));
        copy_all(source, &begun)
            .and_then(|()| {
                changed
                    .iter()
                    .try_for_each(|(file, text)| fs::write(begun.join(file), text))
            })
            .and_then(|()| fs::rename(&begun, &copy))
            .map_err(|error| {
                let help = "set INTERMEZZO_CACHE to a directory that can be written";
                Problem::file("write", &copy, &error, help)
            })?;
    }
    Ok(())
}

/// Returns the files that change, with their new text; `None` if one of them lacks an item to leave out.
fn changed(source: &Path, left: &[Left]) -> Option<Vec<(&'static str, String)>> {
    left.iter()
        .map(|&(file, items)| {
            let text = fs::read_to_string(source.join(file)).ok()?;
            Some((file, without(&text, items)?))
        })
        .collect()
}

/// Returns the text without the items that begin with these words; `None` if no item begins with one of them.
fn without(text: &str, items: &[&str]) -> Option<String> {
    let mut kept = String::new();
    let mut found = vec![false; items.len()];
    let mut is_within = false;
    for line in text.split_inclusive('\n') {
        if is_within {
            is_within = line.trim_end() != "}";
            continue;
        }
        match items.iter().position(|item| line.starts_with(item)) {
            Some(item) => {
                found[item] = true;
                // Items without a semicolon end with a brace on a line of its own.
                is_within = !line.trim_end().ends_with(';');
            }
            None => kept += line,
        }
    }
    (found.iter().all(|&found| found) && !is_within).then_some(kept)
}

/// Copies a directory with all its contents.
fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let copy = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_all(&path, &copy)?;
        } else {
            // Not `fs::copy`: files of the registry may be read-only, and it would copy their permissions.
            fs::write(&copy, fs::read(&path)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_left_out() {
        let text = "use a;\nmod b;\nimpl C for d {\n    fn e() {\n    }\n}\n\nmod f;\n";
        assert_eq!(
            without(text, &["mod b;", "impl C for "]).unwrap(),
            "use a;\n\nmod f;\n"
        );
        assert_eq!(without(text, &["mod b;", "mod c;"]), None);
        assert_eq!(without("impl C for d {\n", &["impl C"]), None);
    }
}
