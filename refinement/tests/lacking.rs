//! Descriptions that lack something. The test is by itself, because it looks at all panics of the process.

use intermezzo_refinement::{RefinementReport, refine};
use std::panic;
use std::sync::Mutex;

/// A panic about a description that lacks something is at the place of the test, and not inside the tool.
#[test]
fn what_is_missing_is_told_at_the_caller() {
    static PLACES: Mutex<Vec<(String, u32)>> = Mutex::new(Vec::new());
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if panic
            .payload_as_str()
            .is_some_and(|text| text.contains("`undone`"))
        {
            let place = panic.location().unwrap();
            PLACES
                .lock()
                .unwrap()
                .push((place.file().to_owned(), place.line()));
        } else {
            before(panic);
        }
    }));
    let line = line!();
    let lacking: [fn() -> RefinementReport; 2] = [
        || refine(|| ()).op("undone", (), |(), ()| ()).spec(|| ()).check(),
        || refine(|| ()).op("undone", (), |(), ()| ()).spec(|| ()).run(),
    ];
    for run in lacking {
        panic::catch_unwind(run).unwrap_err();
    }
    let places = [line + 2, line + 3].map(|line| (file!().to_owned(), line));
    assert_eq!(*PLACES.lock().unwrap(), places);
}
