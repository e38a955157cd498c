//! A search of which several processes explore a share each, without talking to each other.

use crate::schedule::Choice;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most shares of a search: more than there are machines in a cluster that runs tests.
const SHARES_MAX: u32 = 4096;

/// One of the shares into which a search is divided: the third of eight is `3/8`.
///
/// ```
/// use intermezzo_engine::strategy::Partition;
///
/// let third: Partition = "3/8".parse().unwrap();
/// assert_eq!((third.number(), third.total(), third.to_string()), (3, 8, "3/8".to_owned()));
/// assert!("9/8".parse::<Partition>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    number: u32,
    total: u32,
}

impl Partition {
    /// Returns the share with this number, from 1, of `total`.
    ///
    /// # Errors
    /// There is no such share. The text says what would be right.
    pub fn new(number: u32, total: u32) -> Result<Partition, String> {
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
        Ok(Partition { number, total })
    }

    /// Returns the number of the share, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of shares.
    pub fn total(self) -> u32 {
        self.total
    }

    /// Returns `true` if pieces are dealt to this share among others, and it gets the piece with this number, from 0.
    ///
    /// Each round begins one share later, because pieces at the beginning of a round tend to be larger.
    pub fn gets(self, piece: u64) -> bool {
        let total = u64::from(self.total);
        (piece + piece / total) % total == u64::from(self.number - 1)
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.total)
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Partition, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(number, total)| Some((number.parse().ok()?, total.parse().ok()?)));
        match numbers {
            Some((number, total)) => Partition::new(number, total),
            None => Err(format!(
                "`{text}` is no share: give one as in `3/8`, the third of eight"
            )),
        }
    }
}

impl TryFrom<String> for Partition {
    type Error = String;

    fn try_from(text: String) -> Result<Partition, String> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> String {
        partition.to_string()
    }
}

/// A search of which several processes explore a share each.
///
/// All shares together run what one search would run. The division is a function of the executions themselves, so the
/// processes need not talk. To find the boundaries of its share, a search may have to run executions that belong to
/// another one. These do not count.
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
        for text in ["1/1", "3/8", "4096/4096"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        for (text, says) in [
            ("", "no share"),
            ("3", "no share"),
            ("3/", "no share"),
            ("-1/2", "no share"),
            ("0/2", "from 1 to 2"),
            ("3/2", "from 1 to 2"),
            ("1/0", "from 1 to 4096"),
            ("1/4097", "from 1 to 4096"),
        ] {
            let problem = text.parse::<Partition>().unwrap_err();
            assert!(problem.contains(says), "{text}: {problem}");
        }
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
