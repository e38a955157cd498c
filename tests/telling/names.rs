//! The names of variables in failures of the corpus.

use intermezzo::Finding;
use intermezzo::report::names::in_text;
use intermezzo_corpus::{Expected, programs};
use std::collections::BTreeSet;

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
                if !finding.names.contains_key(var) {
                    nameless.push(format!("{}: {var}", program.name));
                }
            }
        }
    }
    assert!(all > 200, "{all}");
    assert!(headlines > 20, "{headlines} lines name a variable");
    assert!(
        20 * nameless.len() <= all,
        "{} of {all}: {nameless:#?}",
        nameless.len()
    );
}
