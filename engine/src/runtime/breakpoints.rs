//! Armed breakpoints as a constraint on the enabled tasks: exact, and without time.
//!
//! A task that reaches an armed place is *parked*: it cannot continue until its partner arrives, or until no other task
//! can continue. When both are there, the first goes next. The second stays parked until the first has done its step
//! (its next visible operation, or everything until its turn is dropped).
//!
//! Places are calls in the test's own code (`intermezzo::breakpoint`), or places in the source that the settings name.
//! At the latter a task is parked right before its visible operation there. Neither choices nor events are recorded: a
//! schedule has the armed breakpoints in addition to its choices.
//!
//! Differs from BTrigger (Park, Sen, EECS-2011-159): there is no time, so a pause cannot be too short. A wait is known
//! to be futile when all other tasks wait. None of this runs unless a breakpoint is armed; decisions then take the slow
//! path.

use super::ready::Ready;
use super::tasks::Tasks;
use super::{Engine, Runtime, arena};
use crate::described::BreakpointFigures;
use crate::record::{Access, NO_TASK, Status, WaitLimits, gate};
use crate::site::{Place, Site};
use intermezzo_breakpoint::{
    Armings, Arrived, Meeting, Objects, Passed, Refinements, Role, Spot, Table, Ticket, Visit, Where,
};
use intermezzo_sdk::SyncVarOp;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The number of yields after which a parked task times out. Only yields after which every task that can continue has
/// yielded are counted. A partner may yield a few times on its way, and one that yields more often is missed. Without
/// this limit, a loop that waits for the parked task would never end.
const PATIENCE: u32 = 100;

/// The breakpoints of a worker, and the tasks that are at them in the current execution.
#[derive(Default)]
pub(super) struct Breakpoints {
    armings: Armings,
    table: Table,
    /// The sides of armings at each place in the source. Kept for the whole exploration.
    sides: HashMap<Site, Vec<Side>>,
    /// `true` if any place in the source is armed.
    any_sites: bool,
    /// The tasks that cannot continue, in the order in which they arrived.
    parked: Vec<Parked>,
    /// The tasks that go first, and the tasks that each keeps waiting.
    leads: Vec<Lead>,
    /// The data of each task.
    visitors: Vec<Visitor>,
    /// `true` if any task was parked.
    acted: bool,
    /// The number of yields since a task was parked that left no task that had not yielded.
    yields: u32,
}

/// A side of a breakpoint between places in the source.
#[derive(Clone, Copy)]
struct Side {
    arming: usize,
    role: Role,
}

/// The data of a task.
#[derive(Clone, Default)]
struct Visitor {
    /// The locks that it says it holds.
    held: Vec<usize>,
    /// The result of its last visit.
    passed: Passed,
    /// The number of its visits to places.
    visits: u64,
    /// The number of its steps, and the number that it had taken when it reached its current place in the source.
    steps: u64,
    arrived: Option<u64>,
}

/// A task that cannot continue.
struct Parked {
    task: u32,
    ticket: Ticket,
    /// The breakpoint, by its name in the table.
    name: String,
    /// The task whose turn must end before it continues; `None` if it waits for a partner.
    after: Option<Ticket>,
    /// `true` if it waits at a gate; `false` if it is before a visible operation that it could take.
    at_gate: bool,
}

/// A task that goes first.
struct Lead {
    task: u32,
    ticket: Ticket,
    /// `true` if the end of its turn will be reported.
    guarded: bool,
    /// `true` if it has taken a step since then.
    stepped: bool,
}

impl Breakpoints {
    pub(super) fn new(armings: Armings) -> Breakpoints {
        Breakpoints {
            table: Table::new(armings.clone()),
            sides: HashMap::new(),
            any_sites: armings
                .0
                .iter()
                .any(|arming| !matches!(arming.place, Where::Named(_))),
            armings,
            parked: Vec::new(),
            leads: Vec::new(),
            visitors: Vec::new(),
            acted: false,
            yields: 0,
        }
    }

    /// Returns the armed breakpoints.
    pub(super) fn armings(&self) -> &Armings {
        &self.armings
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.table.reset();
        self.parked.clear();
        self.leads.clear();
        self.visitors.clear();
        self.acted = false;
        self.yields = 0;
    }

    fn visitor(&mut self, task: u32) -> &mut Visitor {
        let at = task as usize;
        if self.visitors.len() <= at {
            self.visitors.resize(at + 1, Visitor::default());
        }
        &mut self.visitors[at]
    }

    /// Returns `true` if the task must not perform the visible operation that it is about to perform.
    fn holds_back(&self, task: u32) -> bool {
        self.parked
            .iter()
            .any(|parked| parked.task == task && !parked.at_gate)
    }

    /// Returns the figures of the armed breakpoints in this execution.
    pub(super) fn figures(&self) -> Vec<BreakpointFigures> {
        self.table.statistics().map(BreakpointFigures::of).collect()
    }

    /// Returns `true` if armed breakpoints kept any task from continuing.
    pub(super) fn acted(&self) -> bool {
        self.acted
    }

    /// Removes from `listed` the tasks that a breakpoint holds back; if one task must go first, keeps only that one.
    pub(super) fn keep_to(&self, ready: &Ready, tasks: &Tasks, listed: &mut Vec<u32>) {
        listed.retain(|&task| !self.holds_back(task));
        if listed.is_empty() {
            // Fairness held back all others, in favour of a task that a breakpoint holds back.
            let last = ready.last();
            let others = (last + 1..tasks.created()).chain(0..last + 1);
            listed.extend(others.filter(|&task| ready.is_enabled(task) && !self.holds_back(task)));
        }
        if let Some(first) = self.next_first()
            && ready.is_enabled(first)
        {
            listed.clear();
            listed.push(first);
        }
    }

    /// Returns the task that must go next, before all others.
    fn next_first(&self) -> Option<u32> {
        let lead = self.leads.iter().find(|lead| !lead.stepped);
        lead.map(|lead| lead.task)
    }

    /// Notes that a task takes a step.
    pub(super) fn step(&mut self, task: u32) {
        self.visitor(task).steps += 1;
        for lead in self.leads.iter_mut().filter(|lead| lead.task == task) {
            lead.stepped = true;
        }
    }

    /// Returns the number of visits of a task to places so far.
    pub(super) fn visits(&self, task: u32) -> u64 {
        self.visitors
            .get(task as usize)
            .map_or(0, |visitor| visitor.visits)
    }

    /// Returns the sides of armed breakpoints at a place.
    fn sides_at(&mut self, site: Site) -> Vec<Side> {
        let Breakpoints { sides, armings, .. } = self;
        let is_at = |spot: &Spot| {
            let Place { file, line, column } = site.place();
            spot.is_at(file, line, column)
        };
        let sides_of = |(arming, armed): (usize, &intermezzo_breakpoint::Arming)| {
            let role = match &armed.place {
                Where::Before { first, second } => match (is_at(first), is_at(second)) {
                    (true, true) => Some(Role::Either),
                    (true, false) => Some(Role::First),
                    (false, true) => Some(Role::Second),
                    (false, false) => None,
                },
                Where::Deadlock(spots) => spots.iter().any(is_at).then_some(Role::Either),
                Where::Named(_) => None,
            };
            role.map(|role| Side { arming, role })
        };
        let known = sides.entry(site);
        known
            .or_insert_with(|| armings.0.iter().enumerate().filter_map(sides_of).collect())
            .clone()
    }

    /// Removes and returns a parked task. Returns `None` if it is no longer parked.
    fn take(&mut self, ticket: Ticket) -> Option<Parked> {
        let at = self.parked.iter().position(|parked| parked.ticket == ticket)?;
        Some(self.parked.remove(at))
    }

    fn parked_task(&self, ticket: Ticket) -> Option<u32> {
        let parked = self.parked.iter().find(|parked| parked.ticket == ticket);
        parked.map(|parked| parked.task)
    }
}

/// The moment at which a task that reached a place continues.
enum Goes {
    On(Passed),
    /// When it is released.
    Later,
}

impl Runtime {
    /// Updates the breakpoints before a task is chosen. Parks tasks that reached a place in the source, and releases
    /// those that waited for a step that has been taken. If no other task can continue, releases one that then times
    /// out.
    #[cold]
    pub(super) fn look_at_breakpoints(&mut self) {
        let Some(mut breakpoints) = self.constraints.breakpoints.take() else {
            return;
        };
        let ended = |task: u32| self.tasks[task].status == Status::Ended;
        let over = |lead: &Lead| lead.stepped && !lead.guarded || ended(lead.task);
        let over: Vec<Ticket> = breakpoints
            .leads
            .iter()
            .filter(|lead| over(lead))
            .map(|lead| lead.ticket)
            .collect();
        for ticket in over {
            self.end_lead(&mut breakpoints, ticket);
        }
        if breakpoints.any_sites {
            for task in self.tasks.numbers() {
                self.arrive_at_source(&mut breakpoints, task);
            }
        }
        while !breakpoints.parked.is_empty() && !self.ready.any_must_run() && !self.any_free(&breakpoints) {
            let waits = |task| !self.ready.expired().contains(task) && !breakpoints.holds_back(task);
            if self.ready.timed_waiters().iter().any(waits) {
                self.world.pass_time(&mut self.ready, &mut self.tasks);
                self.record.forced_by_idle = true;
            } else {
                self.time_one_out(&mut breakpoints);
            }
        }
        self.constraints.breakpoints = Some(breakpoints);
    }

    fn any_free(&self, breakpoints: &Breakpoints) -> bool {
        self.ready
            .enabled()
            .iter()
            .any(|task| !breakpoints.holds_back(task))
    }

    /// Releases one parked task because no other can run: preferably one that has met its partner and waits for the end
    /// of its turn, otherwise the one that arrived first.
    fn time_one_out(&mut self, breakpoints: &mut Breakpoints) {
        let after = breakpoints
            .parked
            .iter()
            .position(|parked| parked.after.is_some());
        let parked = breakpoints.parked.remove(after.unwrap_or(0));
        match parked.after {
            Some(first) => {
                breakpoints.table.unordered(&parked.name);
                breakpoints.leads.retain(|lead| lead.ticket != first);
                self.let_go(breakpoints, &parked, true);
            }
            None => {
                breakpoints.table.give_up(parked.ticket);
                self.let_go(breakpoints, &parked, false);
            }
        }
    }

    /// Releases a parked task in the same way after [`PATIENCE`] yields. Called when the current task has yielded.
    pub(super) fn let_go_after_yields(&mut self) {
        let Some(breakpoints) = self.constraints.breakpoints.as_deref_mut() else {
            return;
        };
        let gives_way = |task: u32| self.tasks[task].yielded || breakpoints.holds_back(task);
        if breakpoints.parked.is_empty() || !self.ready.enabled().iter().all(gives_way) {
            return;
        }
        breakpoints.yields += 1;
        if breakpoints.yields == PATIENCE {
            breakpoints.yields = 0;
            self.let_go_while_all_give_way();
        }
    }

    /// Releases a parked task in the same way at once, because all tasks that can continue only yield. Returns `true`
    /// if there was one.
    pub(super) fn let_go_while_all_give_way(&mut self) -> bool {
        match self.constraints.breakpoints.take() {
            Some(mut breakpoints) => {
                let any = !breakpoints.parked.is_empty();
                if any {
                    self.time_one_out(&mut breakpoints);
                }
                self.constraints.breakpoints = Some(breakpoints);
                any
            }
            None => false,
        }
    }

    /// Lets a task continue that is no longer parked; `hit` is `true` if it met its partner.
    fn let_go(&mut self, breakpoints: &mut Breakpoints, parked: &Parked, hit: bool) {
        let guarded = breakpoints.leads.iter().find(|lead| lead.ticket == parked.ticket);
        let turn = guarded.filter(|lead| lead.guarded).map(|lead| lead.ticket);
        breakpoints.visitor(parked.task).passed = Passed { hit, turn };
        if parked.at_gate {
            let var = self.tasks[parked.task].var;
            self.objects.vars[var].gates |= gate::PASSED;
            self.gates_changed(var);
        }
    }

    /// Ends a turn: the tasks that waited for it continue.
    fn end_lead(&mut self, breakpoints: &mut Breakpoints, ticket: Ticket) {
        breakpoints.leads.retain(|lead| lead.ticket != ticket);
        let waits = |parked: &Parked| parked.after == Some(ticket);
        while let Some(at) = breakpoints.parked.iter().position(waits) {
            let parked = breakpoints.parked.remove(at);
            self.let_go(breakpoints, &parked, true);
        }
    }

    /// Reports an arrival if the task is before a visible operation at an armed place in the source, and has not
    /// arrived there yet.
    fn arrive_at_source(&mut self, breakpoints: &mut Breakpoints, task: u32) {
        let entry = &self.tasks[task];
        let (visible, access) = (entry.pending.visible, entry.pending.access);
        if entry.status != Status::Live || !visible {
            return;
        }
        let visitor = breakpoints.visitor(task);
        if visitor.arrived.replace(visitor.steps) == Some(visitor.steps) {
            return;
        }
        for Side { arming, role } in breakpoints.sides_at(access.site) {
            let place = breakpoints.armings.0[arming].place.to_string();
            let locks = matches!(breakpoints.armings.0[arming].place, Where::Deadlock(_));
            let mut visit = Visit {
                name: &place,
                role,
                objects: Objects::Same(access.var as usize),
                state: None,
                agree: &|_, _| true,
                while_held: None,
                refined: Refinements::default(),
                guarded: false,
                site: None,
            };
            let arrived = if locks {
                let Breakpoints { table, parked, .. } = &mut *breakpoints;
                let circle = |waiting: &[Ticket]| self.circle_of_locks(parked, waiting, task);
                table.arrive_by(&mut visit, circle)
            } else {
                breakpoints.table.arrive(&mut visit, true)
            };
            if matches!(arrived, Arrived::Passes) {
                continue;
            }
            let in_order = matches!(breakpoints.armings.0[arming].place, Where::Before { .. });
            self.settle(breakpoints, task, &place, arrived, in_order, false);
            return;
        }
    }

    /// Returns those of the waiting tasks that form a cycle with this task: each is about to take a lock that the next
    /// one owns.
    fn circle_of_locks(&self, parked: &[Parked], waiting: &[Ticket], task: u32) -> Vec<Ticket> {
        let owner = |task: u32| {
            let var = self.tasks[task].pending.access.var;
            if (var as usize) < self.objects.vars.count() {
                self.objects.vars[var].owner
            } else {
                NO_TASK
            }
        };
        let mut circle = Vec::new();
        let mut next = owner(task);
        while next != task {
            let link = parked
                .iter()
                .find(|parked| parked.task == next && waiting.contains(&parked.ticket));
            match link {
                Some(link) if !circle.contains(&link.ticket) => circle.push(link.ticket),
                _ => return Vec::new(),
            }
            next = owner(next);
        }
        circle
    }

    /// Decides the result of an arrival. With `in_order` the task that waited goes first, unless the places say
    /// otherwise.
    fn settle(
        &mut self,
        breakpoints: &mut Breakpoints,
        task: u32,
        name: &str,
        arrived: Arrived,
        in_order: bool,
        at_gate: bool,
    ) -> Goes {
        // The next task of its symmetric group, which begins in this one's first step, may be the one that meets it
        // here.
        self.begin_after(task, None);
        breakpoints.visitor(task).visits += 1;
        let mut park = |breakpoints: &mut Breakpoints, ticket, after| {
            (breakpoints.acted, breakpoints.yields) = (true, 0);
            breakpoints.parked.push(Parked {
                task,
                ticket,
                name: name.to_owned(),
                after,
                at_gate,
            });
            if at_gate {
                let var = self.tasks[task].var;
                self.objects.vars[var].gates &= !gate::PASSED;
            }
            Goes::Later
        };
        let Meeting {
            last,
            waited,
            first,
            guarded,
        } = match arrived {
            Arrived::Passes => return Goes::On(Passed::default()),
            Arrived::Waits(ticket, _) => return park(breakpoints, ticket, None),
            Arrived::Meets(meeting, _) => meeting,
        };
        let first = first.or_else(|| in_order.then(|| waited[0]));
        let Some(first) = first else {
            for ticket in waited {
                if let Some(parked) = breakpoints.take(ticket) {
                    self.let_go(breakpoints, &parked, true);
                }
            }
            return Goes::On(Passed {
                hit: true,
                turn: None,
            });
        };
        let leader = if first == last {
            task
        } else {
            breakpoints
                .parked_task(first)
                .expect("a task that waits is parked")
        };
        breakpoints.leads.push(Lead {
            task: leader,
            ticket: first,
            guarded,
            stepped: false,
        });
        if first == last {
            for parked in breakpoints
                .parked
                .iter_mut()
                .filter(|parked| waited.contains(&parked.ticket))
            {
                parked.after = Some(first);
            }
            return Goes::On(Passed {
                hit: true,
                turn: guarded.then_some(last),
            });
        }
        let later = park(breakpoints, last, Some(first));
        if let Some(parked) = breakpoints.take(first) {
            self.let_go(breakpoints, &parked, true);
        }
        later
    }
}

impl Engine {
    /// Returns `true` if a breakpoint of this name is armed.
    pub(crate) fn breakpoint_armed(self, name: &str) -> bool {
        self.with(|rt| {
            let breakpoints = rt.constraints.breakpoints.as_ref().filter(|_| !rt.end.teardown);
            breakpoints.is_some_and(|breakpoints| breakpoints.table.is_armed(name))
        })
    }

    /// Visits a place of a breakpoint with the current task; returns when the task may continue.
    pub(crate) fn visit_breakpoint(self, mut visit: Visit<'_>) -> Passed {
        let current = self.task();
        let Some(site) = visit.site.filter(|_| !self.in_teardown()) else {
            return Passed::default();
        };
        // The runtime is released while predicates of the test run; places that they reach have no effect.
        let Some(mut breakpoints) = self.with(|rt| rt.constraints.breakpoints.take()) else {
            return Passed::default();
        };
        let holds = visit
            .while_held
            .is_none_or(|lock| breakpoints.visitor(current).held.contains(&lock));
        let arrived = catch_unwind(AssertUnwindSafe(|| {
            arena::outside(|| breakpoints.table.arrive(&mut visit, holds))
        }));
        let arrived = arrived.unwrap_or_else(|panic| {
            let breakpoints = std::mem::take(&mut breakpoints);
            self.with(|rt| rt.constraints.breakpoints = Some(breakpoints));
            resume_unwind(panic)
        });
        let goes = self.with(|rt| {
            let goes = rt.settle(&mut breakpoints, current, visit.name, arrived, false, true);
            rt.constraints.breakpoints = Some(breakpoints);
            goes
        });
        match goes {
            Goes::On(passed) => passed,
            Goes::Later => {
                let var = self.task_var(current);
                let access = Access::nowhere(SyncVarOp::Yield, site.into());
                self.wait(access, var, gate::PASSED, WaitLimits::default());
                self.with(|rt| {
                    let breakpoints = rt.constraints.breakpoints.as_mut();
                    breakpoints.map_or(Passed::default(), |breakpoints| {
                        breakpoints.visitor(current).passed
                    })
                })
            }
        }
    }

    /// Ends a turn.
    pub(crate) fn breakpoint_turn_over(self, turn: Ticket) {
        self.with(|rt| {
            if rt.end.teardown {
                return;
            }
            if let Some(mut breakpoints) = rt.constraints.breakpoints.take() {
                rt.end_lead(&mut breakpoints, turn);
                rt.constraints.breakpoints = Some(breakpoints);
            }
        });
    }

    /// Notes that the current task holds the lock at this address, or no longer holds it.
    pub(crate) fn mark_held(self, lock: usize, holds: bool) {
        self.with(|rt| {
            let current = rt.tasks.current();
            if let Some(breakpoints) = &mut rt.constraints.breakpoints {
                let held = &mut breakpoints.visitor(current).held;
                if holds {
                    held.push(lock);
                } else if let Some(at) = held.iter().rposition(|&known| known == lock) {
                    held.remove(at);
                }
            }
        });
    }

    /// Notes that the test tries to arm breakpoints itself, which only the settings can do.
    pub fn arming_unheeded(self) {
        self.with(|rt| rt.constraints.scoping.arming_unheeded = true);
    }
}
