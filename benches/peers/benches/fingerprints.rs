//! The table of fingerprints that workers share, compared with dashmap.
//!
//! `cargo bench -p intermezzo-peers --bench fingerprints`. Each worker adds a million fingerprints, a third of which
//! exist already: of traces, which are only counted, and of states, which have a value.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dashmap::DashMap;
use intermezzo_engine::trace::{FingerprintBatch, Fingerprints};
use std::hash::{BuildHasherDefault, Hasher};
use std::thread;

/// The number of fingerprints of each worker.
const EACH: u64 = 1_000_000;

/// Room for all of them, in bytes.
const ROOM: usize = 1 << 32;

/// A fingerprint is its own hash, as in the table of the engine.
#[derive(Clone, Copy, Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a fingerprint is written as a number");
    }
    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64 ^ (fingerprint >> 64) as u64;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

type Dash<V> = DashMap<u128, V, BuildHasherDefault<Itself>>;

/// The last step of the generator splitmix64.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns the fingerprints of one of `workers`.
fn fingerprints(worker: u64, workers: u64) -> impl Iterator<Item = u128> {
    let different = EACH * workers * 2 / 3;
    (worker * EACH..(worker + 1) * EACH).map(move |number| {
        let which = mix(number) % different;
        u128::from(mix(which)) << 64 | u128::from(mix(which ^ 0xAB_CDEF))
    })
}

/// Runs `work` for all workers concurrently.
fn at_once(workers: u64, work: impl Fn(u64) + Sync) {
    let work = &work;
    thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || work(worker));
        }
    });
}

fn traces(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("traces");
    group.sample_size(10);
    for workers in [1, 2] {
        group.bench_function(BenchmarkId::new("engine", workers), |bencher| {
            bencher.iter(|| {
                let table = Fingerprints::new(ROOM);
                at_once(workers, |worker| {
                    let mut batch = FingerprintBatch::default();
                    fingerprints(worker, workers).for_each(|fingerprint| batch.add(fingerprint, &table));
                    batch.count(&table);
                });
                table.count()
            });
        });
        group.bench_function(BenchmarkId::new("dashmap", workers), |bencher| {
            bencher.iter(|| {
                let table: Dash<()> = Dash::default();
                at_once(workers, |worker| {
                    fingerprints(worker, workers).for_each(|fingerprint| _ = table.insert(fingerprint, ()));
                });
                table.len()
            });
        });
    }
    group.finish();
}

fn states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("states");
    group.sample_size(10);
    for workers in [1, 2] {
        group.bench_function(BenchmarkId::new("engine", workers), |bencher| {
            bencher.iter(|| {
                let table: Fingerprints<u32> = Fingerprints::new(ROOM);
                at_once(workers, |worker| {
                    for fingerprint in fingerprints(worker, workers) {
                        table.visit(fingerprint, || 1, |fewest| *fewest = 1.min(*fewest));
                    }
                });
                table.count()
            });
        });
        group.bench_function(BenchmarkId::new("dashmap", workers), |bencher| {
            bencher.iter(|| {
                let table: Dash<u32> = Dash::default();
                at_once(workers, |worker| {
                    for fingerprint in fingerprints(worker, workers) {
                        let entry = table.entry(fingerprint);
                        entry.and_modify(|fewest| *fewest = 1.min(*fewest)).or_insert(1);
                    }
                });
                table.len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, traces, states);
criterion_main!(benches);
