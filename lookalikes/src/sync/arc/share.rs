//! Visible counts of an `Arc`: an object that exists in addition to std's own `Arc`, and that all handles share.
//!
//! A step on a count is a schedule point if another task could see it, through another handle or by borrowing the same
//! one. Otherwise, or if the environment excludes counts, it is only recorded. Steps of handles that were created outside
//! the execution are not recorded either, because their counts do not belong to the execution.

use super::live;
use intermezzo_engine::runtime::arena::outside;
use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind};
use intermezzo_sdk::{BlockKind, MemoryOrder, SyncVar, SyncVarOp};
use std::collections::BTreeMap;
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of a share that keeps the value alive.
pub(super) const STRONG: bool = true;
/// The kind of a share of a value's memory.
pub(super) const WEAK: bool = false;

/// The body of the object. The counts are not in it, because handles that the engine does not know change them too.
struct Nothing;

impl Body for Nothing {
    const KIND: VarKind = VarKind::Count;
    fn gates(&self) -> Gates {
        0
    }
}

pub(super) struct Counts {
    object: Object<Nothing>,
    /// The execution in which the value was made; 0 outside any.
    epoch: u64,
    strong: AtomicUsize,
    weak: AtomicUsize,
    /// `true` if dropping the value runs code, so that the task that drops it matters.
    drops: AtomicBool,
    /// `true` until the value exists. Weak handles may exist before it, and count once it exists.
    unborn: AtomicBool,
    /// The block of the value, if monitors want blocks: its number, from 1.
    block: AtomicU32,
    /// The address under which [`RAW`] has these counts; 0 if it does not have them.
    raw: AtomicUsize,
}

// SAFETY: the object's body has no state.
unsafe impl Sync for Counts {}
impl RefUnwindSafe for Counts {}

impl Counts {
    /// Returns counts in memory that outlives the execution, because `RAW` may keep them.
    fn shared(strong: usize, weak: usize, drops: bool) -> Arc<Counts> {
        outside(|| Arc::new(Counts::new(strong, weak, drops)))
    }

    fn new(strong: usize, weak: usize, drops: bool) -> Counts {
        Counts {
            object: Object::new(Nothing),
            epoch: Engine::current().map_or(0, Engine::epoch),
            strong: AtomicUsize::new(strong),
            weak: AtomicUsize::new(weak),
            drops: AtomicBool::new(drops),
            unborn: AtomicBool::new(strong == 0),
            block: AtomicU32::new(0),
            raw: AtomicUsize::new(0),
        }
    }

    fn of(&self, strong: bool) -> &AtomicUsize {
        if strong { &self.strong } else { &self.weak }
    }

    /// Returns `true` if another handle than the calling one can see the counts.
    fn seen_by_others(&self) -> bool {
        let strong = self.strong.load(SeqCst);
        let may_be_alive = strong > 0 || self.unborn.load(Relaxed);
        may_be_alive && strong + self.weak.load(SeqCst) > 1
    }

    /// Waits for permission to take a step on the counts, if that is a schedule point.
    fn turn(&self, op: SyncVarOp, visible: bool, site: Site) -> Turn {
        let here = |engine: &Engine| engine.epoch() == self.epoch && !engine.in_teardown();
        let Some(engine) = Engine::current().filter(here) else {
            return Turn(None);
        };
        let (var, _) = self.object.inside(engine, site);
        // Monitors are notified with the first step on the counts, because these have no variable before.
        let block = self.block.load(Relaxed);
        if block != 0 {
            engine.block_allocated(block - 1, SyncVar(var), site);
        }
        let access = Access::new(op, var, site);
        if engine.environment().arc_counts {
            if visible {
                engine.enter(access);
            } else {
                engine.point(access);
            }
        }
        Turn(Some((engine, access)))
    }
}

impl Counts {
    /// Handles the end of a share: if it was the last, notifies monitors that the block was freed.
    #[inline]
    fn settle_block(&self, site: Site) {
        let block = self.block.load(Relaxed);
        if block == 0 || self.strong.load(SeqCst) + self.weak.load(SeqCst) > 0 {
            return;
        }
        if let Some(engine) = Engine::current().filter(|engine| engine.epoch() == self.epoch) {
            engine.block_released(block - 1, site);
            engine.forget_block(block - 1);
        }
    }
}

/// A permitted step on the counts, which has yet to be recorded.
#[must_use = "a step is recorded by `did`"]
pub(super) struct Turn(Option<(Engine, Access)>);

impl Turn {
    /// Records the step: the count before and after.
    pub(super) fn did(self, op: SyncVarOp, read: usize, written: usize) {
        if let Some((engine, access)) = self.0 {
            engine.commit(Access { op, ..access }, read as u64, written as u64);
        }
    }

    /// Notes that the step depends on the counts instead of only adding to them or subtracting. So it does not commute
    /// with other steps on them.
    pub(super) fn decides(&self) {
        if let Some((engine, access)) = &self.0
            && engine.environment().arc_counts
        {
            engine.also_writes(access.var);
        }
    }

    /// Notes that the step drops a handle, that it matters which task drops the last one, and the number of handles left.
    fn gives_up(&self, left: usize, decides: bool) {
        if let Some((engine, access)) = &self.0 {
            engine.give_up_share(access.var, left as u64, decides);
        }
    }

    /// Gives the step an ordering for monitors.
    pub(super) fn ordered(mut self, order: MemoryOrder) -> Turn {
        if let Some((_, access)) = &mut self.0 {
            access.order = order;
        }
        self
    }

    /// Records that the counts were read, and that this handle is the only one. The task then knows the operations that
    /// other tasks performed before they dropped theirs.
    pub(super) fn alone(self) {
        self.ordered(MemoryOrder::Acquire).looked(1);
    }

    /// Notes that the step changes no count, but would change one if the counts were different.
    pub(super) fn fails(&self) {
        if let Some((engine, _)) = &self.0 {
            engine.fail_to_count();
        }
    }

    /// Records that a count was only read.
    pub(super) fn looked(self, count: usize) {
        if let Some((engine, access)) = &self.0 {
            engine.note_look(access.order);
        }
        self.did(SyncVarOp::CountRead, count, count);
    }
}

/// One handle's share in the counts, empty for a `Weak` without a value. Dropping it decrements the count.
pub(super) struct Share<const IS_STRONG: bool> {
    counts: Option<Arc<Counts>>,
    /// The place where the handle was made: the place of its end, which has none of its own.
    site: Site,
}

impl<const IS_STRONG: bool> crate::name::Nameable for Share<IS_STRONG> {
    fn give_name(&self, name: &str) {
        // Counts from outside the execution are not recorded.
        let of_this =
            |counts: &&Arc<Counts>| Engine::current().is_some_and(|engine| engine.epoch() == counts.epoch);
        if let Some(counts) = self.counts.as_ref().filter(of_this) {
            counts.object.give_name(name);
        }
    }
}

impl Share<WEAK> {
    /// Returns an empty share.
    pub(super) const fn nowhere(site: Site) -> Self {
        Share { counts: None, site }
    }
}

impl Share<STRONG> {
    /// Returns the share of a handle on a value that has these counts, this handle included.
    pub(super) fn with_counts(strong: usize, weak: usize, drops: bool, site: Site) -> Self {
        Share {
            counts: Some(Counts::shared(strong, weak, drops)),
            site,
        }
    }
}

/// The counts of a value that is being created.
pub(super) struct Unborn(Arc<Counts>);

impl Unborn {
    /// Creates the counts of a value that has no strong handle yet, and the share of the weak handle that the value may
    /// keep on itself.
    pub(super) fn new(drops: bool, site: Site) -> (Unborn, Share<WEAK>) {
        let counts = Counts::shared(0, 1, drops);
        (
            Unborn(counts.clone()),
            Share {
                counts: Some(counts),
                site,
            },
        )
    }

    /// Ends the share of the weak handle that the value could keep, and waits for permission to create the value. That is
    /// a schedule point if the value or another task kept a weak handle, because a weak handle shows if the value exists.
    pub(super) fn turn(&self, mut first: Share<WEAK>, site: Site) -> Turn {
        let end = self.0.turn(SyncVarOp::CountDown, false, site);
        first.count_down(end, false);
        match self.0.weak.load(SeqCst) {
            0 => Turn(None),
            _ => self.0.turn(SyncVarOp::CountUp, true, site),
        }
    }

    /// Returns the share of the first handle on the value, which now exists; `turn` is the permission.
    pub(super) fn born(self, turn: Turn, site: Site) -> Share<STRONG> {
        self.0.strong.store(1, SeqCst);
        self.0.unborn.store(false, Relaxed);
        turn.ordered(MemoryOrder::Release).did(SyncVarOp::CountUp, 0, 1);
        Share {
            counts: Some(self.0),
            site,
        }
    }
}

impl<const IS_STRONG: bool> Share<IS_STRONG> {
    /// Waits for permission to take a step that only the handle's owner can take: a schedule point if there is another
    /// handle that could see it.
    pub(super) fn turn(&self, op: SyncVarOp, site: Site) -> Turn {
        self.turn_of_owner(op, site, true)
    }

    /// Does the same. If the step `depends` on other changes of the counts, it is a schedule point also if it would
    /// otherwise belong to a step of another task, which need not come after these changes.
    fn turn_of_owner(&self, op: SyncVarOp, site: Site, depends: bool) -> Turn {
        self.counts.as_ref().map_or(Turn(None), |counts| {
            let is_apart = || depends && Engine::current().is_some_and(Engine::is_in_step_of_another);
            counts.turn(op, counts.seen_by_others() || is_apart(), site)
        })
    }

    /// Waits for permission to take a step that any borrower of the handle can take. That is always a schedule point,
    /// because other tasks may borrow the same handle.
    pub(super) fn turn_of_borrower(&self, op: SyncVarOp, site: Site) -> Turn {
        self.counts
            .as_ref()
            .map_or(Turn(None), |counts| counts.turn(op, true, site))
    }

    /// Counts one more handle; `turn` is the permission.
    pub(super) fn one_more<const NEW: bool>(&self, turn: Turn, site: Site) -> Share<NEW> {
        if let Some(counts) = &self.counts {
            let before = counts.of(NEW).fetch_add(1, SeqCst);
            turn.did(SyncVarOp::CountUp, before, before + 1);
        }
        Share {
            counts: self.counts.clone(),
            site,
        }
    }

    /// Removes this handle in a step that also checks if it is the last one, and so does not commute with other changes
    /// of the counts. `turn` is the permission.
    pub(super) fn retire(mut self, turn: Turn) {
        turn.decides();
        self.count_down(turn, true);
    }

    fn count_down(&mut self, mut turn: Turn, decides: bool) {
        if let Some(counts) = self.counts.take() {
            let before = counts.of(IS_STRONG).fetch_sub(1, SeqCst);
            let drops = IS_STRONG && counts.drops.load(Relaxed);
            if drops {
                turn.gives_up(before.wrapping_sub(1), decides);
                if before == 1 {
                    turn.decides();
                }
            }
            if before == 1 && (drops || decides) {
                // What the others did is known now, to the destructor or to the new owner of the value.
                turn = turn.ordered(MemoryOrder::Acquire);
            }
            turn.did(SyncVarOp::CountDown, before, before.wrapping_sub(1));
            counts.settle_block(self.site);
            counts.settle_raw();
        }
    }
}

impl Share<STRONG> {
    /// Notes that from now on dropping the value runs code. So operations on the counts differ from those before.
    pub(super) fn has_destructor(&self, site: Site) {
        if let Some(counts) = &self.counts
            && !counts.drops.load(Relaxed)
        {
            let turn = self.turn(SyncVarOp::CountRead, site);
            counts.drops.store(true, Relaxed);
            turn.decides();
            turn.looked(counts.strong.load(SeqCst));
        }
    }

    /// Notes the address of the value, from which more handles may be created.
    pub(super) fn has_address(&self, address: usize) {
        if let (Some(counts), Some(engine)) = (&self.counts, Engine::current()) {
            live::add(engine, address, counts);
        }
    }

    /// Notes the address and the size of the value.
    pub(super) fn lies_at(&self, address: usize, size: usize) {
        let (Some(counts), Some(engine)) = (&self.counts, Engine::current()) else {
            return;
        };
        if engine.epoch() != counts.epoch {
            return;
        }
        self.has_address(address);
        if engine.hears_of_blocks() {
            let block = engine.note_block(BlockKind::Shared, address, size, self.site);
            counts.block.store(block + 1, Relaxed);
        }
    }
}

impl<const IS_STRONG: bool> Drop for Share<IS_STRONG> {
    fn drop(&mut self) {
        if let Some(counts) = &self.counts {
            let runs_code = IS_STRONG && counts.drops.load(Relaxed);
            let turn = self.turn_of_owner(SyncVarOp::CountDown, self.site, runs_code);
            self.count_down(turn, false);
        }
    }
}

/// The counts of values with a handle that became a raw pointer, by its address. They stay until the last handle ends.
///
/// A pointer may become a handle any number of times, if that handle is forgotten and not dropped. A waker does this to
/// borrow the handle from which it was created. So the number of handles that are raw pointers is not known.
static RAW: Mutex<BTreeMap<usize, Arc<Counts>>> = Mutex::new(BTreeMap::new());

impl Counts {
    /// Forgets the counts if that was the last handle.
    fn settle_raw(&self) {
        let address = self.raw.load(Relaxed);
        if address == 0 || self.strong.load(SeqCst) + self.weak.load(SeqCst) > 0 {
            return;
        }
        outside(|| {
            let mut raw = RAW.lock().unwrap_or_else(PoisonError::into_inner);
            if raw
                .get(&address)
                .is_some_and(|known| std::ptr::eq(&**known, self))
            {
                drop(raw.remove(&address));
            }
        });
    }
}

impl<const IS_STRONG: bool> Share<IS_STRONG> {
    /// Keeps the share of a handle that becomes a raw pointer. It still counts.
    pub(super) fn keep(mut self, address: usize) {
        let Some(counts) = self.counts.take() else { return };
        if counts.raw.swap(address, Relaxed) == address {
            return;
        }
        outside(|| {
            let mut raw = RAW.lock().unwrap_or_else(PoisonError::into_inner);
            // Another value that was at this address, and whose handles never ended, is forgotten.
            drop(raw.insert(address, counts));
        });
    }

    /// Returns the share of a raw pointer that becomes a handle, if its counts are known.
    pub(super) fn kept(address: usize, site: Site) -> Option<Self> {
        let raw = RAW.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = raw.get(&address).cloned();
        drop(raw);
        Some(Share {
            counts: match counts {
                Some(counts) if Engine::current().is_none_or(|engine| engine.epoch() == counts.epoch) => {
                    Some(counts)
                }
                // It may be of another value, which an earlier execution left at this address.
                other => Some(live::at(address).or(other)?),
            },
            site,
        })
    }
}
