//! The reduction of an execution: fewer preemptions and fewer context switches, repeatedly, until nothing helps.

use super::script::{Follow, Script};
use super::trial::Trial;
use super::{Crashed, Search};
use intermezzo_engine::schedule::ChoiceKind;

impl Search<'_> {
    /// Reduces the smallest execution so far, with half of the budget.
    pub(super) fn reduce(&mut self) -> Result<(), Crashed> {
        loop {
            let before = self.best.size;
            self.read_newest()?;
            self.end_earlier()?;
            self.preempt_less()?;
            self.switch_less()?;
            self.be_usual()?;
            if self.best.size == before || self.budget.is_half_spent() {
                return Ok(());
            }
        }
    }

    /// Runs a script. Returns `true` if it gave a smaller execution that shows the failure.
    fn helps(&mut self, script: Script) -> Result<bool, Crashed> {
        if self.budget.is_half_spent() {
            return Ok(false);
        }
        self.is_smaller(script)
    }

    /// Does the same as [`helps`](Self::helps), whatever is left of the budget.
    fn is_smaller(&mut self, script: Script) -> Result<bool, Crashed> {
        let Search {
            subject,
            failure,
            budget,
            ..
        } = self;
        let strategy = Box::new(Follow::new(script));
        let trial = self.worker.apart(strategy, self.heard, |worker| {
            subject.run(worker, failure, budget)
        });
        match trial {
            Trial::Shown(shown) if shown.improves(&self.best, &self.others) => {
                self.best = shown;
                Ok(true)
            }
            Trial::Crashed(findings) => Err(Crashed(findings)),
            _ => Ok(false),
        }
    }

    /// Sets all choices of values to their defaults at once, those of `choose(n)` too: every load reads the newest store.
    fn read_newest(&mut self) -> Result<(), Crashed> {
        if self.best.size.stale > 0 {
            let mut script = self.best.script.clone();
            let stores = script
                .values
                .iter_mut()
                .filter(|value| value.kind == ChoiceKind::Value);
            stores.for_each(|value| value.taken = 0);
            self.helps(script)?;
        }
        Ok(())
    }

    /// Sets one choice of a value at a time to its default, until each stale operation is needed. That takes few executions,
    /// so it is done whatever is left of the budget.
    pub(super) fn need_each_stale(&mut self) -> Result<(), Crashed> {
        let mut at = 0;
        while self.best.size.stale > 0
            && !self.budget.is_late()
            && let Some(value) = self.best.script.values.get(at)
        {
            if value.kind != ChoiceKind::Value || value.taken == 0 {
                at += 1;
                continue;
            }
            let mut script = self.best.script.clone();
            script.values[at].taken = 0;
            at = match self.is_smaller(script)? {
                true => 0,
                false => at + 1,
            };
        }
        Ok(())
    }

    /// Leaves the end of the execution to the default.
    fn end_earlier(&mut self) -> Result<(), Crashed> {
        let mut dropped = self.best.script.blocks.len();
        while dropped > 0 && !self.budget.is_half_spent() {
            let mut script = self.best.script.clone();
            let kept = script.blocks.len().saturating_sub(dropped);
            script.blocks.truncate(kept);
            if self.helps(script)? {
                dropped = dropped.min(self.best.script.blocks.len());
            } else {
                dropped /= 2;
            }
        }
        Ok(())
    }

    /// Removes preemptions: all at once, then halves, and so on down to single ones, until none can be removed.
    fn preempt_less(&mut self) -> Result<(), Crashed> {
        let mut together = self.preempting().len();
        while together > 0 {
            let mut from = 0;
            let mut helped = false;
            loop {
                // In a long execution it takes long even to make a script.
                if self.budget.is_half_spent() {
                    return Ok(());
                }
                let preempting = self.preempting();
                let Some(rest) = preempting.get(from..).filter(|rest| !rest.is_empty()) else {
                    break;
                };
                let mut script = self.best.script.clone();
                for &block in &rest[..together.min(rest.len())] {
                    script.blocks[block].preempts = false;
                }
                if self.helps(script)? {
                    helped = true;
                } else {
                    from += together;
                }
            }
            if !helped || together > 1 {
                together /= 2;
            }
        }
        Ok(())
    }

    /// Returns the blocks that begin with a preemption.
    fn preempting(&self) -> Vec<usize> {
        let blocks = self.best.script.blocks.iter().enumerate();
        blocks
            .filter(|(_, block)| block.preempts)
            .map(|(at, _)| at)
            .collect()
    }

    /// Merges two blocks of a task into one.
    fn switch_less(&mut self) -> Result<(), Crashed> {
        let mut at = 0;
        while at < self.best.script.blocks.len() && !self.budget.is_half_spent() {
            let mut helped = false;
            for merged in [Script::with_next_pulled, Script::with_put_off] {
                if at < self.best.script.blocks.len()
                    && let Some(script) = merged(&self.best.script, at)
                {
                    helped |= self.helps(script)?;
                }
            }
            if !helped {
                at += 1;
            }
        }
        Ok(())
    }

    /// Sets choices of other kinds than tasks to their defaults.
    fn be_usual(&mut self) -> Result<(), Crashed> {
        let mut at = 0;
        while let Some(value) = self.best.script.values.get(at) {
            if value.taken != 0 && !self.budget.is_half_spent() {
                let mut script = self.best.script.clone();
                script.values[at].taken = 0;
                self.helps(script)?;
            }
            at += 1;
        }
        Ok(())
    }
}
