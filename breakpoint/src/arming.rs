//! Armed breakpoints: the text of `INTERMEZZO_BREAKPOINTS`.
//!
//! Entries with commas between. Each is a name, or a pair of places in the source, and its refinements:
//! `lost-update`, `swap limit=500ms skip=7200 hits=1`, `src/a.rs:10:5 before src/b.rs:20:9`, `deadlock src/a.rs:10:5
//! src/b.rs:20:9`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An armed breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arming {
    /// The breakpoint.
    pub place: Where,
    /// The refinements; they win over those in the code.
    pub refined: Refinements,
}

/// The kinds of armed breakpoints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Where {
    /// The places in the code that have this name.
    Named(String),
    /// Two operations on one variable, of which the first must come first: only inside an exploration.
    Before {
        /// The place of the first.
        first: Spot,
        /// The place of the second.
        second: Spot,
    },
    /// Acquisitions of locks in a circle: only inside an exploration.
    Deadlock(
        /// Their places.
        Vec<Spot>,
    ),
}

/// A place in the source: a file, by the end of its path, a line, and a column if it matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    /// The source file, by its path or the end of it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; `None` for any.
    pub column: Option<u32>,
}

/// The refinements of a breakpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Refinements {
    /// The number of visits that pass first, of each side.
    pub skip: Option<u64>,
    /// The same for the second side alone, if it differs.
    pub skip_second: Option<u64>,
    /// The maximum number of hits.
    pub hits: Option<u64>,
    /// The time for which a task waits for its partner.
    pub limit: Option<Duration>,
    /// The time for which the second waits for a first whose step has no marked end.
    pub lead: Option<Duration>,
}

/// The error of an invalid list of armed breakpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmError {
    /// The invalid entry.
    pub entry: String,
    /// The problem, and how to fix it.
    pub problem: String,
}

impl fmt::Display for ArmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "breakpoint `{}`: {}", self.entry, self.problem)
    }
}

impl std::error::Error for ArmError {}

/// Armed breakpoints, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Armings(
    /// The entries.
    pub Vec<Arming>,
);

impl Armings {
    /// Returns the error of the first entry by places in the source, if there is one: real time has no part in it.
    ///
    /// # Errors
    /// As said.
    pub(crate) fn check_for_real_time(&self) -> Result<(), ArmError> {
        let by_places = |arming: &&Arming| !matches!(arming.place, Where::Named(_));
        self.0.iter().find(by_places).map_or(Ok(()), |arming| {
            Err(ArmError {
                entry: arming.to_string(),
                problem: "only explorations have breakpoints by places in the source, and no task waits there in real time: \
                          write a breakpoint with a name at these places, and give its name"
                    .into(),
            })
        })
    }

    /// Returns the places in the source that are armed.
    pub fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.0.iter().flat_map(|arming| match &arming.place {
            Where::Named(_) => Vec::new(),
            Where::Before { first, second } => vec![first, second],
            Where::Deadlock(spots) => spots.iter().collect(),
        })
    }
}

impl FromStr for Armings {
    type Err = ArmError;

    /// Reads a list with commas between; an empty text, and `none`, is the empty one.
    fn from_str(text: &str) -> Result<Armings, ArmError> {
        let entries = text.split(',').map(str::trim);
        let entries = entries.filter(|entry| !entry.is_empty() && *entry != "none");
        entries.map(str::parse).collect::<Result<_, _>>().map(Armings)
    }
}

impl FromStr for Arming {
    type Err = ArmError;

    fn from_str(entry: &str) -> Result<Arming, ArmError> {
        parse(entry).map_err(|problem| ArmError {
            entry: entry.to_owned(),
            problem,
        })
    }
}

fn parse(entry: &str) -> Result<Arming, String> {
    let words: Vec<&str> = entry.split_whitespace().collect();
    let refining = words.iter().position(|word| word.contains('='));
    let (what, how) = words.split_at(refining.unwrap_or(words.len()));
    let place = match *what {
        [first, "before", second] => Where::Before {
            first: spot(first)?,
            second: spot(second)?,
        },
        ["deadlock", ref spots @ ..] if !spots.is_empty() => {
            Where::Deadlock(spots.iter().copied().map(spot).collect::<Result<_, _>>()?)
        }
        [name] if !name.contains(".rs:") => Where::Named(name.to_owned()),
        _ => {
            return Err(
                "it is neither a name nor places: give a name, `a.rs:10:5 before b.rs:20:9`, or `deadlock \
                 a.rs:10:5 b.rs:20:9`, and then what refines it, as in `limit=500ms`"
                    .into(),
            );
        }
    };
    let mut refined = Refinements::default();
    for word in how {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("`{word}` refines nothing: give `key=value`, as in `skip=3`"))?;
        match key {
            "skip" => match value.split_once('/') {
                None => refined.skip = Some(number(value)?),
                Some((first, second)) => {
                    refined.skip = Some(number(first)?);
                    refined.skip_second = Some(number(second)?);
                }
            },
            "hits" => refined.hits = Some(number(value)?),
            "limit" => refined.limit = Some(duration(value)?),
            "lead" => refined.lead = Some(duration(value)?),
            _ => {
                return Err(format!(
                    "nothing is called `{key}`: there are `skip`, `hits`, `limit` and `lead`"
                ));
            }
        }
    }
    Ok(Arming { place, refined })
}

fn spot(text: &str) -> Result<Spot, String> {
    let parsed = || {
        let (file, rest) = text.split_once(".rs:")?;
        let (line, column) = match rest.split_once(':') {
            None => (rest, None),
            Some((line, column)) => (line, Some(column.parse().ok()?)),
        };
        let file = format!("{}.rs", file.trim_start_matches("./"));
        Some(Spot {
            file,
            line: line.parse().ok()?,
            column,
        })
    };
    parsed().ok_or_else(|| {
        format!("`{text}` is not a place in the source: give file and line, as in `src/ring.rs:12:5`")
    })
}

fn number(text: &str) -> Result<u64, String> {
    text.replace('_', "")
        .parse()
        .map_err(|_| format!("`{text}` is not a number: give digits, as in `skip=7200`"))
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.strip_suffix("ms") {
        Some(millis) => millis.parse().ok().map(|millis: f64| millis / 1_000.0),
        None => text.strip_suffix('s').and_then(|seconds| seconds.parse().ok()),
    };
    parsed
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            format!("`{text}` is not a time: give it with its unit, as in `limit=500ms` or `limit=2s`")
        })
}

impl Spot {
    /// `true` if it includes this place in the source.
    pub fn is_at(&self, file: &str, line: u32, column: u32) -> bool {
        let mut path = components(file).rev();
        self.line == line
            && self.column.is_none_or(|known| known == column)
            && components(&self.file).rev().all(|part| path.next() == Some(part))
    }
}

fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Where::Named(name) => f.write_str(name),
            Where::Before { first, second } => write!(f, "{first} before {second}"),
            Where::Deadlock(spots) => {
                f.write_str("deadlock")?;
                spots.iter().try_for_each(|spot| write!(f, " {spot}"))
            }
        }
    }
}

impl fmt::Display for Arming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        let Refinements {
            skip,
            skip_second,
            hits,
            limit,
            lead,
        } = self.refined;
        match (skip, skip_second) {
            (None, None) => {}
            (skip, None) => write!(f, " skip={}", skip.unwrap_or(0))?,
            (skip, Some(second)) => write!(f, " skip={}/{second}", skip.unwrap_or(0))?,
        }
        if let Some(hits) = hits {
            write!(f, " hits={hits}")?;
        }
        for (name, time) in [("limit", limit), ("lead", lead)] {
            if let Some(time) = time {
                write!(f, " {name}={}s", time.as_secs_f64())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Armings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, arming) in self.0.iter().enumerate() {
            write!(f, "{}{arming}", if at > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "",
            "lost-update",
            "lost-update, swap skip=7200 hits=1 limit=0.5s lead=0.02s",
            "src/a.rs:10:5 before src/b.rs:20:9 skip=1/0, deadlock a.rs:1 b.rs:2:3 c.rs:4",
        ] {
            let armings: Armings = text.parse().unwrap();
            assert_eq!(armings.to_string(), text);
        }
        assert_eq!(" , none,".parse(), Ok(Armings::default()));
        let armed: Arming = "x limit=250ms".parse().unwrap();
        assert_eq!(armed.refined.limit, Some(Duration::from_millis(250)));
    }

    #[test]
    fn what_cannot_be_says_why() {
        for (text, says) in [
            ("a b", "neither a name nor places"),
            ("a.rs:1 before", "neither a name nor places"),
            ("a.rs:1 before b", "`b` is not a place"),
            ("a.rs:x before b.rs:1", "`a.rs:x` is not a place"),
            ("a skip=x", "`x` is not a number"),
            ("a skip=-1", "`-1` is not a number"),
            ("a limit=5", "give it with its unit"),
            ("a limit=-5s", "is not a time"),
            ("a limit=1e999s", "is not a time"),
            ("a slip=5", "nothing is called `slip`"),
            ("a skip=5 hits", "`hits` refines nothing"),
            ("skip=5", "neither a name nor places"),
        ] {
            let error = text.parse::<Armings>().unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(error.entry, text);
        }
    }

    #[test]
    fn a_spot_is_the_end_of_a_path() {
        let here = std::panic::Location::caller();
        let at = |file: &str, column| Spot {
            file: file.into(),
            line: here.line(),
            column,
        };
        assert!(at("arming.rs", None).is_at(here.file(), here.line(), here.column()));
        assert!(at("src/arming.rs", Some(here.column())).is_at(here.file(), here.line(), here.column()));
        assert!(!at("rming.rs", None).is_at(here.file(), here.line(), here.column()));
        assert!(!at("arming.rs", Some(here.column() + 1)).is_at(here.file(), here.line(), here.column()));
    }
}
