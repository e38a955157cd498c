//! PCTVB, PCT with variable bounding (Bindal, Bansal, Lal: Variable and thread bounding for systematic testing of
//! multithreaded programs, ISSTA 2013).
//!
//! Like PCT, but priorities change only where a task is about to access one of a few variables, which are drawn for
//! each execution. An execution finds a bug of depth d whose change points are at accesses to v of Q variables with
//! probability at least 1/(C(Q,v) n k^(d-1)), where k is the number of accesses to these v variables.
//!
//! Differs: everything that one line of the source creates or accesses many times is one variable here
//! (`sampling/profile.rs`). The Q variables are only those that tasks were seen to share, because for all others the
//! order makes no difference. `sampling/pct.rs` lists the other differences. Misses: bugs with change points at
//! variables or places that the first executions did not reach.

use crate::sampling::pct::so_far;
use crate::sampling::priorities::{Changes, Priorities};
use crate::sampling::profile::{Places, Variable, is_access};
use crate::sampling::{Draw, Drawn, Generator, Policy, Profile, uniform};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;
use rand::RngExt;

/// Priorities that change `depth - 1` times, only at accesses to `variables` variables.
pub(crate) struct PctVars {
    depth: u32,
    variables: u32,
    priorities: Priorities,
    changes: Changes,
    places: Places,
    /// The variables drawn for this execution.
    drawn: Vec<u32>,
}

impl PctVars {
    /// Returns the policy for bugs of this depth, at least 1, whose change points are at this many variables.
    pub(crate) fn new(depth: u32, variables: u32) -> PctVars {
        PctVars {
            depth,
            variables,
            priorities: Priorities::default(),
            changes: Changes::default(),
            places: Places::default(),
            drawn: Vec::new(),
        }
    }

    /// Returns the number of places for change points at these variables, including the places that change points add.
    fn range<'a>(&self, variables: impl Iterator<Item = &'a Variable>) -> u64 {
        let accesses: u64 = variables.map(|variable| variable.most).sum();
        accesses.max(1) + u64::from(self.depth - 1)
    }
}

impl Policy for PctVars {
    fn name(&self) -> String {
        format!("pctvb({},{})", self.depth, self.variables)
    }

    fn begin(&mut self, _: Draw, known: &Profile, random: &mut Generator) {
        self.priorities.begin();
        let all = known.variables();
        let mut shared: Vec<u32> = (0..all.len() as u32)
            .filter(|&at| all[at as usize].shared)
            .collect();
        self.drawn.clear();
        while self.drawn.len() < self.variables as usize && !shared.is_empty() {
            let at = random.random_range(0..shared.len());
            self.drawn.push(shared.swap_remove(at));
        }
        let range = self.range(self.drawn.iter().map(|&at| &all[at as usize]));
        self.changes.draw(self.depth - 1, range, random);
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, known: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        let (places, drawn) = (&mut self.places, &self.drawn);
        self.changes.choose(&mut self.priorities, point, random, |taken| {
            point.operation(taken).is_some_and(|next| {
                let variable = places.variable(next.site, known);
                is_access(next.op, next.var.0) && variable.is_some_and(|variable| drawn.contains(&variable))
            })
        })
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        let mut shared: Vec<&Variable> = drawn.known.variables().iter().filter(|v| v.shared).collect();
        let (tasks, all) = (drawn.known.tasks(), shared.len() as u64);
        let chosen = u64::from(self.variables).min(all);
        shared.sort_by_key(|variable| std::cmp::Reverse(variable.most));
        let most = self.range(shared.into_iter().take(chosen as usize));
        vec![format!(
            "{}: with at most {tasks} tasks, {all} variables that they share and {most} accesses to {chosen} of them{}, an \
             execution finds a bug of depth {} that lies at these with a probability of at least \
             1/(C({all},{chosen}) * {tasks} * {most}^{})",
            self.name(),
            so_far(drawn),
            self.depth,
            self.depth - 1
        )]
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(PctVars::new(self.depth, self.variables))
    }
}
