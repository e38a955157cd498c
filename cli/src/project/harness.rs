//! The tests of a run that were not explored, read from the output of their harness: cargo's, or cargo-nextest's.
//!
//! Neither has a stable format for machines. The lines that are read here have not changed for years. Other lines are
//! ignored, so a change of the format leads to missing tests and not to wrong ones. With `-q` the harness names only
//! failing tests.

use std::collections::BTreeMap;

/// A test that the harness names in its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HarnessTest {
    /// The crate, or `NAME (doc-tests)`.
    pub(crate) krate: String,
    /// The test's path in the crate.
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// The output of a failed test.
    pub(crate) output: String,
}

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Ignored,
}

impl HarnessTest {
    /// Returns the name that a report of the test would have.
    pub(crate) fn program(&self) -> String {
        format!("{}::{}", self.krate, self.name)
    }
}

/// Returns the tests in this output of `cargo test` or `cargo nextest run`, in order of their crates and names.
pub(crate) fn tests(output: &str) -> Vec<HarnessTest> {
    let mut reader = Reader::default();
    let plain = without_escapes(output);
    plain.lines().for_each(|line| reader.line(line));
    reader.tests.into_values().collect()
}

#[derive(Default)]
struct Reader {
    krate: String,
    tests: BTreeMap<(String, String), HarnessTest>,
    /// The failed test to whose output the next lines belong.
    failed: Option<(String, String)>,
    /// A test that has begun. Its outcome is at the end of a later line.
    begun: Option<String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(krate) = binary(line) {
            self.krate = krate;
            (self.failed, self.begun) = (None, None);
        } else if let Some((krate, name, outcome)) = of_nextest(line) {
            self.failed = (outcome == Outcome::Failed).then(|| (krate.clone(), name.clone()));
            self.add(krate, name, outcome);
        } else if let Some(rest) = line.strip_prefix("test ")
            && let Some((name, rest)) = rest.split_once(" ... ")
        {
            self.outcome(name, rest);
        } else if let Some(name) = line.strip_prefix("---- ")
            && let Some(name) = name.strip_suffix(" stdout ----")
        {
            self.failed = Some((self.krate.clone(), shown(name).to_owned()));
        } else if line == "failures:"
            || line.starts_with("test result: ")
            || line.trim_start().starts_with("────")
        {
            (self.failed, self.begun) = (None, None);
        } else if let Some(key) = &self.failed {
            // With `-q`, this is the first mention of the test.
            let test = self.tests.entry(key.clone()).or_insert_with(|| HarnessTest {
                krate: key.0.clone(),
                name: key.1.clone(),
                outcome: Outcome::Failed,
                output: String::new(),
            });
            test.output.push_str(line);
            test.output.push('\n');
        } else if let Some(name) = self.begun.take() {
            self.outcome(&name, line);
        }
    }

    /// Reads the outcome of this test from the end of a line, or leaves it to a later line. If tests run one at a time, the
    /// test's output is between its name and its outcome.
    fn outcome(&mut self, name: &str, rest: &str) {
        let word = rest.split_once(" <").map_or(rest, |(word, _)| word);
        let outcome = match word.split_once(", ").map_or(word, |(word, _)| word) {
            "ok" => Outcome::Passed,
            "FAILED" => Outcome::Failed,
            "ignored" => Outcome::Ignored,
            _ => {
                self.begun = Some(name.to_owned());
                return;
            }
        };
        self.add(self.krate.clone(), shown(name).to_owned(), outcome);
    }

    fn add(&mut self, krate: String, name: String, outcome: Outcome) {
        let key = (krate.clone(), name.clone());
        let test = HarnessTest {
            krate,
            name,
            outcome,
            output: String::new(),
        };
        match self.tests.get_mut(&key) {
            // nextest names failing tests again at the end.
            Some(known) if known.outcome == outcome => self.failed = None,
            _ => _ = self.tests.insert(key, test),
        }
    }
}

/// Returns the test's path, without the remarks of the harness.
fn shown(name: &str) -> &str {
    name.strip_suffix(" - should panic").unwrap_or(name)
}

/// Returns the crate of the binary that cargo announces: `Running unittests src/lib.rs (target/debug/deps/queue-0123)`.
fn binary(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(krate) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{krate} (doc-tests)"));
    }
    let (_, path) = line.strip_prefix("Running ")?.rsplit_once('(')?;
    let file = path.strip_suffix(')')?.rsplit(['/', '\\']).next()?;
    let stem = file.strip_suffix(".exe").unwrap_or(file);
    Some(stem.rsplit_once('-')?.0.to_owned())
}

/// Returns the crate, the test and its outcome in a line of nextest: `PASS [   0.004s] (1/3) my-queue::suite push`.
fn of_nextest(line: &str) -> Option<(String, String, Outcome)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let of_status = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ' || c == '/';
    let begins = status.chars().next().is_some_and(|c| c.is_ascii_uppercase());
    let says = |word: &&str| status.split(' ').any(|part| part == *word);
    if !begins || !status.chars().all(of_status) || says(&"SLOW") {
        return None;
    }
    let (time, rest) = rest.split_once("] ")?;
    time.trim().strip_suffix('s')?.parse::<f64>().ok()?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(counted) => counted.split_once(") ")?.1,
        None => rest,
    };
    let (binary, name) = rest.trim_start().split_once(' ')?;
    let krate = binary.split_once("::").map_or(binary, |(_, target)| target);
    let krate = krate.rsplit('/').next().unwrap_or(krate).replace('-', "_");
    let outcome = match ["PASS", "LEAK", "FLAKY"].iter().any(says) {
        true => Outcome::Passed,
        false => Outcome::Failed,
    };
    Some((krate, name.to_owned(), outcome))
}

/// Returns the text without the escape sequences of terminals.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = escaped.find(|c: char| ('@'..='~').contains(&c));
        rest = end.map_or("", |end| &escaped[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> Vec<(String, Outcome, String)> {
        let read = tests(output).into_iter();
        read.map(|test| (test.program(), test.outcome, test.output))
            .collect()
    }

    fn row(program: &str, outcome: Outcome, output: &str) -> (String, Outcome, String) {
        (program.to_owned(), outcome, output.to_owned())
    }

    #[test]
    fn cargo_names_each_test_with_its_outcome() {
        let output = "\
   Compiling my-queue v0.1.0
\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m unittests src/lib.rs (target/debug/deps/my_queue-0123abcd)

running 5 tests
test tests::slow ... ignored, it takes an hour
test tests::is_full - should panic ... ok
test tests::push ... \u{1b}[32mok\u{1b}[0m
test tests::pop ... FAILED
test tests::talks ... a word of its own
ok

failures:

---- tests::pop stdout ----

thread 'tests::pop' panicked at src/lib.rs:9:1:
no

failures:
    tests::pop

test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/suite.rs (C:\\target\\debug\\deps\\suite-99.exe)

running 1 test
test push ... ok <0.003s>

   Doc-tests my_queue

running 1 test
test src/lib.rs - Queue (line 4) ... ok
";
        let failed = "\nthread 'tests::pop' panicked at src/lib.rs:9:1:\nno\n\n";
        assert_eq!(
            read(output),
            [
                row("my_queue::tests::is_full", Outcome::Passed, ""),
                row("my_queue::tests::pop", Outcome::Failed, failed),
                row("my_queue::tests::push", Outcome::Passed, ""),
                row("my_queue::tests::slow", Outcome::Ignored, ""),
                row("my_queue::tests::talks", Outcome::Passed, ""),
                row(
                    "my_queue (doc-tests)::src/lib.rs - Queue (line 4)",
                    Outcome::Passed,
                    ""
                ),
                row("suite::push", Outcome::Passed, ""),
            ]
        );
    }

    #[test]
    fn with_q_the_failing_tests_are_named() {
        let output = "     Running unittests src/lib.rs (target/debug/deps/a-1)\n.F.\nfailures:\n\n---- b stdout ----\nno\n\nfailures:\n    b\n";
        assert_eq!(read(output), [row("a::b", Outcome::Failed, "no\n\n")]);
    }

    #[test]
    fn nextest_names_each_test_with_its_outcome() {
        let output = "\
    Starting 4 tests across 2 binaries (1 test skipped)
        PASS [   0.004s] (1/4) my-queue tests::push
        SLOW [> 60.000s] (───) my-queue::suite slow
        FAIL [   0.007s] (2/4) my-queue tests::pop
  stdout ───

    running 1 test
    test tests::pop ... FAILED

    (test aborted)

  TRY 1 FAIL [   0.003s] my-queue::bin/of-two flaky
  TRY 2 PASS [   0.003s] my-queue::bin/of-two flaky
     SIGABRT [   0.007s] (4/4) my-queue::suite crash
────────────
     Summary [   0.017s] 4 tests run: 2 passed, 2 failed, 1 skipped
        FAIL [   0.007s] (2/4) my-queue tests::pop
error: test run failed
";
        let all = read(output);
        let names: Vec<_> = all
            .iter()
            .map(|(name, outcome, _)| (name.as_str(), *outcome))
            .collect();
        assert_eq!(
            names,
            [
                ("my_queue::tests::pop", Outcome::Failed),
                ("my_queue::tests::push", Outcome::Passed),
                ("of_two::flaky", Outcome::Passed),
                ("suite::crash", Outcome::Failed),
            ]
        );
        assert!(all[0].2.contains("(test aborted)"), "{:?}", all[0]);
        assert!(!all[0].2.contains("error: test run"), "{:?}", all[0]);
    }
}
