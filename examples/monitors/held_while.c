// The monitor held-while: reports a task that holds one lock while it uses another variable, both given by name. With
// `registry,epoch`, no task may hold `registry` while touching `epoch`.
//
// Blind spots: shares of reader-writer locks do not count as held, and a variable counts only if it has a name in the
// source or by `intermezzo::name`.

#include "intermezzo.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 64, USES_MAX = 4096 };

// A lock that a task holds, or that it held when it used another variable.
typedef struct {
  IntermezzoSyncVar lock, touched;
  IntermezzoEventId taken, event;
} Use;

typedef struct {
  const IntermezzoHostTable *host;
  char lock[NAME_BYTES], touched[NAME_BYTES];
  Use held[USES_MAX], uses[USES_MAX];
  size_t held_count, use_count;
} Monitor;

static void on_execution_begin(void *instance, const IntermezzoExecutionInfo *execution) {
  Monitor *monitor = instance;
  (void)execution;
  monitor->held_count = monitor->use_count = 0;
}

// Notes that the task of `access` holds a lock while it uses another variable. Of equal pairs, the first is kept.
static void note(Monitor *monitor, const Use *held, const IntermezzoSyncAccess *access) {
  for (size_t i = 0; i < monitor->use_count; i++) {
    if (monitor->uses[i].lock == held->lock && monitor->uses[i].touched == access->var) {
      return;
    }
  }
  if (held->lock != access->var && monitor->use_count < USES_MAX) {
    Use use = *held;
    use.touched = access->var;
    use.event = access->event;
    monitor->uses[monitor->use_count++] = use;
  }
}

static void access_of(Monitor *monitor, const IntermezzoSyncAccess *access, IntermezzoSyncVar released) {
  size_t kept = 0;
  for (size_t i = 0; i < monitor->held_count; i++) {
    Use held = monitor->held[i];
    int own = held.taken.task == access->event.task;
    if (own) {
      note(monitor, &held, access);
    }
    if (!own || held.lock != released) {
      monitor->held[kept++] = held;
    }
  }
  monitor->held_count = kept;
  int takes = access->op == INTERMEZZO_SYNC_VAR_OP_LOCK_ACQUIRE ||
              access->op == INTERMEZZO_SYNC_VAR_OP_LOCK_TRY_ACQUIRE;
  if (takes && kept < USES_MAX) {
    Use held = {.lock = access->var, .taken = access->event};
    monitor->held[monitor->held_count++] = held;
  }
}

static void on_sync_var_access(void *instance, const IntermezzoSyncAccess *access, IntermezzoCall *call) {
  (void)call;
  int releases = access->op == INTERMEZZO_SYNC_VAR_OP_LOCK_RELEASE;
  access_of(instance, access, releases ? access->var : IntermezzoSyncVar_NONE);
}

// A wait for a condition variable releases its mutex.
static void on_aggregate(void *instance, const IntermezzoSyncAccess *access, const IntermezzoSyncVar *vars,
                         size_t count, IntermezzoCall *call) {
  (void)call;
  access_of(instance, access, count > 1 ? vars[1] : IntermezzoSyncVar_NONE);
}

static int is_called(const Monitor *monitor, IntermezzoCall *call, IntermezzoSyncVar var, const char *wanted) {
  char name[NAME_BYTES];
  monitor->host->source_name(call, var, name, sizeof name);
  return strcmp(name, wanted) == 0;
}

// By now, the operations have shown all the names that they can.
static void on_execution_end(void *instance, const IntermezzoExecutionInfo *execution, IntermezzoCall *call) {
  const Monitor *monitor = instance;
  (void)execution;
  for (size_t i = 0; i < monitor->use_count; i++) {
    const Use *use = &monitor->uses[i];
    if (!is_called(monitor, call, use->lock, monitor->lock) ||
        !is_called(monitor, call, use->touched, monitor->touched)) {
      continue;
    }
    char task[NAME_BYTES], lock[NAME_BYTES], touched[NAME_BYTES], message[4 * NAME_BYTES];
    monitor->host->task_name(call, use->event.task, task, sizeof task);
    monitor->host->var_name(call, use->lock, lock, sizeof lock);
    monitor->host->var_name(call, use->touched, touched, sizeof touched);
    snprintf(message, sizeof message, "%s holds %s while touching %s", task, lock, touched);
    IntermezzoEventId events[] = {use->taken, use->event};
    IntermezzoFinding finding = {.size = sizeof finding, .severity = INTERMEZZO_SEVERITY_ERROR};
    finding.kind = intermezzo_text("plugin/held-while");
    finding.message = intermezzo_text(message);
    finding.suggestion = intermezzo_text("release the lock before");
    finding.events = events;
    finding.event_count = 2;
    monitor->host->report(call, &finding);
  }
}

uint32_t intermezzo_monitor_7(const IntermezzoHostTable *host, IntermezzoText arguments,
                              IntermezzoMonitorTable *table, char *message, size_t capacity) {
  const char *comma = arguments.length ? memchr(arguments.bytes, ',', arguments.length) : NULL;
  size_t first = comma ? (size_t)(comma - arguments.bytes) : 0;
  size_t second = comma ? arguments.length - first - 1 : 0;
  if (host->version != INTERMEZZO_VERSION || !comma || first >= NAME_BYTES || second >= NAME_BYTES) {
    snprintf(message, capacity, "give two names, as in `registry,epoch`, to version %d", INTERMEZZO_VERSION);
    return INTERMEZZO_FAILED;
  }
  Monitor *monitor = calloc(1, sizeof *monitor);
  if (!monitor) {
    snprintf(message, capacity, "out of memory");
    return INTERMEZZO_FAILED;
  }
  monitor->host = host;
  memcpy(monitor->lock, arguments.bytes, first);
  memcpy(monitor->touched, comma + 1, second);
  table->size = sizeof *table;
  table->version = INTERMEZZO_VERSION;
  table->interests = INTERMEZZO_INTEREST_SYNC_ACCESSES;
  table->reduction_compatible = 1; // a task's own operations come in the same order in every execution of a trace
  table->name = intermezzo_text("held-while");
  table->instance = monitor;
  table->destroy = free;
  table->on_execution_begin = on_execution_begin;
  table->on_sync_var_access = on_sync_var_access;
  table->on_aggregate_sync_var_access = on_aggregate;
  table->on_execution_end = on_execution_end;
  return INTERMEZZO_OK;
}
