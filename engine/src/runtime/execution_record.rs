//! The record of an execution: its events, and their order.

use crate::record::{Events, Gates, Task, Vars};
use crate::site::Site;
use crate::strategy::Plan;
use crate::trace::{Analysis, Aside, Class, Extra, Key, Limit, SoundReduction, StepAccess, Trace};
use intermezzo_sdk::SyncVarOp;

/// The record of an execution.
pub(super) struct ExecutionRecord {
    pub(super) events: Events,
    /// The happens-before order of this execution.
    pub(super) trace: Trace,
    /// The number of steps, and the number of those whose task differs from the previous step's.
    pub(super) steps: u64,
    pub(super) switches: u64,
    /// The first step that is not in the trace yet, and the step from which the strategy is asked even if there is only
    /// one alternative.
    observe_from: u64,
    ask_from: u64,
    /// The accesses and stores of the current step, in addition to the accesses of its events.
    pub(super) extra_footprint: Vec<Aside>,
    /// The gates at which the current step waited.
    pub(super) waited: Option<(u32, Gates)>,
    /// The limit of the wait that the current step ends, if it has one.
    pub(super) timed: Option<Limit>,
    /// `true` if the current step was possible only because no other task could continue.
    pub(super) forced_by_idle: bool,
    /// `true` if the next step is possible only because a thread that is not controlled has released a task.
    pub(super) released: bool,
    /// A yield or a sleep by which time may pass, and its place.
    pub(super) pause: Option<(SyncVarOp, Site)>,
    /// The weakest reduction that operations required for a reason other than their kind, and the first such operation.
    unsound: Option<(SoundReduction, SyncVarOp, Site)>,
    /// `true` if two tasks used one object in this execution or an earlier one.
    pub(super) shares: bool,
}

impl ExecutionRecord {
    pub(super) fn new(trace: Trace) -> ExecutionRecord {
        ExecutionRecord {
            events: Events::default(),
            trace,
            steps: 0,
            switches: 0,
            observe_from: 0,
            ask_from: 0,
            extra_footprint: Vec::new(),
            waited: None,
            timed: None,
            forced_by_idle: false,
            released: false,
            pause: None,
            unsound: None,
            shares: false,
        }
    }

    /// Begins an execution of this plan. `tasks` has the entries of the last execution. With `asks_always`, the
    /// strategy is asked even where there is only one alternative.
    pub(super) fn begin(&mut self, plan: &mut Plan, asks_always: bool, vars: &Vars, tasks: &[Task]) {
        if plan.take_forgotten() {
            self.trace.clear();
        } else {
            self.trace.rewind(plan.kept(), vars, tasks);
        }
        let known = self.trace.steps();
        self.events.clear(known.last().map_or(0, |step| step.events_end));
        let nothing = self.trace.detail() == Analysis::Nothing;
        self.observe_from = if nothing { u64::MAX } else { known.len() as u64 };
        self.ask_from = if asks_always {
            self.observe_from.saturating_sub(1)
        } else {
            u64::MAX
        };
        self.extra_footprint.clear();
        (self.waited, self.timed, self.forced_by_idle, self.released) = (None, None, false, false);
        self.pause = None;
        self.steps = 0;
        self.switches = 0;
    }

    /// Returns `true` if the current step must be added to the trace.
    #[inline(always)]
    pub(super) fn is_observed(&self) -> bool {
        self.steps >= self.observe_from
    }

    /// Returns `true` if the next step must be added to the trace.
    pub(super) fn is_next_observed(&self) -> bool {
        self.steps + 1 >= self.observe_from
    }

    /// Returns `true` if the strategy is asked about the next step even if there is only one alternative.
    #[inline(always)]
    pub(super) fn must_ask(&self) -> bool {
        self.steps >= self.ask_from
    }

    /// Adds an access by this task to the current step, in addition to the accesses of its events.
    pub(super) fn add_to_footprint(&mut self, task: u32, key: Key, class: Class) {
        // An access to the clock belongs to the task's last operation, any other access to its current one.
        self.add_aside(
            task,
            Extra::Access(StepAccess { key, class }),
            key.var().is_none(),
        );
    }

    /// Notes the store that the task's current operation reads or follows under a memory model.
    pub(super) fn add_store(&mut self, task: u32, store: u32) {
        self.add_aside(task, Extra::Store(store), false);
    }

    fn add_aside(&mut self, task: u32, extra: Extra, of_last_event: bool) {
        if self.is_observed() {
            self.extra_footprint.push(Aside {
                extra,
                task,
                events_before: self.events.as_slice().len(),
                of_last_event,
            });
        }
    }

    /// Adds a write that a task performs after its last operation.
    #[cfg(feature = "unmodified")]
    pub(super) fn add_write_since(&mut self, task: u32, key: Key) {
        self.add_to_footprint(task, key, Class::Write);
        if let Some(aside) = self.extra_footprint.last_mut() {
            aside.of_last_event = true;
        }
    }

    /// Notes that no reduction stronger than this one is sound, because of an operation at this place.
    pub(super) fn sound_only(&mut self, sound: SoundReduction, op: SyncVarOp, site: Site) {
        self.trace.only(sound);
        self.note_unsound(sound, op, site);
    }

    /// Remembers the first operation, and its place, because of which no reduction stronger than this one is sound.
    pub(super) fn note_unsound(&mut self, sound: SoundReduction, op: SyncVarOp, site: Site) {
        if self.unsound.is_none_or(|(known, ..)| known < sound) {
            self.unsound = Some((sound, op, site));
        }
    }

    /// Returns the operation of the last execution, with its place, because of which no reduction stronger than this
    /// one is sound.
    pub(super) fn unsound(&self, sound: SoundReduction) -> Option<(SyncVarOp, Site)> {
        let events = self.events.as_slice();
        let of_kind = events.iter().find(|event| SoundReduction::of(event.op) == sound);
        match (of_kind, self.unsound) {
            (Some(event), _) => Some((event.op, event.site)),
            (None, Some((own, op, site))) if own == sound => Some((op, site)),
            #[cfg(feature = "unmodified")]
            _ if sound == SoundReduction::Caching => self.trace.late_count(),
            _ => None,
        }
    }
}
