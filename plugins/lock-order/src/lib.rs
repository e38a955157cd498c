//! The monitor `lock-order` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::LockOrder::with_arguments);
