//! Numbers as bits, of which tokens consist.
//!
//! Elias gamma codes (Elias, IEEE Trans. Inf. Theory 21(2), 1975) take one bit for 1 and three for 2 and 3, which suits
//! run lengths, because most of them are short.

use super::error::{Carrier, ScheduleError};

/// A writer of bits, most significant first. The last byte is filled up with zeros.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The number of bits of the last byte that are not used yet.
    free: u32,
}

impl BitWriter {
    /// Writes the low `count` bits of `value`.
    pub(super) fn bits(&mut self, value: u64, count: u32) {
        for index in (0..count).rev() {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> index & 1) as u8) << self.free;
            }
        }
    }

    /// Writes seven bits at a time, the lowest first, each group after a bit that is set if more follow (LEB128).
    pub(super) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bits(value & 0x7f | 0x80, 8);
            value >>= 7;
        }
        self.bits(value, 8);
    }

    /// Writes the Elias gamma code of `value`, which is at least 1.
    pub(super) fn gamma(&mut self, value: u64) {
        let width = value.ilog2();
        self.bits(0, width);
        self.bits(value, width + 1);
    }

    /// Writes a text in UTF-8, preceded by its length in bytes.
    pub(super) fn text(&mut self, text: &str) {
        self.varint(text.len() as u64);
        for byte in text.bytes() {
            self.bits(u64::from(byte), 8);
        }
    }

    /// Continues with the next byte.
    pub(super) fn fill_byte(&mut self) {
        self.free = 0;
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// A reader of the output of [`BitWriter`], from bytes that may be anything.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit, counted from the first byte's most significant one.
    next: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, next: 0 }
    }

    fn bit(&mut self) -> Result<u64, ScheduleError> {
        let Some(byte) = self.bytes.get(self.next / 8) else {
            return Err(ScheduleError::Truncated {
                bytes: self.bytes.len(),
            });
        };
        let bit = byte >> (7 - self.next % 8) & 1;
        self.next += 1;
        Ok(u64::from(bit))
    }

    /// Returns a number of `count` bits, at most 64.
    pub(super) fn bits(&mut self, count: u32) -> Result<u64, ScheduleError> {
        (0..count).try_fold(0, |value, _| Ok(value << 1 | self.bit()?))
    }

    /// Reads a number that [`BitWriter::varint`] wrote.
    pub(super) fn varint(&mut self) -> Result<u64, ScheduleError> {
        let start = self.next / 8;
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let group = self.bits(8)?;
            let low = group & 0x7f;
            // The tenth group has room for one bit only.
            if low << shift >> shift != low {
                break;
            }
            value |= low << shift;
            if group < 0x80 {
                return Ok(value);
            }
        }
        Err(ScheduleError::Overlong { byte: start })
    }

    /// Reads a number that [`BitWriter::gamma`] wrote.
    pub(super) fn gamma(&mut self) -> Result<u64, ScheduleError> {
        let start = self.next / 8;
        let mut width = 0;
        while self.bit()? == 0 {
            width += 1;
            if width == u64::BITS {
                return Err(ScheduleError::Overlong { byte: start });
            }
        }
        Ok(1 << width | self.bits(width)?)
    }

    /// Returns the next `count` whole bytes. Allocates nothing, whatever `count` is.
    ///
    /// The reader must be at the beginning of a byte, as it is while only varints and bytes were read.
    pub(super) fn whole_bytes(&mut self, count: u64) -> Result<&'a [u8], ScheduleError> {
        assert!(self.next.is_multiple_of(8), "whole bytes begin between two bytes");
        let rest = self.bytes.get(self.next / 8..).unwrap_or_default();
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let taken = taken.ok_or(ScheduleError::Truncated {
            bytes: self.bytes.len(),
        })?;
        self.next += 8 * taken.len();
        Ok(taken)
    }

    /// Reads a text that [`BitWriter::text`] wrote. The reader must be at the beginning of a byte.
    pub(super) fn text(&mut self) -> Result<String, ScheduleError> {
        let length = self.varint()?;
        match str::from_utf8(self.whole_bytes(length)?) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(ScheduleError::NotText {
                carrier: Carrier::Token,
                byte: error.valid_up_to(),
            }),
        }
    }

    /// Continues with the next byte.
    pub(super) fn skip_to_byte(&mut self) {
        self.next = self.next.next_multiple_of(8);
    }

    /// Returns the number of whole bytes that are left.
    pub(super) fn bytes_left(&self) -> usize {
        self.bytes.len() - self.next.div_ceil(8)
    }
}
