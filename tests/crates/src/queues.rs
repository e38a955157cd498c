//! Queues, stacks and deques.

use crate::{both, sorted};

mod crossbeam_queue {
    use super::*;
    use ::crossbeam_queue::{ArrayQueue, SegQueue};

    #[test]
    fn seg_queue() {
        let queue = SegQueue::new();
        let (popped, ()) = both(|| (queue.push(1), queue.pop()).1, || queue.push(2));
        assert_eq!(sorted(popped.into_iter().chain(queue)), [1, 2]);
    }

    #[test]
    fn array_queue() {
        let queue = ArrayQueue::new(1);
        let (one, two) = both(|| queue.push(1).is_ok(), || queue.push(2).is_ok());
        assert!(one ^ two);
        assert!(queue.is_full());
    }
}

mod crossbeam_deque {
    use super::*;
    use ::crossbeam_deque::{Injector, Steal, Worker};

    #[test]
    fn worker_and_stealer() {
        let worker = Worker::new_lifo();
        worker.push(1);
        worker.push(2);
        let stealer = worker.stealer();
        let (stolen, popped) = both(move || stealer.steal().success(), || [worker.pop(), worker.pop()]);
        assert_eq!(sorted(popped.into_iter().chain([stolen]).flatten()), [1, 2]);
    }

    #[test]
    fn injector() {
        let injector = Injector::new();
        let take = || {
            loop {
                match injector.steal() {
                    Steal::Success(value) => return Some(value),
                    Steal::Empty => return None,
                    Steal::Retry => std::thread::yield_now(),
                }
            }
        };
        let (one, two) = both(|| (injector.push(1), take()).1, || (injector.push(2), take()).1);
        assert_eq!(sorted([one, two].into_iter().flatten()), [1, 2]);
    }
}

mod concurrent_queue {
    use super::*;
    use ::concurrent_queue::ConcurrentQueue;

    #[test]
    fn bounded() {
        let queue = ConcurrentQueue::bounded(1);
        let (one, two) = both(|| queue.push(1).is_ok(), || queue.push(2).is_ok());
        assert!(one ^ two);
    }

    #[test]
    fn unbounded() {
        let queue = ConcurrentQueue::unbounded();
        let (closed, pushed) = both(|| queue.close(), || queue.push(1).is_ok());
        assert!(closed);
        assert_eq!(queue.pop().is_ok(), pushed);
    }
}

mod boxcar {
    use super::*;

    #[test]
    fn vec() {
        let vec = ::boxcar::Vec::new();
        let (one, two) = both(|| vec.push(1), || vec.push(2));
        assert_eq!((vec[one], vec[two], vec.count()), (1, 2, 2));
    }
}

mod append_only_vec {
    use super::*;
    use ::append_only_vec::AppendOnlyVec;

    #[test]
    fn vec() {
        let vec = AppendOnlyVec::new();
        let (one, two) = both(|| vec.push(1), || vec.push(2));
        assert_eq!((vec[one], vec[two], vec.len()), (1, 2, 2));
    }
}

mod rtrb {
    use super::*;

    #[test]
    fn ring() {
        let (mut producer, mut consumer) = ::rtrb::RingBuffer::new(1);
        let (pushed, popped) = both(
            move || [producer.push(1).is_ok(), producer.push(2).is_ok()],
            || consumer.pop().ok(),
        );
        assert!(pushed[0]);
        assert!(popped.is_none_or(|value| value == 1));
        assert!(popped.is_some() || !pushed[1]);
    }
}

mod ringbuf {
    use super::*;
    use ::ringbuf::HeapRb;
    use ::ringbuf::traits::{Consumer, Producer, Split};

    #[test]
    fn ring() {
        let (mut producer, mut consumer) = HeapRb::new(1).split();
        let (pushed, popped) = both(
            move || [producer.try_push(1).is_ok(), producer.try_push(2).is_ok()],
            || consumer.try_pop(),
        );
        assert!(pushed[0]);
        assert!(popped.is_some() || !pushed[1]);
    }
}

mod st3 {
    use super::*;
    use ::st3::fifo::Worker;

    #[test]
    fn worker_and_stealer() {
        let worker = Worker::new(4);
        worker.push(1).unwrap();
        worker.push(2).unwrap();
        let stealer = worker.stealer();
        let (stolen, popped) = both(
            move || {
                let own = Worker::new(4);
                match stealer.steal_and_pop(&own, |n| n - n / 2) {
                    Ok((first, _)) => std::iter::once(first)
                        .chain(std::iter::from_fn(|| own.pop()))
                        .collect(),
                    Err(_) => Vec::new(),
                }
            },
            || [worker.pop(), worker.pop()],
        );
        let rest: Vec<i32> = std::iter::from_fn(|| worker.pop()).collect();
        assert_eq!(
            sorted(popped.into_iter().flatten().chain(stolen).chain(rest)),
            [1, 2]
        );
    }
}

mod cordyceps {
    use super::*;
    use ::cordyceps::Linked;
    use ::cordyceps::mpsc_queue::{Links, MpscQueue};
    use std::pin::Pin;
    use std::ptr::{NonNull, addr_of_mut};

    #[derive(Default)]
    struct Entry {
        links: Links<Entry>,
        value: u32,
    }

    fn entry(value: u32) -> Pin<Box<Entry>> {
        let links = Links::new();
        Box::pin(Entry { links, value })
    }

    // SAFETY: an entry is pinned in its box while it is in a queue.
    unsafe impl Linked<Links<Entry>> for Entry {
        type Handle = Pin<Box<Entry>>;

        fn into_ptr(handle: Pin<Box<Entry>>) -> NonNull<Entry> {
            // SAFETY: it is not moved out of its box.
            NonNull::from(Box::leak(unsafe { Pin::into_inner_unchecked(handle) }))
        }

        unsafe fn from_ptr(entry: NonNull<Entry>) -> Pin<Box<Entry>> {
            // SAFETY: it is from `into_ptr`.
            unsafe { Pin::new_unchecked(Box::from_raw(entry.as_ptr())) }
        }

        unsafe fn links(entry: NonNull<Entry>) -> NonNull<Links<Entry>> {
            // SAFETY: a field of an entry.
            unsafe { NonNull::new_unchecked(addr_of_mut!((*entry.as_ptr()).links)) }
        }
    }

    #[test]
    fn nothing_is_lost() {
        let queue: MpscQueue<Entry> = MpscQueue::new();
        both(|| queue.enqueue(entry(1)), || queue.enqueue(entry(2)));
        let entries: Vec<_> = std::iter::from_fn(|| queue.dequeue()).collect();
        assert_eq!(sorted(entries.iter().map(|entry| entry.value)), [1, 2]);
    }

    #[test]
    fn a_queue_with_an_entry_is_not_empty() {
        let queue: MpscQueue<Entry> = MpscQueue::new();
        both(
            || queue.enqueue(entry(1)),
            || {
                queue.enqueue(entry(2));
                assert!(queue.dequeue().is_some());
            },
        );
    }
}

mod swap_buffer_queue {
    use super::*;
    use ::swap_buffer_queue::Queue;
    use ::swap_buffer_queue::buffer::ArrayBuffer;

    #[test]
    fn queue() {
        let queue: Queue<ArrayBuffer<u32, 2>> = Queue::new();
        let take = || {
            queue
                .try_dequeue()
                .map(|slice| slice.into_iter().collect::<Vec<_>>())
        };
        let (enqueued, taken) = both(|| queue.try_enqueue([1]).is_ok(), take);
        assert!(enqueued);
        let rest = take();
        let all = taken.into_iter().flatten().chain(rest.into_iter().flatten());
        assert_eq!(sorted(all), [1]);
    }
}

mod heapless {
    use super::*;
    use ::heapless::spsc;

    #[test]
    fn one_producer_and_one_consumer() {
        let mut queue = spsc::Queue::<u32, 4>::new();
        let (mut producer, mut consumer) = queue.split();
        let mut take = || consumer.dequeue();
        let (_, mut taken) = both(
            move || [1, 2].map(|value| producer.enqueue(value)),
            || vec![take(), take()],
        );
        taken.extend([take(), take()]);
        assert!(taken.into_iter().flatten().eq([1, 2]));
    }
}

mod orx_concurrent_vec {
    use super::*;
    use ::orx_concurrent_vec::ConcurrentVec;

    #[test]
    fn an_element_is_updated() {
        let vec = ConcurrentVec::new();
        vec.push(0);
        let add = || vec[0].update(|value| *value += 1);
        both(add, add);
        assert_eq!(vec[0].copied(), 2);
    }
}
