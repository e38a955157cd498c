//! The process of one test, which explores one share of its search and writes its report.

use super::super::cargo::variable;
use super::binaries::Built;
use crate::problem::Problem;
use intermezzo_pool::ShareName;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, str, thread};
use tempfile::TempDir;

/// The first argument with which a worker starts this program for a test.
const FOR_WORKER: &str = "run-for-worker";

/// The number of bytes at the end of a process's output that are shown.
const OUTPUT_SHOWN: usize = 2_000;

/// The first and the longest pause between checks of the process. Pauses begin short, since many shares are small.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// A running test.
pub(super) struct Running {
    child: Child,
    directory: TempDir,
    begun: Instant,
    pause: Duration,
}

/// A process that ended.
pub(super) struct Ended {
    /// Its reports, as one JSON value; `None` if it wrote none.
    pub(super) reports: Option<String>,
    /// `true` if the verdict of a report is `fail`.
    pub(super) fails: bool,
    pub(super) executions: u64,
    /// The first line of each finding.
    pub(super) findings: Vec<String>,
    /// `true` if there is one report, and it is of a share.
    pub(super) is_share: bool,
    /// The reason why there is no report.
    pub(super) why: String,
    pub(super) seconds: f64,
}

/// The fields of a report that are read here.
#[derive(Deserialize)]
struct Head {
    format: String,
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    executions: u64,
    #[serde(default)]
    findings: Vec<FindingHead>,
    share: Option<serde_json::Value>,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
struct FindingHead {
    kind: String,
    message: String,
}

impl Running {
    /// Runs a test.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(super) fn start(
        built: &Built,
        program: &str,
        settings: &[(String, String)],
        share: &ShareName,
    ) -> Result<Running, Problem> {
        let trouble = |error: io::Error| {
            Problem::file(
                "make a file in",
                &env::temp_dir(),
                &error,
                "set TMPDIR to a directory that can be written",
            )
        };
        let directory = tempfile::Builder::new()
            .prefix("intermezzo-")
            .tempdir()
            .map_err(trouble)?;
        let reports = directory.path().join("reports");
        fs::create_dir(&reports).map_err(trouble)?;
        let output = File::create(directory.path().join("output")).map_err(trouble)?;
        let krate = format!("{}::", built.krate);
        let name = program.strip_prefix(&krate).unwrap_or(program);
        let mut command = command(&built.executable);
        command
            .args([name, "--exact"])
            .current_dir(&built.directory)
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(trouble)?)
            .stderr(output);
        // The worker's own settings do not apply to the tests of a run.
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("INTERMEZZO_") {
                command.env_remove(name);
            }
        }
        command.envs(settings.iter().map(|(name, value)| (variable(name), value)));
        command.env(variable("reports"), &reports);
        if !share.is_whole() {
            command.env(variable("partition"), share.to_string());
        }
        // cargo sets these variables and this path for tests.
        command
            .env("CARGO_MANIFEST_DIR", &built.directory)
            .env("CARGO_PKG_NAME", &built.binary.package);
        if let Some(libraries) = built.executable.parent() {
            let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
            let paths = [libraries.to_owned()]
                .into_iter()
                .chain(env::split_paths(&before));
            if let Ok(paths) = env::join_paths(paths) {
                command.env("LD_LIBRARY_PATH", paths);
            }
        }
        let child = command
            .spawn()
            .map_err(|error| Problem::file("run", &built.executable, &error, "build the tests again"))?;
        Ok(Running {
            child,
            directory,
            begun: Instant::now(),
            pause: PAUSES.0,
        })
    }

    /// Returns the time since it began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Waits a little. Returns the end of the process, if it has ended.
    pub(super) fn ended(&mut self) -> Option<Ended> {
        match self.child.try_wait() {
            Ok(None) => {
                thread::sleep(self.pause);
                self.pause = (self.pause * 2).min(PAUSES.1);
                None
            }
            Ok(Some(status)) => Some(self.read(&status.to_string())),
            Err(error) => Some(self.read(&error.to_string())),
        }
    }

    fn read(&self, status: &str) -> Ended {
        let mut ended = Ended {
            reports: None,
            fails: false,
            executions: 0,
            findings: Vec::new(),
            is_share: false,
            why: String::new(),
            seconds: self.elapsed().as_secs_f64(),
        };
        let mut reports: Vec<Box<RawValue>> = Vec::new();
        let mut paths: Vec<_> = fs::read_dir(self.directory.path().join("reports"))
            .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
            .unwrap_or_default();
        paths.sort();
        for path in paths {
            let Some(text) = fs::read_to_string(&path).ok() else {
                continue;
            };
            let Ok(head) = serde_json::from_str::<Head>(&text) else {
                continue;
            };
            if head.format.starts_with("intermezzo-refusal/") {
                ended.why = head.reason;
                continue;
            }
            ended.fails |= head.verdict == "fail";
            ended.executions = ended.executions.saturating_add(head.executions);
            let line = |finding: FindingHead| {
                format!(
                    "{}: {}",
                    finding.kind,
                    finding.message.lines().next().unwrap_or_default()
                )
            };
            ended.findings.extend(head.findings.into_iter().map(line));
            ended.is_share = reports.is_empty() && head.share.is_some();
            reports.extend(RawValue::from_string(text.trim().to_owned()));
        }
        if ended.why.is_empty() && reports.is_empty() {
            let output = fs::read(self.directory.path().join("output")).unwrap_or_default();
            let last =
                String::from_utf8_lossy(&output[output.len().saturating_sub(OUTPUT_SHOWN)..]).into_owned();
            ended.why = format!(
                "its process wrote no report ({status}); the end of its output:\n{}",
                last.trim()
            );
        }
        if ended.why.is_empty() {
            let texts: Vec<&str> = reports.iter().map(|report| report.get()).collect();
            ended.reports = Some(format!("{{\"reports\":[{}]}}", texts.join(",")));
        }
        ended
    }
}

/// Ends the process if it is still running.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a command that runs the executable. On Linux its process ends when the worker ends, however that happens.
fn command(executable: &Path) -> Command {
    // This names the running program even if its file was replaced in the meantime.
    let this = Path::new("/proc/self/exe");
    match cfg!(target_os = "linux") && this.exists() {
        true => {
            let mut command = Command::new(this);
            command
                .arg(FOR_WORKER)
                .arg(std::process::id().to_string())
                .arg(executable);
            command
        }
        false => Command::new(executable),
    }
}

/// Replaces this process by the test if a worker started it for one. Returns only if it did not, or if that fails.
pub(crate) fn run_for_worker() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != FOR_WORKER {
        return None;
    }
    let worker = arguments.next()?;
    become_test(&worker, arguments)
}

#[cfg(target_os = "linux")]
fn become_test(worker: &OsString, mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    use nix::sys::{prctl, signal::Signal};
    use std::os::unix::process::{CommandExt as _, parent_id};
    let executable = arguments.next()?;
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    // The worker may have ended before the signal was set.
    if worker.to_str() != Some(&parent_id().to_string()) {
        return Some(ExitCode::FAILURE);
    }
    let error = Command::new(&executable).args(arguments).exec();
    crate::output::complain(&format!("cannot run {executable:?} ({error})"));
    Some(ExitCode::FAILURE)
}

#[cfg(not(target_os = "linux"))]
fn become_test(_: &OsString, _: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    None
}
