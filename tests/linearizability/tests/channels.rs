//! Channels. Both ends are kept, so that the channels stay open.

use linearizability::{Row, block_on, fresh, refine, scenarios};
use std::collections::VecDeque;
use std::sync::Mutex;

type Model = VecDeque<u8>;

/// Sends if there is room for one more.
fn try_send(model: &mut Model, message: u8, size: usize) -> bool {
    let fits = model.len() < size;
    if fits {
        model.push_back(message);
    }
    fits
}

/// Returns the channel, never dropped: crossbeam-channel's destructor asserts that nothing waits for it, and an
/// execution may end with an operation that waits.
fn kept<T>(channel: T) -> &'static T {
    Box::leak(Box::new(channel))
}

/// The row of a channel whose ends have methods with the usual names: unbounded, and with one place.
macro_rules! channel {
    ($unbounded:ident, $bounded:ident, $krate:ident, $package:literal) => {
        #[test]
        fn $unbounded() {
            let subject = || {
                let channel = refine(|| kept($krate::unbounded::<u8>()))
                    .op("send", fresh::<u8>(), |(sender, _), message| {
                        sender.send(message).is_ok()
                    })
                    .op("recv", (), |(_, receiver), ()| receiver.recv().ok())
                    .op("try_recv", (), |(_, receiver), ()| receiver.try_recv().ok())
                    .op("len", (), |(_, receiver), ()| receiver.len());
                scenarios(channel, 40)
            };
            let model = subject()
                .spec(Model::new)
                .means("send", |model: &mut Model, message| {
                    try_send(model, *message, usize::MAX)
                })
                .means("recv", |model: &mut Model, ()| model.pop_front())
                .waits("recv", |model: &Model, ()| model.is_empty())
                .means("try_recv", |model: &mut Model, ()| model.pop_front())
                .means("len", |model: &mut Model, ()| model.len());
            Row::new(
                concat!("`", $package, "`, unbounded"),
                $package,
                "send, recv, try_recv, len",
            )
            .itself(subject().run())
            .model(model.run())
            .linearizable();
        }

        #[test]
        fn $bounded() {
            let subject = || {
                let channel = refine(|| kept($krate::bounded::<u8>(1)))
                    .op("send", fresh::<u8>(), |(sender, _), message| {
                        sender.send(message).is_ok()
                    })
                    .op("try_send", fresh::<u8>(), |(sender, _), message| {
                        sender.try_send(message).is_ok()
                    })
                    .op("recv", (), |(_, receiver), ()| receiver.recv().ok())
                    .op("try_recv", (), |(_, receiver), ()| receiver.try_recv().ok());
                scenarios(channel, 40)
            };
            let model = subject()
                .spec(Model::new)
                .means("send", |model: &mut Model, message| {
                    try_send(model, *message, 1)
                })
                .waits("send", |model: &Model, _: &u8| model.len() == 1)
                .means("try_send", |model: &mut Model, message| {
                    try_send(model, *message, 1)
                })
                .means("recv", |model: &mut Model, ()| model.pop_front())
                .waits("recv", |model: &Model, ()| model.is_empty())
                .means("try_recv", |model: &mut Model, ()| model.pop_front());
            Row::new(
                concat!("`", $package, "` of 1"),
                $package,
                "send, try_send, recv, try_recv",
            )
            .itself(subject().run())
            .model(model.run())
            .linearizable();
        }
    };
}

channel!(
    crossbeam_unbounded,
    crossbeam_bounded,
    crossbeam_channel,
    "crossbeam-channel"
);
channel!(flume_unbounded, flume_bounded, flume, "flume");

#[test]
fn tokio_unbounded() {
    use tokio::sync::mpsc::unbounded_channel;
    let subject = || {
        let make = || {
            let (sender, receiver) = unbounded_channel::<u8>();
            (sender, Mutex::new(receiver))
        };
        let channel = refine(make)
            .op("send", fresh::<u8>(), |(sender, _), message| {
                sender.send(message).is_ok()
            })
            .op("recv", (), |(_, receiver), ()| {
                block_on(receiver.lock().unwrap().recv())
            })
            .op("try_recv", (), |(_, receiver), ()| {
                receiver.lock().unwrap().try_recv().ok()
            })
            .exclusive("receiver", ["recv", "try_recv"]);
        scenarios(channel, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("send", |model: &mut Model, message| {
            try_send(model, *message, usize::MAX)
        })
        .means("recv", |model: &mut Model, ()| model.pop_front())
        .waits("recv", |model: &Model, ()| model.is_empty())
        .means("try_recv", |model: &mut Model, ()| model.pop_front());
    Row::new(
        "`tokio::sync::mpsc`, unbounded",
        "tokio",
        "send, recv, try_recv by one task",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn tokio_bounded() {
    use tokio::sync::mpsc::channel;
    let subject = || {
        let make = || {
            let (sender, receiver) = channel::<u8>(1);
            (sender, Mutex::new(receiver))
        };
        let channel = refine(make)
            .op("try_send", fresh::<u8>(), |(sender, _), message| {
                sender.try_send(message).is_ok()
            })
            .op("send", fresh::<u8>(), |(sender, _), message| {
                block_on(sender.send(message)).is_ok()
            })
            .op("try_recv", (), |(_, receiver), ()| {
                receiver.lock().unwrap().try_recv().ok()
            })
            .exclusive("receiver", ["try_recv"]);
        scenarios(channel, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("try_send", |model: &mut Model, message| {
            try_send(model, *message, 1)
        })
        .means("send", |model: &mut Model, message| try_send(model, *message, 1))
        .waits("send", |model: &Model, _: &u8| model.len() == 1)
        .means("try_recv", |model: &mut Model, ()| model.pop_front());
    Row::new(
        "`tokio::sync::mpsc` of 1",
        "tokio",
        "send, try_send, try_recv by one task",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn thingbuf() {
    let subject = || {
        let queue = refine(|| thingbuf::ThingBuf::<u8>::new(2))
            .op("push", fresh::<u8>(), |queue, value| queue.push(value).is_ok())
            .op("pop", (), |queue, ()| queue.pop());
        let pinned = queue.pin(|s| {
            s.init("push", 1u8)
                .init("push", 2u8)
                .task(|t| t.op("push", 3u8))
                .task(|t| t.op("pop", ()))
                .post("push", 4u8)
        });
        scenarios(pinned, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, message| try_send(model, *message, 2))
        .means("pop", |model: &mut Model, ()| model.pop_front());
    Row::new("`ThingBuf` of 2", "thingbuf", "push, pop")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &["push(1); push(2); { push(3) } ‖ { pop() }; push(4)"],
            "A `pop` advances the head, and then marks its slot as being read.\n\
             A `push` that finds this mark skips the slot: it advances the tail, finds the next slot in use, and fails.\n\
             So the `push` that failed has used the slot that the `pop` freed, and the next one fails, too, although the queue has a single value.\n\
             The documentation of `push` says that it fails \"if there is no capacity remaining in the queue\".",
        );
}
