//! Places in the source that settings name: `ring.rs:12`, `queue/ring.rs:12:5`, or `all`.

use intermezzo_breakpoint::Spot;
use std::fmt;

/// The name of all places.
const ALL: &str = "all";

/// Places in the source: a part of the value of the setting `data_points`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// `true` if all places are among them.
    all: bool,
    places: Vec<Place>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// The end of the source file's path, in whole components.
    file: Vec<String>,
    line: u32,
    /// The column; `None` for any.
    column: Option<u32>,
}

impl Sites {
    /// Returns `true` if all places are among them.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Parses a list separated by commas: source file and line, and a column if it matters; or `all`.
    ///
    /// # Errors
    /// If an entry is none of these; the text says what would be valid.
    pub fn parse(text: &str) -> Result<Sites, String> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let (all, places): (Vec<&str>, Vec<&str>) = entries.partition(|entry| *entry == ALL);
        Ok(Sites {
            all: !all.is_empty(),
            places: places.into_iter().map(Place::parse).collect::<Result<_, _>>()?,
        })
    }

    /// Returns these places together with `spots`.
    pub fn and<'a>(mut self, spots: impl Iterator<Item = &'a Spot>) -> Sites {
        self.places.extend(spots.map(|spot| Place {
            file: components(&spot.file).map(str::to_owned).collect(),
            line: spot.line,
            column: spot.column,
        }));
        self
    }

    /// Returns `true` if it is empty.
    pub fn is_empty(&self) -> bool {
        !self.all && self.places.is_empty()
    }

    /// Returns `true` if this is one of the places.
    pub fn hold(&self, site: crate::site::Place) -> bool {
        let path: Vec<&str> = components(site.file).collect();
        let holds = |place: &Place| {
            place.line == site.line
                && place.column.is_none_or(|column| column == site.column)
                && path.ends_with(&place.file.iter().map(String::as_str).collect::<Vec<_>>())
        };
        self.all || self.places.iter().any(holds)
    }
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
}

impl Place {
    fn parse(entry: &str) -> Result<Place, String> {
        let place = || {
            let (file, rest) = entry.split_once(".rs:")?;
            let (line, column) = match rest.split_once(':') {
                None => (rest, None),
                Some((line, column)) => (line, Some(column.parse().ok()?)),
            };
            Some(Place {
                file: components(&format!("{file}.rs")).map(str::to_owned).collect(),
                line: line.parse().ok()?,
                column,
            })
        };
        place().ok_or_else(|| {
            format!("`{entry}` is not a place in the source: give file and line, as in `queue/ring.rs:12`")
        })
    }
}

impl fmt::Display for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.all {
            f.write_str(ALL)?;
        }
        for (at, Place { file, line, column }) in self.places.iter().enumerate() {
            let comma = if self.all || at > 0 { ", " } else { "" };
            write!(f, "{comma}{}:{line}", file.join("/"))?;
            if let Some(column) = column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_file_and_line() {
        let here = crate::site::Site::caller().place();
        let (line, column) = (here.line, here.column);
        for (text, holds) in [
            (format!("sites.rs:{line}"), true),
            (format!("./src/sites.rs:{line}:{column}"), true),
            (format!("a.rs:1, engine/src/sites.rs:{line},"), true),
            (format!("sites.rs:{}", line + 1), false),
            (format!("sites.rs:{line}:{}", column + 1), false),
            (format!("ites.rs:{line}"), false),
            ("all".into(), true),
            (" a.rs:1 , all ".into(), true),
            (String::new(), false),
        ] {
            let sites = Sites::parse(&text).unwrap();
            assert_eq!(sites.hold(here), holds, "{text}");
            assert_eq!(Sites::parse(&sites.to_string()), Ok(sites));
        }
        for wrong in [
            "sites.rs",
            "sites:3",
            "sites.rs:x",
            "sites.rs:1:x",
            "sites.rs:1:2:3",
        ] {
            let problem = Sites::parse(wrong).unwrap_err();
            assert!(
                problem.starts_with(&format!("`{wrong}` is not a place")),
                "{problem}"
            );
        }
    }
}
