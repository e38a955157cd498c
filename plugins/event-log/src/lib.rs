//! The monitor `event-log` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::event_log);
