//! Implementations of std's traits that several look-alikes share, because no type has them in common.

/// Implements `Debug` for types that show nothing of themselves but their name, as std's do. Generics are declared in
/// brackets.
macro_rules! opaque {
    ($($([$($generic:tt)*])? $name:ident $(<$($argument:tt),*>)?;)*) => {$(
        impl $(<$($generic)*>)? std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

/// Implements `Debug` and `Display` for types that dereference to a value of the type `T`: as that value.
macro_rules! shown_as_value {
    ($($shown:ty),*) => {$(
        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $shown {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $shown {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

/// Implements `Default` and `From` for types around a value, which `new` takes.
macro_rules! around_value {
    ($($around:ident),*) => {$(
        impl<T: Default> Default for $around<T> {
            fn default() -> Self {
                $around::new(T::default())
            }
        }

        impl<T> From<T> for $around<T> {
            fn from(value: T) -> Self {
                $around::new(value)
            }
        }
    )*};
}

pub(crate) use {around_value, opaque, shown_as_value};
