//! Depth bounds: after the first choices of an execution, only default alternatives are taken. The bound may grow from
//! round to round.
//!
//! The bound wraps another search, to which it does not show the choices beyond the depth, so that their alternatives
//! are never explored. With a step, it runs the search to that depth, then again to twice that depth, and so on (Korf,
//! Artificial Intelligence 27, 1985), until no execution was cut or the maximum depth is complete. Each round repeats
//! the executions of the round before, which take only default alternatives beyond that round's depth. They are counted
//! as redundant. In return, no prefixes have to be stored.

use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;

/// A function that creates the bounded search. It is called for each depth.
pub(crate) type Make = Box<dyn Fn() -> Box<dyn Strategy> + Send>;

/// A search over a number of first choices.
pub struct DepthBounded {
    make: Make,
    inner: Box<dyn Strategy>,
    /// The number of first choices whose alternatives are explored in this round.
    depth: usize,
    /// The depth of the round before; 0 in the first round.
    depth_before: usize,
    /// The maximum depth; `None` if the search is deepened until nothing is cut.
    depth_max: Option<usize>,
    /// The number of choices by which the depth grows with each round; `None` if there is only one round.
    step: Option<usize>,
    /// `true` if an execution of this round had choices beyond the depth.
    cut: bool,
    begun: bool,
    redundant: u64,
    /// The last complete round: its depth, `true` if an execution was cut, and its coverage.
    completed: Option<(usize, bool, Coverage)>,
}

impl DepthBounded {
    /// Returns the search that `make` creates, over the first `depth` choices of each execution.
    pub fn new(depth: u32, make: impl Fn() -> Box<dyn Strategy> + Send + 'static) -> DepthBounded {
        DepthBounded::with(depth as usize, Some(depth as usize), None, Box::new(make))
    }

    /// Returns the searches that `make` creates, one after the other: over the first `step` choices, then over twice as
    /// many, and so on, up to `depth_max` choices if that is given.
    ///
    /// # Panics
    /// `step` is 0.
    pub fn deepening(
        step: u32,
        depth_max: Option<u32>,
        make: impl Fn() -> Box<dyn Strategy> + Send + 'static,
    ) -> DepthBounded {
        assert!(step > 0, "a search deepens by at least one choice");
        let depth_max = depth_max.map(|most| most as usize);
        let depth = depth_max.map_or(step as usize, |most| most.min(step as usize));
        DepthBounded::with(depth, depth_max, Some(step as usize), Box::new(make))
    }

    fn with(depth: usize, depth_max: Option<usize>, step: Option<usize>, make: Make) -> DepthBounded {
        DepthBounded {
            inner: make(),
            make,
            depth,
            depth_before: 0,
            depth_max,
            step,
            cut: false,
            begun: false,
            redundant: 0,
            completed: None,
        }
    }

    /// Compares the last execution with the depths of this round and the one before.
    fn look_at(&mut self, plan: &Plan) {
        let choices = plan.choices();
        self.cut |= choices.len() > self.depth;
        let varied = choices.iter().rposition(|choice| choice.taken != 0);
        if self.depth_before > 0 && varied.is_none_or(|at| at < self.depth_before) {
            self.redundant += 1;
        }
    }

    /// Begins the next round. Returns `false` if there is none.
    fn deepen(&mut self) -> bool {
        self.completed = Some((self.depth, self.cut, self.inner.coverage(true)));
        let deeper = self
            .step
            .map_or(self.depth, |step| self.depth.saturating_add(step));
        let deeper = self.depth_max.map_or(deeper, |most| most.min(deeper));
        if !self.cut || deeper == self.depth {
            return false;
        }
        self.redundant += self.inner.status(&SoFar::default()).redundant;
        (self.depth_before, self.depth) = (self.depth, deeper);
        self.cut = false;
        self.inner = (self.make)();
        true
    }
}

impl Strategy for DepthBounded {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        if self.begun {
            self.look_at(plan);
        }
        self.begun = true;
        plan.truncate(self.depth);
        if self.inner.next(plan, trace) {
            return true;
        }
        // The new search has to start from its beginning.
        self.deepen() && {
            plan.truncate(0);
            self.inner.next(plan, trace)
        }
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if point.choices < self.depth {
            self.inner.choose(point)
        } else {
            Some(0)
        }
    }

    fn retry(&mut self) {
        self.inner.retry();
    }

    fn needs(&self) -> Needs {
        Needs {
            in_order: false,
            ..self.inner.needs()
        }
    }

    fn coverage(&self, finished: bool) -> Coverage {
        match &self.completed {
            // This is the first round. Even if all its executions were run, some may have been cut.
            None => self.inner.coverage(finished).within_depth(self.depth as u32),
            Some((_, false, covered)) => covered.clone(),
            Some((depth, true, covered)) => {
                let covered = covered.clone().within_depth(*depth as u32);
                if finished {
                    covered
                } else {
                    covered.because("stopped before every execution of the next depth was run")
                }
            }
        }
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        let inner = self.inner.status(so_far);
        let name = &inner.name;
        // The parameters of both are combined, as in `dfs(delays=2,depth=8)`.
        let (name, before) = match name.strip_suffix(')') {
            None => (name.as_str(), "("),
            Some(open) => (open, ","),
        };
        let depth = match (self.step, self.depth_max) {
            (None, Some(depth)) => format!("depth={depth}"),
            (Some(step), Some(depth)) => format!("depth={depth},step={step}"),
            (Some(step), None) => format!("step={step}"),
            (None, None) => unreachable!("a search that is not deepened has its depth"),
        };
        let name = format!("{name}{before}{depth})");
        Status {
            name,
            redundant: self.redundant + inner.redundant,
            progress: None,
            ..inner
        }
    }
}
