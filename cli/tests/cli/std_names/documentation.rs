//! Reads the stable names of std from the documentation that comes with a toolchain, in rustdoc's form.
//!
//! It uses only the classes, titles and targets of links, and the marks of unstable items.
//! If rustdoc changes the form of its pages, the names differ from those on our page, which a test notices.

use super::page::Names;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules that are left out: intrinsics of processors, and items of other systems.
const LEFT_OUT: [&str; 5] = ["arch", "os::darwin", "os::macos", "os::wasi", "os::windows"];

/// The mark of unstable items.
const UNSTABLE: &str = "stab unstable";

/// The directory of std's pages.
pub(super) struct Documentation(PathBuf);

impl Documentation {
    /// Returns the documentation of the toolchain of the current directory, if it is installed.
    pub(super) fn installed() -> Option<Documentation> {
        let said = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
        let root = String::from_utf8(said.stdout).ok()?;
        let pages = Path::new(root.trim_end()).join("share/doc/rust/html/std");
        pages.join("index.html").is_file().then_some(Documentation(pages))
    }

    fn page(&self, file: &str) -> String {
        let path = self.0.join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the stable names of each module; the crate itself is the module without a name. The name of a macro ends
    /// with an exclamation mark.
    pub(super) fn names(&self) -> Names {
        let mut all = Names::new();
        let mut left = vec![String::new()];
        while let Some(module) = left.pop() {
            let mut names = BTreeSet::new();
            let page = self.page(&format!("{}index.html", folder(&module)));
            for item in page.split("<dt").skip(1) {
                let (item, _) = item.split_once("</dt>").unwrap();
                if item.contains(UNSTABLE) {
                    continue;
                }
                let reexported = between(item, " id=\"reexport.", "\"");
                // If a trait and its derive macro have the same name, the second link has a number.
                let reexported = reexported.and_then(|name| name.split('-').next());
                if reexported.is_none() && item.contains("<code>pub use") {
                    // A re-export of everything in a module, whose page is read, too.
                    continue;
                }
                let Some((class, name)) = item_of(item) else {
                    names.extend(reexported.map(str::to_owned));
                    continue;
                };
                let name = reexported.unwrap_or(name);
                match class {
                    "mod" if reexported.is_none() => {
                        let below = joined(&module, name);
                        if !LEFT_OUT.contains(&&*below) {
                            left.push(below);
                        }
                    }
                    "macro" => drop(names.insert(format!("{name}!"))),
                    "primitive" | "keyword" | "attr" => {}
                    _ => drop(names.insert(name.to_owned())),
                }
            }
            if !names.is_empty() {
                all.insert(module, names);
            }
        }
        all
    }

    /// Returns the page of a type or trait, if it is one.
    fn of_type(&self, path: &str) -> Option<String> {
        let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
        ["struct", "enum", "union", "trait"].iter().find_map(|kind| {
            let file = self.0.join(format!("{}{kind}.{name}.html", folder(module)));
            fs::read_to_string(file).ok()
        })
    }

    /// Returns the stable methods and constants of a type or trait; `None` for other names.
    pub(super) fn methods(&self, path: &str) -> Option<BTreeSet<String>> {
        let page = self.of_type(path)?;
        // The methods of traits that the type implements come after its own.
        let own = page.split("id=\"trait-implementations\" class").next().unwrap();
        let own = own.split("id=\"deref-methods").next().unwrap();
        let sections = own.split("<section id=\"").skip(1);
        let name = |section: &str| {
            let (id, rest) = section.split_once('"')?;
            let (kind, name) = id.split_once('.')?;
            // The marks of a method come before its text.
            let said = rest.split("class=\"docblock\"").next()?;
            let is_own = ["method", "tymethod", "associatedconstant"].contains(&kind);
            // Another method with the same name has a number.
            let name = name.split('-').next()?;
            (is_own && !said.contains(UNSTABLE)).then(|| name.to_owned())
        };
        Some(sections.filter_map(name).collect())
    }

    /// Returns the stable implementations of a type, as Rust with whole paths; `None` for other names. Traits that are not
    /// among these names are unstable.
    pub(super) fn implementations(&self, path: &str, names: &Names) -> Option<BTreeSet<String>> {
        let page = self.of_type(path)?;
        let begin = page.find("id=\"trait-implementations\" class")?;
        let end = page
            .find("id=\"blanket-implementations\" class")
            .unwrap_or(page.len());
        let sections = page[begin..end].split("<section id=\"impl-").skip(1);
        let implementation = |section: &str| {
            let (header, rest) = section.split_once("</section>")?;
            let said = rest.split("</summary>").next()?;
            let text = text(between(header, "class=\"code-header\">", "</h3>")?);
            let text = without_allocator(text);
            let is_known = |path: &str| {
                let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
                names.get(module).is_some_and(|names| names.contains(name))
            };
            let mut paths = text.split("std::").skip(1).map(|rest| {
                let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                rest.split(|c| !is_of_path(c)).next().unwrap_or_default()
            });
            let is_stable = !said.contains(UNSTABLE) && paths.all(is_known);
            // Negative implementations cannot be used, and the form of a destructor can change.
            let says_less =
                text.contains("> !") || text.starts_with("impl !") || text.contains("std::ops::Drop for");
            (is_stable && !says_less).then_some(text)
        };
        Some(sections.filter_map(implementation).collect())
    }
}

/// Returns the class of the first link to an item, and the item's name.
fn item_of(text: &str) -> Option<(&str, &str)> {
    let title = between(text, "title=\"", "\"")?;
    let (class, path) = title.split_once(' ')?;
    let class = match between(text, "<a class=\"", "\"") {
        Some(class) => class,
        None => class,
    };
    Some((class, path.rsplit("::").next()?))
}

fn folder(module: &str) -> String {
    match module {
        "" => String::new(),
        module => format!("{}/", module.replace("::", "/")),
    }
}

/// Returns the path of a name in a module.
pub(super) fn joined(module: &str, name: &str) -> String {
    match module {
        "" => name.to_owned(),
        module => format!("{module}::{name}"),
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once(after)
        .map(|(found, _)| found)
}

/// Returns the text of HTML, with whole paths for links to items.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let Some((tag, after)) = tag.split_once('>') else {
            break;
        };
        rest = after;
        if let Some((class, path)) = between(tag, "title=\"", "\"").and_then(|title| title.split_once(' '))
            && ["struct", "enum", "union", "trait", "type"].contains(&class)
        {
            let (_, beyond) = after.split_once("</a>").unwrap_or_default();
            let path = path.split_once("::").map_or(path, |(_, path)| path);
            text.push_str(&format!("std::{path}"));
            rest = beyond;
        } else if tag.starts_with("div class=\"where") {
            text.push(' ');
        }
    }
    text.push_str(rest);
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
        .replace("&nbsp;", " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns an implementation without its parameter for an allocator, which is unstable: `A`.
fn without_allocator(mut text: String) -> String {
    while let Some(begin) = text.find(" A: ") {
        // The parameter's bounds have no arguments.
        let end = begin + 1 + text[begin + 1..].find([',', '>']).unwrap();
        if text[..begin].ends_with(',') && text[end..].starts_with('>') {
            text.replace_range(begin - 1..end, "");
        } else {
            text.replace_range(begin..=end, "");
        }
    }
    text.replace(", A>", ">")
}
