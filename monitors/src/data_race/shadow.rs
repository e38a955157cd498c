//! Who accessed which bytes, and when: as much of it as later accesses may race with.

use intermezzo_sdk::{SiteId, TaskId, VectorClock};

/// What was done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Deed {
    Write,
    /// Somebody asks for a pointer, by which it may be written or only read.
    Pointer,
    Release,
    Allocation,
    AtomicWrite,
    AtomicUpdate,
    Read,
    AtomicRead,
}

impl Deed {
    pub(super) fn words(self) -> &'static str {
        match self {
            Deed::Write => "writes it",
            Deed::Pointer => "may write it by a pointer",
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
            Deed::Pointer => "get pointer",
            Deed::Release => "give back",
            Deed::Allocation => "begin to use",
            Deed::AtomicWrite => "store",
            Deed::AtomicUpdate => "read-modify-write",
            Deed::Read => "read",
            Deed::AtomicRead => "load",
        }
    }

    fn is_write(self) -> bool {
        !matches!(self, Deed::Read | Deed::AtomicRead)
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
        self.end.task != now.task
            && self.end.deed.conflicts(now.deed)
            && known.get(self.end.task) < self.index
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

    /// Tells of each access that races with this one.
    #[inline]
    pub(super) fn check(&self, now: End, known: &VectorClock, mut race: impl FnMut(Epoch)) {
        for earlier in &self.0 {
            if earlier.races(now, known) {
                race(*earlier);
            }
        }
    }

    /// Tells of each access that races with this one, and adds it.
    #[inline]
    pub(super) fn access(&mut self, now: Epoch, known: &VectorClock, mut race: impl FnMut(Epoch)) {
        let mut last = None;
        for (at, earlier) in self.0.iter().enumerate() {
            if earlier.end == now.end {
                last = Some(at);
            } else if earlier.races(now.end, known) {
                race(*earlier);
            }
        }
        match last {
            Some(at) => self.0[at] = now,
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
    /// Histories without use, for their memory.
    spare: Vec<History>,
}

/// The bytes of a block whose size does not matter: all.
pub(super) const ALL: (u64, u64) = (0, u64::MAX);

impl Shadow {
    /// Tells of each access that races with this one to these bytes, and adds it.
    #[inline]
    pub(super) fn access(
        &mut self,
        (from, to): (u64, u64),
        now: Epoch,
        known: &VectorClock,
        mut race: impl FnMut(Epoch),
    ) {
        if let [only] = &mut self.stretches[..]
            && (only.from, only.to) == (from, to)
        {
            return only.history.access(now, known, race);
        }
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
            stretch.history.access(now, known, &mut race);
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

    pub(super) fn forget(&mut self) {
        for mut stretch in self.stretches.drain(..) {
            stretch.history.forget();
            self.spare.push(stretch.history);
        }
    }
}
