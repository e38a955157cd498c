//! Gaps in which no value must be there, and the cover of the others.

use super::Violation;
use super::container::{Container, Value};
use super::time::Moment;

/// Gaps, of which more and more are covered.
pub(super) struct Gaps {
    /// For each gap, a gap that is not before it, with no free one between; the gap itself if it is free. The last
    /// entry is the end.
    next: Vec<Moment>,
}

impl Gaps {
    /// Creates free gaps.
    pub(super) fn new(gaps: Moment) -> Gaps {
        Gaps {
            next: (0..=gaps).collect(),
        }
    }

    /// Returns the first free gap from this one on.
    fn first_free(&mut self, gap: Moment) -> Moment {
        let mut at = gap as usize;
        while self.next[at] as usize != at {
            // Halves the path.
            self.next[at] = self.next[self.next[at] as usize];
            at = self.next[at] as usize;
        }
        at as Moment
    }

    /// Covers the gaps between two moments.
    pub(super) fn cover(&mut self, from: Moment, until: Moment) {
        let mut gap = self.first_free(from);
        while gap < until && (gap as usize) < self.next.len() - 1 {
            self.next[gap as usize] = gap + 1;
            gap = self.first_free(gap + 1);
        }
    }

    /// `true` if a gap between two moments is free.
    pub(super) fn has_free(&mut self, from: Moment, until: Moment) -> bool {
        let gap = self.first_free(from);
        gap < until && (gap as usize) < self.next.len() - 1
    }
}

/// Finds an operation that found the container empty, though at each moment of it something must have been there.
///
/// That is exact for queues, stacks and priority queues. If at a gap no value must be there, they can be put in and
/// taken such that for a moment in the gap none is.
pub(super) fn never_empty<V>(container: &Container<V>) -> Option<Violation> {
    if container.empties.is_empty() {
        return None;
    }
    let mut gaps = Gaps::new(container.moments);
    for value in container.values.iter().filter(|value| value.is_critical()) {
        gaps.cover(value.there, value.until);
    }
    let full = container
        .empties
        .iter()
        .find(|empty| !gaps.has_free(empty.call, empty.ret))?;
    let chain = chain(container.values.iter(), full.call, full.ret);
    Some(Violation::new(
        format!(
            "#{} finds nothing, though at every moment of it there is something: {}",
            full.id,
            told(&chain)
        ),
        chain.iter().flat_map(|value| value.operations()).chain([full.id]),
    ))
}

/// Returns the fewest values whose critical intervals cover the gaps between two moments; they must be covered.
pub(super) fn chain<'a>(
    values: impl Iterator<Item = &'a Value>,
    from: Moment,
    until: Moment,
) -> Vec<&'a Value> {
    let mut critical: Vec<&Value> = values.filter(|value| value.is_critical()).collect();
    critical.sort_by_key(|value| value.there);
    let mut chain = Vec::new();
    let mut covered = from;
    let mut candidates = critical.into_iter().peekable();
    let mut longest: Option<&Value> = None;
    while covered < until {
        while let Some(value) = candidates.next_if(|value| value.there <= covered) {
            if longest.is_none_or(|longest| longest.until < value.until) {
                longest = Some(value);
            }
        }
        let value = longest.expect("the gaps are covered");
        assert!(value.until > covered, "the gaps are covered");
        covered = value.until;
        chain.push(value);
    }
    chain
}

/// Describes the times in which values must be there.
pub(super) fn told(chain: &[&Value]) -> String {
    const TOLD: usize = 4;
    let mut texts: Vec<String> = chain
        .iter()
        .take(TOLD)
        .map(|value| {
            let [first, last] = value.bounds;
            let until = if value.taken.is_some() {
                format!("until the call of #{last}")
            } else {
                "for ever, as no operation takes it".to_owned()
            };
            format!(
                "what #{} puts in, from the return of #{first} {until}",
                value.put.id
            )
        })
        .collect();
    if chain.len() > TOLD {
        texts.push(format!("and {} more", chain.len() - TOLD));
    }
    texts.join("; ")
}
