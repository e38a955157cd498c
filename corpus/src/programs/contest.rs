//! The buggy programs of RankChecker's table (Bindal, Bansal, Lal, "Variable and Thread Bounding for Systematic Testing of
//! Multithreaded Programs", ISSTA 2013), and their twins, corrected. They are ConTest's benchmarks, and the
//! synchronised sets of Java's library, rewritten from their published descriptions in small sizes. Their unlocked
//! variables are SeqCst atomics here. Those that sort are in `sorting`.
//!
//! One of the table is left out: `RegionOwnership`, which is not described well enough to be rewritten.

use super::scaffold::{number, tasks, twin};
use super::support::CALM_2;
use crate::{Expected, Parameter, Program};
use intermezzo::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Condvar, Mutex};
use intermezzo::thread;

/// Two tasks find the same block.
pub(super) const ALLOCATION_VECTOR: Program = Program {
    name: "allocation_vector",
    about: "two tasks find a free block, check it, mark it and free it, each under a lock of its own (ConTest)",
    parameters: &[number("blocks", 2, (2, 4000), "blocks of the vector")],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |values| {
        allocating(values[0], |blocks| {
            let found = blocks.lock().unwrap().find();
            assert!(!blocks.lock().unwrap().used[found], "the block is free");
            blocks.lock().unwrap().used[found] = true;
            found
        })
    },
};

/// Its twin: a block is found and marked in one section.
pub(super) const ALLOCATION_VECTOR_FIXED: Program = twin(
    &ALLOCATION_VECTOR,
    "allocation_vector_fixed",
    "allocation_vector, with a block that is found and marked under one lock",
    |values| {
        allocating(values[0], |blocks| {
            let mut blocks = blocks.lock().unwrap();
            let found = blocks.find();
            blocks.used[found] = true;
            found
        })
    },
);

/// A vector of blocks, of which some are used.
struct Blocks {
    used: Vec<bool>,
}

impl Blocks {
    fn find(&self) -> usize {
        self.used
            .iter()
            .position(|used| !used)
            .expect("there are enough blocks")
    }
}

/// Two tasks allocate a block each, and free it.
fn allocating(blocks: u64, allocate: impl Fn(&Mutex<Blocks>) -> usize + Sync) {
    let blocks = Mutex::new(Blocks {
        used: vec![false; blocks as usize],
    });
    let work = || {
        let mine = allocate(&blocks);
        blocks.lock().unwrap().used[mine] = false;
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

/// A transfer to an account whose owner holds another lock.
pub(super) const ACCOUNT_TRANSFERS: Program = Program {
    name: "account_transfers",
    about: "two tasks transfer between two accounts, each under the lock of the account that pays (ConTest's Account)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        transferring(|from, to| {
            let _lock = from.lock.lock().unwrap();
            from.add(-10);
            to.add(10);
        })
    },
};

/// Its twin: a transfer holds the locks of both accounts.
pub(super) const ACCOUNT_TRANSFERS_FIXED: Program = twin(
    &ACCOUNT_TRANSFERS,
    "account_transfers_fixed",
    "account_transfers, under the locks of both accounts",
    |_| {
        transferring(|from, to| {
            let [first, second] = match from.number < to.number {
                true => [from, to],
                false => [to, from],
            };
            let _locks = (first.lock.lock().unwrap(), second.lock.lock().unwrap());
            from.add(-10);
            to.add(10);
        })
    },
);

/// An account with a lock that not everybody takes.
struct Account {
    number: usize,
    lock: Mutex<()>,
    amount: AtomicI64,
}

impl Account {
    fn new(number: usize) -> Account {
        Account {
            number,
            lock: Mutex::new(()),
            amount: AtomicI64::new(100),
        }
    }

    fn add(&self, amount: i64) {
        self.amount.store(self.amount.load(SeqCst) + amount, SeqCst);
    }
}

/// Two tasks transfer between two accounts, in both directions.
fn transferring(transfer: impl Fn(&Account, &Account) + Sync) {
    let accounts = [Account::new(0), Account::new(1)];
    thread::scope(|scope| {
        scope.spawn(|| transfer(&accounts[0], &accounts[1]));
        scope.spawn(|| transfer(&accounts[1], &accounts[0]));
    });
    let amounts = accounts.map(|account| account.amount.into_inner());
    assert_eq!(amounts, [100, 100], "each account paid what it got");
}

/// Sellers stop each other too late.
pub(super) const AIRLINE_TICKETS: Program = Program {
    name: "airline_tickets",
    about: "main starts a seller for each ticket until one has seen that the flight is full, which may be too late \
            (ConTest's AirlineTickets)",
    parameters: &[tasks(3, 10)],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |values| {
        let seats = values[0] as usize - 1;
        let (sold, is_full) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..values[0] {
                if is_full.load(SeqCst) {
                    break;
                }
                scope.spawn(|| {
                    if sold.fetch_add(1, SeqCst) + 1 == seats {
                        is_full.store(true, SeqCst);
                    }
                });
            }
        });
        assert!(
            sold.into_inner() <= seats,
            "no more seats are sold than there are"
        );
    },
};

/// Its twin: a seat is sold if there is one.
pub(super) const AIRLINE_TICKETS_FIXED: Program = twin(
    &AIRLINE_TICKETS,
    "airline_tickets_fixed",
    "airline_tickets, with sellers who check for a seat themselves",
    |values| {
        let seats = values[0] as usize - 1;
        let sold = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..values[0] {
                scope.spawn(|| sold.fetch_update(SeqCst, SeqCst, |sold| (sold < seats).then_some(sold + 1)));
            }
        });
        assert_eq!(sold.into_inner(), seats, "each seat is sold");
    },
);

/// The checker comes before the writers.
pub(super) const BUF_WRITER: Program = Program {
    name: "buf_writer",
    about: "two tasks write to a buffer, and one checks what was written last, if it was (ConTest's BufWriter)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        writing(|buffer| {
            let last = buffer.len() - 1;
            Some(buffer[last])
        })
    },
};

/// Its twin: there may be nothing to check.
pub(super) const BUF_WRITER_FIXED: Program = twin(
    &BUF_WRITER,
    "buf_writer_fixed",
    "buf_writer, with a check that allows for an empty buffer",
    |_| writing(|buffer| buffer.last().copied()),
);

/// One task reads what two others have `written` last to a buffer.
fn writing(written: impl Fn(&[u64]) -> Option<u64> + Sync) {
    let buffer = &Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| assert_ne!(written(&buffer.lock().unwrap()), Some(0)));
        for writer in 1..=2 {
            scope.spawn(move || buffer.lock().unwrap().push(writer));
        }
    });
}

/// Two items get the same place.
pub(super) const LINKED_LIST: Program = Program {
    name: "linked_list",
    about: "two tasks add an item each to the end of a list that has no lock (ConTest's LinkedList)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        adding(|list, item| {
            let end = list.end();
            list.next[end].store(item, SeqCst);
        })
    },
};

/// Its twin: the list has a lock.
pub(super) const LINKED_LIST_FIXED: Program = twin(
    &LINKED_LIST,
    "linked_list_fixed",
    "linked_list, with items that are added under a lock",
    |_| {
        adding(|list, item| {
            let _lock = list.lock.lock().unwrap();
            let end = list.end();
            list.next[end].store(item, SeqCst);
        })
    },
);

/// A list of items, which are numbers: the item after each; 0 at the end. The first is 0.
struct List {
    lock: Mutex<()>,
    next: [AtomicUsize; 3],
}

impl List {
    fn end(&self) -> usize {
        let mut end = 0;
        loop {
            match self.next[end].load(SeqCst) {
                0 => return end,
                next => end = next,
            }
        }
    }
}

/// Two tasks add an item each.
fn adding(add: impl Fn(&List, usize) + Sync) {
    let list = List {
        lock: Mutex::new(()),
        next: [const { AtomicUsize::new(0) }; 3],
    };
    let (add, list) = (&add, &list);
    thread::scope(|scope| {
        scope.spawn(move || add(list, 1));
        scope.spawn(move || add(list, 2));
    });
    let items = std::iter::successors(Some(0), |&at: &usize| {
        Some(list.next[at].load(SeqCst)).filter(|&next| next != 0)
    });
    assert_eq!(items.count(), 3, "both items are in the list");
}

/// Blocks are counted by those who release them.
pub(super) const MANAGER: Program = Program {
    name: "manager",
    about: "two tasks release blocks, and count them in a variable that has no lock (ConTest's Manager)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        releasing(|released| {
            let before = released.load(SeqCst);
            released.store(before + 1, SeqCst);
        })
    },
};

/// Its twin: they are counted by an atomic operation.
pub(super) const MANAGER_FIXED: Program = twin(
    &MANAGER,
    "manager_fixed",
    "manager, with blocks that are counted by an atomic operation",
    |_| {
        releasing(|released| {
            released.fetch_add(1, SeqCst);
        })
    },
);

/// Two tasks take blocks from a stock, and `count` each.
fn releasing(count: impl Fn(&AtomicUsize) + Sync) {
    let (stock, released) = (Mutex::new(3), AtomicUsize::new(0));
    let manage = || {
        let take = || {
            let mut stock = stock.lock().unwrap();
            let is_left = *stock > 0;
            *stock -= usize::from(is_left);
            is_left
        };
        while take() {
            count(&released);
        }
    };
    thread::scope(|scope| {
        scope.spawn(manage);
        scope.spawn(manage);
    });
    assert_eq!(released.into_inner(), 3, "each block is counted");
}

/// The ball is taken away while a player looks at it.
pub(super) const PING_PONG: Program = Program {
    name: "ping_pong",
    about: "two players check whether there is a ball, and hit it, which takes it away (ConTest's PingPong)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        playing(|ball| {
            if ball.load(SeqCst) != 0 {
                assert_ne!(ball.swap(0, SeqCst), 0, "there is a ball to hit");
            }
        })
    },
};

/// Its twin: the player who takes the ball hits it.
pub(super) const PING_PONG_FIXED: Program = twin(
    &PING_PONG,
    "ping_pong_fixed",
    "ping_pong, with players who check and take the ball in one step",
    |_| {
        playing(|ball| {
            ball.swap(0, SeqCst);
        })
    },
);

/// Two players, and a ball.
fn playing(play: impl Fn(&AtomicUsize) + Sync) {
    let (play, ball) = (&play, &AtomicUsize::new(1));
    thread::scope(|scope| {
        scope.spawn(move || play(ball));
        scope.spawn(move || play(ball));
    });
}

/// A wait that does not check again.
pub(super) const PIPER: Program = Program {
    name: "piper",
    about: "two passengers take seats that one task fills, and wait if there is none, but do not check again (ConTest's \
            Piper)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        boarding(|seats, filled| {
            let mut seats = seats.lock().unwrap();
            if *seats == 0 {
                seats = filled.wait(seats).unwrap();
            }
            *seats = seats.checked_sub(1).expect("there is a seat");
        })
    },
};

/// Its twin: it checks again.
pub(super) const PIPER_FIXED: Program = twin(
    &PIPER,
    "piper_fixed",
    "piper, with passengers who check again",
    |_| {
        boarding(|seats, filled| {
            let mut seats = filled
                .wait_while(seats.lock().unwrap(), |seats| *seats == 0)
                .unwrap();
            *seats -= 1;
        })
    },
);

/// Two passengers `board`, and one task fills a seat for each, one after the other.
fn boarding(board: impl Fn(&Mutex<u32>, &Condvar) + Sync) {
    let (seats, filled) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| board(&seats, &filled));
        scope.spawn(|| board(&seats, &filled));
        for _ in 0..2 {
            *seats.lock().unwrap() += 1;
            filled.notify_one();
        }
    });
}

/// A signal before anybody waits.
pub(super) const PRODUCER_CONSUMER: Program = Program {
    name: "producer_consumer",
    about: "a consumer waits for a signal that the producer may have given before (ConTest's ProducerConsumer)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| {
        producing(|items, produced| {
            let mut items = produced.wait(items.lock().unwrap()).unwrap();
            *items -= 1;
        })
    },
};

/// Its twin: it waits only if there is nothing.
pub(super) const PRODUCER_CONSUMER_FIXED: Program = twin(
    &PRODUCER_CONSUMER,
    "producer_consumer_fixed",
    "producer_consumer, with a consumer who waits if there is nothing",
    |_| {
        producing(|items, produced| {
            let mut items = produced
                .wait_while(items.lock().unwrap(), |items| *items == 0)
                .unwrap();
            *items -= 1;
        })
    },
);

/// One task produces an item, and another consumes it.
fn producing(consume: impl Fn(&Mutex<u32>, &Condvar) + Sync) {
    let (items, produced) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *items.lock().unwrap() += 1;
            produced.notify_one();
        });
        scope.spawn(|| consume(&items, &produced));
    });
}

/// A set that changes while another one reads it.
pub(super) const SYNCHRONIZED_SET: Program = Program {
    name: "synchronized_set",
    about: "one task adds all of a set to another, whose iterator takes the lock at each step; another task removes an item \
            (HashSet and TreeSet of JDK 1.4.2, as `synchronizedSet` wraps them)",
    parameters: &[SET_ITEMS],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        adding_all(values[0], |from, to| {
            let changes = from.lock().unwrap().changes;
            let mut at = 0;
            loop {
                let from = from.lock().unwrap();
                let Some(&item) = from.items.get(at) else {
                    return;
                };
                assert_eq!(from.changes, changes, "the set did not change meanwhile");
                to.lock().unwrap().items.push(item);
                at += 1;
            }
        })
    },
};

/// Its twin: the lock is held meanwhile.
pub(super) const SYNCHRONIZED_SET_FIXED: Program = twin(
    &SYNCHRONIZED_SET,
    "synchronized_set_fixed",
    "synchronized_set, with the set locked as long as it is read",
    |values| {
        adding_all(values[0], |from, to| {
            let from = from.lock().unwrap();
            to.lock().unwrap().items.extend(&from.items);
        })
    },
);

const SET_ITEMS: Parameter = number("items", 2, (2, 200), "items of the set");

/// A set that counts its changes.
#[derive(Default)]
struct Set {
    items: Vec<u64>,
    changes: u64,
}

/// One task adds all of a set to another, from which another task removes an item.
fn adding_all(items: u64, add_all: impl Fn(&Mutex<Set>, &Mutex<Set>) + Sync) {
    let from = Mutex::new(Set {
        items: (0..items).collect(),
        changes: 0,
    });
    let to = Mutex::new(Set::default());
    thread::scope(|scope| {
        scope.spawn(|| add_all(&from, &to));
        scope.spawn(|| {
            let mut from = from.lock().unwrap();
            from.items.pop();
            from.changes += 1;
        });
    });
}
