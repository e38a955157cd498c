//! Errors of the compiler about a test with an invalid attribute or function: our error is among them, and the function
//! remains in its place, so that an editor can complete names in it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the library of the attribute, which was built with this test: the newest one.
fn library() -> PathBuf {
    let deps = env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = fs::read_dir(deps).unwrap().map(|file| file.unwrap().path());
    let libraries = files.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains("intermezzo_macros-") && path.extension() == Some(env::consts::DLL_EXTENSION.as_ref())
    });
    let newest = libraries.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.expect("the attribute is built before its tests")
}

/// Returns the errors of the compiler about this program.
fn errors(program: &str, name: &str) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("macro_errors");
    fs::create_dir_all(&directory).unwrap();
    let source = directory.join(format!("{name}.rs"));
    fs::write(&source, format!("#![allow(unused)]\n{program}")).unwrap();
    let compiled = Command::new("rustc")
        .args([
            "--edition",
            "2021",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--extern",
        ])
        .arg(format!("intermezzo={}", library().display()))
        .arg("--out-dir")
        .arg(directory)
        .arg(source)
        .output()
        .unwrap();
    assert!(!compiled.status.success(), "{program}");
    let told = String::from_utf8(compiled.stderr).unwrap();
    let errors = told.lines().filter(|line| line.starts_with("error"));
    errors.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_invalid_test_remains_a_function() {
    for (program, ours) in [
        (
            "#[intermezzo::test(= 1)] fn broken(n: u8) { compile_error!(\"its body is there\"); } fn caller() { broken(1); }",
            "write settings as `name = value`",
        ),
        (
            "#[intermezzo::test] async fn broken(n: u8) { compile_error!(\"its body is there\"); } fn caller() { broken(1); }",
            "an async test: call",
        ),
        (
            "#[intermezzo::test] fn broken<T>(n: T) { compile_error!(\"its body is there\"); } fn caller() { broken(1); }",
            "a test has no parameters of types or lifetimes",
        ),
        (
            "#[intermezzo::test(deterministic = true)] fn broken(n: u8) { compile_error!(\"its body is there\"); } fn caller() { broken(1); }",
            "`deterministic` has no value",
        ),
    ] {
        let name = ours.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let told = errors(program, &name);
        assert!(told.contains(ours), "{program}: {told}");
        assert!(told.contains("its body is there"), "{program}: {told}");
    }
}

#[test]
fn a_function_without_a_body_is_reported() {
    let told = errors(
        "trait A { #[intermezzo::test] fn broken() -> u8; } fn caller<T: A>() { T::broken(); }",
        "without_a_body",
    );
    assert!(told.contains("a test needs a body"), "{told}");
    assert!(!told.contains("`broken`"), "{told}");
}
