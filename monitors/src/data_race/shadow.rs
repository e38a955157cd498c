//! The accesses to each byte, as far as later accesses may race with them.

use super::clock::Clock;
use intermezzo_sdk::{SiteId, TaskId};

/// The kinds of accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Deed {
    Write,
    /// A write by a pointer that was obtained at the place.
    Pointer,
    Release,
    /// A write, because the memory is given back to the allocator.
    Free,
    Allocation,
    AtomicWrite,
    AtomicUpdate,
    Read,
    /// A request for a pointer; no write by it is known.
    GetPointer,
    AtomicRead,
}

impl Deed {
    pub(super) fn words(self) -> &'static str {
        match self {
            Deed::Write => "writes it",
            Deed::Pointer | Deed::GetPointer => "uses a pointer to it",
            Deed::Release => "gives it back",
            Deed::Free => "frees it",
            Deed::Allocation => "begins to use it",
            Deed::AtomicWrite => "writes it atomically",
            Deed::AtomicUpdate => "updates it atomically",
            Deed::Read => "reads it",
            Deed::AtomicRead => "reads it atomically",
        }
    }

    /// Returns the name that events use.
    pub(super) fn name(self) -> &'static str {
        match self {
            Deed::Write => "write",
            Deed::Pointer => "write by pointer",
            Deed::Release => "give back",
            Deed::Free => "free",
            Deed::Allocation => "begin to use",
            Deed::AtomicWrite => "store",
            Deed::AtomicUpdate => "read-modify-write",
            Deed::Read => "read",
            Deed::GetPointer => "get pointer",
            Deed::AtomicRead => "load",
        }
    }

    /// `true` if a pointer that the test asked for does it.
    pub(super) fn is_by_pointer(self) -> bool {
        matches!(self, Deed::Pointer | Deed::GetPointer)
    }

    pub(super) const fn is_write(self) -> bool {
        !matches!(self, Deed::Read | Deed::GetPointer | Deed::AtomicRead)
    }

    const fn is_atomic(self) -> bool {
        matches!(self, Deed::AtomicWrite | Deed::AtomicUpdate | Deed::AtomicRead)
    }

    /// `true` if two of these must be ordered.
    #[inline(always)]
    pub(super) fn conflicts(self, other: Deed) -> bool {
        CONFLICTS[self as usize] >> other as u32 & 1 != 0
    }

    const ALL: [Deed; 10] = [
        Deed::Write,
        Deed::Pointer,
        Deed::Release,
        Deed::Free,
        Deed::Allocation,
        Deed::AtomicWrite,
        Deed::AtomicUpdate,
        Deed::Read,
        Deed::GetPointer,
        Deed::AtomicRead,
    ];
}

/// For each deed, those that must be ordered with it, as bits.
const CONFLICTS: [u16; Deed::ALL.len()] = {
    let mut table = [0; Deed::ALL.len()];
    let mut one = 0;
    while one < Deed::ALL.len() {
        let mut other = 0;
        while other < Deed::ALL.len() {
            let (a, b) = (Deed::ALL[one], Deed::ALL[other]);
            assert!(a as usize == one);
            if (a.is_write() || b.is_write()) && !(a.is_atomic() && b.is_atomic()) {
                table[one] |= 1 << other;
            }
            other += 1;
        }
        one += 1;
    }
    table
};

/// One end of a race: the task, the kind of access, and the source place.
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
    /// The event of the task that the access is, or that it follows.
    pub(super) event: u32,
    /// The first event of the task by which others can learn of it.
    pub(super) index: u32,
}

impl Epoch {
    /// `true` if the two must be ordered and are not: `known` is what the task of `now` knows.
    #[inline(always)]
    fn races(&self, now: End, known: &Clock) -> bool {
        self.end.concerns(now) && known.get(self.end.task) < self.index
    }
}

impl End {
    /// `true` if the two are by different tasks, and must be ordered.
    #[inline]
    fn concerns(self, other: End) -> bool {
        self.task != other.task && self.deed.conflicts(other.deed)
    }
}

/// The position of an access in a history.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Entry(usize),
    End,
}

/// The state that an access replaced: the epoch at this position, or nothing at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    at: u32,
    epoch: Epoch,
}

/// The position that stands for nothing at the end.
const AT_END: u32 = u32::MAX;

/// The accesses to some bytes: the last of each task, place and deed. An access that races with an earlier one of the
/// same end races with the last one too.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Vec<Epoch>);

impl History {
    /// `true` if there was no access.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub(super) fn races(&self, now: End, known: &Clock) -> bool {
        self.0.iter().any(|earlier| earlier.races(now, known))
    }

    /// Returns the position of the last access of the same end; `None` if any access races with this one.
    #[inline(always)]
    pub(super) fn place_of(&self, now: End, known: &Clock) -> Option<At> {
        let mut place = At::End;
        for (at, earlier) in self.0.iter().enumerate() {
            if earlier.end.task == now.task {
                if earlier.end == now {
                    place = At::Entry(at);
                }
            } else if earlier.end.deed.conflicts(now.deed) && known.get(earlier.end.task) < earlier.index {
                return None;
            }
        }
        Some(place)
    }

    /// Puts an access at its position, and returns the one that was there.
    #[inline(always)]
    pub(super) fn put(&mut self, place: At, now: Epoch) -> Before {
        match place {
            At::Entry(at) => {
                let entry = &mut self.0[at];
                let before = *entry;
                *entry = now;
                Before {
                    at: at as u32,
                    epoch: before,
                }
            }
            At::End => {
                self.0.push(now);
                Before {
                    at: AT_END,
                    epoch: now,
                }
            }
        }
    }

    /// Takes back the last addition.
    #[inline(always)]
    pub(super) fn take_back(&mut self, before: Before) {
        if before.at == AT_END {
            self.0.pop();
        } else {
            self.0[before.at as usize] = before.epoch;
        }
    }

    /// Calls `race` with each access that races with this one.
    #[inline]
    pub(super) fn check(&self, now: End, known: &Clock, mut race: impl FnMut(Epoch)) {
        for earlier in &self.0 {
            if earlier.races(now, known) {
                race(*earlier);
            }
        }
    }

    /// Adds an access.
    #[inline]
    pub(super) fn add(&mut self, now: Epoch) -> Before {
        let same = self.0.iter().position(|earlier| earlier.end == now.end);
        self.put(same.map_or(At::End, At::Entry), now)
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
    /// Accesses to all of it at once: allocation and release.
    whole: History,
    /// Histories without use, for their memory.
    spare: Vec<History>,
}

impl Shadow {
    /// Returns the history of these bytes, if they are the only stretch, and there was no access to all at once.
    #[inline(always)]
    pub(super) fn only(&mut self, (from, to): (u64, u64)) -> Option<&mut History> {
        match &mut self.stretches[..] {
            [only] if (only.from, only.to) == (from, to) && self.whole.is_empty() => Some(&mut only.history),
            _ => None,
        }
    }

    /// Returns the history of the only stretch, and that of accesses to all of it, if that is empty.
    #[inline(always)]
    pub(super) fn untouched_whole(&mut self) -> Option<(&History, &mut History)> {
        match &self.stretches[..] {
            [only] if self.whole.is_empty() => Some((&only.history, &mut self.whole)),
            _ => None,
        }
    }

    /// `true` if any access to these bytes so far races with this one, by what is known.
    pub(super) fn races(&self, (from, to): (u64, u64), now: End, known: &Clock) -> bool {
        let met = |stretch: &&Stretch| stretch.from < to && from < stretch.to;
        let mut stretches = self.stretches.iter().filter(met);
        stretches.any(|stretch| stretch.history.races(now, known)) || self.whole.races(now, known)
    }

    /// Calls `race` with each access to these bytes that races with this one.
    pub(super) fn check(&self, (from, to): (u64, u64), now: End, known: &Clock, mut race: impl FnMut(Epoch)) {
        let met = |stretch: &&Stretch| stretch.from < to && from < stretch.to;
        for stretch in self.stretches.iter().filter(met) {
            stretch.history.check(now, known, &mut race);
        }
        self.whole.check(now, known, race);
    }

    /// Adds an access to all of it.
    pub(super) fn add_to_whole(&mut self, now: Epoch) -> Before {
        self.whole.add(now)
    }

    /// Adds an access to these bytes. If it needed no cut, returns the index of their stretch, and the state that the
    /// access replaced.
    #[inline]
    pub(super) fn add(&mut self, (from, to): (u64, u64), now: Epoch) -> Option<(u32, Before)> {
        // The stretch of an earlier execution tells nothing.
        if let [only] = &mut self.stretches[..]
            && only.history.is_empty()
        {
            (only.from, only.to) = (from, to);
        }
        let at = match &self.stretches[..] {
            [_] => 0,
            many => many.partition_point(|stretch| stretch.to <= from),
        };
        match self.stretches.get_mut(at) {
            Some(same) if (same.from, same.to) == (from, to) => Some((at as u32, same.history.add(now))),
            _ => {
                self.add_to_some((from, to), now);
                None
            }
        }
    }

    /// Takes back the last addition: to a stretch, or to all of it.
    #[inline(always)]
    pub(super) fn take_back(&mut self, stretch: Option<u32>, before: Before) {
        match stretch {
            Some(stretch) => self.stretches[stretch as usize].history.take_back(before),
            None => self.whole.take_back(before),
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

    /// Cuts the stretch that contains this byte, so that one begins there. Returns the first that does not end before
    /// it.
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
