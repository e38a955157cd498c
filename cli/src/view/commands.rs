//! The commands that a page shows, for its reader to copy.

use crate::cargo;
use intermezzo::TestBinary;
use intermezzo::report::replay_command;

/// Returns the command that replays a schedule; `None` if it is of an object, and the path of its `test` is not known.
/// `with` has the arguments that the replay needs in addition to the schedule, each quoted for a shell.
pub(crate) fn replay(schedule: &str, program: &str, test: Option<&str>, with: &[String]) -> Option<String> {
    match test {
        Some(test) => {
            let words = ["--", &word(test), "--", "--exact"].map(str::to_owned);
            Some(replay_command(schedule, &words))
        }
        None => program.contains("::").then(|| replay_command(schedule, with)),
    }
}

/// Returns the command that runs a test again; `None` if its path is not known. The path is in `program`, after the name of
/// the crate; for the report of an object it is `test`. `with` has the arguments of a replay.
pub(super) fn run(
    program: &str,
    package: &str,
    target: &str,
    test: Option<&str>,
    with: &[String],
) -> Option<String> {
    let path = test.or_else(|| program.split_once("::").map(|(_, path)| path))?;
    // A program of the corpus has no package.
    if package.is_empty() {
        return None;
    }
    let binary = TestBinary {
        package: package.to_owned(),
        target: target.to_owned(),
    };
    let (target, package) = (binary.cargo_target(), word(package));
    if let Some((kind, name)) = binary.cargo_program() {
        return Some(run_program(
            &format!("-p {package} --{kind} {}", word(name)),
            &binary,
            with,
        ));
    }
    let mut command = format!("cargo intermezzo test -p {package}");
    match target.split_once(' ') {
        Some((kind, name)) => command += &format!(" --{kind} {}", word(name)),
        None if target.is_empty() => {}
        None => command += &format!(" --{target}"),
    }
    if binary.is_unmodified() {
        command += " --unmodified";
    }
    if binary.is_watched() {
        command += " --races";
    }
    Some(command + &format!(" -- {} --exact", word(path)))
}

/// Returns the command that explores a program again. `itself` selects the program, unless the arguments of its replay do.
fn run_program(itself: &str, binary: &TestBinary, with: &[String]) -> String {
    let mut parts = with.splitn(2, |word| word == "--");
    let (around, cargo) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut of_cargo = cargo.iter().take_while(|word| *word != "--");
    let races = binary.is_watched().then_some("--races");
    let itself = (!of_cargo.any(|word| cargo::chooses(word.as_ref()))).then_some(itself);
    let words = races
        .into_iter()
        .chain(around.iter().map(String::as_str))
        .chain(itself)
        .chain(cargo.iter().map(String::as_str));
    words.fold("cargo intermezzo run".to_owned(), |command, word| {
        command + " " + word
    })
}

/// Returns a word, quoted for a shell if necessary.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@,+".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_runs_a_test_names_its_package_and_target() {
        let of = |target, test| run("my_queue::ring::full", "my-queue", target, test, &[]).unwrap();
        assert_eq!(
            of("lib", None),
            "cargo intermezzo test -p my-queue --lib -- ring::full --exact"
        );
        assert_eq!(
            of("test stress", Some("ring_is_one")),
            "cargo intermezzo test -p my-queue --test stress -- ring_is_one --exact"
        );
        assert_eq!(
            of("", None),
            "cargo intermezzo test -p my-queue -- ring::full --exact"
        );
        assert_eq!(
            of("unmodified-races bin a", None),
            "cargo intermezzo test -p my-queue --bin a --unmodified --races -- ring::full --exact"
        );
        assert_eq!(
            of("unmodified main example a b", None),
            "cargo intermezzo run -p my-queue --example 'a b'"
        );
        assert_eq!(run("Ring", "my-queue", "lib", None, &[]), None);
        assert_eq!(run("corpus::abba", "", "", None, &[]), None);
        let program = |target, with: &[&str]| {
            let with: Vec<String> = with.iter().map(|word| (*word).to_owned()).collect();
            run("a::main", "p", target, None, &with).unwrap()
        };
        for (with, command) in [
            (&["--set-up='a -- b'"][..], "--set-up='a -- b' -p p --bin a"),
            (
                &["--set-up=x", "--", "--", "--bin"],
                "--set-up=x -p p --bin a -- --bin",
            ),
            (&["--", "--bin", "a", "--", "b"], "--bin a -- b"),
            (&["--", "--release", "b"], "-p p --bin a --release b"),
        ] {
            assert_eq!(
                program("unmodified main bin a", with),
                format!("cargo intermezzo run {command}")
            );
        }
        let watched = program("unmodified-races main bin a", &[]);
        assert_eq!(watched, "cargo intermezzo run --races -p p --bin a");
        assert_eq!(word("it's <here>"), r"'it'\''s <here>'");
    }
}
