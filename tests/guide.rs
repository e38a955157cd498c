//! The guide is whole: every page is in the summary, and what pages lead to is there. Its code is run as documentation tests
//! (`src/guide.rs`), its command lines are tried in `cli/tests`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where links of this file lead, without those to the web.
fn links(file: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).unwrap();
    let ends = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    let targets = ends.filter_map(|rest| rest.split(')').next());
    targets
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .map(|target| file.parent().unwrap().join(target))
        .collect()
}

fn pages(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let below = directories.iter().flat_map(|directory| pages(directory));
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .chain(below)
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = pages(&root.join("docs"));
    files.push(root.join("README.md"));
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        for link in links(&file) {
            assert!(
                link.exists(),
                "{}: there is no {}",
                file.display(),
                link.display()
            );
        }
    }
}

#[test]
fn the_summary_has_every_page() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/src");
    let summary = source.join("SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().collect();
    let there: BTreeSet<PathBuf> = pages(&source)
        .into_iter()
        .filter(|page| *page != summary)
        .collect();
    assert_eq!(listed, there);
}

#[test]
fn references_include_what_there_is() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/src/reference");
    for page in pages(&reference) {
        let text = fs::read_to_string(&page).unwrap();
        let included = text
            .trim()
            .strip_prefix("{{#include ")
            .and_then(|rest| rest.strip_suffix("}}"));
        let included = included.unwrap_or_else(|| panic!("{} includes nothing", page.display()));
        assert!(reference.join(included).exists(), "{included}");
    }
}
