//! The server's side of a pool: the stream of items, the buckets of entries and the store of reports.
//!
//! An operation that fails because the server is away is tried again until it succeeds or the patience ends.

use crate::address::{self, Address};
use crate::cover::Cover;
use crate::items::{Aside, Item, Outcome, Run, ShareName, WorkerEntry, bytes, parsed, short};
use crate::{FORMAT, PoolError};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::kv::{CreateErrorKind, Store};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use futures_util::{StreamExt as _, TryStreamExt as _};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt as _;
use tokio::runtime::{Builder, Runtime};

/// The time without a word of its worker after which an item is delivered again. Workers say three times as often that they
/// are at work; a worker that was away for longer may find that its item was done by another one.
pub(crate) const ACK_WAIT: Duration = Duration::from_secs(5);

/// The time for which runs, and what belongs to them, are kept.
const KEPT: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The time without a word after which a worker is not listed any more.
const WORKER_KEPT: Duration = Duration::from_secs(30);

/// The time for which a run's consumer is kept without a worker. The next one makes it again; items are kept in the stream.
const CONSUMER_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The time for which operations are tried while the server is away.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(300);

/// A connection to a pool.
pub struct Pool {
    /// Runs the connection. Calls block.
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) address: Address,
    pub(crate) jetstream: Context,
    stream: Stream,
    pub(crate) state: Store,
    workers: Store,
    reports: ObjectStore,
    /// The number of the last message identity that was made for something that has to be sent again.
    again: AtomicU64,
    patience: Duration,
}

/// The state of a pool, for people.
#[derive(Clone, Debug)]
pub struct Status {
    /// The runs with their results, the oldest first.
    pub runs: Vec<Cover>,
    /// The workers.
    pub workers: Vec<WorkerEntry>,
    /// Messages that were set aside, because they are no items of a pool.
    pub aside: Vec<Aside>,
    /// The number of items that are of no run.
    pub stray: u64,
}

impl Pool {
    /// Connects to a pool. Makes its stream and its buckets if the server does not have them.
    ///
    /// # Errors
    /// If the server cannot be reached, refuses the credentials, or has no JetStream.
    pub fn connect(address: &Address) -> Result<Pool, PoolError> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| PoolError::of("start the thread of the connection", error))?;
        let options = address::options(address)?;
        let servers = address.servers();
        let unreachable = |error: &dyn fmt::Display| {
            PoolError::new(format!(
                "cannot connect to {address} ({error}): check the address and the credentials, and that the server runs"
            ))
        };
        let connected = runtime.block_on(async {
            let limit = Duration::from_secs(20);
            tokio::time::timeout(limit, options.connect(servers)).await
        });
        let client = connected
            .map_err(|_| unreachable(&"no answer within 20 seconds"))?
            .map_err(|error| unreachable(&error))?;
        // It starts a task.
        let jetstream = {
            let _within = runtime.enter();
            jetstream::new(client)
        };
        let no_streams = |error: &dyn fmt::Display| {
            PoolError::new(format!(
                "the server of {address} cannot keep the pool ({error}): start nats-server with JetStream, `nats-server -js`, \
                 and let the user make streams and key-value buckets"
            ))
        };
        let name = address.stream();
        let made = runtime.block_on(async {
            let stream = jetstream
                .get_or_create_stream(stream::Config {
                    name: name.to_owned(),
                    subjects: vec![format!("{name}.items.>")],
                    retention: RetentionPolicy::WorkQueue,
                    storage: StorageType::File,
                    max_age: KEPT,
                    description: Some(format!("items of {FORMAT}")),
                    ..stream::Config::default()
                })
                .await
                .map_err(|error| no_streams(&error))?;
            let bucket = async |suffix: &str, max_age| {
                let bucket = format!("{name}-{suffix}");
                // As a client makes a bucket. The client's own call asks for the account first, which servers before 2.10
                // describe otherwise.
                let stream = stream::Config {
                    name: format!("KV_{bucket}"),
                    subjects: vec![format!("$KV.{bucket}.>")],
                    max_messages_per_subject: 1,
                    max_age,
                    storage: StorageType::File,
                    discard: DiscardPolicy::New,
                    allow_rollup: true,
                    deny_delete: true,
                    allow_direct: true,
                    num_replicas: 1,
                    ..stream::Config::default()
                };
                let made = jetstream.get_or_create_stream(stream).await;
                made.map_err(|error| no_streams(&error))?;
                jetstream
                    .get_key_value(&bucket)
                    .await
                    .map_err(|error| no_streams(&error))
            };
            let state = bucket("state", KEPT).await?;
            let workers = bucket("workers", WORKER_KEPT).await?;
            let bucket = format!("{name}-reports");
            let reports = match jetstream.get_object_store(&bucket).await {
                Ok(store) => store,
                Err(_) => {
                    let config = object_store::Config {
                        bucket,
                        max_age: KEPT,
                        storage: StorageType::File,
                        ..object_store::Config::default()
                    };
                    let made = jetstream.create_object_store(config).await;
                    made.map_err(|error| no_streams(&error))?
                }
            };
            Ok((stream, state, workers, reports))
        })?;
        let (stream, state, workers, reports) = made;
        if stream.cached_info().config.retention != RetentionPolicy::WorkQueue {
            return Err(PoolError::new(format!(
                "the stream {name:?} of the server is not a pool's: give the pool another name, as in nats://host:4222/other"
            )));
        }
        Ok(Pool {
            runtime: Arc::new(runtime),
            address: address.clone(),
            jetstream,
            stream,
            state,
            workers,
            reports,
            again: AtomicU64::new(0),
            patience: PATIENCE,
        })
    }

    /// Returns the address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Waits, while the connection is kept.
    pub fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    /// Tries until it succeeds. `what` is what it does.
    pub(crate) fn keep_trying<T, E: fmt::Display>(
        &self,
        what: &str,
        mut action: impl AsyncFnMut() -> Result<T, E>,
    ) -> Result<T, PoolError> {
        let begin = Instant::now();
        self.runtime.block_on(async {
            loop {
                match action().await {
                    Ok(done) => return Ok(done),
                    Err(error) if begin.elapsed() > self.patience => return Err(PoolError::of(what, error)),
                    Err(_) => tokio::time::sleep(PAUSE).await,
                }
            }
        })
    }

    pub(crate) fn subject(&self, run: &str) -> String {
        format!("{}.items.{run}", self.address.stream())
    }

    /// Submits a run: its entry, its consumer, and an item for each test.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn submit(&self, run: &Run) -> Result<(), PoolError> {
        self.consumer(&run.id)?;
        let key = format!("run.{}", run.id);
        self.keep_trying("submit the run", async || {
            self.state.put(&key, bytes(run).into()).await.map(drop)
        })?;
        for test in 0..run.tests.len() {
            self.publish(&Item::new(run, test, ShareName::WHOLE))?;
        }
        Ok(())
    }

    /// Returns the consumer of a run, which all its workers have in common.
    pub(crate) fn consumer(&self, run: &str) -> Result<Consumer<pull::Config>, PoolError> {
        let name = format!("run-{run}");
        self.keep_trying("make the consumer of the run", async || {
            self.stream
                .get_or_create_consumer(
                    &name,
                    pull::Config {
                        durable_name: Some(name.clone()),
                        ack_policy: AckPolicy::Explicit,
                        ack_wait: ACK_WAIT,
                        filter_subject: self.subject(run),
                        max_ack_pending: 100_000,
                        max_waiting: 20_000,
                        // A worker that was late may have made it again when the run was closed.
                        inactive_threshold: CONSUMER_KEPT,
                        ..pull::Config::default()
                    },
                )
                .await
        })
    }

    /// Publishes an item. The server drops it if it was published some time before: within two minutes, and if it is
    /// older, its result says that it is done.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn publish(&self, item: &Item) -> Result<(), PoolError> {
        self.publish_as(item, item.key())
    }

    /// Publishes an item again that was lost, or whose result was damaged.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn publish_again(&self, item: &Item) -> Result<(), PoolError> {
        let number = self.again.fetch_add(1, SeqCst);
        self.publish_as(item, format!("{}.{}.{number}", item.key(), std::process::id()))
    }

    fn publish_as(&self, item: &Item, id: String) -> Result<(), PoolError> {
        let subject = self.subject(&item.run);
        self.keep_trying("publish an item", async || {
            let message = PublishMessage::build()
                .payload(bytes(item).into())
                .message_id(&id);
            match self.jetstream.send_publish(subject.clone(), message).await {
                Ok(acknowledged) => acknowledged.await.map(drop),
                Err(error) => Err(error),
            }
        })
    }

    /// Returns the runs, the oldest first. Entries that are no runs are set aside.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn runs(&self) -> Result<Vec<Run>, PoolError> {
        let mut runs = Vec::new();
        for key in self.keys("run.")? {
            let Some(entry) = self.get(&key)? else { continue };
            let run = parsed::<Run>(&entry).and_then(|run| match run.format == FORMAT {
                true if key == format!("run.{}", run.id) => Ok(run),
                true => Err("it has another name".to_owned()),
                false => Err(format!(
                    "its format is {:?}, and not {FORMAT:?}",
                    short(&run.format)
                )),
            });
            match run {
                Ok(run) => runs.push(run),
                Err(why) => self.set_aside(&key, &why, &entry)?,
            }
        }
        runs.sort_by(|one, other| (one.started, &one.id).cmp(&(other.started, &other.id)));
        Ok(runs)
    }

    /// Returns `true` if the run has not been closed.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn is_open(&self, run: &Run) -> Result<bool, PoolError> {
        Ok(self.get(&format!("run.{}", run.id))?.is_some())
    }

    /// Returns the result of an item. One that is damaged is set aside, and removed.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn outcome(&self, item: &Item) -> Result<Option<Outcome>, PoolError> {
        let Some(entry) = self.get(&item.key())? else {
            return Ok(None);
        };
        match Outcome::read(&entry) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(why) => {
                self.set_aside(&item.key(), &why, &entry)?;
                self.withdraw(item)?;
                Ok(None)
            }
        }
    }

    /// Removes a result. The item has to be published again.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn withdraw(&self, item: &Item) -> Result<(), PoolError> {
        let key = item.key();
        self.keep_trying("remove a result", async || self.state.purge(&key).await)
    }

    /// Keeps the result of an item, unless it has one. Returns the one that it has.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn settle(&self, item: &Item, outcome: &Outcome) -> Result<Outcome, PoolError> {
        let key = item.key();
        loop {
            let created = self.keep_trying("keep a result", async || {
                match self.state.create(&key, bytes(outcome).into()).await {
                    Ok(_) => Ok(true),
                    Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                    Err(error) => Err(error),
                }
            })?;
            if created {
                return Ok(outcome.clone());
            }
            // Perhaps our own: an answer of the server may have been lost.
            if let Some(first) = self.outcome(item)? {
                return Ok(first);
            }
        }
    }

    /// Notes that a test of a run has failed, so that the rest of it is dropped.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn note_failure(&self, run: &Run, test: usize) -> Result<(), PoolError> {
        let key = format!("failed.{}.{test}", run.id);
        self.keep_trying("note a failure", async || {
            self.state.put(&key, "1".into()).await.map(drop)
        })
    }

    /// Returns `true` if a test of a run has failed, and the rest of it is dropped.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn has_failed(&self, run: &Run, test: usize) -> Result<bool, PoolError> {
        Ok(self.get(&format!("failed.{}.{test}", run.id))?.is_some())
    }

    /// Keeps a report under this name.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn put_report(&self, object: &str, report: &[u8]) -> Result<(), PoolError> {
        self.keep_trying("keep a report", async || {
            self.reports.put(object, &mut &*report).await.map(drop)
        })
    }

    /// Returns a report; `None` if there is none, or it is damaged.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn report(&self, object: &str) -> Result<Option<Vec<u8>>, PoolError> {
        self.keep_trying("read a report", async || {
            let mut found = match self.reports.get(object).await {
                Ok(found) => found,
                Err(error) if error.kind() == object_store::GetErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error.to_string()),
            };
            let mut report = Vec::new();
            match found.read_to_end(&mut report).await {
                Ok(_) => Ok(Some(report)),
                // The checksum is wrong.
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        })
    }

    /// Removes a report that is not needed. What cannot be removed is removed when it is old.
    pub fn drop_report(&self, object: &str) {
        let _ = self.runtime.block_on(self.reports.delete(object));
    }

    /// Notes that something is not what a pool has.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn set_aside(&self, place: &str, why: &str, contents: &[u8]) -> Result<(), PoolError> {
        let aside = Aside {
            place: place.to_owned(),
            why: why.to_owned(),
            begins: short(&String::from_utf8_lossy(contents)),
        };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.".contains(letter);
        let key: String = place
            .chars()
            .map(|letter| if is_plain(letter) { letter } else { '_' })
            .collect();
        let key = format!("aside.{}", key.trim_matches('.'));
        self.keep_trying("set something aside", async || {
            self.state.put(&key, bytes(&aside).into()).await.map(drop)
        })
    }

    /// Lists this worker, and says what it does.
    pub fn show_worker(&self, entry: &WorkerEntry) {
        let key = format!("worker.{}", entry.name);
        let _ = self.runtime.block_on(self.workers.put(&key, bytes(entry).into()));
    }

    /// Takes this worker off the list.
    pub fn hide_worker(&self, name: &str) {
        let _ = self
            .runtime
            .block_on(self.workers.purge(format!("worker.{name}")));
    }

    /// Returns what is known of a run's results.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn cover(&self, run: &Run) -> Result<Cover, PoolError> {
        let mut cover = Cover::new(run);
        while self.update(&mut cover, usize::MAX)? {}
        Ok(cover)
    }

    /// Looks for results of at most this number of open shares. Returns `true` if there were some.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn update(&self, cover: &mut Cover, most: usize) -> Result<bool, PoolError> {
        let mut any = false;
        for item in cover.open().into_iter().take(most) {
            if let Some(outcome) = self.outcome(&item)? {
                cover.add(item.test, item.share, outcome);
                any = true;
            }
        }
        Ok(any)
    }

    /// Returns the number of items of a run that wait in the stream, and of those that workers have.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn queued(&self, run: &Run) -> Result<(u64, usize), PoolError> {
        let consumer = self.consumer(&run.id)?;
        let info = self.keep_trying("ask for the items that wait", async || consumer.get_info().await)?;
        Ok((info.num_pending, info.num_ack_pending))
    }

    /// Removes a run with all that belongs to it.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn close(&self, cover: &Cover) -> Result<(), PoolError> {
        let id = &cover.run().id;
        let run = format!("run.{id}");
        self.keep_trying("close the run", async || self.state.purge(&run).await)?;
        let consumer = format!("run-{id}");
        let _ = self.runtime.block_on(self.stream.delete_consumer(&consumer));
        let subject = self.subject(id);
        let _ = self
            .runtime
            .block_on(async { self.stream.purge().filter(&subject).await });
        for test in 0..cover.run().tests.len() {
            for leaf in cover.leaves(test) {
                if let Some(Outcome::Report { object, .. }) = leaf.outcome {
                    self.drop_report(object);
                }
            }
        }
        for prefix in [format!("result.{id}."), format!("failed.{id}.")] {
            for key in self.keys(&prefix)? {
                let _ = self.runtime.block_on(self.state.purge(&key));
            }
        }
        Ok(())
    }

    /// Returns the state of the pool.
    ///
    /// # Errors
    /// If the server cannot be reached for a long time.
    pub fn status(&self) -> Result<Status, PoolError> {
        let mut runs = Vec::new();
        for run in self.runs()? {
            runs.push(self.cover(&run)?);
        }
        let mut workers = Vec::new();
        let names = self.keep_trying("list the workers", async || {
            let keys = self.workers.keys().await.map_err(|error| error.to_string())?;
            keys.try_collect::<Vec<String>>()
                .await
                .map_err(|error| error.to_string())
        })?;
        for name in names {
            let entry = self.keep_trying("read of a worker", async || self.workers.get(&name).await)?;
            workers.extend(entry.and_then(|entry| parsed(&entry).ok()));
        }
        workers.sort_by(|one: &WorkerEntry, other| one.name.cmp(&other.name));
        let mut aside = Vec::new();
        for key in self.keys("aside.")? {
            let entry = self.get(&key)?;
            aside.extend(entry.and_then(|entry| parsed::<Aside>(&entry).ok()));
        }
        let open: Vec<String> = runs.iter().map(|cover| self.subject(&cover.run().id)).collect();
        let stray = self.keep_trying("list the items", async || {
            let all = format!("{}.items.>", self.address.stream());
            let info = self.stream.info_with_subjects(all).await;
            let mut info = info.map_err(|error| error.to_string())?;
            let mut stray = 0;
            while let Some(subject) = info.next().await {
                let (subject, count) = subject.map_err(|error| error.to_string())?;
                if !open.contains(&subject) {
                    stray += count as u64;
                }
            }
            Ok::<u64, String>(stray)
        })?;
        Ok(Status {
            runs,
            workers,
            aside,
            stray,
        })
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PoolError> {
        let entry = self.keep_trying("read an entry", async || self.state.get(key).await)?;
        Ok(entry.map(|entry| entry.to_vec()))
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, PoolError> {
        let keys = self.keep_trying("list entries", async || {
            let keys = self.state.keys().await.map_err(|error| error.to_string())?;
            keys.try_collect::<Vec<String>>()
                .await
                .map_err(|error| error.to_string())
        })?;
        Ok(keys.into_iter().filter(|key| key.starts_with(prefix)).collect())
    }
}
