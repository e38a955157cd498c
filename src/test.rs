//! The code to which `#[intermezzo::test]` expands.

use std::fmt::Debug;

/// The return type of a test function.
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

/// The value that a test returned, if it has to be the same in every execution.
pub struct Returned<'a, T>(pub &'a T);

impl<T, E: Debug> Returned<'_, Result<T, E>> {
    /// Panics if it is an error.
    #[track_caller]
    pub fn check(&self) {
        if let Err(error) = self.0 {
            panic!("the test returned an error: {error:?}");
        }
    }
}

/// A value that is no `Result`. For a `Result` the method of its own type is called.
pub trait NoError {
    /// Does nothing: there is no error.
    fn check(&self) {}
}

impl<T> NoError for Returned<'_, T> {}

/// The information about a test that the compiler and its attributes give.
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
    /// The text that the message of its panic must contain, if it has `#[should_panic]`: empty if that gives none.
    pub should_panic: Option<&'static str>,
    /// Its expectations of the exploration: pairs of name and value.
    pub expected: &'static [(&'static str, &'static str)],
    /// `true` if one of these is a finding.
    pub expects_finding: bool,
}

impl Source {
    /// Ends a test that ran as it should. libtest treats a test with `#[should_panic]` as failed unless it panics,
    /// with that text in its message. The panic is said to be at the test.
    #[track_caller]
    fn pass(&self, message: &str) {
        if let Some(expected) = self.should_panic {
            match message.contains(expected) {
                true => panic!("{message}"),
                false => panic!("{message} (expected: {expected})"),
            }
        }
    }
}

/// A case of a test whose figures are compared: the value of its argument, its name, and the test.
pub type GrowingCase = (u64, &'static str, fn());

/// Prints this on stderr even where the test harness captures a test's output: nothing else is said of the test.
fn tell(message: &str) {
    use std::io::Write;
    // A closed stderr is no reason for a test to fail.
    let _ = writeln!(std::io::stderr().lock(), "intermezzo: {message}");
}

#[cfg(feature = "explore")]
pub use explored::{run_deterministic_test, run_growth_test, run_program, run_test, run_unmodified};
#[cfg(not(feature = "explore"))]
pub use plain::{run_deterministic_test, run_growth_test, run_test};

#[cfg(feature = "explore")]
mod explored {
    //! Tests are explored.

    use super::{GrowingCase, Source, tell};
    use crate::baseline::{Baseline, KnownFinding, is_updated};
    use crate::report::source::Search;
    use crate::settings::Layers;
    use crate::{
        Coverage, Expected, ExploreError, Explorer, Growth, ReplayedBy, Report, Schedule, TestBinary,
        TextStyle, Verbosity, is_laid_over_std, is_memory_watched, is_order_seen,
    };
    use std::fmt::Debug;

    /// The settings of tests whose std has the look-alikes laid over it, unless others are given.
    const OF_UNMODIFIED: [(&str, &str); 3] = [
        // Such tests have loops for real schedulers.
        ("steps", "1000000"),
        // As much as a main thread has.
        ("stack", "8388608"),
        // Limits of time are long enough on a real machine; and a weak exchange seldom fails, but no strong reduction is sound
        // where it may.
        ("environment", "timeouts=0,weak_failures=0"),
    ];

    /// The same where the counts of `Arc` are not seen.
    const OF_UNCOUNTED: (&str, &str) = ("environment", "arc_counts=0");

    /// The same where accesses to plain memory are not seen.
    const OF_UNWATCHED: (&str, &str) = ("monitors", "-data-race");

    /// Returns the settings of such tests.
    fn of_unmodified() -> Vec<(&'static str, &'static str)> {
        let uncounted = (!is_order_seen()).then_some(OF_UNCOUNTED);
        let unwatched = (!is_memory_watched()).then_some(OF_UNWATCHED);
        OF_UNMODIFIED
            .into_iter()
            .chain(uncounted)
            .chain(unwatched)
            .collect()
    }

    impl Source {
        /// Returns the package and the target of the test of this path.
        fn of(&self, program: &str) -> TestBinary {
            let krate = program.split("::").next().unwrap_or_default();
            let target = match (self.binary, self.is_in_suite) {
                (Some(name), _) => format!("bin {name}"),
                (None, true) => format!("test {krate}"),
                (None, false) => "lib".to_owned(),
            };
            let binary = match self.package_name {
                Some(package) => TestBinary {
                    package: package.to_owned(),
                    target,
                },
                None => TestBinary::default(),
            };
            // A replay has to lay the look-alikes over std, too.
            match is_laid_over_std() {
                true => binary.unmodified(is_memory_watched()),
                false => binary,
            }
        }
    }

    /// Explores a test of this name with these settings, by name and value, and fails with the report unless it
    /// passes. If `INTERMEZZO_REPLAY` has the schedule of another test, this one is not run, and says so.
    ///
    /// # Panics
    /// If the test does not pass, or a setting is invalid. A test with `#[should_panic]` panics if it passes.
    #[track_caller]
    pub fn run_test(program: &str, settings: &[(&str, &str)], source: Source, test: fn()) {
        run(program, settings, source, &|explorer: Explorer| {
            explorer.try_explore(test)
        });
    }

    /// Explores a test of this name that has to return the same in every execution, as [`run_test`] does.
    ///
    /// # Panics
    /// As [`run_test`].
    #[track_caller]
    pub fn run_deterministic_test<T: Debug>(
        program: &str,
        settings: &[(&str, &str)],
        source: Source,
        test: fn() -> T,
    ) {
        run(program, settings, source, &|explorer: Explorer| {
            explorer.try_explore_deterministic(test)
        });
    }

    /// Explores the cases of a test, and fails if one does not pass, or if a figure grows faster with the argument than by
    /// the exponent that `most` has for it. The reports are those of the cases' own tests, and replay there.
    ///
    /// # Panics
    /// As said, or if a setting or an exponent is invalid.
    #[track_caller]
    pub fn run_growth_test(
        program: &str,
        settings: &[(&str, &str)],
        source: Source,
        argument: &str,
        most: &[(&str, &str)],
        cases: &[GrowingCase],
    ) {
        if std::env::var_os("INTERMEZZO_REPLAY").is_some() {
            return tell(&format!("{program} was not run: one execution has no growth"));
        }
        let grown = |(figure, most): &(&str, &str)| {
            let exponent = most.parse::<f64>().ok().filter(|most| most.is_finite());
            let exponent = exponent.ok_or_else(|| format!("growth({figure} = {most}): a number is needed"));
            Ok((Growth::named(argument, figure)?, exponent?))
        };
        let mut growths = match most.iter().map(grown).collect::<Result<Vec<_>, String>>() {
            Ok(growths) => growths,
            Err(reason) => return fail(source, &reason),
        };
        for &(value, case, test) in cases {
            let run = |explorer: Explorer| explorer.try_explore(test);
            match explore(case, settings, source.of(case), source, &run) {
                Ok(None) => return,
                Ok(Some((report, _))) if report.verdict().is_pass() => {
                    growths
                        .iter_mut()
                        .for_each(|(growth, _)| growth.add(value, &report));
                }
                Ok(Some((report, detail))) => return fail(source, &report.text(&style(source, detail))),
                Err(reason) => return fail(source, &reason),
            }
        }
        let exceeded = growths.iter().filter_map(|(growth, most)| growth.exceeds(*most));
        match exceeded.collect::<Vec<_>>() {
            exceeded if exceeded.is_empty() => {
                growths.iter().for_each(|(growth, _)| say(&format!("{growth}\n")));
            }
            exceeded => fail(
                source,
                &format!("error[growth]: {}\n", exceeded.join("\nerror[growth]: ")),
            ),
        }
    }

    /// Explores a test in this way.
    #[track_caller]
    fn run(program: &str, settings: &[(&str, &str)], source: Source, explore: Explore<'_>) {
        let settings = match is_laid_over_std() {
            true => [&of_unmodified(), settings].concat(),
            false => settings.to_vec(),
        };
        match judge(program, &settings, source.of(program), source, explore) {
            Judged::Passed { text, panic } => {
                say(&text);
                source.pass(&panic);
            }
            Judged::NotRun(message) => {
                tell(&message);
                source.pass(&message);
            }
            Judged::Failed(text) => fail(source, &text),
        }
    }

    /// Explores a test that was not written for intermezzo, and returns the text about it: an error unless it passes.
    /// It runs as [`run_test`] does, without settings of its own.
    ///
    /// # Errors
    /// If the test does not pass, or a setting is invalid.
    pub fn run_unmodified(
        program: &str,
        source: Source,
        test: &(dyn Fn() + Send + Sync),
    ) -> Result<String, String> {
        // The ordinary test harness gives a test's thread the name of the test.
        let name = program.split_once("::").map_or(program, |(_, path)| path);
        crate::thread::name_main(Some(name.to_owned().leak()));
        run_as(source.of(program), program, source, test)
    }

    /// Explores a program as a whole, and returns the text about it, as [`run_unmodified`] does for a test. `kind` is that
    /// of its target: `bin` or `example`.
    ///
    /// # Errors
    /// If the program fails, or a setting is invalid.
    pub fn run_program(
        program: &str,
        kind: &str,
        source: Source,
        main: &(dyn Fn() + Send + Sync),
    ) -> Result<String, String> {
        crate::thread::name_main(Some("main"));
        let target = format!("{kind} {}", source.binary.unwrap_or_default());
        let package = source.package_name.unwrap_or_default().to_owned();
        let binary = TestBinary { package, target };
        run_as(
            binary.program().unmodified(is_memory_watched()),
            program,
            source,
            main,
        )
    }

    /// Explores what was not written for intermezzo, which is in this binary.
    fn run_as(
        binary: TestBinary,
        program: &str,
        source: Source,
        test: &(dyn Fn() + Send + Sync),
    ) -> Result<String, String> {
        let explore = |explorer: Explorer| explorer.try_explore(test);
        match judge(program, &of_unmodified(), binary, source, &explore) {
            Judged::Passed { text, .. } => Ok(text),
            Judged::NotRun(message) => Ok(message),
            Judged::Failed(text) => Err(text),
        }
    }

    /// A way to explore a test by an explorer that is set up.
    type Explore<'a> = &'a dyn Fn(Explorer) -> Result<Report, ExploreError>;

    /// The result of a test.
    enum Judged {
        /// It passed, with this report. If it has to panic, with this message.
        Passed { text: String, panic: String },
        /// It was not explored, for this reason.
        NotRun(String),
        /// It failed, with this report or for this reason.
        Failed(String),
    }

    /// Explores a test, and judges its report.
    fn judge(
        program: &str,
        settings: &[(&str, &str)],
        binary: TestBinary,
        source: Source,
        run: Explore<'_>,
    ) -> Judged {
        let replayed_by = match binary.is_unmodified() {
            true => ReplayedBy::CommandLine,
            false => ReplayedBy::Test,
        };
        if let Some(other) = other_test(program, &binary) {
            return Judged::NotRun(format!("{program} was not run: {other}"));
        }
        let (report, detail) = match explore(program, settings, binary, source, run) {
            Ok(Some(explored)) => explored,
            Ok(None) => {
                return Judged::Passed {
                    text: String::new(),
                    panic: "the test was only asked for its settings".to_owned(),
                };
            }
            Err(reason) => {
                crate::settings::tell_refusal(program, &reason);
                return Judged::Failed(reason);
            }
        };
        let style = style(source, detail).replayed_by(replayed_by);
        let text = report.text(&style);
        let known = match is_known(&report, &style) {
            Ok(known) => known,
            Err(reason) => return Judged::Failed(reason),
        };
        if known {
            // The command says so.
            let panic = String::new();
            Judged::Passed { text, panic }
        } else if report.verdict().is_pass() {
            let panic = report.findings().iter().find(|found| found.is_error());
            let panic = panic.map_or_else(String::new, |panic| panic.message.clone());
            Judged::Passed { text, panic }
        } else {
            Judged::Failed(text)
        }
    }

    /// Returns `true` if a test fails only because of findings that the project's baseline lists. A replay shows its
    /// finding all the same.
    ///
    /// # Errors
    /// If the baseline cannot be read.
    fn is_known(report: &Report, style: &TextStyle) -> Result<bool, String> {
        if !report.verdict().is_fail() || matches!(report.coverage(), Coverage::Replayed { .. }) {
            return Ok(false);
        }
        if is_updated() {
            return Ok(true);
        }
        let Some(baseline) = Baseline::of_process().map_err(|error| error.to_string())? else {
            return Ok(false);
        };
        let search = style.sources.clone().unwrap_or_else(Search::here);
        Ok(baseline.has_all(&KnownFinding::of_report(report, &search)))
    }

    /// Returns the style of the test's reports.
    fn style(source: Source, detail: Verbosity) -> TextStyle {
        let style = TextStyle::of_process().detail(detail);
        match sources(source) {
            Some(sources) => style.sources(sources),
            None => style,
        }
    }

    /// Returns the places to look for the test's source files, if its package is known.
    fn sources(source: Source) -> Option<Search> {
        let package = source.package?;
        Some(Search::of_package(package.as_ref(), source.file))
    }

    /// Returns the report of the test, and its detail; none if only its settings were asked for.
    ///
    /// # Errors
    /// If it cannot be run with these settings.
    fn explore(
        program: &str,
        settings: &[(&str, &str)],
        binary: TestBinary,
        source: Source,
        run: Explore<'_>,
    ) -> Result<Option<(Report, Verbosity)>, String> {
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
        for (name, value) in source.expected {
            explorer = explorer.expect(Expected::named(name, value)?);
        }
        if let Some(sources) = sources(source) {
            explorer = explorer.sources(sources);
        }
        if let Some(mut line) = layers.settings().progress.watch() {
            let program = program.to_owned();
            explorer = explorer.on_progress(move |progress| {
                line(progress)
                    .iter()
                    .for_each(|line| tell(&format!("{program}: {line}")));
            });
        }
        if let Ok(at) = std::env::var("INTERMEZZO_BREAK") {
            let at = at.parse().map_err(|error| format!("INTERMEZZO_BREAK: {error}"))?;
            explorer = explorer.stop_before(at, |stopped| tell(stopped.to_string().trim_end()));
        }
        let report = run(explorer).map_err(|error| match &error {
            ExploreError::Setting(setting) => layers.located(setting),
            _ => error.to_string(),
        })?;
        Ok(Some((report, layers.settings().detail)))
    }

    /// Returns a description of the schedule that is to be replayed, if that belongs to another test than this one.
    fn other_test(program: &str, binary: &TestBinary) -> Option<String> {
        let given = std::env::var("INTERMEZZO_REPLAY").ok()?;
        // Each test refuses a text that is no schedule: it is unknown which test it was for.
        let schedule = Schedule::parse(&given).ok()?;
        schedule.for_test(program, binary).err()?;
        let wanted = match schedule.binary.is_unknown() {
            true => schedule.program,
            false => format!("{} ({})", schedule.program, schedule.binary),
        };
        Some(format!("INTERMEZZO_REPLAY has a schedule of {wanted}"))
    }

    /// Fails the test. One with `#[should_panic]` fails by ending without a panic. Otherwise it unwinds without the
    /// panic hook: it would print a place and a backtrace of this crate before the failure.
    fn fail(source: Source, why: &str) {
        say(why);
        if source.should_panic.is_none() {
            std::panic::resume_unwind(Box::new(why.to_owned()));
        }
    }

    /// Prints this for the test harness, which shows it where a test fails and under `--nocapture`.
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

    use super::{GrowingCase, Source, tell};
    use std::fmt::Debug;
    use std::sync::Once;

    /// Runs the test once, as it is, and says on stderr that it was not explored: once for all tests of the process.
    /// If `INTERMEZZO_REPLAY` has the schedule of another test, this one is not run, and says so.
    ///
    /// # Panics
    /// If the test does; or if `INTERMEZZO_REPLAY` has a schedule of it, or an unreadable text.
    #[track_caller]
    pub fn run_test(program: &str, _: &[(&str, &str)], source: Source, test: fn()) {
        run(program, source, test);
    }

    /// Runs a test once that has to return the same in every execution, as [`run_test`] does.
    ///
    /// # Panics
    /// As [`run_test`].
    #[track_caller]
    pub fn run_deterministic_test<T: Debug>(
        program: &str,
        _: &[(&str, &str)],
        source: Source,
        test: fn() -> T,
    ) {
        run(program, source, || drop(test()));
    }

    /// Says on stderr that the figures of explorations are needed.
    pub fn run_growth_test(
        program: &str,
        _: &[(&str, &str)],
        _: Source,
        _: &str,
        _: &[(&str, &str)],
        _: &[GrowingCase],
    ) {
        tell(&format!(
            "{program} was not run: it compares explorations, and the feature `explore` of intermezzo is off; switch it \
             on in [dev-dependencies]"
        ));
    }

    /// Runs the test once.
    #[track_caller]
    fn run(program: &str, source: Source, test: impl FnOnce()) {
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
        if source.expects_finding {
            let message =
                format!("{program} was not run: it expects a finding, which an exploration shows, and {OFF}");
            return tell(&message);
        }
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            tell(&format!(
                "{program} and the other tests with #[intermezzo::test] here are run once and not explored: {OFF}"
            ));
        });
        test();
    }

    /// Returns the program of a schedule, given as a token or as the path of a file; `None` if it cannot be
    /// determined.
    fn program_of(schedule: &str) -> Option<String> {
        let word = schedule.trim();
        let token = word.strip_prefix("imz").and_then(|rest| rest.split_once('.'));
        match token.filter(|(version, _)| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
        {
            Some((_, contents)) => program_of_token(contents),
            None => program_of_file(&std::fs::read_to_string(schedule).ok()?),
        }
    }

    /// Returns the program of a token with these contents: after its version and its environment, in each version of
    /// the format.
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

    /// Takes a number of seven bits a byte, lowest first, from the front.
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

    /// Returns the bytes of a text in base64url, without those of an incomplete group.
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

    /// Returns the program of a schedule file with this text: names of tests have nothing that JSON would escape.
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
