//! Names that a test gives its objects.

use intermezzo_engine::runtime::{Body, Engine, Identity, Object};

/// Gives an object a name in this execution, which failures, pages, JSON and monitors show instead of the one that they
/// find in the source. Does nothing outside an exploration.
///
/// Of an `Arc` the value gets the name, and the counts with it. An end of a channel names the channel. A name changes
/// nothing of the search. The last name that an object was given counts.
///
/// ```
/// use intermezzo_explorer::sync::{Arc, atomic::{AtomicUsize, Ordering::SeqCst}};
/// use intermezzo_explorer::{Explorer, name};
///
/// let report = Explorer::new().explore(|| {
///     let counters: Vec<Arc<AtomicUsize>> = (0..2).map(|_| Arc::new(AtomicUsize::new(0))).collect();
///     name(&counters[0], "hits");
///     name(&counters[1], "misses");
///     assert_eq!(counters[1].load(SeqCst), 1);
/// });
/// assert!(report.findings()[0].names.values().any(|name| name == "misses"));
/// ```
pub fn name<T: Nameable + ?Sized>(object: &T, name: &str) {
    if Engine::current().is_some() {
        object.give_name(name);
    }
}

/// An object that [`name`] can give a name: a look-alike of std, a reference to one, or a type of your own that names
/// the objects in it.
///
/// ```
/// use intermezzo_explorer::sync::atomic::AtomicUsize;
/// use intermezzo_explorer::{Nameable, name};
///
/// struct Slot {
///     sequence: AtomicUsize,
/// }
///
/// impl Nameable for Slot {
///     fn give_name(&self, given: &str) {
///         name(&self.sequence, &format!("{given}.sequence"));
///     }
/// }
/// ```
pub trait Nameable {
    /// Gives the object, or the objects in it, this name. Called inside explorations only. By default it names nothing;
    /// an `Arc` of such a type still gives its counts the name.
    fn give_name(&self, name: &str) {
        let _ = name;
    }
}

/// A look-alike's variable.
impl<B: Body + ?Sized, I: Identity> Nameable for Object<B, I> {
    fn give_name(&self, name: &str) {
        if let Some(engine) = Engine::current() {
            self.name(engine, name);
        }
    }
}

/// Implements [`Nameable`] for types that are named by a part of theirs. Generics are declared in brackets.
macro_rules! named_by {
    ($([$($generic:tt)*] $named:ty: $($part:tt).+;)*) => {$(
        impl<$($generic)*> $crate::Nameable for $named {
            fn give_name(&self, name: &str) {
                $crate::Nameable::give_name(&self.$($part).+, name);
            }
        }
    )*};
}

pub(crate) use named_by;

/// Implements [`Nameable`] for pointers, which name what they point to.
macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: Nameable + ?Sized> Nameable for $pointer {
            fn give_name(&self, name: &str) {
                (**self).give_name(name);
            }
        }
    )*};
}

// The `Arc` of code that was not written for intermezzo is one of them, because its counts are no variable.
pointers!(&T, &mut T, Box<T>, std::rc::Rc<T>, std::sync::Arc<T>);
