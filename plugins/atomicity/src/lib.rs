//! The monitor `atomicity` as a plugin.

intermezzo_sdk::export_monitor!(intermezzo_monitors::Atomicity::with_arguments);
