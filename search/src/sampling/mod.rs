//! Searches that draw executions at random. A policy makes the choices of one execution; the rest is common to all
//! policies.
//!
//! Executions have numbers. Each has its own generator of random numbers, which is seeded from the search's seed and
//! the execution's number. So any execution can be run again by itself, and it does not matter which worker runs it.
//! Some policies first have to learn about the test. They learn from the first `PROFILED` executions, which are the
//! same for all of them: a random walk, then the default execution. All later executions depend on the results of
//! these, and on no others.
//!
//! Most executions do not preempt a task where it clones a handle to a shared value: see [`Draw`].
//!
//! Each policy is in a file of its own, which names its source, how it differs from it, and what it misses.

mod delays;
mod numbers;
pub(crate) mod pct;
mod pending;
mod places;
mod portfolio;
mod pos;
pub(crate) mod priorities;
pub(crate) mod profile;
mod random;
mod sections;
mod surw;

pub use surw::Interesting;
pub(crate) use surw::Surw;

pub(crate) use delays::RandomDelays;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{
    ChoicePoint, CompletedExecution, Coverage, Needs, Parallel, Partition, Partitioned, Plan, Resumable,
    SearchPosition, SearchState, SoFar, Status, Strategy,
};
use intermezzo_engine::trace::Trace;
use intermezzo_sdk::{SyncVarOp, TaskId};
use numbers::Shared;
pub(crate) use pct::Pct;
pub(crate) use places::Places;
pub(crate) use portfolio::Portfolio;
pub(crate) use pos::Pos;
pub(crate) use profile::PROFILED;
pub use profile::Profile;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
pub(crate) use random::RandomWalk;
use std::ops::Range;
use std::sync::Arc;

/// The generator of a policy's random numbers.
pub type Generator = Xoshiro256PlusPlus;

/// An execution that is to be drawn.
#[derive(Clone, Copy)]
pub struct Draw {
    /// Its number: 0 for the first one after those that are learned from.
    pub number: u64,
    /// `true` if no task is preempted where it is about to clone a handle, as in three of four executions.
    ///
    /// A clone of an `Arc` commutes with all operations of other tasks, unless they query the number of handles, or
    /// clone a handle that another task may drop. Tests clone a handle for each task that they create. If they were
    /// preempted there, most tasks would end before the last ones are created, and few samples would run all of them at
    /// the same time.
    pub passes_clones: bool,
}

impl Draw {
    /// The fraction of executions that may preempt a task at a clone is 1/2 to this power.
    const FULL: u32 = 2;

    /// Returns the execution with this number.
    pub(crate) fn new(number: u64) -> Draw {
        // The multiples of the golden ratio are spread evenly, also over the executions of each member of a portfolio.
        let spread = number.wrapping_mul(SPREAD) >> (u64::BITS - Draw::FULL);
        Draw {
            number,
            passes_clones: spread != (1 << Draw::FULL) - 1,
        }
    }
}

/// The golden ratio as a fraction of 2^64.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns `true` if the running task is about to clone a handle, and any other alternative would preempt it.
pub(crate) fn is_at_clone(point: &ChoicePoint<'_>) -> bool {
    let next = |task: TaskId| point.tasks[task.index()].pending.access.op;
    point.kind == ChoiceKind::Task && point.preempts && next(point.running) == SyncVarOp::CountUp
}

/// A policy by which executions are drawn.
pub trait Policy: Send {
    /// Returns the name of the policy in settings and reports.
    fn name(&self) -> String;

    /// Returns `true` if the policy has to learn about the test first.
    fn learns(&self) -> bool {
        true
    }

    /// Begins an execution.
    fn begin(&mut self, draw: Draw, known: &Profile, random: &mut Generator);

    /// Returns `true` if the current execution may leave out the choices at clones, if [`Draw::passes_clones`] is set.
    fn may_pass_clones(&self) -> bool {
        true
    }

    /// Notes that the running task continued at a choice that was left out.
    fn passed(&mut self, point: &ChoicePoint<'_>) {
        let _ = point;
    }

    /// Returns the alternative to take.
    fn choose(&mut self, point: &ChoicePoint<'_>, known: &Profile, random: &mut Generator) -> u32;

    /// Returns the number of executions to run, if it is limited.
    fn executions(&self, known: &Profile) -> Option<u64> {
        let _ = known;
        None
    }

    /// Returns the completed fraction of the executions to be drawn, from 0 to 1; `None` if they have no end.
    fn share(&self, executions: u64) -> Option<f64> {
        let _ = executions;
        None
    }

    /// Returns the name of the policy that drew the current execution, if there are several.
    fn member(&self) -> Option<String> {
        None
    }

    /// Returns how many of the first `executions` executions each policy drew, if there are several.
    fn shares(&self, executions: u64) -> Vec<(String, u64)> {
        let _ = executions;
        Vec::new()
    }

    /// Returns notes for the report.
    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        let _ = drawn;
        Vec::new()
    }

    /// Returns the same policy for another worker.
    fn fork(&self) -> Box<dyn Policy>;
}

/// The state of a search that a policy's notes depend on.
pub struct Drawn<'a> {
    /// The profile learned from the first executions.
    pub known: &'a Profile,
    /// `true` if all executions that the policy can draw were run.
    pub complete: bool,
    /// `true` if any execution exceeded the profile: it had more tasks, or more choices than the profile has steps.
    pub beyond: bool,
}

/// Returns a random alternative, each with the same probability.
pub fn uniform(point: &ChoicePoint<'_>, random: &mut Generator) -> u32 {
    random.random_range(0..point.alternatives)
}

/// A search that draws executions, a given number of them or without end.
pub struct Sampling {
    seed: u64,
    policy: Box<dyn Policy>,
    shared: Arc<Shared>,
    /// The numbers of the executions that this worker will run, the next one first.
    block: Range<u64>,
    /// The number of the current execution.
    number: u64,
    /// `true` if the current execution does not preempt tasks at clones.
    passes_clones: bool,
    /// `true` if the shared state already notes that a choice at a clone was left out.
    noted_clones: bool,
    /// `true` if `next` has prepared the current execution, and it has not ended.
    running: bool,
    /// The position at which the last block taken begins, until it is queried.
    span: Option<SearchPosition>,
    /// The number of executions that this worker has begun.
    executions: u64,
    random: Generator,
    /// The profile of the test, and `true` if it is complete or not needed.
    known: Arc<Profile>,
    learned: bool,
    /// The share of the numbers that this process draws; `None` for all numbers.
    partition: Option<Partition>,
}

impl Sampling {
    /// Returns a search with this seed and this policy.
    pub fn new(seed: u64, policy: Box<dyn Policy>) -> Sampling {
        let shared = Arc::new(Shared::new(policy.learns()));
        Sampling::sharing(seed, policy, shared)
    }

    fn sharing(seed: u64, policy: Box<dyn Policy>, shared: Arc<Shared>) -> Sampling {
        let learned = !policy.learns();
        Sampling {
            seed,
            policy,
            shared,
            block: 0..0,
            number: 0,
            passes_clones: true,
            noted_clones: false,
            running: false,
            span: None,
            executions: 0,
            random: Generator::seed_from_u64(seed),
            known: Arc::default(),
            learned,
            partition: None,
        }
    }

    /// Limits the search to `executions` executions, and lets it begin with number `first`, counted from 0, after those
    /// that it has to learn from; each if it is given.
    #[must_use]
    pub fn up_to(self, executions: Option<u64>, first: Option<u64>) -> Sampling {
        let left_out = first.map_or(0, |first| first.saturating_sub(self.profiled()));
        self.shared.begin_at(left_out.saturating_add(self.profiled()));
        if let Some(executions) = executions {
            self.shared.end_at(executions.saturating_add(left_out));
        }
        self
    }

    /// Returns the search of another worker.
    pub fn another(&self) -> Sampling {
        self.shared.add_hand();
        let mut other = Sampling::sharing(self.seed, self.policy.fork(), self.shared.clone());
        other.partition = self.partition;
        other
    }

    /// Returns the number of executions from which the policy learns.
    fn profiled(&self) -> u64 {
        if self.policy.learns() { PROFILED } else { 0 }
    }

    /// Returns `true` if the execution with this number belongs to this process's share.
    fn gets(&self, number: u64) -> bool {
        self.partition.is_none_or(|partition| partition.gets(number))
    }

    /// Begins the current execution, or begins it again.
    fn draw_anew(&mut self) {
        // The multiplier is odd, so different executions have different seeds.
        let seed = self.seed.wrapping_add(self.number.wrapping_mul(SPREAD));
        self.random = Generator::seed_from_u64(seed);
        self.passes_clones = true;
        if let Some(number) = self.number.checked_sub(self.profiled()) {
            let draw = Draw::new(number);
            self.policy.begin(draw, &self.known, &mut self.random);
            self.passes_clones = draw.passes_clones && self.policy.may_pass_clones();
        }
    }

    /// Takes over the complete profile of the test.
    fn take_up(&mut self, known: Arc<Profile>) {
        if let Some(executions) = self.policy.executions(&known) {
            self.shared.end_at(self.profiled().saturating_add(executions));
        }
        self.known = known;
        self.learned = true;
    }

    /// Returns `true` if all executions that the policy can draw were handed out, and this worker has none of them
    /// left.
    fn is_complete(&self, known: &Profile) -> bool {
        let all = self.policy.executions(known);
        self.block.is_empty()
            && all.is_some_and(|all| self.shared.ends_at(self.profiled().saturating_add(all)))
    }

    /// Returns the policy's notes for the report.
    pub(crate) fn notes(&self) -> Vec<String> {
        // This worker may not have taken over the profile, if others ran everything after the executions that are
        // learned from.
        let known = match self.learned {
            true => Some(self.known.clone()),
            false => self.shared.learned(),
        };
        let mut notes = known.map_or(Vec::new(), |known| {
            self.policy.notes(&Drawn {
                known: &known,
                complete: self.partition.is_none() && self.is_complete(&known),
                beyond: self.shared.beyond(),
            })
        });
        if self.shared.passed_clones() {
            notes.push(
                "samples: in three executions of four, no task is preempted where it clones an `Arc`".into(),
            );
        }
        notes
    }

    /// Returns the name of the portfolio's policy that drew the last execution.
    pub(crate) fn drawn_by(&self) -> Option<String> {
        if self.number < self.profiled() {
            return Some("profile".into()).filter(|_| self.policy.member().is_some());
        }
        self.policy.member()
    }

    /// Returns how many of the first `executions` executions each policy of the portfolio drew.
    pub(crate) fn draws(&self, executions: u64) -> Vec<(String, u64)> {
        if self.partition.is_some() {
            // The executions of a share are not the first ones.
            return Vec::new();
        }
        let profiled = self.profiled().min(executions);
        let mut shares = self.policy.shares(executions - profiled);
        if profiled > 0 && !shares.is_empty() {
            shares.insert(0, ("profile".into(), profiled));
        }
        shares
    }
}

impl Strategy for Sampling {
    fn needs(&self) -> Needs {
        Needs {
            draws: true,
            ..Needs::default()
        }
    }

    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        loop {
            if self.block.is_empty() {
                let Some(block) = self.shared.take() else {
                    return false;
                };
                self.span = Some(SearchPosition::of_number(block.start));
                self.block = block;
            }
            self.number = self.block.start;
            self.block.start += 1;
            // Every share runs the executions that are learned from.
            if self.gets(self.number) || self.number < self.profiled() {
                break;
            }
        }
        self.executions += 1;
        self.running = true;
        if !self.learned
            && self.number >= self.profiled()
            && let Some(known) = self.shared.learned()
        {
            self.take_up(known);
        }
        self.draw_anew();
        true
    }

    fn retry(&mut self) {
        self.draw_anew();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.passes_clones && is_at_clone(point) {
            self.policy.passed(point);
            if !std::mem::replace(&mut self.noted_clones, true) {
                self.shared.note_passed_clones();
            }
            return Some(0);
        }
        Some(if self.number >= self.profiled() {
            self.policy.choose(point, &self.known, &mut self.random)
        } else if self.number == 0 {
            uniform(point, &mut self.random)
        } else {
            0
        })
    }

    fn finished(&mut self, past: &CompletedExecution<'_>) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        if self.number < self.profiled() {
            let complete = self.shared.learn(&Profile::of(past));
            if let Some(known) = complete {
                self.take_up(known);
            }
        } else if self.policy.learns() && self.known.is_exceeded_by(past) {
            self.shared.note_beyond();
        }
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled {
            executions: self.executions,
        }
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        Status {
            progress: self.policy.share(self.executions),
            notes: self.notes(),
            drawn_by: self.drawn_by(),
            draws: self.draws(so_far.executions),
            ..Status::named(self.policy.name())
        }
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        Some(self)
    }

    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        Ok(self)
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        Some(self)
    }
}

impl Partitioned for Sampling {
    fn keep_to(&mut self, partition: Partition) {
        self.partition = Some(partition);
    }

    fn is_here(&mut self, _: &[Choice]) -> bool {
        self.gets(self.number)
    }

    fn is_elsewhere(&mut self, _: &[Choice]) -> bool {
        !self.gets(self.number)
    }
}

impl Parallel for Sampling {
    fn split(&mut self) -> Box<dyn Strategy> {
        Box::new(self.another())
    }

    fn wait(&mut self) -> bool {
        self.shared.wait()
    }

    fn discard(&mut self) {
        self.block = 0..0;
        self.running = false;
        self.shared.cut();
    }

    fn stop(&mut self) {
        self.shared.stop();
    }

    fn segment(&mut self) -> Option<SearchPosition> {
        self.span.take()
    }

    fn position(&mut self, _: &[Choice]) -> SearchPosition {
        SearchPosition::of_number(self.number)
    }
}

impl Resumable for Sampling {
    fn save(&mut self, _: &Plan) -> Option<String> {
        intermezzo_engine::serial::to_string(&self.block).ok()
    }

    fn save_prepared(&mut self, _: &Plan) -> Option<String> {
        intermezzo_engine::serial::to_string(&(self.number..self.block.end)).ok()
    }

    fn save_shared(&mut self) -> Option<String> {
        self.shared.save()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        if !self.shared.restore(&state.shared, &state.hands) {
            return false;
        }
        if let Some(known) = self.shared.learned() {
            self.take_up(known);
        }
        true
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        // The others would wait forever for this execution, from which they have to learn.
        if std::mem::take(&mut self.running) && self.number < self.profiled() {
            self.shared.stop();
        }
    }
}
