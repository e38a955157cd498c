//! The explorer's settings, its limits, the parts of a search, and the treatment of findings, call by call.

use super::Explorer;
use crate::report::Expected;
use std::path::PathBuf;
use std::time::Duration;

impl Explorer {
    /// Stops after this many executions. Default: no limit; with [`Strategy::auto`](super::Strategy::auto) and
    /// no limit on time, 50,000, or 200,000 if the search of every trace seems to end within them.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.settings.executions = Some(most);
        self
    }

    /// Explores all executions with no preemption, then all with one, and so on up to this many.
    /// Default: no bound.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let report = Explorer::new().preemptions(1).explore(|| {});
    /// assert!(report.verdict().is_pass());
    /// ```
    pub fn preemptions(mut self, most: u32) -> Explorer {
        self.settings.preemptions = Some(most);
        self
    }

    /// Explores with this many workers, each on an OS thread of its own. Default: 1.
    ///
    /// The report says the same as with one worker, except for the time, unless a limit on executions or time, a crash or a
    /// divergence ends the search: the executions until then depend on the workers. There is no estimate of the rest. With
    /// the reduction `caching` it depends on the workers which executions are left out for others. With `dpor` and
    /// `source-dpor` the traces and outcomes are the same, but the execution that represents a trace depends on the workers;
    /// with `dpor` within a preemption bound, so does the number of executions. The first finding ends the search, and the
    /// executions until then count.
    ///
    /// Executions that workers ran beyond the first finding, in the order of the search, do not count, unless the search
    /// [keeps going](Explorer::keep_going). Several threads run the test at once: state that its executions share, against
    /// the rules, is now shared at the same time.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Coverage, Explorer};
    ///
    /// let report = Explorer::new().jobs(2).explore(|| _ = intermezzo::choose(20));
    /// assert_eq!((report.executions(), report.coverage()), (20, &Coverage::Exhaustive));
    /// ```
    ///
    /// # Panics
    /// If the number is 0 or more than 1024.
    pub fn jobs(self, jobs: usize) -> Explorer {
        self.set("jobs", jobs)
    }

    /// Explores one share of the search: the third of eight for `(3, 8)`. Other processes, on other machines, explore the
    /// others. `cargo intermezzo merge` puts their reports together. Default: all of it.
    ///
    /// Each share is explored without knowing of the others, so together they run what one search would. A pass of a share
    /// says nothing of the whole search.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Coverage, Explorer};
    ///
    /// let share = |number| Explorer::new().partition(number, 3).explore(|| _ = intermezzo::choose(20));
    /// let executions: u64 = (1..=3).map(|number| share(number).executions()).sum();
    /// assert_eq!(executions, 20);
    /// assert_ne!(share(1).coverage(), &Coverage::Exhaustive);
    /// ```
    ///
    /// # Panics
    /// If there is no such share, or there are more than 4096.
    pub fn partition(self, number: u32, total: u32) -> Explorer {
        self.set("partition", format!("{number}/{total}"))
    }

    /// Keeps the search in this file, which is written every 10 seconds, or as the setting says (`every=60`), and at the
    /// end. If the file exists when the exploration begins, the search continues from it.
    ///
    /// The report is that of an exploration that was never interrupted: times and executions add up. A limit on executions
    /// is that of the whole search, so a higher one continues it where it was reached; a limit on time is that of each
    /// process. A search that was complete is not run again. The file must be of the same build of the program, and of the
    /// same settings except for limits, the number of workers, and those of the checkpoint itself.
    pub fn checkpoint(mut self, file: impl Into<PathBuf>) -> Explorer {
        self.settings.checkpoint = Some(file.into());
        self
    }

    /// Sets the most visible operations in an execution; one that takes more is a finding. Default: 20,000.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, sync::atomic::{AtomicBool, Ordering::SeqCst}};
    ///
    /// let flag = AtomicBool::new(false);
    /// let report = Explorer::new().steps_per_execution(50).explore(move || while !flag.load(SeqCst) {});
    /// assert!(report.verdict().is_fail());
    /// ```
    pub fn steps_per_execution(mut self, most: u64) -> Explorer {
        self.settings.steps = most;
        self
    }

    /// Stops the search after this much time in this process; the running execution is finished first. Findings are then
    /// replayed and made smaller, for a quarter of this time at most. `Duration::MAX` is no limit. Default: two
    /// minutes where [`executions`](Explorer::executions) are not limited either, and the report says so; else no limit.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    /// use std::time::Duration;
    ///
    /// let report = Explorer::new().time(Duration::from_secs(5)).explore(|| {});
    /// assert!(report.verdict().is_pass());
    /// ```
    pub fn time(mut self, most: Duration) -> Explorer {
        self.settings.time = Some(most);
        self
    }

    /// Sets the steps that the long search without the bound has at a time, and so those of the short searches before: a
    /// quarter without the bound, and an eighth within it. For tests.
    #[doc(hidden)]
    pub fn steps_without_bound(mut self, most: u64) -> Explorer {
        self.settings.steps_without_bound = most;
        self
    }

    /// Makes every operation a schedule point, also those that commute with all operations of other tasks: creation,
    /// beginning and end of tasks, joins, fences, choices, and closing one of several senders. Default: off.
    ///
    /// A depth-first search without a reduction is then a brute-force reference for all others: it shows the same outcomes
    /// in many more executions. Its schedules replay with the same setting only.
    #[doc(hidden)]
    pub fn every_operation(mut self, on: bool) -> Explorer {
        self.settings.every_operation = on;
        self
    }

    /// Expects the test to panic in some execution, with a message that contains this text: the report then passes, with the
    /// panic among its findings. It fails if no execution panics, or if there is another finding. An empty text is part of
    /// every message. Default: a panic is a failure.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let report = Explorer::new().should_panic("full").explore(|| assert!(intermezzo::any_bool(), "full"));
    /// assert!(report.verdict().is_pass());
    /// ```
    pub fn should_panic(self, expected: impl Into<String>) -> Explorer {
        self.expect(Expected::Panic(expected.into()))
    }

    /// Adds an expectation. The report fails if it is not met. Default: any finding that is an error is a failure, and
    /// figures are not checked.
    pub fn expect(mut self, expected: Expected) -> Explorer {
        self.expected.push(expected);
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
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let test = || assert_ne!(intermezzo::choose(3), 1, "one");
    /// let report = Explorer::new().keep_going(true).explore(test);
    /// assert_eq!((report.executions(), report.first_failure()), (3, Some(2)));
    /// ```
    pub fn keep_going(mut self, keep_going: bool) -> Explorer {
        self.settings.keep_going = keep_going;
        self
    }
}
