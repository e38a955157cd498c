//! The kinds of variables, and the names in the source that show one.

/// Kinds of variables, and the methods and functions by which tests use them.
pub(super) const METHODS: &[(&[&str], &[&str])] = &[
    (
        &["atomic", "pointer"],
        &[
            "load",
            "store",
            "swap",
            "compare_exchange",
            "compare_exchange_weak",
            "compare_and_swap",
            "fetch_update",
            "try_update",
            "update",
            "fetch_add",
            "fetch_sub",
            "fetch_max",
            "fetch_min",
            "fetch_and",
            "fetch_nand",
            "fetch_or",
            "fetch_xor",
            "fetch_not",
            "fetch_ptr_add",
            "fetch_ptr_sub",
            "fetch_byte_add",
            "fetch_byte_sub",
            "get_mut",
            "into_inner",
            "unsync_load",
            "with_mut",
        ],
    ),
    (
        &["mutex"],
        &[
            "lock",
            "try_lock",
            "is_poisoned",
            "clear_poison",
            "get_mut",
            "into_inner",
        ],
    ),
    (
        &["rwlock"],
        &[
            "read",
            "write",
            "try_read",
            "try_write",
            "is_poisoned",
            "clear_poison",
            "get_mut",
            "into_inner",
        ],
    ),
    (
        &["condvar"],
        &[
            "wait",
            "wait_while",
            "wait_timeout",
            "wait_timeout_ms",
            "wait_timeout_while",
            "notify_one",
            "notify_all",
        ],
    ),
    (
        &["once"],
        &[
            "call_once",
            "call_once_force",
            "is_completed",
            "wait",
            "wait_force",
            "get",
            "set",
            "get_or_init",
            "take",
            "force",
            "try_insert",
        ],
    ),
    (&["barrier"], &["wait"]),
    (
        &["channel"],
        &["send", "try_send", "recv", "try_recv", "recv_timeout"],
    ),
    (
        &["count", "arc"],
        &[
            "clone",
            "upgrade",
            "downgrade",
            "strong_count",
            "weak_count",
            "try_unwrap",
            "into_inner",
            "get_mut",
            "make_mut",
            "unwrap_or_clone",
        ],
    ),
    // `swap` is a use of two cells.
    (
        &["cell"],
        &[
            "get",
            "set",
            "replace",
            "take",
            "update",
            "with",
            "with_mut",
            "get_mut",
            "as_ptr",
            "into_inner",
        ],
    ),
    // Those of a test's own have names that the test gives them.
    (&["primitive"], &[]),
    (
        &["semaphore"],
        &[
            "acquire",
            "acquire_timeout",
            "available",
            "release",
            "release_many",
            "try_acquire",
        ],
    ),
    (
        &["autoevent", "manualevent"],
        &["is_set", "reset", "set", "try_wait", "wait", "wait_timeout"],
    ),
    (
        &["waitset"],
        &["wait_all", "wait_all_timeout", "wait_any", "wait_any_timeout"],
    ),
    (&["jobs"], &["run", "wait_idle"]),
    (&["job"], &["join"]),
    (&["timer"], &["cancel", "join"]),
];

/// Types whose `new` makes a variable.
pub(super) const MADE: &[&str] = &[
    "Mutex",
    "RwLock",
    "Condvar",
    "Once",
    "OnceLock",
    "LazyLock",
    "Barrier",
    "Cell",
    "UnsafeCell",
];

/// Types whose `new` puts a value into a box.
pub(super) const BOXES: &[&str] = &["Arc", "Rc", "Box", "Pin", "CachePadded"];

/// Fields whose names say nothing.
pub(super) const PLAIN_FIELDS: &[&str] = &["inner", "value", "data", "ptr", "raw"];

/// Functions whose calls are places of events of their own, or of the making and the end of an object.
pub(super) const OTHERS: &[&str] = &[
    "atomically",
    "block_on",
    "choose",
    "default",
    "drop",
    "fence",
    "from",
    "is_finished",
    "join",
    "join_all",
    "new",
    "park",
    "park_timeout",
    "scope",
    "sleep",
    "spawn",
    "spin_loop",
    "unpark",
    "yield_now",
];

/// `true` for the name of a method or function by which a test uses a variable.
pub(super) fn is_method(name: &str) -> bool {
    METHODS.iter().any(|(_, methods)| methods.contains(&name))
}
