//! The arguments of the harness, parsed as std's own harness does.

use libtest_mimic::{Arguments, Trial};

/// Returns the arguments of the harness. `libtest_mimic` accepts one filter, and std's harness any number: if there are
/// several, each test that matches none of them is skipped by its full name.
pub(crate) fn of(tests: &[Trial]) -> Arguments {
    let (mut arguments, filters) = given();
    if !filters.is_empty() {
        let exact = arguments.exact;
        let any_is_in = |all: &[String], name: &str| {
            let is_in = |one: &String| if exact { name == one } else { name.contains(one) };
            all.iter().any(is_in)
        };
        let names = tests.iter().map(Trial::name);
        let skipped = names.filter(|name| !any_is_in(&filters, name) || any_is_in(&arguments.skip, name));
        (arguments.skip, arguments.exact) = (skipped.map(str::to_owned).collect(), true);
    }
    arguments
}

/// Returns the arguments that `libtest_mimic` accepts, and the filters if there are several. A single filter stays among
/// the arguments.
pub(crate) fn given() -> (Arguments, Vec<String>) {
    const WITH_VALUES: [&str; 6] = ["--test-threads", "--logfile", "--skip", "--color", "--format", "-Z"];
    let mut all = std::env::args();
    let (mut others, mut filters) = (Vec::from_iter(all.next()), Vec::new());
    while let Some(one) = all.next() {
        match &*one {
            "--no-capture" => others.push("--nocapture".into()),
            flag if WITH_VALUES.contains(&flag) => others.extend([one].into_iter().chain(all.next())),
            flag if flag.starts_with('-') => others.push(one),
            _ => filters.push(one),
        }
    }
    if filters.len() == 1 {
        others.append(&mut filters);
    }
    (Arguments::from_iter(others), filters)
}
