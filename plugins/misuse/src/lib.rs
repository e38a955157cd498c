//! The monitor `misuse` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::Misuses::with_arguments);
