//! The monitor `statistics` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::Statistics::with_arguments);
