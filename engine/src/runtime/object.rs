//! The seam between a look-alike and the engine: the variable of an object, and the address of its state.
//!
//! A look-alike is an [`Object`] around a body. Outside an exploration the body is used in place. In an execution the
//! object becomes a variable of the engine at its first use, and:
//!
//! - an object that the execution created uses its own body;
//! - a **static** uses a replica, made from its initial bytes at its first use in each execution. So it is fresh in
//!   every execution, and explorations that run at the same time do not share it. A static's initial value is a
//!   constant: copying its bytes is the same as using the constant again;
//! - any other object that was used before the execution began was carried into it. That is a finding, because its
//!   state would leak from one execution to the next.
//!
//! An object's address and its bytes show whether it is static: see `image.rs`.
//!
//! If the front end restores statics before each execution, there are no replicas: a static is an object in place.
//!
//! An identity is a word in the object, or, if the object has no room for that, its address: see `by_address.rs`.

use super::handle::is_in_allocator;
use super::image::{is_in_static, is_initial_static, statics_are_restored};
use super::replicas::Dropper;
use super::statics::note_of_allocator;
use super::{Engine, Runtime, arena};
use crate::record::{Gates, VAR_BITS, VARS_MAX, VarKind};
#[cfg(feature = "unmodified")]
use crate::record::{Status, Task};
use crate::site::Site;
#[cfg(feature = "unmodified")]
use crate::trace::Key;
#[cfg(feature = "unmodified")]
use intermezzo_sdk::SyncVarOp;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The identity of an object that was never used. All bits are zero, so that zeroed memory is a fresh object.
const UNUSED: u64 = 0;
/// The identity of a static.
const STATIC: u64 = 1;
/// The bit of identities of objects first used outside any execution. The other bits number those first uses.
const OUTSIDE: u64 = 1 << 63;
/// The bit of identities of objects that were named and not yet used. The other bits are an epoch and the name's
/// number. The numbers of first uses outside do not reach this bit.
const NAMED: u64 = 1 << 62;
/// The first epoch: not 0, so that no identity of an execution equals `UNUSED` or `STATIC`.
const FIRST_EPOCH: u64 = 1;

/// The next execution's epoch: unique in the process.
static NEXT_EPOCH: AtomicU64 = AtomicU64::new(FIRST_EPOCH);

/// The number of the last first use outside any execution.
static USES_OUTSIDE: AtomicU64 = AtomicU64::new(0);

/// Returns the number of first uses of objects outside any execution so far.
pub(super) fn uses_outside() -> u64 {
    USES_OUTSIDE.load(Relaxed)
}

/// The number of epochs that a worker takes at a time, to keep the counter out of the hot path.
const EPOCHS_AT_ONCE: u64 = 1 << 10;

/// A supply of epochs.
pub(super) struct Epochs(Range<u64>);

impl Epochs {
    pub(super) fn new() -> Epochs {
        Epochs(0..0)
    }

    /// Returns an epoch that is unique in the process.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        if self.0.is_empty() {
            let first = NEXT_EPOCH.fetch_add(EPOCHS_AT_ONCE, Relaxed);
            assert!(
                first < 1 << (62 - VAR_BITS),
                "the process has run out of execution numbers"
            );
            self.0 = first..first + EPOCHS_AT_ONCE;
        }
        self.0.start += 1;
        self.0.start - 1
    }
}

/// The state of a look-alike.
pub trait Body {
    /// The kind of variable, before its state is known.
    const KIND: VarKind;
    /// Returns the kind of variable: the same in every state.
    fn kind(&self) -> VarKind {
        Self::KIND
    }
    /// Returns the gates that are open in its present state. Other threads may use it at the same time.
    fn gates(&self) -> Gates;
}

/// The part of an object that identifies it to the engine; it may need cleanup when the object is dropped.
pub trait Identity: Sized {
    /// The identity of an object never used.
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each use makes an identity of its own"
    )]
    const UNUSED: Self;
    /// Returns the word that it is, unless the object is identified by its address.
    fn word(&self) -> Option<&AtomicU64>;
    /// Returns the variable of an object, if it was used in this execution and the variable is found at once.
    fn var_of<B: Body + ?Sized>(object: &Object<B, Self>, engine: Engine) -> Option<u32>;
    /// Returns the variable of an object that is not found at once.
    fn find<B: Body + ?Sized>(object: &Object<B, Self>, engine: Engine) -> Option<u32>;
    /// Makes this the variable of an object that has none in this execution. Returns the word that it was before, if it
    /// is one.
    fn bind<B: Body + ?Sized>(object: &Object<B, Self>, engine: Engine, var: u32) -> u64;
}

/// An identity that is a word in the object, and moves with it.
pub trait EmbeddedIdentity: Sized {
    /// The identity of an object never used.
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each use makes an identity of its own"
    )]
    const UNUSED: Self;
    /// Returns the word.
    fn word(&self) -> &AtomicU64;
}

impl<I: EmbeddedIdentity> Identity for I {
    const UNUSED: I = <I as EmbeddedIdentity>::UNUSED;
    #[inline(always)]
    fn word(&self) -> Option<&AtomicU64> {
        Some(EmbeddedIdentity::word(self))
    }
    #[inline(always)]
    fn var_of<B: Body + ?Sized>(object: &Object<B, I>, engine: Engine) -> Option<u32> {
        engine.var_of(EmbeddedIdentity::word(&object.id))
    }
    fn find<B: Body + ?Sized>(_: &Object<B, I>, _: Engine) -> Option<u32> {
        None
    }
    fn bind<B: Body + ?Sized>(object: &Object<B, I>, engine: Engine, var: u32) -> u64 {
        let id = engine.epoch() << VAR_BITS | u64::from(var);
        EmbeddedIdentity::word(&object.id).swap(id, Relaxed)
    }
}

/// The identity that most objects have.
pub type Embedded = AtomicU64;

impl EmbeddedIdentity for Embedded {
    const UNUSED: Embedded = AtomicU64::new(UNUSED);
    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        self
    }
}

/// Returns `true` if the object with this identity was first used outside any execution, and since `began` first uses.
fn is_outside_since(id: u64, began: u64) -> bool {
    id & OUTSIDE != 0 && id & !OUTSIDE > began
}

/// Returns `true` if the object with this identity was named, and not used since.
fn is_named(id: u64) -> bool {
    id & (OUTSIDE | NAMED) == NAMED
}

/// The past of an object that the current execution has not used.
enum Past {
    /// The execution created it; or it is a static that was restored. A thread that is not controlled may have used it
    /// in the meantime.
    None,
    /// It is a static as the compiler made it.
    Static,
    /// It was used before the execution began.
    Used,
}

/// A look-alike's identity and state.
#[repr(C)]
pub struct Object<B: ?Sized, I = Embedded> {
    id: I,
    body: UnsafeCell<B>,
}

impl<B, I: Identity> Object<B, I> {
    /// Returns a new object, not yet used.
    pub const fn new(body: B) -> Object<B, I> {
        Object {
            id: I::UNUSED,
            body: UnsafeCell::new(body),
        }
    }

    /// Returns the body.
    pub fn into_inner(self) -> B {
        self.body.into_inner()
    }
}

impl<B: ?Sized, I: Identity> Object<B, I> {
    /// Returns `true` if it was never used, and is not static. An object that is identified by its address may have
    /// been used in this execution even then.
    pub fn is_unused(&self) -> bool {
        match self.id.word() {
            Some(word) if statics_are_restored() => {
                let id = word.load(Relaxed);
                id == UNUSED || is_named(id)
            }
            _ => matches!(self.past(None), Past::None),
        }
    }

    /// Returns the body of an object that is not shared.
    pub fn get_mut(&mut self) -> *mut B {
        // Only a static needs looking up, and a `&mut` of a static comes from `static mut` or a leak.
        let may_be_static = (self.id.word()).is_none_or(|word| word.load(Relaxed) == STATIC);
        match Engine::current() {
            Some(engine) if may_be_static => engine
                .with(|rt| rt.objects.statics.replica_at(self.address()))
                .map_or(self.body.get(), |replica| self.moved_to(replica)),
            _ => self.body.get(),
        }
    }

    /// Returns the body, for use as std would outside any execution.
    #[inline]
    pub fn outside(&self, site: Site) -> *mut B {
        // What is noted about an object may allocate, and an allocator must not call itself without end.
        if is_in_allocator() {
            let address = self.address();
            note_of_allocator(address..address + size_of_val(self));
            return self.body.get();
        }
        match self.id.word() {
            Some(word) => match word.load(Relaxed) {
                UNUSED => self.first_use_outside(),
                id if id & OUTSIDE != 0 => {}
                id if is_named(id) => self.first_use_outside(),
                STATIC if !super::watchdog::any_worker() => {}
                STATIC => super::watchdog::touched_static(self.address(), site),
                // It belongs to an execution that has ended, or this thread does not belong to it.
                id => super::watchdog::touched(id >> VAR_BITS, site),
            },
            None => self.first_use_outside(),
        }
        self.body.get()
    }

    /// Notes the first use outside any execution; each use, if the object is identified by its address.
    #[cold]
    fn first_use_outside(&self) {
        let id = match self.past(None) {
            Past::Static => {
                remember(self.address(), self.body_bytes());
                STATIC
            }
            _ if self.id.word().is_none() => return,
            _ => OUTSIDE | (USES_OUTSIDE.fetch_add(1, Relaxed) + 1),
        };
        if let Some(word) = self.id.word() {
            let before = word.load(Relaxed);
            // If a task uses it first at this moment, it is the task's.
            if before == UNUSED || is_named(before) {
                _ = word.compare_exchange(before, id, Relaxed, Relaxed);
            }
        }
    }

    /// Returns its identity.
    pub fn identity(&self) -> &I {
        &self.id
    }

    /// Returns the word that identifies it, unless that is its address.
    pub(super) fn word(&self) -> Option<&AtomicU64> {
        self.id.word()
    }

    /// Returns the past of an object that this execution, or the one in progress, has not used. `began` is the number
    /// of first uses outside when the execution began.
    fn past(&self, began: Option<u64>) -> Past {
        let id = self.id.word().map_or(UNUSED, |word| word.load(Relaxed));
        match if is_named(id) { UNUSED } else { id } {
            // What was done to it outside is undone, or is a part of its initial value. The word itself may still have
            // that value, because it is restored, too, to what it was when the front end began to restore.
            STATIC if statics_are_restored() => Past::None,
            _ if id & OUTSIDE != 0 && statics_are_restored() && is_in_static(self.body_address()) => {
                Past::None
            }
            UNUSED if statics_are_restored() => Past::None,
            STATIC => Past::Static,
            UNUSED if self.is_initial_static() => Past::Static,
            UNUSED => Past::None,
            _ if began.is_some_and(|began| is_outside_since(id, began)) => Past::None,
            _ => Past::Used,
        }
    }

    /// Returns `true` if it is a static as the compiler made it.
    fn is_initial_static(&self) -> bool {
        let address = self.body_address();
        // An object without a word is known as a static by the bytes that it had.
        let is_known = || self.id.word().is_none() && is_in_static(address) && is_remembered(self.address());
        is_known() || is_initial_static(address, self.body_bytes())
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).cast::<u8>().addr()
    }

    /// Returns the body in place: that of a static may be another one in the execution.
    #[inline]
    pub const fn body_in_place(&self) -> *mut B {
        self.body.get()
    }

    /// Returns the address of the body in place.
    #[inline(always)]
    pub fn body_address(&self) -> usize {
        self.body.get().cast::<u8>().addr()
    }

    fn body_bytes(&self) -> &[MaybeUninit<u8>] {
        let body = self.body.get();
        // SAFETY: the body's own bytes, some of which may be padding.
        unsafe { std::slice::from_raw_parts(body.cast::<MaybeUninit<u8>>(), std::mem::size_of_val(&*body)) }
    }

    /// Returns a pointer to a body of this object's type (and length) at another address.
    fn moved_to(&self, place: *mut u8) -> *mut B {
        let body = self.body.get();
        // Only the address changes: the metadata of a fat pointer stays. The replica's memory was exposed.
        let delta = (place.expose_provenance() as isize).wrapping_sub(body.cast::<u8>().addr() as isize);
        let moved = body.wrapping_byte_offset(delta);
        debug_assert_eq!(moved.cast::<u8>().addr(), place.addr());
        with_exposed(moved)
    }
}

/// Returns the same pointer, with the provenance that was exposed at its address.
fn with_exposed<B: ?Sized>(mut pointer: *mut B) -> *mut B {
    let exposed = std::ptr::with_exposed_provenance_mut::<u8>(pointer.cast::<u8>().addr());
    // SAFETY: the address is the first word of any pointer, fat or thin; its provenance is replaced.
    unsafe { (&raw mut pointer).cast::<*mut u8>().write(exposed) };
    pointer
}

impl Engine {
    /// Registers an object that the current task uses first, as a variable of this execution with these gates open. The
    /// front end keeps the number until the execution ends.
    pub fn new_var(self, kind: VarKind, gates: Gates, site: Site) -> u32 {
        if self.in_teardown() {
            return self.with(|rt| rt.nameless(kind));
        }
        if self.with(|rt| rt.objects.vars.count()) >= VARS_MAX {
            self.too_many_vars();
        }
        self.with(|rt| rt.add_var_at(kind, gates, site))
    }

    #[cold]
    fn too_many_vars(self) -> ! {
        self.misuse(format!(
            "more than {VARS_MAX} synchronisation variables in one execution"
        ));
    }

    /// Notes that memory is freed. Returns the kind of an object in it on which another task is about to perform an
    /// operation, and the place of that operation, if there is one.
    ///
    /// This counts as a write of each object in it. So it does not commute with operations on them, which must not come
    /// later.
    #[cfg(feature = "unmodified")]
    pub(super) fn freed(self, memory: std::ops::Range<usize>) -> Option<(VarKind, Site)> {
        self.with(|rt| {
            if !rt.objects.by_address.any_in(&memory) {
                return None;
            }
            let mut place = None;
            let (current, tasks) = (rt.tasks.current(), rt.tasks.as_slice());
            let (record, vars) = (&mut rt.record, &rt.objects.vars);
            // The memory of an `Arc` begins with its counts, and the end of the last weak handle frees it. If that was seen,
            // it has written the count of weak handles, and is ordered after what other tasks did by their handles. Some
            // of std's functions are compiled already, for instance that of `Arc<str>`: they are not seen.
            let counts = [memory.start, memory.start + size_of::<usize>()];
            let counts = counts.map(|address| rt.objects.by_address.count_at(address, rt.objects.epoch()));
            let last = record.events.as_slice().last();
            let is_seen = last.is_some_and(|last| {
                (last.op, last.written, Some(last.var)) == (SyncVarOp::CountDown, 0, counts[1])
            });
            rt.objects.by_address.free(memory, rt.objects.epoch(), |var| {
                let is_count = counts.contains(&Some(var));
                if !is_count || is_seen && counts[1] != Some(var) {
                    record.add_write_since(current, Key::of(SyncVarOp::LockRelease, var));
                }
                let is_about_to = |(number, task): &(u32, &Task)| {
                    *number != current
                        && task.status == Status::Live
                        && task.pending.access.var == var
                        && !task.needs_no_memory
                };
                place = place.or((0..)
                    .zip(tasks)
                    .find(is_about_to)
                    .map(|(_, task)| (vars[var].kind, task.pending.access.site)));
            });
            place
        })
    }

    /// Returns the variable that a word of identity stands for in this execution.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn var_of(self, word: &AtomicU64) -> Option<u32> {
        let id = word.load(Relaxed);
        (id >> VAR_BITS == self.epoch()).then_some((id & ((1 << VAR_BITS) - 1)) as u32)
    }
}

impl<B: Body + ?Sized, I: Identity> Object<B, I> {
    /// Returns the object's variable, if it was used in this execution. A static's variable does not count, if the
    /// static has a replica.
    pub fn known(&self, engine: Engine) -> Option<u32> {
        I::var_of(self, engine).or_else(|| I::find(self, engine))
    }

    /// Returns the object's variable in the current execution, and its body there.
    #[inline(always)]
    pub fn inside(&self, engine: Engine, site: Site) -> (u32, *mut B) {
        if let Some(var) = I::var_of(self, engine) {
            return (var, self.body.get());
        }
        self.first_use(engine, site)
    }

    /// Gives the object's variable in this execution a name, which reports show instead of one from the source. If the
    /// object is used later, it has its variable then, as without a name.
    pub fn name(&self, engine: Engine, name: &str) {
        if engine.in_teardown() {
            return;
        }
        let address = self.address();
        let replica = |rt: &mut Runtime| {
            let epoch = rt.objects.epoch();
            rt.objects.statics.find(address, epoch).map(|(var, ..)| var)
        };
        let var = self.known(engine).or_else(|| engine.with(replica));
        let past = self.past(None);
        engine.with(|rt| {
            let epoch = rt.objects.epoch();
            let names = &mut rt.objects.given_names;
            match (var, past, self.id.word()) {
                (Some(var), ..) => names.give(var, name),
                (None, Past::Used, _) => {}
                // It does not move.
                (None, Past::Static, _) | (None, Past::None, None) => names.give_later(address, name),
                (None, Past::None, Some(word)) => {
                    let number = names.keep(name);
                    if number < VARS_MAX {
                        word.store(NAMED | epoch << VAR_BITS | number as u64, Relaxed);
                    }
                }
            }
        });
    }

    #[inline(never)]
    fn first_use(&self, engine: Engine, site: Site) -> (u32, *mut B) {
        if let Some(var) = I::find(self, engine) {
            return (var, self.body.get());
        }
        if let Some(known) = self.replica(engine, site) {
            return known;
        }
        let began = engine.with(|rt| rt.objects.uses_outside());
        let past = self.past(Some(began));
        if let Past::Static = past {
            return self.first_use_of_static(engine, site);
        }
        if engine.in_teardown() {
            return (engine.with(|rt| rt.nameless(B::KIND)), self.body.get());
        }
        if self.is_freed(engine) {
            engine.misuse(format!(
                "the {} used at {site} is in memory that was freed",
                B::KIND.name(),
            ));
        }
        if matches!(past, Past::Used) && !engine.with(|rt| rt.limits.keeps_objects) {
            engine.misuse(format!(
                "the {} used at {site} was already used before this execution began: in an earlier execution, or \
                 outside the exploration. Create it inside the test, or make it a `static`, which is fresh in each execution",
                B::KIND.name(),
            ));
        }
        if engine.with(|rt| rt.objects.vars.count()) >= VARS_MAX {
            engine.too_many_vars();
        }
        let body = self.body.get();
        // SAFETY: no other task runs, and no reference into the body is held over a schedule point.
        let (kind, gates) = unsafe { ((*body).kind(), (*body).gates()) };
        let (address, size) = (self.body_address(), self.body_bytes().len());
        let var = engine.with(|rt| {
            let var = rt.add_var_at(kind, gates, site);
            rt.objects.vars[var].memory = Some((self.address(), std::mem::size_of_val(self)));
            if rt.monitors.watches_memory && matches!(B::KIND, VarKind::Atomic | VarKind::Pointer) {
                rt.atomic_in_use(var, address, size);
            }
            var
        });
        let before = I::bind(self, engine, var);
        if is_outside_since(before, began) {
            self.share_with_outsider(engine, var, site);
        }
        if is_named(before) || self.id.word().is_none() {
            let (epoch, number) = ((before & !NAMED) >> VAR_BITS, before & ((1 << VAR_BITS) - 1));
            let address = self.address();
            engine.with(|rt| match epoch == rt.objects.epoch() {
                true => rt.objects.given_names.give_kept(var, number as usize),
                false => rt.objects.given_names.give_by_address(var, address),
            });
        }
        (var, body)
    }

    /// Notes that a thread which is not controlled was the first to use the object. What it did until the object had
    /// its variable was not posted.
    #[cold]
    fn share_with_outsider(&self, engine: Engine, var: u32, site: Site) {
        engine.with(|rt| rt.watched.pulse().outsiders.touched_before(site));
        engine.look_again();
        // SAFETY: the state is read under its lock.
        let gates = unsafe { (*self.body.get()).gates() };
        engine.set_gates(var, gates);
    }

    /// Returns `true` if its memory was freed, as far as that is known.
    fn is_freed(&self, engine: Engine) -> bool {
        match self.id.word() {
            Some(word) => arena::is_of_freed(word.load(Relaxed)),
            None => {
                let (address, size) = (self.body_address(), self.body_bytes().len());
                // What was not used before is not known by its address.
                engine.with(|rt| rt.objects.by_address.is_freed(address)) || arena::are_freed(address, size)
            }
        }
    }

    /// Returns a static's variable and the body of its replica, if it was used in this execution.
    fn replica(&self, engine: Engine, site: Site) -> Option<(u32, *mut B)> {
        // Only a static has a replica, and a word says which objects are statics.
        if self.id.word().is_some_and(|word| word.load(Relaxed) != STATIC) {
            return None;
        }
        let address = self.address();
        let known = engine.with(|rt| rt.objects.statics.find(address, rt.objects.epoch()));
        let (var, replica, size) = known?;
        if size != self.body_bytes().len() {
            self.is_of_two_sizes(engine, site);
        }
        Some((var, self.moved_to(replica)))
    }

    #[cold]
    fn is_of_two_sizes(&self, engine: Engine, site: Site) -> ! {
        engine.misuse(format!(
            "the {} used at {site} is in a static, and of another size than the one used there before: an execution has \
             a copy of each static, which is of one size",
            B::KIND.name(),
        ));
    }

    fn first_use_of_static(&self, engine: Engine, site: Site) -> (u32, *mut B) {
        let address = self.address();
        if let Some(word) = self.id.word() {
            word.store(STATIC, Relaxed);
        }
        let initial = remember(address, self.body_bytes());
        if initial.len() != self.body_bytes().len() {
            self.is_of_two_sizes(engine, site);
        }
        // SAFETY: the body lives as long as `self`.
        let align = unsafe { std::mem::align_of_val(&*self.body.get()) };
        let replica = engine.with(|rt| rt.objects.statics.place(address, initial, align));
        let body = self.moved_to(replica);
        // SAFETY: the replica was just made from the bytes of a constant of this type.
        let (kind, gates) = unsafe { ((*body).kind(), (*body).gates()) };
        let dropper = Dropper::new(body);
        let var = engine.with(|rt| {
            let var = rt.add_var_at(kind, gates, site);
            rt.objects.vars[var].memory = Some((address, std::mem::size_of_val(self)));
            let epoch = rt.objects.epoch();
            rt.objects.statics.begin(address, epoch, var, dropper);
            rt.objects.given_names.give_by_address(var, address);
            var
        });
        (var, body)
    }
}

impl Runtime {
    /// Registers a variable that the current task uses first.
    #[inline]
    pub(crate) fn add_var(&mut self, kind: VarKind, gates: Gates) -> u32 {
        let user = self.tasks.current();
        let task = &mut self.tasks[user];
        task.first_uses += 1;
        let ordinal = task.first_uses;
        self.objects.vars.add(kind, gates, user, ordinal)
    }

    /// Registers a variable that the current task uses first, at this place.
    #[inline(always)]
    fn add_var_at(&mut self, kind: VarKind, gates: Gates, site: Site) -> u32 {
        let var = self.add_var(kind, gates);
        self.objects.vars[var].first_site = Some(site);
        var
    }

    /// Returns a variable for an object that is used during teardown: its name is never needed.
    fn nameless(&mut self, kind: VarKind) -> u32 {
        self.objects.vars.add(kind, Gates::MAX, 0, 0)
    }
}

/// The initial bytes of every static used so far in the process, by address.
static INITIAL: Mutex<BTreeMap<usize, Bytes>> = Mutex::new(BTreeMap::new());

/// Bytes of a value, some of which may be padding.
type Bytes = &'static [MaybeUninit<u8>];

/// Returns `true` if the initial bytes of a static at `address` are known.
fn is_remembered(address: usize) -> bool {
    let known = INITIAL.lock().unwrap_or_else(PoisonError::into_inner);
    known.contains_key(&address)
}

/// Returns the initial bytes of the static at `address`: the given ones, unless others are already known.
fn remember(address: usize, bytes: &[MaybeUninit<u8>]) -> Bytes {
    arena::outside(|| {
        let mut known = INITIAL.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(address).or_insert_with(|| Box::leak(bytes.into()))
    })
}
