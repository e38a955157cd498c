//! A set of fingerprints as text, so that another process can continue with it.

use super::{Fingerprints, locked};
use data_encoding::BASE64_NOPAD;
use std::sync::atomic::Ordering;

/// The number of bytes of a fingerprint.
const FINGERPRINT: usize = size_of::<u128>();

/// The value of a fingerprint, as bytes.
pub trait Saved: Copy {
    /// The number of bytes.
    const BYTES: usize;

    /// Appends the bytes.
    fn write(self, bytes: &mut Vec<u8>);

    /// Reads a value from this many bytes; `None` if they are malformed.
    fn read(bytes: &[u8]) -> Option<Self>;
}

impl Saved for () {
    const BYTES: usize = 0;

    fn write(self, _: &mut Vec<u8>) {}

    fn read(_: &[u8]) -> Option<()> {
        Some(())
    }
}

impl<V: Saved> Fingerprints<V> {
    /// Returns all fingerprints in order, after a mark that shows whether some had no room.
    pub fn saved(&self) -> String {
        let mut entries: Vec<(u128, V)> = Vec::with_capacity(self.count());
        for shard in &self.shards {
            let shard = locked(shard);
            entries.extend(shard.iter().map(|(&fingerprint, &value)| (fingerprint, value)));
        }
        entries.sort_unstable_by_key(|(fingerprint, _)| *fingerprint);
        let mut bytes = Vec::with_capacity(entries.len() * (FINGERPRINT + V::BYTES));
        for (fingerprint, value) in entries {
            bytes.extend(fingerprint.to_le_bytes());
            value.write(&mut bytes);
        }
        let mark = if self.overflowed() { "!" } else { "." };
        format!("{mark}{}", BASE64_NOPAD.encode(&bytes))
    }

    /// Adds the saved fingerprints. Returns `false` if the text is malformed.
    pub fn restore(&self, text: &str) -> bool {
        let (full, text) = match (text.strip_prefix('!'), text.strip_prefix('.')) {
            (Some(text), _) => (true, text),
            (_, Some(text)) => (false, text),
            _ => return false,
        };
        let Ok(bytes) = BASE64_NOPAD.decode(text.as_bytes()) else {
            return false;
        };
        let (entries, rest) = (
            bytes.chunks_exact(FINGERPRINT + V::BYTES),
            bytes.len() % (FINGERPRINT + V::BYTES),
        );
        for entry in entries {
            let (fingerprint, value) = entry.split_at(FINGERPRINT);
            let (Ok(fingerprint), Some(value)) = (fingerprint.try_into(), V::read(value)) else {
                return false;
            };
            self.visit(u128::from_le_bytes(fingerprint), || value, |_| ());
        }
        if full {
            self.full.store(true, Ordering::Relaxed);
        }
        rest == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_saved_and_restored() {
        let table: Fingerprints<()> = Fingerprints::new(1_000);
        for fingerprint in (0..5).map(|number| number << 100) {
            table.visit(fingerprint, || (), |()| ());
        }
        let text = table.saved();
        let again: Fingerprints<()> = Fingerprints::new(1_000);
        assert!(again.restore(&text));
        assert_eq!((again.count(), again.saved()), (5, text.clone()));
        let small: Fingerprints<()> = Fingerprints::new(100);
        assert!(small.restore(&text) && small.overflowed());
        assert!(small.saved().starts_with('!'));
        for wrong in ["", "x", ".AA", ".!"] {
            assert!(!again.restore(wrong), "{wrong}");
        }
    }
}
