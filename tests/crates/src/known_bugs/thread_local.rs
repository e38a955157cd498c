//! Values were read with an ordering that is too weak while other threads added theirs, up to 1.1.3
//! (RUSTSEC-2022-0006).

use std::thread;

#[test]
fn values_are_added_while_others_are_read() {
    let local = thread_local::ThreadLocal::new();
    local.get_or(|| Box::new(1_u32));
    thread::scope(|scope| {
        scope.spawn(|| {
            local.get_or(|| Box::new(5));
            // The third thread needs another bucket.
            scope.spawn(|| _ = local.get_or(|| Box::new(7)));
        });
        assert!(local.iter().map(|value| **value).sum::<u32>() <= 13);
    });
}
