//! Labels of tasks: values, one of each type.

use crate::task_id::TaskId;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A value that can be cloned without knowing its type.
trait Value: Any {
    fn boxed(&self) -> Box<dyn Value>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Clone + 'static> Value for T {
    fn boxed(&self) -> Box<dyn Value> {
        Box::new(self.clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Values, one of each type.
#[derive(Default)]
pub struct Labels(HashMap<TypeId, Box<dyn Value>>);

impl Labels {
    /// Returns no values.
    pub fn new() -> Labels {
        Labels::default()
    }

    /// Sets the value of a type, and returns the one before.
    pub fn insert<T: Clone + 'static>(&mut self, value: T) -> Option<T> {
        let before = self.0.insert(TypeId::of::<T>(), Box::new(value))?;
        before.into_any().downcast().ok().map(|before| *before)
    }

    /// Returns the value of a type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        (**self.0.get(&TypeId::of::<T>())?).as_any().downcast_ref()
    }

    /// Returns the value of a type.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        (**self.0.get_mut(&TypeId::of::<T>())?)
            .as_any_mut()
            .downcast_mut()
    }

    /// Returns the value of a type; set to this one if there is none.
    pub fn get_or_insert<T: Clone + 'static>(&mut self, value: T) -> &mut T {
        self.get_or_insert_with(|| value)
    }

    /// Returns the value of a type; made now if there is none.
    pub fn get_or_insert_with<T: Clone + 'static, F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
        let value = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(f()));
        (**value)
            .as_any_mut()
            .downcast_mut()
            .expect("it is kept by its type")
    }

    /// Returns the value of a type; its default if there is none.
    pub fn get_or_insert_default<T: Default + Clone + 'static>(&mut self) -> &mut T {
        self.get_or_insert_with(T::default)
    }

    /// Takes the value of a type away.
    pub fn remove<T: 'static>(&mut self) -> Option<T> {
        let before = self.0.remove(&TypeId::of::<T>())?;
        before.into_any().downcast().ok().map(|before| *before)
    }

    /// Takes all values away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns `true` if there is no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds the values of others, in place of those of the same types.
    pub fn extend(&mut self, other: Labels) {
        self.0.extend(other.0);
    }
}

impl Clone for Labels {
    fn clone(&self) -> Labels {
        Labels(
            self.0
                .iter()
                .map(|(&kind, value)| (kind, (**value).boxed()))
                .collect(),
        )
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Labels").finish_non_exhaustive()
    }
}

/// A label: the name of a task.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskName(String);

impl From<String> for TaskName {
    fn from(name: String) -> TaskName {
        TaskName(name)
    }
}

impl From<&str> for TaskName {
    fn from(name: &str) -> TaskName {
        TaskName(name.to_owned())
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> String {
        name.0
    }
}

impl<'a> From<&'a TaskName> for &'a String {
    fn from(name: &'a TaskName) -> &'a String {
        &name.0
    }
}

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A label: a function that changes the labels of each task that the labelled one creates.
#[derive(Clone)]
#[allow(clippy::type_complexity, reason = "it is shuttle's")]
pub struct ChildLabelFn(pub Arc<dyn Fn(TaskId, &mut Labels) + 'static>);

impl fmt::Debug for ChildLabelFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChildLabelFn")
    }
}
