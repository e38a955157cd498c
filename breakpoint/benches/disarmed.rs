//! The cost of a place that is not armed: a loop of additions, with a place in each round and without.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use intermezzo_breakpoint as breakpoint;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ROUNDS: u64 = 10_000;

/// Runs rounds of an addition, each after a call of `place`.
#[inline(always)]
fn rounds(n: &AtomicU64, place: impl Fn(&AtomicU64)) -> u64 {
    for _ in 0..ROUNDS {
        place(n);
        n.fetch_add(1, Relaxed);
    }
    n.load(Relaxed)
}

fn disarmed(criterion: &mut Criterion) {
    let n = AtomicU64::new(0);
    let n = black_box(&n);
    let mut group = criterion.benchmark_group("place");
    group.throughput(Throughput::Elements(ROUNDS));
    group.bench_function("none", |bencher| bencher.iter(|| rounds(n, |_| ())));
    group.bench_function("meet", |bencher| {
        bencher.iter(|| {
            rounds(n, |n| {
                breakpoint::conflict("lost-update", n).meet();
            })
        });
    });
    group.bench_function("first, with a turn", |bencher| {
        bencher.iter(|| rounds(n, |n| drop(breakpoint::conflict("lost-update", n).first())));
    });
    group.bench_function("second, refined", |bencher| {
        bencher.iter(|| {
            rounds(n, |n| {
                let place = breakpoint::at("lost-update").skip(7).at_most(1).while_held(n);
                place
                    .when(|| n.load(Relaxed) > 7)
                    .joint(|| n.load(Relaxed), |a, b| a == b)
                    .second();
            })
        });
    });
    group.bench_function("held", |bencher| {
        bencher.iter(|| rounds(n, |n| drop(breakpoint::held(n))));
    });
    breakpoint::arm("another").unwrap();
    group.bench_function("meet, while another is armed", |bencher| {
        bencher.iter(|| {
            rounds(n, |n| {
                breakpoint::conflict("lost-update", n).meet();
            })
        });
    });
    breakpoint::disarm_all();
    group.finish();
}

criterion_group!(benches, disarmed);
criterion_main!(benches);
