//! Panic hooks that panic, in ordinary crates: std aborts, although another task has run in the meantime.

use crate::unmodified::{project_of, replays, report, run};

const HOOKS: &str = r#"
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static HEARD: AtomicU32 = AtomicU32::new(0);

fn panics_with(hook: impl Fn(u32) + Send + Sync + 'static) {
    let other = thread::spawn(|| HEARD.load(SeqCst));
    set_hook(Box::new(move |_| {
        thread::yield_now();
        hook(HEARD.fetch_add(1, SeqCst))
    }));
    assert!(catch_unwind(|| panic!("the first one")).is_err());
    other.join().unwrap();
}

#[test]
fn aborts_at_the_first_call() {
    panics_with(|heard| if heard == 0 { panic!("in the hook") });
}

#[test]
fn aborts_at_each_call() {
    panics_with(|_| panic!("in the hook"));
}

#[test]
fn aborts_at_once() {
    set_hook(Box::new(|_| panic!("in the hook")));
    let _ = catch_unwind(|| panic!("the first one"));
}

#[test]
fn aborts_although_it_is_caught() {
    panics_with(|heard| assert!(heard > 0 || catch_unwind(|| panic!("in the hook")).is_err()));
}

#[test]
fn aborts_because_it_sets_a_hook() {
    panics_with(|_| set_hook(Box::new(|_| ())));
}

struct Restored;
impl Drop for Restored {
    fn drop(&mut self) {
        drop(take_hook());
    }
}

#[test]
fn aborts_because_a_destructor_takes_the_hook() {
    set_hook(Box::new(|_| drop(HEARD.fetch_add(1, SeqCst))));
    let _ = catch_unwind(|| {
        let _restored = Restored;
        panic!("the first one");
    });
}

#[test]
fn goes_on() {
    let other = thread::spawn(|| assert!(catch_unwind(|| panic!("elsewhere")).is_err()));
    panics_with(|_| thread::yield_now());
    assert!(catch_unwind(|| panic!("the second one")).is_err());
    drop(take_hook());
    assert!(catch_unwind(|| panic!("the third one")).is_err());
    other.join().unwrap();
    assert!(HEARD.load(SeqCst) >= 2);
}
"#;

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "aborts are findings on Linux, and end the process elsewhere"
)]
fn a_panic_in_a_hook_aborts() {
    let project = project_of("hooks", "", HOOKS);
    let ran = run(&project, &["test", "--unmodified", "--json"]).ends_with(1);
    let all = ran.json();
    for test in [
        "aborts_at_the_first_call",
        "aborts_at_each_call",
        "aborts_at_once",
        "aborts_although_it_is_caught",
        "aborts_because_it_sets_a_hook",
        "aborts_because_a_destructor_takes_the_hook",
    ] {
        let report = report(&all, &format!("hooks::{test}"));
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "crash", "{report:#}");
        let message = finding["message"].as_str().unwrap();
        assert!(
            message.contains("abort") && message.contains("the first one"),
            "{message}"
        );
        // std recognises a panic in a hook if no other task has run since, and does not call the hook for it.
        let (why, is_named) = match test {
            "aborts_because_it_sets_a_hook" | "aborts_because_a_destructor_takes_the_hook" => {
                ("cannot modify the panic hook", true)
            }
            _ => ("in the hook", test != "aborts_at_once"),
        };
        assert_eq!(message.contains(why), is_named, "{message}");
    }
    let passed = report(&all, "hooks::goes_on");
    assert_eq!(passed["verdict"], "pass", "{passed:#}");
    let finding = &report(&all, "hooks::aborts_at_each_call")["findings"][0];
    replays(&project, &ran, finding);
}
