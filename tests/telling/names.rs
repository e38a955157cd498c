//! The names of variables in failures of the corpus. They are in a snapshot, which was compared with the sources by hand.

use intermezzo::Finding;
use intermezzo::report::names::in_text;
use intermezzo_corpus::{Expected, programs};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the variables of a finding's execution, without tasks and the clock.
fn variables(finding: &Finding) -> BTreeSet<&str> {
    let vars = finding.events.iter().map(|event| event.var.as_str());
    vars.filter(|var| {
        var.rsplit_once(' ')
            .is_some_and(|(_, number)| number.contains('.'))
    })
    .filter(|var| !var.starts_with("task "))
    .collect()
}

#[test]
fn nearly_all_variables_of_the_corpus_have_names() {
    let (mut all, mut nameless) = (0, Vec::new());
    let mut headlines = 0;
    let mut told: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for program in programs()
        .iter()
        .filter(|program| program.expected != Expected::Pass)
    {
        let arguments = program.arguments::<&str>(&[]).unwrap();
        let explorer = program.explorer(program.settings(), &arguments);
        let report = explorer.explore(program.test(&arguments));
        for finding in report.findings() {
            // The text begins with the lines of the first finding, in which no variable with a name has its identity.
            for line in finding.lines() {
                assert_eq!(line, in_text(&line, &finding.names), "{}", program.name);
                let named = |name: &String| line.contains(&format!("`{name}`"));
                headlines += u32::from(finding.names.values().any(named));
            }
            for var in variables(finding) {
                all += 1;
                match finding.names.get(var) {
                    Some(name) => _ = told.entry(program.name).or_default().insert(name.clone()),
                    None => nameless.push(format!("{}: {var}", program.name)),
                }
            }
        }
    }
    assert!(all > 200, "{all}");
    assert!(headlines > 20, "{headlines} lines name a variable");
    let told = told.into_iter().map(|(program, names)| {
        let names: Vec<String> = names.into_iter().collect();
        format!("{program}: {}", names.join(", "))
    });
    let mut rows: Vec<String> = told.collect();
    rows.push(format!(
        "\n{} of {all} have no name: {nameless:?}",
        nameless.len()
    ));
    insta::assert_snapshot!("names_of_the_corpus", rows.join("\n"));
    assert!(
        20 * nameless.len() <= all,
        "{} of {all}: {nameless:#?}",
        nameless.len()
    );
}
