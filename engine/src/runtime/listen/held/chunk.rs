//! Memory that is accessed in small parts: each piece of it has a list of accesses.
//!
//! Neighbouring pieces are most often accessed in the same way, as those of an array in a loop. So memory is divided into
//! chunks, and the pieces of a chunk that have equal lists share one, as far as that is noticed: a step from one list to
//! the next is remembered, and the next piece that makes the same step gets the same list.

use super::super::memory::GRANULE;
use super::list::{Held, List, add};

/// The size of a chunk in bytes.
pub(super) const CHUNK: usize = 4 << 10;

const PIECES: usize = CHUNK / GRANULE;

/// The number of accesses that are kept for a piece.
const HELD_MAX: usize = 64;

/// The state of a piece: the number of its list in the chunk, and the bits below.
type State = u16;

/// The bits of the number.
const NUMBER: State = (1 << FLAGS_FROM) - 1;

/// The lowest of the other bits.
const FLAGS_FROM: u32 = 14;

/// An atomic is in the piece.
pub(super) const ATOMIC: State = 1 << FLAGS_FROM;

/// The accesses in the list have been published, and others are published as they happen.
pub(super) const PUBLISHED: State = 2 << FLAGS_FROM;

/// The number of the empty list.
const NOTHING: usize = 0;

/// The number of lists up to which a list stays unchanged, so that other pieces can get it. A chunk with more lists is
/// no array.
const FEW: usize = 32;

/// A list that pieces share.
#[derive(Default)]
struct Shared {
    list: List,
    /// Identifies the content of this list, in all chunks and executions. It is 0 if the list is not in use.
    version: u64,
    /// The number of pieces that have it.
    pieces: u16,
}

impl Shared {
    /// Returns `true` if this task alone has made the accesses.
    fn is_of(&self, task: u32) -> bool {
        self.list.iter().all(|access| access.task == task)
    }
}

/// The pieces of a chunk.
pub(super) struct Chunk {
    pub(super) address: usize,
    pieces: [State; PIECES],
    lists: Vec<Shared>,
    /// The numbers of lists that are not in use.
    free: Vec<State>,
    /// The number of lists at which those without a piece are freed.
    limit: usize,
}

/// A step from one list to another, by an access.
#[derive(Clone, Copy, Default)]
pub(super) struct Step {
    /// The version of the list, and the flags of the piece.
    from: u64,
    moment: u64,
    site: usize,
    what: u32,
    to: State,
    version: u64,
}

/// The logarithm of the number of remembered steps.
const STEPS_LOG: u32 = 10;

/// The result of an attempt to keep an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It was kept, or is known already. Nothing is to be published.
    Held,
    /// It was kept, and must be published.
    New,
    /// It was not kept: the accesses before it must be published first.
    NeedsOthers,
    /// It was not kept: an atomic is in the piece.
    InAtomic,
}

/// Returns the index of a piece in its chunk.
#[inline(always)]
fn index(piece: usize) -> usize {
    piece % CHUNK / GRANULE
}

/// The steps that were made last.
#[derive(Default)]
pub(super) struct Steps {
    list: Vec<Step>,
    /// The last version of a list.
    version: u64,
}

impl Steps {
    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }
}

impl Step {
    /// Returns the step by an access that begins at this list, without its end.
    #[inline(always)]
    fn of(from: u64, access: &Held) -> Step {
        Step {
            from,
            moment: u64::from(access.task) << 32 | u64::from(access.after),
            site: access.site.word(),
            what: u32::from(access.bytes) | u32::from(access.is_write) << 8 | u32::from(access.frees) << 9,
            to: 0,
            version: 0,
        }
    }

    /// Returns its place among the steps.
    #[inline(always)]
    fn place(&self) -> usize {
        let word = self.from ^ (self.site as u64) << 16 ^ u64::from(self.what) << 48;
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - STEPS_LOG)) as usize
    }

    #[inline(always)]
    fn begins_like(&self, other: &Step) -> bool {
        self.from == other.from
            && self.moment == other.moment
            && self.site == other.site
            && self.what == other.what
    }
}

impl Chunk {
    pub(super) fn new() -> Chunk {
        Chunk {
            address: 0,
            pieces: [0; PIECES],
            lists: Vec::new(),
            free: Vec::new(),
            limit: FEW,
        }
    }

    /// Makes this the chunk at an address, all of whose pieces have this list.
    pub(super) fn begin(&mut self, address: usize, list: &List, steps: &mut Steps) {
        self.address = address;
        self.lists.clear();
        self.free.clear();
        self.limit = FEW;
        let empty = Shared {
            version: steps.next_version(),
            ..Shared::default()
        };
        self.lists.push(empty);
        let mut state = 0;
        if !list.is_empty() {
            self.lists.push(Shared {
                list: list.clone(),
                version: steps.next_version(),
                pieces: PIECES as u16,
            });
            state = 1;
        }
        self.pieces = [state; PIECES];
    }

    /// Returns the accesses that are kept for a piece.
    pub(super) fn list(&self, piece: usize) -> &List {
        &self.lists[usize::from(self.pieces[index(piece)] & NUMBER)].list
    }

    /// Returns the flags of a piece.
    pub(super) fn flags(&self, piece: usize) -> State {
        self.pieces[index(piece)] & !NUMBER
    }

    /// Adds flags to a piece.
    pub(super) fn set_flags(&mut self, piece: usize, flags: State) {
        self.pieces[index(piece)] |= flags;
    }

    /// Forgets the accesses to these pieces.
    #[cfg(any(feature = "unmodified", test))]
    pub(super) fn forget(&mut self, pieces: std::ops::Range<usize>) {
        for piece in pieces.step_by(GRANULE) {
            self.give(index(piece), 0);
        }
    }

    /// Gives a piece another state.
    #[inline(always)]
    fn give(&mut self, at: usize, state: State) {
        let before = std::mem::replace(&mut self.pieces[at], state);
        let (old, new) = (usize::from(before & NUMBER), usize::from(state & NUMBER));
        if old != new {
            // The counts of the empty list are not used.
            self.lists[old].pieces = self.lists[old].pieces.wrapping_sub(1);
            self.lists[new].pieces = self.lists[new].pieces.wrapping_add(1);
        }
    }

    /// Keeps an access to a piece, if it needs not be published.
    #[inline(always)]
    pub(super) fn keep(&mut self, piece: usize, access: &Held, steps: &mut Steps) -> Kept {
        let at = index(piece);
        let state = self.pieces[at];
        let version = self.lists[usize::from(state & NUMBER)].version;
        let step = Step::of(version << 2 | u64::from(state >> FLAGS_FROM), access);
        if let Some(known) = steps.list.get(step.place())
            && known.begins_like(&step)
            && let Some(shared) = self.lists.get(usize::from(known.to))
            && shared.version == known.version
        {
            self.give(at, known.to | state & !NUMBER);
            return Kept::Held;
        }
        self.keep_new(at, access, step, steps)
    }

    /// Does the same for a step that is not remembered.
    #[inline(never)]
    fn keep_new(&mut self, at: usize, access: &Held, step: Step, steps: &mut Steps) -> Kept {
        let state = self.pieces[at];
        if state & ATOMIC != 0 {
            return Kept::InAtomic;
        }
        let (number, is_published) = (usize::from(state & NUMBER), state & PUBLISHED != 0);
        if !is_published && !self.lists[number].is_of(access.task) {
            return Kept::NeedsOthers;
        }
        let mut list = List::from_slice(&self.lists[number].list);
        let is_new = add(&mut list, access);
        if list.len() > HELD_MAX {
            if !is_published {
                return Kept::NeedsOthers;
            }
            list.remove(0);
        }
        let to = match is_new {
            true => self.put(at, list, steps),
            false => number,
        };
        if is_published && is_new {
            return Kept::New;
        }
        if steps.list.is_empty() {
            steps.list.resize(1 << STEPS_LOG, Step::default());
        }
        steps.list[step.place()] = Step {
            to: to as State,
            version: self.lists[to].version,
            ..step
        };
        Kept::Held
    }

    /// Gives a piece a list that no other piece has. Returns its number.
    fn put(&mut self, at: usize, list: List, steps: &mut Steps) -> usize {
        let state = self.pieces[at];
        let old = usize::from(state & NUMBER);
        let is_alone = old != NOTHING && self.lists[old].pieces == 1;
        let number = match is_alone && self.lists.len() - self.free.len() > FEW {
            true => old,
            false => self.unused(),
        };
        let shared = &mut self.lists[number];
        (shared.list, shared.version) = (list, steps.next_version());
        self.give(at, number as State | state & !NUMBER);
        number
    }

    /// Returns the number of a list that is not in use.
    fn unused(&mut self) -> usize {
        if self.free.is_empty() && self.lists.len() >= self.limit {
            for (number, shared) in self.lists.iter_mut().enumerate().skip(NOTHING + 1) {
                if shared.pieces == 0 {
                    shared.version = 0;
                    self.free.push(number as State);
                }
            }
            if self.free.len() < self.limit / 4 {
                self.limit *= 2;
            }
        }
        self.free.pop().map_or_else(
            || {
                self.lists.push(Shared::default());
                self.lists.len() - 1
            },
            usize::from,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::list::tests::write;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn pieces_that_are_accessed_alike_share_lists() {
        let (mut steps, mut chunk) = (Steps::default(), Chunk::new());
        chunk.begin(CHUNK, &List::new(), &mut steps);
        for after in 1..4 {
            for piece in (CHUNK..2 * CHUNK).step_by(GRANULE) {
                for byte in 0..GRANULE {
                    let access = write(0, after, 1 << byte);
                    assert_eq!(chunk.keep(piece, &access, &mut steps), Kept::Held);
                }
            }
        }
        assert!((CHUNK..2 * CHUNK).all(|piece| chunk.list(piece)[..] == [write(0, 3, 0xff)]));
        assert!(chunk.lists.len() <= FEW);
    }

    /// A list for each piece is the model.
    #[test]
    fn a_chunk_has_a_list_for_each_piece() {
        let mut steps = Steps::default();
        let mut chunk = Chunk::new();
        for seed in 0..10 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut first = List::new();
            if seed % 2 == 0 {
                first.push(write(0, 0, 0xff));
            }
            chunk.begin(CHUNK * 5, &first, &mut steps);
            let mut model = vec![first; PIECES];
            let mut published = vec![false; PIECES];
            let many = [PIECES, 60][random.random_range(0..2)];
            for after in 1..4000 {
                let (from, length) = (random.random_range(0..many), random.random_range(1..40));
                let after = after / [1, 100][random.random_range(0..2)];
                let access = write(
                    random.random_range(0..20) / 19,
                    after,
                    [0xff, 1, 2][random.random_range(0..3)],
                );
                let access = Held {
                    is_write: random.random(),
                    ..access
                };
                for at in from..many.min(from + length) {
                    let piece = CHUNK * 5 + at * GRANULE;
                    let mut list = model[at].clone();
                    let is_alone = list.iter().all(|known| known.task == access.task);
                    let is_new = add(&mut list, &access);
                    let expected = match (published[at], is_alone && list.len() <= HELD_MAX) {
                        (true, _) if is_new => Kept::New,
                        (true, _) | (_, true) => Kept::Held,
                        _ => Kept::NeedsOthers,
                    };
                    if expected != Kept::NeedsOthers {
                        if list.len() > HELD_MAX {
                            list.remove(0);
                        }
                        model[at] = list;
                    }
                    assert_eq!(chunk.keep(piece, &access, &mut steps), expected, "seed {seed}");
                    if expected == Kept::NeedsOthers {
                        published[at] = true;
                        chunk.set_flags(piece, PUBLISHED);
                    }
                }
                if random.random_range(0..50) == 0 {
                    let pieces = CHUNK * 5 + from * GRANULE..CHUNK * 5 + PIECES.min(from + length) * GRANULE;
                    for at in from..PIECES.min(from + length) {
                        model[at].clear();
                        published[at] = false;
                    }
                    chunk.forget(pieces);
                }
            }
            for (at, list) in model.iter().enumerate() {
                let piece = CHUNK * 5 + at * GRANULE;
                assert_eq!(chunk.list(piece), list, "seed {seed}");
                assert_eq!(chunk.flags(piece) == PUBLISHED, published[at]);
            }
            assert!(chunk.lists.len() <= 4 * PIECES);
        }
    }
}
