//! Shared pointers, and memory that is freed when no thread uses it any more.

use crate::both;

mod arc_swap {
    use super::*;
    use ::arc_swap::ArcSwap;

    #[test]
    fn rcu() {
        let value = ArcSwap::from_pointee(0);
        let add = || _ = value.rcu(|n| **n + 1);
        both(add, add);
        assert_eq!(**value.load(), 2);
    }
}

mod crossbeam_epoch {
    use super::*;
    use ::crossbeam_epoch::{Atomic, Owned, pin};
    use std::sync::atomic::Ordering::{AcqRel, Acquire};

    #[test]
    fn a_value_is_replaced() {
        let value = Atomic::new(0);
        let (seen, ()) = both(
            || {
                let guard = pin();
                // SAFETY: it is never null, and the guard keeps it.
                unsafe { *value.load(Acquire, &guard).deref() }
            },
            || {
                let guard = pin();
                let old = value.swap(Owned::new(1), AcqRel, &guard);
                // SAFETY: no other thread can find it any more.
                unsafe { guard.defer_destroy(old) };
            },
        );
        assert!(seen <= 1);
        // SAFETY: nothing else uses it.
        drop(unsafe { value.into_owned() });
    }
}

mod seize {
    use super::*;
    use ::seize::{Collector, Guard, reclaim};
    use std::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire};

    #[test]
    fn a_value_is_replaced() {
        let collector = Collector::new().batch_size(1);
        let value = AtomicPtr::new(Box::into_raw(Box::new(0)));
        let (seen, ()) = both(
            || {
                let guard = collector.enter();
                // SAFETY: the guard keeps it.
                unsafe { *guard.protect(&value, Acquire) }
            },
            || {
                let guard = collector.enter();
                let old = guard.swap(&value, Box::into_raw(Box::new(1)), AcqRel);
                // SAFETY: no other thread can find it any more.
                unsafe { guard.defer_retire(old, reclaim::boxed) };
            },
        );
        assert!(seen <= 1);
        // SAFETY: nothing else uses it.
        drop(unsafe { Box::from_raw(value.into_inner()) });
    }
}

mod haphazard {
    use super::*;
    use ::haphazard::{AtomicPtr, Domain, HazardPointer};

    #[test]
    fn a_value_is_replaced() {
        let value = AtomicPtr::from(Box::new(0));
        let (seen, ()) = both(
            || {
                let mut pointer = HazardPointer::new();
                *value.safe_load(&mut pointer).unwrap()
            },
            || {
                let old = value.swap(Box::new(1)).unwrap();
                // SAFETY: it came from a box, and no other thread can find it any more.
                unsafe { old.retire() };
                Domain::global().eager_reclaim();
            },
        );
        assert!(seen <= 1);
        // SAFETY: it came from a box, and nothing else uses it.
        drop(unsafe { Box::from_raw(value.into_inner()) });
    }
}

mod triomphe {
    use super::*;
    use ::triomphe::Arc;

    #[test]
    fn one_of_two_is_the_last() {
        let one = Arc::new(1);
        let two = one.clone();
        let (first, second) = both(|| Arc::try_unwrap(one).is_ok(), || Arc::try_unwrap(two).is_ok());
        assert!(!(first && second));
    }
}

mod bytes {
    use super::*;
    use ::bytes::Bytes;

    #[test]
    fn clones_are_dropped() {
        let one = Bytes::from(vec![1, 2, 3]);
        let two = one.clone();
        let (first, second) = both(move || one.slice(1..)[0], move || two[2]);
        assert_eq!((first, second), (2, 3));
    }
}

mod portable_atomic {
    use super::*;
    use ::portable_atomic::{AtomicU64, AtomicU128, AtomicUsize, Ordering::SeqCst};

    #[test]
    fn numbers() {
        let (n, x) = (AtomicU64::new(0), AtomicU128::new(0));
        let add = || (n.fetch_add(1, SeqCst), x.fetch_add(1 << 100, SeqCst));
        both(add, add);
        assert_eq!((n.into_inner(), x.into_inner()), (2, 1 << 101));
    }

    #[test]
    fn bits_are_inverted() {
        let bits = AtomicUsize::new(0);
        let (seen, ()) = both(|| (bits.load(SeqCst), bits.load(SeqCst)), || bits.not(SeqCst));
        assert!([(0, 0), (0, !0), (!0, !0)].contains(&seen));
        assert_eq!(bits.into_inner(), !0);
    }
}

mod arcshift {
    use super::*;
    use ::arcshift::ArcShift;

    #[test]
    fn updates() {
        let mut own = ArcShift::new(1);
        let mut other = own.clone();
        let (updated, seen) = both(
            move || {
                other.update(2);
                *other.get()
            },
            || *own.get(),
        );
        assert_eq!(updated, 2);
        assert!(seen == 1 || seen == 2);
        assert_eq!(*own.get(), 2);
    }
}

mod rcu_cell {
    use super::*;
    use ::rcu_cell::RcuCell;

    #[test]
    fn a_value_is_replaced() {
        let cell = RcuCell::new(1);
        let (_, seen) = both(|| cell.write(2), || cell.read().map(|value| *value));
        assert!(seen == Some(1) || seen == Some(2));
        assert_eq!(cell.read().map(|value| *value), Some(2));
    }
}

mod atomicbox {
    use super::*;
    use ::atomicbox::AtomicBox;
    use std::sync::atomic::Ordering::AcqRel;

    #[test]
    fn two_values_are_swapped() {
        let shared = AtomicBox::new(Box::new(1));
        let (other, own) = both(
            || *shared.swap(Box::new(2), AcqRel),
            || *shared.swap(Box::new(3), AcqRel),
        );
        assert!([(1, 2), (3, 1)].contains(&(other, own)));
    }
}

mod basedrop {
    use super::*;
    use ::basedrop::{Collector, Shared, SharedCell};

    #[test]
    fn a_value_is_replaced() {
        let mut collector = Collector::new();
        let handle = collector.handle();
        let cell = SharedCell::new(Shared::new(&handle, 1));
        let replace = || {
            cell.set(Shared::new(&handle, 2));
            collector.collect();
        };
        let (seen, ()) = both(|| *cell.get(), replace);
        assert!(seen == 1 || seen == 2);
        drop((cell, handle));
        collector.collect();
        assert!(collector.try_cleanup().is_ok());
    }
}

mod hybrid_rc {
    use super::*;
    use ::hybrid_rc::Rc;

    #[test]
    fn both_kinds_are_dropped() {
        let own = Rc::new(1);
        let shared = Rc::to_shared(&own);
        both(move || drop(shared), move || drop(own));
    }
}
