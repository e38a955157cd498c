//! Criterion benches: the general checker on histories of the length of published ones, states that share their parts
//! against states that are copied, and the executions of a refinement check against those of the engine alone.

mod states;
mod treiber;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use intermezzo_explorer::{Explorer, Operations, Reduction, thread};
use intermezzo_refinement::check::{Same, check};
use intermezzo_refinement::fresh;
use intermezzo_refinement::history::History;
use intermezzo_refinement::specification::Sequential;
use intermezzo_refinement::specs::{queue, register};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;
use treiber::Treiber;

const SEED: u64 = 170;

/// Returns a history of `operations` by `clients`, as some order of effects within their intervals makes it.
fn history<S: Sequential>(
    specification: &S,
    operations: usize,
    clients: u32,
    mut call: impl FnMut(&mut Xoshiro256PlusPlus) -> S::Call,
) -> History<S::Call, S::Return>
where
    S::Call: Clone,
{
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut state = specification.initial();
    let mut recorder = History::recorder();
    let mut under_way = Vec::new();
    let mut idle: Vec<u32> = (0..clients).collect();
    let mut called = 0;
    while called < operations || !under_way.is_empty() {
        if called < operations && !idle.is_empty() && random.random_bool(0.6) {
            let process = idle.swap_remove(random.random_range(0..idle.len()));
            let call = call(&mut random);
            under_way.push((process, recorder.call(process, call.clone()), call));
            called += 1;
        } else if !under_way.is_empty() {
            let (process, id, call) = under_way.swap_remove(random.random_range(0..under_way.len()));
            let value = specification.apply(&mut state, &call).expect("nothing waits");
            recorder.returned(id, value);
            idle.push(process);
        }
    }
    recorder.history()
}

fn register_call(random: &mut Xoshiro256PlusPlus) -> register::Call<u8> {
    let value = random.random_range(0..5);
    match random.random_range(0..3) {
        0 => register::Call::Read,
        1 => register::Call::Write(value),
        _ => register::Call::CompareAndSet(random.random_range(0..5), value),
    }
}

fn queue_call(random: &mut Xoshiro256PlusPlus) -> queue::Call<u16> {
    match random.random_range(0..5) {
        0..3 => queue::Call::Enqueue(random.random()),
        _ => queue::Call::Dequeue,
    }
}

fn general(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("general checker");
    let register = register::Register(0u8);
    let history = history(&register, 170, 5, register_call);
    group.throughput(Throughput::Elements(history.len() as u64));
    group.bench_function("register, 170 operations", |bencher| {
        bencher.iter(|| black_box(check(&register, &history, Same::Linearizable).is_allowed()));
    });
    group.finish();
}

/// The general checker keeps every state that it reaches. Which is cheaper: a copy each, or collections that share?
/// (Two clients only: with more, the order of two values may show much later, and the search dominates the time.)
fn shared_states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("states of a queue");
    let copied = queue::Queue::unbounded();
    let history = history(&copied, 170, 2, queue_call);
    group.throughput(Throughput::Elements(history.len() as u64));
    group.bench_function("copied", |bencher| {
        bencher.iter(|| black_box(check(&copied, &history, Same::Linearizable).is_allowed()));
    });
    group.bench_function("shared", |bencher| {
        bencher.iter(|| black_box(check(&states::SharedQueue, &history, Same::Linearizable).is_allowed()));
    });
    group.finish();
}

/// Three tasks at a Treiber stack: the cost of recording and judging histories. The engine alone marks the operations
/// too, so that both run the same executions.
fn executions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("executions");
    let bare = || {
        Explorer::new().reduction(Reduction::Dpor).explore(|| {
            let (stack, marks) = (Treiber::default(), Operations::new());
            let operation = |number: u64, run: &dyn Fn()| {
                marks.call(number);
                run();
                marks.returned(number);
            };
            thread::scope(|scope| {
                for task in 0..2 {
                    let (stack, operation) = (&stack, &operation);
                    scope.spawn(move || {
                        operation(task * 2, &|| stack.push(task as u8));
                        operation(task * 2 + 1, &|| _ = stack.pop());
                    });
                }
                scope.spawn(|| operation(4, &|| _ = stack.pop()));
            });
        })
    };
    let checked = || {
        intermezzo_refinement::refine(Treiber::default)
            .op("push", fresh::<u8>(), |stack: &Treiber, value| stack.push(value))
            .op("pop", (), |stack, ()| stack.pop())
            .scenarios(0)
            .executions(u64::MAX)
            .pin(|s| {
                s.task(|t| t.op("push", 1u8).op("pop", ()))
                    .task(|t| t.op("push", 2u8).op("pop", ()))
                    .task(|t| t.op("pop", ()))
            })
            .spec(Vec::new)
            .means("push", |stack: &mut Vec<u8>, value: &u8| stack.push(*value))
            .means("pop", |stack, (): &()| stack.pop())
            .run()
    };
    assert_eq!(bare().executions(), checked().executions);
    group.throughput(Throughput::Elements(bare().executions()));
    group.bench_function("the engine alone", |bencher| {
        bencher.iter(|| black_box(bare().traces()))
    });
    group.bench_function("refinement", |bencher| {
        bencher.iter(|| black_box(checked().histories))
    });
    group.finish();
}

criterion_group!(benches, general, shared_states, executions);
criterion_main!(benches);
