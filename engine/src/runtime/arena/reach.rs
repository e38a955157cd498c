//! The blocks that an execution has left behind: those in use that cannot be reached from any root.
//!
//! **Source.** The definition of LeakSanitizer: a block is reached if a word of a root, or of a reached block, is an
//! address in it. Types are not known, so a number may be mistaken for an address, and a block is then considered
//! reached.
//!
//! **Differs.** A word also leads to the block that its lower 48 bits are an address in, and to that of its upper 48
//! bits: crates keep a count or a mark in the rest of a word.
//!
//! **Misses.** A block that a number or an outdated address in a root leads to. Of several blocks that lead to each
//! other, only the first is returned.

use super::blocks;
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const WORD: usize = size_of::<usize>();

/// The number of bits of an address.
const ADDRESS_BITS: u32 = 48;

/// A block that an execution has left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Left {
    /// Its addresses.
    pub(in super::super) addresses: Range<usize>,
    /// The distance of its beginning from that of the execution's memory.
    pub(in super::super) distance: usize,
}

/// The blocks in use, and those of them that are reached.
struct Graph {
    blocks: Vec<Range<usize>>,
    is_reached: Vec<bool>,
}

/// Returns the blocks in use that are not reached from these roots, without those that another one of them leads to.
/// The second roots are computed only if the first do not reach all blocks.
///
/// # Safety
/// All of the roots can be read, and only the calling thread uses the execution's memory.
pub(in super::super) unsafe fn left_behind(
    first: impl Iterator<Item = Range<usize>>,
    second: impl FnOnce() -> Vec<Range<usize>>,
) -> Vec<Left> {
    let mut graph = Graph::of(blocks::list());
    // SAFETY: as the caller says.
    unsafe {
        first.for_each(|root| graph.reach_from(root));
        if graph.is_reached.contains(&false) {
            second().into_iter().for_each(|root| graph.reach_from(root));
        }
    }
    let base = blocks::base();
    let left = graph.first_of_rest().into_iter();
    left.map(|addresses| Left {
        distance: addresses.start - base,
        addresses,
    })
    .collect()
}

/// Calls a function for each block that the words at these addresses lead to.
///
/// # Safety
/// They can be read.
unsafe fn each_led_to(blocks: &[Range<usize>], from: &Range<usize>, mut each: impl FnMut(usize)) {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return;
    };
    let all = first.start..last.end;
    let words = from.start.next_multiple_of(WORD)..from.end & !(WORD - 1);
    for at in words.step_by(WORD) {
        // SAFETY: it can be read, as the caller says, and it is aligned. Another thread may write to it.
        let word = unsafe { AtomicUsize::from_ptr(with_exposed_provenance_mut(at)) }.load(Relaxed);
        let mask = (1 << ADDRESS_BITS) - 1;
        for address in [word & mask, word >> (usize::BITS - ADDRESS_BITS)] {
            if !all.contains(&address) {
                continue;
            }
            let after = blocks.partition_point(|block| block.start <= address);
            if blocks[after - 1].contains(&address) {
                each(after - 1);
            }
        }
    }
}

impl Graph {
    fn of(blocks: Vec<Range<usize>>) -> Graph {
        let is_reached = vec![false; blocks.len()];
        Graph { blocks, is_reached }
    }

    /// Marks the blocks to which these words lead.
    ///
    /// # Safety
    /// They can be read, and so can the blocks.
    unsafe fn reach_from(&mut self, root: Range<usize>) {
        let mut from = vec![root];
        while let Some(addresses) = from.pop() {
            let Graph { blocks, is_reached } = self;
            // SAFETY: as the caller says.
            unsafe {
                each_led_to(blocks, &addresses, |block| {
                    if !std::mem::replace(&mut is_reached[block], true) {
                        from.push(blocks[block].clone());
                    }
                });
            }
        }
    }

    /// Returns the blocks that are not reached and that no other unreached block leads to. Of several that lead to each
    /// other, returns the first.
    fn first_of_rest(mut self) -> Vec<Range<usize>> {
        // In depth-first order, a block is finished after all blocks that it leads to. So no other unreached block
        // leads to the one that was finished last, except in a cycle with it.
        let mut finished = Vec::new();
        let mut is_seen = self.is_reached.clone();
        for block in 0..self.blocks.len() {
            let mut path = Vec::new();
            self.see(block, &mut is_seen, &mut path);
            while let Some((block, led_to)) = path.last_mut() {
                let block = *block;
                match led_to.pop() {
                    Some(next) => self.see(next, &mut is_seen, &mut path),
                    None => {
                        finished.push(block);
                        path.pop();
                    }
                }
            }
        }
        let mut first = Vec::new();
        for block in finished.into_iter().rev() {
            if !self.is_reached[block] {
                let addresses = self.blocks[block].clone();
                self.is_reached[block] = true;
                // SAFETY: the blocks can be read.
                unsafe { self.reach_from(addresses.clone()) };
                first.push(addresses);
            }
        }
        first.sort_by_key(|block| block.start);
        first
    }

    /// Adds a block to a path, with those that it leads to, unless it was seen.
    fn see(&self, block: usize, is_seen: &mut [bool], path: &mut Vec<(usize, Vec<usize>)>) {
        if std::mem::replace(&mut is_seen[block], true) {
            return;
        }
        let mut led_to = Vec::new();
        // SAFETY: a block can be read.
        unsafe { each_led_to(&self.blocks, &self.blocks[block], |next| led_to.push(next)) };
        path.push((block, led_to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks in an array of words, each of two words, and what of them is left when these roots are followed.
    fn left(words: &mut [[usize; 2]], links: &[(usize, usize)], roots: &[usize]) -> Vec<usize> {
        let address = |words: &[[usize; 2]], block: usize| words[block].as_ptr().expose_provenance();
        for &(from, to) in links {
            let to = address(words, to);
            let free = words[from].iter_mut().find(|word| **word == 0).unwrap();
            *free = to;
        }
        let blocks: Vec<Range<usize>> = (0..words.len())
            .map(|block| address(words, block)..address(words, block) + 2 * WORD)
            .collect();
        let (begin, mut graph) = (blocks[0].start, Graph::of(blocks));
        let roots: Vec<usize> = roots.iter().map(|&root| graph.blocks[root].start + 9).collect();
        let place = roots.as_ptr().expose_provenance();
        // SAFETY: the words of the vector.
        unsafe { graph.reach_from(place..place + roots.len() * WORD) };
        let rest = graph.first_of_rest().into_iter();
        rest.map(|block| (block.start - begin) / (2 * WORD)).collect()
    }

    #[test]
    fn what_roots_lead_to_is_not_left() {
        let chain = [(0, 1), (1, 2), (2, 3)];
        assert_eq!(left(&mut [[0; 2]; 4], &chain, &[0]), [0; 0]);
        assert_eq!(left(&mut [[0; 2]; 4], &chain, &[1]), [0]);
        assert_eq!(left(&mut [[0; 2]; 4], &chain, &[3]), [0]);
        assert_eq!(left(&mut [[0; 2]; 4], &chain, &[]), [0]);
    }

    #[test]
    fn the_first_stands_for_what_it_leads_to() {
        assert_eq!(left(&mut [[0; 2]; 3], &[(2, 1), (2, 0)], &[]), [2]);
        assert_eq!(left(&mut [[0; 2]; 3], &[], &[1]), [0, 2]);
        // A cycle, and one block that hangs from it, before or after.
        assert_eq!(left(&mut [[0; 2]; 3], &[(0, 1), (1, 0), (1, 2)], &[]), [0]);
        assert_eq!(left(&mut [[0; 2]; 3], &[(1, 2), (2, 1), (2, 0)], &[]), [1]);
        assert_eq!(left(&mut [[0; 2]; 1], &[(0, 0)], &[]), [0]);
    }

    #[test]
    fn marks_in_a_word_do_not_hide_an_address() {
        for marked in [
            |address: usize| address | 3,
            |address: usize| address | 0xfedc << 48,
            |address: usize| address << 16 | 0xfedc,
        ] {
            let block = [0_usize; 1];
            let start = block.as_ptr().expose_provenance();
            let mut graph = Graph::of(std::iter::once(start..start + WORD).collect());
            let root = [marked(start)];
            let place = root.as_ptr().expose_provenance();
            // SAFETY: the word of the array.
            unsafe { graph.reach_from(place..place + WORD) };
            assert_eq!(graph.is_reached, [true]);
        }
    }
}
