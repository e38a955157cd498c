//! Monitors around another monitor, which is called in their place.

/// Implements `Monitor` for a type around a monitor, its field `monitor`. What that says of itself holds for both, and each
/// callback is a call of the method `$pass`, with a closure that calls the other monitor.
macro_rules! passes_on {
    ($around:ident, $pass:ident) => {
        const _: () = {
            use intermezzo_sdk::{
                Allocation, Context, DataVarAccess, EventAttribute, Execution, Interests, MemoryEvent,
                Release, SchedulePoint, SyncVar, SyncVarAccess, UserEvent,
            };

            impl intermezzo_sdk::Monitor for $around {
                fn name(&self) -> &str {
                    self.monitor.name()
                }

                fn interests(&self) -> Interests {
                    self.monitor.interests()
                }

                fn reduction_compatible(&self) -> bool {
                    self.monitor.reduction_compatible()
                }

                fn follows_stale_reads(&self) -> bool {
                    self.monitor.follows_stale_reads()
                }

                fn memory_afterwards(&self) -> bool {
                    self.monitor.memory_afterwards()
                }

                fn on_execution_begin(&mut self, execution: &Execution<'_>) {
                    self.$pass(|monitor| monitor.on_execution_begin(execution));
                }

                fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_schedule_point(next, cx));
                }

                fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_sync_var_access(access, cx));
                }

                fn on_aggregate_sync_var_access(
                    &mut self,
                    access: &SyncVarAccess,
                    vars: &[SyncVar],
                    cx: &mut Context<'_>,
                ) {
                    self.$pass(|monitor| monitor.on_aggregate_sync_var_access(access, vars, cx));
                }

                fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_data_var_access(access, cx));
                }

                fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_allocation(allocation, cx));
                }

                fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_release(release, cx));
                }

                fn on_memory(&mut self, memory: &[MemoryEvent], cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_memory(memory, cx));
                }

                fn on_memory_again(&mut self, memory: &[MemoryEvent], same: usize, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_memory_again(memory, same, cx));
                }

                fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_event_attribute(attribute, cx));
                }

                fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_user_event(event, cx));
                }

                fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_execution_end(execution, cx));
                }

                fn on_shutdown(&mut self, cx: &mut Context<'_>) {
                    self.$pass(|monitor| monitor.on_shutdown(cx));
                }
            }
        };
    };
}

pub(crate) use passes_on;
