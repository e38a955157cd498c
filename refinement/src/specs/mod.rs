//! Specifications ready made, one object a file: its operations, and their sequential behaviour.

/// Implements `new` and `Default` for the specification of an object that holds values of any type.
macro_rules! of_any_values {
    ($object:ident<$($value:ident),*>) => {
        impl<$($value),*> $object<$($value),*> {
            /// Creates one that is empty at first, with room for everything.
            pub fn new() -> Self {
                $object(PhantomData)
            }
        }

        impl<$($value),*> Default for $object<$($value),*> {
            fn default() -> Self {
                $object::new()
            }
        }
    };
}

pub mod channel;
pub mod counter;
pub mod deque;
pub mod key_value;
pub mod map;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod semaphore;
pub mod set;
pub mod stack;
