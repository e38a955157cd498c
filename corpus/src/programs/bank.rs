//! Accounts.

use super::scaffold::twin;
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

/// The data of `account_bad`.
#[derive(Default)]
struct Account {
    balance: i64,
    deposited: bool,
    withdrawn: bool,
}

/// The check is wrong, and fails if it comes last.
pub(super) const ACCOUNT_BAD: Program = Program {
    name: "account_bad",
    about: "a check with a wrong formula fails after a deposit and a withdrawal; main joins no task \
            (SCTBench CS.account_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| check_deposit_withdraw(1 - 2 - 4),
};

/// Its twin, with the right formula.
pub(super) const ACCOUNT_FIXED: Program = twin(
    &ACCOUNT_BAD,
    "account_fixed",
    "account_bad, with the right formula in its check",
    |_| check_deposit_withdraw(1 + 2 - 4),
);

/// Checks that the balance is the sum once both others are done, a deposit of 2 and a withdrawal of 4.
fn check_deposit_withdraw(sum: i64) {
    let account = Arc::new(Mutex::new(Account {
        balance: 1,
        ..Account::default()
    }));
    in_own_task(&account, move |account| {
        if account.deposited && account.withdrawn {
            assert_eq!(account.balance, sum, "the check's own formula");
        }
    });
    in_own_task(&account, |account| {
        account.balance += 2;
        account.deposited = true;
    });
    in_own_task(&account, |account| {
        account.balance -= 4;
        account.withdrawn = true;
    });
}

/// Runs a section under the account's lock, in a task that no other task waits for.
fn in_own_task(account: &Arc<Mutex<Account>>, section: impl FnOnce(&mut Account) + Send + 'static) {
    let account = account.clone();
    thread::spawn(move || section(&mut account.lock().unwrap()));
}
