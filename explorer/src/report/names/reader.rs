//! The names of variables for monitors that ask during an execution.

use super::{Found, SourceFiles, Trust, found_at, most_trusted};
use crate::report::source::Search;
use intermezzo_engine::runtime::{SourceName, SourceNames};
use std::collections::HashMap;

/// A name at a place, the trust in it, and the place where the variable is made.
type AtPlace = (String, Trust, Option<String>);

/// A reader of the source for one worker. Each place is read once for each kind of variable.
pub(crate) struct Reader {
    files: SourceFiles,
    known: HashMap<(String, String), Option<AtPlace>>,
}

impl Reader {
    /// Makes a reader of files that are found in this way.
    pub(crate) fn new(search: Search) -> Reader {
        Reader {
            files: SourceFiles::new(search),
            known: HashMap::new(),
        }
    }

    /// Returns the name that variables of this kind have at a place.
    fn at(&mut self, kind: &str, site: &str) -> Option<AtPlace> {
        let key = (kind.to_owned(), site.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.files.token(site).and_then(|(tokens, at)| {
            let Found {
                name, trust, made, ..
            } = found_at(tokens, at, kind)?;
            Some((name, trust, made.map(|made| tokens.place(made))))
        });
        let file = site.rsplitn(3, ':').nth(2).unwrap_or_default();
        let found = found.map(|(name, trust, made)| {
            let made = made.map(|(line, column)| format!("{file}:{line}:{column}"));
            (name, trust, made)
        });
        self.known.insert(key, found.clone());
        found
    }
}

impl SourceNames for Reader {
    fn name(&mut self, kind: &str, sites: &[String]) -> SourceName {
        let found = sites.iter().filter_map(|site| self.at(kind, site));
        let found: Vec<_> = found.collect();
        let names = found.iter().map(|(name, trust, _)| (name.clone(), *trust));
        let name = most_trusted(names.collect()).unwrap_or_default();
        let of_name = found.into_iter().filter(|(other, ..)| *other == name);
        let made_at = of_name.filter_map(|(_, _, made)| made).next();
        SourceName { name, made_at }
    }

    fn items(&mut self, site: &str) -> Vec<String> {
        self.files.items(site)
    }
}
