//! The trial of a plugin in a child process, where it can do no harm.
//!
//! The child is a copy of this process (`fork`), in which only the calling thread runs. It loads the library, creates the
//! monitor, reports the result through a pipe, and exits at once. If damaged code crashes, loops or writes to stdout, only
//! the child is affected.
//!
//! Blind spot: changes that the plugin's code makes to files are real. The child may hang if the C library does not
//! keep its allocator and its loader usable in a forked process with several threads (glibc and the systems of Apple
//! and BSD do). The plugin then seems to be too slow. The same holds if another thread of the program loads a library at
//! that moment; plugins are loaded one after the other.

use super::problem::PluginProblem;
use super::{Tried, library};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_sdk::abi::rehearsal;
use intermezzo_sdk::{FindingKind, Monitor};
use std::path::Path;

/// The answer of the child.
#[derive(Serialize, Deserialize)]
enum Answer {
    Fine(Tried),
    NotLoadable(String),
    Refused(String),
}

/// Tries the plugin out. With a rehearsal, the monitor also receives an execution, twice.
///
/// # Errors
/// If it cannot be loaded, or ended the process in which it was tried out.
pub(super) fn tried(path: &Path, arguments: &str, rehearse: bool) -> Result<Tried, PluginProblem> {
    match elsewhere::answer(|| answer(path, arguments, rehearse))? {
        Answer::Fine(tried) => Ok(tried),
        Answer::NotLoadable(error) => Err(PluginProblem::NotLoadable(error)),
        Answer::Refused(refusal) => Err(PluginProblem::Refused(refusal)),
    }
}

fn answer(path: &Path, arguments: &str, rehearse: bool) -> Answer {
    let loaded = match library::open(path) {
        Ok(loaded) => loaded,
        Err(PluginProblem::NotLoadable(error)) => return Answer::NotLoadable(error),
        Err(problem) => return Answer::Refused(problem.to_string()),
    };
    let mut monitor = match library::make(loaded.entry, arguments) {
        Ok(monitor) => monitor,
        Err(problem) => return Answer::Refused(problem.to_string()),
    };
    let mut complaints = Vec::new();
    if rehearse {
        let script = rehearsal();
        let reports = intermezzo_sdk::testing::Script::play_all([&script, &script], &mut monitor);
        let own = FindingKind::Plugin(monitor.name().to_owned());
        let about_itself = format!("the monitor `{}` ", monitor.name());
        let complain = reports.into_iter().filter(|report| report.kind == own);
        complaints.extend(
            complain
                .map(|report| report.message)
                .filter(|message| message.starts_with(&about_itself)),
        );
        complaints.dedup();
    }
    let tried = Tried {
        name: monitor.name().to_owned(),
        plugin_version: monitor.plugin_version().map(str::to_owned),
        interests: monitor.interests().bits(),
        reduction_compatible: monitor.reduction_compatible(),
        follows_stale_reads: monitor.follows_stale_reads(),
        complaints,
    };
    drop(monitor);
    if elsewhere::IS_ANOTHER_PROCESS {
        // Code that runs at the end of a process is tried out as well.
        // SAFETY: the monitor is gone, and by the contract nothing of it runs any more.
        unsafe { loaded.close() };
    } else {
        loaded.stay();
    }
    Answer::Fine(tried)
}

#[cfg(unix)]
mod elsewhere {
    use super::{Answer, PluginProblem, library};
    use intermezzo_engine::runtime::crash::Crash;
    use std::fs::File;
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsRawFd;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// `true` if the question is asked in another process.
    pub(super) const IS_ANOTHER_PROCESS: bool = true;

    /// The limit of processor time for a trial, in seconds. A trial takes some milliseconds.
    const PROCESSOR_SECONDS: libc::rlim_t = 5;

    /// The limit of time for a trial, in seconds, for plugins that wait for something.
    const SECONDS: u32 = 10;

    /// The largest size of an answer, in bytes. Problems are few.
    const ANSWER_BYTES_MAX: u64 = 1 << 20;

    /// The signals of a crash. The child does not inherit how this process handles them.
    const SIGNALS: [libc::c_int; 9] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGABRT,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGALRM,
        libc::SIGXCPU,
    ];

    /// Returns the answer to the question, asked in a child process.
    pub(super) fn answer(question: impl FnOnce() -> Answer) -> Result<Answer, PluginProblem> {
        let no_trial = |error: std::io::Error| PluginProblem::NoTrial(error.to_string());
        let (reader, writer) = pipe().map_err(no_trial)?;
        let nowhere = File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .map_err(no_trial)?;
        let alone = library::alone();
        // SAFETY: the child does only what is sound in a copy with one thread: see the module's blind spot. It never
        // returns from here.
        let child = unsafe { libc::fork() };
        if child == -1 {
            return Err(no_trial(std::io::Error::last_os_error()));
        }
        if child == 0 {
            drop(reader);
            let code = catch_unwind(AssertUnwindSafe(|| {
                // SAFETY: this is a process of its own, in which nothing else runs.
                unsafe { shut_off(nowhere.as_raw_fd()) };
                let answer = serde_json::to_vec(&question()).expect("an answer is text and numbers");
                (&writer).write_all(&answer).is_ok()
            }));
            // SAFETY: ends the child without running the exit handlers of this process.
            unsafe { libc::_exit(if let Ok(true) = code { 0 } else { 1 }) };
        }
        drop((alone, writer));
        let mut answer = Vec::new();
        let read = reader.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
        let how = ending(child);
        read.map_err(no_trial)?;
        match (how, serde_json::from_slice(&answer)) {
            (Ok(()), Ok(answer)) => Ok(answer),
            (Ok(()), Err(_)) => Err(PluginProblem::Crashed("it exited".into())),
            (Err(how), _) => Err(PluginProblem::Crashed(how)),
        }
    }

    /// Makes a child process harmless: it writes no output, leaves no core dump, and ends in time, by any crash.
    ///
    /// # Safety
    /// The process is a child with only this thread.
    unsafe fn shut_off(nowhere: libc::c_int) {
        // SAFETY: plain calls with valid pointers.
        unsafe {
            for stream in 0..=2 {
                libc::dup2(nowhere, stream);
            }
            for signal in SIGNALS {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            for (resource, most) in [(libc::RLIMIT_CORE, 0), (libc::RLIMIT_CPU, PROCESSOR_SECONDS)] {
                let limit = libc::rlimit {
                    rlim_cur: most,
                    rlim_max: most,
                };
                libc::setrlimit(resource, &limit);
            }
            libc::alarm(SECONDS);
        }
    }

    /// Waits for the child. Returns how it ended, unless it ended normally.
    fn ending(child: libc::pid_t) -> Result<(), String> {
        let mut status = 0;
        // SAFETY: waits for a child of ours.
        while unsafe { libc::waitpid(child, &mut status, 0) } == -1 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(format!("its exit status cannot be read ({error})"));
            }
        }
        if libc::WIFEXITED(status) {
            return match libc::WEXITSTATUS(status) {
                0 => Ok(()),
                code => Err(format!("it exited with code {code}")),
            };
        }
        Err(match libc::WTERMSIG(status) {
            // The processor limit is the hard one as well, which sends a signal that cannot be caught.
            libc::SIGALRM | libc::SIGXCPU | libc::SIGKILL => "it did not come to an end".into(),
            signal => Crash::Signal(signal).describe(),
        })
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::{Answer, PluginProblem};

    /// `true` if the question is asked in another process.
    pub(super) const IS_ANOTHER_PROCESS: bool = false;

    /// Returns the answer to the question, asked in this process: there is no `fork` here.
    pub(super) fn answer(question: impl FnOnce() -> Answer) -> Result<Answer, PluginProblem> {
        Ok(question())
    }
}
