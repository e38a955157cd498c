//! What `#[intermezzo::test]` expands to.

use std::fmt::Debug;

/// What a test function may return.
pub trait Outcome {
    /// Panics if it is a failure.
    fn check(self);
}

impl Outcome for () {
    fn check(self) {}
}

impl<T: Outcome, E: Debug> Outcome for Result<T, E> {
    #[track_caller]
    fn check(self) {
        match self {
            Ok(outcome) => outcome.check(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Runs a test's body, and panics if it returns a failure.
#[track_caller]
pub fn check_outcome<R: Outcome>(body: impl FnOnce() -> R) {
    body().check();
}

/// Where a test stands, as far as its compiler knows.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The directory of its package, if cargo builds it.
    pub package: Option<&'static str>,
    /// Its file, as the compiler names it.
    pub file: &'static str,
}

/// Explores a test of this name with these settings, by name and value, and fails with the report unless it passes.
///
/// # Panics
/// The test does not pass, or a setting cannot be.
#[cfg(feature = "explore")]
pub fn run_test(program: &str, settings: &[(&str, &str)], source: Source, test: fn()) {
    use crate::{Explorer, ReplayedBy, TextStyle, report::source::Search, settings::Layers};
    let layers = Layers::of_test(program, settings).unwrap_or_else(|error| refused(program, &error));
    if layers.are_all_that_is_wanted(program) {
        return;
    }
    let explorer = Explorer::with_settings(layers.settings().clone())
        .program(program)
        .with_variables()
        .unwrap_or_else(|error| refused(program, &error))
        .monitors_by_name(crate::monitors::by_name, crate::monitors::names());
    let report = explorer
        .try_explore(test)
        .unwrap_or_else(|error| refused(program, &error));
    if !report.verdict().is_pass() {
        let mut style = TextStyle::of_process()
            .detail(layers.settings().detail)
            .replayed_by(ReplayedBy::Test);
        if let Some(package) = source.package {
            style = style.sources(Search::of_package(package.as_ref(), source.file));
        }
        panic!("{}", report.text(&style));
    }
}

/// The test cannot be run as it is set: it fails, and who asked for reports is told why.
#[cfg(feature = "explore")]
fn refused(program: &str, reason: &dyn std::fmt::Display) -> ! {
    let reason = reason.to_string();
    crate::settings::tell_refusal(program, &reason);
    panic!("{reason}")
}

/// Runs the test once, as it is.
#[cfg(not(feature = "explore"))]
pub fn run_test(_: &str, _: &[(&str, &str)], _: Source, test: fn()) {
    test();
}
