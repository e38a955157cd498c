//! Mixing of numbers into fingerprints: multiplication folded onto itself, with constants that have no pattern.

/// Digits of the golden ratio, of e and of pi.
const SALTS: [u64; 4] = [
    0x9E37_79B9_7F4A_7C15,
    0xADF8_5458_A2BB_4A9B,
    0x243F_6A88_85A3_08D3,
    0x1319_8A2E_0370_7345,
];

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Mixes two numbers into one.
#[inline(always)]
pub fn hash64(a: u64, b: u64) -> u64 {
    fold(fold(a ^ SALTS[0], b ^ SALTS[1]) ^ SALTS[2], a ^ SALTS[3])
}

/// Mixes three numbers into a wide one.
#[inline(always)]
pub(crate) fn hash128(a: u64, b: u64, c: u64) -> u128 {
    let low = fold(fold(a ^ SALTS[0], b ^ SALTS[1]) ^ c, a ^ SALTS[2]);
    let high = fold(fold(b ^ SALTS[2], c ^ SALTS[3]) ^ a, b ^ SALTS[1]);
    u128::from(low) | u128::from(high) << 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn small_numbers_do_not_collide() {
        let mut seen = HashSet::new();
        let mut halves = [HashSet::new(), HashSet::new()];
        for a in 0..40 {
            for b in 0..40 {
                for c in 0..40 {
                    let wide = hash128(a, b, c);
                    assert!(seen.insert(wide), "{a} {b} {c}");
                    assert!(halves[0].insert(wide as u64), "{a} {b} {c}");
                    assert!(halves[1].insert((wide >> 64) as u64), "{a} {b} {c}");
                }
            }
        }
    }
}
