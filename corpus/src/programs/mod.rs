//! The programs, by topic.
//!
//! Of the table of the CHESS release one row is left out: `stateworkstealqueue`, of which too little is told
//! to write it afresh.

mod bank;
mod bounded_ring;
mod counter;
mod deadlocks;
mod fairness;
mod flanagan;
mod michael_scott_queue;
mod philosophers;
mod reader_writer_lock;
mod safestack;
mod sctbench;
mod sections;
mod spinning;
mod support;
mod treiber_stack;
mod vulnerabilities;
mod waiting;
mod work_stealing_queue;

use crate::Program;

/// Every program, in order of name.
pub(crate) const ALL: &[Program] = &[
    vulnerabilities::CVE_2009_3547,
    vulnerabilities::CVE_2013_1792,
    vulnerabilities::CVE_2016_1972,
    vulnerabilities::CVE_2016_7911,
    vulnerabilities::CVE_2017_15265,
    bank::ACCOUNT_BAD,
    sctbench::AGET_BUG2,
    waiting::ARITHMETIC_PROG_BAD,
    bank::BALANCE,
    bank::BALANCE2,
    bank::BALANCE_FIXED,
    sctbench::BARNES,
    sctbench::BLUETOOTH_DRIVER_BAD,
    bounded_ring::BROKEN,
    bounded_ring::FIXED,
    spinning::BOUNDED,
    sections::CHOOSE,
    counter::COUNTER,
    flanagan::FILE_SYSTEM,
    flanagan::INDEXER,
    deadlocks::DEADLOCK,
    deadlocks::DEADLOCK01_BAD,
    sections::DIAMOND,
    philosophers::DIN_PHIL2_SAT,
    philosophers::DIN_PHIL3_SAT,
    philosophers::DIN_PHIL4_SAT,
    philosophers::DIN_PHIL5_SAT,
    philosophers::DIN_PHIL6_SAT,
    philosophers::DIN_PHIL7_SAT,
    philosophers::BROKEN,
    philosophers::FIXED,
    philosophers::TRYING,
    waiting::EVENTS,
    sections::EXAMPLE,
    sections::EXAMPLE3,
    fairness::FAIRNESS1,
    fairness::FAIRNESS2,
    fairness::FAIRNESS3,
    fairness::FAIRNESS4,
    flanagan::FSBENCH_BAD,
    sections::INTERLOCK1,
    waiting::INTERLOCK4,
    sections::INTERLOCK5,
    fairness::JOIN_WAIT,
    sctbench::LAZY01_BAD,
    michael_scott_queue::BROKEN,
    michael_scott_queue::FIXED,
    waiting::MONITOR2,
    waiting::MANUAL_RESET_EVENTS,
    sections::ONE_THREAD,
    deadlocks::PHASE01_BAD,
    spinning::POLITE,
    sctbench::QUEUE_BAD,
    reader_writer_lock::SPINNING_BROKEN,
    reader_writer_lock::SPINNING_FIXED,
    sctbench::REORDER_3_BAD,
    safestack::SAFESTACK,
    deadlocks::SELF_DEADLOCK,
    waiting::SEMAPHORE,
    waiting::SEMAPHORE2,
    spinning::SEQUENCE_LOCK,
    spinning::SEQUENCE_LOCK_BROKEN,
    spinning::TEST_AND_SET,
    spinning::TEST_AND_TEST_AND_SET,
    spinning::TEST_AND_TEST_AND_SET_BROKEN,
    spinning::TICKET,
    work_stealing_queue::SPINNING_BROKEN,
    work_stealing_queue::SPINNING_FIXED,
    sctbench::STRINGBUFFER,
    deadlocks::SYNC01_BAD,
    deadlocks::SYNC02_BAD,
    fairness::TIMEOUT,
    treiber_stack::BROKEN,
    treiber_stack::FIXED,
    sctbench::TWOSTAGE_BAD,
    sections::TWO_THREADS,
    sections::VOLATILE,
    reader_writer_lock::WAITING_BROKEN,
    reader_writer_lock::WAITING_FIXED,
    work_stealing_queue::BROKEN,
    work_stealing_queue::FIXED,
    sctbench::WRONGLOCK_3_BAD,
];
