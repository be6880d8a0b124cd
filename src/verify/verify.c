/* SPDX-License-Identifier: MIT */
/*
 * The log of broken rules of one machine.
 *
 *   report ── severity: configured for the rule, else the caller's; strict mode raises errors
 *          ── place:    the hook fills in where, thread, level, time
 *          ── record:   merged with the one of the same rule, severity, place and cause, else a
 *                       new one
 *          ── fatal:    the first one is the machine's bug check; the hook carries it out
 *
 * Rules are numbered by their index in the generated table (binary search by id); per rule there is
 * a count, a configured severity and a chain of its records, so that a report costs the search and
 * a walk over the places that broke this rule. The last slot is for all ids that are not in the
 * table: a mistake of the host, which must not hide the driver's.
 *
 * Memory comes from malloc, not from util_alloc: a failure injected into the machine's heap must
 * not change what is reported, and the log is read after the machine is destroyed. When memory is
 * short, a report is counted and takes effect, but leaves no record.
 */
#include "verify/verify.h"
#include "util/arena.h"
#include "util/assert.h"
#include "util/debugger.h"
#include "verify/log_report.h"
#include "verify/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX                        10000u
#define STACK_BYTES                        6144u
#define SEEN_BYTES                         512u
#define SEVERITIES                         ((size_t)VERIFY_FATAL + 1)
#define DRIVER_VERIFIER_DETECTED_VIOLATION 0xC4u

_Thread_local struct verify_log *verify_current;

struct entry {
    struct verify_record record;
    struct entry *next_of_rule;
};

struct rule_state {
    struct entry *entries;
    uint64_t count;
    bool configured;
    enum verify_severity severity;
};

struct verify_log {
    struct util_arena *arena; /* of all memory of the log; NULL: malloc */
    struct rule_state *rule;  /* verify_rules_count + 1 elements */
    struct entry **entry;     /* in order of creation */
    size_t entries;
    size_t capacity;
    size_t limit;
    uint64_t count[SEVERITIES];
    uint64_t client_errors;
    uint64_t lost;
    bool strict;
    bool undoing;
    struct verify_bugcheck bugcheck;
    const struct verify_place *place;
    const char *stack; /* of the next report; NULL: the hook finds it */
    void (*news)(void *context, const struct verify_record *record);
    void *news_context;
};

struct verify_log *verify_log_create_in(struct util_arena *arena)
{
    struct verify_log *log = util_arena_or_malloc(arena, sizeof(*log));

    if (!log)
        return NULL;
    log->arena = arena;
    log->limit = RECORDS_MAX;
    log->rule = util_arena_or_malloc(arena, (verify_rules_count + 1) * sizeof(*log->rule));
    if (!log->rule) {
        util_arena_or_free(arena, log);
        return NULL;
    }
    return log;
}

struct verify_log *verify_log_create(void)
{
    return verify_log_create_in(NULL);
}

void verify_log_destroy(struct verify_log *log)
{
    if (!log)
        return;
    if (verify_current == log)
        verify_current = NULL;
    if (log->arena)
        return;
    for (size_t i = 0; i < log->entries; i++) {
        free((void *)(uintptr_t)log->entry[i]->record.stack);
        free((void *)(uintptr_t)log->entry[i]->record.seen);
        free(log->entry[i]);
    }
    free((void *)log->entry);
    free(log->rule);
    free(log);
}

void verify_log_install(struct verify_log *log)
{
    verify_current = log;
}

void verify_log_limit(struct verify_log *log, size_t records)
{
    log->limit = records;
}

void verify_set_strict(struct verify_log *log, bool strict)
{
    log->strict = strict;
}

bool verify_strict(const struct verify_log *log)
{
    return log->strict;
}

void verify_set_undoing(struct verify_log *log, bool undoing)
{
    if (log)
        log->undoing = undoing;
}

bool verify_undoing(const struct verify_log *log)
{
    return log && log->undoing;
}

void verify_set_place(struct verify_log *log, const struct verify_place *place)
{
    log->place = place;
}

void verify_set_news(struct verify_log *log,
                     void (*news)(void *context, const struct verify_record *record), void *context)
{
    log->news = news;
    log->news_context = context;
}

/* ---- rules ---- */

static int compare_id(const void *id, const void *rule)
{
    return strcmp(id, ((const struct verify_rule *)rule)->id);
}

const struct verify_rule *verify_rule_find(const char *id)
{
    return bsearch(id, verify_rules, verify_rules_count, sizeof(verify_rules[0]), compare_id);
}

bool verify_set_severity(struct verify_log *log, const char *rule, enum verify_severity severity)
{
    const struct verify_rule *found = verify_rule_find(rule);

    if (!found)
        return false;
    log->rule[found - verify_rules].configured = true;
    log->rule[found - verify_rules].severity = severity;
    return true;
}

uint64_t verify_rule_count(const struct verify_log *log, const char *rule)
{
    const struct verify_rule *found = verify_rule_find(rule);

    return found ? log->rule[found - verify_rules].count : 0;
}

/* ---- records ---- */

static bool grow(struct verify_log *log)
{
    size_t capacity = log->capacity ? log->capacity * 2 : 16;
    struct entry **entry;

    if (log->entries < log->capacity)
        return true;
    entry = (struct entry **)util_arena_or_malloc(log->arena, capacity * sizeof(struct entry *));
    if (!entry)
        return false;
    if (log->entries)
        memcpy((void *)entry, (void *)log->entry, log->entries * sizeof(struct entry *));
    util_arena_or_free(log->arena, (void *)log->entry);
    log->entry = entry;
    log->capacity = capacity;
    return true;
}

/* NULL: out of memory. */
static char *copy(const struct verify_log *log, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *kept = util_arena_or_malloc(log->arena, bytes);

    if (kept)
        memcpy(kept, text, bytes);
    return kept;
}

/* NULL: no stack, or out of memory. */
static char *take_stack(const struct verify_log *log, const struct verify_record *record)
{
    char text[STACK_BYTES];

    if (log->stack && *log->stack)
        return copy(log, log->stack);
    if (record->severity < VERIFY_ERROR || !log->place || !log->place->stack ||
        !log->place->stack(text, sizeof(text)))
        return NULL;
    return copy(log, text);
}

static bool equal(const struct verify_record *a, const struct verify_record *b, bool finding)
{
    return a->severity == b->severity && a->refuses == b->refuses && a->undoing == b->undoing &&
           a->client == b->client && a->cause == b->cause && strcmp(a->rule, b->rule) == 0 &&
           strcmp(a->where, b->where) == 0 && (!finding || strcmp(a->seen, b->seen) == 0);
}

/* Merge with an equal record, or keep a copy. False: out of memory. */
static bool keep(struct verify_log *log, struct rule_state *rule,
                 const struct verify_record *record, bool finding)
{
    struct entry *entry;
    char *seen;

    for (entry = rule->entries; entry; entry = entry->next_of_rule) {
        if (equal(&entry->record, record, finding)) {
            entry->record.count++;
            return true;
        }
    }
    if (log->entries >= log->limit || !grow(log))
        return false;
    entry = util_arena_or_malloc(log->arena, sizeof(*entry));
    seen = copy(log, record->seen);
    if (!entry || !seen) {
        util_arena_or_free(log->arena, entry);
        util_arena_or_free(log->arena, seen);
        return false;
    }
    entry->record = *record;
    entry->record.seen = seen;
    entry->record.count = 1;
    entry->record.stack = take_stack(log, record);
    entry->next_of_rule = rule->entries;
    rule->entries = entry;
    log->entry[log->entries++] = entry;
    if (log->news)
        log->news(log->news_context, &entry->record);
    return true;
}

static void stop(struct verify_log *log, const struct verify_record *record)
{
    if (!log->bugcheck.happened) {
        log->bugcheck.happened = true;
        log->bugcheck.code = record->code;
        memcpy(log->bugcheck.parameter, record->parameter, sizeof(record->parameter));
        log->bugcheck.rule = record->rule;
        log->bugcheck.client = record->client;
    }
    if (log->place && log->place->bugcheck)
        log->place->bugcheck(&log->bugcheck);
}

static enum verify_severity effective(const struct verify_log *log, const struct rule_state *rule,
                                      enum verify_severity severity, enum verify_kind kind)
{
    if (rule->configured)
        severity = rule->severity;
    return log->strict && severity == VERIFY_ERROR &&
                   (kind == VERIFY_KIND_BREACH || kind == VERIFY_KIND_EACH)
               ? VERIFY_FATAL
               : severity;
}

static bool refuses(const struct rule_state *rule, enum verify_severity severity,
                    enum verify_kind kind)
{
    switch (kind) {
    case VERIFY_KIND_FINDING:
        return severity >= VERIFY_ERROR;
    case VERIFY_KIND_UNSERVED:
        return severity >= VERIFY_ERROR || !rule->configured;
    default:
        return kind == VERIFY_KIND_REFUSAL;
    }
}

static void count(struct verify_log *log, const struct verify_record *record)
{
    if (!record->client)
        log->count[record->severity]++;
    else if (record->severity >= VERIFY_ERROR)
        log->client_errors++;
}

bool verify_log_report(struct verify_log *log, const char *id, struct verify_record *record,
                       enum verify_kind kind, const char *format, va_list arguments)
{
    const struct verify_rule *found = verify_rule_find(id);
    struct rule_state *rule = &log->rule[found ? (size_t)(found - verify_rules) : verify_rules_count];
    char seen[SEEN_BYTES];
    char *whole = NULL; /* if it is longer than that */
    va_list again;

#ifdef DXGK_DEBUG_CHECKS
    util_assert(found && "the rule is in no table of docs/spec/rules");
    util_assert((kind == VERIFY_KIND_BREACH || kind == VERIFY_KIND_EACH ||
                 kind == VERIFY_KIND_CLIENT || found->admission != VERIFY_NO_ADMISSION) &&
                "the rule can refuse, and is not in docs/spec/admission.tsv");
#endif
    record->rule = found ? found->id : id;
    record->severity = effective(log, rule, record->severity, kind);
    record->client = kind == VERIFY_KIND_CLIENT;
    record->refuses = refuses(rule, record->severity, kind);
    record->undoing = log->undoing;
    if (record->severity == VERIFY_FATAL && record->code == 0)
        record->code = DRIVER_VERIFIER_DETECTED_VIOLATION;
    va_copy(again, arguments);
    if (vsnprintf(seen, sizeof(seen), format, arguments) >= (int)sizeof(seen) &&
        vasprintf(&whole, format, again) < 0)
        whole = NULL;
    va_end(again);
    record->seen = whole ? whole : seen;
    record->cause = format;
    if (record->severity >= VERIFY_ERROR || record->refuses ||
        (refusal_current && refusal_current->notes))
        refusal_violation(record->rule, record->seen);
    dxgk_debug_rule(record->rule, record->severity, record->seen);
    if (log->place && log->place->describe)
        log->place->describe(record);
    rule->count++;
    count(log, record);
    if (!keep(log, rule, record, kind != VERIFY_KIND_BREACH && kind != VERIFY_KIND_CLIENT))
        log->lost++;
    log->stack = NULL;
    free(whole);
    record->seen = NULL;
    if (record->severity == VERIFY_FATAL)
        stop(log, record);
    return record->refuses;
}

void verify_set_stack(const char *text)
{
    if (verify_current)
        verify_current->stack = text;
}

void verify_report(const char *rule, enum verify_severity severity, const char *format, ...)
{
    struct verify_record record = {.severity = severity};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_BREACH, format, arguments);
    va_end(arguments);
}

void verify_report_each(const char *rule, enum verify_severity severity, const char *format, ...)
{
    struct verify_record record = {.severity = severity};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_EACH, format, arguments);
    va_end(arguments);
}

void verify_report_code(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                        uint64_t p4, const char *format, ...)
{
    struct verify_record record = {
        .severity = VERIFY_ERROR, .code = code, .parameter = {p1, p2, p3, p4}};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_BREACH, format, arguments);
    va_end(arguments);
}

void verify_fatal(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                  uint64_t p4, const char *format, ...)
{
    struct verify_record record = {
        .severity = VERIFY_FATAL, .code = code, .parameter = {p1, p2, p3, p4}};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_BREACH, format, arguments);
    va_end(arguments);
}

/* ---- reading ---- */

size_t verify_count(const struct verify_log *log, enum verify_severity at_least)
{
    size_t count = 0;

    for (size_t i = at_least; i < SEVERITIES; i++)
        count += log->count[i];
    return count;
}

uint64_t verify_client_errors(const struct verify_log *log)
{
    return log->client_errors;
}

size_t verify_records(const struct verify_log *log)
{
    return log->entries;
}

const struct verify_record *verify_record_at(const struct verify_log *log, size_t index)
{
    return index < log->entries ? &log->entry[index]->record : NULL;
}

uint64_t verify_lost(const struct verify_log *log)
{
    return log->lost;
}

const struct verify_bugcheck *verify_bugcheck_state(const struct verify_log *log)
{
    return &log->bugcheck;
}
