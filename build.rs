//! Keeps the explorer out of programs that are shipped.
//!
//! The feature `explore` belongs in tests, but cargo unites features: under resolver 1, or where one crate of a workspace
//! enables it outside its `[dev-dependencies]`, it is on in every build. So a release build with it stops here. There are
//! two ways to consent: an environment variable, for tests and benchmarks with optimisation, and a feature, for programs
//! that explore for their users.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=INTERMEZZO_IN_RELEASE");
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let explores = is_set("CARGO_FEATURE_EXPLORE");
    let consents = is_set("CARGO_FEATURE_EXPLORE_IN_RELEASE") || is_set("INTERMEZZO_IN_RELEASE");
    // A profile that inherits from `release` is `release` here, too.
    if explores && !consents && std::env::var("PROFILE").as_deref() == Ok("release") {
        for line in [
            "intermezzo's feature `explore` is on in a release build: its types would be many times slower than std's there.",
            "To test or measure with optimisation, set INTERMEZZO_IN_RELEASE=1 in the environment.",
            "Otherwise enable `explore` only in [dev-dependencies], and write `resolver = \"2\"` or later into the workspace's \
             Cargo.toml: resolver 1 unites the features of [dev-dependencies] and [dependencies]. \
             `cargo tree -e features -i intermezzo` shows which package enables it.",
            "A program that explores for its users enables the feature `explore-in-release`.",
        ] {
            println!("cargo::error={line}");
        }
    }
}
