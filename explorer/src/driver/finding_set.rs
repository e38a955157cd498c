//! The findings of an exploration. Each is listed once, as the execution that comes first in search order shows it,
//! with the number of its occurrences. Warnings are listed after errors and never displace them.

use crate::report::Finding;
use intermezzo_engine::strategy::SearchPosition;
use intermezzo_sdk::FindingKind;
use std::collections::BTreeMap;

/// The maximum number of different findings in a report. If there are more, the report notes it.
pub(super) const FINDINGS_MAX: usize = 100;

/// The findings of an exploration.
pub(super) struct FindingSet {
    /// `true` if nothing beyond the first execution that shows an error counts.
    first_only: bool,
    /// At most [`FINDINGS_MAX`], in no order.
    pub(super) listed: Vec<Listed>,
    /// The number of occurrences of every other finding, by [`class`]. A finding may move back to the list when an
    /// earlier execution shows it.
    pub(super) others: BTreeMap<u64, u64>,
}

/// A finding and its position: that of its execution, and its index among the findings of that execution.
pub(super) struct Listed {
    pub(super) place: (SearchPosition, usize),
    pub(super) finding: Finding,
}

impl Listed {
    /// Returns the sort key of the list.
    fn order(&self) -> (bool, &(SearchPosition, usize)) {
        (!self.finding.is_error(), &self.place)
    }
}

impl FindingSet {
    pub(super) fn new(first_only: bool) -> FindingSet {
        FindingSet {
            first_only,
            listed: Vec::new(),
            others: BTreeMap::new(),
        }
    }

    /// Returns the position of the first execution that showed an error.
    pub(super) fn first(&self) -> Option<&SearchPosition> {
        self.errors().map(|listed| &listed.place.0).min()
    }

    fn errors(&self) -> impl Iterator<Item = &Listed> {
        self.listed.iter().filter(|listed| listed.finding.is_error())
    }

    /// `true` if an error of this kind is listed.
    pub(super) fn has(&self, kind: &FindingKind) -> bool {
        self.errors().any(|listed| listed.finding.kind == *kind)
    }

    /// Returns the number of different errors that are listed.
    pub(super) fn len(&self) -> usize {
        self.errors().count()
    }

    /// Returns the number of different findings, including warnings.
    pub(super) fn different(&self) -> usize {
        self.listed.len() + self.others.len()
    }

    /// Adds the findings of the execution at `rank`.
    pub(super) fn add(&mut self, rank: &SearchPosition, found: Vec<Finding>) {
        if self.first_only && !found.is_empty() {
            let first = self.first();
            if first.is_some_and(|first| first < rank) {
                return;
            }
            if first != Some(rank) && found.iter().any(Finding::is_error) {
                self.listed.retain(|listed| listed.place.0 < *rank);
            }
        }
        for (at, finding) in found.into_iter().enumerate() {
            self.add_one((rank.clone(), at), finding);
        }
    }

    fn add_one(&mut self, place: (SearchPosition, usize), mut finding: Finding) {
        let same = |listed: &&mut Listed| listed.finding.says(&finding);
        if let Some(known) = self.listed.iter_mut().find(same) {
            finding.count += known.finding.count;
            if place < known.place {
                *known = Listed { place, finding };
            } else {
                known.finding.count = finding.count;
            }
            return;
        }
        finding.count += self.others.remove(&class(&finding)).unwrap_or(0);
        self.listed.push(Listed { place, finding });
        if self.listed.len() > FINDINGS_MAX {
            let last = self
                .listed
                .iter()
                .enumerate()
                .max_by_key(|(_, listed)| listed.order());
            let at = last.map_or(0, |(at, _)| at);
            let Listed { finding, .. } = self.listed.swap_remove(at);
            self.others.insert(class(&finding), finding.count);
        }
    }

    /// Returns the errors in the order in which they were found, then the warnings. The flag is `true` if there are
    /// more than can be listed.
    pub(super) fn into_findings(mut self) -> (Vec<Finding>, bool) {
        self.listed.sort_by(|a, b| a.order().cmp(&b.order()));
        let findings = self.listed.into_iter().map(|listed| listed.finding);
        (findings.collect(), !self.others.is_empty())
    }
}

/// Returns a number that equal findings share (FNV-1a). It is the same in every process.
fn class(finding: &Finding) -> u64 {
    let kind = finding.kind.as_str();
    let said = match finding.kind {
        FindingKind::Divergence => "",
        _ => &finding.message,
    };
    let bytes = kind
        .bytes()
        .chain([u8::from(!finding.is_error())])
        .chain(said.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_sdk::Severity;

    fn finding(message: u64) -> Finding {
        Finding::bare(FindingKind::Panic, &message.to_string())
    }

    fn listed(catalogue: FindingSet) -> Vec<(String, u64)> {
        let (findings, _) = catalogue.into_findings();
        findings
            .into_iter()
            .map(|finding| (finding.message, finding.count))
            .collect()
    }

    /// The list is that of a single worker, whatever the order of the executions.
    #[test]
    fn the_order_in_which_findings_come_does_not_matter() {
        let execution = |number: u64| {
            (
                SearchPosition::of_number(number),
                vec![finding(number * 37 % 150)],
            )
        };
        let taken = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut catalogue = FindingSet::new(false);
            for number in numbers {
                let (rank, found) = execution(number);
                catalogue.add(&rank, found);
            }
            assert_eq!(catalogue.others.len(), 50);
            listed(catalogue)
        };
        let in_order = taken(&mut (0..1000));
        assert_eq!(in_order[..2], [("0".into(), 7), ("37".into(), 7)]);
        assert_eq!(in_order.len(), FINDINGS_MAX);
        assert_eq!(taken(&mut (0..1000).rev()), in_order);
        assert_eq!(taken(&mut (0..1000).map(|number| number * 333 % 1000)), in_order);
    }

    fn warning(message: u64) -> Finding {
        Finding {
            severity: Severity::Warning,
            ..finding(message)
        }
    }

    #[test]
    fn warnings_take_no_place_from_errors() {
        let mut catalogue = FindingSet::new(true);
        for number in 0..150 {
            catalogue.add(&SearchPosition::of_number(number), vec![warning(number)]);
        }
        assert_eq!((catalogue.first(), catalogue.len()), (None, 0));
        let found = vec![warning(3), finding(3), finding(4)];
        catalogue.add(&SearchPosition::of_number(150), found);
        catalogue.add(&SearchPosition::of_number(151), vec![warning(3)]);
        let listed = listed(catalogue);
        assert_eq!(listed.len(), FINDINGS_MAX);
        let expected = [("3", 1), ("4", 1), ("0", 1), ("1", 1), ("2", 1), ("3", 2)];
        assert_eq!(
            listed[..6],
            expected.map(|(message, count)| (message.into(), count))
        );
    }

    /// Executions beyond the first error should not have run.
    #[test]
    fn warnings_beyond_the_first_error_do_not_count() {
        let mut catalogue = FindingSet::new(true);
        catalogue.add(&SearchPosition::of_number(9), vec![warning(9)]);
        catalogue.add(&SearchPosition::of_number(2), vec![warning(2)]);
        catalogue.add(&SearchPosition::of_number(5), vec![finding(5), warning(5)]);
        let expected = [("5", 1), ("2", 1), ("5", 1)];
        assert_eq!(
            listed(catalogue),
            expected.map(|(message, count)| (message.into(), count))
        );
    }

    #[test]
    fn only_the_first_execution_may_count() {
        let mut catalogue = FindingSet::new(true);
        for number in [5, 3, 4, 3] {
            catalogue.add(
                &SearchPosition::of_number(number),
                vec![finding(number), finding(number + 10)],
            );
        }
        assert_eq!(catalogue.first(), Some(&SearchPosition::of_number(3)));
        assert_eq!(listed(catalogue), [("3".into(), 2), ("13".into(), 2)]);
    }
}
