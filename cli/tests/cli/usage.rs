//! Refused command lines and their messages.

use crate::{Ran, command, run};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;

#[test]
fn help() {
    let commands: [&[&str]; 25] = [
        &[],
        &["test"],
        &["run"],
        &["worker"],
        &["pool"],
        &["pool", "status"],
        &["replay"],
        &["config"],
        &["tune"],
        &["corpus"],
        &["corpus", "list"],
        &["corpus", "run"],
        &["breakpoints"],
        &["breakpoints", "corpus"],
        &["breakpoints", "tests"],
        &["history"],
        &["history", "check"],
        &["memo"],
        &["memo", "show"],
        &["memo", "merge"],
        &["memo", "forget"],
        &["monitor"],
        &["monitor", "list"],
        &["monitor", "new"],
        &["monitor", "check"],
    ];
    let texts = commands.map(|command| run(&[command, &["-h"]].concat()).ends_with(0).stdout);
    insta::assert_snapshot!(texts.join("\n----------------------------------------\n\n"));
}

#[test]
fn every_command_is_explained_at_length() {
    for command in [
        &["test"][..],
        &["run"],
        &["replay"],
        &["config"],
        &["tune"],
        &["corpus", "list"],
        &["corpus", "run"],
        &["breakpoints", "corpus"],
        &["history", "check"],
        &["memo", "show"],
        &["monitor", "list"],
        &["monitor", "new"],
        &["monitor", "check"],
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
        .refused(&["--preemptions", "`two` is not a number"]);
    run(&["corpus", "run", "counter", "--preemptions", "-1"])
        .refused(&["--preemptions", "`-1` is not a number"]);
    run(&["corpus", "run", "counter", "--time", "soon", "--json"]).refused(&["--time", "give seconds"]);
    run(&["corpus", "run", "counter", "--strategy", "bfs"]).refused(&[
        "--strategy",
        "did you mean `dfs`? There is `auto`, `dfs`, `random`, `pct(DEPTH)`",
    ]);
    run(&["corpus", "run", "counter", "--strategy", "portfolio(pct(0))"])
        .refused(&["--strategy", "depth `0`: give a number from 1"]);
    run(&["corpus", "run", "counter", "--strategy", "best-first(rarest)"])
        .refused(&["--strategy", "one or more of `preferred`, `preemptions`"]);
    run(&["corpus", "run", "counter", "--preempt", "the ring"]).refused(&["--preempt", "is not a path"]);
    run(&["corpus", "run", "counter", "--strategy", "dfs(step=0)"])
        .refused(&["--strategy", "`0` is not a number in range"]);
    run(&["corpus", "run", "--set", "tasks=2"]).refused(&["<NAME>"]);
    // Former settings, which have become members of others.
    for (flag, says) in [
        ("--minimise-time=5", "give `minimise` `time=SECONDS`"),
        ("--checkpoint-every=5", "give `checkpoint` `every=SECONDS`"),
        ("--fair-yields=2", "give `spin_loops` `fair_yields=..`"),
        ("--tasks=5", "give `stack` `tasks=..`"),
        ("--forgotten-bytes=0", "give `stack` `forgotten=BYTES`"),
    ] {
        run(&["corpus", "run", "counter", flag]).refused(&["there is no such flag: ", says]);
    }
    run(&["replay", "imz1.x", "--tasks=5"]).refused(&["give `stack` `tasks=..`"]);
    run(&["corpus", "run", "counter", "--stack", "task=5"])
        .refused(&["--stack", "`task=5` sets nothing; did you mean `tasks`?"]);
    run(&["replay"]).refused(&["<SCHEDULE>"]);
}

/// cargo does not know our flags, so a flag that is similar to one of them is not passed on.
#[test]
fn flags_like_ours_are_not_passed_on() {
    for command in ["test", "config"] {
        run(&[command, "-p", "queue", "--preemption", "2"]).refused(&[
            "unexpected argument '--preemption' found",
            "a similar argument exists: '--preemptions'",
            "to pass '--preemption' to cargo, use '-- --preemption --'",
            "to pass it to the test binaries, use '-- -- --preemption'",
        ]);
    }
    run(&["list", "--jsno"]).refused(&["'--jsno'", "'--json'"]);
    run(&["run", "--setup=true"]).refused(&[
        "'--setup'",
        "'--set-up'",
        "to pass '--setup' to the program, give it after '--'",
    ]);
}

/// Each of these settings is possible alone.
#[test]
fn contradicting_settings_are_refused() {
    for (flags, says) in [
        (
            &["--strategy=dfs(delays=2)", "--preemptions=2"][..],
            "two orders of search",
        ),
        (
            &["--strategy=dfs(delays=2)", "--reduction=dpor"],
            "bound on delays",
        ),
        (
            &["--strategy=best-first", "--reduction=caching"],
            "the order in which",
        ),
        (
            &["--strategy=ranked(arrays=whole)", "--reduction=caching"],
            "may have other arrays",
        ),
        (
            &["--strategy=dfs(depth=9)", "--reduction=source-dpor"],
            "beyond the depth",
        ),
        (&["--preempt=queue", "--reduction=dpor"], "out of the scope"),
        (
            &["--preempt=!queue", "--reduction=dpor", "--preemptions=2"],
            "out of the scope",
        ),
    ] {
        run(&[&["corpus", "run", "counter"], flags].concat()).refused(&[says]);
    }
    // Refused before anything is built. One flag alone may be possible for some test.
    run(&["test", "--strategy=dfs(delays=2)", "--preemptions=2"])
        .refused(&["--preemptions", "two orders of search"]);
    run(&["test", "--reduction=ordered-atomics", "--strategy=pos"])
        .refused(&["--reduction", "drawn at random"]);
}

#[test]
fn unknown_programs_are_refused() {
    for name in ["conter", "Counter", "counters"] {
        run(&["corpus", "run", name]).refused(&[name, "did you mean `counter`", "corpus list"]);
    }
    run(&["corpus", "run", "zebra", "--json"]).refused(&["there is no program \"zebra\": `cargo"]);
    run(&["corpus", "run", ""]).refused(&["there is no program \"\""]);
}

/// A name may be a shipped monitor's, or that of a plugin in a plugin directory.
#[test]
fn unknown_monitors_are_refused() {
    for (given, meant) in [
        (&["rcae"][..], "`data-race`"),
        (&["misuse", "race:x=1"], "`data-race`"),
        (&["leek"], "`leak`"),
        (&["lock_order"], "`lock-order`"),
    ] {
        let flags: Vec<&str> = given.iter().flat_map(|name| ["--monitor", name]).collect();
        // A suggestion may also be a plugin that was built next to the command line.
        let says = format!("no plugin of that name; did you mean {meant}");
        run(&[&["corpus", "run", "counter"], &flags[..]].concat())
            .refused(&[&says, "? there are: atomicity, "]);
    }
    run(&["corpus", "run", "counter", "--monitor", "zebra"])
        .refused(&["\"zebra\"", "no plugin of that name; there are: atomicity, "]);

    let directory = tempfile::tempdir().unwrap();
    let library = format!("{DLL_PREFIX}no_zebra{DLL_SUFFIX}");
    fs::write(directory.path().join(library), "not looked into").unwrap();
    let mut command = command(
        directory.path(),
        &["corpus", "run", "counter", "--monitor", "no-zbera"],
    );
    command.env("INTERMEZZO_PLUGIN_PATH", directory.path());
    Ran::of(&mut command).refused(&["did you mean `no-zebra`?"]);
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
