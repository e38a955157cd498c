//! `test --baseline`: findings that are known, new, or gone.

use crate::{Ran, throw_away};
use std::fs;
use std::path::Path;

/// Checks the whole life of a baseline in a project with one failing test; its `[command]` names the file, too.
pub(crate) fn known_findings_pass(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let (library, file) = (project.join("src/lib.rs"), project.join("known.toml"));
    let source = fs::read_to_string(&library).unwrap();
    let flags = ["test", "--lib", "--baseline", "known.toml"];
    let update = [&flags[..], &["--update-baseline"]].concat();

    run(&flags).refused(&["known.toml", "--update-baseline"]);
    run(&["test", "--lib", "--update-baseline"]).refused(&["--baseline FILE"]);
    run(&["test", "--lib"]).ends_with(1);
    let ran = run(&update).ends_with(0);
    assert!(
        ran.stderr.contains("wrote known.toml (1 known finding)"),
        "{}",
        ran.stderr
    );
    let written = fs::read_to_string(&file).unwrap();
    let line = written.lines().find(|line| line.starts_with("  {")).unwrap();
    assert!(
        line.starts_with(
            "  { test = \"throw_away::tests::an_update_is_lost\", in = \"throw-away lib\", kind = \"assertion\", \
             at = [\"src/lib.rs: assert_eq!(n.load(SeqCst), 2);\"] },"
        ),
        "{written}"
    );
    run(&update).ends_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), written);

    // Added lines above the code do not matter.
    throw_away::write(&library, &format!("// A line.\n// Another.\n{source}"));
    throw_away::write(
        &project.join("intermezzo.toml"),
        "[command]\nbaseline = \"known.toml\"\n",
    );
    let ran = run(&["test", "--lib"]).ends_with(0);
    for says in [
        "test tests::an_update_is_lost ... ok\n",
        "\nknown         throw_away::tests::an_update_is_lost  5 executions  ",
        "\n2 explored tests: 1 passed, 0 failed, 0 inconclusive, 1 with known findings\n",
    ] {
        assert!(ran.stdout.contains(says), "{says}\n{}", ran.stdout);
    }
    let json = run(&["test", "--lib", "--json"]).ends_with(0).json();
    assert_eq!(json["baseline"]["known"][0]["kind"], "assertion");
    assert_eq!(
        (&json["baseline"]["gone"], &json["verdict"]),
        (&serde_json::json!([]), &"pass".into())
    );
    run(&["test", "--lib", "--baseline", "none"]).ends_with(1);

    // The failure of a test that is not explored is not known, nor is another finding of the same test.
    throw_away::write(&library, &source.replace("2 * n", "2 * n + 1"));
    for arguments in [&["test", "--lib"][..], &["test", "--lib", "--update-baseline"]] {
        let ran = run(arguments).ends_with(1);
        assert!(
            ran.stderr.contains("though no explored test did"),
            "{}",
            ran.stderr
        );
    }
    let other = "assert!(n.load(SeqCst) == 2);";
    throw_away::write(&library, &source.replace("assert_eq!(n.load(SeqCst), 2);", other));
    let ran = run(&["test", "--lib"]).ends_with(1);
    assert!(
        ran.stdout
            .contains("\nfail          throw_away::tests::an_update"),
        "{}",
        ran.stdout
    );

    // The bug is fixed. A run of another test does not show that.
    throw_away::write(
        &library,
        &source.replace(
            "n.store(n.load(SeqCst) + 1, SeqCst)",
            "{ n.fetch_add(1, SeqCst); }",
        ),
    );
    let gone = "not found any more: assertion in throw_away::tests::an_update_is_lost (throw-away lib) at src/lib.rs: ";
    let words = |ran: Ran| ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = words(run(&["test", "--lib"]).ends_with(0));
    assert!(told.contains(gone), "{told}");
    let told = words(run(&["test", "--lib", "no_update"]).ends_with(0));
    assert!(!told.contains("any more"), "{told}");
    run(&["test", "--lib", "no_update", "--update-baseline"]).ends_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    run(&["test", "--lib", "--update-baseline"]).ends_with(0);
    assert!(fs::read_to_string(&file).unwrap().ends_with("known = [\n]\n"));

    throw_away::write(&file, &written.replace("kind =", "kimd ="));
    run(&["test", "--lib"]).refused(&["known.toml:", "did you mean `kind`"]);
    throw_away::write(&file, &written.replace("/1", "/9"));
    run(&["test", "--lib"]).refused(&["known.toml:3:10", "--update-baseline"]);
    throw_away::write(
        &project.join("intermezzo.toml"),
        "[command]\nbasline = \"known.toml\"\n",
    );
    run(&["test", "--lib"]).refused(&["intermezzo.toml:2:1", "did you mean `baseline`"]);
    fs::remove_file(project.join("intermezzo.toml")).unwrap();
    fs::remove_file(&file).unwrap();
    throw_away::write(&library, &source);
}
