//! Writes and reads the page of std's names.

use super::documentation::joined;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The page.
pub(super) const PAGE: &str = "docs/STD_NAMES.md";

/// The sentence about the command that makes the page.
pub(super) const COMMAND: &str = "`UPDATE_DOCS=1 cargo test -p cargo-intermezzo --test cli std_names` makes it from the toolchain's documentation";

/// The class of a name under `--unmodified`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// An item of the overlay.
    Controlled,
    /// std's own item, which intermezzo controls by other means.
    OtherMeans,
    /// std's own item, without an effect on other threads.
    Own,
    /// std's own item, which intermezzo does not control.
    NotControlled,
}
use Class::{Controlled, NotControlled, OtherMeans, Own};

impl Class {
    const ALL: [Class; 4] = [Controlled, OtherMeans, Own, NotControlled];

    /// Returns the words of the page.
    fn name(self) -> &'static str {
        match self {
            Controlled => "controlled",
            OtherMeans => "by other means",
            Own => "std's own",
            NotControlled => "not controlled",
        }
    }

    /// Returns the class of a name that is not the overlay's: that of the longest path in [`RULES`] with which it begins.
    fn of(path: &str) -> Class {
        let is_below = |parent: &str| {
            path.strip_prefix(parent)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let rules = RULES
            .iter()
            .filter(|(parents, ..)| parents.iter().any(|parent| is_below(parent)));
        let length = |parents: &[&str]| {
            let those = parents.iter().filter(|parent| is_below(parent));
            those.map(|parent| parent.len()).max()
        };
        rules
            .max_by_key(|(parents, ..)| length(parents))
            .map_or(Own, |&(_, class, _)| class)
    }

    /// Returns these names by module, with the class of each.
    pub(super) fn all(
        names: &Names,
        controlled: &BTreeSet<String>,
    ) -> BTreeMap<String, BTreeMap<String, Class>> {
        let of_module = |(module, names): (&String, &BTreeSet<String>)| {
            let class = |name: &String| {
                let path = joined(module, name);
                let class = match controlled.contains(&path) {
                    true => Controlled,
                    false => Class::of(&path),
                };
                (name.clone(), class)
            };
            (module.clone(), names.iter().map(class).collect())
        };
        names.iter().map(of_module).collect()
    }
}

/// `true` if the overlay replaces a name only to note that it is used, such as `io::stdout`.
pub(super) fn is_noted(path: &str) -> bool {
    RULES.iter().any(|(paths, ..)| paths.contains(&path))
}

/// The classes of names that are not the overlay's, by the beginnings of their paths, with the reason. All others are std's
/// own, with no effect on other threads.
const RULES: &[(&[&str], Class, &str)] = &[
    (
        &[
            "alloc::alloc",
            "alloc::alloc_zeroed",
            "alloc::dealloc",
            "alloc::realloc",
        ],
        OtherMeans,
        "a test binary has a global allocator that gives each execution memory of its own",
    ),
    (
        &["cell", "ptr"],
        OtherMeans,
        "plain memory is watched with `--races`",
    ),
    (
        &["sync::Arc", "sync::Weak"],
        OtherMeans,
        "counts are schedule points, on Linux on x86-64 and aarch64",
    ),
    (
        &["time::SystemTime"],
        OtherMeans,
        "it reads the virtual clock by `clock_gettime`, on Linux with glibc",
    ),
    (
        &["alloc::System"],
        NotControlled,
        "its memory has other addresses in each execution",
    ),
    (
        &["env"],
        NotControlled,
        "variables and the current directory are the process's: each execution of a test begins with those of the process, and a change is no schedule point",
    ),
    (&["env::consts", "env::VarError", "env::JoinPathsError"], Own, ""),
    (
        &["fs", "os::unix::fs", "os::linux::fs"],
        NotControlled,
        "files are real: a change stays for later executions",
    ),
    (
        &[
            "io::stdin",
            "io::Stdin",
            "io::StdinLock",
            "io::read_to_string",
            "io::pipe",
            "io::PipeReader",
            "io::PipeWriter",
            "os::fd",
        ],
        NotControlled,
        "on Linux with glibc, a call that waits is a schedule point; elsewhere it is named if it hangs",
    ),
    (
        &[
            "io::stdout",
            "io::Stdout",
            "io::StdoutLock",
            "io::stderr",
            "io::Stderr",
            "io::StderrLock",
        ],
        NotControlled,
        "unlike the macros, they print in every execution",
    ),
    (
        &["net", "os::unix::net", "os::linux::net"],
        NotControlled,
        "sockets are real; on Linux with glibc, a call that waits is a schedule point; elsewhere it is named if it hangs",
    ),
    (
        &[
            "net::AddrParseError",
            "net::IpAddr",
            "net::Ipv4Addr",
            "net::Ipv6Addr",
            "net::SocketAddr",
            "net::SocketAddrV4",
            "net::SocketAddrV6",
            "net::Shutdown",
        ],
        Own,
        "",
    ),
    (
        &["process", "os::unix::process"],
        NotControlled,
        "processes are real, and a call that waits is no schedule point: it is named if it hangs",
    ),
    (
        &[
            "process::ExitCode",
            "process::ExitStatus",
            "process::Output",
            "process::Termination",
        ],
        Own,
        "",
    ),
];

/// The page's text before its lists.
const BEGINNING: &str = "\
# Names of std under `--unmodified`

This page lists every stable public name of std, and how `cargo intermezzo test --unmodified` treats it.
The intrinsics of processors (`std::arch`) and the modules of other systems than Linux are left out.
core and alloc have the same items under these names.

- **controlled**: it is replaced by intermezzo's own, with the same methods and implementations.
- **by other means**: it is std's own, and intermezzo controls or watches it in another way.
- **std's own**: it is std's own, and neither waits nor affects other threads, so there is nothing to control.
- **not controlled**: it is std's own, and intermezzo does not see its effects.

| names | class | reason |
|---|---|---|
";

/// The page's text between the beginning and the lists.
const HOW: &str = "
The page is generated from the documentation that comes with a toolchain (the component `rust-docs`):

```sh
cargo test -p cargo-intermezzo --test cli std_names
```

The command compares the page with the toolchain, or rewrites it if `UPDATE_DOCS=1` is set.
The compiler determines which names exist and which are controlled, in a crate with the overlays.
";

/// The names of modules, each with those in it. The name of a macro ends with an exclamation mark.
pub(super) type Names = BTreeMap<String, BTreeSet<String>>;

/// The names on the page.
pub(super) struct Page {
    /// The version of Rust.
    pub(super) version: String,
    /// The names of each module, with their classes.
    pub(super) classes: BTreeMap<String, BTreeMap<String, Class>>,
    /// The methods of the types that are controlled.
    pub(super) methods: Names,
    /// The implementations of these types.
    pub(super) implementations: Names,
}

/// The headings of the two parts after the modules.
const METHODS: &str = "## Methods of the controlled types";
const IMPLEMENTATIONS: &str = "## Implementations of the controlled types";

impl Page {
    /// Reads the page.
    pub(super) fn read() -> Page {
        let text = fs::read_to_string(path()).unwrap_or_else(|error| panic!("{PAGE}: {error}: {COMMAND}"));
        let (modules, rest) = text.split_once(METHODS).unwrap();
        let (methods, implementations) = rest.split_once(IMPLEMENTATIONS).unwrap();
        let version = modules.split_once("Rust ").unwrap().1;
        let mut classes: BTreeMap<String, BTreeMap<String, Class>> = BTreeMap::new();
        for section in modules.split("\n### ").skip(1) {
            let (module, lines) = section.split_once('\n').unwrap();
            let module = code(module).next().unwrap();
            let module = module.strip_prefix("std").unwrap().trim_start_matches("::");
            let names = classes.entry(module.to_owned()).or_default();
            for line in lines.lines().filter_map(|line| line.strip_prefix("- ")) {
                let (class, line) = line.split_once(": ").unwrap();
                let class = Class::ALL.into_iter().find(|each| each.name() == class).unwrap();
                names.extend(code(line).map(|name| (name.to_owned(), class)));
            }
        }
        let of_types = |part: &str| -> Names {
            let of_type = |line: &str| {
                let (name, rest) = line.strip_prefix("- `")?.split_once("`:")?;
                Some((name.to_owned(), code(rest).map(str::to_owned).collect()))
            };
            part.replace("\n  - ", "").lines().filter_map(of_type).collect()
        };
        Page {
            version: version
                .split(|c: char| c.is_whitespace() || c == ':')
                .next()
                .unwrap()
                .to_owned(),
            classes,
            methods: of_types(methods),
            implementations: of_types(implementations),
        }
    }

    /// Writes the page.
    pub(super) fn write(&self) {
        fs::write(path(), self.text()).unwrap();
    }

    /// Asserts that the page has the current text around its lists.
    pub(super) fn is_written_so(&self) {
        let text = fs::read_to_string(path()).unwrap();
        assert!(text == self.text(), "{PAGE} has another text: {COMMAND}");
    }

    /// Returns the text of the page.
    fn text(&self) -> String {
        let mut text = BEGINNING.to_owned();
        for (names, class, reason) in RULES.iter().filter(|(.., reason)| !reason.is_empty()) {
            text.push_str(&format!(
                "| {} | {} | {reason} |\n",
                quoted(names.iter().copied()),
                class.name()
            ));
        }
        text.push_str(HOW);
        let count = |class: Class| {
            let all = self.classes.values().flat_map(BTreeMap::values);
            all.filter(|each| **each == class).count()
        };
        let counts: Vec<String> = Class::ALL
            .iter()
            .map(|class| format!("{} {}", count(*class), class.name()))
            .collect();
        text.push_str(&format!("\n## Rust {}: {}\n", self.version, counts.join(", ")));
        for (module, names) in &self.classes {
            text.push_str(&format!(
                "\n### `{}`\n\n",
                joined("std", module).trim_end_matches(':')
            ));
            for class in Class::ALL {
                let those = || {
                    names
                        .iter()
                        .filter(|(_, each)| **each == class)
                        .map(|(name, _)| &**name)
                };
                if those().next().is_some() {
                    text.push_str(&format!("- {}: {}\n", class.name(), quoted(those())));
                }
            }
        }
        text.push_str(&format!("\n{METHODS}\n\n"));
        for (path, methods) in &self.methods {
            text.push_str(&format!(
                "- `{path}`: {}\n",
                quoted(methods.iter().map(|method| &**method))
            ));
        }
        text.push_str(&format!("\n{IMPLEMENTATIONS}\n\n"));
        for (path, all) in &self.implementations {
            let lines: String = all.iter().map(|line| format!("\n  - `{line}`")).collect();
            text.push_str(&format!("- `{path}`:{lines}\n"));
        }
        text
    }

    /// Returns the names of each module.
    pub(super) fn names(&self) -> Names {
        let of_module = |(module, names): (&String, &BTreeMap<String, Class>)| {
            (module.clone(), names.keys().cloned().collect())
        };
        self.classes.iter().map(of_module).collect()
    }

    /// Returns the paths of the names that are controlled.
    pub(super) fn controlled(&self) -> BTreeSet<String> {
        let of_module = |(module, names): (&String, &BTreeMap<String, Class>)| -> Vec<String> {
            let those = names.iter().filter(|(_, class)| **class == Controlled);
            those.map(|(name, _)| joined(module, name)).collect()
        };
        self.classes.iter().flat_map(of_module).collect()
    }
}

/// Returns these words as code, one after the other.
fn quoted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// Returns the pieces of code in a text.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE)
}
