//! The coverage that a ranked search may claim: the complete ranks, and the probability that an order was missed.

use super::agenda::Level;
use super::threads::Threads;
use super::{LeftOut, Ranked};
use intermezzo_engine::strategy::{Arrays, Coverage, RankBound};

/// A value above any bound.
const ANY: u32 = u32::MAX;

impl Ranked {
    /// Returns the coverage of the executions so far.
    pub(super) fn claim(&self, finished: bool) -> Coverage {
        if finished {
            let LeftOut {
                preemptions,
                variables,
                both,
                of_place,
            } = self.left_out;
            let any_order = self.threads.as_ref().is_none_or(|threads| threads.tasks == 0);
            if !preemptions && !variables && !both && !of_place && any_order {
                return Coverage::Exhaustive;
            }
            // Executions beyond both bounds are beyond each of them, so one reason is enough.
            let preemptions = preemptions || both && !variables;
            let most = |bound: Option<u32>, left_out: bool| bound.filter(|_| left_out).unwrap_or(ANY);
            let level = Level {
                preemptions: most(self.preemptions_max, preemptions),
                variables: most(self.variables_max, variables),
                threads: self.threads.as_ref().map_or(0, Threads::threads_max),
            };
            return self.complete(level, None);
        }
        match self.level_before(self.level) {
            None => Coverage::stopped(),
            Some(level) => {
                let under_way = self.in_words(self.level);
                let reason = format!("stopped before every execution of rank {under_way} was run");
                self.complete(level, Some(reason))
            }
        }
    }

    /// Returns the coverage if this level and all lower ones are complete.
    fn complete(&self, level: Level, reason: Option<String>) -> Coverage {
        let bound = |most: u32| Some(most).filter(|&most| most != ANY);
        let mut rank = RankBound {
            preemptions: bound(level.preemptions),
            // There are never more variables than preemptions.
            variables: bound(level.variables).filter(|&most| most < level.preemptions),
            arrays: Arrays::default(),
            // Without preemptions, the bound for each place leaves out nothing.
            per_place: self
                .per_place_max
                .filter(|_| self.left_out.of_place && level.preemptions > 0),
            threads: None,
            epsilon: None,
        };
        if rank.variables.is_some() && self.variables.has_arrays() {
            rank.arrays = Arrays::Whole;
        }
        if let Some(threads) = &self.threads {
            rank.threads = Some(level.threads);
            rank.epsilon = threads.epsilon(level);
            return Coverage::within_rank(None, Some(rank), reason);
        }
        if rank.per_place.is_some() {
            return Coverage::within_rank(None, Some(rank), reason);
        }
        // With as many variables as preemptions, the bound on variables leaves out nothing.
        let whole = if level.variables >= self.most_variables(level.preemptions) {
            Some(level.preemptions)
        } else {
            level.preemptions.checked_sub(1)
        };
        let all = match rank.variables {
            Some(_) => whole.map(|whole| self.most_variables(whole)),
            None => whole,
        };
        let says_more = all != Some(level.preemptions);
        Coverage::within_rank(all, says_more.then_some(rank), reason)
    }

    /// Returns the maximum number of variables of an execution within the bounds that has this many preemptions.
    fn most_variables(&self, preemptions: u32) -> u32 {
        self.variables_max
            .map_or(preemptions, |most| most.min(preemptions))
    }

    /// Returns the level before this one, if there is one.
    fn level_before(&self, level: Level) -> Option<Level> {
        if level.threads > 2 {
            return Some(Level {
                threads: level.threads - 1,
                ..level
            });
        }
        let threads = self.threads.as_ref().map_or(0, Threads::threads_max);
        let (preemptions, variables) = match level.variables {
            2.. => (level.preemptions, level.variables - 1),
            // Executions whose preemptions are attributed to no variable are too few to be worth stating.
            _ => {
                let fewer = level.preemptions.checked_sub(1)?;
                (fewer, self.most_variables(fewer))
            }
        };
        Some(Level {
            preemptions,
            variables,
            threads,
        })
    }

    /// Returns a level as text: `(2, 1)`, or `(2, 1, 2)` with a bound on threads.
    fn in_words(&self, level: Level) -> String {
        let Level {
            preemptions,
            variables,
            threads,
        } = level;
        match (self.dynamic, threads) {
            (false, 0) => format!("({preemptions}, {variables})"),
            (false, threads) => format!("({preemptions}, {variables}, {threads})"),
            (true, 0) => format!("({preemptions})"),
            (true, threads) => format!("({preemptions}, {threads})"),
        }
    }

    /// Returns the part of the search to which the current execution belongs, as text.
    pub(super) fn place_in_words(&self) -> String {
        let Level {
            preemptions,
            variables,
            threads,
        } = self.own_level;
        let threads = match threads {
            0 => String::new(),
            threads => format!(", {threads} threads"),
        };
        let after = match self.set.len() {
            0 => String::new(),
            _ => format!(
                ", after accesses to {}",
                self.variables.in_words(&self.set.known())
            ),
        };
        format!(
            "rank {preemptions} {}, {variables} {}{threads}{after}",
            plural(preemptions, "preemption"),
            plural(variables, "variable")
        )
    }

    /// Returns notes on orders for the report.
    pub(super) fn notes_on_orders(&self) -> Vec<String> {
        let Some(threads) = self.threads.as_ref().filter(|threads| threads.tasks > 0) else {
            return Vec::new();
        };
        let orders = threads.in_words();
        vec![format!(
            "ranked: tasks went by strict priorities, {orders}; a preemption is a change that the priorities do not ask for"
        )]
    }
}

fn plural(count: u32, word: &str) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}
