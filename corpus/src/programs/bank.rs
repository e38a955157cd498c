//! Accounts.

use super::support::{CALM_2, CALM_3};
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::thread;
use std::sync::Arc;

/// A deposit between a withdrawal's read and its write is lost.
pub(super) const BALANCE: Program = Program {
    name: "balance",
    about: "child withdraws 10 in two sections, main deposits 10 in one; 2 preemptions lose the deposit \
            (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let balance = Mutex::new(10);
        thread::scope(|scope| {
            scope.spawn(|| {
                let read = *balance.lock().unwrap();
                *balance.lock().unwrap() = read - 10;
            });
            *balance.lock().unwrap() += 10;
        });
        assert_eq!(balance.into_inner().unwrap(), 10);
    },
};

/// Its twin, with a withdrawal in one section.
pub(super) const BALANCE_FIXED: Program = Program {
    name: "balance_fixed",
    about: "the same account, with a withdrawal in one section",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let balance = Mutex::new(10);
        thread::scope(|scope| {
            scope.spawn(|| *balance.lock().unwrap() -= 10);
            *balance.lock().unwrap() += 10;
        });
        assert_eq!(balance.into_inner().unwrap(), 10);
    },
};

/// Three sections in any order.
pub(super) const BALANCE2: Program = Program {
    name: "balance2",
    about: "two children withdraw 5 each and main deposits 10, one section each (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let balance = Mutex::new(10);
        let withdraw = || *balance.lock().unwrap() -= 5;
        thread::scope(|scope| {
            scope.spawn(withdraw);
            scope.spawn(withdraw);
            *balance.lock().unwrap() += 10;
        });
        assert_eq!(balance.into_inner().unwrap(), 10);
    },
};

/// What `account_bad` keeps.
#[derive(Default)]
struct Account {
    balance: i64,
    deposited: bool,
    withdrawn: bool,
}

/// The check is wrong, and fails if it comes last.
pub(super) const ACCOUNT_BAD: Program = Program {
    name: "account_bad",
    about: "a check with a wrong formula fails after a deposit and a withdrawal; main joins nobody \
            (SCTBench CS.account_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let account = Arc::new(Mutex::new(Account {
            balance: 1,
            ..Account::default()
        }));
        let in_section = |section: fn(&mut Account)| {
            let account = account.clone();
            thread::spawn(move || section(&mut account.lock().unwrap()));
        };
        in_section(|account| {
            if account.deposited && account.withdrawn {
                assert_eq!(account.balance, 1 - 2 - 4, "the check's own formula");
            }
        });
        in_section(|account| {
            account.balance += 2;
            account.deposited = true;
        });
        in_section(|account| {
            account.balance -= 4;
            account.withdrawn = true;
        });
    },
};
