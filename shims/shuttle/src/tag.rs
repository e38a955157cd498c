//! Tags of tasks, which labels have replaced.

use std::any::Any;
use std::fmt::Debug;

/// A tag of a task.
#[deprecated]
#[allow(deprecated, reason = "shuttle still has it")]
pub trait Tag: Taggable {
    /// Returns the tag, to be turned into its own type.
    fn as_any(&self) -> &dyn Any;
}

/// A type whose values may be tags.
#[deprecated]
pub trait Taggable: Debug {}

#[allow(deprecated, reason = "shuttle still has it")]
impl<T: Taggable + Any> Tag for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
