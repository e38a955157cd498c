//! The standard with which an object is compared, as the description's type.

use super::{Itself, Spec};
use crate::verify::Subject;
use std::hash::Hash;

/// The standard with which an object is compared. It can be implemented only here.
pub trait Against {
    /// Sets it in the subject.
    #[track_caller]
    fn settle<T>(self, subject: &mut SubjectOf<'_, T>);
}

/// The subject, which is private.
pub struct SubjectOf<'a, T>(pub(super) &'a mut Subject<T>);

impl Against for Itself {
    fn settle<T>(self, subject: &mut SubjectOf<'_, T>) {
        subject.0.refuse_late();
    }
}

impl<M: Clone + Eq + Hash + Send + Sync + 'static> Against for Spec<M> {
    fn settle<T>(self, subject: &mut SubjectOf<'_, T>) {
        subject.0.compare_with(self.meanings, self.some_wait);
    }
}
