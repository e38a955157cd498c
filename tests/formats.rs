//! The guide's page of formats is complete: it has every field of every type that is written to a file, in the section
//! of its format, and no type is missing. The page about passes has every limit.

use intermezzo::settings::Setting;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The sections of the page, and the files with the types of each format.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "The schedule file",
        &["engine/src/schedule/choice.rs", "engine/src/schedule/file.rs"],
    ),
    (
        "The report",
        &[
            "search/src/classic/maple/measured.rs",
            "engine/src/described.rs",
            "engine/src/environment.rs",
            "search/src/estimate.rs",
            "explorer/src/report.rs",
            "explorer/src/report/json.rs",
            "explorer/src/report/breakpoints.rs",
            "explorer/src/report/finding_detail.rs",
            "explorer/src/report/limits.rs",
            "explorer/src/report/share.rs",
            "explorer/src/report/orderings.rs",
            "explorer/src/report/turning.rs",
            "explorer/src/report/weak_memory.rs",
            "engine/src/schedule/mod.rs",
            "engine/src/strategy/coverage.rs",
            "engine/src/strategy/partition.rs",
            "engine/src/strategy/rank_bound.rs",
        ],
    ),
    ("The recording", &["explorer/src/report/recording.rs"]),
    (
        "The refinement report",
        &[
            "refinement/src/failure.rs",
            "refinement/src/failure/steps.rs",
            "refinement/src/failure/why.rs",
            "refinement/src/report.rs",
            "refinement/src/scenario.rs",
        ],
    ),
    (
        "Observations",
        &["refinement/src/observations/set.rs", "refinement/src/scenario.rs"],
    ),
    (
        "Histories",
        &[
            "refinement/src/history/formats/event.rs",
            "refinement/src/history/formats/json.rs",
            "refinement/src/history/formats/value.rs",
        ],
    ),
    ("Tests that cannot be run", &["explorer/src/settings/refusal.rs"]),
    ("Where settings came from", &["explorer/src/settings/layers.rs"]),
    (
        "Results of a comparison",
        &[
            "cli/src/tune/matrix.rs",
            "cli/src/tune/run.rs",
            "cli/src/tune/search.rs",
            "cli/src/tune/store.rs",
            "cli/src/tune/work.rs",
        ],
    ),
];

/// Types that only the same version reads: the contents of checkpoints and memos, and the answer of a plugin's trial.
const OWN: &[&str] = &[
    "explorer/src/retry.rs",
    "search/src/classic/maple/iroot.rs",
    "search/src/classic/maple/memo/",
    "explorer/src/driver/",
    // Maps and sets of a user, in formats of the user's own.
    "lookalikes/src/collections/",
    "explorer/src/plugin/",
    "engine/src/runtime/layout.rs",
    "engine/src/runtime/outcome.rs",
    "engine/src/runtime/scope.rs",
    "search/src/auto.rs",
    "search/src/caching.rs",
    "search/src/dpor/",
    "search/src/preemption.rs",
    "search/src/sampling/",
    "search/src/tree.rs",
    "engine/src/strategy/needs.rs",
    "engine/src/strategy/position.rs",
    "engine/src/trace/",
];

/// The sources of the output with `--json`, which the help of commands describes. The types of `tune` above are also
/// written to a file.
const PRINTED: &str = "cli/src/";

/// A type that is written as JSON, or read from it.
struct Type {
    name: String,
    fields: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the types of a source file that are written, with the JSON names of their fields.
fn types(text: &str) -> Vec<Type> {
    let mut types = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(derived) = line.strip_prefix("#[derive(") else {
            continue;
        };
        let derived = |name| {
            derived
                .trim_end_matches(")]")
                .split(", ")
                .any(|known| known.trim_start_matches("serde::") == name)
        };
        let mut is_whole = false;
        let mut head = "";
        for line in lines.by_ref() {
            is_whole |= line.contains("deny_unknown_fields");
            head = line;
            if !line.starts_with("#[") && !line.starts_with("///") {
                break;
            }
        }
        // A type that is only read counts if it allows no other fields.
        if !(derived("Serialize") || derived("Deserialize") && is_whole) {
            continue;
        }
        let words: Vec<&str> = head
            .split_whitespace()
            .filter(|word| !word.starts_with("pub"))
            .collect();
        let name = words.get(1).unwrap_or(&"").split('<').next().unwrap_or_default();
        let body = match head.ends_with('{') {
            true => lines.by_ref().take_while(|line| *line != "}").collect(),
            false => Vec::new(),
        };
        types.push(Type {
            name: name.to_owned(),
            fields: fields(&body),
        });
    }
    types
}

/// Returns the fields in the body of a type.
fn fields(body: &[&str]) -> Vec<String> {
    let mut fields = Vec::new();
    // The attributes of the next field.
    let mut attributes = String::new();
    for line in body.iter().map(|line| line.trim()) {
        let of_attribute =
            line.starts_with("#[") || !attributes.is_empty() && !attributes.trim_end().ends_with(")]");
        if of_attribute {
            attributes.push_str(line);
            continue;
        }
        let name = line.split("pub").last().and_then(|rest| {
            rest.trim_start_matches("(crate)")
                .trim_start_matches("(super)")
                .trim()
                .split_once(':')
        });
        let Some((name, _)) = name.filter(|(name, _)| is_name(name) && !line.starts_with("//")) else {
            continue;
        };
        let renamed = attributes
            .split_once("rename = \"")
            .and_then(|(_, rest)| rest.split('"').next());
        let hidden =
            attributes.contains("serde(skip)") || attributes.contains("flatten") || name == "_format";
        if !hidden {
            fields.push(renamed.unwrap_or(name).trim_start_matches('_').to_owned());
        }
        attributes.clear();
    }
    fields
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the fields that are written by hand: `serialize_entry("kind", ..)`.
fn by_hand(text: &str) -> Vec<String> {
    let rests = text.split("serialize_entry(\"").skip(1);
    rests
        .filter_map(|rest| rest.split('"').next())
        .map(str::to_owned)
        .collect()
}

/// Returns every source file of a folder that has such types, as a path from the root.
fn sources(folder: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            all.extend(sources(&path));
        } else if path.ends_with(".rs") && !types(&fs::read_to_string(entry.path()).unwrap()).is_empty() {
            all.insert(path);
        }
    }
    all
}

/// Returns the words in code of a section.
fn words<'p>(page: &'p str, section: &str) -> BTreeSet<&'p str> {
    let (_, rest) = page.split_once(&format!("\n## {section}\n")).expect(section);
    let section = rest.split("\n## ").next().unwrap_or(rest);
    let code = section.split('`').skip(1).step_by(2);
    code.flat_map(|code| code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
        .collect()
}

#[test]
fn every_field_is_on_the_page() {
    let page = fs::read_to_string(root().join("docs/guide/src/formats.md")).unwrap();
    let mut missing = Vec::new();
    let mut looked_at = 0;
    for (section, files) in SECTIONS {
        let words = words(&page, section);
        for file in *files {
            let text = fs::read_to_string(root().join(file)).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let mut types = types(text);
            types.push(Type {
                name: "what is written by hand".into(),
                fields: by_hand(text),
            });
            for Type { name, fields } in types {
                looked_at += fields.len();
                let unknown = fields.iter().filter(|field| !words.contains(field.as_str()));
                missing.extend(unknown.map(|field| format!("{section}: {field}, of {name} in {file}")));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "docs/guide/src/formats.md does not say:\n{}",
        missing.join("\n")
    );
    assert!(looked_at > 150, "{looked_at} fields");
}

#[test]
fn every_format_and_every_type_is_known() {
    let page = fs::read_to_string(root().join("docs/guide/src/formats.md")).unwrap();
    for folder in [
        "engine/src",
        "lookalikes/src",
        "search/src",
        "explorer/src",
        "refinement/src",
        "cli/src",
    ] {
        for file in sources(folder) {
            let of_section = SECTIONS.iter().any(|(_, files)| files.contains(&file.as_str()));
            let own = OWN.iter().any(|own| file.starts_with(own));
            assert!(
                of_section || own || file.starts_with(PRINTED),
                "{file} has types that are written: name it in a section of this test, and what is in them in that section of the page"
            );
            let text = fs::read_to_string(root().join(&file)).unwrap();
            for rest in text.split("\"intermezzo-").skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                let is_version = name
                    .split_once('/')
                    .is_some_and(|(_, version)| version.parse::<u32>().is_ok());
                assert!(
                    !is_version || page.contains(&format!("`intermezzo-{name}`")),
                    "docs/guide/src/formats.md does not know the format intermezzo-{name} of {file}"
                );
            }
        }
    }
}

/// Source files with names that reports contain as values: kinds of findings, and finders. The names of settings are known,
/// too.
const NAMES: &[&str] = &[
    "engine/src/runtime/listen/mod.rs",
    "explorer/src/report/found_by.rs",
    "sdk/src/finding.rs",
];

/// Returns the words in code of a section's tables: those of the first column, which names fields, and the others.
fn told<'p>(page: &'p str, section: &str) -> [BTreeSet<&'p str>; 2] {
    let (_, rest) = page.split_once(&format!("\n## {section}\n")).expect(section);
    let section = rest.split("\n## ").next().unwrap_or(rest);
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_matches('|').split_once(" | "));
    // A heading names the format.
    let cells = cells.filter(|(name, _)| !name.contains("intermezzo-"));
    let (mut names, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (first, second) in cells {
        for (all, cell) in [(&mut names, first), (&mut others, second)] {
            let code = cell.split('`').skip(1).step_by(2);
            let code = code.filter(|code| !["true", "intermezzo.toml"].contains(code));
            all.extend(code.flat_map(|code| code.split('.')).filter(|word| is_name(word)));
        }
    }
    [names, others]
}

/// Returns a word as the name of a variant.
fn camel(word: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    word.split('_')
        .filter(|part| !part.is_empty())
        .map(capital)
        .collect()
}

/// The page names only things that exist. The first column of a table has fields of its section. All other code in a
/// table is a field, a variant or a text.
#[test]
fn names_on_the_page_exist() {
    let page = fs::read_to_string(root().join("docs/guide/src/formats.md")).unwrap();
    let mut wrong = Vec::new();
    for (section, files) in SECTIONS {
        let text = |file: &&str| fs::read_to_string(root().join(file)).unwrap();
        let named: String = files.iter().chain(NAMES).map(text).collect();
        let text: String = files.iter().map(text).collect();
        let mut fields: BTreeSet<String> = types(&text).into_iter().flat_map(|of| of.fields).collect();
        fields.extend(by_hand(&text));
        fields.insert("format".into());
        let [names, others] = told(&page, section);
        let is_known = |word: &str| {
            let variant = format!(" {}", camel(word));
            let is_variant = |rest: &str| rest.starts_with([',', '(']) || rest.starts_with(" {");
            let mut variants = named
                .match_indices(&variant)
                .map(|(at, _)| &named[at + variant.len()..]);
            fields.contains(word)
                || Setting::named(word).is_some()
                || named.contains(&format!("\"{word}\""))
                || variants.any(is_variant)
        };
        let unknown = names.iter().filter(|name| !fields.contains(**name));
        wrong.extend(unknown.map(|name| format!("{section}: there is no field `{name}`")));
        let unknown = others.iter().filter(|word| !is_known(word));
        wrong.extend(unknown.map(|word| format!("{section}: nothing is called `{word}`")));
    }
    assert!(
        wrong.is_empty(),
        "docs/guide/src/formats.md:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_page_about_passes_has_every_limit() {
    let source = fs::read_to_string(root().join("explorer/src/report/limits.rs")).unwrap();
    let (_, variants) = source.split_once("pub enum Limit {").unwrap();
    let (variants, _) = variants.split_once("\n}").unwrap();
    let variants = variants
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    let name = |variant: &str| {
        let letters = variant.chars().take_while(char::is_ascii_alphanumeric);
        letters.fold(String::new(), |mut name, letter| {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
            name
        })
    };
    let page = fs::read_to_string(root().join("docs/guide/src/pass.md")).unwrap();
    let limits: Vec<String> = variants.map(name).collect();
    assert!(limits.len() > 15, "{limits:?}");
    for limit in limits {
        let is_listed = |line: &str| line.starts_with("| `") && line.contains(&format!("`{limit}`"));
        assert!(page.lines().any(is_listed), "{limit}");
    }
}
