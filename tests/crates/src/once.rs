//! Values that are made once.

use crate::both;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

mod once_cell {
    use super::*;
    use ::once_cell::sync::{Lazy, OnceCell};

    #[test]
    fn a_value_is_made_once() {
        let (cell, made) = (OnceCell::new(), AtomicUsize::new(0));
        let make = || *cell.get_or_init(|| made.fetch_add(1, SeqCst));
        assert_eq!(both(make, make), (0, 0));
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_static_is_made_once() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        static LAZY: Lazy<usize> = Lazy::new(|| MADE.fetch_add(1, SeqCst));
        assert_eq!(both(|| *LAZY, || *LAZY), (0, 0));
        assert_eq!(MADE.load(SeqCst), 1);
    }
}

mod lazy_static {
    use super::*;

    #[test]
    fn a_static_is_made_once() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        ::lazy_static::lazy_static! {
            static ref LAZY: usize = MADE.fetch_add(1, SeqCst);
        }
        assert_eq!(both(|| *LAZY, || *LAZY), (0, 0));
    }
}

mod conquer_once {
    use super::*;
    use ::conquer_once::OnceCell;

    #[test]
    fn a_value_is_made_once() {
        let cell = OnceCell::uninit();
        let (one, two) = both(|| *cell.get_or_init(|| 1), || *cell.get_or_init(|| 2));
        assert_eq!(one, two);
    }
}

mod async_once_cell {
    use super::*;
    use ::async_once_cell::OnceCell;
    use ::futures_lite::future::block_on;

    #[test]
    fn a_value_is_made_once() {
        let (cell, made) = (OnceCell::new(), AtomicUsize::new(0));
        let make = || *block_on(cell.get_or_init(async { made.fetch_add(1, SeqCst) }));
        assert_eq!(both(make, make), (0, 0));
        assert_eq!(made.into_inner(), 1);
    }
}

mod thread_local {
    use super::*;
    use ::thread_local::ThreadLocal;

    /// A thread that begins when another has ended gets that one's value.
    #[test]
    fn values_are_summed_up() {
        let mut local = ThreadLocal::new();
        let add = || _ = local.get_or(|| AtomicUsize::new(0)).fetch_add(1, SeqCst);
        both(add, add);
        let values = local.iter_mut().map(|value| *value.get_mut());
        assert_eq!(values.sum::<usize>(), 2);
    }
}
