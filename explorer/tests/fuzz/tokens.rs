//! The state of the programs' primitives.

use intermezzo_explorer::primitive::State;

/// A number of tokens. Its gates open and close as the number changes.
pub(crate) struct Tokens(pub(crate) u8);

impl State for Tokens {
    fn gates(&self) -> u8 {
        u8::from(self.0 > 0) | u8::from(self.0 == 0) << 1 | u8::from(self.0 >= 2) << 2
    }
}

impl Tokens {
    /// Takes tokens, or puts some, as one of these open gates allows. Returns the number before.
    pub(crate) fn take(&mut self, gates: u8) -> u8 {
        let before = self.0;
        match gates & self.gates() {
            open if open & 4 != 0 => self.0 -= 2,
            open if open & 1 != 0 => self.0 -= 1,
            2 => self.0 += 2,
            _ => return 90,
        }
        before
    }
}
