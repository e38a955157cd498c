// The contract between intermezzo and monitors that are loaded from files. Generated from intermezzo-sdk, src/abi/:
// do not edit it. How to write a monitor: docs/MONITORS.md.
//
// The rules:
//
// - Versions. INTERMEZZO_VERSION is part of the name of the entry, and of both tables. An engine also loads plugins that
//   were compiled with the intermezzo.h of some versions before its own; an older engine refuses newer plugins. Each
//   struct begins with its size.
// - Ownership. The side that allocated something frees it. The arguments of a function belong to the caller and are valid
//   until the function returns; a function that keeps them makes a copy.
// - Text is UTF-8 with its length, and need not end with a zero byte.
// - Calls are sequential. An engine calls one monitor's functions one after the other, perhaps from different threads in
//   turn. Several monitors made by one entry may be called at the same time.
// - The functions of the host's table are called only in a callback, on its thread and with its call. After the callback
//   has returned, they return empty results.
// - Nothing unwinds across the boundary: neither a C++ exception nor longjmp.
// - Numbers without a name here do not occur in this version.


#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Before the entry of a plugin, so that it can be found in the library.
#if defined(_WIN32)
#define INTERMEZZO_EXPORT __declspec(dllexport)
#else
#define INTERMEZZO_EXPORT __attribute__((visibility("default")))
#endif

// The return value of functions that return a count, if there is no such event or step.
#define INTERMEZZO_NONE SIZE_MAX


// The version of this contract.
#define INTERMEZZO_VERSION 7

// The return value of a function that succeeded.
#define INTERMEZZO_OK 0

// The return value of a function that failed.
#define INTERMEZZO_FAILED 1



// Maximum number of bytes of an entry's message, including the terminating zero.
#define INTERMEZZO_MESSAGE_BYTES 4096

// Maximum number of bytes of a monitor's name.
#define INTERMEZZO_NAME_BYTES_MAX 128

// Maximum number of bytes of a monitor's arguments.
#define INTERMEZZO_ARGUMENTS_BYTES_MAX 65536

// The number of bytes at the pointer to the table that an entry fills, all of them zero. They are enough for the table of
// any version, so a plugin of another version does not write into other memory before it is refused.
#define INTERMEZZO_TABLE_BYTES 4096

// The kind of a visible operation.
//
// `is_read` and `is_write` determine which operations of two tasks on one variable commute: two that only read do.
// The numbers are part of the contract with plugins.
enum IntermezzoSyncVarOp
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A load of an atomic.
  INTERMEZZO_SYNC_VAR_OP_ATOMIC_LOAD = 0,
  // A store to an atomic.
  INTERMEZZO_SYNC_VAR_OP_ATOMIC_STORE = 1,
  // A read-modify-write of an atomic, a successful compare-exchange included.
  INTERMEZZO_SYNC_VAR_OP_ATOMIC_RMW = 2,
  // A compare-exchange that failed: a read.
  INTERMEZZO_SYNC_VAR_OP_ATOMIC_RMW_FAILED = 3,
  // A fence.
  INTERMEZZO_SYNC_VAR_OP_FENCE = 4,
  // Exclusive acquisition of a lock.
  INTERMEZZO_SYNC_VAR_OP_LOCK_ACQUIRE = 5,
  // Successful exclusive `try_lock`.
  INTERMEZZO_SYNC_VAR_OP_LOCK_TRY_ACQUIRE = 6,
  // A `try_lock`, `try_read` or `try_write` that failed: a read.
  INTERMEZZO_SYNC_VAR_OP_LOCK_TRY_FAILED = 7,
  // Release of an exclusively held lock.
  INTERMEZZO_SYNC_VAR_OP_LOCK_RELEASE = 8,
  // Shared acquisition of a reader-writer lock.
  INTERMEZZO_SYNC_VAR_OP_SHARED_ACQUIRE = 9,
  // Successful `try_read`.
  INTERMEZZO_SYNC_VAR_OP_SHARED_TRY_ACQUIRE = 10,
  // Release of a share of a reader-writer lock.
  INTERMEZZO_SYNC_VAR_OP_SHARED_RELEASE = 11,
  // A check of whether a lock is poisoned: a read.
  INTERMEZZO_SYNC_VAR_OP_POISON_CHECK = 12,
  // Clearing the poison of a lock.
  INTERMEZZO_SYNC_VAR_OP_POISON_CLEAR = 13,
  // Beginning to wait on a condition variable; the mutex is released in the same step.
  INTERMEZZO_SYNC_VAR_OP_CONDVAR_WAIT = 14,
  // End of a wait on a condition variable, before the mutex is taken again.
  INTERMEZZO_SYNC_VAR_OP_CONDVAR_WAKE = 15,
  // `notify_one`
  INTERMEZZO_SYNC_VAR_OP_NOTIFY_ONE = 16,
  // `notify_all`
  INTERMEZZO_SYNC_VAR_OP_NOTIFY_ALL = 17,
  // A send to a channel, or its refusal because no receiver is left.
  INTERMEZZO_SYNC_VAR_OP_CHANNEL_SEND = 18,
  // A receive from a channel, or the discovery that no sender is left.
  INTERMEZZO_SYNC_VAR_OP_CHANNEL_RECEIVE = 19,
  // A `try_` operation on a channel that found it not ready: a read.
  INTERMEZZO_SYNC_VAR_OP_CHANNEL_TRY_FAILED = 20,
  // Dropping an end of a channel.
  INTERMEZZO_SYNC_VAR_OP_CHANNEL_CLOSE = 21,
  // Arrival at a barrier.
  INTERMEZZO_SYNC_VAR_OP_BARRIER_ARRIVE = 22,
  // Passing a barrier.
  INTERMEZZO_SYNC_VAR_OP_BARRIER_PASS = 23,
  // Beginning of a one-time initialisation.
  INTERMEZZO_SYNC_VAR_OP_ONCE_BEGIN = 24,
  // End of a one-time initialisation.
  INTERMEZZO_SYNC_VAR_OP_ONCE_END = 25,
  // A check of whether a one-time initialisation is complete, or the discovery that it is: a read.
  INTERMEZZO_SYNC_VAR_OP_ONCE_CHECK = 26,
  // Creation of a task.
  INTERMEZZO_SYNC_VAR_OP_TASK_FORK = 27,
  // First event of a task.
  INTERMEZZO_SYNC_VAR_OP_TASK_BEGIN = 28,
  // Last event of a task.
  INTERMEZZO_SYNC_VAR_OP_TASK_END = 29,
  // A join: the awaited task has ended.
  INTERMEZZO_SYNC_VAR_OP_TASK_JOIN = 30,
  // A check of whether a task has ended: a read.
  INTERMEZZO_SYNC_VAR_OP_TASK_CHECK = 31,
  // The return of `park`.
  INTERMEZZO_SYNC_VAR_OP_PARK = 32,
  // `unpark`, or the waking of a future.
  INTERMEZZO_SYNC_VAR_OP_UNPARK = 33,
  // `yield_now` or `spin_loop`.
  INTERMEZZO_SYNC_VAR_OP_YIELD = 34,
  // `sleep`, on the virtual clock.
  INTERMEZZO_SYNC_VAR_OP_SLEEP = 35,
  // The end of a timed wait by its time limit.
  INTERMEZZO_SYNC_VAR_OP_TIME_OUT = 36,
  // `choose(n)`; `read` is the value chosen.
  INTERMEZZO_SYNC_VAR_OP_CHOICE = 37,
  // The increment of a reference count.
  INTERMEZZO_SYNC_VAR_OP_COUNT_UP = 38,
  // The decrement of a reference count.
  INTERMEZZO_SYNC_VAR_OP_COUNT_DOWN = 39,
  // A read of a reference count.
  INTERMEZZO_SYNC_VAR_OP_COUNT_READ = 40,
  // A plain memory access that was made a schedule point, or a reading of virtual time: a read.
  INTERMEZZO_SYNC_VAR_OP_DATA_READ = 41,
  // A plain memory access that was made a schedule point: a write.
  INTERMEZZO_SYNC_VAR_OP_DATA_WRITE = 42,
  // The beginning of an operation of an object under test; `written` is its number.
  INTERMEZZO_SYNC_VAR_OP_OPERATION_CALL = 43,
  // The end of an operation of an object under test; `written` is its number.
  INTERMEZZO_SYNC_VAR_OP_OPERATION_RETURN = 44,
  // An operation on a synchronisation primitive of the test's own that changes nothing: a read.
  INTERMEZZO_SYNC_VAR_OP_PRIMITIVE_READ = 45,
  // An operation on a synchronisation primitive of the test's own that may change it.
  INTERMEZZO_SYNC_VAR_OP_PRIMITIVE_CHANGE = 46,
  // A schedule point that the test announces. No two commute, because nothing is known about the accesses there.
  INTERMEZZO_SYNC_VAR_OP_SCHEDULE_POINT = 47,
  // The end of a wait until no other task can do anything. What all tasks did comes before it.
  INTERMEZZO_SYNC_VAR_OP_QUIESCE = 48,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoSyncVarOp IntermezzoSyncVarOp;
#else
typedef uint8_t IntermezzoSyncVarOp;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The ordering of an atomic operation; `None` for operations on anything but atomics. The numbers are part of the
// contract with plugins.
enum IntermezzoMemoryOrder
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not an atomic operation.
  INTERMEZZO_MEMORY_ORDER_NONE = 0,
  // `Ordering::Relaxed`
  INTERMEZZO_MEMORY_ORDER_RELAXED = 1,
  // `Ordering::Acquire`
  INTERMEZZO_MEMORY_ORDER_ACQUIRE = 2,
  // `Ordering::Release`
  INTERMEZZO_MEMORY_ORDER_RELEASE = 3,
  // `Ordering::AcqRel`
  INTERMEZZO_MEMORY_ORDER_ACQ_REL = 4,
  // `Ordering::SeqCst`
  INTERMEZZO_MEMORY_ORDER_SEQ_CST = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoMemoryOrder IntermezzoMemoryOrder;
#else
typedef uint8_t IntermezzoMemoryOrder;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The reason for a schedule point.
enum IntermezzoPointKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A visible operation comes next.
  INTERMEZZO_POINT_KIND_ACCESS = 0,
  // A value is about to be chosen.
  INTERMEZZO_POINT_KIND_CHOICE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoPointKind IntermezzoPointKind;
#else
typedef uint32_t IntermezzoPointKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The kind of a block of tracked memory.
enum IntermezzoBlockKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Memory obtained from the allocator.
  INTERMEZZO_BLOCK_KIND_HEAP = 0,
  // The contents of an `Arc`: released when no share is left.
  INTERMEZZO_BLOCK_KIND_SHARED = 1,
  // A value that is tracked by itself.
  INTERMEZZO_BLOCK_KIND_VALUE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoBlockKind IntermezzoBlockKind;
#else
typedef uint32_t IntermezzoBlockKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The kind of a choice.
enum IntermezzoChoiceKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The task that goes next. Alternative 0 is the default continuation.
  INTERMEZZO_CHOICE_KIND_TASK = 0,
  // The value of `choose(n)`.
  INTERMEZZO_CHOICE_KIND_VALUE = 1,
  // A weak compare-exchange that could succeed does (0) or fails (1).
  INTERMEZZO_CHOICE_KIND_WEAK_EXCHANGE = 2,
  // A `try_lock` of a free lock succeeds (0) or fails (1).
  INTERMEZZO_CHOICE_KIND_TRY_LOCK = 3,
  // The waiter that `notify_one` wakes, in order of arrival.
  INTERMEZZO_CHOICE_KIND_WAITER = 4,
  // A wait that begins lasts (0), or ends spuriously or may time out early (1).
  INTERMEZZO_CHOICE_KIND_WAKE = 5,
  // A query about a task whose closure has returned finds it ended (0) or not yet (1).
  INTERMEZZO_CHOICE_KIND_ENDED = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoChoiceKind IntermezzoChoiceKind;
#else
typedef uint32_t IntermezzoChoiceKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The status of an event at some moment of its execution.
enum IntermezzoEventStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The operation has happened.
  INTERMEZZO_EVENT_STATUS_COMMITTED = 1,
  // It has happened in a round of a loop that changed nothing, so searches ignore it. Known when the round is over.
  INTERMEZZO_EVENT_STATUS_REDUNDANT = 2,
  // It is the task's next operation, and the task waits.
  INTERMEZZO_EVENT_STATUS_BLOCKED = 3,
  // It is the task's next operation, which is possible, and the task was preempted right before it.
  INTERMEZZO_EVENT_STATUS_PREEMPTED = 4,
  // It is the task's next operation, which is possible, and the task was not preempted.
  INTERMEZZO_EVENT_STATUS_READY = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoEventStatus IntermezzoEventStatus;
#else
typedef uint32_t IntermezzoEventStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The severity of a finding.
enum IntermezzoSeverity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Worth knowing. The exploration continues, and its verdict is not changed.
  INTERMEZZO_SEVERITY_WARNING = 0,
  // The test fails.
  INTERMEZZO_SEVERITY_ERROR = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoSeverity IntermezzoSeverity;
#else
typedef uint32_t IntermezzoSeverity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Bits of `interests`: the callbacks that a monitor wants. Beginning, end and shutdown are always called.
enum IntermezzoInterest
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // `on_schedule_point`
  INTERMEZZO_INTEREST_SCHEDULE_POINTS = 1,
  // `on_sync_var_access`, `on_aggregate_sync_var_access`
  INTERMEZZO_INTEREST_SYNC_ACCESSES = 2,
  // `on_data_var_access`
  INTERMEZZO_INTEREST_DATA_ACCESSES = 4,
  // `on_user_event`
  INTERMEZZO_INTEREST_USER_EVENTS = 8,
  // `on_event_attribute`
  INTERMEZZO_INTEREST_ATTRIBUTES = 16,
  // `on_allocation`, `on_release`
  INTERMEZZO_INTEREST_ALLOCATIONS = 32,
  // No callback; enables `enabled_at`, `disabled_at`, `held_back_at` and `point_of`.
  INTERMEZZO_INTEREST_ENABLED_SETS = 64,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum IntermezzoInterest IntermezzoInterest;
#else
typedef uint32_t IntermezzoInterest;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The call of a callback, to be passed back to the functions of the host's table. Valid until the callback returns.
typedef struct IntermezzoCall IntermezzoCall;

// Text in UTF-8. It need not end with a zero byte.
typedef struct IntermezzoText {
  // The first byte; null for no text at all.
  const char *bytes;
  // The length in bytes.
  size_t length;
} IntermezzoText;

// A schedulable entity, numbered from 0 (the test's own body) in order of creation.
typedef uint32_t IntermezzoTaskId;

// The `index`-th event of `task`, from 1. Ordered by task, then index.
typedef struct IntermezzoEventId {
  // The task of the event.
  IntermezzoTaskId task;
  // The event's index in its task, from 1.
  uint32_t index;
} IntermezzoEventId;

// A place in the source, numbered from 0 in order of first use within an exploration.
typedef uint32_t IntermezzoSiteId;

// An action of a finding that is not an event: an access to plain memory.
typedef struct IntermezzoFindingDeed {
  // Bytes of this struct.
  uint32_t size;
  // The source place of the action.
  IntermezzoSiteId site;
  // The task's last event at that time, or the event itself.
  struct IntermezzoEventId after;
  // A description: `write cell 1.1`.
  struct IntermezzoText what;
} IntermezzoFindingDeed;

// A finding, as its monitor reports it.
typedef struct IntermezzoFinding {
  // Bytes of this struct.
  uint32_t size;
  // The severity: a `Severity`.
  uint32_t severity;
  // The kind, as in reports: `data_race`, or the plugin's own, `plugin/NAME`.
  struct IntermezzoText kind;
  // A description for people: with names, without numbers of tasks, events or executions. Reports with the same
  // message are one finding, however many executions show it.
  struct IntermezzoText message;
  // A suggested fix, for people; null for none.
  struct IntermezzoText suggestion;
  // The events concerned, the most important first; may be null if there are none.
  const struct IntermezzoEventId *events;
  // The number of events.
  size_t event_count;
  // Source places of the finding that are not those of its events; may be null if there are none.
  const IntermezzoSiteId *sites;
  // The number of places.
  size_t site_count;
  // Actions of the finding that are not events; may be null if there are none.
  const struct IntermezzoFindingDeed *deeds;
  // The number of deeds.
  size_t deed_count;
} IntermezzoFinding;

// An object that tasks synchronise through, numbered from 0 in order of first use.
typedef uint32_t IntermezzoSyncVar;
// The variable of operations that have none: fences, yields, choices.
#define IntermezzoSyncVar_NONE UINT32_MAX

// A cell or block of tracked plain memory, numbered from 0 in order of first use.
typedef uint32_t IntermezzoLocation;

// A visible operation that has happened. The meaning of `read` and `written` depends on the operation. Values that are
// not in this list are 0:
//
// - atomics: the values read and written, as bits
// - `TASK_FORK`, `TASK_JOIN`: `read` is the other task's number
// - `TASK_CHECK`, `ONCE_CHECK`, `POISON_CHECK`: `read` is 1 if the task has ended, the initialisation is complete, or the
//   lock is poisoned
// - `ONCE_END`: `written` is 1 if it is complete, 0 if it panicked
// - `CONDVAR_WAIT`: `written` is the number of the mutex released, a variable
// - `CONDVAR_WAKE`, `PARK`: `read` is 1 if no other task caused it
// - `CHANNEL_SEND`: `written` is the number of the message, from 1 in each channel, or 0 if no receiver is left; for a
//   rendezvous channel, `read` is the message that the receiver has taken
// - `CHANNEL_RECEIVE`: `read` is the number of the message, or 0 if no sender is left; for a rendezvous channel,
//   `written` is 1 if no message arrived: the receiver only begins or stops waiting
// - `CHANNEL_CLOSE`: `written` is 1 if it was the receiver, 0 for a sender
// - `BARRIER_ARRIVE`, `BARRIER_PASS`: `read` is the round of the barrier, from 1
// - `COUNT_UP`, `COUNT_DOWN`, `COUNT_READ`: the counts before and after
// - `CHOICE`: `read` is the value chosen
typedef struct IntermezzoSyncAccess {
  // Bytes of this struct.
  uint32_t size;
  // The operation: a `SyncVarOp`.
  uint32_t op;
  // The ordering, for atomics and fences: a `MemoryOrder`.
  uint32_t order;
  // The variable, or `UINT32_MAX` for none.
  IntermezzoSyncVar var;
  // The event.
  struct IntermezzoEventId event;
  // The source place of the operation.
  IntermezzoSiteId site;
  // Under a memory model, the number of the store to the variable that an operation on an atomic reads, or makes if it
  // reads nothing. The events that store have the numbers from 2 on, in their order, which need not be the order in which
  // the stores are read. Number 1 is the value that was there before. 0 for all other operations, and without a memory
  // model: then the last store is read.
  uint32_t store;
  // The value read.
  uint64_t read;
  // The value written.
  uint64_t written;
} IntermezzoSyncAccess;

// A choice with which an execution began.
typedef struct IntermezzoPrescribedChoice {
  // Bytes of this struct.
  uint32_t size;
  // The kind of choice: a `ChoiceKind`.
  uint32_t kind;
  // 1 if every alternative but 0 is a preemption, because the running task could have continued; else 0.
  uint32_t preempts;
  // The number of alternatives, at least 2.
  uint32_t alternatives;
  // The alternative taken, from 0.
  uint32_t taken;
} IntermezzoPrescribedChoice;

// An engine's functions, with which a monitor asks questions and reports. Each must be called during a callback that
// has a `Call`, on its thread, and with it.
//
// Functions that give a name write it to `text`: at most `capacity` bytes, the final zero byte included. If there is
// not enough room, the name is cut where a character begins. They return the length of the whole name in bytes,
// without the zero, so `capacity` 0 asks for the length. Functions that give a list write at most `capacity` items,
// and return how many there are. Answers are about the moment of the call.
typedef struct IntermezzoHostTable {
  // Bytes of this struct, as the engine was compiled.
  uint32_t size;
  // The version of the contract for which the engine was compiled.
  uint32_t version;
  // Reports a finding; it is copied. Returns 0, or `FAILED` if the finding is malformed: then the report says so,
  // as a finding about the plugin.
  uint32_t (*report)(struct IntermezzoCall *call, const struct IntermezzoFinding *finding);
  // Name of a task: `main`, its own name, or its creator and its index among the tasks that it created.
  size_t (*task_name)(struct IntermezzoCall *call, IntermezzoTaskId task, char *text, size_t capacity);
  // Name of a variable: its kind, the task that used it first, and its index among the variables which that task
  // used first.
  size_t (*var_name)(struct IntermezzoCall *call, IntermezzoSyncVar var, char *text, size_t capacity);
  // Name that the test's author gave a variable: by `intermezzo::name`, or else in the source, as far as the operations
  // so far show it; empty if there is none. Two variables may have the same name. The source is read at the first
  // query. At the end of an execution, this is the name that a finding shows, but without indices of elements and
  // numbers that distinguish equal names.
  size_t (*source_name)(struct IntermezzoCall *call, IntermezzoSyncVar var, char *text, size_t capacity);
  // Kind of a variable, as in reports: `mutex`, `atomic`, `count` for the reference counts of an `Arc`; empty if there
  // is no such variable.
  size_t (*var_kind)(struct IntermezzoCall *call, IntermezzoSyncVar var, char *text, size_t capacity);
  // `file:line:column` of the creation of a variable, if the source shows that in a `let` or in a static; otherwise of
  // its first use. Empty if that is not known either.
  size_t (*made_at)(struct IntermezzoCall *call, IntermezzoSyncVar var, char *text, size_t capacity);
  // Name of a cell or block of memory: its kind, the task that used it first, and its index among those which that
  // task used first.
  size_t (*location_name)(struct IntermezzoCall *call,
                          IntermezzoLocation location,
                          char *text,
                          size_t capacity);
  // 1 if a static holds this memory when the execution ends: it is not released, and no leak. Else 0; 0 before
  // `on_execution_end`, and in executions that are not complete.
  uint32_t (*is_held_by_static)(struct IntermezzoCall *call, IntermezzoLocation location);
  // `file:line:column` of a source place.
  size_t (*site_name)(struct IntermezzoCall *call, IntermezzoSiteId site, char *text, size_t capacity);
  // The visible operations of the execution so far, in order, from number `first` (the first of all is 0). Returns
  // how many there are from that number on.
  size_t (*accesses)(struct IntermezzoCall *call,
                     size_t first,
                     struct IntermezzoSyncAccess *accesses,
                     size_t capacity);
  // The tasks that could take their next operation now, in order of creation.
  size_t (*enabled)(struct IntermezzoCall *call, IntermezzoTaskId *tasks, size_t capacity);
  // The tasks that have not ended and could not take their next operation now, in order of creation.
  size_t (*disabled)(struct IntermezzoCall *call, IntermezzoTaskId *tasks, size_t capacity);
  // The tasks that could have taken step `step`, from 0; `NONE` if there was no such step, or no monitor has the
  // interest `EnabledSets`.
  size_t (*enabled_at)(struct IntermezzoCall *call, size_t step, IntermezzoTaskId *tasks, size_t capacity);
  // The tasks that had not ended and could not have taken step `step`; `NONE` as for `enabled_at`.
  size_t (*disabled_at)(struct IntermezzoCall *call, size_t step, IntermezzoTaskId *tasks, size_t capacity);
  // 1 if event `a` comes before event `b` by program order and the order of operations that do not commute; else 0.
  // Computed by the first call.
  uint32_t (*happens_before)(struct IntermezzoCall *call,
                             struct IntermezzoEventId a,
                             struct IntermezzoEventId b);
  // The clock of the event by that order, itself included: for each task, by number, the index of its last known
  // event, 0 for none. `NONE` if there is no such event.
  size_t (*clock)(struct IntermezzoCall *call,
                  struct IntermezzoEventId event,
                  uint32_t *indices,
                  size_t capacity);
  // Those of `enabled_at` that fairness held back at step `step`: they had yielded, and gave way to tasks that they
  // starved. `NONE` as for `enabled_at`.
  size_t (*held_back_at)(struct IntermezzoCall *call, size_t step, IntermezzoTaskId *tasks, size_t capacity);
  // The number of the schedule point right before the event, from 1 in each execution. `NONE` if the event has not
  // happened or has no schedule point of its own, or no monitor has the interest `EnabledSets`.
  size_t (*point_of)(struct IntermezzoCall *call, struct IntermezzoEventId event);
  // The status of the event now: an `EventStatus`. 0 if it has not happened and is not the next of its task.
  uint32_t (*status)(struct IntermezzoCall *call, struct IntermezzoEventId event);
  // The choices with which the execution began: the search prescribed them, and was asked about those that follow.
  size_t (*prescribed)(struct IntermezzoCall *call,
                       struct IntermezzoPrescribedChoice *choices,
                       size_t capacity);
} IntermezzoHostTable;

// An execution, at its beginning or end. `accesses` gives its operations.
typedef struct IntermezzoExecutionInfo {
  // Bytes of this struct.
  uint32_t size;
  // 1 if every task ended, else 0. 0 at the beginning.
  uint32_t complete;
  // The execution's number in the exploration, from 1.
  uint64_t number;
  // The number of choices that are prescribed.
  uint64_t prescribed;
  // The number of the first of them that were the same in the previous execution.
  uint64_t repeated;
} IntermezzoExecutionInfo;

// The place right before a visible operation at which another task could be chosen.
typedef struct IntermezzoPoint {
  // Bytes of this struct.
  uint32_t size;
  // The reason for the point: a `PointKind`.
  uint32_t kind;
  // The operation: a `SyncVarOp`.
  uint32_t op;
  // The variable of the operation, or `UINT32_MAX` for none.
  IntermezzoSyncVar var;
  // The event that comes next.
  struct IntermezzoEventId event;
  // The source place of the operation.
  IntermezzoSiteId site;
} IntermezzoPoint;

// An access to tracked plain memory, about to happen.
typedef struct IntermezzoDataAccess {
  // Bytes of this struct.
  uint32_t size;
  // The offset in the location at which the access begins, in bytes.
  uint32_t offset;
  // Bytes accessed.
  uint32_t bytes;
  // 1 for a write; 2 for a write through a pointer that was obtained at `site`, at some time before the task's next
  // event; 3 if the memory is freed. Otherwise 0.
  uint32_t is_write;
  // The ordering of an access that is atomic: a `MemoryOrder`; `None` for a plain one.
  uint32_t order;
  // The cell, or the block of memory, in which the memory accessed lies.
  IntermezzoLocation location;
  // The variable whose own memory this is: that of an atomic that is accessed plainly. Otherwise `UINT32_MAX`.
  IntermezzoSyncVar var;
  // The source place of the access.
  IntermezzoSiteId site;
  // The last visible operation of the same task: the access follows it in program order.
  struct IntermezzoEventId after;
} IntermezzoDataAccess;

// The allocation of a block of memory.
typedef struct IntermezzoAllocated {
  // Bytes of this struct.
  uint32_t size;
  // The kind of block: a `BlockKind`.
  uint32_t kind;
  // The last visible operation of the same task.
  struct IntermezzoEventId after;
  // The block: no other of the execution has the same location.
  IntermezzoLocation location;
  // The variable of the counts, if it is shared; otherwise `UINT32_MAX`.
  IntermezzoSyncVar var;
  // The source place of the allocation.
  IntermezzoSiteId site;
  // 0.
  uint32_t reserved;
  // Bytes allocated.
  uint64_t bytes;
} IntermezzoAllocated;

// The release of memory, or the drop of a cell. A second release is a double free.
typedef struct IntermezzoReleased {
  // Bytes of this struct.
  uint32_t size;
  // The block, or a cell that is dropped.
  IntermezzoLocation location;
  // The last visible operation of the same task.
  struct IntermezzoEventId after;
  // The source place of the release.
  IntermezzoSiteId site;
} IntermezzoReleased;

// A named attribute of an event. The engine's own: `status` is `blocked` if the task wanted its next operation and
// cannot continue, `preempted` if it could and another task continues.
typedef struct IntermezzoAttribute {
  // Bytes of this struct.
  uint32_t size;
  // 0.
  uint32_t reserved;
  // The event. For the engine's own attributes, the event that the task takes next.
  struct IntermezzoEventId event;
  // The attribute.
  struct IntermezzoText name;
  // Its value.
  struct IntermezzoText value;
} IntermezzoAttribute;

// A message from the test. `atomic begin NAME` and `atomic end` are around blocks that are meant to be atomic.
typedef struct IntermezzoSaid {
  // Bytes of this struct.
  uint32_t size;
  // 0.
  uint32_t reserved;
  // The last visible operation of the same task.
  struct IntermezzoEventId after;
  // The text.
  struct IntermezzoText text;
} IntermezzoSaid;

// A monitor of a plugin. A callback that is null is not called.
//
// `instance` is the plugin's own, and is passed to each function. Pointers in structs are valid until the callback
// returns.
typedef struct IntermezzoMonitorTable {
  // Bytes of this struct, as the plugin was compiled.
  uint32_t size;
  // The version of the contract for which the plugin was compiled.
  uint32_t version;
  // Bits of `Interest`.
  uint32_t interests;
  // 1 if the verdict is the same on every execution of one trace, so that reductions hide nothing; else 0.
  uint32_t reduction_compatible;
  // The monitor's name in reports: 1 to 128 bytes without control characters. Valid until the monitor is destroyed.
  struct IntermezzoText name;
  // The plugin's own version, for people; null if there is none. Valid until the monitor is destroyed.
  struct IntermezzoText plugin_version;
  // The plugin's own pointer; may be null.
  void *instance;
  // Called once, after all other calls, when the monitor is no longer needed. When it returns, no code of the monitor
  // may run any more, so it must end the monitor's threads.
  void (*destroy)(void *instance);
  // Called when an execution begins. No queries are possible yet.
  void (*on_execution_begin)(void *instance, const struct IntermezzoExecutionInfo *execution);
  // Called right before a visible operation at which another task could be chosen, after the operation was chosen to
  // come next. Operations whose order with those of other tasks cannot be observed have no such point, for example
  // fences, and the creation, beginning, end and join of a task.
  void (*on_schedule_point)(void *instance, const struct IntermezzoPoint *next, struct IntermezzoCall *call);
  // Called right after a visible operation.
  void (*on_sync_var_access)(void *instance,
                             const struct IntermezzoSyncAccess *access,
                             struct IntermezzoCall *call);
  // Called right after a visible operation on several variables at once, that of `access` first among them. If it
  // is null, `on_sync_var_access` is called.
  void (*on_aggregate_sync_var_access)(void *instance,
                                       const struct IntermezzoSyncAccess *access,
                                       const IntermezzoSyncVar *vars,
                                       size_t count,
                                       struct IntermezzoCall *call);
  // Called at an access to tracked plain memory, before it happens.
  void (*on_data_var_access)(void *instance,
                             const struct IntermezzoDataAccess *access,
                             struct IntermezzoCall *call);
  // Called when a block of memory is allocated.
  void (*on_allocation)(void *instance,
                        const struct IntermezzoAllocated *allocation,
                        struct IntermezzoCall *call);
  // Called when memory is released, or a cell is dropped.
  void (*on_release)(void *instance, const struct IntermezzoReleased *release, struct IntermezzoCall *call);
  // Called when an attribute of an event becomes known.
  void (*on_event_attribute)(void *instance,
                             const struct IntermezzoAttribute *attribute,
                             struct IntermezzoCall *call);
  // Called when the test sends a message.
  void (*on_user_event)(void *instance, const struct IntermezzoSaid *event, struct IntermezzoCall *call);
  // Called when an execution is over, complete or not.
  void (*on_execution_end)(void *instance,
                           const struct IntermezzoExecutionInfo *execution,
                           struct IntermezzoCall *call);
  // Called when the whole exploration is over, for example to report statistics.
  void (*on_shutdown)(void *instance, struct IntermezzoCall *call);
  // 1 if the monitor can judge executions under a memory model, in which an operation on an atomic need not read the
  // last store: `store` of the access says which one it reads. Else 0: where the environment allows `stale_reads`, such a
  // monitor is refused.
  uint32_t follows_stale_reads;
  // 0; any other value is refused.
  uint32_t reserved;
} IntermezzoMonitorTable;

// The function that a plugin exports under the name `intermezzo_monitor_7`. It creates one monitor, and fills its table.
//
// It may be called any number of times, and several monitors may exist at the same time. It is first called once in a
// separate process, to check that it does not crash. So it must have no effects that matter if they are repeated.
//
// - `host` is the engine's table. It is valid until the monitor is destroyed; its functions must not be called now.
// - `arguments` are the user's, as text; empty if there are none. Their meaning is up to the plugin.
// - `monitor` must be filled. All its bytes are zero.
// - `message` has room for `capacity` bytes. If the monitor cannot be created, write the reason there, as text that
//   ends with a zero byte.
//
// Returns 0 on success. With any other value there is no monitor, and `destroy` is not called.
typedef uint32_t (*IntermezzoEntry)(const struct IntermezzoHostTable *host,
                                    struct IntermezzoText arguments,
                                    struct IntermezzoMonitorTable *monitor,
                                    char *message,
                                    size_t capacity);

#ifdef __cplusplus
extern "C" {
#endif

// The entry that a plugin defines: an IntermezzoEntry.
INTERMEZZO_EXPORT uint32_t intermezzo_monitor_7(const IntermezzoHostTable *host, IntermezzoText arguments,
                                                IntermezzoMonitorTable *monitor, char *message,
                                                size_t capacity);

#ifdef __cplusplus
}
#endif

// A C string as text, valid as long as the string is.
static inline IntermezzoText intermezzo_text(const char *string) {
  IntermezzoText text;
  text.bytes = string;
  text.length = string ? strlen(string) : 0;
  return text;
}
