//! The contract of plugins as its version froze it.

use intermezzo_sdk::abi::{self, HostTable, MonitorTable, VERSION};
use intermezzo_sdk::*;

/// Numbers and layouts are frozen: a change of this test requires a change of the version.
#[test]
fn numbers_of_version_7_do_not_change() {
    assert_eq!((VERSION, abi::ENTRY), (7, "intermezzo_monitor_7"));
    assert_eq!(
        abi::ENTRIES,
        [
            (7, "intermezzo_monitor_7"),
            (6, "intermezzo_monitor_6"),
            (5, "intermezzo_monitor_5")
        ]
    );
    let prototype = format!("INTERMEZZO_EXPORT uint32_t {}(", abi::ENTRY);
    assert!(
        abi::HEADER.contains(&prototype),
        "the header declares another function"
    );
    let operations = [
        "AtomicLoad",
        "AtomicStore",
        "AtomicRmw",
        "AtomicRmwFailed",
        "Fence",
        "LockAcquire",
        "LockTryAcquire",
        "LockTryFailed",
        "LockRelease",
        "SharedAcquire",
        "SharedTryAcquire",
        "SharedRelease",
        "PoisonCheck",
        "PoisonClear",
        "CondvarWait",
        "CondvarWake",
        "NotifyOne",
        "NotifyAll",
        "ChannelSend",
        "ChannelReceive",
        "ChannelTryFailed",
        "ChannelClose",
        "BarrierArrive",
        "BarrierPass",
        "OnceBegin",
        "OnceEnd",
        "OnceCheck",
        "TaskFork",
        "TaskBegin",
        "TaskEnd",
        "TaskJoin",
        "TaskCheck",
        "Park",
        "Unpark",
        "Yield",
        "Sleep",
        "TimeOut",
        "Choice",
        "CountUp",
        "CountDown",
        "CountRead",
        "DataRead",
        "DataWrite",
        "OperationCall",
        "OperationReturn",
        "PrimitiveRead",
        "PrimitiveChange",
        "SchedulePoint",
        "Quiesce",
    ];
    assert_eq!(SyncVarOp::ALL.map(|op| format!("{op:?}")), operations);
    for (number, op) in SyncVarOp::ALL.into_iter().enumerate() {
        assert_eq!(op as usize, number);
    }
    let orders = ["None", "Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    assert_eq!(MemoryOrder::ALL.map(|order| format!("{order:?}")), orders);
    for (number, order) in MemoryOrder::ALL.into_iter().enumerate() {
        assert_eq!(order as usize, number);
    }
    assert_eq!([PointKind::Access as u32, PointKind::Choice as u32], [0, 1]);
    let kinds = [BlockKind::Heap, BlockKind::Shared, BlockKind::Value];
    assert_eq!(kinds.map(|kind| kind as u32), [0, 1, 2]);
    let choices = [
        "Task",
        "Value",
        "WeakExchange",
        "TryLock",
        "Waiter",
        "Wake",
        "Ended",
    ];
    assert_eq!(ChoiceKind::ALL.map(|kind| format!("{kind:?}")), choices);
    for (number, kind) in ChoiceKind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, number);
    }
    let statuses = ["Committed", "Redundant", "Blocked", "Preempted", "Ready"];
    assert_eq!(EventStatus::ALL.map(|status| format!("{status:?}")), statuses);
    for (status, number) in EventStatus::ALL.into_iter().zip(1..) {
        assert_eq!(status as u32, number);
    }
    assert_eq!([Severity::Warning as u32, Severity::Error as u32], [0, 1]);
    for (interests, bit) in [
        (Interests::SCHEDULE_POINTS, abi::Interest::SchedulePoints),
        (Interests::SYNC_ACCESSES, abi::Interest::SyncAccesses),
        (Interests::DATA_ACCESSES, abi::Interest::DataAccesses),
        (Interests::USER_EVENTS, abi::Interest::UserEvents),
        (Interests::ATTRIBUTES, abi::Interest::Attributes),
        (Interests::ALLOCATIONS, abi::Interest::Allocations),
        (Interests::ENABLED_SETS, abi::Interest::EnabledSets),
    ] {
        assert_eq!(interests.bits(), bit as u32);
    }
    assert_eq!(Interests::ALL.bits(), 127);
}

/// As above, for machines of 64 bits.
#[test]
#[cfg(target_pointer_width = "64")]
fn layouts_of_version_7_do_not_change() {
    let sizes = [
        size_of::<abi::SyncAccess>(),
        size_of::<abi::Point>(),
        size_of::<abi::DataAccess>(),
        size_of::<abi::Allocated>(),
        size_of::<abi::Released>(),
        size_of::<abi::Attribute>(),
        size_of::<abi::Said>(),
        size_of::<abi::ExecutionInfo>(),
        size_of::<abi::PrescribedChoice>(),
        size_of::<abi::FindingDeed>(),
        size_of::<abi::Finding>(),
        size_of::<HostTable>(),
        size_of::<MonitorTable>(),
    ];
    assert_eq!(sizes, [48, 28, 40, 40, 20, 48, 32, 32, 20, 32, 104, 168, 160]);
    // A plugin of version 5 reads no further than this.
    assert_eq!(std::mem::offset_of!(HostTable, held_back_at), 136);
    // One of version 5 or 6 writes no further than this.
    assert_eq!(std::mem::offset_of!(MonitorTable, follows_stale_reads), 152);
}
