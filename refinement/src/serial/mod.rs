//! One operation at a time: the order of a history's operations that explains their results, and the point where each
//! order fails.
//!
//! An [`OneByOne`] knows the outcome of an operation after others: observations of the object, a model, or the object
//! itself, which is then run (`oracle.rs`).

pub(crate) mod oracle;
pub(crate) mod search;

use crate::history::Outcome;
use crate::observations::Observations;
use crate::run::record::TextId;
use crate::scenario::Place;

/// The reason why the outcome of an operation is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(pub(crate) String);

/// The behaviour of operations one at a time.
pub(crate) trait OneByOne {
    /// Returns the possible outcomes of an operation after these, with these results, in this order. `ahead` has the
    /// operations that are likely to be asked for after it.
    fn outcomes(
        &mut self,
        before: &[(Place, TextId)],
        next: Place,
        ahead: &[Place],
    ) -> Result<Vec<Outcome>, Unknown>;
}

/// Asks another, at most a number of times.
pub(crate) struct Within<'a> {
    pub(crate) by: &'a mut dyn OneByOne,
    /// The number of questions left.
    pub(crate) left: usize,
}

impl OneByOne for Within<'_> {
    fn outcomes(
        &mut self,
        before: &[(Place, TextId)],
        next: Place,
        ahead: &[Place],
    ) -> Result<Vec<Outcome>, Unknown> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return Err(Unknown("there are too many orders".into())),
        }
        self.by.outcomes(before, next, ahead)
    }
}

/// The observations, where every order was observed.
impl OneByOne for &Observations {
    fn outcomes(
        &mut self,
        before: &[(Place, TextId)],
        next: Place,
        _: &[Place],
    ) -> Result<Vec<Outcome>, Unknown> {
        match self.after(before, next) {
            Some(outcome) => Ok(vec![outcome]),
            None => Err(Unknown("it was not observed".into())),
        }
    }
}
