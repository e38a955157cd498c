//! The monitor `contention` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::Contention::with_arguments);
