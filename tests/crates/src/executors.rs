//! Executors and thread pools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

mod tokio_runtime {
    #[::tokio::test]
    async fn tasks_of_one_thread() {
        let task = ::tokio::spawn(async { 1 });
        assert_eq!(task.await.unwrap(), 1);
    }

    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tasks_of_several_threads() {
        let task = ::tokio::spawn(async { 1 });
        assert_eq!(task.await.unwrap(), 1);
    }
}

mod rayon_core {
    #[test]
    fn join() {
        let pool = ::rayon_core::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| ::rayon_core::join(|| 1, || 2)), (1, 2));
    }
}

mod threadpool {
    use super::*;

    #[test]
    fn jobs_run() {
        let pool = ::threadpool::ThreadPool::new(2);
        let sum = Arc::new(AtomicUsize::new(0));
        for n in 1..=2 {
            let sum = sum.clone();
            pool.execute(move || _ = sum.fetch_add(n, SeqCst));
        }
        pool.join();
        assert_eq!(sum.load(SeqCst), 3);
    }
}

mod rusty_pool {
    use super::*;
    use ::rusty_pool::ThreadPool;
    use std::time::Duration;

    #[test]
    fn jobs_have_run_after_join() {
        let pool = ThreadPool::new(1, 1, Duration::from_secs(1));
        let sum = Arc::new(AtomicUsize::new(0));
        for n in 1..=2 {
            let sum = sum.clone();
            pool.execute(move || _ = sum.fetch_add(n, SeqCst));
        }
        pool.join();
        assert_eq!(sum.load(SeqCst), 3);
    }

    #[test]
    fn a_job_has_run_after_shutdown_join() {
        let pool = ThreadPool::new(1, 1, Duration::from_secs(1));
        let value = Arc::new(AtomicUsize::new(0));
        let job = value.clone();
        pool.execute(move || job.store(1, SeqCst));
        pool.shutdown_join();
        assert_eq!(value.load(SeqCst), 1);
    }
}

mod async_executor {
    use crate::both;
    use ::async_executor::Executor;
    use ::futures_lite::future::block_on;

    #[test]
    fn a_task_runs_in_another_thread() {
        let executor = Executor::new();
        let task = executor.spawn(async { 1 });
        let (value, ()) = both(|| block_on(task), || block_on(executor.tick()));
        assert_eq!(value, 1);
    }

    #[test]
    fn a_task_is_spawned_while_another_thread_waits() {
        let executor = Executor::new();
        both(|| block_on(executor.tick()), || executor.spawn(async {}).detach());
    }
}

mod smol {
    use std::time::{Duration, Instant};

    #[test]
    fn an_hour_passes() {
        let (begun, hour) = (Instant::now(), Duration::from_secs(3_600));
        ::smol::block_on(::smol::Timer::after(hour));
        assert!(begun.elapsed() >= hour);
    }

    #[test]
    fn a_task_runs() {
        let task = ::smol::spawn(async { 1 });
        assert_eq!(::smol::block_on(task), 1);
    }

    #[test]
    fn a_blocking_task_runs() {
        assert_eq!(::smol::block_on(::smol::unblock(|| 1)), 1);
    }
}
