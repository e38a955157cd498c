//! The monitor `happens-before-counter` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::HappensBeforeCounter::with_arguments);
