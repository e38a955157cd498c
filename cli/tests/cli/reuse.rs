//! Bugs of unmodified code that only occur if freed memory is used again (`address_reuse=1`).

use crate::Ran;
use crate::unmodified::{project_of, replays, report, run};
use serde_json::json;
use std::path::Path;

const REUSE: [&str; 2] = ["--environment", "address_reuse=1"];

fn explored(project: &Path, code: i32, arguments: &[&str]) -> Ran {
    let common = ["test", "--unmodified", "--json", "--preemptions", "2"];
    run(project, &[&common, arguments].concat()).ends_with(code)
}

#[test]
#[cfg_attr(not(unix), ignore = "executions have memory of their own on Unix")]
fn aba_is_found_with_memory_that_is_used_again() {
    let project = project_of("reuse", "", include_str!("reuse/lib.rs"));
    let test = "reuse::plain::a_node_comes_out_once";
    let without = explored(&project, 0, &["--strategy", "auto(address_reuse=0)", "plain"]).json();
    let limits = report(&without, test)["limits"].as_array().unwrap();
    assert!(
        limits.contains(&json!({"kind": "address_reuse", "most": 0})),
        "{limits:#?}"
    );
    for reuse in [&[][..], &REUSE] {
        let ran = explored(&project, 1, &[reuse, &["plain"]].concat());
        let all = ran.json();
        let failed = report(&all, test);
        assert_eq!(failed["environment"]["address_reuse"], 1, "{failed:#}");
        // By default, it is found after a search without.
        let before = failed.get("executions_before").is_some();
        assert_eq!(before, reuse.is_empty(), "{failed:#}");
        let finding = &failed["findings"][0];
        assert_eq!(finding["message"], "memory is freed twice", "{finding:#}");
        let mut events = finding["events"].as_array().unwrap().iter();
        assert!(events.any(|event| event["effect"] == "reused"), "{finding:#}");
        replays(&project, &ran, finding);
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn accesses_before_a_free_do_not_race_with_those_after_it() {
    let project = project_of("reuse_watched", "", include_str!("reuse/lib.rs"));
    let watched = ["--races", "watched"];
    // A free is an access, so a stale pointer is found without address reuse, too.
    for reuse in [&["--strategy", "auto(address_reuse=0)"][..], &REUSE] {
        let all = explored(&project, 1, &[reuse, &watched].concat()).json();
        let passed = report(&all, "reuse_watched::watched::memory_goes_from_thread_to_thread");
        assert_eq!(passed["verdict"], "pass", "{passed:#}");
        let executions = passed["executions"].as_u64().unwrap();
        assert!(executions > 100 || reuse != REUSE, "{passed:#}");
        let failed = report(&all, "reuse_watched::watched::a_stale_pointer_is_followed");
        assert_eq!(failed["findings"][0]["kind"], "data_race", "{failed:#}");
        // The zeros that another thread had in the memory are forgotten, and the new ones are known.
        let passed = report(&all, "reuse_watched::watched::zeros_go_from_thread_to_thread");
        assert_eq!(passed["verdict"], "pass", "{passed:#}");
        let zeros = report(&all, "reuse_watched::watched::zeros_in_memory_that_is_used_again");
        let race = zeros["findings"][0]["kind"] == "data_race";
        assert_eq!(race, reuse == REUSE, "{zeros:#}");
    }
}
