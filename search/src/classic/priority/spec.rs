//! Priority functions as text: `preemptions,2*rare+deepest`.

use super::{BuiltIn, Priorities, PriorityKind};
use std::fmt;

/// The built-in priority functions that the parameters of `best-first` name: weighted sums, the deciding one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrioritySpec(Vec<Vec<(i64, PriorityKind)>>);

impl Default for PrioritySpec {
    /// Returns the order by the fewest preemptions, then by the rarest operation.
    fn default() -> Self {
        PrioritySpec(vec![
            vec![(1, PriorityKind::Preemptions)],
            vec![(1, PriorityKind::Rare)],
        ])
    }
}

impl PrioritySpec {
    /// Parses sums of names, which are separated by commas: `preemptions,2*rare+deepest`.
    ///
    /// # Errors
    /// A name is not known, or a weight is not a number. The text says what to give instead.
    pub fn parse(text: &str) -> Result<PrioritySpec, String> {
        let sum = |sum: &str| sum.split('+').map(factor).collect::<Result<Vec<_>, _>>();
        text.split(',')
            .map(sum)
            .collect::<Result<Vec<_>, _>>()
            .map(PrioritySpec)
    }

    /// Returns `true` if one of the functions gives a random order.
    pub fn is_random(&self) -> bool {
        self.0
            .iter()
            .flatten()
            .any(|(_, kind)| *kind == PriorityKind::Random)
    }

    /// Returns the functions. `seed` is used by a random order.
    pub fn build(&self, seed: u64) -> Priorities {
        let build = |&(weight, kind): &(i64, PriorityKind)| (weight, Box::new(BuiltIn::new(kind, seed)) as _);
        Priorities {
            terms: self.0.iter().map(|sum| sum.iter().map(build).collect()).collect(),
        }
    }
}

fn factor(text: &str) -> Result<(i64, PriorityKind), String> {
    let (weight, name) = text.split_once('*').unwrap_or(("1", text));
    let (weight, name) = (weight.trim(), name.trim());
    let number = weight
        .parse()
        .map_err(|_| format!("`{weight}` is not a weight: give a whole number, as in `2*rare`"))?;
    let known = PriorityKind::ALL.into_iter().find(|(known, _)| *known == name);
    let known = known.ok_or_else(|| {
        let names = PriorityKind::ALL.map(|(name, _)| format!("`{name}`")).join(", ");
        format!("`{name}` is not a priority: give one or more of {names}")
    })?;
    Ok((number, known.1))
}

impl fmt::Display for PrioritySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.build(0).name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_shown_the_same() {
        for text in ["preemptions,rare", "2*switches+-1*deepest,random", "constant"] {
            assert_eq!(PrioritySpec::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(PrioritySpec::default().to_string(), "preemptions,rare");
        assert_eq!(
            PrioritySpec::parse(" 1 * rare , deepest ").unwrap().to_string(),
            "rare,deepest"
        );
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        for (text, says) in [
            ("", "`` is not a priority: give one or more of `preferred`"),
            ("rare,,deepest", "`` is not a priority"),
            ("rarest", "`rarest` is not a priority"),
            ("x*rare", "`x` is not a weight"),
            ("99999999999999999999*rare", "is not a weight"),
        ] {
            let error = PrioritySpec::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
