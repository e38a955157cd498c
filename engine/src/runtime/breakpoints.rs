//! Armed breakpoints as a constraint on who goes: exact, and without time.
//!
//! A task that comes to an armed place is *parked*: it cannot go on until its partner comes, or nobody else can go on. When
//! both are there, the first goes next; the second stays parked until the first has done its step (its next visible
//! operation, or all until its turn is dropped).
//!
//! Places are calls in the test's own code (`intermezzo::breakpoint`), or places in the source that the settings name; at
//! those a task is parked right before its visible operation there. No choice is recorded and no event: a schedule
//! has the armed breakpoints beside its choices.
//!
//! Differs from BTrigger (Park, Sen, EECS-2011-159): no time; so a pause cannot be too short, and one in vain is
//! told by that everybody else waits. Nothing here is reached unless a breakpoint is armed: decisions are then made elaborately.

use super::{Engine, Runtime};
use crate::described::BreakpointFigures;
use crate::record::{Access, NOBODY, Site, Status, WaitLimits, gate};
use intermezzo_breakpoint::{
    Armings, Arrived, Meeting, Objects, Passed, Refinements, Role, Table, Ticket, Visit, Where,
};
use intermezzo_sdk::SyncVarOp;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The breakpoints of a worker, and who is at them in the execution that runs.
#[derive(Default)]
pub(super) struct Breakpoints {
    armings: Armings,
    table: Table,
    /// Which places in the source these are: sides of armings, by their number. For the whole exploration.
    sides: HashMap<Site, Vec<Side>>,
    /// Whether any place in the source is armed.
    any_sites: bool,
    /// Those who cannot go on, in the order in which they came.
    parked: Vec<Parked>,
    /// Those who go first, and whom each keeps waiting.
    leads: Vec<Lead>,
    /// By task.
    visitors: Vec<Visitor>,
    /// Whether anybody was parked.
    acted: bool,
}

/// A side of a breakpoint between places in the source.
#[derive(Clone, Copy)]
struct Side {
    arming: usize,
    role: Role,
}

/// What is known of a task.
#[derive(Clone, Default)]
struct Visitor {
    /// Locks that it says it holds.
    held: Vec<usize>,
    /// What came of its last visit.
    passed: Passed,
    /// How often it was at a place.
    visits: u64,
    /// Steps that it took, and how many it had taken when it came to the place in the source where it is.
    steps: u64,
    arrived: Option<u64>,
}

/// A task that cannot go on.
struct Parked {
    task: u32,
    ticket: Ticket,
    /// Which breakpoint, by its name in the table.
    name: String,
    /// Whose end of turn it waits for; a partner, if it is nobody's.
    after: Option<Ticket>,
    /// Whether it waits at a gate; else it is before a visible operation, which it might take.
    at_gate: bool,
}

/// A task that goes first.
struct Lead {
    task: u32,
    ticket: Ticket,
    /// Whether the end of its turn will be told.
    guarded: bool,
    /// Whether it took a step since.
    stepped: bool,
}

impl Breakpoints {
    fn new(armings: Armings) -> Breakpoints {
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
        }
    }

    /// What is armed.
    pub(super) fn armings(&self) -> &Armings {
        &self.armings
    }

    /// An execution begins.
    fn begin(&mut self) {
        self.table.reset();
        self.parked.clear();
        self.leads.clear();
        self.visitors.clear();
        self.acted = false;
    }

    fn visitor(&mut self, task: u32) -> &mut Visitor {
        let at = task as usize;
        if self.visitors.len() <= at {
            self.visitors.resize(at + 1, Visitor::default());
        }
        &mut self.visitors[at]
    }

    /// Whether the task is not to take the visible operation before which it is.
    pub(super) fn holds_back(&self, task: u32) -> bool {
        self.parked
            .iter()
            .any(|parked| parked.task == task && !parked.at_gate)
    }

    /// The task that is to go next, before all others.
    pub(super) fn next_first(&self) -> Option<u32> {
        let lead = self.leads.iter().find(|lead| !lead.stepped);
        lead.map(|lead| lead.task)
    }

    /// A task takes a step.
    pub(super) fn step(&mut self, task: u32) {
        self.visitor(task).steps += 1;
        for lead in self.leads.iter_mut().filter(|lead| lead.task == task) {
            lead.stepped = true;
        }
    }

    /// How often a task was at a place so far.
    pub(super) fn visits(&self, task: u32) -> u64 {
        self.visitors
            .get(task as usize)
            .map_or(0, |visitor| visitor.visits)
    }

    /// Which sides of armed breakpoints are there.
    fn sides_at(&mut self, site: Site) -> Vec<Side> {
        let Breakpoints { sides, armings, .. } = self;
        let sides_of = |(arming, armed): (usize, &intermezzo_breakpoint::Arming)| {
            let role = match &armed.place {
                Where::Before { first, second } => match (first.is_at(site), second.is_at(site)) {
                    (true, true) => Some(Role::Either),
                    (true, false) => Some(Role::First),
                    (false, true) => Some(Role::Second),
                    (false, false) => None,
                },
                Where::Deadlock(spots) => spots.iter().any(|spot| spot.is_at(site)).then_some(Role::Either),
                Where::Named(_) => None,
            };
            role.map(|role| Side { arming, role })
        };
        let known = sides.entry(site);
        known
            .or_insert_with(|| armings.0.iter().enumerate().filter_map(sides_of).collect())
            .clone()
    }

    /// A task that was parked goes on. Where it is parked no more, nothing happens.
    fn take(&mut self, ticket: Ticket) -> Option<Parked> {
        let at = self.parked.iter().position(|parked| parked.ticket == ticket)?;
        Some(self.parked.remove(at))
    }

    fn parked_task(&self, ticket: Ticket) -> Option<u32> {
        let parked = self.parked.iter().find(|parked| parked.ticket == ticket);
        parked.map(|parked| parked.task)
    }
}

/// How a task that came to a place goes on.
enum Goes {
    On(Passed),
    /// When it is let go.
    Later,
}

impl Runtime {
    /// Arms these and no others.
    pub(super) fn arm(&mut self, armings: Armings) {
        self.breakpoints = (!armings.0.is_empty()).then(|| Box::new(Breakpoints::new(armings)));
    }

    /// An execution begins.
    pub(super) fn begin_breakpoints(&mut self) {
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.begin();
            // Who is parked is seen where decisions are made elaborately.
            self.scoped = true;
        }
    }

    /// What became of the armed breakpoints in this execution.
    pub(super) fn breakpoint_figures(&self) -> Vec<BreakpointFigures> {
        let Some(breakpoints) = &self.breakpoints else {
            return Vec::new();
        };
        breakpoints
            .table
            .statistics()
            .map(BreakpointFigures::of)
            .collect()
    }

    /// Whether armed breakpoints kept anybody from going on.
    pub(super) fn breakpoints_acted(&self) -> bool {
        self.breakpoints
            .as_ref()
            .is_some_and(|breakpoints| breakpoints.acted)
    }

    /// A task is about to be chosen: who came to a place in the source is parked there, who has waited for a step that is
    /// done goes on, and so does somebody who waited in vain if nobody else can.
    #[cold]
    pub(super) fn look_at_breakpoints(&mut self) {
        let Some(mut breakpoints) = self.breakpoints.take() else {
            return;
        };
        let ended = |task: u32| self.tasks[task as usize].status == Status::Ended;
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
            for task in 0..self.created {
                self.arrive_at_source(&mut breakpoints, task);
            }
        }
        while !breakpoints.parked.is_empty() && self.must_run.is_empty() && !self.anybody_free(&breakpoints) {
            let waits = |task| !self.expired.contains(task) && !breakpoints.holds_back(task);
            if self.timed_waiters.iter().any(waits) {
                self.pass_time();
                self.forced_by_idle = true;
            } else {
                self.let_go_in_vain(&mut breakpoints);
            }
        }
        self.breakpoints = Some(breakpoints);
    }

    /// Takes off the list of those who may go whom a breakpoint holds back; or all but one who is to go first.
    pub(super) fn keep_to(&self, breakpoints: &Breakpoints, listed: &mut Vec<u32>) {
        listed.retain(|&task| !breakpoints.holds_back(task));
        if listed.is_empty() {
            // Fairness held back all others, for the sake of somebody who may not go.
            let last = self.last;
            let others = (last + 1..self.created).chain(0..last + 1);
            listed
                .extend(others.filter(|&task| self.enabled.contains(task) && !breakpoints.holds_back(task)));
        }
        if let Some(first) = breakpoints.next_first()
            && self.enabled.contains(first)
        {
            listed.clear();
            listed.push(first);
        }
    }

    fn anybody_free(&self, breakpoints: &Breakpoints) -> bool {
        self.enabled.iter().any(|task| !breakpoints.holds_back(task))
    }

    /// Somebody who waited in vain goes on: first who waits for the end of a turn, for those have met; else who came first.
    fn let_go_in_vain(&mut self, breakpoints: &mut Breakpoints) {
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

    /// The same, where all who can go on do nothing but give way. Whether there was anybody.
    pub(super) fn let_go_while_all_give_way(&mut self) -> bool {
        match self.breakpoints.take() {
            Some(mut breakpoints) => {
                let any = !breakpoints.parked.is_empty();
                if any {
                    self.let_go_in_vain(&mut breakpoints);
                }
                self.breakpoints = Some(breakpoints);
                any
            }
            None => false,
        }
    }

    /// A task that is parked no more goes on, having met somebody or not.
    fn let_go(&mut self, breakpoints: &mut Breakpoints, parked: &Parked, hit: bool) {
        let guarded = breakpoints.leads.iter().find(|lead| lead.ticket == parked.ticket);
        let turn = guarded.filter(|lead| lead.guarded).map(|lead| lead.ticket);
        breakpoints.visitor(parked.task).passed = Passed { hit, turn };
        if parked.at_gate {
            let var = self.tasks[parked.task as usize].var;
            self.vars[var].gates |= gate::PASSED;
            self.gates_changed(var);
        }
    }

    /// A turn is over: who waited for it goes on.
    fn end_lead(&mut self, breakpoints: &mut Breakpoints, ticket: Ticket) {
        breakpoints.leads.retain(|lead| lead.ticket != ticket);
        let waits = |parked: &Parked| parked.after == Some(ticket);
        while let Some(at) = breakpoints.parked.iter().position(waits) {
            let parked = breakpoints.parked.remove(at);
            self.let_go(breakpoints, &parked, true);
        }
    }

    /// If the task is before a visible operation at an armed place in the source, and has not been told so, it is now.
    fn arrive_at_source(&mut self, breakpoints: &mut Breakpoints, task: u32) {
        let entry = &self.tasks[task as usize];
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
                site: access.site,
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

    /// Those of these who wait that are in a circle with this task: each is about to take a lock that the next one owns.
    fn circle_of_locks(&self, parked: &[Parked], waiting: &[Ticket], task: u32) -> Vec<Ticket> {
        let owner = |task: u32| {
            let var = self.tasks[task as usize].pending.access.var;
            if (var as usize) < self.vars.count() {
                self.vars[var].owner
            } else {
                NOBODY
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

    /// What comes of an arrival. With `in_order` who waited goes first, where the places do not say.
    fn settle(
        &mut self,
        breakpoints: &mut Breakpoints,
        task: u32,
        name: &str,
        arrived: Arrived,
        in_order: bool,
        at_gate: bool,
    ) -> Goes {
        breakpoints.visitor(task).visits += 1;
        let mut park = |breakpoints: &mut Breakpoints, ticket, after| {
            breakpoints.acted = true;
            breakpoints.parked.push(Parked {
                task,
                ticket,
                name: name.to_owned(),
                after,
                at_gate,
            });
            if at_gate {
                let var = self.tasks[task as usize].var;
                self.vars[var].gates &= !gate::PASSED;
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
            breakpoints.parked_task(first).expect("who waits is parked")
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
    /// Whether a breakpoint of this name is armed.
    pub(crate) fn breakpoint_armed(self, name: &str) -> bool {
        let rt = self.rt();
        let breakpoints = rt.breakpoints.as_ref().filter(|_| !rt.teardown);
        breakpoints.is_some_and(|breakpoints| breakpoints.table.is_armed(name))
    }

    /// The current task is at a place of a breakpoint; returns when it is to go on.
    pub(crate) fn visit_breakpoint(self, mut visit: Visit<'_>) -> Passed {
        let rt = self.rt();
        let current = rt.current;
        if rt.teardown {
            return Passed::default();
        }
        // Out of the runtime while predicates of the test run: what they come to counts for nothing.
        let Some(mut breakpoints) = rt.breakpoints.take() else {
            return Passed::default();
        };
        let holds = visit
            .while_held
            .is_none_or(|lock| breakpoints.visitor(current).held.contains(&lock));
        let arrived = catch_unwind(AssertUnwindSafe(|| breakpoints.table.arrive(&mut visit, holds)));
        let arrived = arrived.unwrap_or_else(|panic| {
            self.rt().breakpoints = Some(std::mem::take(&mut breakpoints));
            resume_unwind(panic)
        });
        let rt = self.rt();
        let goes = rt.settle(&mut breakpoints, current, visit.name, arrived, false, true);
        rt.breakpoints = Some(breakpoints);
        match goes {
            Goes::On(passed) => passed,
            Goes::Later => {
                let var = self.task_var(current);
                let access = Access::nowhere(SyncVarOp::Yield, visit.site);
                self.wait(access, var, gate::PASSED, WaitLimits::default());
                let breakpoints = self.rt().breakpoints.as_mut();
                breakpoints.map_or(Passed::default(), |breakpoints| {
                    breakpoints.visitor(current).passed
                })
            }
        }
    }

    /// A turn is over.
    pub(crate) fn breakpoint_turn_over(self, turn: Ticket) {
        let rt = self.rt();
        if rt.teardown {
            return;
        }
        if let Some(mut breakpoints) = rt.breakpoints.take() {
            rt.end_lead(&mut breakpoints, turn);
            rt.breakpoints = Some(breakpoints);
        }
    }

    /// The current task holds the lock at this address, or does not any more.
    pub(crate) fn mark_held(self, lock: usize, holds: bool) {
        let rt = self.rt();
        let current = rt.current;
        if let Some(breakpoints) = &mut rt.breakpoints {
            let held = &mut breakpoints.visitor(current).held;
            if holds {
                held.push(lock);
            } else if let Some(at) = held.iter().rposition(|&known| known == lock) {
                held.remove(at);
            }
        }
    }

    /// The test arms breakpoints itself, which only the settings can.
    pub fn arming_unheeded(self) {
        self.rt().scoping.arming_unheeded = true;
    }
}
