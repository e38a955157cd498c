//! `Send`, `Sync`, `Unpin`, `UnwindSafe` and `RefUnwindSafe` hold for a look-alike if they hold for std's type.

use std::cell::Cell as StdCell;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

/// `true` if a type has a trait, as a constant: an inherent constant if it has the trait, that of a blanket trait if
/// not.
macro_rules! has {
    ($type:ty: $($bound:ident)*) => {
        [$({
            #[allow(dead_code, reason = "where the type has the trait")]
            trait Otherwise {
                const HAS: bool = false;
            }
            impl<T: ?Sized> Otherwise for T {}
            struct Probe<T: ?Sized>(PhantomData<T>);
            #[allow(dead_code, reason = "where the type has not got the trait")]
            impl<T: ?Sized + $bound> Probe<T> {
                const HAS: bool = true;
            }
            <Probe<$type>>::HAS
        }),*]
    };
}

/// Compares the five traits of types of std and of their look-alikes, by the path they share; type arguments are in
/// brackets.
macro_rules! same {
    ($($($part:ident)::+ $([$($argument:tt)*])?;)*) => {$(
        assert_eq!(
            has!(intermezzo_explorer::$($part)::+$(<$($argument)*>)?: Send Sync Unpin UnwindSafe RefUnwindSafe),
            has!(std::$($part)::+$(<$($argument)*>)?: Send Sync Unpin UnwindSafe RefUnwindSafe),
            "Send, Sync, Unpin, UnwindSafe, RefUnwindSafe of {}",
            stringify!($($part)::+ $($($argument)*)?),
        );
    )*};
}

/// Neither `Send` nor `Sync`.
type Local = Rc<u8>;
/// `Send`, not `Sync`.
type Sent = StdCell<u8>;
/// `Sync`, not `Send`.
type Shared = std::sync::MutexGuard<'static, u8>;
/// Not `UnwindSafe`.
type Fragile = &'static mut u8;
/// Not `Unpin`.
type Pinned = PhantomPinned;

#[test]
fn the_probe_tells() {
    assert_eq!(has!(u8: Send Sync Unpin UnwindSafe RefUnwindSafe), [true; 5]);
    assert_eq!(has!(Local: Send Sync), [false, false]);
    assert_eq!(has!(Sent: Send Sync RefUnwindSafe), [true, false, false]);
    assert_eq!(has!(Shared: Send Sync), [false, true]);
    assert_eq!(has!(Fragile: UnwindSafe), [false]);
    assert_eq!(has!(Pinned: Unpin), [false]);
}

#[test]
fn locks() {
    same! {
        sync::Mutex[u8]; sync::Mutex[Local]; sync::Mutex[Sent]; sync::Mutex[Shared]; sync::Mutex[Fragile]; sync::Mutex[Pinned];
        sync::MutexGuard['static, u8]; sync::MutexGuard['static, Local]; sync::MutexGuard['static, Sent];
        sync::MutexGuard['static, Shared]; sync::MutexGuard['static, Pinned];
        sync::Condvar; sync::WaitTimeoutResult;
    }
}

#[test]
fn atomics() {
    same! {
        sync::atomic::AtomicBool; sync::atomic::AtomicI8; sync::atomic::AtomicU64; sync::atomic::AtomicUsize;
        sync::atomic::AtomicPtr[u8]; sync::atomic::AtomicPtr[Local]; sync::atomic::AtomicPtr[Sent];
        sync::atomic::AtomicPtr[Pinned]; sync::atomic::AtomicPtr[Fragile];
    }
}

#[test]
fn threads() {
    same! {
        thread::Thread; thread::ThreadId; thread::Builder; thread::Scope['static, 'static];
        thread::JoinHandle[u8]; thread::JoinHandle[Local]; thread::JoinHandle[Sent]; thread::JoinHandle[Pinned];
        thread::JoinHandle[Fragile];
        thread::ScopedJoinHandle['static, u8]; thread::ScopedJoinHandle['static, Local];
        thread::ScopedJoinHandle['static, Sent]; thread::ScopedJoinHandle['static, Pinned];
        thread::ScopedJoinHandle['static, Fragile];
        thread::LocalKey[u8]; thread::LocalKey[Local]; thread::LocalKey[Sent]; thread::LocalKey[Pinned];
        thread::LocalKey[Fragile]; thread::AccessError;
        time::Instant;
    }
}

#[test]
fn cells() {
    same! {
        cell::Cell[u8]; cell::Cell[Local]; cell::Cell[Sent]; cell::Cell[Shared]; cell::Cell[Pinned]; cell::Cell[Fragile];
        cell::UnsafeCell[u8]; cell::UnsafeCell[Local]; cell::UnsafeCell[Sent]; cell::UnsafeCell[Shared];
        cell::UnsafeCell[Pinned]; cell::UnsafeCell[Fragile];
    }
}

#[test]
fn tracked_values_are_as_what_they_hold() {
    use intermezzo_explorer::alloc::Track;
    assert_eq!(
        has!(Track<u8>: Send Sync Unpin UnwindSafe RefUnwindSafe),
        [true; 5]
    );
    assert_eq!(has!(Track<Local>: Send Sync), [false; 2]);
    assert_eq!(has!(Track<Sent>: Send Sync RefUnwindSafe), [true, false, false]);
    assert_eq!(has!(Track<Pinned>: Unpin), [false]);
}

#[test]
fn handles_of_futures_are_sent_if_their_output_is() {
    use intermezzo_explorer::{future, rand, task};
    assert_eq!(has!(future::JoinHandle<u8>: Send Sync Unpin), [true; 3]);
    assert_eq!(has!(future::JoinHandle<Pinned>: Unpin), [true]);
    assert_eq!(has!(task::YieldNow: Send Sync Unpin), [true; 3]);
    assert_eq!(has!(rand::TestRng: Send Sync), [true; 2]);
}
