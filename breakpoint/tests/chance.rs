//! The chance that two threads meet grows with the limit as the page of breakpoints says: by its formula, and measured
//! with threads that come at random.

use intermezzo_breakpoint::{arm, conflict};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// The time within which both threads come. The shares of it that threads wait are far longer than what a busy machine
/// needs to wake one.
const SPAN: Duration = Duration::from_millis(1_500);

/// The pairs of threads for each limit.
const PAIRS: u32 = 200;

/// Returns the chance that two threads meet that come at random times of one span, and wait for this share of it.
fn chance(share: f64) -> f64 {
    let missed = 1.0 - share.min(1.0);
    1.0 - missed * missed
}

/// Returns the rows of the page's table: the share of the span, and the chances, in hundredths, by the formula and measured.
fn rows() -> Vec<[u32; 3]> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/BREAKPOINTS.md");
    let page = fs::read_to_string(page).unwrap();
    let table = page.split_once("| limit | chance to meet | measured |\n|---|---|---|\n");
    let lines = table.unwrap().1.lines().take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells = line.trim_matches(['|', ' ']).split('|');
        let numbers = cells.map(|cell| cell.trim().split(' ').next().unwrap().parse().unwrap());
        numbers.collect::<Vec<u32>>().try_into().unwrap()
    };
    lines.map(cells).collect()
}

/// Returns numbers below 1 that are the same each time: the xorshift of Marsaglia.
fn random() -> impl FnMut() -> f64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn the_page_has_the_chances_of_the_formula() {
    let rows = rows();
    assert!(!rows.is_empty());
    for [percent, by_formula, measured] in rows {
        let computed = 100.0 * chance(f64::from(percent) / 100.0);
        assert_eq!(by_formula, computed.round() as u32, "{percent} %");
        // Three deviations of as many pairs are ten of a hundred.
        assert!(
            measured.abs_diff(by_formula) <= 12,
            "{percent} %: {measured} % met"
        );
    }
}

#[test]
#[ignore = "a machine that does other work wakes threads late"]
fn threads_meet_as_often_as_the_page_says() {
    let mut random = random();
    let mut wrong = Vec::new();
    for [percent, by_formula, measured] in rows() {
        let share = f64::from(percent) / 100.0;
        let begin = Instant::now() + Duration::from_millis(200);
        let mut come = |name: String, first: bool| {
            let at = begin + SPAN.mul_f64(random());
            thread::spawn(move || {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                let place = conflict(&name, &()).limit(SPAN.mul_f64(share));
                match first {
                    true => place.first_here(),
                    false => place.second(),
                }
            })
        };
        let pair = |pair: u32| {
            let name = format!("pair-{percent}-{pair}");
            arm(&name).unwrap();
            (come(name.clone(), true), come(name, false))
        };
        let pairs: Vec<_> = (0..PAIRS).map(pair).collect();
        let met = pairs.into_iter().filter_map(|(first, second)| {
            let (first, second) = (first.join().unwrap(), second.join().unwrap());
            assert_eq!(first, second, "both sides meet or none");
            first.then_some(())
        });
        let met = met.count() as u32 * 100 / PAIRS;
        if met.abs_diff(by_formula) > 12 || met.abs_diff(measured) > 20 {
            wrong.push(format!("limit {percent} %: {met} % met"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
