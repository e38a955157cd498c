//! The commands that a page has for a reader to copy.

use intermezzo::TestBinary;

/// Returns the command that runs a test again; `None` if its path is not known. A program's name begins with that of its
/// crate, and the report of an object has the path of the `test`.
pub(super) fn run(program: &str, package: &str, target: &str, test: Option<&str>) -> Option<String> {
    let path = test.or_else(|| program.split_once("::").map(|(_, path)| path))?;
    // Programs of the corpus are no tests of a project.
    if package.is_empty() {
        return None;
    }
    let binary = TestBinary {
        package: package.to_owned(),
        target: target.to_owned(),
    };
    let (target, package) = (binary.cargo_target(), word(package));
    if let Some((kind, name)) = binary.cargo_program() {
        return Some(format!(
            "cargo intermezzo run -p {package} --{kind} {}",
            word(name)
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

/// Returns a word as a shell takes it.
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
        let of = |target, test| run("my_queue::ring::full", "my-queue", target, test).unwrap();
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
        assert_eq!(run("Ring", "my-queue", "lib", None), None);
        assert_eq!(run("corpus::abba", "", "", None), None);
        assert_eq!(word("it's <here>"), r"'it'\''s <here>'");
    }
}
