// The plugin in C of these tests. Its arguments say how it misbehaves. Without any, it wants every event, uses every
// query, and reports at the end of each execution how often it was called.

#include "intermezzo.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const IntermezzoHostTable *host;
  unsigned points, accesses, aggregates, data, allocations, releases, attributes, said, begun;
  unsigned crash;
  char last[64];
  unsigned held_back, statuses;
  unsigned stored, stale;
  size_t last_point;
} Monitor;

static void on_execution_begin(void *instance, const IntermezzoExecutionInfo *execution) {
  Monitor *monitor = instance;
  monitor->begun = execution->size == sizeof *execution && execution->number > 0;
  monitor->held_back = monitor->statuses = 0;
  monitor->stored = monitor->stale = 0;
  monitor->last_point = 0;
  monitor->points = monitor->accesses = monitor->aggregates = monitor->data = monitor->allocations = 0;
  monitor->releases = monitor->attributes = monitor->said = 0;
}

static void on_schedule_point(void *instance, const IntermezzoPoint *next, IntermezzoCall *call) {
  Monitor *monitor = instance;
  monitor->points += next->size == sizeof *next;
  IntermezzoTaskId tasks[64];
  size_t enabled = monitor->host->enabled(call, tasks, 64);
  size_t disabled = monitor->host->disabled(call, tasks, 64);
  if (enabled + disabled == 0 || monitor->host->enabled(call, NULL, 0) != enabled) {
    abort();
  }
#if INTERMEZZO_VERSION >= 6
  uint32_t status = monitor->host->status(call, next->event);
  if (status != INTERMEZZO_EVENT_STATUS_READY && status != INTERMEZZO_EVENT_STATUS_PREEMPTED) {
    abort();
  }
#endif
}

static void on_sync_var_access(void *instance, const IntermezzoSyncAccess *access, IntermezzoCall *call) {
  Monitor *monitor = instance;
  if (monitor->crash) {
    raise(SIGSEGV);
  }
  monitor->accesses += access->size == sizeof *access;
#if INTERMEZZO_VERSION >= 6
  monitor->stored += access->op == INTERMEZZO_SYNC_VAR_OP_ATOMIC_STORE;
  // There is one variable, and number 1 is its value before all stores.
  monitor->stale += access->op == INTERMEZZO_SYNC_VAR_OP_ATOMIC_LOAD && access->store == 1 && monitor->stored > 0;
#endif
  size_t all = monitor->host->accesses(call, 0, NULL, 0);
  IntermezzoSyncAccess last;
  if (monitor->host->accesses(call, all - 1, &last, 1) != 1 || last.event.index != access->event.index) {
    abort();
  }
  IntermezzoEventId first = {0, 1};
  uint32_t clock[64];
  if (monitor->host->clock(call, access->event, clock, 64) == INTERMEZZO_NONE) {
    abort();
  }
  if (monitor->accesses > 1 && !monitor->host->happens_before(call, first, access->event)) {
    abort();
  }
#if INTERMEZZO_VERSION >= 6
  size_t point = monitor->host->point_of(call, access->event);
  if (point != INTERMEZZO_NONE) {
    if (point <= monitor->last_point) {
      abort();
    }
    monitor->last_point = point;
  }
  monitor->statuses += monitor->host->status(call, access->event) == INTERMEZZO_EVENT_STATUS_COMMITTED;
  monitor->held_back += monitor->host->held_back_at(call, all - 1, NULL, 0) != 0;
  if (monitor->host->held_back_at(call, all, NULL, 0) != INTERMEZZO_NONE) {
    abort();
  }
#endif
  char name[3];
  // Cut, and ended with a zero.
  if (monitor->host->task_name(call, access->event.task, name, sizeof name) < 3 || name[2] != 0) {
    abort();
  }
  monitor->host->site_name(call, access->site, monitor->last, sizeof monitor->last);
}

static void on_aggregate(void *instance, const IntermezzoSyncAccess *access, const IntermezzoSyncVar *vars,
                         size_t count, IntermezzoCall *call) {
  Monitor *monitor = instance;
  monitor->aggregates += count >= 2 && vars[0] == access->var;
  on_sync_var_access(instance, access, call);
}

static void on_data_var_access(void *instance, const IntermezzoDataAccess *access, IntermezzoCall *call) {
  Monitor *monitor = instance;
  (void)call;
  monitor->data += access->size == sizeof *access;
}

static void on_allocation(void *instance, const IntermezzoAllocated *allocated, IntermezzoCall *call) {
  Monitor *monitor = instance;
  (void)call;
  monitor->allocations += allocated->size == sizeof *allocated;
}

static void on_release(void *instance, const IntermezzoReleased *released, IntermezzoCall *call) {
  Monitor *monitor = instance;
  (void)call;
  monitor->releases += released->size == sizeof *released;
}

static void on_event_attribute(void *instance, const IntermezzoAttribute *attribute, IntermezzoCall *call) {
  Monitor *monitor = instance;
  (void)call;
  monitor->attributes += attribute->size == sizeof *attribute;
}

static void on_user_event(void *instance, const IntermezzoSaid *said, IntermezzoCall *call) {
  Monitor *monitor = instance;
  (void)call;
  monitor->said += said->text.length > 0;
}

static void on_execution_end(void *instance, const IntermezzoExecutionInfo *execution, IntermezzoCall *call) {
  const Monitor *monitor = instance;
#if INTERMEZZO_VERSION >= 6
  IntermezzoPrescribedChoice choices[64];
  size_t prescribed = monitor->host->prescribed(call, choices, 64);
  if (prescribed != execution->prescribed || monitor->statuses != monitor->accesses) {
    abort();
  }
  for (size_t at = 0; at < prescribed; at++) {
    if (choices[at].size != sizeof *choices || choices[at].taken >= choices[at].alternatives) {
      abort();
    }
  }
#endif
  char message[256];
  snprintf(message, sizeof message,
           "begun %u, points %d, accesses %u, aggregates %u, data %d, allocations %d, releases %d, attributes %d, "
           "said %u, complete %u%s",
           monitor->begun, monitor->points > 0, monitor->accesses, monitor->aggregates, monitor->data > 0,
           monitor->allocations > 0, monitor->releases > 0, monitor->attributes > 0, monitor->said,
           execution->complete, monitor->stale > 0 ? ", stale" : "");
  IntermezzoFinding finding = {.size = sizeof finding, .severity = INTERMEZZO_SEVERITY_ERROR};
  finding.kind = intermezzo_text("plugin/counted");
  finding.message = intermezzo_text(message);
  monitor->host->report(call, &finding);
}

static int is(IntermezzoText arguments, const char *word) {
  return arguments.length == strlen(word) && memcmp(arguments.bytes, word, arguments.length) == 0;
}

#ifndef ENTRY
#define ENTRY intermezzo_monitor_7
#endif

uint32_t ENTRY(const IntermezzoHostTable *host, IntermezzoText arguments,
                              IntermezzoMonitorTable *table, char *message, size_t capacity) {
  if (is(arguments, "refuse")) {
    snprintf(message, capacity, "not with me");
    return INTERMEZZO_FAILED;
  }
  if (is(arguments, "refuse silently")) {
    return 77;
  }
  if (is(arguments, "crash")) {
    raise(SIGSEGV);
  }
  if (is(arguments, "abort")) {
    abort();
  }
  if (is(arguments, "exit")) {
    exit(0);
  }
  if (is(arguments, "loop")) {
    for (volatile int going = 1; going;) {
    }
  }
  Monitor *monitor = calloc(1, sizeof *monitor);
  monitor->host = host;
  monitor->crash = is(arguments, "crash later");
  table->size = sizeof *table;
  table->version = INTERMEZZO_VERSION;
  table->interests = 127;
  table->reduction_compatible = 1;
#if INTERMEZZO_VERSION >= 7
  table->follows_stale_reads = 1;
#endif
  table->name = intermezzo_text("counted");
  table->plugin_version = intermezzo_text("0.0.7");
  table->instance = monitor;
  table->destroy = free;
  table->on_execution_begin = on_execution_begin;
  table->on_schedule_point = on_schedule_point;
  table->on_sync_var_access = on_sync_var_access;
  table->on_aggregate_sync_var_access = on_aggregate;
  table->on_data_var_access = on_data_var_access;
  table->on_allocation = on_allocation;
  table->on_release = on_release;
  table->on_event_attribute = on_event_attribute;
  table->on_user_event = on_user_event;
  table->on_execution_end = on_execution_end;
  if (is(arguments, "callbacks are null")) {
    memset(&table->on_execution_begin, 0,
           sizeof *table - offsetof(IntermezzoMonitorTable, on_execution_begin));
    table->destroy = NULL;
  }
  // `poke AT BYTE`: the table has another byte there.
  char text[64] = "";
  unsigned at, byte;
  memcpy(text, arguments.bytes, arguments.length < 63 ? arguments.length : 63);
  if (sscanf(text, "poke %u %u", &at, &byte) == 2) {
    ((unsigned char *)table)[at] = (unsigned char)byte;
  }
  return INTERMEZZO_OK;
}
