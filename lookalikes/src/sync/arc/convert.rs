//! Conversions from and to `Arc` and `Weak`: std's traits.

use super::{Arc, Weak};
use crate::traits::shown_as_value;
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Unpin for Arc<T> {}

shown_as_value!(Arc<T>);

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Arc::as_ptr(self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized + Error> Error for Arc<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T> Default for Arc<[T]> {
    #[track_caller]
    fn default() -> Self {
        Arc::from_std(std::sync::Arc::default())
    }
}

impl Default for Arc<str> {
    #[track_caller]
    fn default() -> Self {
        Arc::from_std(std::sync::Arc::default())
    }
}

impl Default for Arc<CStr> {
    #[track_caller]
    fn default() -> Self {
        Arc::from_std(std::sync::Arc::default())
    }
}

impl<T> Default for Weak<T> {
    #[track_caller]
    fn default() -> Self {
        Weak::new()
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Self {
        Arc::from_std(std::sync::Arc::from(value))
    }
}

/// Types that std makes an `Arc` from: the generics, the source and the target.
macro_rules! from {
    ($([$($generic:tt)*] $source:ty => $target:ty;)*) => {$(
        impl<$($generic)*> From<$source> for Arc<$target> {
            #[track_caller]
            fn from(value: $source) -> Self {
                Arc::from_std(std::sync::Arc::from(value))
            }
        }
    )*};
}

from! {
    [T: Clone] &[T] => [T];
    [T: Clone] &mut [T] => [T];
    [T] Vec<T> => [T];
    [T, const N: usize] [T; N] => [T];
    [] &str => str;
    [] &mut str => str;
    [] String => str;
    [] &CStr => CStr;
    [] CString => CStr;
    [] &OsStr => OsStr;
    [] OsString => OsStr;
    [] &Path => Path;
    [] PathBuf => Path;
}

impl<'a, B: ?Sized + ToOwned> From<Cow<'a, B>> for Arc<B>
where
    Arc<B>: From<&'a B> + From<B::Owned>,
{
    #[track_caller]
    fn from(value: Cow<'a, B>) -> Self {
        match value {
            Cow::Borrowed(value) => Arc::from(value),
            Cow::Owned(value) => Arc::from(value),
        }
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(value: Arc<str>) -> Self {
        value.map(std::sync::Arc::from)
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;
    fn try_from(value: Arc<[T]>) -> Result<Self, Self::Error> {
        let Arc { share, inner } = value;
        match <std::sync::Arc<[T; N]>>::try_from(inner) {
            Ok(inner) => Ok(Arc { share, inner }),
            Err(inner) => Err(Arc { share, inner }),
        }
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Arc::from_std(values.into_iter().collect())
    }
}
