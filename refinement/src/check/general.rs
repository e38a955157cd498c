//! The general checker: a depth first search for an order of the operations, by Wing & Gong (JPDC 1993), that does
//! not continue from a state which it reached before, by Lowe (CCPE 2017).
//!
//! An operation may come next if none that is left returned before it was called. Where the object has parts, each is
//! checked alone (locality: Herlihy & Wing, TOPLAS 1990), for linearizability only: the other two levels are not
//! local. Differs from the sources: specifications may have several outcomes for a call; operations that never
//! returned may have happened or not; one that returned may be allowed to take effect later.

use super::bits::Bits;
use super::interval::{Interval, intervals};
use super::limits::Limits;
use super::process_order;
use super::states::{Reached, StateId, States};
use super::{Same, Verdict, Violation};
use crate::history::{History, Operation};
use crate::specification::{Next, Specification};
use std::collections::BTreeMap;
use std::time::Instant;

/// A predicate.
type Predicate<'a, X> = Box<dyn Fn(&X) -> bool + 'a>;

/// A checker with its settings.
pub struct Checker<'a, S: Specification> {
    specification: &'a S,
    same: Same,
    states_max: u64,
    until: Option<Instant>,
    late: Predicate<'a, S::Call>,
    parent: Option<u32>,
    before: Option<Vec<Vec<usize>>>,
    ends: Option<Predicate<'a, S::State>>,
}

impl<'a, S: Specification> Checker<'a, S> {
    /// The number of states after which a checker gives up: some gigabytes of them.
    pub const STATES_MAX: u64 = 30_000_000;

    /// Creates a checker of linearizability.
    pub fn new(specification: &'a S) -> Checker<'a, S> {
        Checker {
            specification,
            same: Same::Linearizable,
            states_max: Self::STATES_MAX,
            until: None,
            late: Box::new(|_| false),
            parent: None,
            before: None,
            ends: None,
        }
    }

    /// Sets the allowed orders.
    pub fn same(self, same: Same) -> Self {
        Checker { same, ..self }
    }

    /// Sets the number of states after which it gives up.
    pub fn states_max(self, states_max: u64) -> Self {
        Checker { states_max, ..self }
    }

    /// Sets the moment at which it gives up. Default: never.
    pub fn until(self, until: Option<Instant>) -> Self {
        Checker { until, ..self }
    }

    /// Sets the calls that may take effect after they have returned: at any time, but they do.
    pub fn late(self, late: impl Fn(&S::Call) -> bool + 'a) -> Self {
        Checker {
            late: Box::new(late),
            ..self
        }
    }

    /// Sets the process that creates the others and waits for their ends. [`Same::Sequential`] keeps the order between
    /// its operations and theirs, as far as they do not overlap. Default: there is none.
    pub fn parent(self, process: u32) -> Self {
        Checker {
            parent: Some(process),
            ..self
        }
    }

    /// Sets the operations that have to come before each operation, by place in the history. They replace the order of times
    /// and processes. The object is then checked as a whole.
    pub(crate) fn before(self, before: Option<Vec<Vec<usize>>>) -> Self {
        Checker { before, ..self }
    }

    /// Allows only orders that lead to a state for which this holds. The object is then checked as a whole.
    pub fn ends(self, ends: impl Fn(&S::State) -> bool + 'a) -> Self {
        Checker {
            ends: Some(Box::new(ends)),
            ..self
        }
    }

    /// Checks a history.
    pub fn check(&self, history: &History<S::Call, S::Return>) -> Verdict<S::State> {
        // A part that is hard to decide must not delay another that is easily refuted. So all are tried with few
        // states first, and the undecided ones with more.
        const STATES_FIRST: u64 = 10_000;
        let mut order = Vec::new();
        let mut parts = self.parts(history);
        let mut states_max = STATES_FIRST;
        loop {
            let is_last = states_max >= self.states_max || parts.len() == 1;
            let states = if is_last { self.states_max } else { states_max };
            let mut left = Vec::new();
            for part in parts {
                match self.check_part(history, &part, states) {
                    Verdict::Allowed { order: more } => order.extend(more),
                    Verdict::Unknown { .. } if !is_last && !self.is_late() => left.push(part),
                    other => return other,
                }
            }
            if left.is_empty() {
                return Verdict::Allowed { order };
            }
            parts = left;
            states_max = states.saturating_mul(10);
        }
    }

    /// `true` if the time is over.
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Returns the operations of each part, or all of them.
    fn parts(&self, history: &History<S::Call, S::Return>) -> Vec<Vec<usize>> {
        let mut parts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, operation) in history.operations().iter().enumerate() {
            match self.specification.part(&operation.call) {
                Some(part)
                    if self.same == Same::Linearizable && self.ends.is_none() && self.before.is_none() =>
                {
                    parts.entry(part).or_default().push(at)
                }
                _ => return vec![(0..history.len()).collect()],
            }
        }
        parts.into_values().collect()
    }

    fn check_part(
        &self,
        history: &History<S::Call, S::Return>,
        part: &[usize],
        states_max: u64,
    ) -> Verdict<S::State> {
        let operations: Vec<_> = part.iter().map(|&at| &history.operations()[at]).collect();
        let limits = Limits::new(states_max, self.until);
        let ends = self.ends.as_deref();
        let ended = match (&self.before, self.same) {
            (Some(before), _) => process_order::search(self.specification, &operations, before, ends, limits),
            (None, Same::Sequential) => {
                let before = process_order::predecessors(&operations, self.parent, &self.late);
                process_order::search(self.specification, &operations, &before, ends, limits)
            }
            _ => {
                let intervals = intervals(&operations, self.same, &self.late);
                Search::new(self.specification, &operations, &intervals, ends).run(limits)
            }
        };
        let places = |own: Vec<usize>| own.into_iter().map(|at| part[at]).collect();
        match ended {
            Verdict::Allowed { order } => Verdict::Allowed { order: places(order) },
            Verdict::Violation(violation) => Verdict::Violation(Violation {
                longest: places(violation.longest),
                stuck: places(violation.stuck),
                part: part.to_vec(),
                ..violation
            }),
            Verdict::Unknown { states } => Verdict::Unknown { states },
        }
    }
}

/// An operation's beginning or end, in a list in the order of time. Operations that are already ordered are taken out
/// of the list.
#[derive(Clone, Copy)]
struct Entry {
    operation: u32,
    is_end: bool,
    before: u32,
    after: u32,
}

/// The head of the list, which is no entry.
const HEAD: u32 = 0;

/// An operation that has been placed in the order.
struct Placed {
    /// The entry of its beginning.
    entry: u32,
    /// The state before.
    state: StateId,
    /// Other states that it may lead to, not yet tried.
    others: Vec<StateId>,
}

/// A predicate for the states in which an order may end.
pub(super) type Ends<'a, S> = &'a dyn Fn(&<S as Specification>::State) -> bool;

/// The search for an order.
struct Search<'a, S: Specification> {
    specification: &'a S,
    operations: &'a [&'a Operation<S::Call, S::Return>],
    /// The predicate for the states in which an order may end.
    may_end: Option<Ends<'a, S>>,
    entries: Vec<Entry>,
    /// The entry of each operation's end, if it has one.
    ends: Vec<Option<u32>>,
    states: States<S::State>,
    reached: Reached,
    done: Bits,
    placed: Vec<Placed>,
    state: StateId,
    /// The longest order so far: the operations, the state after them, and the operations that were stuck then.
    longest: Longest,
}

/// The progress of the search.
#[derive(Default)]
struct Longest {
    order: Vec<usize>,
    state: StateId,
    stuck: Vec<usize>,
    found: bool,
}

impl<'a, S: Specification> Search<'a, S> {
    fn new(
        specification: &'a S,
        operations: &'a [&'a Operation<S::Call, S::Return>],
        intervals: &[Interval],
        may_end: Option<Ends<'a, S>>,
    ) -> Search<'a, S> {
        // At the same moment beginnings come first: such operations overlap.
        let mut moments: Vec<(u64, bool, u32)> = Vec::new();
        for (operation, interval) in (0..).zip(intervals) {
            moments.push((interval.from, false, operation));
            moments.extend(interval.until.map(|until| (until, true, operation)));
        }
        moments.sort_unstable();
        let last = moments.len() as u32;
        let mut entries = vec![Entry {
            operation: u32::MAX,
            is_end: false,
            before: last,
            after: u32::from(last > 0),
        }];
        let mut ends = vec![None; operations.len()];
        for (at, (_, is_end, operation)) in (1..).zip(moments) {
            if is_end {
                ends[operation as usize] = Some(at);
            }
            entries.push(Entry {
                operation,
                is_end,
                before: at - 1,
                after: if at == last { HEAD } else { at + 1 },
            });
        }
        let mut states = States::new();
        let state = states.number(specification.initial());
        Search {
            specification,
            operations,
            may_end,
            entries,
            ends,
            states,
            reached: Reached::default(),
            done: Bits::new(operations.len()),
            placed: Vec::new(),
            state,
            longest: Longest::default(),
        }
    }

    fn run(mut self, mut limits: Limits) -> Verdict<S::State> {
        let mut at = self.entries[HEAD as usize].after;
        loop {
            // If the way through the list meets no end, every operation that has to happen is placed.
            if at == HEAD && self.may_end.is_none_or(|may| may(self.states.get(self.state))) {
                return Verdict::Allowed { order: self.order() };
            }
            let next = if at == HEAD || self.entries[at as usize].is_end {
                self.note_longest(at);
                match self.take_back() {
                    Some(next) => next,
                    None => return self.violation(),
                }
            } else {
                self.place(at)
            };
            if limits.is_over(self.reached.len()) {
                return Verdict::Unknown {
                    states: self.reached.len(),
                };
            }
            at = next;
        }
    }

    /// Returns the operations placed so far.
    fn order(&self) -> Vec<usize> {
        let operation = |placed: &Placed| self.entries[placed.entry as usize].operation as usize;
        self.placed.iter().map(operation).collect()
    }

    /// Tries to place the operation that begins here next. Returns the entry to continue with.
    fn place(&mut self, at: u32) -> u32 {
        let operation = self.entries[at as usize].operation as usize;
        let Operation { call, returned, .. } = self.operations[operation];
        let state = self.states.get(self.state);
        let next = self.specification.next(state, call, returned.as_ref());
        let mut candidates = match next {
            Next::None => Vec::new(),
            Next::One(state) => vec![self.states.number(state)],
            Next::Any(states) => states
                .into_iter()
                .map(|state| self.states.number(state))
                .collect(),
        };
        if returned.is_none() {
            // An operation that may never have happened, and changes nothing, need not have happened.
            candidates.retain(|&state| state != self.state);
        }
        candidates.reverse();
        self.done.insert(operation);
        match self.first_new(&mut candidates) {
            Some(state) => {
                self.placed.push(Placed {
                    entry: at,
                    state: self.state,
                    others: candidates,
                });
                self.state = state;
                self.lift(at);
                self.entries[HEAD as usize].after
            }
            None => {
                self.done.remove(operation);
                self.entries[at as usize].after
            }
        }
    }

    /// Returns the last of these states that was not reached before with the same operations done.
    fn first_new(&mut self, candidates: &mut Vec<StateId>) -> Option<StateId> {
        while let Some(state) = candidates.pop() {
            if self.reached.insert(&self.done, state) {
                return Some(state);
            }
        }
        None
    }

    /// Takes the last operation back, or gives it another outcome. Returns the entry to continue with.
    fn take_back(&mut self) -> Option<u32> {
        let mut last = self.placed.pop()?;
        if let Some(state) = self.first_new(&mut last.others) {
            self.state = state;
            self.placed.push(last);
            return Some(self.entries[HEAD as usize].after);
        }
        self.state = last.state;
        self.done
            .remove(self.entries[last.entry as usize].operation as usize);
        self.unlift(last.entry);
        Some(self.entries[last.entry as usize].after)
    }

    /// Takes an operation out of the list.
    fn lift(&mut self, begin: u32) {
        let operation = self.entries[begin as usize].operation as usize;
        for at in [Some(begin), self.ends[operation]].into_iter().flatten() {
            let Entry { before, after, .. } = self.entries[at as usize];
            self.entries[before as usize].after = after;
            self.entries[after as usize].before = before;
        }
    }

    /// Puts it back: the reverse of the last `lift`.
    fn unlift(&mut self, begin: u32) {
        let operation = self.entries[begin as usize].operation as usize;
        for at in [self.ends[operation], Some(begin)].into_iter().flatten() {
            let Entry { before, after, .. } = self.entries[at as usize];
            self.entries[before as usize].after = at;
            self.entries[after as usize].before = at;
        }
    }

    /// Notes the length of this order: the operation that ends at `end` had to come before.
    fn note_longest(&mut self, end: u32) {
        if self.longest.found && self.placed.len() <= self.longest.order.len() {
            return;
        }
        let mut stuck = Vec::new();
        let mut at = self.entries[HEAD as usize].after;
        while at != end {
            stuck.push(self.entries[at as usize].operation as usize);
            at = self.entries[at as usize].after;
        }
        self.longest = Longest {
            order: self.order(),
            state: self.state,
            stuck,
            found: true,
        };
    }

    fn violation(self) -> Verdict<S::State> {
        Verdict::Violation(Violation {
            longest: self.longest.order,
            state: self.states.take(self.longest.state),
            stuck: self.longest.stuck,
            part: Vec::new(),
        })
    }
}
