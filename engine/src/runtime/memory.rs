//! The values that operations on atomics read under a memory model.

mod graph;
mod past;
mod raised;

use super::{Access, Engine, Runtime, Stop};
use crate::described::Effect;
use crate::environment::Environment;
use crate::memory_model::{Cpp20, MemoryAccess, MemoryModel, MemoryOp, Performed, RaisedOrders};
use crate::record::Event;
use crate::schedule::ChoiceKind;
use crate::site::Site;
use crate::strategy::Strategy;
use intermezzo_sdk::{EventId, MemoryOrder, SiteId, SyncVar, SyncVarAccess, TaskId};
use past::Past;
use raised::Raised;

/// The number of times that a search which draws its choices draws again. Few stores are inconsistent, so it hardly
/// ever needs that many.
const DRAWS: u32 = 64;

/// The memory model, and the stores of an execution.
#[derive(Default)]
pub(super) struct Memory {
    model: Option<Box<dyn MemoryModel>>,
    /// The stores to each variable; empty for one that was not used.
    vars: Vec<Stores>,
    /// The stores that an operation may read, or that it may follow. Kept to reuse its memory.
    listed: Vec<u32>,
    /// The indexes of those in `listed` that the search has to explore: see [`Past`].
    open: Vec<u32>,
    /// `true` if the search explores each order of dependent steps.
    explores_orders: bool,
    /// `true` if the search draws its choices.
    draws: bool,
    past: Past,
    /// The stores of the events that the model has observed.
    event_stores: Vec<EventStore>,
    /// The same for the operation that is being performed.
    next_store: EventStore,
    /// The store that the last operation has read.
    last_read: u32,
    stale_reads: Vec<StaleReads>,
    /// `true` if the last operation chose a store that the model does not allow.
    is_inconsistent: bool,
    /// The number of executions that ended because of that.
    inconsistent: u64,
    /// The number of times that a place of a task may read the same store after a newer one was there. A loop that
    /// waits could read it for ever.
    stale_reads_max: u32,
    /// The number of the execution's stale operations.
    stale_operations: u32,
    /// The maximum number of stale operations; `None` for no limit.
    stale_operations_max: Option<u32>,
    /// The values that were written without an operation, each with the number of events before it.
    overwrites: Vec<(usize, SyncVar)>,
    raised: Raised,
}

/// The store that an event read or made, for monitors and findings.
#[derive(Clone, Copy, Default)]
pub(super) struct EventStore {
    /// Its number for monitors; 0 for none.
    pub(super) number: u32,
    /// Its effect, if that is unusual.
    pub(super) effect: Option<Effect>,
    /// The stores that were chosen for it, if it is an operation on an atomic.
    performed: Option<Performed>,
}

/// The stores to a variable.
#[derive(Default)]
struct Stores {
    /// The value of each, by number.
    values: Vec<u64>,
    /// The number of each for monitors.
    monitor_numbers: Vec<u32>,
    /// The store that each counts as when stale reads are counted. A loop that waits by read-modify-writes reads its
    /// own stores, which follow a stale one: they count as that one.
    counts_as: Vec<u32>,
    /// The event that performed each; `None` for a value that no operation has stored.
    events: Vec<Option<EventId>>,
    /// `true` if an operation that stored nothing came after the last of them.
    was_read_since: bool,
    /// The number of those that were stored by operations.
    by_events: u32,
    /// The newest.
    newest: u32,
}

/// The reads of one store at one place, after a newer one was there.
struct StaleReads {
    task: u32,
    site: Site,
    var: u32,
    store: u32,
    times: u32,
}

impl StaleReads {
    fn is_of(&self, access: &Access, task: u32, store: u32) -> bool {
        (self.task, self.var, self.store) == (task, access.var, store) && self.site.is_same_word(access.site)
    }
}

impl Memory {
    /// Returns the memory of this environment.
    pub(super) fn of(environment: &Environment) -> Memory {
        let mut memory = Memory {
            past: Past::new(environment.arc_counts),
            ..Memory::default()
        };
        if environment.has_memory_model() {
            memory.read_by(Box::new(Cpp20::default()), environment.stale_reads);
        }
        memory
    }

    /// Returns `true` if a model determines what is read.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Makes this model determine what is read.
    pub(super) fn read_by(&mut self, model: Box<dyn MemoryModel>, stale_reads_max: u32) {
        (self.model, self.stale_reads_max) = (Some(model), stale_reads_max);
    }

    /// Returns the stores of the events that the model has observed; `None` without a model.
    pub(super) fn event_stores(&self) -> Option<&[EventStore]> {
        self.model.as_ref().map(|_| &*self.event_stores)
    }

    /// Raises these orderings, and no others, from the next execution on.
    pub(super) fn raise(&mut self, orders: RaisedOrders) {
        self.raised = Raised::new(orders);
    }

    /// Limits the number of an execution's stale operations.
    pub(super) fn limit_stale_operations(&mut self, most: Option<u32>) {
        self.stale_operations_max = most;
    }

    /// Returns the number of executions of this search that were inconsistent.
    pub(super) fn inconsistent(&self) -> u64 {
        self.inconsistent
    }

    /// Begins to count the executions of another search.
    pub(super) fn restart(&mut self) {
        self.inconsistent = 0;
    }

    /// Returns `true` if the store of an event comes before a newer one, so that it is not the current value of its
    /// variable.
    pub(super) fn is_behind(&self, event: usize) -> bool {
        self.event_stores
            .get(event)
            .is_some_and(|store| store.effect.is_some())
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self, strategy: &dyn Strategy) {
        if let Some(model) = &mut self.model {
            model.begin();
            let needs = strategy.needs();
            (self.explores_orders, self.draws) = (needs.explores_orders, needs.draws);
            self.past.begin();
            self.raised.begin();
            for var in &mut self.vars {
                var.values.clear();
                var.monitor_numbers.clear();
                var.counts_as.clear();
                var.events.clear();
                (var.by_events, var.newest) = (0, 0);
                var.was_read_since = false;
            }
            self.event_stores.clear();
            self.stale_reads.clear();
            self.overwrites.clear();
            self.stale_operations = 0;
            self.is_inconsistent = false;
            self.next_store = EventStore::default();
        }
    }

    /// Notes that the task accesses more than the variable of its operation. `events` are those so far. The access may
    /// belong to the last event, so the past of that event is not known either, if it is the task's.
    pub(super) fn forget_past(&mut self, task: u32, events: &[Event]) {
        if self.explores_orders {
            let is_own = events.last().is_some_and(|last| last.task == task);
            // It must make no difference whether the earlier events were already observed because of another task.
            self.observe(&events[..events.len() - usize::from(is_own)]);
            self.past.forget(TaskId(task));
        }
    }

    /// Passes the events since the last call to the model.
    fn observe(&mut self, events: &[Event]) {
        let Some(model) = &mut self.model else { return };
        // After the last execution there are no events any more.
        for event in events.get(self.event_stores.len()..).unwrap_or_default() {
            let store = std::mem::take(&mut self.next_store);
            self.event_stores.push(store);
            let event = sync_var_access(event, SiteId(0), store.number);
            model.observes(&event);
            if self.explores_orders {
                self.past.observe(&event);
            }
        }
    }

    /// Brings the stores to a variable up to date, before an operation on it takes effect; `value` is its current
    /// value. At its first use that is the initial value. A write through a unique reference is not an operation, so it
    /// is detected here.
    fn catch_up(&mut self, var: SyncVar, value: u64) {
        let at = var.index();
        if self.vars.len() <= at {
            self.vars.resize_with(at + 1, Stores::default);
        }
        let stores = &mut self.vars[at];
        let is_first = stores.values.is_empty();
        if is_first || stores.values[stores.newest as usize] != value {
            stores.newest = stores.values.len() as u32;
            stores.values.push(value);
            stores.monitor_numbers.push(1);
            stores.counts_as.push(stores.newest);
            stores.events.push(None);
            if let Some(model) = self.model.as_mut().filter(|_| !is_first) {
                model.overwrites(var);
                self.overwrites.push((self.event_stores.len(), var));
            }
        }
    }

    /// Lists the stores that an operation may read. Returns `true` if one was left out because it had been read often
    /// enough.
    fn list_readable(&mut self, read: &MemoryAccess, access: &Access) -> bool {
        let Memory {
            model,
            vars,
            listed,
            stale_reads,
            stale_reads_max,
            ..
        } = self;
        listed.clear();
        let stores = &vars[read.var.index()];
        if let Some(model) = model {
            model.readable(read, &stores.values, listed);
        }
        assert!(!listed.is_empty(), "a memory model offers a store to each read");
        let default = listed[0];
        let mut stale_left_out = false;
        // The default, which is usually the only one, always stays.
        listed.retain(|&store| {
            if store == default {
                return true;
            }
            let counted = stores.counts_as[store as usize];
            let of_store = |stale: &&StaleReads| stale.is_of(access, read.event.task.0, counted);
            let times = stale_reads.iter().find(of_store).map_or(0, |stale| stale.times);
            let stays = times < *stale_reads_max;
            stale_left_out |= !stays;
            stays
        });
        self.list_open(read);
        stale_left_out
    }

    /// Reads one of the stores that were listed. Returns its value, and whether it is the newest.
    fn read(&mut self, read: &MemoryAccess, access: &Access, taken: u32) -> (u64, bool) {
        let store = self.listed[taken as usize];
        self.last_read = store;
        if let Some(model) = &mut self.model {
            model.reads(read, store);
        }
        let stores = &mut self.vars[read.var.index()];
        stores.was_read_since = true;
        let is_newest = store == stores.newest;
        self.next_store = EventStore {
            number: stores.monitor_numbers[store as usize],
            effect: (!is_newest).then_some(Effect::Stale),
            performed: Some(Performed {
                kind: read.kind,
                reads: Some(store),
                after: None,
            }),
        };
        if !is_newest {
            let task = read.event.task.0;
            let counted = stores.counts_as[store as usize];
            match self
                .stale_reads
                .iter_mut()
                .find(|stale| stale.is_of(access, task, counted))
            {
                Some(stale) => stale.times += 1,
                None => self.stale_reads.push(StaleReads {
                    task,
                    site: access.site,
                    var: access.var,
                    store: counted,
                    times: 1,
                }),
            }
        }
        (stores.values[store as usize], is_newest)
    }

    /// Lists the stores that a new store may directly follow.
    fn list_places(&mut self, write: &MemoryAccess) {
        let Memory { model, listed, .. } = self;
        listed.clear();
        if let Some(model) = model {
            model.places(write, listed);
        }
        assert!(!listed.is_empty(), "a memory model has a place for each store");
        self.list_open(write);
    }

    /// Returns `true` if the search need not explore the operation with the listed store at this index: another order
    /// of the steps leads to the same. See [`Past`].
    fn is_closed(&self, access: &MemoryAccess, at: usize) -> bool {
        let stores = &self.vars[access.var.index()];
        let (newer, taken) = (&self.listed[..at], self.listed[at]);
        let comes_later = |store: u32| {
            let event = stores.events[store as usize];
            store > taken && event.is_some_and(|event| !self.past.has(access.event.task, event))
        };
        match access.writes(stores.values[taken as usize]) {
            true => {
                let last = stores.values.len() as u32 - 1;
                !stores.was_read_since && newer.contains(&last) && comes_later(last)
            }
            false => newer.iter().any(|&store| comes_later(store)),
        }
    }

    /// Notes the indexes of the listed stores that the search has to explore for the operation.
    fn list_open(&mut self, access: &MemoryAccess) {
        self.open.clear();
        // The first one is the newest.
        self.open.push(0);
        for at in 1..self.listed.len() {
            if !self.explores_orders || !self.is_closed(access, at) {
                self.open.push(at as u32);
            }
        }
    }

    /// Returns `true` if the operation can use this one of the listed stores, within the limit on stale operations and
    /// as far as the model can tell already: see [`Engine::settle_exchange`].
    fn is_settled(&mut self, access: &MemoryAccess, taken: u32) -> bool {
        if taken == 0 {
            // A model always allows the first one.
            return true;
        }
        if self
            .stale_operations_max
            .is_some_and(|most| self.stale_operations >= most)
        {
            return false;
        }
        let store = self.listed[taken as usize];
        let may_fail = match access.kind {
            MemoryOp::Exchange { expected, weak, .. } => {
                weak && self.vars[access.var.index()].values[store as usize] == expected
            }
            _ => false,
        };
        may_fail || self.is_consistent(access, store)
    }

    /// Returns `true` if the model allows the operation to use this store.
    fn is_consistent(&mut self, access: &MemoryAccess, store: u32) -> bool {
        let values = &self.vars[access.var.index()].values;
        let model = self.model.as_mut();
        model.is_none_or(|model| model.is_consistent(access, values, store))
    }

    /// Adds a store directly after another one, and returns `true` if no other store to its variable is newer.
    fn add(&mut self, write: &MemoryAccess, value: u64, after: u32) -> bool {
        let stores = &mut self.vars[write.var.index()];
        let store = stores.values.len() as u32;
        stores.values.push(value);
        stores.events.push(Some(write.event));
        stores.was_read_since = false;
        stores.by_events += 1;
        // The value that was there before has number 1.
        let number = 1 + stores.by_events;
        stores.monitor_numbers.push(number);
        let is_newest = self
            .model
            .as_mut()
            .is_none_or(|model| model.stores(write, store, after));
        if is_newest {
            stores.newest = store;
        }
        let follows_stale = write.kind != MemoryOp::Store && !is_newest;
        stores.counts_as.push(match follows_stale {
            true => stores.counts_as[after as usize],
            false => store,
        });
        if write.kind == MemoryOp::Store {
            self.next_store = EventStore {
                number,
                effect: (!is_newest).then_some(Effect::Overwritten),
                performed: Some(Performed {
                    kind: write.kind,
                    reads: None,
                    after: Some(after),
                }),
            };
        } else if let Some(performed) = &mut self.next_store.performed {
            performed.after = Some(after);
        }
        is_newest
    }
}

/// Returns an event as monitors and models see it.
pub(super) fn sync_var_access(event: &Event, site: SiteId, store: u32) -> SyncVarAccess {
    SyncVarAccess {
        event: EventId {
            task: TaskId(event.task),
            index: event.index,
        },
        var: SyncVar(event.var),
        op: event.op,
        order: event.order,
        read: event.read,
        written: event.written,
        site,
        store,
    }
}

impl Engine {
    /// Returns `true` if a memory model determines what operations on atomics read.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn has_memory_model(self) -> bool {
        self.quick(|rt| rt.memory.has_model())
    }

    /// Returns the value that the current task's operation reads, as bits. The operation was announced, and `newest`
    /// is its variable's value.
    ///
    /// # Panics
    /// The memory model offers nothing.
    #[cold]
    #[inline(never)]
    pub fn reads(self, kind: MemoryOp, newest: u64) -> u64 {
        if self.in_teardown() {
            return newest;
        }
        self.raise_announced();
        let (access, read) = (self.announced(), self.memory_access(kind));
        self.with(|rt| {
            rt.observe_by_model();
            rt.memory.catch_up(read.var, newest);
            rt.world.capped.stale_reads |= rt.memory.list_readable(&read, &access);
        });
        let taken = self.choose_store(&read);
        self.with(|rt| {
            let (value, is_newest) = rt.memory.read(&read, &access, taken);
            let task = rt.tasks.current();
            if !is_newest {
                rt.constraints.spins.read_stale(task);
            }
            rt.record.add_store(task, rt.memory.last_read);
            value
        })
    }

    /// Notes the store of the announced operation; `newest` is the value of its variable before. Returns `true` if no
    /// other store to the variable is newer, so that `value` is the variable's value from now on.
    ///
    /// # Panics
    /// The memory model has no place for it.
    #[cold]
    #[inline(never)]
    pub fn stores(self, kind: MemoryOp, newest: u64, value: u64) -> bool {
        if self.in_teardown() {
            return true;
        }
        self.raise_announced();
        let write = self.memory_access(kind);
        // A read-modify-write directly follows the store that it has read.
        if kind != MemoryOp::Store {
            return self.with(|rt| {
                let after = rt.memory.last_read;
                rt.memory.add(&write, value, after)
            });
        }
        self.with(|rt| {
            rt.observe_by_model();
            rt.memory.catch_up(write.var, newest);
            rt.memory.list_places(&write);
        });
        let taken = self.choose_store(&write);
        self.with(|rt| {
            let after = rt.memory.listed[taken as usize];
            rt.record.add_store(rt.tasks.current(), after);
            rt.memory.add(&write, value, after)
        })
    }

    /// Chooses one of the stores that were listed for the announced operation. If that one is inconsistent, a search
    /// that draws its choices draws again. For all others the execution ends right after the operation: they explore
    /// the other stores, too.
    fn choose_store(self, access: &MemoryAccess) -> u32 {
        let (open, mut draws_left) = self.with(|rt| {
            let draws = rt.memory.draws && rt.decisions.is_beyond_prescribed();
            (rt.memory.open.len() as u32, if draws { DRAWS } else { 0 })
        });
        loop {
            let chosen = self.choose(ChoiceKind::Value, open);
            if self.in_teardown() {
                return chosen;
            }
            let taken = self.with(|rt| rt.close_stores(chosen));
            if self.with(|rt| rt.memory.is_settled(access, taken)) {
                self.with(|rt| rt.memory.stale_operations += u32::from(taken != 0));
                return taken;
            }
            if draws_left == 0 {
                self.with(|rt| rt.memory.is_inconsistent = true);
                return taken;
            }
            draws_left -= 1;
            self.with(|rt| rt.decisions.take_back());
        }
    }

    /// Checks the store that a weak exchange has read, if the exchange could succeed. The check is made once it is
    /// known if the exchange `fails`, because its ordering depends on that.
    #[cold]
    #[inline(never)]
    pub fn settle_exchange(self, kind: MemoryOp, failure: MemoryOrder, fails: bool) {
        let kind = match fails {
            true => MemoryOp::FailedExchange { failure },
            false => kind,
        };
        let access = self.memory_access(kind);
        self.with(|rt| {
            let last_read = rt.memory.last_read;
            if let Some(performed) = &mut rt.memory.next_store.performed {
                performed.kind = access.kind;
            }
            if !rt.end.teardown && !rt.memory.is_consistent(&access, last_read) {
                rt.memory.is_inconsistent = true;
            }
        });
    }

    /// Records the announced operation, and ends the execution if the operation chose a store that the model does not
    /// allow. Monitors are not notified of such an operation.
    #[cold]
    #[inline(never)]
    pub fn commit_by_model(self, access: Access, read: u64, written: u64) {
        if self.in_teardown() || !self.with(|rt| rt.memory.is_inconsistent) {
            return self.commit(access, read, written);
        }
        self.commit_untold(access, read, written);
        self.with(|rt| {
            rt.end.stop = Some(Stop::Inconsistent);
            rt.memory.inconsistent += 1;
        });
        self.leave();
    }

    /// Records the announced operation.
    #[cold]
    #[inline(never)]
    pub fn commit_announced(self, read: u64, written: u64) {
        self.commit_by_model(self.announced(), read, written);
    }

    /// Returns the ordering that this operation has under the model: a stronger one if the ordering at its place is
    /// raised, otherwise its own.
    #[cold]
    #[inline(never)]
    pub fn raised(self, access: Access) -> MemoryOrder {
        let event = self.next_event();
        self.with(|rt| {
            let Access { op, site, order, .. } = access;
            rt.memory.raised.order(event, op, site, order)
        })
    }

    /// Raises the ordering of the announced operation, if the ordering at its place is raised.
    fn raise_announced(self) {
        if self.with(|rt| rt.memory.raised.is_empty()) {
            return;
        }
        let order = self.raised(self.announced());
        self.with(|rt| {
            let task = rt.tasks.current();
            rt.tasks[task].pending.access.order = order;
        });
    }

    /// Returns the operation that the current task announced last.
    fn announced(self) -> Access {
        self.with(|rt| rt.tasks.current_task().pending.access)
    }

    /// Returns that operation, as the model needs it.
    fn memory_access(self, kind: MemoryOp) -> MemoryAccess {
        let access = self.announced();
        MemoryAccess {
            event: self.next_event(),
            var: SyncVar(access.var),
            order: access.order,
            kind,
        }
    }

    /// Returns the event that will record the announced operation.
    fn next_event(self) -> EventId {
        self.with(|rt| EventId {
            task: TaskId(rt.tasks.current()),
            index: rt.tasks.current_task().events + 1,
        })
    }
}

impl Runtime {
    /// Notes that the search had only the open stores to choose from, and chose the one at this index. Returns the
    /// index of that store among all that are listed.
    fn close_stores(&mut self, chosen: u32) -> u32 {
        let listed = self.memory.listed.len() as u32;
        let open = &self.memory.open;
        let taken = open[chosen as usize];
        match open.len() as u32 {
            all if all == listed => {}
            1 => self.decisions.close(ChoiceKind::Value, false, listed),
            _ => self.decisions.close_some(listed, taken),
        }
        taken
    }

    /// Passes all events so far to the model.
    pub(super) fn observe_by_model(&mut self) {
        self.memory.observe(self.record.events.as_slice());
    }
}
