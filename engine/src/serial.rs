//! Values as JSON. Without the feature `files` they are neither written nor read, and attempts fail with an error that
//! names the feature.

#[cfg(not(feature = "files"))]
pub use off::{Deserialize, Serialize};
#[cfg(not(feature = "files"))]
pub use off::{DeserializeOwned, Off, from_str, to_string, to_string_pretty};
#[cfg(feature = "files")]
pub use serde::{Deserialize, Serialize, de::DeserializeOwned};
#[cfg(feature = "files")]
pub use serde_json::{from_str, to_string, to_string_pretty};

/// The reason why no files are written or read, for messages.
pub const NO_FILES: &str =
    "this build of intermezzo neither writes nor reads files of JSON: enable its feature `files`";

#[cfg(not(feature = "files"))]
mod off {
    use super::NO_FILES;
    use std::fmt;

    /// Derives that generate nothing: the attributes of types are the same with and without the feature.
    pub use intermezzo_macros::{Deserialize, Serialize};

    /// Implemented for every type, so that bounds hold.
    pub trait Serialize {}

    impl<T: ?Sized> Serialize for T {}

    /// Implemented for every type, so that bounds hold.
    pub trait Deserialize<'de> {}

    impl<T: ?Sized> Deserialize<'_> for T {}

    /// Implemented for every type, so that bounds hold.
    pub trait DeserializeOwned {}

    impl<T: ?Sized> DeserializeOwned for T {}

    /// The feature is off.
    #[derive(Clone, Copy, Debug)]
    pub struct Off;

    impl fmt::Display for Off {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(NO_FILES)
        }
    }

    impl std::error::Error for Off {}

    /// Reads nothing.
    ///
    /// # Errors
    /// Always.
    pub fn from_str<T>(_: &str) -> Result<T, Off> {
        Err(Off)
    }

    /// Writes nothing.
    ///
    /// # Errors
    /// Always.
    pub fn to_string<T: ?Sized>(_: &T) -> Result<String, Off> {
        Err(Off)
    }

    /// Writes nothing.
    ///
    /// # Errors
    /// Always.
    pub fn to_string_pretty<T: ?Sized>(_: &T) -> Result<String, Off> {
        Err(Off)
    }
}
