//! The bounds of a ranked search as settings.

use intermezzo_engine::strategy::Epsilon;

/// Reads a probability.
pub(super) fn epsilon(text: &str) -> Result<Epsilon, String> {
    let number = text.parse().ok().and_then(Epsilon::new);
    number.ok_or_else(|| format!("`{text}` is no probability: give one between 0 and 1, as in 0.01"))
}

/// A bound on threads: at least two.
pub(super) fn threads(text: &str) -> Result<u32, String> {
    match super::table::number(text)? {
        threads @ 2.. => Ok(threads),
        threads => Err(format!("{threads} tasks have one order: give 2 or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_between_0_and_1() {
        for (text, shown) in [("0.01", "0.01"), ("1e-6", "0.000001"), ("0.9999994", "0.999999")] {
            assert_eq!(epsilon(text).unwrap().to_string(), shown);
        }
        for wrong in ["0", "1", "-0.1", "1e-7", "NaN", "inf", "x", ""] {
            assert!(epsilon(wrong).unwrap_err().contains("no probability"), "{wrong}");
        }
        let epsilon = Epsilon::default();
        assert_eq!(
            (epsilon.complement(), Epsilon::of_complement(0.99)),
            (0.99, Some(epsilon))
        );
    }
}
