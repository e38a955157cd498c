//! A replacement for the crate `test` that explores each test function. It has the items that the `main` of a test binary
//! names, in stable Rust. It also explores the `main` of a program.

mod arguments;
mod beginning;

use intermezzo::Source;
use libtest_mimic::{Failed, Trial};
use std::sync::{Mutex, OnceLock, PoisonError};

pub use ShouldPanic::{No, Yes, YesWithMessage};
pub use TestFn::{StaticBenchFn, StaticTestFn};
pub use TestName::StaticTestName;

/// The name of a test.
#[derive(Clone, Copy, Debug)]
pub enum TestName {
    /// Its path in its crate.
    StaticTestName(&'static str),
}

/// A function that is a test or a benchmark.
#[derive(Clone, Copy)]
pub enum TestFn {
    /// A test.
    StaticTestFn(fn() -> Result<(), String>),
    /// A benchmark.
    StaticBenchFn(fn(&mut Bencher) -> Result<(), String>),
}

/// The argument of a benchmark. Benchmarks need a nightly compiler, so there are none.
#[derive(Debug)]
pub struct Bencher(());

/// The way in which a test must end.
#[derive(Clone, Copy, Debug)]
pub enum ShouldPanic {
    /// It must not panic.
    No,
    /// It must panic.
    Yes,
    /// It must panic with this text in the message.
    YesWithMessage(&'static str),
}

/// The kind of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestType {
    /// In the crate itself.
    UnitTest,
    /// In a file of its own.
    IntegrationTest,
    /// In documentation.
    DocTest,
    /// Not known.
    Unknown,
}

/// The properties of a test.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct TestDesc {
    pub name: TestName,
    pub ignore: bool,
    pub ignore_message: Option<&'static str>,
    pub source_file: &'static str,
    pub start_line: usize,
    pub start_col: usize,
    pub end_line: usize,
    pub end_col: usize,
    pub should_panic: ShouldPanic,
    pub compile_fail: bool,
    pub no_run: bool,
    pub test_type: TestType,
}

/// A test.
#[allow(missing_docs)]
pub struct TestDescAndFn {
    pub desc: TestDesc,
    pub testfn: TestFn,
}

/// Converts the return value of a test function to a `Result`.
pub fn assert_test_result<T: Outcome>(result: T) -> Result<(), String> {
    result.outcome()
}

/// The return value of a test function.
pub trait Outcome {
    /// Converts it to a `Result` whose error describes the failure.
    fn outcome(self) -> Result<(), String>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), String> {
        Ok(())
    }
}

impl Outcome for std::convert::Infallible {
    fn outcome(self) -> Result<(), String> {
        match self {}
    }
}

impl Outcome for std::process::ExitCode {
    fn outcome(self) -> Result<(), String> {
        match self == std::process::ExitCode::SUCCESS {
            true => Ok(()),
            false => Err(format!("the test returned {self:?}")),
        }
    }
}

impl<T: Outcome, E: std::fmt::Debug> Outcome for Result<T, E> {
    fn outcome(self) -> Result<(), String> {
        self.map_err(|error| format!("the test returned an error: {error:?}"))?
            .outcome()
    }
}

/// Runs the tests of a test binary: its `main`.
pub fn test_main_static(tests: &[&TestDescAndFn]) {
    lay_over_std();
    restore_beginning();
    let krate = krate();
    let trials: Vec<Trial> = tests.iter().filter_map(|test| trial(&krate, test)).collect();
    libtest_mimic::run(&arguments::of(&trials), trials).exit();
}

/// Installs the look-alikes in this process.
fn lay_over_std() {
    intermezzo::unmodified::lay_over_std();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        intermezzo::unmodified::futex::take_over();
        intermezzo::unmodified::c_io::take_over();
        intermezzo::unmodified::c_time::take_over();
        intermezzo::unmodified::c_random::take_over();
        intermezzo::unmodified::c_semaphores::take_over();
    }
    restore_statics();
    if let Some(root) = noted("counted").next() {
        // All overlays are next to each other.
        let overlays = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let overlays = overlays.and_then(|overlays| overlays.to_str()).unwrap_or_default();
        intermezzo::unmodified::see_counts(overlays, Some(root.into()));
    }
    if noted("watched").next().is_some() {
        intermezzo::unmodified::watch_memory();
    }
}

/// Runs the tests as `test_main_static` does. Crates in which a panic aborts the process call this one.
pub fn test_main_static_abort(tests: &[&TestDescAndFn]) {
    test_main_static(tests);
}

fn trial(krate: &str, test: &TestDescAndFn) -> Option<Trial> {
    let (TestDesc { name: StaticTestName(name), .. }, StaticTestFn(body)) = (test.desc, test.testfn) else {
        return None;
    };
    let program = format!("{krate}::{name}");
    let desc = test.desc;
    let trial = Trial::test(name, move || explore(&program, desc, body));
    Some(trial.with_ignored_flag(desc.ignore))
}

/// Explores a test. Tests run one at a time, because all tests of the process share the statics that have no look-alike.
fn explore(program: &str, desc: TestDesc, body: fn() -> Result<(), String>) -> Result<(), Failed> {
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if noted("uses-intermezzo").next().is_some() {
        return run(desc.should_panic, body);
    }
    let source = Source {
        package: variable("CARGO_MANIFEST_DIR"),
        package_name: variable("CARGO_PKG_NAME"),
        binary: noted("program").next(),
        is_in_suite: desc.test_type == TestType::IntegrationTest,
        file: desc.source_file,
        // This setting asks for a panic in one of the executions; here each of them has to panic, which the body checks.
        should_panic: None,
        expected: &[],
        expects_finding: false,
    };
    let place = format!("{}:{}:{}", desc.source_file, desc.start_line, desc.start_col);
    intermezzo::run_unmodified(program, source, &|| {
        let trouble = match desc.should_panic {
            No => body().err(),
            expected => trouble(expected, std::panic::catch_unwind(body)),
        };
        if let Some(trouble) = trouble {
            intermezzo::unmodified::panic_at(trouble, &place);
        }
    })
    .map(|text| {
        if shows_output() && !text.is_empty() {
            eprintln!("{}{}", if names_tests_first() { "\n" } else { "" }, text.trim_end());
        }
    })
    .map_err(Failed::from)
}

/// The lines that the compiler's wrapper wrote about this binary.
static NOTES: OnceLock<String> = OnceLock::new();

/// Returns the lines about this binary that begin with this word, without the word.
fn noted(word: &str) -> impl Iterator<Item = &'static str> {
    let notes = NOTES.get_or_init(|| {
        let path = std::env::current_exe().map(|path| path.with_extension("intermezzo"));
        path.and_then(std::fs::read_to_string).unwrap_or_default()
    });
    notes.lines().filter_map(move |line| Some(line.strip_prefix(word)?.trim_start()))
}

/// Registers the statics of the project's crates, which are then restored before each execution. Does nothing if the
/// compiler's wrapper did not find them.
fn restore_statics() {
    let number = |text: &str| usize::from_str_radix(text, 16).ok();
    let range = |line: &str| {
        let (address, size) = line.split_once(' ')?;
        Some(number(address)?..number(address)? + number(size)?)
    };
    if noted("statics").next().is_some()
        && let Some(ranges) = noted("static ").map(range).collect::<Option<Vec<_>>>()
    {
        // SAFETY: these are the statics of the tests, which run one after the other, each on one worker.
        let kept = unsafe { intermezzo::unmodified::keep_statics(ranges) };
        if let Err(reason) = kept {
            eprintln!("intermezzo: statics are not restored: {reason}");
        }
    }
}

/// Makes each execution begin in the directory and with the environment variables with which the process began.
fn restore_beginning() {
    let beginning = beginning::Beginning::of_process();
    let before = move || {
        beginning.restore_variables();
        // An execution in another directory would not begin as the process did.
        if let Err(trouble) = beginning.restore_directory() {
            eprintln!("intermezzo: {trouble}");
            std::process::exit(2);
        }
    };
    intermezzo::unmodified::around_executions(Box::new(before), Box::new(|| ()));
}

/// Runs a test of a crate that uses intermezzo: the test itself says what is explored.
fn run(should_panic: ShouldPanic, body: fn() -> Result<(), String>) -> Result<(), Failed> {
    match (should_panic, std::panic::catch_unwind(body)) {
        (No, Ok(result)) => result.map_err(Failed::from),
        (No, Err(panicked)) => Err(message(&*panicked).to_owned().into()),
        (expected, ended) => match trouble(expected, ended) {
            None => Ok(()),
            Some(trouble) => Err(trouble.into()),
        },
    }
}

/// Returns the message of a panic, if it has one.
fn message(panicked: &(dyn std::any::Any + Send)) -> &str {
    let text = panicked.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panicked.downcast_ref::<&str>().copied()).unwrap_or_default()
}

/// Returns the reason why a test that should panic has failed, if it has.
fn trouble(expected: ShouldPanic, ended: std::thread::Result<Result<(), String>>) -> Option<String> {
    let Err(panicked) = ended else {
        return Some("the test did not panic, as it should have".into());
    };
    match expected {
        YesWithMessage(text) if !message(&*panicked).contains(text) => {
            Some(format!("the test panicked without {text:?} in its message"))
        }
        _ => None,
    }
}

/// `true` if the output of tests is shown.
fn shows_output() -> bool {
    std::env::args().any(|argument| argument == "--nocapture" || argument == "--no-capture")
}

/// `true` if the harness has begun a line with the name of the running test. It does so with one thread.
fn names_tests_first() -> bool {
    let threads = arguments::given().0.test_threads;
    let threads = threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    threads.is_none_or(|threads| threads == 1)
}

/// Returns the value of an environment variable, kept for the rest of the process.
fn variable(name: &str) -> Option<&'static str> {
    Some(std::env::var(name).ok()?.leak())
}

/// Returns the name of the crate: that of the executable without its hash.
fn krate() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name);
    name.replace('-', "_")
}

/// Programs that are explored as a whole.
pub mod program {
    use super::beginning::Beginning;
    use super::{NOTES, lay_over_std, noted, variable};
    use intermezzo::settings::variables::{COMMAND_LIMIT, NEXT_WRAPPER, SET_UP, TEAR_DOWN};
    use intermezzo::{Source, unmodified};
    use std::ffi::{OsStr, OsString};
    use std::fmt::Debug;
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, ExitCode, ExitStatus, Stdio, Termination};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};
    use std::{env, io};

    /// A program, as the compiler's wrapper knows it.
    pub struct Program {
        /// The directory of its package.
        pub package: &'static str,
        /// The name of its package.
        pub package_name: &'static str,
        /// `bin` or `example`.
        pub kind: &'static str,
        /// The name of its target.
        pub name: &'static str,
        /// The file of its root module, as the compiler names it.
        pub file: &'static str,
        /// The place of `main`.
        pub place: &'static str,
        /// The file with the wrapper's notes about it.
        pub notes: &'static str,
    }

    /// The `main` of a program.
    pub struct Main<T>(pub fn() -> T);

    impl<T: Termination, E: Debug> Main<Result<T, E>> {
        /// Runs it, and returns a description of its failure.
        pub fn run(&self) -> Option<String> {
            match (self.0)() {
                Ok(value) => failure(value),
                Err(error) => Some(format!("returned an error: {error:?}")),
            }
        }
    }

    /// A `main` that returns no `Result`. For a `Result` the method of its own type is called.
    pub trait Run {
        /// Runs it, and returns a description of its failure.
        fn run(&self) -> Option<String>;
    }

    impl<T: Termination> Run for Main<T> {
        fn run(&self) -> Option<String> {
            failure((self.0)())
        }
    }

    fn failure(value: impl Termination) -> Option<String> {
        let code = value.report();
        (code != ExitCode::SUCCESS).then(|| format!("returned {code:?}"))
    }

    /// Explores a program, and ends the process. It exits as std does, so that output without a final newline is flushed.
    pub fn explore(program: Program, main: impl Fn() -> Option<String> + Send + Sync) -> ! {
        let _ = NOTES.set(std::fs::read_to_string(program.notes).unwrap_or_default());
        as_std_begins();
        lay_over_std();
        let name = format!("{}::main", program.name.replace('-', "_"));
        if noted("uses-intermezzo").next().is_some() {
            refuse(&name, "it uses intermezzo itself: run it by `cargo run`");
        }
        set_up_and_tear_down(&name);
        let source = Source {
            package: Some(program.package),
            package_name: Some(program.package_name),
            binary: Some(program.name),
            is_in_suite: false,
            file: program.file,
            should_panic: None,
            expected: &[],
            expects_finding: false,
        };
        let explored = intermezzo::run_program(&name, program.kind, source, &|| {
            if let Some(failure) = main() {
                unmodified::process::fail(format!("`main`, at {}, {failure}", program.place));
            }
        });
        if let Err(text) = &explored {
            eprintln!("{}", text.trim_end());
        }
        if let Some(trouble) = FAILED_TEAR_DOWN.lock().unwrap_or_else(PoisonError::into_inner).take() {
            refuse(&name, &trouble);
        }
        std::process::exit(i32::from(explored.is_err()));
    }

    /// Ignores SIGPIPE, as std's start code does.
    fn as_std_begins() {
        #[cfg(unix)]
        {
            unsafe extern "C" {
                fn signal(number: i32, handler: usize) -> usize;
            }
            const SIGPIPE: i32 = 13;
            const SIG_IGN: usize = 1;
            // SAFETY: the process has one thread, and no handler of its own for this signal.
            unsafe { signal(SIGPIPE, SIG_IGN) };
        }
    }

    /// Makes each execution begin as the process did, and runs the user's commands before and after it.
    fn set_up_and_tear_down(program: &str) {
        let beginning = Arc::new(Beginning::of_process());
        let [set_up, tear_down] = [("set-up", SET_UP), ("tear-down", TEAR_DOWN)].map(|(what, name)| {
            let command = variable(name).map(|text| HookCommand::new(program, what, text));
            let beginning = beginning.clone();
            move || {
                beginning.restore_variables();
                command.as_ref().map_or(Ok(()), |command| command.run(beginning.directory()))
            }
        });
        let program = program.to_owned();
        let before = move || {
            let begun = beginning.restore_directory().and_then(|()| set_up());
            begun.unwrap_or_else(|trouble| refuse(&program, &trouble));
        };
        let after = move || {
            if let Err(trouble) = tear_down() {
                // The execution may have failed, too: the search continues, so that its findings are reported.
                let mut first = FAILED_TEAR_DOWN.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(trouble);
            }
        };
        unmodified::around_executions(Box::new(before), Box::new(after));
    }

    /// Ends the process with the reason why the program cannot be explored.
    fn refuse(program: &str, reason: &str) -> ! {
        intermezzo::settings::tell_refusal(program, reason);
        std::process::exit(2);
    }

    /// The failure of the first tear-down that failed.
    static FAILED_TEAR_DOWN: Mutex<Option<String>> = Mutex::new(None);

    /// The time after which the user is told that a command is still running.
    const TELL_AFTER: Duration = Duration::from_secs(5);

    /// A command that the user gives, for a shell.
    struct HookCommand {
        /// The program around whose executions it runs.
        program: String,
        /// `set-up` or `tear-down`.
        what: &'static str,
        text: &'static str,
        /// The time after which it is ended.
        limit: Duration,
        /// `true` once the user was told that it is still running.
        is_told: AtomicBool,
    }

    impl HookCommand {
        fn new(program: &str, what: &'static str, text: &'static str) -> HookCommand {
            let limit = variable(COMMAND_LIMIT).and_then(|seconds| seconds.parse().ok());
            let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            HookCommand {
                program: program.to_owned(),
                what,
                text,
                limit: limit.unwrap_or(Duration::MAX),
                is_told: AtomicBool::new(false),
            }
        }

        /// Runs it in this directory.
        fn run(&self, directory: Option<&Path>) -> Result<(), String> {
            let HookCommand { what, text, limit, .. } = self;
            let trouble = match self.run_with_messages(self.shell(directory)) {
                Ok((Some(status), _)) if status.success() => return Ok(()),
                Ok((Some(status), messages)) => format!("failed: {status}\n{messages}"),
                Ok((None, messages)) => format!(
                    "was ended, because it ran for longer than {} seconds: start long-running processes in the background \
                     (`SERVER &`), or give it more time by `--command-limit`\n{messages}",
                    limit.as_secs_f64()
                ),
                Err(error) => format!("failed: {error}"),
            };
            Err(format!("the {what} command `{text}` {}", trouble.trim_end()))
        }

        fn shell(&self, directory: Option<&Path>) -> Command {
            let (shell, flags): (_, &[&str]) = match cfg!(windows) {
                true => ("cmd", &["/C"]),
                // A command may begin with a dash.
                false => ("sh", &["-c", "--"]),
            };
            let mut shell = Command::new(shell);
            shell.args(flags).arg(self.text).stdin(Stdio::null()).stdout(Stdio::null());
            if let Some(directory) = directory {
                shell.current_dir(directory);
            }
            // In a process group of its own, because Ctrl-C ends the search and not the command.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut shell, 0);
            // These variables are for the program and its build, not for the user's commands.
            for (name, _) in env::vars_os() {
                let is_ours = name.to_str().is_some_and(|name| name.starts_with("INTERMEZZO_"));
                let is_for_build = ["RUSTC_WRAPPER", "CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"];
                if is_ours || is_for_build.iter().any(|&variable| name == variable) {
                    shell.env_remove(name);
                }
            }
            if let Some(own) = env::var_os(NEXT_WRAPPER) {
                shell.env("RUSTC_WRAPPER", own);
            }
            shell
        }

        /// Runs it in this shell. Returns its exit status, `None` if it was ended at its limit, and its messages on stderr.
        /// These go to a file, because a process that the command leaves behind would keep a pipe open.
        fn run_with_messages(&self, mut shell: Command) -> io::Result<(Option<ExitStatus>, String)> {
            let path: PathBuf = env::temp_dir().join(format!("intermezzo-messages-{}", std::process::id()));
            // An earlier process with the same id may have left one.
            let _ = fs::remove_file(&path);
            shell.stderr(File::create_new(&path)?);
            let status = shell.spawn().and_then(|child| self.wait(child));
            let messages = fs::read(&path).unwrap_or_default();
            let _ = fs::remove_file(&path);
            Ok((status?, String::from_utf8_lossy(&messages).into_owned()))
        }

        /// Waits until it has ended, or ends it at its limit.
        fn wait(&self, mut child: Child) -> io::Result<Option<ExitStatus>> {
            let begun = Instant::now();
            loop {
                if let Some(status) = child.try_wait()? {
                    return Ok(Some(status));
                }
                let spent = begun.elapsed();
                if spent >= self.limit {
                    end_group(&mut child);
                    return Ok(None);
                }
                if spent >= TELL_AFTER && !self.is_told.swap(true, Relaxed) {
                    let HookCommand { program, what, text, limit, .. } = self;
                    let limit = limit.as_secs_f64();
                    eprintln!(
                        "intermezzo: {program}: the {what} command `{text}` is still running, and will be ended after {limit} \
                         seconds"
                    );
                }
                // Most commands take milliseconds, and each execution waits for them.
                std::thread::sleep((spent / 8).clamp(Duration::from_micros(50), Duration::from_millis(100)));
            }
        }
    }

    /// Ends a process and, on Unix, all others of its group.
    fn end_group(child: &mut Child) {
        #[cfg(unix)]
        {
            unsafe extern "C" {
                fn kill(process: i32, signal: i32) -> i32;
            }
            const SIGKILL: i32 = 9;
            // SAFETY: the call does not touch memory. The child leads the group, and the system does not reuse its number
            // before the child is waited for.
            unsafe { kill(-(child.id() as i32), SIGKILL) };
        }
        // An error means that the child has already ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Defines the C function `main`, which explores the crate's own `main`.
#[macro_export]
macro_rules! explore_main {
    ($kind:literal, $name:literal, $file:literal, $place:literal, $notes:literal, $whole:literal) => {
        // The compiler reads the source from another file. This makes it list the original as a dependency for cargo.
        const _: &[::core::primitive::u8] = ::core::include_bytes!($whole);
        const _: () = {
            #[unsafe(export_name = "main")]
            extern "C" fn explored() -> ::core::primitive::i32 {
                use $crate::program::Run as _;
                let program = $crate::program::Program {
                    package: ::core::env!("CARGO_MANIFEST_DIR"),
                    package_name: ::core::env!("CARGO_PKG_NAME"),
                    kind: $kind,
                    name: $name,
                    file: $file,
                    place: $place,
                    notes: $notes,
                };
                $crate::program::explore(program, || $crate::program::Main(main).run())
            }
        };
    };
}
