//! What is refused, and what is said then.

use crate::run;

#[test]
fn help() {
    let commands: [&[&str]; 6] = [
        &[],
        &["test"],
        &["replay"],
        &["corpus"],
        &["corpus", "list"],
        &["corpus", "run"],
    ];
    let texts = commands.map(|command| run(&[command, &["-h"]].concat()).ends_with(0).stdout);
    insta::assert_snapshot!(texts.join("\n----------------------------------------\n\n"));
}

#[test]
fn every_command_is_explained_at_length() {
    for command in [
        &["test"][..],
        &["replay"],
        &["corpus", "list"],
        &["corpus", "run"],
    ] {
        assert!(
            run(&[command, &["--help"]].concat())
                .ends_with(0)
                .stdout
                .contains("--json")
        );
    }
}

#[test]
fn wrong_flags_are_refused() {
    run(&[]).refused(&["Usage: cargo intermezzo <COMMAND>"]);
    run(&["corpse"]).refused(&["corpse", "corpus"]);
    run(&["corpus", "run", "counter", "--premptions", "2"]).refused(&["--premptions", "'--preemptions'"]);
    run(&["corpus", "run", "counter", "--preemptions", "two"])
        .refused(&["--preemptions", "`two` is no number"]);
    run(&["corpus", "run", "counter", "--preemptions", "-1"])
        .refused(&["--preemptions", "`-1` is no number"]);
    run(&["corpus", "run", "counter", "--time", "soon", "--json"]).refused(&["--time", "give seconds"]);
    run(&["corpus", "run", "counter", "--strategy", "bfs"]).refused(&["--strategy", "`dfs` or `random`"]);
    run(&["corpus", "run", "--set", "tasks=2"]).refused(&["<NAME>"]);
    run(&["test", "push", "--seed", "5"]).refused(&["--seed", "before cargo's own arguments"]);
    run(&["replay"]).refused(&["<SCHEDULE>"]);
}

#[test]
fn unknown_programs_are_refused() {
    for name in ["conter", "Counter", "counters"] {
        run(&["corpus", "run", name]).refused(&[name, "did you mean `counter`", "corpus list"]);
    }
    run(&["corpus", "run", "zebra", "--json"]).refused(&["there is no program \"zebra\": `cargo"]);
    run(&["corpus", "run", ""]).refused(&["there is no program \"\""]);
}

#[test]
fn wrong_parameters_are_refused() {
    for (set, says) in [
        (
            "task=2",
            "counter has no parameter `task`: it has tasks, increments",
        ),
        ("tasks", "write name=value"),
        ("tasks=0", "tasks=0: give a number from 1 to 300"),
        ("tasks=301", "from 1 to 300"),
        ("tasks=many", "from 1 to 300"),
        ("tasks=", "from 1 to 300"),
    ] {
        run(&["corpus", "run", "counter", "--set", set]).refused(&["--set", says]);
    }
}
