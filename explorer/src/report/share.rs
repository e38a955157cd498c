//! The share of a search that a report is of, with what has to be the same in the reports of the others.

use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{Coverage, Partition};
use intermezzo_engine::trace::Fingerprints;
use std::collections::BTreeMap;

/// The most traces that the report of a share lists.
const LISTED_TRACES_MAX: usize = 1_000_000;

/// The list of a share's traces if there are too many.
pub(crate) const NOT_LISTED: &str = "!";

/// The share of a search that a report is of. `cargo intermezzo merge` makes one report of those of all shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The share: `3/8`.
    pub share: Partition,
    /// The version of intermezzo, since another one may divide a search otherwise.
    pub version: String,
    /// The identity of the code: the length and the checksum of the executable, and the test's place in it.
    pub code: String,
    /// Names and values of the settings that change the results of the search.
    pub settings: BTreeMap<String, String>,
    /// `true` if the share was explored to its end.
    pub ended: bool,
    /// The coverage if the share were the whole search.
    pub covers: Coverage,
    /// Executions of other shares that were run to find the boundaries of this one. They count for nothing else.
    #[serde(default)]
    pub elsewhere: u64,
    /// The fingerprints of the share's traces, because another share may have some of the same: a mark (`!` if there are
    /// more than a million, of which none is listed) and 16 bytes each, in base 64.
    pub traces: String,
}

impl Share {
    /// Returns the coverage of the share alone. It never claims anything of the whole search.
    pub(crate) fn coverage(&self) -> Coverage {
        match &self.covers {
            sampled @ (Coverage::Sampled { .. } | Coverage::Replayed { .. }) => sampled.clone(),
            Coverage::Exhaustive => Coverage::unbounded(format!("only share {} of the search", self.share)),
            bounded @ Coverage::Bounded { .. } => Coverage::unbounded(format!(
                "only share {} of the search, and of that {bounded}",
                self.share
            )),
        }
    }
}

/// Returns [`Share::traces`] of these, if they are not too many.
pub(crate) fn listed_traces(traces: &Fingerprints<()>) -> Option<String> {
    let are_few = !traces.overflowed() && traces.count() <= LISTED_TRACES_MAX;
    are_few.then(|| traces.saved())
}

/// Returns the number of different traces of several shares, given their [`Share::traces`].
///
/// # Errors
/// Returns the index of the malformed text.
pub fn united_traces<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Option<u64>, usize> {
    let all: Fingerprints<()> = Fingerprints::new(usize::MAX);
    for (at, text) in texts.enumerate() {
        if !all.restore(text) {
            return Err(at);
        }
    }
    Ok((!all.overflowed()).then_some(all.count() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_claims_nothing_of_the_whole() {
        let share = |covers| Share {
            share: Partition::new(3, 8).unwrap(),
            version: String::new(),
            code: String::new(),
            settings: BTreeMap::new(),
            ended: true,
            covers,
            elsewhere: 0,
            traces: ".".into(),
        };
        for (covers, words) in [
            (
                Coverage::Exhaustive,
                "not every schedule was run: only share 3/8 of the search",
            ),
            (
                Coverage::within_preemptions(2, None),
                "not every schedule was run: only share 3/8 of the search, and of that every schedule with at most 2 \
                 preemptions was run: a failure that is left needs at least 3",
            ),
            (
                Coverage::stopped(),
                "not every schedule was run: only share 3/8 of the search, and of that not every schedule was run: \
                 stopped before every execution was run",
            ),
        ] {
            assert_eq!(share(covers).coverage().to_string(), words);
        }
    }

    #[test]
    fn traces_are_united() {
        let saved = |fingerprints: &[u128]| {
            let table: Fingerprints<()> = Fingerprints::new(1 << 20);
            for fingerprint in fingerprints {
                table.visit(*fingerprint, || (), |()| ());
            }
            table.saved()
        };
        let texts = [saved(&[1, 2]), saved(&[]), saved(&[2, 3])];
        assert_eq!(united_traces(texts.iter().map(String::as_str)), Ok(Some(3)));
        assert_eq!(united_traces([&*texts[0], NOT_LISTED].into_iter()), Ok(None));
        assert_eq!(united_traces([&*texts[0], "x"].into_iter()), Err(1));
    }
    #[test]
    fn a_million_traces_are_listed_and_no_more() {
        let table: Fingerprints<()> = Fingerprints::new(usize::MAX);
        let add = |fingerprints: std::ops::Range<usize>| {
            for fingerprint in fingerprints {
                table.visit(fingerprint as u128, || (), |()| ());
            }
        };
        add(0..LISTED_TRACES_MAX);
        let listed = listed_traces(&table).unwrap();
        assert_eq!(
            united_traces([&*listed].into_iter()),
            Ok(Some(LISTED_TRACES_MAX as u64))
        );
        add(LISTED_TRACES_MAX..LISTED_TRACES_MAX + 1);
        assert_eq!(listed_traces(&table), None);
    }
}
