//! Cells that tasks share, and places in the source by the dozen: each access of a program has its own.

use intermezzo::cell::Cell;

/// How many places there are to read, and to write.
pub(crate) const SLOTS: usize = 24;

/// A cell that is shared without any synchronisation, for somebody to notice.
#[derive(Default)]
pub(crate) struct Shared(Cell<u8>);

// SAFETY: all tasks of an exploration take turns on one thread.
unsafe impl Sync for Shared {}

type Place = fn(&Cell<u8>) -> u8;

impl Shared {
    /// Writes at the place of that number.
    pub(crate) fn write(&self, slot: usize) {
        WRITES[slot](&self.0);
    }

    /// Reads at the place of that number.
    pub(crate) fn read(&self, slot: usize) {
        READS[slot](&self.0);
    }
}

/// The number of the place that is on this line.
pub(crate) fn slot_of(line: usize) -> usize {
    let (writes, reads) = (WRITES_BELOW as usize + 1, READS_BELOW as usize + 1);
    if line > reads {
        line - reads - 1
    } else {
        line - writes - 1
    }
}

const WRITES_BELOW: u32 = line!();
const WRITES: [Place; SLOTS] = [
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
    |cell| cell.replace(1),
];

const READS_BELOW: u32 = line!();
const READS: [Place; SLOTS] = [
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
    |cell| cell.get(),
];
