//! A stand-in for cargo, for commands that read the files of a project's tests. It builds nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The file, in the project's directory, with the text that a test would have written. Without it, nothing is written.
pub(crate) const WRITTEN: &str = "written";

/// A test's settings.
pub(crate) const SETTINGS: &str = "{\"format\":\"intermezzo-settings/2\",\"program\":\"a::b\",\"config\":null,\"layers\":[\n\
    {\"setting\":\"preempt\",\"value\":\"\",\"from\":\"default\"},\n\
    {\"setting\":\"seed\",\"value\":\"0\",\"from\":\"default\"},\n\
    {\"setting\":\"seed\",\"value\":\"3\",\"from\":\"config\",\"path\":\"p/intermezzo.toml\",\"line\":2},\n\
    {\"setting\":\"seed\",\"value\":\"4\",\"from\":\"variable\",\"name\":\"INTERMEZZO_SEED\"}]}\n";

/// The script that is run for `cargo test`: `CARGO` is a shell, for which the word `test` is a file in the current
/// directory. It does not know the flag `--zebra`.
const SCRIPT: &str = "case \"$*\" in *--zebra*) exit 1;; esac\n\
    test ! -e written || cp written \"${INTERMEZZO_SETTINGS:-$INTERMEZZO_REPORTS}/project-test.json\"\n";

/// Writes the script into this directory.
pub(crate) fn install(directory: &Path) {
    fs::write(directory.join("test"), SCRIPT).unwrap();
}

/// Makes a command, which is run in that directory, use the stand-in as cargo.
pub(crate) fn instead_of_cargo(command: &mut Command) {
    command.env("CARGO", "sh");
}
