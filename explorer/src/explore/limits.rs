//! When an execution or the exploration ends, and what is made of the end, call by call.

use super::Explorer;
use crate::settings::JournalAt;
use std::time::Duration;

impl Explorer {
    /// Stops after this many executions. Default: no limit, or with [`Strategy::auto`](super::Strategy::auto), and no limit
    /// of time, 50,000.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.settings.executions = Some(most);
        self
    }

    /// Stops the search after this much time in this process; the execution that runs is finished first. What was found is then
    /// replayed and made smaller, for a quarter of this time at most. `Duration::MAX` is no limit. Default: two
    /// minutes where [`executions`](Explorer::executions) are not limited either, and the report says so; else no limit.
    pub fn time(mut self, most: Duration) -> Explorer {
        self.settings.time = Some(most);
        self
    }

    /// Ends a task that runs, or is blocked by what is not controlled, for this long without a visible operation: that is a
    /// finding, and ends the exploration. A task that is able to run counts only while it has a processor. `None` for no
    /// limit. Works on Linux for x86-64 and aarch64. Default: 10 seconds.
    ///
    /// ```
    /// use intermezzo_explorer::Explorer;
    /// use std::time::Duration;
    ///
    /// let report = Explorer::new()
    ///     .hang(Some(Duration::from_millis(200)))
    ///     .explore(|| std::thread::sleep(Duration::from_secs(3600)));
    /// # if cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
    /// assert_eq!(report.findings()[0].kind.as_str(), "hang");
    /// # }
    /// ```
    pub fn hang(mut self, most: Option<Duration>) -> Explorer {
        self.settings.hang = most;
        self
    }

    /// Keeps the execution that runs in a file of this directory, so that it can be replayed when the process was ended in the
    /// middle of it. Such a file is left only then; the next exploration of the same test notes what is in it, and removes it.
    /// Default: [`JournalAt::Usual`].
    pub fn journal(mut self, at: JournalAt) -> Explorer {
        self.settings.journal = at;
        self
    }

    /// Which yields of a task count for fairness: every so manieth; 0 is taken for 1. Default: 1.
    pub fn fair_yields(mut self, every: u32) -> Explorer {
        self.settings.fair_yields = every.max(1);
        self
    }

    /// Whether a task whose loop only waits is disabled until what it waits for changes. Default: it is. Memory
    /// outside variables and the task's own stack is not compared: switch it off for a loop that ends
    /// because of a count in the heap.
    pub fn awaits(mut self, on: bool) -> Explorer {
        self.settings.awaits = on;
        self
    }

    /// Whether a loop that was once *seen* to only wait (a round of it came back to where it began, with nothing written)
    /// is *assumed* to from its first round on, wherever a task does the same operations at the same places. Its failed
    /// rounds then count as not having happened: there are fewer traces, and fewer executions. Default: off.
    ///
    /// A loop is seen to wait in an execution, and the search then starts anew with that known; executions until then are
    /// mentioned in a note, and counted nowhere else.
    ///
    /// What may be missed: what depends on how often such a loop went round *before* its state repeats (a back-off that
    /// grows up to a limit, a count that no variable holds); and, if a loop's rounds differ and one ends like another,
    /// changes of what only the longer one reads.
    pub fn assume_awaits(mut self, on: bool) -> Explorer {
        self.settings.assume_awaits = on;
        self
    }

    /// Whether an execution may end with tasks that wait for ever: it is then an end like any other, and no finding.
    /// Default: it may not.
    pub fn deadlocks_allowed(mut self, allowed: bool) -> Explorer {
        self.settings.deadlocks_allowed = allowed;
        self
    }

    /// Whether every operation is a schedule point: creation, beginning and end of tasks, joins, fences, choices, and closing
    /// one of several senders too, which commute with all that others can do. Default: off.
    ///
    /// A depth first search without a reduction is then a brute-force reference for all others: it shows the same outcomes
    /// in many more executions. Its schedules replay with the same setting only.
    #[doc(hidden)]
    pub fn every_operation(mut self, on: bool) -> Explorer {
        self.settings.every_operation = on;
        self
    }

    /// Runs the test so many times before the search, unjudged, for what it sets up once and keeps: a static of
    /// `std`'s `OnceLock`, say, whose first use does more than the later ones. What could go wrong in that first use is
    /// not seen then. Of several workers each does so, one after the other. Default: 0.
    pub fn warm_up(mut self, executions: u32) -> Explorer {
        self.settings.warm_up = executions;
        self
    }

    /// The test is to panic in some execution, with a message that contains this text: the report then passes, with the panic
    /// among its findings, and fails if no execution panics or something else is found. An empty text is in every message.
    /// Default: a panic is a failure.
    pub fn should_panic(mut self, expected: impl Into<String>) -> Explorer {
        self.should_panic = Some(expected.into());
        self
    }

    /// How often an execution is tried again that departed from what was prescribed, because the test does something
    /// that the schedule does not determine. If none of the retries is as it should be, that is a finding, and the
    /// search ends; with [`Explorer::keep_going`] it goes on without what would have begun like that execution,
    /// and the coverage says so. Default: 2.
    pub fn retries(mut self, most: u32) -> Explorer {
        self.settings.retries = most;
        self
    }

    /// How many more executions may be run, for all findings together, to find the smallest ones that show the same: with the
    /// fewest preemptions, then the fewest context switches, then the fewest steps. A note says what came of it.
    /// They count neither as executions of the search nor against its limits; long ones count as several. 0 leaves
    /// the execution as it was found. Default: 1,000.
    pub fn minimise(mut self, executions: u64) -> Explorer {
        self.settings.minimise = executions;
        self
    }

    /// Ends the replaying and minimising of all findings together after this much time; one finding is replayed in any case.
    /// A note says where that was needed: how small an execution became then depends on the machine. With a limit of
    /// [`Explorer::time`], minimising takes what is left of that at most, or a quarter of it. Default: 10 seconds.
    pub fn minimise_time(mut self, most: Duration) -> Explorer {
        self.settings.minimise_time = Some(most);
        self
    }

    /// Goes on after a finding. Default: stop at the first.
    pub fn keep_going(mut self, keep_going: bool) -> Explorer {
        self.settings.keep_going = keep_going;
        self
    }

    /// Tasks that one execution may create, the test's own body included. One that creates more is given up, with a
    /// finding of the kind `step_limit`: it may create them for ever. Default: 4,096.
    ///
    /// # Panics
    /// The number is 0.
    pub fn tasks_per_execution(mut self, most: u32) -> Explorer {
        self.settings
            .set("tasks", &most.to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// Bytes of stacks that the process may lose to tasks which executions leave in the middle: after a deadlock, say.
    /// Default: 256 MiB.
    ///
    /// Such a task is *forgotten*, as a thread is when its process ends: none of its destructors runs, and what it
    /// owns is lost. Beyond the limit it is *unwound*, by a panic at the operation before which it stands, so that
    /// all is dropped; a note says so. Code that was not written to unwind there may misbehave then. With 0 tasks are
    /// always unwound: for a test whose destructors have to run, because they free what outlives an execution.
    pub fn forgotten_bytes(mut self, most: usize) -> Explorer {
        self.settings.forgotten_bytes = most;
        self
    }

    /// Bytes of each task's stack, at least 32 KiB. Default: 2 MiB, as std's threads have, of which untouched pages cost
    /// nothing; 256 KiB where addresses have 32 bits.
    ///
    /// # Panics
    /// Fewer than 32 KiB, or more than 1 GiB.
    pub fn stack_bytes(mut self, bytes: usize) -> Explorer {
        self.settings
            .set("stack", &bytes.to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }
}
