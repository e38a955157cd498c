//! A hang in a process in which nothing was unwound before. It needs a process of its own.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use intermezzo_explorer::Explorer;

#[test]
fn a_hang_is_reported_where_the_unwinder_was_not_used_before() {
    let report = Explorer::new().set("hang", "0.2").explore(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    let kinds: Vec<_> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.to_string())
        .collect();
    assert_eq!(kinds, ["hang"], "{report}");
}
