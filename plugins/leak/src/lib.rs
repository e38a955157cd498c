//! The monitor `leak` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::Leaks::with_arguments);
