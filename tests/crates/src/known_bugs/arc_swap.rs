//! A value was loaded that was stored into another instance, up to 1.9.4 (vorner/arc-swap#210). It takes memory that is
//! used again: `--environment address_reuse=1`.

use arc_swap::ArcSwap;
use std::sync::Arc;
use std::thread;

#[test]
fn a_value_is_loaded_from_where_it_was_stored() {
    let (small, large) = (ArcSwap::from_pointee(1), ArcSwap::from_pointee(100));
    let (second, last) = (Arc::new(2), Arc::new(102));
    thread::scope(|scope| {
        scope.spawn(|| assert!(**small.load() < 100));
        let writer = scope.spawn(|| {
            small.store(second);
            // It may get the memory of the first value.
            large.store(Arc::new(101));
        });
        writer.join().unwrap();
        large.store(last);
    });
}
