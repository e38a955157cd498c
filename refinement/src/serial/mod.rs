//! One operation at a time: which order of a history's operations explains what they returned, and where each order fails.
//!
//! What becomes of an operation after others is asked of an [`OneByOne`]: what was observed of the object, a model, or the
//! object itself, which is run then (`oracle.rs`).

pub(crate) mod oracle;
pub(crate) mod search;

use crate::observations::{Observations, Outcome};
use crate::run::record::TextId;
use crate::scenario::Place;

/// Why it is not known what becomes of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(pub(crate) String);

/// What operations do one at a time.
pub(crate) trait OneByOne {
    /// What may become of an operation after these, which returned this, in this order. What is likely to be asked next comes
    /// after it in `ahead`.
    fn outcomes(
        &mut self,
        before: &[(Place, TextId)],
        next: Place,
        ahead: &[Place],
    ) -> Result<Vec<Outcome>, Unknown>;
}

/// Asks another, and not too often.
pub(crate) struct Within<'a> {
    pub(crate) by: &'a mut dyn OneByOne,
    /// How often it may be asked.
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

/// What was observed, where every order was.
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
