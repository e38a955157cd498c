//! The guide is complete: every page is in the summary, and the targets of links exist, in the repository and in the
//! book that mdBook makes of it. Its code runs as documentation tests (`src/guide.rs`); its command lines are tested in
//! `cli/tests`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A link of a page, to another file or to a part of one.
struct Link {
    /// `None` for the page itself.
    file: Option<String>,
    part: Option<String>,
}

/// Returns the text without its blocks of code.
fn prose(text: &str) -> String {
    let mut in_code = false;
    let mut keep = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    };
    text.lines()
        .filter(|line| keep(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the links of a page, except those to the web.
fn links(text: &str) -> Vec<Link> {
    let text = prose(text);
    let begins = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"'), ("href=\"", '"')];
    let targets = begins.iter().flat_map(|(begin, end)| {
        let rests = text.match_indices(begin).map(|(at, _)| &text[at + begin.len()..]);
        rests.filter_map(|rest| rest.split(*end).next())
    });
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    targets
        .filter(|target| !target.contains("://"))
        .map(|target| {
            let (file, part) = target.split_once('#').unwrap_or((target, ""));
            Link {
                file: some(file),
                part: some(part),
            }
        })
        .collect()
}

/// Returns the anchors of a page: those of its headings.
fn parts(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

/// Returns the contents of a page of the book: its own text, or that of the file it includes.
fn contents(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    match included(page, &text) {
        Some(file) => fs::read_to_string(file).unwrap(),
        None => text,
    }
}

/// Returns the file that a page includes.
fn included(page: &Path, text: &str) -> Option<PathBuf> {
    let name = text.trim().strip_prefix("{{#include ")?.strip_suffix("}}")?;
    Some(page.parent().unwrap().join(name))
}

/// Returns the path without `..`.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(straight.pop()),
            other => straight.push(other),
        }
    }
    straight
}

/// Returns the links of a page that lead nowhere.
fn broken(page: &Path, text: &str, is_there: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut broken = Vec::new();
    for link in links(text) {
        let target = link
            .file
            .as_ref()
            .map(|file| straight(&page.parent().unwrap().join(file)));
        let shown = || {
            format!(
                "{}: {}",
                page.display(),
                link.file.as_deref().unwrap_or("this page")
            )
        };
        if !target.as_deref().is_none_or(&is_there) {
            broken.push(format!("{}: it is not there", shown()));
            continue;
        }
        let there = || {
            target
                .as_ref()
                .map_or_else(|| text.to_owned(), |target| contents(target))
        };
        if let Some(part) = &link.part
            && !parts(&there()).contains(part)
        {
            broken.push(format!("{}: it has no part {part:?}", shown()));
        }
    }
    broken
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
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
    let mut files = pages(&root().join("docs"));
    files.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|file| root().join(file)));
    assert!(files.len() > 15, "{files:?}");
    let broken: Vec<String> = files
        .iter()
        .flat_map(|file| broken(file, &fs::read_to_string(file).unwrap(), |target| target.exists()))
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// In the book, a page that includes a file has that file's text, so links in the text are relative to the page.
#[test]
fn links_lead_somewhere_in_the_book() {
    let source = root().join("docs/guide/src");
    let summary = source.join("SUMMARY.md");
    let in_book = |target: &Path| target.starts_with(&source) && target.exists() && *target != summary;
    let broken: Vec<String> = pages(&source)
        .iter()
        .flat_map(|page| broken(page, &contents(page), in_book))
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = root().join("docs/guide/src/pass.md");
    let text = "# One two\n[a](#one-two) [b](#three) [c](queue.md) ![d](none.png) [e](../../TUNE.md) <img src=\"f.svg\">\n\
                ```text\n[g](none.md)\n```\n[h](reference/SEARCH.md#what-is-refused-and-why) [i](queue.md#no-such-part)";
    let book = root().join("docs/guide/src");
    let found = broken(&page, text, |target| target.starts_with(&book) && target.exists());
    let found: Vec<&str> = found
        .iter()
        .filter_map(|told| Some(told.split_once(": ")?.1))
        .collect();
    assert_eq!(
        found,
        [
            "this page: it has no part \"three\"",
            "none.png: it is not there",
            "../../TUNE.md: it is not there",
            "queue.md: it has no part \"no-such-part\"",
            "f.svg: it is not there",
        ]
    );
}

#[test]
fn the_summary_has_every_page() {
    let source = root().join("docs/guide/src");
    let summary = source.join("SUMMARY.md");
    let links = links(&fs::read_to_string(&summary).unwrap());
    let listed: BTreeSet<PathBuf> = links
        .into_iter()
        .filter_map(|link| Some(source.join(link.file?)))
        .collect();
    let there: BTreeSet<PathBuf> = pages(&source)
        .into_iter()
        .filter(|page| *page != summary)
        .collect();
    assert_eq!(listed, there);
}

/// The paths are the same, so that a link to a file in `docs` leads to its page in the book.
#[test]
fn references_include_existing_files() {
    let references = root().join("docs/guide/src/reference");
    for page in pages(&references) {
        let text = fs::read_to_string(&page).unwrap();
        let file = included(&page, &text).unwrap_or_else(|| panic!("{} includes nothing", page.display()));
        assert!(file.exists(), "{}", file.display());
        let path = page.strip_prefix(&references).unwrap();
        assert_eq!(straight(&file), root().join("docs").join(path));
    }
}
