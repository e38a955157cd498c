//! Places in the code.
//!
//! An operation carries its place as one word. The file, the line and the column are looked up only when a text names
//! the place.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZero;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A place in the code: a place in the source that the compiler noted, or the address of an instruction.
///
/// Two sites are equal if they are the same place of the source, or the same address. The compiler may note one place
/// several times, so [`Site::is_same_word`] is faster and may be `false` for equal sites.
///
/// ```
/// use intermezzo_engine::site::Site;
///
/// let here = Site::caller();
/// assert_eq!(here.place().line, line!() - 1);
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Site(NonNull<Location<'static>>);

// SAFETY: it is an address, or a reference to something that never changes.
unsafe impl Send for Site {}
// SAFETY: as above.
unsafe impl Sync for Site {}

/// The bit that distinguishes an address from a reference.
const IS_ADDRESS: usize = 1;

/// A place in the source, for texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The path of the source file that was passed to the compiler.
    pub file: &'static str,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

/// A function that finds the place in the source of an instruction.
type Lookup = fn(usize) -> Option<Place>;

static LOOKUP: OnceLock<Lookup> = OnceLock::new();

/// Sets the function by which this process finds the places of instructions. A front end whose sites are addresses
/// calls this once, before its first execution; later calls have no effect.
pub fn look_up_addresses_by(lookup: Lookup) {
    _ = LOOKUP.set(lookup);
}

impl Site {
    /// Two places that the compiler noted are at least this far apart as words.
    pub(crate) const APART: usize = align_of::<Location<'static>>();

    /// That of an operation whose place is not known.
    pub const NOWHERE: Site = Site::instruction(0);

    /// Returns the place of the caller, or of the caller's caller if that is `#[track_caller]`, and so on.
    #[inline(always)]
    #[track_caller]
    pub const fn caller() -> Site {
        Site(NonNull::from_ref(Location::caller()))
    }

    /// Returns the site of the instruction at this address, which must be in the lower half of all addresses.
    pub const fn instruction(address: usize) -> Site {
        let word = NonZero::new(address << 1 | IS_ADDRESS).expect("a bit is set");
        Site(NonNull::without_provenance(word))
    }

    /// Returns `true` if both are the same word. Then they are equal; otherwise they may still be equal.
    #[inline(always)]
    pub fn is_same_word(self, other: Site) -> bool {
        self.0 == other.0
    }

    /// Returns the word, for a table of sites.
    #[inline(always)]
    pub fn word(self) -> usize {
        self.0.addr().get()
    }

    /// Returns this place if it is in the test's code or a library's; `other` if it is in std's. A place in code of std
    /// that calls an operation for the test, such as `collect`, does not help a reader of a report.
    #[inline(never)]
    pub fn unless_in_std(self, other: Site) -> Site {
        /// The word of the last place that was asked about, with this bit set if it is in std.
        static LAST: AtomicUsize = AtomicUsize::new(0);
        const IN_STD: usize = IS_ADDRESS;
        let Some(at) = self.noted() else { return self };
        let in_std = match LAST.load(Relaxed) {
            last if last & !IN_STD == self.word() => last & IN_STD != 0,
            _ => {
                // The compiler names sources of std by absolute paths, and usually those of the test by relative ones.
                let in_std = at.file().starts_with('/') && is_of_std(at.file());
                LAST.store(self.word() | if in_std { IN_STD } else { 0 }, Relaxed);
                in_std
            }
        };
        if in_std { other } else { self }
    }

    /// Returns the place that the compiler noted, unless it is an instruction.
    fn noted(self) -> Option<&'static Location<'static>> {
        const { assert!(align_of::<Location<'static>>() > IS_ADDRESS) };
        if self.word() & IS_ADDRESS != 0 {
            return None;
        }
        // SAFETY: it was made from a reference, whose address is even.
        Some(unsafe { self.0.as_ref() })
    }

    /// Returns the place in the source. For an instruction whose place is not found, the file is `?`.
    pub fn place(self) -> Place {
        match self.noted() {
            Some(at) => Place {
                file: at.file(),
                line: at.line(),
                column: at.column(),
            },
            None => LOOKUP
                .get()
                .and_then(|lookup| lookup(self.word() >> 1))
                .unwrap_or(Place {
                    file: "?",
                    line: 0,
                    column: 0,
                }),
        }
    }
}

/// Returns `true` if this is a source of std, or of a crate that std is built from: by its path where std was built, or
/// in the toolchain's own copy.
pub(crate) fn is_of_std(path: &str) -> bool {
    let built = path.starts_with("/rustc/") && path.contains("/library/");
    built || path.starts_with("/rust/deps/") || path.contains("/lib/rustlib/src/rust/library/")
}

impl PartialEq for Site {
    fn eq(&self, other: &Site) -> bool {
        self.is_same_word(*other)
            || match (self.noted(), other.noted()) {
                (Some(one), Some(other)) => one == other,
                _ => false,
            }
    }
}

impl Eq for Site {}

impl Hash for Site {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.noted() {
            Some(at) => at.hash(state),
            None => self.word().hash(state),
        }
    }
}

impl From<&'static Location<'static>> for Site {
    #[inline(always)]
    fn from(location: &'static Location<'static>) -> Site {
        Site(NonNull::from_ref(location))
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place().fmt(f)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place().fmt(f)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_site_is_one_word_and_so_is_a_missing_one() {
        assert_eq!(size_of::<Site>(), size_of::<usize>());
        assert_eq!(size_of::<Option<Site>>(), size_of::<usize>());
    }

    #[test]
    fn places_of_the_source_are_equal_by_what_they_say() {
        let [one, same] = [0, 1].map(|_| Site::caller());
        let copy = Site::from(&*Box::leak(Box::new(*one.noted().unwrap())));
        assert!(one.is_same_word(same) && !one.is_same_word(copy));
        assert_eq!((one, one.to_string()), (copy, copy.to_string()));
        let other = Site::caller();
        assert_ne!(one, other);
        assert_eq!(HashSet::from([one, same, copy, other]).len(), 2);
        let place = other.place();
        assert_eq!((place.line, place.column), (line!() - 4, 21));
        assert!(place.file.ends_with("site.rs"), "{place}");
    }

    #[test]
    fn std_is_no_place_of_the_test() {
        for path in [
            "/rustc/0a1b/library/core/src/iter/traits/iterator.rs",
            "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs",
        ] {
            assert!(is_of_std(path), "{path}");
        }
        assert!(!is_of_std("/home/me/rust/library/src/lib.rs") && !is_of_std(file!()));
        let (here, begun) = (Site::caller(), Site::caller());
        assert!(here.unless_in_std(begun).is_same_word(here));
        let inside: Vec<Site> = Callers(1).collect();
        assert_ne!(inside, [here]);
        assert!(inside[0].unless_in_std(begun).is_same_word(begun), "{inside:?}");
    }

    /// The places from which it is asked for the next one.
    struct Callers(u32);

    impl Iterator for Callers {
        type Item = Site;
        #[track_caller]
        fn next(&mut self) -> Option<Site> {
            self.0 = self.0.checked_sub(1)?;
            Some(Site::caller())
        }
    }

    #[test]
    fn instructions_are_looked_up() {
        let lookup = |address: usize| {
            (address < 10).then_some(Place {
                file: "a.rs",
                line: address as u32,
                column: 1,
            })
        };
        look_up_addresses_by(lookup);
        let [one, same, other] = [7, 7, 12].map(Site::instruction);
        assert_eq!((one, one.to_string().as_str()), (same, "a.rs:7:1"));
        assert_ne!(one, other);
        assert_eq!(other.to_string(), "?:0:0");
        assert_ne!(one, Site::caller());
        assert_eq!(HashSet::from([one, same, other]).len(), 2);
    }
}
