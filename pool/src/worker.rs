//! A worker's side of a pool: an item is taken, kept while its process runs, and done with.

use crate::PoolError;
use crate::items::{Item, Run};
use crate::server::{ACK_WAIT, Pool};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt as _;
use std::time::{Duration, Instant};

/// The end of a wait for an item.
pub enum Take {
    /// An item.
    Taken(Box<Taken>),
    /// A message that is no item. It was set aside, for this reason.
    Aside(String),
    /// There was none.
    Nothing,
}

/// An item that this worker has. If it is dropped without [`Taken::done`], the server delivers the item again.
pub struct Taken {
    /// The item.
    pub item: Item,
    /// The number of times that it was delivered.
    pub deliveries: i64,
    message: jetstream::Message,
    consumer: Consumer<pull::Config>,
    kept: Instant,
}

impl Pool {
    /// Waits for an item of a run.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn take(&self, run: &Run, wait: Duration) -> Result<Take, PoolError> {
        let consumer = self.consumer(&run.id)?;
        let message = self.runtime.block_on(async {
            let fetched = consumer.fetch().max_messages(1).expires(wait).messages();
            // Longer than the server: it may be away.
            match tokio::time::timeout(wait + Duration::from_secs(2), fetched).await {
                Ok(Ok(mut messages)) => {
                    let next = tokio::time::timeout(wait + Duration::from_secs(2), messages.next());
                    next.await.ok().flatten().and_then(Result::ok)
                }
                _ => None,
            }
        });
        let Some(message) = message else {
            return Ok(Take::Nothing);
        };
        let (place, deliveries) = match message.info() {
            Ok(info) => (format!("item.{}", info.stream_sequence), info.delivered),
            Err(_) => ("item".to_owned(), 1),
        };
        match Item::read(&message.payload, run) {
            Ok(item) => Ok(Take::Taken(Box::new(Taken {
                item,
                deliveries,
                message,
                consumer,
                kept: Instant::now(),
            }))),
            Err(why) => {
                self.set_aside(&place, &why, &message.payload)?;
                let _ = self.runtime.block_on(message.ack_with(AckKind::Term));
                Ok(Take::Aside(format!("{place}: {why}")))
            }
        }
    }

    /// Tells the server that the item is worked at, if that is due.
    pub fn keep(&self, taken: &mut Taken) {
        if taken.kept.elapsed() >= ACK_WAIT / 4 {
            taken.kept = Instant::now();
            let _ = self.runtime.block_on(taken.message.ack_with(AckKind::Progress));
        }
    }

    /// Returns the number of workers that wait for items of the run while there are none; 0 if the server is away.
    pub fn idle_workers(&self, taken: &Taken) -> usize {
        let info = self.runtime.block_on(async {
            let limit = Duration::from_secs(1);
            tokio::time::timeout(limit, taken.consumer.get_info()).await
        });
        match info {
            Ok(Ok(info)) if info.num_pending == 0 => info.num_waiting,
            _ => 0,
        }
    }

    /// Says that the item has its result. If the server does not hear it, the item is delivered again, and found done.
    pub fn done(&self, taken: Taken) {
        let _ = self.runtime.block_on(async {
            let limit = Duration::from_secs(2);
            tokio::time::timeout(limit, taken.message.double_ack()).await
        });
    }
}
