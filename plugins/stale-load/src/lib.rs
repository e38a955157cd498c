//! The monitor `stale-load` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::StaleLoads::with_arguments);
