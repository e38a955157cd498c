//! A bug that depends on timing, and the two lines that make it happen each time: in a plain process, and in the first
//! execution of an exploration.
//!
//! `cargo run --example breakpoint` shows it rarely, `INTERMEZZO_BREAKPOINTS=overdraft cargo run --example breakpoint` always.

#![allow(clippy::print_stdout, reason = "an example for the terminal")]

use intermezzo::sync::Mutex;
use intermezzo::{Explorer, breakpoint, thread};

/// An account whose withdrawal looks at the balance and then takes from it.
struct Account(Mutex<i64>);

impl Account {
    fn withdraw(&self, amount: i64) {
        let enough = *self.0.lock().unwrap() >= amount;
        if enough {
            // In the middle of what should be atomic: another task may withdraw now.
            breakpoint::atomicity("overdraft", self).within();
            *self.0.lock().unwrap() -= amount;
        }
    }

    fn pay_fee(&self, fee: i64) {
        // Comes in between, and is done when the turn is dropped.
        let _turn = breakpoint::atomicity("overdraft", self).intrude();
        *self.0.lock().unwrap() -= fee;
    }
}

/// Returns the rest of 100 after a withdrawal of 80, if there is as much, and a fee of 30.
fn left() -> i64 {
    let account = Account(Mutex::new(100));
    thread::scope(|scope| {
        scope.spawn(|| account.withdraw(80));
        scope.spawn(|| account.pay_fee(30));
    });
    account.0.into_inner().unwrap()
}

fn main() {
    println!("a process: {} is left", left());
    for figures in breakpoint::statistics() {
        println!("{figures:?}");
    }
    let armings = "overdraft".parse().expect("a name is an arming");
    let report = Explorer::new().breakpoints(armings).explore(|| {
        let left = left();
        assert!(left >= 0, "{left} is left");
    });
    println!("an exploration:\n{report}");
}
