//! Checks that shares together are a whole search: each share is given, or all the shares into which it was divided.

use intermezzo::Partition;
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of missing shares that are named.
const NAMED_MAX: usize = 20;

/// Returns the reason why these are not all shares of one search, each exactly once. `name` names a share's file.
pub(super) fn problem(shares: &BTreeSet<Partition>, name: impl Fn(&Partition) -> String) -> Option<String> {
    let all: Vec<Partition> = shares.iter().copied().collect();
    let mut missing = Vec::new();
    if let Err((one, other)) = complete(None, &all, &mut missing) {
        let both = format!("{} and {}", name(&one), name(&other));
        let depth = one.levels().len().min(other.levels().len());
        return Some(match one.levels().take(depth).eq(other.levels().take(depth)) {
            true => format!("{both} overlap: share {other} is a part of {one}"),
            false => format!("{both} are shares of different divisions, {one} and {other}"),
        });
    }
    if missing.is_empty() {
        return None;
    }
    let verb = if missing.len() == 1 {
        "share is"
    } else {
        "shares are"
    };
    let names: Vec<String> = missing.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = match missing.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{verb} missing: {}{more}", names.join(", ")))
}

/// Adds the missing shares within `outer` to `missing`.
///
/// # Errors
/// If two shares contradict each other.
fn complete(
    outer: Option<Partition>,
    shares: &[Partition],
    missing: &mut Vec<Partition>,
) -> Result<(), (Partition, Partition)> {
    let depth = outer.map_or(0, |outer| outer.levels().len());
    let mut by_number: BTreeMap<u32, Vec<Partition>> = BTreeMap::new();
    let Some(first) = shares.first() else {
        return Ok(());
    };
    let total = first.total_at(depth);
    for share in shares {
        if share.total_at(depth) != total {
            return Err((*first, *share));
        }
        if let Some((number, _)) = share.levels().nth(depth) {
            by_number.entry(number).or_default().push(*share);
        }
    }
    for number in 1..=total.unwrap_or(0) {
        let within = match outer {
            None => Partition::new(number, total.unwrap_or(0)),
            Some(outer) => outer.within(number, total.unwrap_or(0)),
        };
        // This does not fail, because a given share has the same levels.
        let Ok(within) = within else { continue };
        match by_number.get(&number).map(Vec::as_slice) {
            None => missing.push(within),
            Some([whole]) if *whole == within => {}
            Some([whole, part, ..]) if *whole == within => return Err((*whole, *part)),
            Some(parts) => complete(Some(within), parts, missing)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_of(shares: &str) -> String {
        let shares = shares
            .split_whitespace()
            .map(|share| share.parse().unwrap())
            .collect();
        problem(&shares, ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn a_cover_has_each_share_or_all_within_it() {
        for whole in [
            "1/1",
            "1/2 2/2",
            "1/2 2/2.1/3 2/2.2/3 2/2.3/3",
            "1/2.1/2 1/2.2/2.1/1 2/2.1/3 2/2.2/3 2/2.3/3",
        ] {
            assert_eq!(problem_of(whole), "");
        }
        for (shares, says) in [
            ("1/2", "share is missing: 2/2"),
            ("3/3", "shares are missing: 1/3, 2/3"),
            ("1/2 2/2.1/2", "share is missing: 2/2.2/2"),
            (
                "1/2.2/2 2/2.1/2.2/2",
                "shares are missing: 1/2.1/2, 2/2.1/2.1/2, 2/2.2/2",
            ),
            (
                "1/3 2/4",
                "1/3 and 2/4 are shares of different divisions, 1/3 and 2/4",
            ),
            ("1/2 2/2.1/2 2/2.2/3", "different divisions, 2/2.1/2 and 2/2.2/3"),
            (
                "1/2 1/2.1/2 2/2",
                "1/2 and 1/2.1/2 overlap: share 1/2.1/2 is a part of 1/2",
            ),
            ("1/4096", "and 4075 more"),
        ] {
            assert!(
                problem_of(shares).contains(says),
                "{shares}: {}",
                problem_of(shares)
            );
        }
    }
}
