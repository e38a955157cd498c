//! Settings that are refused where the look-alikes are laid over std. That holds for a whole process, so these tests have one
//! of their own.

use intermezzo_engine::runtime::lay_over_std;
use intermezzo_explorer::search::DepthFirst;
use intermezzo_explorer::{ExploreError, Explorer, Strategy};

#[test]
fn a_memory_model_is_refused() {
    let explorer = || Explorer::new().set("environment", "stale_reads=1");
    assert!(explorer().try_explore(|| {}).is_ok());
    lay_over_std();
    for explorer in [
        explorer(),
        explorer().strategy(Strategy::custom(DepthFirst::new())),
    ] {
        match explorer.try_explore(|| {}) {
            Err(ExploreError::Setting(refused)) => {
                assert_eq!(refused.name, "environment");
                assert!(refused.problem.contains("leave out `stale_reads`"), "{refused}");
            }
            explored => panic!("{explored:?}"),
        }
    }
}
