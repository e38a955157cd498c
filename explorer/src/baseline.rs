//! Baselines: files with findings that are known, so that only other ones fail a run.
//!
//! A line of the file is a finding, and the lines are sorted, so that git merges changes of different findings. A place is
//! a file with the text of the line, because numbers of lines change with every edit above them.
//!
//! ```toml
//! format = "intermezzo-baseline/1"
//! known = [
//!   { test = "my_queue::transfer", in = "my-queue lib", kind = "deadlock", at = ["src/lib.rs: journal.lock();"] },
//! ]
//! ```
//!
//! Misses: two findings of one test, of one kind and with the same lines of source count as one.

use crate::report::source::{Search, Sources, parts};
use crate::report::{FindingDetail, NamedPlace, Report};
use crate::schedule::TestBinary;
use crate::settings::{ConfigError, toml_text};
use intermezzo_sdk::FindingKind;
use std::collections::BTreeSet;
use std::path::Path;

#[cfg(feature = "config-files")]
mod text;

/// Refuses the text: without the feature no file is read.
#[cfg(not(feature = "config-files"))]
mod text {
    use super::{Baseline, ConfigError, Path, toml_text};

    pub(super) fn parse(path: &Path, _text: &str) -> Result<Baseline, ConfigError> {
        Err(toml_text::refusal(path))
    }
}

/// The name and version of the format.
const FORMAT: &str = "intermezzo-baseline/1";

/// The environment variable by which the command names the file to the tests.
pub const VARIABLE: &str = "INTERMEZZO_BASELINE";

/// The environment variable of a run whose findings are written to the file. A test passes whatever its findings are,
/// so the run fails only for another reason.
pub const UPDATE_VARIABLE: &str = "INTERMEZZO_BASELINE_UPDATE";

/// Returns `true` if all findings of this process are to be listed, and so are known.
pub fn is_updated() -> bool {
    std::env::var_os(UPDATE_VARIABLE).is_some()
}

const HEAD: &str = "\
# Findings that are known, and let their tests pass: `cargo intermezzo test --baseline FILE --update-baseline` writes
# this file.
";

/// A finding as a baseline lists it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownFinding {
    /// The path of the test.
    pub test: String,
    /// The package and the target of the test; empty if they are not known.
    pub binary: String,
    /// The kind of the finding.
    pub kind: String,
    /// The lines of source that the finding names, each as `file: text`.
    pub at: BTreeSet<String>,
}

impl KnownFinding {
    /// Describes a finding of a test, from its kind, what it says, and the places that it names.
    pub fn new(
        (test, binary): (&str, &TestBinary),
        (kind, detail, places): (&str, Option<&FindingDetail>, &[NamedPlace]),
        search: &Search,
    ) -> KnownFinding {
        let mut sources = Sources::new(search.clone());
        // All failures that the `main` of a program returns are at one place.
        let failure = match detail {
            Some(FindingDetail::Message { text }) if kind == FindingKind::Panic.as_str() => {
                Some(without_place(text))
            }
            _ => None,
        };
        KnownFinding {
            test: test.to_owned(),
            binary: of_binary(binary),
            kind: kind.to_owned(),
            at: sites(detail, places)
                .iter()
                .filter_map(|site| place(site, &mut sources))
                .chain(failure.map(str::to_owned))
                .collect(),
        }
    }

    /// Returns the errors of a report.
    pub fn of_report(report: &Report, search: &Search) -> Vec<KnownFinding> {
        let errors = report.findings().iter().filter(|finding| finding.is_error());
        errors
            .map(|finding| {
                let found = (
                    &*finding.kind.as_str(),
                    Some(&finding.detail),
                    &finding.places[..],
                );
                KnownFinding::new((report.program(), report.binary()), found, search)
            })
            .collect()
    }

    /// Returns `true` if it is of this test.
    pub fn is_of(&self, test: &str, binary: &TestBinary) -> bool {
        self.test == test && self.binary == of_binary(binary)
    }

    fn line(&self) -> String {
        let KnownFinding {
            test,
            binary,
            kind,
            at,
        } = self;
        let at: Vec<String> = at.iter().map(|place| quoted(place)).collect();
        let within = match &**binary {
            "" => String::new(),
            binary => format!("in = {}, ", quoted(binary)),
        };
        format!(
            "  {{ test = {}, {within}kind = {}, at = [{}] }},\n",
            quoted(test),
            quoted(kind),
            at.join(", ")
        )
    }
}

/// Returns what the failure of a program says besides its place: all failures that `main` returns are at one.
fn without_place(text: &str) -> &str {
    let Some((before, after)) = text.split_once(", at ") else {
        return text;
    };
    after.split_once(", ").map_or(before, |(_, rest)| rest)
}

/// Returns the places that a finding is about: those of its detail, and those that it names at which a breakpoint can be
/// set.
fn sites<'f>(detail: Option<&'f FindingDetail>, places: &'f [NamedPlace]) -> Vec<&'f str> {
    let mut sites = detail.map_or_else(Vec::new, FindingDetail::sites);
    sites.extend(places.iter().map(|place| place.site.as_str()));
    sites
}

/// Returns the package and the target, which do not depend on whether code is explored unmodified.
fn of_binary(binary: &TestBinary) -> String {
    let words = format!("{} {}", binary.package, binary.cargo_target());
    words.trim().to_owned()
}

/// Returns a site as `file: text of the line`, or as the file alone if the line is not found. Returns `None` if it
/// is no place in a source file.
fn place(site: &str, sources: &mut Sources) -> Option<String> {
    let (file, ..) = parts(site).filter(|(file, ..)| file.ends_with(".rs"))?;
    let text = sources.line(site).map(|(line, _)| line.trim().to_owned());
    let file = anywhere(file);
    Some(match text {
        Some(text) => format!("{file}: {text}"),
        None => file,
    })
}

/// Returns the name of a file without the parts that differ between machines.
fn anywhere(file: &str) -> String {
    let file = file.replace('\\', "/");
    // Cargo keeps `registry/src/INDEX/PACKAGE-VERSION/..`, and the standard library is `rustc/HASH/library/..`.
    if let Some((_, rest)) = file.split_once("/registry/src/") {
        return rest.split_once('/').map_or(rest, |(_, file)| file).to_owned();
    }
    if let Some((_, rest)) = file.split_once("/library/")
        && (file.starts_with("/rustc/") || file.contains("/rustlib/"))
    {
        return format!("library/{rest}");
    }
    file
}

/// Returns a text in quotation marks, as TOML has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// The findings that a project knows of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The findings.
    pub known: BTreeSet<KnownFinding>,
}

impl Baseline {
    /// Reads this file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a baseline.
    pub fn read(path: &Path) -> Result<Baseline, ConfigError> {
        toml_text::open(path, Baseline::parse)
    }

    /// Returns the baseline of this process, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, or is not a baseline.
    pub fn of_process() -> Result<Option<Baseline>, ConfigError> {
        let path = std::env::var_os(VARIABLE);
        path.map(|path| Baseline::read(path.as_ref())).transpose()
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// If it is not a baseline. The error names the place, and what to do.
    pub fn parse(path: &Path, text: &str) -> Result<Baseline, ConfigError> {
        text::parse(path, text)
    }

    /// Returns the file's text: the same for the same findings.
    pub fn to_text(&self) -> String {
        let lines: String = self.known.iter().map(KnownFinding::line).collect();
        format!("{HEAD}format = {FORMAT:?}\nknown = [\n{lines}]\n")
    }

    /// Returns `true` if there are findings, and all are known.
    pub fn has_all(&self, findings: &[KnownFinding]) -> bool {
        !findings.is_empty() && findings.iter().all(|finding| self.known.contains(finding))
    }
}

#[cfg(all(test, feature = "config-files"))]
mod tests {
    use super::*;
    use crate::report::TaskPanic;

    fn parse(text: &str) -> Result<Baseline, ConfigError> {
        Baseline::parse(Path::new("known.toml"), text)
    }

    fn known(test: &str, at: &[&str]) -> KnownFinding {
        KnownFinding {
            test: test.into(),
            binary: "a-package lib".into(),
            kind: "data_race".into(),
            at: at.iter().map(|&place| place.to_owned()).collect(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let strange = "a\"b\\c\td\u{1}é\u{7f}";
        let all = [
            known("z::last", &[]),
            known("a::first", &["src/b.rs: y", "src/a.rs: x"]),
            known(strange, &[strange]),
            KnownFinding {
                binary: String::new(),
                ..known("a::first", &[])
            },
        ];
        let baseline = Baseline {
            known: all.into_iter().collect(),
        };
        let text = baseline.to_text();
        assert_eq!(parse(&text).unwrap(), baseline);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  {")).collect();
        assert_eq!(lines.len(), 4, "one line each");
        assert_eq!(
            lines[2],
            "  { test = \"a::first\", in = \"a-package lib\", kind = \"data_race\", at = [\"src/a.rs: x\", \"src/b.rs: y\"] },"
        );
        assert_eq!(
            parse(&Baseline::default().to_text()).unwrap(),
            Baseline::default()
        );
    }

    #[test]
    fn errors_name_the_place_and_what_to_do() {
        let head = "format = \"intermezzo-baseline/1\"\n";
        for (text, place, words) in [
            ("", (1, 1), "this is not a baseline"),
            ("format = \"intermezzo-baseline/2\"", (1, 10), "--update-baseline"),
            ("<<<<<<< HEAD\n", (1, 9), "--update-baseline"),
            (&format!("{head}knwon = []"), (2, 1), "did you mean `known`"),
            (&format!("{head}known = 1"), (2, 9), "a list of findings"),
            (&format!("{head}known = [\n 1]"), (3, 2), "{ test ="),
            (
                &format!("{head}known = [\n {{ tset = \"a\" }}]"),
                (3, 4),
                "did you mean `test`",
            ),
            (
                &format!("{head}known = [\n {{ kind = \"a\" }}]"),
                (3, 2),
                "without its `test`",
            ),
            (
                &format!("{head}known = [\n {{ test = \"a\" }}]"),
                (3, 2),
                "without its `kind`",
            ),
            (
                &format!("{head}known = [{{ test = 1 }}]"),
                (2, 19),
                "`test` is a text",
            ),
            (
                &format!("{head}known = [{{ at = [1] }}]"),
                (2, 18),
                "a place is a text",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.place, Some(place), "{error}");
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.to_string().starts_with("known.toml:"), "{error}");
        }
    }

    /// The words of a panic are the user's.
    #[test]
    fn the_places_of_a_finding_are_not_those_that_a_panic_speaks_of() {
        let detail = FindingDetail::Panic {
            panics: vec![TaskPanic {
                task: "main".into(),
                message: "see src/other.rs:7:8".into(),
                place: Some("src/x.rs:1:2".into()),
                unwinding: false,
            }],
            waiting: Vec::new(),
        };
        assert_eq!(sites(Some(&detail), &[]), ["src/x.rs:1:2"]);
    }

    #[test]
    fn places_do_not_depend_on_lines_and_machines() {
        let directory = std::env::temp_dir().join(format!("intermezzo-baseline-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let at = |line: usize| {
            let text = format!("{}    let a = b.lock();\n", "\n".repeat(line - 1));
            std::fs::write(directory.join("x.rs"), text).unwrap();
            let message =
                format!("no task can continue: main waits to lock mutex 0.1 at x.rs:{line}:13; at 12:30:45");
            let search = Search::Root(directory.clone());
            let detail = FindingDetail::Message { text: message };
            KnownFinding::new(
                ("a::b", &TestBinary::default()),
                ("deadlock", Some(&detail), &[]),
                &search,
            )
        };
        assert_eq!(at(1).at, BTreeSet::from(["x.rs: let a = b.lock();".to_owned()]));
        assert_eq!(at(1), at(7));
        std::fs::remove_dir_all(&directory).unwrap();
        for (file, shown) in [
            ("/cargo/registry/src/index-1/a-1.0.0/src/b.rs", "a-1.0.0/src/b.rs"),
            ("/rustc/0123/library/std/src/a.rs", "library/std/src/a.rs"),
            ("src\\a.rs", "src/a.rs"),
            ("member/library/a.rs", "member/library/a.rs"),
        ] {
            assert_eq!(anywhere(file), shown);
        }
    }
}
