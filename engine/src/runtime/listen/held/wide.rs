//! Memory that is accessed in large parts: by a copy or a fill, by the allocator, or because a block is freed.
//!
//! Such an access is kept once for all of the memory, which is a *part*. The part stands for the chunks in it that were
//! not accessed in any other way. A chunk that is accessed otherwise gets the list of its part, and from then on has its
//! own. Accesses to the whole part are then kept for both.
//!
//! A part that a second task accesses as a whole gets a location of its own, with all accesses to the whole part so far.

use super::chunk::{CHUNK, Kept};
use super::list::{Held, List, add};
use intermezzo_sdk::Location;
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum number of bytes of a part, so that offsets in it have 32 bits.
const PART_MAX: usize = 1 << 30;

/// Whole chunks with the same accesses.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) end: usize,
    pub(super) list: List,
    /// The location as which it was published, and the address at which that begins.
    pub(super) location: Option<(Location, usize)>,
}

/// The parts by the addresses at which they begin. No two overlap.
#[derive(Default)]
pub(super) struct Wide(BTreeMap<usize, Part>);

impl Wide {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the part that begins there.
    pub(super) fn get(&self, begin: usize) -> &Part {
        &self.0[&begin]
    }

    /// Returns the accesses to the part in which a chunk or a piece lies.
    pub(super) fn list_at(&self, address: usize) -> Option<&List> {
        let (_, part) = self.0.range(..=address).next_back()?;
        (address < part.end).then_some(&part.list)
    }

    /// Sets the location of the part that begins there.
    pub(super) fn set_location(&mut self, begin: usize, location: Location) {
        if let Some(part) = self.0.get_mut(&begin) {
            part.location = Some((location, begin));
        }
    }

    /// Divides the part that contains this address, so that one begins there.
    fn cut(&mut self, address: usize) {
        if let Some((_, part)) = self.0.range_mut(..address).next_back()
            && part.end > address
        {
            let rest = part.clone();
            part.end = address;
            self.0.insert(address, rest);
        }
    }

    /// Cuts parts so that none crosses a border of this memory, which consists of whole chunks. Returns the beginnings
    /// of those in it.
    pub(super) fn parts_of(&mut self, memory: Range<usize>) -> Vec<usize> {
        self.cut(memory.start);
        self.cut(memory.end);
        self.0.range(memory).map(|(&begin, _)| begin).collect()
    }

    /// Keeps an access to the part that begins there, if it needs not be published.
    pub(super) fn keep(&mut self, begin: usize, access: &Held) -> Kept {
        let Some(part) = self.0.get_mut(&begin) else {
            return Kept::Held;
        };
        let is_others = part.list.iter().any(|known| known.task != access.task);
        if part.location.is_none() && is_others {
            return Kept::NeedsOthers;
        }
        match add(&mut part.list, access) && part.location.is_some() {
            true => Kept::New,
            false => Kept::Held,
        }
    }

    /// Adds an access to the chunks of this memory that are in no part.
    pub(super) fn fill(&mut self, memory: Range<usize>, access: &Held) {
        let mut at = memory.start;
        while at < memory.end {
            let next = self.0.range(at..memory.end).next();
            let (until, then) = next.map_or((memory.end, memory.end), |(&begin, part)| (begin, part.end));
            while at < until {
                let end = until.min(at + PART_MAX);
                self.add(at..end, access);
                at = end;
            }
            at = then;
        }
    }

    fn add(&mut self, memory: Range<usize>, access: &Held) {
        if let Some((&begin, before)) = self.0.range_mut(..memory.start).next_back()
            && before.end == memory.start
            && before.location.is_none()
            && before.list[..] == [*access]
            && memory.end - begin <= PART_MAX
        {
            before.end = memory.end;
            return;
        }
        let part = Part {
            end: memory.end,
            list: List::from_slice(&[*access]),
            location: None,
        };
        self.0.insert(memory.start, part);
    }

    /// Forgets the accesses to this memory, which consists of whole chunks.
    #[cfg(any(feature = "unmodified", test))]
    pub(super) fn forget(&mut self, memory: Range<usize>) {
        for begin in self.parts_of(memory) {
            self.0.remove(&begin);
        }
    }
}

/// Returns the whole chunks in this memory.
#[inline(always)]
pub(super) fn whole_chunks(memory: &Range<usize>) -> Range<usize> {
    let begin = memory.start.saturating_add(CHUNK - 1) & !(CHUNK - 1);
    begin..memory.end & !(CHUNK - 1)
}

#[cfg(test)]
mod tests {
    use super::super::list::tests::write;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Accesses memory as a whole, as the engine does.
    fn access(wide: &mut Wide, memory: Range<usize>, access: &Held) {
        for begin in wide.parts_of(memory.clone()) {
            assert_eq!(wide.keep(begin, access), Kept::Held);
        }
        wide.fill(memory, access);
    }

    #[test]
    fn the_parts_of_a_block_are_few() {
        let mut wide = Wide::default();
        for chunk in 0..1000 {
            access(&mut wide, chunk * CHUNK..(chunk + 1) * CHUNK, &write(0, 1, 0xff));
        }
        assert_eq!(wide.0.len(), 1);
        access(&mut wide, CHUNK * 10..CHUNK * 20, &write(0, 2, 0xff));
        assert_eq!(wide.0.len(), 3);
        // Offsets have 32 bits.
        access(&mut wide, 0..5 * PART_MAX, &write(0, 3, 0xff));
        assert_eq!(wide.0.len(), 3 + 5);
    }

    #[test]
    fn a_second_task_needs_the_accesses_of_the_first() {
        let mut wide = Wide::default();
        access(&mut wide, 0..CHUNK * 4, &write(0, 1, 0xff));
        assert_eq!(wide.parts_of(CHUNK..CHUNK * 2), [CHUNK]);
        assert_eq!(wide.keep(CHUNK, &write(1, 1, 0xff)), Kept::NeedsOthers);
        wide.set_location(CHUNK, Location(7));
        assert_eq!(wide.keep(CHUNK, &write(1, 1, 0xff)), Kept::New);
        assert_eq!(wide.keep(CHUNK, &write(1, 1, 0xff)), Kept::Held);
        assert_eq!(wide.get(0).location, None);
        assert_eq!(wide.get(CHUNK).location, Some((Location(7), CHUNK)));
        assert_eq!(wide.list_at(CHUNK).map(|list| list.len()), Some(2));
        assert_eq!(wide.list_at(CHUNK * 2).map(|list| list.len()), Some(1));
    }

    /// A list for each chunk is the model.
    #[test]
    fn each_chunk_has_the_list_of_its_part() {
        for seed in 0..100 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut wide = Wide::default();
            let mut model = vec![List::new(); 40];
            for after in 1..60 {
                let from = random.random_range(0..40);
                let to = random.random_range(from..40) + 1;
                let memory = from * CHUNK..to * CHUNK;
                if random.random_range(0..6) == 0 {
                    wide.forget(memory);
                    model[from..to].iter_mut().for_each(|list| list.clear());
                    continue;
                }
                let held = write(0, after / 3, 0xff);
                access(&mut wide, memory, &held);
                for list in &mut model[from..to] {
                    add(list, &held);
                }
            }
            for (chunk, list) in model.iter().enumerate() {
                let known = wide.list_at(chunk * CHUNK + 8);
                assert_eq!(known.unwrap_or(&List::new()), list, "seed {seed}");
            }
        }
    }
}
