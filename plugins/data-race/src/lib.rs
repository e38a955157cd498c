//! The monitor `data-race` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::DataRaces::with_arguments);
