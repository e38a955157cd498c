//! Replicas of statics: the values that they have in one worker's current execution, stored outside the statics
//! themselves.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::mem::{MaybeUninit, size_of};

/// A function that drops a value of an erased type, with its pointer.
pub(super) struct Dropper {
    /// The pointer, thin or fat, in the form that the function takes.
    pointer: [MaybeUninit<usize>; 2],
    drop: unsafe fn(*const [MaybeUninit<usize>; 2]),
    needed: bool,
}

impl Dropper {
    pub(super) fn new<B: ?Sized>(value: *mut B) -> Dropper {
        const { assert!(size_of::<*mut B>() <= 2 * size_of::<usize>()) };
        unsafe fn drop_at<B: ?Sized>(pointer: *const [MaybeUninit<usize>; 2]) {
            // SAFETY: `new` put a pointer of this type there, to a value that the caller gives up.
            unsafe { pointer.cast::<*mut B>().read().drop_in_place() }
        }
        let mut pointer = [MaybeUninit::uninit(); 2];
        // SAFETY: it fits, as asserted.
        unsafe { pointer.as_mut_ptr().cast::<*mut B>().write_unaligned(value) };
        Dropper {
            pointer,
            drop: drop_at::<B>,
            needed: std::mem::needs_drop::<B>(),
        }
    }
}

/// A static's state in the current execution of one worker.
struct Replica {
    /// The execution in which it has a value.
    epoch: u64,
    /// The last execution in which it had one.
    #[allow(dead_code, reason = "for leaks, which are looked for on some systems only")]
    used: u64,
    var: u32,
    memory: *mut u8,
    layout: Layout,
    dropper: Option<Dropper>,
}

impl Drop for Replica {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.memory, self.layout) };
        }
    }
}

/// One worker's replicas of statics; their memory is reused in each execution.
#[derive(Default)]
pub(super) struct Statics {
    replicas: HashMap<usize, Replica>,
    /// The replicas with a value in this execution, in order of first use.
    live: Vec<usize>,
}

impl Statics {
    /// Returns the static's variable, and the address and size of its replica.
    pub(super) fn find(&self, address: usize, epoch: u64) -> Option<(u32, *mut u8, usize)> {
        self.replicas
            .get(&address)
            .filter(|replica| replica.epoch == epoch)
            .map(|replica| (replica.var, replica.memory, replica.layout.size()))
    }

    pub(super) fn replica_at(&self, address: usize) -> Option<*mut u8> {
        self.live
            .contains(&address)
            .then(|| self.replicas[&address].memory)
    }

    /// Returns memory for a static's replica, filled with its initial bytes.
    pub(super) fn place(&mut self, address: usize, initial: &[MaybeUninit<u8>], align: usize) -> *mut u8 {
        let replica = self.replicas.entry(address).or_insert_with(|| {
            let layout = Layout::from_size_align(initial.len(), align).expect("the layout of a value");
            let memory = if layout.size() == 0 {
                std::ptr::without_provenance_mut(align)
            } else {
                // SAFETY: the size is not zero.
                unsafe { alloc(layout) }
            };
            assert!(!memory.is_null(), "out of memory for the replica of a static");
            Replica {
                epoch: 0,
                used: 0,
                var: 0,
                memory,
                layout,
                dropper: None,
            }
        });
        assert_eq!(
            replica.layout.size(),
            initial.len(),
            "two statics of different size at one address"
        );
        // SAFETY: the replica has this many bytes, and holds no value.
        unsafe {
            replica
                .memory
                .cast::<MaybeUninit<u8>>()
                .copy_from_nonoverlapping(initial.as_ptr(), initial.len())
        };
        replica.memory
    }

    pub(super) fn begin(&mut self, address: usize, epoch: u64, var: u32, dropper: Dropper) {
        let replica = self
            .replicas
            .get_mut(&address)
            .expect("a static was given its place");
        (replica.epoch, replica.used) = (epoch, epoch);
        (replica.var, replica.dropper) = (var, Some(dropper));
        self.live.push(address);
    }

    /// Returns the addresses of the replicas that had a value in this execution, even if it was dropped.
    #[cfg(all(
        feature = "unmodified",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub(super) fn used(&self, epoch: u64) -> impl Iterator<Item = std::ops::Range<usize>> {
        let used = self
            .replicas
            .values()
            .filter(move |replica| replica.used == epoch);
        used.map(|replica| {
            let begin = replica.memory.expose_provenance();
            begin..begin + replica.layout.size()
        })
    }

    /// Returns `true` if a static has a value in this execution.
    pub(super) fn any(&self) -> bool {
        !self.live.is_empty()
    }

    /// Returns the next value of a static to drop, last used first: its address, and a call that must be made without
    /// borrowing `self`. Until `dropped` is called, a destructor that uses the static finds the value that is being
    /// dropped.
    pub(super) fn next_to_drop(&mut self) -> Option<(usize, impl FnOnce() + use<>)> {
        while let Some(address) = self.live.pop() {
            let replica = self
                .replicas
                .get_mut(&address)
                .expect("a live static has a replica");
            if let Some(dropper) = replica.dropper.take().filter(|dropper| dropper.needed) {
                // SAFETY: the replica holds a value, which no task uses any more.
                return Some((address, move || unsafe { (dropper.drop)(&dropper.pointer) }));
            }
            replica.epoch = 0;
        }
        None
    }

    /// Notes that the value of the static at `address` was dropped.
    pub(super) fn dropped(&mut self, address: usize) {
        if let Some(replica) = self.replicas.get_mut(&address) {
            replica.epoch = 0;
        }
    }
}
