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

/// What the compiler and the attributes of a test say of it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The directory of its package, if cargo builds it.
    pub package: Option<&'static str>,
    /// The name of its package, if cargo builds it.
    pub package_name: Option<&'static str>,
    /// The name of the binary or example that it is in, if it is in one.
    pub binary: Option<&'static str>,
    /// `true` if it is in an integration test or a bench.
    pub is_in_suite: bool,
    /// Its file, as the compiler names it.
    pub file: &'static str,
    /// What the message of its panic must contain, if it has `#[should_panic]`: nothing if that does not say.
    pub should_panic: Option<&'static str>,
}

impl Source {
    /// Ends a test that ran as it should. libtest takes a test with `#[should_panic]` for failed unless it panics, with that
    /// in its message.
    fn pass(&self, message: &str) {
        if let Some(expected) = self.should_panic {
            match message.contains(expected) {
                true => panic!("{message}"),
                false => panic!("{message} (expected: {expected})"),
            }
        }
    }
}

/// Says this on stderr even where the test harness keeps what a test prints: nothing else is said of the test.
fn tell(message: &str) {
    use std::io::Write;
    // A closed stderr is no reason for a test to fail.
    let _ = writeln!(std::io::stderr().lock(), "intermezzo: {message}");
}

#[cfg(feature = "explore")]
pub use explored::run_test;
#[cfg(not(feature = "explore"))]
pub use plain::run_test;

#[cfg(feature = "explore")]
mod explored {
    //! Tests are explored.

    use super::{Source, tell};
    use crate::report::source::Search;
    use crate::settings::Layers;
    use crate::{Detail, Explorer, ReplayedBy, Report, Schedule, TestBinary, TextStyle};

    impl Source {
        /// The package and the target of the test of this path.
        fn of(&self, program: &str) -> TestBinary {
            let krate = program.split("::").next().unwrap_or_default();
            let target = match (self.binary, self.is_in_suite) {
                (Some(name), _) => format!("bin {name}"),
                (None, true) => format!("test {krate}"),
                (None, false) => "lib".to_owned(),
            };
            match self.package_name {
                Some(package) => TestBinary {
                    package: package.to_owned(),
                    target,
                },
                None => TestBinary::default(),
            }
        }
    }

    /// Explores a test of this name with these settings, by name and value, and fails with the report unless it passes. If
    /// `INTERMEZZO_REPLAY` has the schedule of another test, this one is not run, and says so.
    ///
    /// # Panics
    /// The test does not pass, or a setting cannot be. A test with `#[should_panic]` panics if it passes.
    pub fn run_test(program: &str, settings: &[(&str, &str)], source: Source, test: fn()) {
        let binary = source.of(program);
        if let Some(other) = other_test(program, &binary) {
            let message = format!("{program} was not run: {other}");
            tell(&message);
            return source.pass(&message);
        }
        let (report, detail) = match explore(program, settings, binary, source, test) {
            Ok(Some(explored)) => explored,
            Ok(None) => return source.pass("the test was only asked for its settings"),
            Err(reason) => {
                crate::settings::tell_refusal(program, &reason);
                return fail(source, &reason);
            }
        };
        let text = report.text(&style(source, detail));
        if report.verdict().is_pass() {
            say(&text);
            let panic = report.findings().iter().find(|found| found.is_error());
            source.pass(panic.map_or("", |panic| &panic.message));
        } else {
            fail(source, &text);
        }
    }

    /// How reports of the test look.
    fn style(source: Source, detail: Detail) -> TextStyle {
        let style = TextStyle::of_process()
            .detail(detail)
            .replayed_by(ReplayedBy::Test);
        match source.package {
            Some(package) => style.sources(Search::of_package(package.as_ref(), source.file)),
            None => style,
        }
    }

    /// The report of the test, and how much of it is to be told; none if it was only asked for its settings.
    ///
    /// # Errors
    /// It cannot be run as it is set.
    fn explore(
        program: &str,
        settings: &[(&str, &str)],
        binary: TestBinary,
        source: Source,
        test: fn(),
    ) -> Result<Option<(Report, Detail)>, String> {
        let layers = Layers::of_test(program, settings).map_err(|error| error.to_string())?;
        if layers.are_all_that_is_wanted(program) {
            return Ok(None);
        }
        let mut explorer = Explorer::with_settings(layers.settings().clone())
            .program(program)
            .binary(binary)
            .with_variables()
            .map_err(|error| error.to_string())?;
        if let Some(expected) = source.should_panic {
            explorer = explorer.should_panic(expected);
        }
        let report = explorer.try_explore(test).map_err(|error| error.to_string())?;
        Ok(Some((report, layers.settings().detail)))
    }

    /// What is to be replayed instead of the test of this name, if something else is.
    fn other_test(program: &str, binary: &TestBinary) -> Option<String> {
        let given = std::env::var("INTERMEZZO_REPLAY").ok()?;
        // What is no schedule is refused by each test: nobody can say which it was to be of.
        let schedule = Schedule::parse(&given).ok()?;
        schedule.for_test(program, binary).err()?;
        let wanted = match schedule.binary.is_unknown() {
            true => schedule.program,
            false => format!("{} ({})", schedule.program, schedule.binary),
        };
        Some(format!("INTERMEZZO_REPLAY has a schedule of {wanted}"))
    }

    /// The test fails. One with `#[should_panic]` does by ending without a panic.
    fn fail(source: Source, why: &str) {
        match source.should_panic {
            Some(_) => say(why),
            None => panic!("{why}"),
        }
    }

    /// Says this to the test harness, which shows it where a test fails and under `--nocapture`.
    #[expect(
        clippy::print_stderr,
        reason = "what a test prints is all that its harness keeps of it, and only the macros print there"
    )]
    fn say(text: &str) {
        eprint!("{text}");
    }
}

#[cfg(not(feature = "explore"))]
mod plain {
    //! Tests are run as they are.

    use super::{Source, tell};
    use std::sync::Once;

    /// Runs the test once, as it is, and says on stderr that it was not explored: once for all tests of the process. If
    /// `INTERMEZZO_REPLAY` has the schedule of another test, this one is not run, and says so.
    ///
    /// # Panics
    /// As the test does; or `INTERMEZZO_REPLAY` has a schedule of it, or something of which nobody can say what it is.
    pub fn run_test(program: &str, _: &[(&str, &str)], source: Source, test: fn()) {
        const OFF: &str = "the feature `explore` of intermezzo is off; switch it on in [dev-dependencies]";
        if let Ok(given) = std::env::var("INTERMEZZO_REPLAY") {
            let replayed = program_of(&given);
            if replayed.as_deref().is_none_or(|replayed| replayed == program) {
                let message = format!("{program} was not replayed: {OFF}");
                match source.should_panic {
                    // It fails by ending without a panic.
                    Some(_) => return tell(&message),
                    None => panic!("{message}"),
                }
            }
            let message = format!(
                "{program} was not run: INTERMEZZO_REPLAY has a schedule of {}",
                replayed.unwrap_or_default()
            );
            tell(&message);
            return source.pass(&message);
        }
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            tell(&format!(
                "{program} and the other tests with #[intermezzo::test] here are run once and not explored: {OFF}"
            ));
        });
        test();
    }

    /// The program of a schedule, a token or the path of a file; `None` if it cannot be told.
    fn program_of(schedule: &str) -> Option<String> {
        let word = schedule.trim();
        let token = word.strip_prefix("imz").and_then(|rest| rest.split_once('.'));
        match token.filter(|(version, _)| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
        {
            Some((_, contents)) => program_of_token(contents),
            None => program_of_file(&std::fs::read_to_string(schedule).ok()?),
        }
    }

    /// The program of a token with these contents: behind its version and its environment, in each version of the format.
    fn program_of_token(contents: &str) -> Option<String> {
        let bytes = decoded(contents)?;
        let mut rest = bytes.get(2..)?;
        // Of the fields that the mask names all but two are numbers.
        for _ in 0..(bytes[1] & 0b1100_1111).count_ones() {
            number(&mut rest)?;
        }
        let length = number(&mut rest)?;
        String::from_utf8(rest.get(..length)?.to_vec()).ok()
    }

    /// A number of seven bits a byte, lowest first, taken from the front.
    fn number(bytes: &mut &[u8]) -> Option<usize> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = bytes.split_first()?;
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return usize::try_from(value).ok();
            }
        }
        None
    }

    /// The bytes of a text in base64url, without those of an incomplete group.
    fn decoded(text: &str) -> Option<Vec<u8>> {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
        for char in text.bytes() {
            let digit = DIGITS.iter().position(|&digit| digit == char)?;
            (bits, held) = (bits << 6 | digit as u32, held + 6);
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
                bits &= (1 << held) - 1;
            }
        }
        Some(bytes)
    }

    /// The program of a schedule file with this text: names of tests have nothing that JSON would escape.
    fn program_of_file(text: &str) -> Option<String> {
        let (_, rest) = text.split_once("\"program\"")?;
        let (name, _) = rest
            .trim_start()
            .strip_prefix(':')?
            .trim_start()
            .strip_prefix('"')?
            .split_once('"')?;
        Some(name.to_owned())
    }
}
