//! A user's tests that crash and hang. They leave the same files as any finding.

use crate::{Ran, token};
use std::fs;
use std::path::Path;

const TESTS: &str = r#"
mod tests {
    use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[intermezzo::test]
    fn aborts() {
        let n = AtomicUsize::new(0);
        intermezzo::thread::scope(|scope| {
            scope.spawn(|| n.store(1, SeqCst));
            if n.load(SeqCst) == 1 {
                std::process::abort();
            }
        });
    }

    #[intermezzo::test(hang = 2)]
    fn hangs() {
        intermezzo::thread::scope(|scope| {
            scope.spawn(|| ());
            loop {
                std::hint::spin_loop();
            }
        });
    }
}
"#;

/// Checks the report, the schedule file, the token and the text, and that a replay shows the execution on a page.
pub(crate) fn crashes_leave_what_findings_leave(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    if !cfg!(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )) {
        return;
    }
    fs::write(project.join("tests/crash.rs"), TESTS).unwrap();
    let failed = run(&["test", "--reports", "out/crash", "--test", "crash", "aborts"]).ends_with(1);
    for says in [
        "error[crash]: main crashed: abort",
        "what happened, in this order",
    ] {
        assert!(failed.stdout.contains(says), "{}", failed.stdout);
    }
    let report = fs::read_to_string(project.join("out/crash/crash--tests--aborts.json")).unwrap();
    let token = token(&serde_json::from_str(&report).unwrap());
    let command = format!("cargo intermezzo replay {token} --view page.html\n");
    assert!(failed.stdout.contains(&command), "{}", failed.stdout);
    let file = "out/crash/crash--tests--aborts.1.schedule.json";
    for schedule in [file, &token] {
        let replayed = run(&["replay", schedule, "--view", "crash.html", "--json"])
            .ends_with(1)
            .json();
        assert_eq!(replayed["findings"][0]["kind"], "crash");
        let execution = &replayed["recordings"][0]["execution"];
        assert_eq!(execution["schedule"], *token, "{replayed}");
        let page = fs::read_to_string(project.join("crash.html")).unwrap();
        assert!(page.contains("\"partial\":false") && !page.contains("\"partial\":true"));
    }
    // In a process of its own, in which nothing was unwound before, and without optimisation: in this case the handler of
    // the signal that ends the task needs the most stack.
    let hung = run(&["test", "--test", "crash", "hangs"]).ends_with(1);
    assert!(
        hung.stdout.contains("error[hang]: main has run for 2 seconds"),
        "{}{}",
        hung.stdout,
        hung.stderr
    );
    fs::remove_file(project.join("tests/crash.rs")).unwrap();
}
