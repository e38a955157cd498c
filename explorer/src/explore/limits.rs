//! The explorer's limits, and its treatment of findings, call by call.

use super::Explorer;
use crate::report::Expected;
use std::time::Duration;

impl Explorer {
    /// Stops after this many executions. Default: no limit; with [`Strategy::auto`](super::Strategy::auto) and
    /// no limit on time, 50,000.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.settings.executions = Some(most);
        self
    }

    /// Stops the search after this much time in this process; the running execution is finished first. Findings are then
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

    /// Lets an execution end with tasks that wait for ever, without a finding. Default: that is a deadlock.
    pub fn deadlocks_allowed(mut self, allowed: bool) -> Explorer {
        self.settings.deadlocks_allowed = allowed;
        self
    }

    /// Makes every operation a schedule point, also those that commute with all operations of other tasks: creation, beginning
    /// and end of tasks, joins, fences, choices, and closing one of several senders. Default: off.
    ///
    /// A depth-first search without a reduction is then a brute-force reference for all others: it shows the same outcomes
    /// in many more executions. Its schedules replay with the same setting only.
    #[doc(hidden)]
    pub fn every_operation(mut self, on: bool) -> Explorer {
        self.settings.every_operation = on;
        self
    }

    /// Runs the test this many times before the search without judging it, for state that it sets up once and keeps: a static
    /// of `std`'s `OnceLock`, for example, whose first use does more than later ones. Bugs of that first use are then not
    /// found. Each of several workers does so, one after the other. Default: 0.
    pub fn warm_up(mut self, executions: u32) -> Explorer {
        self.settings.warm_up = executions;
        self
    }

    /// Expects the test to panic in some execution, with a message that contains this text: the report then passes, with the
    /// panic among its findings. It fails if no execution panics, or if there is another finding. An empty text is part of
    /// every message. Default: a panic is a failure.
    pub fn should_panic(self, expected: impl Into<String>) -> Explorer {
        self.expect(Expected::Panic(expected.into()))
    }

    /// Adds an expectation. The report fails if it is not met. Default: any finding that is an error is a failure, and
    /// figures are not checked.
    pub fn expect(mut self, expected: Expected) -> Explorer {
        self.expected.push(expected);
        self
    }

    /// Sets the most retries of an execution that departed from its prescribed choices, because the test does something that
    /// the schedule does not determine. If none of the retries follows them, that is a finding and the search ends. With
    /// [`Explorer::keep_going`] the search continues without the executions that would have begun like that one, and the
    /// coverage says so. Default: 2.
    pub fn retries(mut self, most: u32) -> Explorer {
        self.settings.retries = most;
        self
    }

    /// Sets the most executions, for all findings together, that are run to make the executions of findings smaller: fewest
    /// preemptions, then fewest context switches, then fewest steps. A note gives the result. They are not counted as
    /// executions of the search, nor against its limits; long ones count as several. With 0 findings stay as they were
    /// found. Default: 1,000.
    pub fn minimise(mut self, executions: u64) -> Explorer {
        self.settings.minimise = executions;
        self
    }

    /// Continues after a finding. Default: stop at the first.
    pub fn keep_going(mut self, keep_going: bool) -> Explorer {
        self.settings.keep_going = keep_going;
        self
    }
}
