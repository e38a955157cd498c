//! A plugin, tried out where it cannot do harm: in a child process.
//!
//! The child is a copy of this process (`fork`), in which only the calling thread goes on. It loads the library, makes the monitor,
//! says how that went through a pipe, and exits at once. A crash, an endless loop or a word on stdout of code that is
//! damaged is the child's.
//!
//! Blind spot: what the plugin's code does to files, it does. And where the C library does not make its allocator and its
//! loader usable in a copy of a process with several threads (glibc and the systems of Apple and BSD do), the child may hang;
//! its time limit then makes the plugin look slow. The same holds where another thread of the program loads a library of
//! its own at that moment; plugins are loaded one after the other.

use super::problem::PluginProblem;
use super::{Tried, library};
use intermezzo_sdk::abi::rehearsal;
use intermezzo_sdk::{FindingKind, Monitor};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What the child says.
#[derive(Serialize, Deserialize)]
enum Answer {
    Fine(Tried),
    NotLoadable(String),
    Refused(String),
}

/// Tries it out; with a rehearsal, the monitor is also told of an execution, twice.
///
/// # Errors
/// It cannot be loaded, or ended the process in which it was tried out.
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
        complaints,
    };
    drop(monitor);
    if elsewhere::IS_ANOTHER_PROCESS {
        // What runs when the process ends is to be tried out as well.
        // SAFETY: the monitor is gone, and with it, says the contract, all that runs of it.
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

    /// Whether the question is asked somewhere else.
    pub(super) const IS_ANOTHER_PROCESS: bool = true;

    /// Seconds of processor time for a trial. It takes some milliseconds.
    const PROCESSOR_SECONDS: libc::rlim_t = 5;

    /// Seconds for a trial in which the plugin waits for something.
    const SECONDS: u32 = 10;

    /// Most bytes of an answer: complaints are few.
    const ANSWER_BYTES_MAX: u64 = 1 << 20;

    /// The signals of a crash: how this process treats them is not how the child is to.
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

    /// What this gives in a child process.
    pub(super) fn answer(question: impl FnOnce() -> Answer) -> Result<Answer, PluginProblem> {
        let no_trial = |error: std::io::Error| PluginProblem::NoTrial(error.to_string());
        let (reader, writer) = pipe().map_err(no_trial)?;
        let nowhere = File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .map_err(no_trial)?;
        let alone = library::alone();
        // SAFETY: the child does what is sound in the copy of one thread: see the module's blind spot. It never
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
            // SAFETY: ends the child without running what this process has registered for its end.
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

    /// Makes a child process harmless: it says nothing, leaves no core, and ends in time, by any crash.
    ///
    /// # Safety
    /// The process is a child whose only thread this is.
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

    /// Waits for the child; how it ended, unless it ended as it should.
    fn ending(child: libc::pid_t) -> Result<(), String> {
        let mut status = 0;
        // SAFETY: waits for a child of ours.
        while unsafe { libc::waitpid(child, &mut status, 0) } == -1 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(format!("it cannot be told how it ended ({error})"));
            }
        }
        if libc::WIFEXITED(status) {
            return match libc::WEXITSTATUS(status) {
                0 => Ok(()),
                code => Err(format!("it exited with code {code}")),
            };
        }
        Err(match libc::WTERMSIG(status) {
            // The processor's limit is the hard one as well, where a second signal cannot be caught.
            libc::SIGALRM | libc::SIGXCPU | libc::SIGKILL => "it did not come to an end".into(),
            signal => Crash::Signal(signal).describe(),
        })
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::{Answer, PluginProblem};

    /// Whether the question is asked somewhere else.
    pub(super) const IS_ANOTHER_PROCESS: bool = false;

    /// What this gives: there are no copies of processes here.
    pub(super) fn answer(question: impl FnOnce() -> Answer) -> Result<Answer, PluginProblem> {
        Ok(question())
    }
}
