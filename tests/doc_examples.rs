//! The documentation of the most used public items has an example that imports what a user imports: `intermezzo`,
//! and no crate behind it. The examples are compiled and run as documentation tests.

use std::fs;
use std::path::Path;

/// The items, by the files that document them.
const ITEMS: &[(&str, &[&str])] = &[
    (
        "explorer/src/explore.rs",
        &[
            "struct Explorer",
            "fn explore<",
            "fn try_explore<",
            "fn strategy(",
            "fn reduction(",
            "fn seed(",
            "fn replay(",
            "fn sources(",
            "fn program(",
            "fn record(",
            "fn set(",
        ],
    ),
    (
        "explorer/src/explore/limits.rs",
        &[
            "fn preemptions(",
            "fn jobs(",
            "fn steps_per_execution(",
            "fn time(",
            "fn keep_going(",
            "fn should_panic(",
        ],
    ),
    (
        "explorer/src/report.rs",
        &[
            "struct Report",
            "fn verdict(",
            "fn coverage(",
            "fn findings(",
            "fn limits(",
            "fn name_of<",
        ],
    ),
    ("explorer/src/report/json.rs", &["fn to_json("]),
    ("explorer/src/report/text/mod.rs", &["fn text("]),
    ("explorer/src/report/text/style.rs", &["struct TextStyle"]),
    ("explorer/src/report/found_by.rs", &["enum FoundBy"]),
    ("explorer/src/report/expected.rs", &["enum Expected"]),
    ("explorer/src/report/finding_detail.rs", &["enum FindingDetail"]),
    ("explorer/src/plugin/mod.rs", &["struct Plugin"]),
    (
        "lookalikes/src/lib.rs",
        &["fn choose(", "fn any_bool(", "fn is_exploring("],
    ),
    ("lookalikes/src/block.rs", &["fn atomically<"]),
    ("lookalikes/src/preemption.rs", &["fn preemptions_off<"]),
    ("lookalikes/src/cell.rs", &["trait ByPointer<"]),
    ("lookalikes/src/thread/scope.rs", &["fn scope<"]),
    ("sdk/src/context.rs", &["fn is_held_by_static("]),
    ("sdk/src/monitor.rs", &["trait Monitor"]),
    (
        "refinement/src/refine.rs",
        &["fn refine<", "struct Refinement<", "fn spec<", "fn run("],
    ),
];

/// Returns the documentation above the public item with this declaration.
fn documentation(text: &str, item: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let declared = format!("pub {item}");
    let at = lines.iter().position(|line| line.starts_with(&declared))?;
    let above = lines[..at].iter().rev();
    let above = above.take_while(|line| line.starts_with("///") || line.starts_with("#["));
    let mut above: Vec<&str> = above.copied().collect();
    above.reverse();
    Some(above.join("\n"))
}

#[test]
fn the_most_used_items_have_examples_that_users_can_copy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for (file, items) in ITEMS {
        let text = fs::read_to_string(root.join(file)).unwrap();
        for item in *items {
            let Some(documented) = documentation(&text, item) else {
                wrong.push(format!("{file}: there is no `pub {item}`"));
                continue;
            };
            // Hidden lines rename the crate behind the facade, so that it looks like the facade.
            let shown: Vec<&str> = documented
                .lines()
                .filter(|line| !line.starts_with("/// # "))
                .collect();
            let has = |text: &str| shown.iter().any(|line| line.contains(text));
            if !has("```") || !has("use intermezzo::") {
                wrong.push(format!(
                    "{file}: `{item}` has no example that imports `intermezzo`"
                ));
            }
            if has("use intermezzo_") {
                wrong.push(format!("{file}: the example of `{item}` imports another crate"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(ITEMS.iter().map(|(_, items)| items.len()).sum::<usize>() >= 40);
}
