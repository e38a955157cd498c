//! The objects that tasks share: variables by number, and plain memory in pieces that are always accessed as a whole.

use super::order::Shared;
use intermezzo_sdk::{DataVarAccess, SyncVar, SyncVarOp};
use std::ops::Range;

/// All shared objects that an execution has touched.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Two aspects of each variable: itself, and the park token of a task.
    vars: Vec<Shared>,
    /// The pieces of each location, in order of address. Bytes between them were not touched.
    locations: Vec<Vec<Piece>>,
    /// The table of pieces, of which `used` are in use.
    pieces: Vec<Shared>,
    used: usize,
}

/// A range of bytes that no access so far has touched in part.
#[derive(Clone, Debug)]
struct Piece {
    bytes: Range<u64>,
    /// Its index in the table of pieces.
    at: usize,
}

impl Memory {
    /// Marks everything as untouched. The memory is kept.
    pub(super) fn clear(&mut self) {
        self.vars.iter_mut().for_each(Shared::clear);
        self.locations.iter_mut().for_each(Vec::clear);
        self.used = 0;
    }

    /// Returns the part of a variable that an operation touches; `None` if it touches none.
    pub(super) fn of_operation(&mut self, op: SyncVarOp, var: SyncVar) -> Option<&mut Shared> {
        let token = matches!(op, SyncVarOp::Park | SyncVarOp::Unpark);
        (var != SyncVar::NONE).then(|| entry(&mut self.vars, 2 * var.index() + usize::from(token)))
    }

    /// Visits the parts that a plain access touches, in order of address.
    pub(super) fn of_data(&mut self, access: &DataVarAccess, mut visit: impl FnMut(&mut Shared)) {
        if access.var != SyncVar::NONE {
            return visit(entry(&mut self.vars, 2 * access.var.index()));
        }
        let begin = u64::from(access.offset);
        let bytes = begin..begin + u64::from(access.size);
        self.cut(access, bytes.start);
        self.cut(access, bytes.end);
        self.fill(access, &bytes);
        for piece in &self.locations[access.location.index()] {
            if bytes.start <= piece.bytes.start && piece.bytes.end <= bytes.end {
                visit(&mut self.pieces[piece.at]);
            }
        }
    }

    /// Makes two pieces of the one that reaches over this byte, if any.
    fn cut(&mut self, access: &DataVarAccess, byte: u64) {
        let pieces = entry(&mut self.locations, access.location.index());
        let across = |piece: &Piece| piece.bytes.start < byte && byte < piece.bytes.end;
        let Some(first) = pieces.iter().position(across) else {
            return;
        };
        let end = std::mem::replace(&mut pieces[first].bytes.end, byte);
        let same = self.pieces[pieces[first].at].clone();
        let at = self.fresh();
        self.pieces[at] = same;
        self.locations[access.location.index()].insert(first + 1, Piece { bytes: byte..end, at });
    }

    /// Makes pieces of the bytes that were not touched before.
    fn fill(&mut self, access: &DataVarAccess, bytes: &Range<u64>) {
        let location = access.location.index();
        let mut begin = bytes.start;
        let mut next = self.locations[location].partition_point(|piece| piece.bytes.end <= begin);
        while begin < bytes.end {
            let pieces = &self.locations[location];
            match pieces.get(next) {
                Some(piece) if piece.bytes.start <= begin => begin = piece.bytes.end,
                following => {
                    let end = following.map_or(bytes.end, |piece| piece.bytes.start.min(bytes.end));
                    let at = self.fresh();
                    self.locations[location].insert(
                        next,
                        Piece {
                            bytes: begin..end,
                            at,
                        },
                    );
                    begin = end;
                }
            }
            next += 1;
        }
    }

    /// Returns an index in the table of pieces for one that was not touched.
    fn fresh(&mut self) -> usize {
        let at = self.used;
        self.used += 1;
        entry(&mut self.pieces, at).clear();
        at
    }
}

/// Returns the entry at this index of a table that grows as needed.
fn entry<T: Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        table.resize_with(at + 1, T::default);
    }
    &mut table[at]
}
