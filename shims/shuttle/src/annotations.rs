//! `shuttle::annotations`: names of objects.

use crate::sync::Mutex;

/// An object that can be given a name. Names are ignored here: reports take them from the source.
pub trait WithName {
    /// Gives the object a name, and a kind.
    fn with_name_and_kind(self, name: Option<&str>, kind: Option<&str>) -> Self;

    /// Gives the object a name.
    fn with_name(self, name: &str) -> Self
    where
        Self: Sized,
    {
        self.with_name_and_kind(Some(name), None)
    }

    /// Gives the object a kind.
    fn with_kind(self, kind: &str) -> Self
    where
        Self: Sized,
    {
        self.with_name_and_kind(None, Some(kind))
    }
}

impl<T> WithName for Mutex<T> {
    fn with_name_and_kind(self, _: Option<&str>, _: Option<&str>) -> Self {
        self
    }
}

impl<T> WithName for &Mutex<T> {
    fn with_name_and_kind(self, _: Option<&str>, _: Option<&str>) -> Self {
        self
    }
}
