//! A search that is divided among processes, each of which explores a share without communicating with the others.

use crate::schedule::Choice;
use crate::serial::Deserialize;
#[cfg(feature = "files")]
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The maximum number of shares of a search: more than a cluster that runs tests has machines.
const SHARES_MAX: u32 = 4096;

/// The maximum number of nested divisions. Each has at least two shares, so more are not needed.
const LEVELS_MAX: usize = 12;

/// One of the shares into which a search is divided: the third of eight is `3/8`.
///
/// A share can be divided like a search. The first quarter of that share is `3/8.1/4`.
///
/// ```
/// use intermezzo_engine::strategy::Partition;
///
/// let third: Partition = "3/8".parse().unwrap();
/// assert_eq!(third, Partition::new(3, 8).unwrap());
/// let quarter = third.within(1, 4).unwrap();
/// assert_eq!((quarter.to_string(), quarter.outer()), ("3/8.1/4".to_owned(), Some(third)));
/// assert!("9/8".parse::<Partition>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Partition {
    /// The divisions, outermost first. Unused ones are all zero, so that equal partitions compare equal.
    levels: [Level; LEVELS_MAX],
    depth: u8,
}

/// The number of a share, from 1, in one division, and the number of its shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Level {
    number: u16,
    total: u16,
}

impl Partition {
    /// Returns the share with this number, from 1, of `total`.
    ///
    /// # Errors
    /// If there is no such share. The text says what would be valid.
    pub fn new(number: u32, total: u32) -> Result<Partition, String> {
        let none = Partition {
            levels: [Level::default(); LEVELS_MAX],
            depth: 0,
        };
        none.within(number, total)
    }

    /// Returns the share with this number, from 1, of the `total` into which this share is divided.
    ///
    /// # Errors
    /// If there is no such share, or this one cannot be divided any more. The text says what would be valid.
    pub fn within(mut self, number: u32, total: u32) -> Result<Partition, String> {
        if total == 0 || total > SHARES_MAX {
            return Err(format!(
                "a search has from 1 to {SHARES_MAX} shares, and not {total}"
            ));
        }
        if number == 0 || number > total {
            return Err(format!(
                "there is no share {number} of {total}: they are numbered from 1 to {total}"
            ));
        }
        let Some(level) = self.levels.get_mut(usize::from(self.depth)) else {
            return Err(format!("a share is divided at most {LEVELS_MAX} times"));
        };
        *level = Level {
            number: number as u16,
            total: total as u16,
        };
        self.depth += 1;
        Ok(self)
    }

    /// Returns the share that this one is a part of; `None` if that is the whole search.
    pub fn outer(mut self) -> Option<Partition> {
        self.depth = self.depth.checked_sub(1).filter(|&depth| depth > 0)?;
        self.levels[usize::from(self.depth)] = Level::default();
        Some(self)
    }

    /// Returns the number of the share, from 1, and the number of shares in each division, the outermost first.
    pub fn levels(&self) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let levels = self.levels[..usize::from(self.depth)].iter();
        levels.map(|level| (u32::from(level.number), u32::from(level.total)))
    }

    /// Returns the number of shares in the division with this number, from 0; `None` if there is none.
    pub fn total_at(&self, level: usize) -> Option<u32> {
        let level = self.levels[..usize::from(self.depth)].get(level)?;
        Some(u32::from(level.total))
    }

    /// Returns `true` if the piece with this number, from 0, belongs to this share in the division with this number.
    /// Pieces are dealt to the shares of a division in turn. A division that does not exist has one share.
    ///
    /// Each round of dealing begins one share later, because pieces at the beginning of a round tend to be larger.
    pub fn gets_at(&self, level: usize, piece: u64) -> bool {
        let Some(level) = self.levels[..usize::from(self.depth)].get(level) else {
            return true;
        };
        let total = u64::from(level.total);
        (piece + piece / total) % total == u64::from(level.number - 1)
    }

    /// Returns `true` if the piece with this number, from 0, belongs to this share in all its divisions.
    ///
    /// The pieces of a share are dealt to its own shares, in order.
    pub fn gets(&self, mut piece: u64) -> bool {
        (0..usize::from(self.depth)).all(|level| {
            let gets = self.gets_at(level, piece);
            // Each round has one piece for each share.
            piece /= u64::from(self.levels[level].total);
            gets
        })
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (number, total)) in self.levels().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            write!(f, "{dot}{number}/{total}")?;
        }
        Ok(())
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Partition, String> {
        let none = || {
            format!(
                "`{text}` is not a share: give one as in `3/8`, the third of eight, or `3/8.1/4`, the first quarter of that"
            )
        };
        let mut share: Option<Partition> = None;
        for level in text.split('.') {
            let (number, total) = level.split_once('/').ok_or_else(none)?;
            let (Ok(number), Ok(total)) = (number.parse(), total.parse()) else {
                return Err(none());
            };
            share = Some(match share {
                None => Partition::new(number, total)?,
                Some(outer) => outer.within(number, total)?,
            });
        }
        share.ok_or_else(none)
    }
}

impl TryFrom<String> for Partition {
    type Error = String;

    fn try_from(text: String) -> Result<Partition, String> {
        text.parse()
    }
}

#[cfg(feature = "files")]
impl Serialize for Partition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A search of which each of several processes explores a share.
///
/// All shares together run the executions that one search would run. The division is a function of the executions
/// themselves, so the processes need not communicate. To find the boundaries of its share, a search may have to run
/// executions that belong to another one. These do not count.
pub trait Partitioned {
    /// Restricts the search to this share. Called before the first `next`.
    fn keep_to(&mut self, partition: Partition);

    /// Returns `true` if every execution whose first choices are these belongs to the share.
    fn is_here(&mut self, choices: &[Choice]) -> bool;

    /// Returns `true` if the execution that has just ended, with these choices, belongs to another share.
    fn is_elsewhere(&mut self, choices: &[Choice]) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_they_are_shown() {
        for text in ["1/1", "3/8", "4096/4096", "3/8.1/4", "1/2.2/2.4096/4096"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        for (text, says) in [
            ("", "not a share"),
            ("3", "not a share"),
            ("3/", "not a share"),
            ("-1/2", "not a share"),
            ("0/2", "from 1 to 2"),
            ("3/2", "from 1 to 2"),
            ("1/0", "from 1 to 4096"),
            ("1/4097", "from 1 to 4096"),
            ("3/8.", "not a share"),
            (".3/8", "not a share"),
            ("3/8.5/4", "from 1 to 4"),
            (&["1/2"; 13].join("."), "at most 12 times"),
        ] {
            let problem = text.parse::<Partition>().unwrap_err();
            assert!(problem.contains(says), "{text}: {problem}");
        }
    }

    #[test]
    fn the_pieces_of_a_share_are_dealt_to_its_own_shares() {
        let outer = Partition::new(2, 3).unwrap();
        let own: Vec<u64> = (0..72).filter(|&piece| outer.gets(piece)).collect();
        let of = |number| {
            let inner = outer.within(number, 4).unwrap();
            assert_eq!(inner.outer(), Some(outer));
            (0..72).filter(move |&piece| inner.gets(piece))
        };
        let mut all: Vec<u64> = (1..=4).flat_map(of).collect();
        assert!((1..=4).all(|number| of(number).count() == own.len() / 4));
        all.sort_unstable();
        assert_eq!(all, own);
    }

    #[test]
    fn each_piece_is_dealt_to_one_share() {
        for total in [1, 2, 3, 8] {
            let shares: Vec<Partition> = (1..=total)
                .map(|number| Partition::new(number, total).unwrap())
                .collect();
            for round in 0..5 {
                let mut pieces = vec![0; total as usize];
                for piece in round * u64::from(total)..(round + 1) * u64::from(total) {
                    let got: Vec<usize> = (0..shares.len())
                        .filter(|&share| shares[share].gets(piece))
                        .collect();
                    assert_eq!(got.len(), 1);
                    pieces[got[0]] += 1;
                }
                assert!(
                    pieces.iter().all(|&pieces| pieces == 1),
                    "{total} shares: {pieces:?}"
                );
            }
        }
    }
}
