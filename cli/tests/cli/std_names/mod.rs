//! The names of std under `--unmodified`: a page lists them all, each with its class in the overlays. It is compared with
//! the documentation of the toolchain, so that new names are noticed, and with the overlays, by the compiler.
//!
//! The compiler shows that a name is controlled: it is if glob imports of the overlay and of std are ambiguous.

mod documentation;
mod page;
mod probe;

use documentation::{Documentation, joined};
use page::{Class, Names, Page};
use probe::Probe;
use std::collections::BTreeSet;
use std::process::Command;

/// The beginning of a crate that compares names.
const BEGIN: &str = "#![allow(warnings)] #![deny(ambiguous_glob_imports)] extern crate alloc;";

/// Returns the path of a name for an import.
fn import(module: &str, name: &str) -> String {
    match name.trim_end_matches('!') {
        // The name has become a keyword.
        "try" => joined(module, "r#try"),
        name => joined(module, name),
    }
}

/// Returns the errors of a crate of this name that imports each of these names from two places by globs.
fn compare(name: &'static str, all: &Names, [one, other]: [&str; 2]) -> Names {
    let mut probe = Probe::new(name, BEGIN);
    for (module, names) in all {
        for name in names {
            let path = import(module, name);
            // A macro and a module may have the same name, and the module always differs in the overlay.
            if name.ends_with('!') && all.contains_key(&path) {
                continue;
            }
            let rust = format!(
                "mod a {{ pub use {one}::{path} as N; }} mod b {{ pub use {other}::{path} as N; }} \
                 use a::*; use b::*; use self::N as M;"
            );
            probe.add(&joined(module, name), &rust);
        }
    }
    probe.errors()
}

/// `true` if the compiler says that a name is ambiguous. Depending on its version, this is an error or a lint.
fn is_ambiguous(error: &str) -> bool {
    ["E0659", "ambiguous_glob_imports"]
        .iter()
        .any(|code| error.starts_with(code))
}

/// Returns the names that are not std's own in the overlays. Compiles a crate named `probe`.
///
/// # Panics
/// If a name is missing.
fn controlled(probe: &'static str, names: &Names) -> BTreeSet<String> {
    let errors = compare(probe, names, ["std", "std::__std"]);
    let missing: Vec<_> = errors
        .iter()
        .filter(|(_, errors)| !errors.iter().all(|error| is_ambiguous(error)))
        .collect();
    assert!(missing.is_empty(), "the overlays lack names: {missing:#?}");
    errors.into_keys().filter(|path| !page::is_noted(path)).collect()
}

/// Returns the page for the current documentation and overlays.
fn made(documentation: &Documentation) -> Page {
    let names = documentation.names();
    let controlled = controlled("names_for_the_page", &names);
    let of_types = |of: &dyn Fn(&str) -> Option<BTreeSet<String>>| -> Names {
        controlled
            .iter()
            .filter_map(|path| Some((path.clone(), of(path)?)))
            .collect()
    };
    Page {
        version: version(),
        methods: of_types(&|path| documentation.methods(path)),
        implementations: of_types(&|path| documentation.implementations(path, &names)),
        classes: Class::all(&names, &controlled),
    }
}

/// Returns the version of the compiler, such as `1.95.0`.
fn version() -> String {
    let said = Command::new("rustc").arg("--version").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    said.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn the_page_has_the_stable_names_of_the_toolchain() {
    let Some(documentation) = Documentation::installed() else {
        return crate::seeded::ignored("the documentation of std is not installed (`rust-docs`)");
    };
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return made(&documentation).write();
    }
    let page = Page::read();
    let names = documentation.names();
    assert!(names.len() > 70, "{:?}", names.keys());
    let of_page = page.names();
    let all = |names: &Names| -> BTreeSet<String> {
        let paths = |(module, names): (&String, &BTreeSet<String>)| -> Vec<String> {
            names.iter().map(|name| joined(module, name)).collect()
        };
        names.iter().flat_map(paths).collect()
    };
    let (known, now) = (all(&of_page), all(&names));
    let lacks: Vec<_> = now.difference(&known).collect();
    let has: Vec<_> = known.difference(&now).collect();
    let why = format!(
        "{} does not have the names of this toolchain; {}",
        page::PAGE,
        page::COMMAND
    );
    assert!(
        lacks.is_empty() && has.is_empty(),
        "{why}: it lacks {lacks:?}, and has {has:?}"
    );
    for (path, methods) in &page.methods {
        assert_eq!(
            documentation.methods(path).as_ref(),
            Some(methods),
            "{why}: {path}"
        );
    }
    for (path, all) in &page.implementations {
        let now = documentation.implementations(path, &names);
        assert_eq!(now.as_ref(), Some(all), "{why}: {path}");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the page has the names of Linux")]
fn every_stable_name_exists_and_has_the_class_of_the_page() {
    let page = Page::read();
    page.is_written_so();
    let names = page.names();
    assert_eq!(controlled("names_of_std", &names), page.controlled());

    // All methods, and all implementations of traits.
    let mut probe = Probe::new("methods_of_std", BEGIN);
    for (path, methods) in &page.methods {
        for method in methods {
            probe.add(
                &format!("{path}::{method}"),
                &format!("fn f() {{ let _ = std::{path}::{method}; }}"),
            );
        }
    }
    for all in page.implementations.values() {
        for implementation in all {
            probe.add(implementation, &has_implementation(implementation));
        }
    }
    let mut errors = probe.errors();
    // A path without arguments does not determine types, and different types may have methods of the same name.
    const OPEN: [&str; 5] = ["E0034", "E0282", "E0283", "E0284", "E0790"];
    errors.values_mut().for_each(|errors| {
        errors.retain(|error| !OPEN.iter().any(|open| error.starts_with(open)));
    });
    errors.retain(|_, errors| !errors.is_empty());
    assert!(errors.is_empty(), "the look-alikes lack this: {errors:#?}");
}

/// A controlled name is the same item in core, alloc and std, if these have it: no path leads past the
/// look-alikes.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the page has the names of Linux")]
fn no_name_of_core_or_alloc_leads_past_the_overlay() {
    let page = Page::read();
    let controlled = page.controlled();
    let mut names = page.names();
    for (module, names) in &mut names {
        names.retain(|name| controlled.contains(&joined(module, name)));
    }
    for (other, are_there, differ) in [
        ("core", "names_in_core", "names_as_in_core"),
        ("alloc", "names_in_alloc", "names_as_in_alloc"),
    ] {
        let mut in_both = names.clone();
        let errors = compare(are_there, &in_both, ["std", other]);
        let is_there = |path: &str| {
            errors
                .get(path)
                .is_none_or(|errors| errors.iter().all(|error| is_ambiguous(error)))
        };
        for (module, names) in &mut in_both {
            names.retain(|name| is_there(&joined(module, name)));
        }
        in_both.retain(|_, names| !names.is_empty());
        assert_eq!(
            in_both.contains_key("sync::atomic"),
            other == "core",
            "{in_both:#?}"
        );
        let differs = compare(differ, &in_both, ["std", other]);
        assert!(differs.is_empty(), "{other} has others: {differs:#?}");
    }
}

/// Returns a function that compiles if there is this implementation: `impl<T> Trait for Type<T> where ..`.
fn has_implementation(implementation: &str) -> String {
    let rest = implementation.strip_prefix("unsafe ").unwrap_or(implementation);
    let rest = rest.strip_prefix("impl").unwrap();
    let generics = match rest.starts_with('<') {
        true => &rest[..=closing(rest)],
        false => "",
    };
    let rest = &rest[generics.len()..];
    let (of, rest) = rest.split_once(" for ").unwrap();
    // The lifetime in the returned type needs a name.
    let of = match of.contains("<&") && !of.contains("<&'") {
        true => format!("for<'any> {}", of.replace("<&", "<&'any ")),
        false => of.to_owned(),
    };
    let (implements, bounds) = rest.split_once(" where ").unwrap_or((rest, ""));
    let bounds = match bounds {
        "" => String::new(),
        bounds => format!(" where {bounds}"),
    };
    if implements.ends_with("<T>") && implementation.contains("?std::marker::Sized") {
        // A value of the type cannot be returned.
        return format!(
            "trait Is {{ type X: ?Sized + {of}; }} impl{generics} Is for *const {implements}{bounds} \
             {{ type X = {implements}; }}"
        );
    }
    format!("fn f{generics}(x: {implements}) -> impl {of}{bounds} {{ x }}")
}

/// Returns the place of the bracket that closes the one at the beginning.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            // Not the bracket of `->`.
            b'>' if text.as_bytes()[at - 1] != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("{text}")
}
