//! Races of symmetric tasks.

use super::cells::Shared;
use intermezzo::extras::spawn_symmetric;
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Explorer, Reduction, Strategy};

#[test]
fn a_race_of_symmetric_tasks_is_found() {
    let searches: [fn(Explorer) -> Explorer; 4] = [
        |explorer| explorer,
        |explorer| explorer.reduction(Reduction::Dpor),
        |explorer| explorer.reduction(Reduction::Caching).preemptions(1),
        |explorer| explorer.strategy(Strategy::auto()).jobs(2),
    ];
    for search in searches {
        let report = search(Explorer::new()).explore(|| {
            let shared = Arc::new((Shared::default(), AtomicUsize::new(0)));
            // The first task reads, and the last one writes.
            let threads = spawn_symmetric(3, move || match shared.1.fetch_add(1, SeqCst) {
                0 => shared.0.read(0),
                2 => shared.0.write(0),
                _ => {}
            });
            threads.join();
        });
        let kinds = report.findings().iter().map(|finding| finding.kind.to_string());
        assert!(kinds.into_iter().any(|kind| kind == "data_race"), "{report}");
    }
}
