//! The frontier at which a tree of choices is divided into shares.
//!
//! Each node of the tree has a part of the interval from 0 to 1: the root has all of it, and the alternatives of a
//! choice divide the part of their node evenly, like the weights of the weighted backtrack estimator (`estimate`). The
//! interval is divided into blocks of equal length, several for each share, which are assigned to the shares by a fixed
//! rule. A node whose part is not longer than a block belongs, with everything below it, to the share of the block in
//! which it begins. The uppermost of these nodes are the *frontier*; the nodes above it are common to all shares.
//!
//! So the share of a prefix follows from the prefix alone: shares need not communicate, and the order in which they
//! explore does not matter. In addition to its own executions, a share runs those that lead to a node of the frontier
//! of another share, because only such an execution shows how many alternatives the choices on its path have.
//!
//! A share is divided in the same way: each node of the frontier that belongs to it again has the whole interval, which
//! is divided into blocks for the shares within it. So their frontier is below that of the outer share, and the nodes
//! between the two frontiers are common to them.

use super::branching::Branching;
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::Partition;

/// The number of blocks for each share. With more blocks, shares are balanced better, but each runs more executions of
/// others.
const BLOCKS_PER_SHARE: u64 = 4;

/// The part of the interval that a node has: its length is 1 / `one_in`, and `begin` parts of that length come before
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locus {
    begin: u64,
    one_in: u64,
    /// The number of frontiers above the node. The interval is that of the node on the last of them.
    level: u8,
}

/// The share to which a prefix belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// To all shares: it is above the frontier. For a share within another one, to all shares within that one.
    ToAll,
    /// To this share.
    Here,
    /// To another share.
    Elsewhere,
}

impl Locus {
    /// The root, which has all of the interval.
    pub(crate) const ROOT: Locus = Locus {
        begin: 0,
        one_in: 1,
        level: 0,
    };

    /// Returns the part of the alternative `taken` of this many.
    pub(crate) fn below(self, taken: u32, alternatives: u32) -> Locus {
        let alternatives = u64::from(alternatives.max(1));
        match self.one_in.checked_mul(alternatives) {
            Some(one_in) => Locus {
                begin: self.begin * alternatives + u64::from(taken),
                one_in,
                ..self
            },
            // It is below the frontier in any case.
            None => self,
        }
    }

    /// Returns `true` if the node is on the frontier of its level or below it.
    pub(crate) fn is_beyond(self, partition: Partition) -> bool {
        self.one_in >= self.blocks(partition)
    }

    /// Returns the share to which the node belongs, and its part of the interval: all of it, if the node is on the
    /// frontier of a share that is divided further.
    pub(crate) fn settled(self, partition: Partition) -> (Belongs, Locus) {
        match self.is_beyond(partition) {
            true => self.dealt(partition, self.block(partition)),
            false => (Belongs::ToAll, self),
        }
    }

    /// Returns the share to which an execution belongs that ends at this node, which is above the frontier or on it.
    pub(crate) fn belongs_at_last(self, partition: Partition) -> Belongs {
        let mut locus = self;
        loop {
            match locus.dealt(partition, locus.block(partition)) {
                (Belongs::ToAll, within) => locus = within,
                (belongs, _) => return belongs,
            }
        }
    }

    /// Returns the share to which this block is assigned, and the part of the interval from which that share is divided
    /// further.
    fn dealt(self, partition: Partition, piece: u64) -> (Belongs, Locus) {
        if !partition.gets_at(self.level.into(), piece) {
            return (Belongs::Elsewhere, self);
        }
        let within = Locus {
            level: self.level + 1,
            ..Locus::ROOT
        };
        match partition.total_at(within.level.into()) {
            Some(_) => (Belongs::ToAll, within),
            None => (Belongs::Here, self),
        }
    }

    fn block(self, partition: Partition) -> u64 {
        let block = u128::from(self.begin) * u128::from(self.blocks(partition)) / u128::from(self.one_in);
        block as u64
    }

    fn blocks(self, partition: Partition) -> u64 {
        let total = partition.total_at(self.level.into());
        BLOCKS_PER_SHARE * u64::from(total.unwrap_or(1))
    }
}

/// Returns the share to which these first choices of an execution belong. With `all`, they are all its choices, and the
/// result is not [`Belongs::ToAll`].
///
/// In a search by rounds, only the choices that are free in a round divide the interval. A prefix above the frontier
/// that takes another alternative at a choice that is not free is work of a later round. There are many of these, so
/// they are assigned one by one, in the order in which they follow each other along an execution.
pub(super) fn belongs(
    partition: Partition,
    choices: &[Choice],
    all: bool,
    branching: &impl Branching,
) -> Belongs {
    let mut locus = Locus::ROOT;
    for (at, choice) in choices.iter().enumerate() {
        let (belongs, there) = if branching.is_free(choice) {
            locus.below(choice.taken, choice.alternatives).settled(partition)
        } else if choice.taken != 0 {
            locus.dealt(partition, at as u64 + u64::from(choice.taken) + locus.begin)
        } else {
            continue;
        };
        match belongs {
            Belongs::ToAll => locus = there,
            settled => return settled,
        }
    }
    match all {
        true => locus.belongs_at_last(partition),
        false => Belongs::ToAll,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_engine::schedule::ChoiceKind;
    use std::ops::Range;

    /// Choices that preempt are not free.
    struct Free;

    impl Branching for Free {
        fn is_free(&self, choice: &Choice) -> bool {
            !choice.preempts
        }

        fn aside(&self, _: &Choice, _: u32) -> Range<u32> {
            0..0
        }
    }

    /// Returns the choices of all executions of a tree. The choices have 2 to 4 alternatives, and some of them preempt.
    fn executions(depth: usize) -> Vec<Vec<Choice>> {
        let mut all = vec![Vec::new()];
        for at in 0..depth {
            let alternatives = 2 + (at as u32 * 7 + 1) % 3;
            let longer = |path: Vec<Choice>| {
                (0..alternatives).map(move |taken| {
                    let choice = Choice {
                        kind: ChoiceKind::Task,
                        preempts: at % 3 == 1,
                        alternatives,
                        taken,
                    };
                    [&path[..], &[choice]].concat()
                })
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    #[test]
    fn each_execution_belongs_to_one_share() {
        let of = |total: u32| (1..=total).map(move |number| Partition::new(number, total).unwrap());
        let mut covers: Vec<Vec<Partition>> = [1, 2, 3, 8, 100].map(|total| of(total).collect()).into();
        // Shares within shares: all outer shares are divided, or only some.
        let within = |outer: Partition, total: u32| {
            (1..=total).map(move |number| outer.within(number, total).unwrap())
        };
        covers.push(of(3).flat_map(|outer| within(outer, 4)).collect());
        covers.push(
            of(2)
                .flat_map(|outer| within(outer, 1 + outer.levels().next().unwrap().0))
                .flat_map(|outer| within(outer, 3))
                .collect(),
        );
        for path in executions(7) {
            for shares in &covers {
                let mine: Vec<Partition> = shares
                    .iter()
                    .copied()
                    .filter(|&share| belongs(share, &path, true, &Free) == Belongs::Here)
                    .collect();
                assert_eq!(mine.len(), 1, "{path:?} of {shares:?}");
                // What belongs to an inner share belongs to the outer one.
                if let Some(outer) = mine[0].outer() {
                    assert_eq!(belongs(outer, &path, true, &Free), Belongs::Here);
                }
                // The result for a prefix holds for everything below it.
                let prefixes = (0..path.len()).map(|length| belongs(mine[0], &path[..length], false, &Free));
                let said: Vec<Belongs> = prefixes.skip_while(|said| *said == Belongs::ToAll).collect();
                assert!(
                    said.iter().all(|said| *said == Belongs::Here),
                    "{path:?}: {said:?}"
                );
            }
        }
    }

    #[test]
    fn a_large_number_of_alternatives_is_divided() {
        let partition = Partition::new(2, 3).unwrap();
        let here = |taken| Locus::ROOT.below(taken, u32::MAX).settled(partition).0 == Belongs::Here;
        let mine = (0..1_200).filter(|part| here(u32::MAX / 1_200 * part)).count();
        assert!((390..=410).contains(&mine), "{mine} of 1200");
    }
}
