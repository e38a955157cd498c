//! A priority for best-first search that prefers a part of the code.

use crate::report::names;
use crate::report::source::Search;
use intermezzo_engine::runtime::SourceNames;
use intermezzo_engine::scope::Scope;
use intermezzo_engine::site::Site;
use intermezzo_search::{Prefix, Priority};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A priority for best-first search that prefers a part of the code: it explores the executions first in which a task is
/// let into an operation there.
///
/// CHESS prefers a method in this way. Like every priority, it affects only the order.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, Strategy, search::{BestFirst, Priorities, Within}};
///
/// let ring = Priorities::by(Within::parse("queue::Ring::push, slots.rs")?);
/// let explorer = Explorer::new().strategy(Strategy::custom(BestFirst::new(ring, None, 1_000)));
/// # Ok::<(), String>(())
/// ```
pub struct Within {
    scope: Scope,
    /// The reader of source files, and the places that were read.
    known: Mutex<(names::Reader, HashMap<Site, bool>)>,
}

impl Within {
    /// Parses modules, types, functions and source files, as the setting `preempt` has them.
    ///
    /// # Errors
    /// If an entry is none of these; the text says what would be valid.
    pub fn parse(text: &str) -> Result<Within, String> {
        let scope = Scope::parse(text)?;
        if scope.is_empty() || scope.has_variables() {
            return Err(format!(
                "`{text}` is not a part of the code: give modules, types, functions or source files, as in \
                 `queue::Ring::push, slots.rs`"
            ));
        }
        Ok(Within {
            scope,
            known: Mutex::new((names::Reader::new(Search::here()), HashMap::new())),
        })
    }

    /// `true` if the place is in the preferred part.
    fn holds(&self, site: Site) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, places) = &mut *known;
        *places.entry(site).or_insert_with(|| {
            let place = site.place();
            let named = format!("{}:{}:{}", place.file, place.line, place.column);
            self.scope.has_place(place.file, &reader.items(&named))
        })
    }
}

impl Priority for Within {
    fn rank(&self, prefix: &Prefix<'_>) -> i64 {
        let is_within = prefix
            .operation
            .is_some_and(|operation| self.holds(operation.site));
        i64::from(!is_within)
    }

    fn name(&self) -> String {
        format!("within({})", self.scope)
    }
}
