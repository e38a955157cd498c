//! Who accessed which bytes, and when: as much of it as later accesses may race with.

use intermezzo_sdk::{SiteId, TaskId, VectorClock};

/// What was done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Deed {
    Write,
    /// It is written by a pointer that was asked for at the place.
    Pointer,
    Release,
    Allocation,
    AtomicWrite,
    AtomicUpdate,
    Read,
    /// A pointer to it is asked for; nothing is known to be written by it.
    GetPointer,
    AtomicRead,
}

impl Deed {
    pub(super) fn words(self) -> &'static str {
        match self {
            Deed::Write => "writes it",
            Deed::Pointer | Deed::GetPointer => "uses a pointer to it",
            Deed::Release => "gives it back",
            Deed::Allocation => "begins to use it",
            Deed::AtomicWrite => "writes it atomically",
            Deed::AtomicUpdate => "updates it atomically",
            Deed::Read => "reads it",
            Deed::AtomicRead => "reads it atomically",
        }
    }

    /// As events are called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Deed::Write => "write",
            Deed::Pointer => "write by pointer",
            Deed::Release => "give back",
            Deed::Allocation => "begin to use",
            Deed::AtomicWrite => "store",
            Deed::AtomicUpdate => "read-modify-write",
            Deed::Read => "read",
            Deed::GetPointer => "get pointer",
            Deed::AtomicRead => "load",
        }
    }

    /// Whether it is done by a pointer that the test asked for.
    pub(super) fn is_by_pointer(self) -> bool {
        matches!(self, Deed::Pointer | Deed::GetPointer)
    }

    pub(super) fn is_write(self) -> bool {
        !matches!(self, Deed::Read | Deed::GetPointer | Deed::AtomicRead)
    }

    fn is_atomic(self) -> bool {
        matches!(self, Deed::AtomicWrite | Deed::AtomicUpdate | Deed::AtomicRead)
    }

    /// Whether two of these must be ordered.
    pub(super) fn conflicts(self, other: Deed) -> bool {
        (self.is_write() || other.is_write()) && !(self.is_atomic() && other.is_atomic())
    }
}

/// Who does what, and where in the source: one end of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct End {
    pub(super) site: SiteId,
    pub(super) task: TaskId,
    pub(super) deed: Deed,
}

/// An access at a moment of its task: its *epoch*.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    pub(super) end: End,
    /// The event of the task that it is, or that it follows.
    pub(super) event: u32,
    /// The first event of the task by which others can come to know of it.
    pub(super) index: u32,
}

impl Epoch {
    /// Whether both touch the same bytes with nothing between them: `known` is what the task of `now` knows.
    fn races(&self, now: End, known: &VectorClock) -> bool {
        self.end.concerns(now) && known.get(self.end.task) < self.index
    }
}

impl End {
    /// Whether the two are by different tasks, and must be ordered.
    #[inline]
    fn concerns(self, other: End) -> bool {
        self.task != other.task && self.deed.conflicts(other.deed)
    }
}

/// The accesses to some bytes: of each task, place and deed the last. What races with an earlier one of the
/// same end races with the last one too.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Vec<Epoch>);

impl History {
    /// Whether nobody was there.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn concerns(&self, now: End) -> bool {
        self.0.iter().any(|earlier| earlier.end.concerns(now))
    }

    /// Tells of each access that races with this one.
    #[inline]
    pub(super) fn check(&self, now: End, known: &VectorClock, mut race: impl FnMut(Epoch)) {
        for earlier in &self.0 {
            if earlier.races(now, known) {
                race(*earlier);
            }
        }
    }

    /// Adds an access.
    #[inline]
    pub(super) fn add(&mut self, now: Epoch) {
        match self.0.iter_mut().find(|earlier| earlier.end == now.end) {
            Some(same) => *same = now,
            None => self.0.push(now),
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

/// A stretch of bytes with one history.
#[derive(Clone, Debug)]
struct Stretch {
    from: u64,
    to: u64,
    history: History,
}

/// The accesses to a location. Its stretches are in order and do not overlap; where an access ends within one,
/// it is cut in two.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    stretches: Vec<Stretch>,
    /// What was done to all of it at once: it came into use, or was given back.
    whole: History,
    /// Histories without use, for their memory.
    spare: Vec<History>,
}

impl Shadow {
    /// `true` if any access to these bytes so far must be ordered with this one.
    #[inline]
    pub(super) fn concerns(&self, (from, to): (u64, u64), now: End) -> bool {
        let met = |stretch: &&Stretch| stretch.from < to && from < stretch.to;
        let mut stretches = self.stretches.iter().filter(met);
        stretches.any(|stretch| stretch.history.concerns(now)) || self.whole.concerns(now)
    }

    /// Tells of each access to these bytes that races with this one.
    pub(super) fn check(
        &self,
        (from, to): (u64, u64),
        now: End,
        known: &VectorClock,
        mut race: impl FnMut(Epoch),
    ) {
        let met = |stretch: &&Stretch| stretch.from < to && from < stretch.to;
        for stretch in self.stretches.iter().filter(met) {
            stretch.history.check(now, known, &mut race);
        }
        self.whole.check(now, known, race);
    }

    /// Adds what is done to all of it.
    pub(super) fn add_to_whole(&mut self, now: Epoch) {
        self.whole.add(now);
    }

    /// Adds an access to these bytes.
    #[inline]
    pub(super) fn add(&mut self, (from, to): (u64, u64), now: Epoch) {
        match &mut self.stretches[..] {
            [only] if (only.from, only.to) == (from, to) => only.history.add(now),
            _ => self.add_to_some((from, to), now),
        }
    }

    #[inline(never)]
    fn add_to_some(&mut self, (from, to): (u64, u64), now: Epoch) {
        let first = self.cut(from);
        let mut at = first;
        let mut reached = from;
        while reached < to {
            let next = self
                .stretches
                .get(at)
                .map_or(to, |stretch| stretch.from.min(to).max(reached));
            if next > reached {
                let history = self.spare.pop().unwrap_or_default();
                let gap = Stretch {
                    from: reached,
                    to: next,
                    history,
                };
                self.stretches.insert(at, gap);
            } else {
                self.cut(to);
            }
            let stretch = &mut self.stretches[at];
            stretch.history.add(now);
            reached = stretch.to;
            at += 1;
        }
    }

    /// Cuts the stretch that goes over this byte, so that one begins there; the first that does not end before it.
    fn cut(&mut self, byte: u64) -> usize {
        let at = self.stretches.partition_point(|stretch| stretch.to <= byte);
        match self.stretches.get_mut(at) {
            Some(stretch) if stretch.from < byte => {
                let mut rest = stretch.clone();
                rest.from = byte;
                stretch.to = byte;
                self.stretches.insert(at + 1, rest);
                at + 1
            }
            _ => at,
        }
    }

    /// Forgets the execution. A single stretch stays: the next execution most often has the same.
    pub(super) fn forget(&mut self) {
        self.whole.forget();
        if let [only] = &mut self.stretches[..] {
            return only.history.forget();
        }
        for mut stretch in self.stretches.drain(..) {
            stretch.history.forget();
            self.spare.push(stretch.history);
        }
    }
}
