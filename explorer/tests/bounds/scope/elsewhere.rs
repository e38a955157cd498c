//! Operations on the second atomic and lock of random programs, in a source file of their own.

use crate::interleavings::{Held, Objects, Op};

pub(super) fn perform<'a>(objects: &'a Objects, op: Op, held: &mut Held<'a>) {
    objects.perform(op, held);
}
