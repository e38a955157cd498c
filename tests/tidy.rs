//! The structure of the code: the imports that packages and modules may have, the form of comments, and the places of
//! unsafe code.

use cargo_metadata::{Dependency, DependencyKind, MetadataCommand, Package};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// The packages that each package of the workspace may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("intermezzo-sdk", &[]),
    // It waits in real time, in programs that explore nothing.
    ("intermezzo-breakpoint", &[]),
    ("intermezzo-macros", &[]),
    // The derives of its macros generate nothing, for builds without serde.
    (
        "intermezzo-engine",
        &["intermezzo-breakpoint", "intermezzo-macros", "intermezzo-sdk"],
    ),
    ("intermezzo-lookalikes", &["intermezzo-engine", "intermezzo-sdk"]),
    ("intermezzo-search", &["intermezzo-engine", "intermezzo-sdk"]),
    (
        "intermezzo-explorer",
        &[
            "intermezzo-breakpoint",
            "intermezzo-engine",
            "intermezzo-lookalikes",
            "intermezzo-sdk",
            "intermezzo-search",
        ],
    ),
    // It has tests only.
    ("intermezzo-explorer-short-tests", &[]),
    ("intermezzo-monitors", &["intermezzo-sdk"]),
    (
        "intermezzo-refinement",
        &["intermezzo-explorer", "intermezzo-sdk"],
    ),
    (
        "intermezzo",
        &[
            "intermezzo-breakpoint",
            "intermezzo-macros",
            "intermezzo-explorer",
            "intermezzo-monitors",
            "intermezzo-refinement",
            "intermezzo-sdk",
        ],
    ),
    ("intermezzo-corpus", &["intermezzo"]),
    // Only with the feature `pool` of the command line.
    ("intermezzo-pool", &[]),
    (
        "cargo-intermezzo",
        &["intermezzo", "intermezzo-corpus", "intermezzo-pool"],
    ),
    // The real loom and shuttle, for comparison.
    ("intermezzo-peers", &["intermezzo", "loom", "shuttle"]),
    // These are outside the workspace: only the build of a user who patches crates to use them contains them.
    ("loom", &["intermezzo"]),
    ("shuttle", &["intermezzo"]),
    ("intermezzo-atomicity", PLUGIN),
    ("intermezzo-contention", PLUGIN),
    ("intermezzo-data-race", PLUGIN),
    ("intermezzo-event-log", PLUGIN),
    ("intermezzo-happens-before-counter", PLUGIN),
    ("intermezzo-leak", PLUGIN),
    ("intermezzo-lock-order", PLUGIN),
    ("intermezzo-misuse", PLUGIN),
    ("intermezzo-stale-load", PLUGIN),
    ("intermezzo-statistics", PLUGIN),
];

/// The manifests of the packages to which these rules apply: the workspace's, and those besides it.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "shims/loom/Cargo.toml",
    "shims/loom-0.5/Cargo.toml",
    "shims/shuttle/Cargo.toml",
];

/// The imports of a plugin with a monitor.
const PLUGIN: &[&str] = &["intermezzo-sdk", "intermezzo-monitors"];

/// The maximum number of lines of a source file: a longer one does more than one thing.
const LINES_MAX: usize = 650;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every package to which the rules apply.
fn packages() -> impl Iterator<Item = Package> {
    MANIFESTS.iter().flat_map(|manifest| {
        let mut command = MetadataCommand::new();
        command.manifest_path(root().join(manifest)).no_deps();
        command
            .other_options(["--offline".into()])
            .exec()
            .unwrap()
            .packages
    })
}

#[test]
fn packages_import_only_what_they_may() {
    let rules: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in packages() {
        let Some(allowed) = rules.get(package.name.as_str()) else {
            wrong.push(format!(
                "{} has no rule: say here what it may import",
                package.name
            ));
            continue;
        };
        let is_normal = |it: &&Dependency| it.kind == DependencyKind::Normal;
        for dependency in package.dependencies.iter().filter(is_normal) {
            if rules.contains_key(dependency.name.as_str()) && !allowed.contains(&dependency.name.as_str()) {
                wrong.push(format!("{} imports {}", package.name, dependency.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns every source file of the workspace.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 50, "the workspace is found: {}", found.len());
    found
}

#[test]
fn every_file_says_what_it_is_for_and_is_not_too_long() {
    let mut wrong = Vec::new();
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display();
        // Cases that the compiler must refuse are data.
        if !text.starts_with("//!") && !shown.to_string().contains("/ui/") {
            wrong.push(format!("{shown} does not open with its job"));
        }
        if text.lines().count() > LINES_MAX {
            wrong.push(format!("{shown} has {} lines", text.lines().count()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Crates whose comments are in plain words.
const PLAIN: &[&str] = &[
    "benches/",
    "breakpoint/",
    "cli/",
    "corpus/",
    "engine/",
    "examples/",
    "explorer/",
    "lookalikes/",
    "macros/",
    "monitors/",
    "plugins/",
    "refinement/",
    "sdk/",
    "search/",
    "shims/",
    "src/",
    "tests/",
];

/// Words that the comments of these crates avoid, because plainer ones say the same.
const BANNED: &[&str] = &[
    "anew",
    "at hand",
    "goes on with",
    "how-manieth",
    "in vain",
    "let be",
    "nobody",
    "of no account",
    "so manieth",
    "somebody",
    "unasked",
    "what came of",
    "whoever",
];

/// Words with which no documentation of an item begins: it defines a type, or says what a function does.
const NO_BEGINNINGS: &[&str] = &["How", "What", "Where", "Whether", "Which", "Who", "Whose"];

#[test]
fn comments_are_in_plain_words() {
    let mut wrong = Vec::new();
    for path in sources() {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        if !PLAIN.iter().any(|folder| shown.starts_with(folder)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut documents = false;
        for (number, line) in (1..).zip(text.lines()) {
            let Some((before, comment)) = line.split_once("//") else {
                documents = false;
                continue;
            };
            let begins = !std::mem::replace(&mut documents, comment.starts_with(['/', '!']));
            if !before.trim().is_empty() {
                continue;
            }
            let comment = comment.trim_start_matches(['/', '!']).trim_start();
            let first = comment.split([' ', ',']).next().unwrap_or_default();
            if documents && begins && NO_BEGINNINGS.contains(&first) {
                wrong.push(format!("{shown}:{number} begins with \"{first}\""));
            }
            let lower = comment.to_lowercase();
            let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
            let words = format!(" {} ", words.join(" "));
            for banned in BANNED
                .iter()
                .filter(|banned| words.contains(&format!(" {banned} ")))
            {
                wrong.push(format!("{shown}:{number} has \"{banned}\""));
            }
        }
    }
    assert!(wrong.is_empty(), "{:#?}", wrong);
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    const ROOMS: &[&str] = &[
        "engine/src/runtime/",
        // A walk over a stack that a test may have damaged.
        "engine/src/call_stack/",
        // A reference or an address in one word.
        "engine/src/site.rs",
        // A front end of a test.
        "engine/tests/front_end/",
        // Blocks of memory, as an allocator gives them out, and those that are freed twice.
        "engine/tests/arena/",
        // System calls.
        "engine/tests/system_waits.rs",
        "lookalikes/src/",
        // The boundary between an engine and plugins, from both sides; and the loader.
        "sdk/src/abi/",
        "sdk/tests/",
        "explorer/src/plugin/",
        "explorer/tests/",
        "explorer/short/tests/",
        // loom's pointers are dereferenced by unsafe methods, and code written for it contains many of these.
        "shims/loom/src/cell.rs",
        "shims/loom/src/sync/atomic.rs",
        "shims/loom/tests/like_loom.rs",
        // The closures of its threads need not be `Send`.
        "shims/loom/src/thread.rs",
        "shims/loom/tests/written_for_loom.rs",
        // A scheduler moves to the thread of the exploration, and futures move among tasks, although they are not `Send`.
        "shims/shuttle/src/scheduler/asked.rs",
        "shims/shuttle/src/future/mod.rs",
        "shims/shuttle/src/thread.rs",
        // A data race needs memory that is shared and plain.
        "tests/data_race/cells.rs",
        "tests/data_race/taken_back.rs",
        "tests/orderings.rs",
        "tests/stale_reads/",
        // A user's crate with data races.
        "cli/tests/cli/new_user.rs",
        "cli/tests/cli/identity.rs",
        // Ordinary crates, and the harness that has their statics restored.
        "cli/tests/cli/real_schedulers.rs",
        "cli/overlays/test.rs",
        "cli/overlays/beginning.rs",
        // Ordinary crates with data races, and without.
        "cli/tests/cli/configured.rs",
        "cli/tests/cli/races/",
        "cli/tests/cli/allocators",
        "cli/tests/cli/freed/",
        "cli/tests/cli/reuse/",
        "cli/tests/cli/seeded/",
        "cli/tests/cli/programs/",
        "cli/tests/cli/waits/",
        // A stack of pointers.
        "cli/tests/cli/speed/",
        // Tests of published crates, some of which have unsafe interfaces.
        "tests/crates/src/",
        // One that relies on the layout of atomics, and one that takes numbers from the system.
        "cli/tests/cli/unmodified.rs",
        "cli/tests/cli/ordinary.rs",
        // Ordinary crates that call the system.
        "cli/tests/cli/system_waits",
        "corpus/src/programs/plain.rs",
        "benches/listening.rs",
        "tests/monitors_shipped/allocations.rs",
        // Memory that a monitor must report.
        "tests/monitors_shipped/memory.rs",
        "tests/monitors_shipped/defaults.rs",
        "tests/reduction_compatible/memory.rs",
        "tests/telling/twelve.rs",
        // A guard that is sent to another task.
        "tests/telling/readers.rs",
    ];
    let mut wrong = Vec::new();
    for path in sources() {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let uses = |line: &str| {
            let code = line.split("//").next().unwrap_or("");
            code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
        };
        if !ROOMS.iter().any(|room| shown.starts_with(room))
            && !shown.ends_with("tidy.rs")
            && text.lines().any(uses)
        {
            wrong.push(shown);
        }
    }
    assert!(wrong.is_empty(), "unsafe code outside its rooms: {wrong:#?}");
}

/// The imports of each of a crate's top-level modules: the modules that it names, and the lines that do so.
type Imports = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The top-level modules of each crate, `src/NAME.rs` and `src/NAME/`, can be put into an order in which each imports
/// only those before it. So a part of them can become a crate of its own.
///
/// An import is a path from the root: `use crate::..`, `crate::..` in code, or as many `super::` as lead there. A name
/// that the crate's root, `lib.rs` or `main.rs`, has from a module by a `use` counts as that module. A name that may
/// come from a glob counts as each module of which the root has a glob.
///
/// Not read: comments, text in quotes, and code under `#[cfg(test)]`, in the same file or in one of its own
/// (`tests.rs`, `tests/`). Not seen: the root itself and items that it defines; methods, and implementations of traits,
/// of a type that is not named; the expansion of macros; a name that one module re-exports from another, which counts
/// as the former.
#[test]
fn modules_of_a_crate_have_no_circular_imports() {
    let sources = sources();
    let (mut crates, mut arrows) = (0, 0);
    let mut wrong = Vec::new();
    for package in packages() {
        let folder = package.manifest_path.with_file_name("src");
        // One shim consists of another one's files.
        if !folder.exists() {
            continue;
        }
        let mut files = BTreeMap::new();
        for path in sources.iter().filter(|path| path.starts_with(&folder)) {
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
            files.insert(name.replace('\\', "/"), std::fs::read_to_string(path).unwrap());
        }
        let imports = imports(&files);
        crates += 1;
        arrows += imports.values().map(BTreeMap::len).sum::<usize>();
        if let Some(circle) = circle(&imports) {
            wrong.push(format!("{}: {circle}", package.name));
        }
    }
    assert!(
        crates > 20 && arrows > 300,
        "imports are read: {arrows} in {crates} crates"
    );
    assert!(
        wrong.is_empty(),
        "modules import each other in circles:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn circles_of_imports_are_found() {
    let circle_of = |files: &[(&str, &str)]| {
        let file = |(name, text): &(&str, &str)| (name.to_string(), text.to_string());
        circle(&imports(&files.iter().map(file).collect()))
    };
    let lib = (
        "lib.rs",
        "mod a;\nmod b;\npub mod c;\n\npub use a::Shown;\npub use other as d;\npub use c::*;\n",
    );
    let found = circle_of(&[
        lib,
        ("a.rs", "use crate::b::B;\nuse crate::a::own;\n"),
        (
            "b/deep/mod.rs",
            "fn f() {\n    super::super::c::g(super::other);\n}\n",
        ),
        (
            "c.rs",
            "use std::fmt;\nuse crate::{\n    Shown as S,\n    d::D,\n};\n",
        ),
    ]);
    let found = found.unwrap();
    assert!(found.starts_with("a -> b -> c -> a\n"), "{found}");
    for line in [
        "a.rs:1: crate::b",
        "b/deep/mod.rs:2: super::super::c",
        "c.rs:2: crate::Shown",
    ] {
        assert!(found.contains(line), "{found}");
    }
    for harmless in [
        "// crate::a\n",
        "fn f() -> &str { \"crate::a::b\" }\n",
        "#[cfg(test)]\nmod tests {\n    use crate::a;\n    fn f() {}\n}\n",
        "#[cfg(test)]\nuse crate::a;\n",
        "#[cfg(test)]\nmod tests;\n",
    ] {
        let files = [
            lib,
            ("a.rs", "use crate::b::B;\n"),
            ("b.rs", harmless),
            ("b/tests.rs", "use crate::a;\n"),
        ];
        let declared = harmless.contains("mod tests;");
        let files = if declared { &files[..] } else { &files[..3] };
        assert_eq!(circle_of(files), None, "{harmless}");
    }
    // The root's own names are available to its modules as well, and a name from one of two globs counts as both.
    for (root, text) in [
        (
            "lib.rs",
            "mod a;\npub(crate) mod b;\npub(crate) use a::{\n    A,\n};\n",
        ),
        ("main.rs", "mod a;\nmod b;\nuse crate::a::A;\nfn main() {}\n"),
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::*;\npub use c::*;\n"),
    ] {
        let found = circle_of(&[
            (root, text),
            ("a.rs", "use crate::b;\n"),
            ("b.rs", "use crate::A;\n"),
        ]);
        assert!(
            found.is_some_and(|found| found.starts_with("a -> b -> a\n")),
            "{text}"
        );
    }
    // Code after the test code counts again.
    let after = "#[cfg(test)]\nuse crate::c;\nuse crate::a;\n";
    let found = circle_of(&[lib, ("a.rs", "use crate::b::B;\n"), ("b.rs", after)]).unwrap();
    assert!(found.starts_with("a -> b -> a\n"), "{found}");
}

/// Reads the imports in these files, by their paths in the source folder of a crate.
fn imports(files: &BTreeMap<String, String>) -> Imports {
    let read: Vec<(&String, Vec<String>, String)> = files
        .iter()
        .map(|(name, text)| (name, module_of(name), without_quotes(text)))
        .collect();
    let mut of_tests: Vec<Vec<String>> = Vec::new();
    let mut code = Vec::new();
    for (name, module, text) in read {
        let (text, declared) = without_tests(&text);
        of_tests.extend(declared.into_iter().map(|inner| [&module[..], &[inner]].concat()));
        code.push((name, module, text));
    }
    let roots = || code.iter().filter(|(.., module, _)| module.is_empty());
    assert!(roots().count() > 0, "the crate's root is found");
    let words_of = |text| -> Vec<&str> {
        let words = str::split(text, |c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty()).collect()
    };
    let mut modules = BTreeSet::new();
    for line in roots().flat_map(|(.., text)| text.lines()) {
        match words_of(line)[..] {
            ["mod", name] | ["pub", "mod", name] | ["pub", "crate", "mod", name] => _ = modules.insert(name),
            _ => {}
        }
    }
    let (mut shown, mut stars) = (BTreeMap::new(), Vec::new());
    for statement in roots().flat_map(|(.., text)| text.split(';')) {
        let words = words_of(statement);
        let Some(at) = words.iter().position(|&word| word == "use") else {
            continue;
        };
        let mut path = words[at + 1..]
            .iter()
            .skip_while(|&&word| word == "crate" || word == "self");
        let Some(module) = path.next() else { continue };
        if modules.contains(module) && statement.ends_with("::*") {
            stars.push(*module);
        } else if modules.contains(module) {
            path.for_each(|name| _ = shown.insert(*name, *module));
        }
    }
    let mut all = Imports::new();
    for (name, module, text) in &code {
        let is_test = of_tests.iter().any(|tests| module.starts_with(tests));
        let Some(own) = module.first().filter(|_| !is_test) else {
            continue;
        };
        let entry = all.entry(own.clone()).or_default();
        for (at, path, target) in paths_from_root(text, module.len()) {
            let to = match shown.get(target) {
                _ if modules.contains(target) => vec![target],
                Some(module) => vec![*module],
                // Every other name comes from a glob. In a module inside a file, `super::` may not lead to the root.
                None if path == "crate::" => stars.clone(),
                None => continue,
            };
            for to in to.into_iter().filter(|to| to != own) {
                let line = text[..at].matches('\n').count() + 1;
                let found = format!("{name}:{line}: {path}{target}");
                entry.entry(to.to_owned()).or_default().push(found);
            }
        }
    }
    all
}

/// Returns the path of a file's module: `["runtime", "listen"]` for `runtime/listen/mod.rs`; empty for `lib.rs` and
/// `main.rs`.
fn module_of(file: &str) -> Vec<String> {
    let mut path: Vec<String> = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    path.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
    path
}

/// Returns the text without its comments and the text in quotes, with the same lines.
fn without_quotes(text: &str) -> String {
    let line = |line: &str| {
        let line = line
            .replace("'\"'", "")
            .replace("'{'", "")
            .replace("'}'", "")
            .replace("\\\"", "");
        let outside = line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
        outside.split("//").next().unwrap_or_default().to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the text without the items under `#[cfg(test)]`, with the same lines; and the modules among these that are
/// in files of their own.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let (mut kept, mut declared) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        kept.push("");
        let (mut depth, mut opened) = (0, false);
        for line in lines.by_ref() {
            kept.push("");
            let end = line.trim_end();
            if let Some(module) = end
                .trim_start()
                .strip_prefix("mod ")
                .and_then(|name| name.strip_suffix(';'))
            {
                declared.push(module.to_owned());
            }
            opened |= line.contains('{');
            depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
            if depth == 0 && (opened || end.ends_with([';', ','])) {
                break;
            }
        }
    }
    (kept.join("\n"), declared)
}

/// Returns the paths from the root in the code of a module at this depth: the position of each, its beginning, and the
/// name after that.
fn paths_from_root(code: &str, depth: usize) -> Vec<(usize, &'static str, &str)> {
    const SUPERS: &str = "super::super::super::super::super::super::";
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for path in ["crate::", &SUPERS[..SUPERS.len().min(depth * "super::".len())]] {
        for (at, _) in code.match_indices(path) {
            let rest = &code[at + path.len()..];
            let goes_on = code[..at].ends_with(is_name) || code[..at].ends_with("::");
            if goes_on || rest.starts_with("super::") {
                continue;
            }
            let first_name = |text: &'_ str| text.len() - text.trim_start_matches(is_name).len();
            match rest.strip_prefix('{') {
                None => found.push((at, path, &rest[..first_name(rest)])),
                Some(group) => {
                    let mut nested = 1;
                    let mut begins = true;
                    for (from, c) in group.char_indices() {
                        match c {
                            '{' => nested += 1,
                            '}' => nested -= 1,
                            ',' if nested == 1 => begins = true,
                            c if begins && is_name(c) => {
                                found.push((at, path, &group[from..from + first_name(&group[from..])]));
                                begins = false;
                            }
                            _ => {}
                        }
                        if nested == 0 {
                            break;
                        }
                    }
                }
            }
        }
    }
    found
}

/// Returns a shortest circle, if there is one: the modules, and a line for each import of one by another.
fn circle(imports: &Imports) -> Option<String> {
    let circles = imports.keys().filter_map(|start| {
        // Breadth-first, from the module back to itself.
        let mut from: BTreeMap<&String, &String> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(module) = queue.pop_front() {
            for next in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
                if !from.contains_key(next) {
                    from.insert(next, module);
                    queue.push_back(next);
                }
            }
        }
        let mut path = vec![start, *from.get(start)?];
        while path.last() != Some(&start) {
            path.push(from[path[path.len() - 1]]);
        }
        path.reverse();
        Some(path)
    });
    let path = circles.min_by_key(Vec::len)?;
    let names: Vec<&str> = path.iter().map(|name| name.as_str()).collect();
    let mut text = format!("{}\n", names.join(" -> "));
    for pair in path.windows(2) {
        for line in &imports[pair[0]][pair[1]] {
            text.push_str(&format!("    {line}\n"));
        }
    }
    Some(text)
}
