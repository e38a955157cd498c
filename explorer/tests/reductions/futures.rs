//! Spawned futures: checks if they are complete, and waits for them.

use super::explorer;
use intermezzo_explorer::{Environment, Reduction, future};

/// A poll of a handle whose future is not complete is not a check if a task has ended.
#[test]
fn futures_that_are_awaited_are_reduced() {
    let explore = |reduction| {
        explorer((reduction, None), Environment::calm()).explore(|| {
            let spawned = [0, 1].map(|value| future::spawn(async move { value }));
            spawned[0].is_finished();
            for (value, spawned) in spawned.into_iter().enumerate() {
                assert_eq!(future::block_on(spawned).unwrap(), value);
            }
        })
    };
    let (dpor, none) = (explore(Reduction::Dpor), explore(Reduction::None));
    let ran = (dpor.reduction(), Some(dpor.executions()), dpor.traces());
    assert_eq!(ran, ("dpor", none.traces(), none.traces()), "{dpor}");
}
