//! Refinement of a simple stack: the results of its operations run one at a time, and a check that all results of
//! concurrent operations are among them.
//!
//! `cargo run --example refine_stack`

#![allow(clippy::print_stdout, reason = "an example for the terminal")]

use intermezzo::refinement::{Refinement, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicU8, Ordering::SeqCst};

/// A stack in an array.
#[derive(Default)]
struct Stack {
    /// The number of values.
    top: Mutex<usize>,
    slots: [AtomicU8; 8],
}

impl Stack {
    fn push(&self, value: u8) {
        let mut top = self.top.lock().unwrap();
        self.slots[*top].store(value, SeqCst);
        *top += 1;
    }

    fn pop(&self) -> Option<u8> {
        let mut top = self.top.lock().unwrap();
        *top = top.checked_sub(1)?;
        Some(self.slots[*top].load(SeqCst))
    }

    /// Releases the lock before it reads, which is too early.
    fn pop_too_early(&self) -> Option<u8> {
        let slot = {
            let mut top = self.top.lock().unwrap();
            *top = top.checked_sub(1)?;
            *top
        };
        Some(self.slots[slot].load(SeqCst))
    }
}

fn test(pop: fn(&Stack) -> Option<u8>) -> Refinement<Stack> {
    refine(Stack::default)
        .op("push", fresh::<u8>(), Stack::push)
        .op("pop", (), move |stack, ()| pop(stack))
        .show(|stack: &Stack| {
            let top = *stack.top.lock().unwrap();
            let slots: Vec<u8> = stack.slots.iter().map(|slot| slot.load(SeqCst)).collect();
            format!("top {top}, {:?}", &slots[..3])
        })
        .pin(|scenario| {
            scenario
                .init("push", 1u8)
                .task(|task| task.op("push", 2u8))
                .task(|task| task.op("pop", ()))
                .post("pop", ())
        })
}

fn main() {
    match test(Stack::pop).scenarios(0).observe() {
        Ok(observations) => println!("one at a time:\n{observations}"),
        Err(report) => println!("{report}"),
    }
    println!("at once: {}", test(Stack::pop).run());
    println!(
        "at once, with a pop that lets go too early: {}",
        test(Stack::pop_too_early).run()
    );
}
