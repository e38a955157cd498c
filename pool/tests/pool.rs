//! A pool on a server of its own: items are done once, whatever comes late, twice or damaged, and whatever ends.

mod common;

use common::Server;
use intermezzo_pool::{
    Cover, FORMAT, Item, Outcome, Pool, Run, ShareName, Take, Taken, TestEntry, WorkerEntry,
};
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_millis(300);

fn run(id: &str, tests: usize) -> Run {
    let test = |number| TestEntry {
        program: format!("a::t{number}"),
        binary: 0,
        stops_at_failure: true,
    };
    Run {
        format: FORMAT.into(),
        id: id.into(),
        version: "0".into(),
        started: 1,
        binaries: Vec::new(),
        settings: vec![("strategy".into(), "dfs".into())],
        config: "none".into(),
        split_after_ms: 100,
        tests: (0..tests).map(test).collect(),
    }
}

fn report(object: &str) -> Outcome {
    Outcome::Report {
        object: object.into(),
        fails: false,
        executions: 10,
        seconds: 0.5,
        findings: Vec::new(),
        worker: object.into(),
    }
}

#[track_caller]
fn taken(pool: &Pool, run: &Run) -> Taken {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if let Take::Taken(taken) = pool.take(run, WAIT).unwrap() {
            return *taken;
        }
    }
    panic!("no item comes");
}

fn has_none(pool: &Pool, run: &Run) -> bool {
    matches!(pool.take(run, WAIT).unwrap(), Take::Nothing)
}

#[test]
fn items_are_done_once() {
    let Some(server) = Server::start() else { return };
    let (one, other) = (server.pool("p"), server.pool("p"));
    let run = run("r", 2);
    one.submit(&run).unwrap();
    assert_eq!(other.runs().unwrap(), std::slice::from_ref(&run));
    let (first, second) = (taken(&one, &run), taken(&other, &run));
    assert_eq!((first.item.test, second.item.test), (0, 1));
    assert!(has_none(&one, &run));
    assert_eq!(
        one.settle(&first.item, &report("first")).unwrap(),
        report("first")
    );
    // It is done by another one, too, which was late.
    assert_eq!(
        other.settle(&first.item, &report("late")).unwrap(),
        report("first")
    );
    let item = first.item.clone();
    one.done(first);
    // Submitted twice: the server drops the second one.
    one.publish(&item).unwrap();
    assert!(has_none(&one, &run));
    // It is divided, and a share of it is published twice.
    let split = Outcome::Split {
        into: 2,
        worker: "w".into(),
    };
    assert_eq!(other.settle(&second.item, &split).unwrap(), split);
    for _ in 0..2 {
        for share in second.item.share.divided(2) {
            other.publish(&Item::new(&run, 1, share)).unwrap();
        }
    }
    other.done(second);
    for share in ["1/2", "2/2"] {
        let taken = taken(&one, &run);
        assert_eq!(taken.item.share.to_string(), share);
        one.settle(&taken.item, &report(share)).unwrap();
        one.done(taken);
    }
    assert!(has_none(&one, &run));
    let cover = other.cover(&run).unwrap();
    assert!(cover.is_complete());
    assert_eq!(cover.progress().executions, 30);
    one.close(&cover).unwrap();
    assert!(other.runs().unwrap().is_empty());
    assert_eq!(other.status().unwrap().stray, 0);
}

#[test]
fn an_item_is_delivered_again_unless_it_is_kept() {
    let Some(server) = Server::start() else { return };
    let pool = server.pool("p");
    let run = run("r", 2);
    pool.submit(&run).unwrap();
    let (mut kept, lost) = (taken(&pool, &run), taken(&pool, &run));
    let item = lost.item.clone();
    drop(lost);
    let begin = Instant::now();
    let again = loop {
        pool.keep(&mut kept);
        match pool.take(&run, WAIT).unwrap() {
            Take::Taken(taken) => break *taken,
            _ => assert!(begin.elapsed() < Duration::from_secs(20)),
        }
    };
    assert_eq!((&again.item, again.deliveries), (&item, 2));
    assert!(begin.elapsed() > Duration::from_secs(3));
    pool.done(again);
    pool.done(kept);
    assert!(has_none(&pool, &run));
}

#[test]
fn workers_that_wait_are_counted() {
    let Some(server) = Server::start() else { return };
    let pool = server.pool("p");
    let run = run("r", 1);
    pool.submit(&run).unwrap();
    let busy = taken(&pool, &run);
    assert_eq!(pool.idle_workers(&busy), 0);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let other = server.pool("p");
            other.take(&run, Duration::from_secs(4)).unwrap();
        });
        let begin = Instant::now();
        while pool.idle_workers(&busy) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(10), "no worker waits");
            pool.pause(Duration::from_millis(50));
        }
        waits.join().unwrap();
    });
    pool.done(busy);
}

#[test]
fn a_server_that_was_away_goes_on_where_it_was() {
    let Some(mut server) = Server::start() else { return };
    let pool = server.pool("p");
    let run = run("r", 3);
    pool.submit(&run).unwrap();
    let before = taken(&pool, &run);
    pool.settle(&before.item, &report("before")).unwrap();
    pool.done(before);
    pool.put_report("before", b"{}").unwrap();
    let held = taken(&pool, &run);
    server.restart(Duration::from_millis(700));
    // Held across the restart.
    pool.settle(&held.item, &report("held")).unwrap();
    pool.done(held);
    let mut cover = Cover::new(&run);
    let begin = Instant::now();
    while !cover.is_complete() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", cover.open());
        if let Take::Taken(taken) = pool.take(&run, WAIT).unwrap() {
            if pool.outcome(&taken.item).unwrap().is_none() {
                pool.settle(&taken.item, &report("after")).unwrap();
            }
            pool.done(*taken);
        }
        pool.update(&mut cover, 10).unwrap();
    }
    assert_eq!(cover.leaves(0)[0].outcome, Some(&report("before")));
    assert_eq!(cover.leaves(1)[0].outcome, Some(&report("held")));
    assert_eq!(pool.report("before").unwrap().unwrap(), b"{}");
    assert_eq!(pool.report("none").unwrap(), None);
}

/// Changes a message: cut, bytes, bits, or numbers that cannot be.
fn mutated(good: &[u8], roll: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut bytes = good.to_vec();
    match roll(5) {
        0 => bytes.truncate(roll(good.len())),
        1 => bytes[roll(good.len())] = roll(256) as u8,
        2 => bytes[roll(good.len())] ^= 1 << roll(8),
        3 => {
            let from = roll(good.len());
            bytes.drain(from..(from + 1 + roll(12)).min(good.len()));
        }
        _ => {
            let with = ["18446744073709551615", "-1", "1e400", "null", "[]", "{}"][roll(6)];
            let text = String::from_utf8(bytes).unwrap();
            let at = text[roll(text.len())..].find(|letter: char| letter.is_ascii_digit());
            let at = at.unwrap_or_default();
            let rest = text[at..].trim_start_matches(|letter: char| letter.is_ascii_digit());
            bytes = (text[..at].to_owned() + with + rest).into_bytes();
        }
    }
    bytes
}

fn generator() -> impl FnMut(usize) -> usize {
    let mut seed = 11_u64;
    move |most| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    }
}

/// A thousand items and results that are damaged, foreign or old: each is set aside or done, and nothing is lost.
#[test]
fn damaged_messages_are_set_aside() {
    let Some(server) = Server::start() else { return };
    let pool = server.pool("p");
    let run = run("r", 1);
    pool.submit(&run).unwrap();
    let good = br#"{"format":"intermezzo-pool/1","run":"r","test":0,"share":"3/8.1/4"}"#;
    let url = server.address("p").to_string();
    let server_url = url.rsplit_once('/').unwrap().0.to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut roll = generator();
    runtime.block_on(async {
        let client = async_nats::connect(&server_url).await.unwrap();
        let jetstream = async_nats::jetstream::new(client);
        for _ in 0..1_000 {
            let bytes = mutated(good, &mut roll);
            jetstream
                .publish("p.items.r", bytes.into())
                .await
                .unwrap()
                .await
                .unwrap();
        }
        let old = br#"{"format":"intermezzo-pool/0","run":"r","test":0,"share":"whole"}"#;
        jetstream
            .publish("p.items.r", old.to_vec().into())
            .await
            .unwrap()
            .await
            .unwrap();
        jetstream
            .publish("p.items.gone", good.to_vec().into())
            .await
            .unwrap()
            .await
            .unwrap();
        let bucket = jetstream.get_key_value("p-state").await.unwrap();
        bucket.put("run.x", "{}".into()).await.unwrap();
    });
    let (mut aside, mut items, mut whole) = (0, 0, 0);
    while aside + items < 1_002 {
        match pool.take(&run, WAIT).unwrap() {
            Take::Aside(_) => aside += 1,
            Take::Taken(taken) => {
                items += 1;
                whole += usize::from(taken.item.share.is_whole());
                if pool.outcome(&taken.item).unwrap().is_none() {
                    pool.settle(&taken.item, &report("x")).unwrap();
                }
                pool.done(*taken);
            }
            Take::Nothing => {}
        }
    }
    // Some mutations are items still: other shares, which the run does not ask for.
    assert!(aside > 500 && whole == 1, "{aside} and {items}, {whole} whole");
    assert!(pool.cover(&run).unwrap().is_complete());
    assert_eq!(pool.runs().unwrap().len(), 1);
    let status = pool.status().unwrap();
    assert_eq!(status.aside.len(), aside + 1);
    assert!(
        status
            .aside
            .iter()
            .any(|aside| aside.place == "run.x" && aside.why.contains("malformed"))
    );
    assert!(
        status
            .aside
            .iter()
            .any(|aside| aside.why.contains("its format is"))
    );
    assert_eq!(status.stray, 1);

    // Results.
    let item = Item::new(&run, 0, "1/2".parse::<ShareName>().unwrap());
    let outcome = serde_json::to_vec(&report("o1")).unwrap();
    let mut withdrawn = 0;
    for _ in 0..200 {
        let bytes = mutated(&outcome, &mut roll);
        runtime.block_on(async {
            let client = async_nats::connect(&server_url).await.unwrap();
            let bucket = async_nats::jetstream::new(client)
                .get_key_value("p-state")
                .await
                .unwrap();
            bucket.put("result.r.0.1-2", bytes.into()).await.unwrap();
        });
        withdrawn += usize::from(pool.outcome(&item).unwrap().is_none());
    }
    assert!(withdrawn > 100, "{withdrawn}");
    pool.withdraw(&item).unwrap();
    assert_eq!(pool.settle(&item, &report("again")).unwrap(), report("again"));
}

#[test]
fn reports_of_any_size_are_kept() {
    let Some(server) = Server::start() else { return };
    let pool = server.pool("p");
    // Larger than a message may be.
    let report: Vec<u8> = (0..5_000_000_u32).map(|number| (number * 7) as u8).collect();
    pool.put_report("large", &report).unwrap();
    assert_eq!(pool.report("large").unwrap().unwrap(), report);
    pool.drop_report("large");
    assert_eq!(pool.report("large").unwrap(), None);
}

#[test]
fn workers_are_listed() {
    let Some(server) = Server::start() else { return };
    let pool = server.pool("p");
    let entry = WorkerEntry {
        name: "host-1-2".into(),
        item: None,
        done: 3,
        refuses: vec![("r".into(), "the code differs".into())],
    };
    pool.show_worker(&entry);
    assert_eq!(pool.status().unwrap().workers, [entry]);
    pool.hide_worker("host-1-2");
    assert!(pool.status().unwrap().workers.is_empty());
}

#[test]
fn a_server_that_cannot_be_used_is_a_message() {
    let unused: intermezzo_pool::Address = "nats://127.0.0.1:1/p".parse().unwrap();
    let problem = Pool::connect(&unused).err().unwrap().to_string();
    assert!(
        problem.contains("cannot connect to nats://127.0.0.1:1/p"),
        "{problem}"
    );
}

#[test]
fn users_and_tokens_are_asked_for() {
    for (arguments, right, wrong) in [
        (
            &["--user", "me", "--pass", "secret"][..],
            "me:secret@",
            "me:guessed@",
        ),
        (&["--auth", "secret"], "secret@", "guessed@"),
    ] {
        let Some(server) = Server::with(arguments) else {
            return;
        };
        let with = |who: &str| {
            let address = server
                .address("p")
                .to_string()
                .replacen("//", &format!("//{who}"), 1);
            Pool::connect(&address.parse().unwrap())
        };
        with(right).unwrap().status().unwrap();
        let problem = with(wrong).err().unwrap().to_string();
        assert!(
            problem.contains("check the address and the credentials"),
            "{problem}"
        );
        assert!(!problem.contains("guessed"), "{problem}");
        assert!(with("").is_err());
    }
}
