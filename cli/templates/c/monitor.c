// The monitor {{name}}: reports relaxed stores.
//
// Blind spot: it does not check whether any task relies on the store's order.

#include "intermezzo.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const IntermezzoHostTable *host;
  uint32_t severity;
} Monitor;

static void on_sync_var_access(void *instance, const IntermezzoSyncAccess *access, IntermezzoCall *call) {
  const Monitor *monitor = instance;
  if (access->op != INTERMEZZO_SYNC_VAR_OP_ATOMIC_STORE ||
      access->order != INTERMEZZO_MEMORY_ORDER_RELAXED) {
    return;
  }
  char var[64], message[128];
  monitor->host->var_name(call, access->var, var, sizeof var);
  snprintf(message, sizeof message, "a relaxed store to %s", var);
  IntermezzoFinding finding = {.size = sizeof finding, .severity = monitor->severity};
  finding.kind = intermezzo_text("plugin/{{name}}");
  finding.message = intermezzo_text(message);
  finding.suggestion = intermezzo_text("store with Ordering::Release");
  finding.events = &access->event;
  finding.event_count = 1;
  monitor->host->report(call, &finding);
}

uint32_t intermezzo_monitor_7(const IntermezzoHostTable *host, IntermezzoText arguments,
                              IntermezzoMonitorTable *table, char *message, size_t capacity) {
  int warn = arguments.length == 4 && memcmp(arguments.bytes, "warn", 4) == 0;
  if (host->version != INTERMEZZO_VERSION || (arguments.length > 0 && !warn)) {
    snprintf(message, capacity, "give `warn`, or nothing, to version %d", INTERMEZZO_VERSION);
    return INTERMEZZO_FAILED;
  }
  Monitor *monitor = malloc(sizeof *monitor);
  if (!monitor) {
    snprintf(message, capacity, "out of memory");
    return INTERMEZZO_FAILED;
  }
  monitor->host = host;
  monitor->severity = warn ? INTERMEZZO_SEVERITY_WARNING : INTERMEZZO_SEVERITY_ERROR;
  table->size = sizeof *table;
  table->version = INTERMEZZO_VERSION;
  table->interests = INTERMEZZO_INTEREST_SYNC_ACCESSES;
  table->reduction_compatible = 1; // every execution of a trace has the same stores
  table->name = intermezzo_text("{{name}}");
  table->instance = monitor;
  table->destroy = free;
  table->on_sync_var_access = on_sync_var_access;
  return INTERMEZZO_OK;
}
