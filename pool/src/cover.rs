//! The tree of a run's results, and the items that are still open.

use crate::items::{Item, Outcome, Run, ShareName};
use std::collections::BTreeMap;

/// The known results of a run. Results of shares to which no division leads are not part of it.
#[derive(Clone, Debug)]
pub struct Cover {
    run: Run,
    known: BTreeMap<(usize, ShareName), Outcome>,
}

/// A share that was not divided, with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// The share.
    pub share: ShareName,
    /// Its result; `None` if there is none yet.
    pub outcome: Option<&'a Outcome>,
}

/// The figures of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Tests that are complete.
    pub tests_done: usize,
    /// Tests of the run.
    pub tests: usize,
    /// Shares that have a result, and those that are open.
    pub done: usize,
    /// Shares without a result.
    pub open: usize,
    /// Executions of all reports.
    pub executions: u64,
    /// The completed part of the searches in millionths, if the shares of a division count as equally large.
    pub millionths: u64,
}

impl Cover {
    /// Returns the cover of a run without results.
    pub fn new(run: &Run) -> Cover {
        Cover {
            run: run.clone(),
            known: BTreeMap::new(),
        }
    }

    /// Returns the run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Notes a result. Only the first one of an item counts.
    pub fn add(&mut self, test: usize, share: ShareName, outcome: Outcome) {
        self.known.entry((test, share)).or_insert(outcome);
    }

    /// Forgets a result.
    pub fn forget(&mut self, test: usize, share: &ShareName) {
        self.known.remove(&(test, share.clone()));
    }

    /// Returns the shares of a test that were not divided, in order.
    pub fn leaves(&self, test: usize) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        let mut left = vec![ShareName::WHOLE];
        while let Some(share) = left.pop() {
            match self.known.get(&(test, share.clone())) {
                Some(Outcome::Split { into, .. }) => left.extend(share.divided(*into).into_iter().rev()),
                outcome => leaves.push(Leaf { share, outcome }),
            }
        }
        leaves
    }

    /// Returns the items without a result.
    pub fn open(&self) -> Vec<Item> {
        let of = |test| {
            let open = self
                .leaves(test)
                .into_iter()
                .filter(|leaf| leaf.outcome.is_none());
            open.map(move |leaf| Item::new(&self.run, test, leaf.share))
        };
        (0..self.run.tests.len()).flat_map(of).collect()
    }

    /// `true` if every share has a result.
    pub fn is_complete(&self) -> bool {
        (0..self.run.tests.len()).all(|test| self.leaves(test).iter().all(|leaf| leaf.outcome.is_some()))
    }

    /// Returns the figures.
    pub fn progress(&self) -> Progress {
        let mut progress = Progress {
            tests: self.run.tests.len(),
            ..Progress::default()
        };
        let mut part = 0.0;
        for test in 0..self.run.tests.len() {
            let leaves = self.leaves(test);
            let open = leaves.iter().filter(|leaf| leaf.outcome.is_none()).count();
            progress.open += open;
            progress.done += leaves.len() - open;
            progress.tests_done += usize::from(open == 0);
            for leaf in &leaves {
                if leaf.outcome.is_some() {
                    part += leaf.share.part();
                }
                if let Some(Outcome::Report { executions, .. }) = leaf.outcome {
                    progress.executions = progress.executions.saturating_add(*executions);
                }
            }
        }
        progress.millionths = (part / self.run.tests.len().max(1) as f64 * 1e6) as u64;
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::TestEntry;

    fn report(executions: u64) -> Outcome {
        Outcome::Report {
            object: "o".into(),
            fails: false,
            executions,
            seconds: 0.0,
            findings: Vec::new(),
            worker: "w".into(),
        }
    }

    fn split(into: u32) -> Outcome {
        Outcome::Split {
            into,
            worker: "w".into(),
        }
    }

    fn share(text: &str) -> ShareName {
        text.parse().unwrap()
    }

    #[test]
    fn a_run_is_complete_when_every_share_has_a_result() {
        let test = |program: &str| TestEntry {
            program: program.into(),
            binary: 0,
            stops_at_failure: false,
        };
        let run = Run {
            format: crate::FORMAT.into(),
            id: "r".into(),
            version: String::new(),
            started: 0,
            binaries: Vec::new(),
            settings: Vec::new(),
            config: String::new(),
            split_after_ms: 0,
            tests: vec![test("a"), test("b")],
        };
        let mut cover = Cover::new(&run);
        assert_eq!(cover.open().len(), 2);
        cover.add(0, ShareName::WHOLE, report(7));
        cover.add(1, ShareName::WHOLE, split(2));
        // A report that comes late.
        cover.add(1, ShareName::WHOLE, report(100));
        // A share that no division led to.
        cover.add(1, share("1/3"), report(100));
        cover.add(1, share("2/2"), split(2));
        cover.add(1, share("2/2.1/2"), report(5));
        let open: Vec<String> = cover.open().iter().map(|item| item.share.to_string()).collect();
        assert_eq!(open, ["1/2", "2/2.2/2"]);
        let progress = cover.progress();
        assert_eq!((progress.tests_done, progress.done, progress.open), (1, 2, 2));
        assert_eq!((progress.executions, progress.millionths), (12, 625_000));
        cover.add(1, share("1/2"), Outcome::Dropped);
        cover.add(1, share("2/2.2/2"), report(1));
        assert!(cover.is_complete() && cover.open().is_empty());
        cover.forget(1, &share("2/2.1/2"));
        assert_eq!(cover.open()[0].share, share("2/2.1/2"));
    }
}
