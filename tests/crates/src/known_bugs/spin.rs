//! A cell whose initialisation failed was unsound for others that initialise it at the same time, up to 0.9.7
//! (RUSTSEC-2023-0031).

use std::thread;

#[test]
fn one_of_three_fails_to_make_the_value() {
    let once = spin::Once::new();
    let make = |value: Result<Box<u32>, ()>| once.try_call_once(|| value).map(|made| **made);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(make(Ok(Box::new(1))), Ok(1)));
        scope.spawn(|| assert!(matches!(make(Err(())), Ok(1) | Err(()))));
    });
    assert_eq!(once.get().map(|made| **made), Some(1));
}
