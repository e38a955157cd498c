//! Instructions of a run of a bench, counted by callgrind.

use std::process::Command;

/// Returns the number of instructions of a run of this binary with these arguments.
///
/// # Panics
/// If valgrind is not installed, or the run fails.
pub(crate) fn instructions<S: AsRef<str>>(arguments: &[S]) -> f64 {
    let this = std::env::current_exe().expect("the bench is a file");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        // No source is found from there, so no names of variables are looked up for the report.
        .current_dir(std::env::temp_dir())
        .args(arguments.iter().map(AsRef::as_ref))
        .output()
        .expect("valgrind is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let (_, collected) = said.rsplit_once("Collected : ").expect("callgrind says it");
    let number: String = collected.chars().take_while(char::is_ascii_digit).collect();
    number.parse().expect("a number")
}
