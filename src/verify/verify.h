/* SPDX-License-Identifier: MIT */
/*
 * Broken rules, by number. A room that enforces a rule of docs/spec/rules names it at the place:
 * VIOLATION("PATCH-017", ...). The record keeps the rule, what was seen, where (DDI or callback in
 * progress, thread, level, virtual time) and up to four parameters (LIFE-001). A fatal one is a
 * simulated bug check (LIFE-002). The narrow header that every room may include.
 */
#ifndef DXGK_VERIFY_H
#define DXGK_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verify_severity { VERIFY_NOTE, VERIFY_WARNING, VERIFY_ERROR, VERIFY_FATAL };

struct verify_log;
extern _Thread_local struct verify_log *verify_current;

struct verify_record {
    const char *rule;
    enum verify_severity severity;
    char seen[320]; /* what was seen, one sentence */
    char where[96]; /* "DxgkDdiPatch", "DxgkCbMapMemory called by refgpu.so!StartDevice+0x42" */
    char thread[32];
    uint8_t irql;
    uint32_t code; /* bug check code, if fatal or it has one */
    uint64_t parameter[4];
    uint64_t time; /* virtual ns */
    /* errors and fatal ones: frames of the driver, innermost first, one a line; NULL: unknown. The
     * log's */
    const char *stack;
    /* identical ones (same rule, severity and place) merge; the rest is the first one's */
    uint64_t count;
};

struct verify_bugcheck {
    bool happened;
    uint32_t code;
    uint64_t parameter[4];
    const char *rule;
};

/* NULL: out of memory. The log's memory is the host's, not the machine's: injected faults do not
 * change it. */
struct verify_log *verify_log_create(void);
void verify_log_destroy(struct verify_log *log);
/* Make the log current for this host thread; NULL: none. Without a log every report is dropped,
 * fatal ones too. */
void verify_log_install(struct verify_log *log);
/* Keep at most this many records (default 10000); what does not fit is counted and lost, as when
 * memory is short. */
void verify_log_limit(struct verify_log *log, size_t records);

/* Severity of one rule, before the driver is loaded (LIFE-004). False: no such rule. */
bool verify_set_severity(struct verify_log *log, const char *rule, enum verify_severity severity);
/* Raise every error to a stop (strict mode). A rule lowered by verify_set_severity stays
 * lowered. */
void verify_set_strict(struct verify_log *log, bool strict);
bool verify_strict(const struct verify_log *log);

/* Who fills in where/thread/irql/time of a record; installed by the room that knows (ddi). The
 * structure must outlive its use. */
struct verify_place {
    void (*describe)(struct verify_record *record);
    /* Writes the stack, at most so many bytes with the terminator. Returns false if there is
     * nothing to tell. */
    bool (*stack)(char *text, size_t bytes);
    /* Carries out a bug check once the record exists: last DDI, then sim_stop. May not return. If
     * another fatal report comes meanwhile, it is called again with the first one's state and must
     * stop at once. */
    void (*bugcheck)(const struct verify_bugcheck *bugcheck);
};
void verify_set_place(struct verify_log *log, const struct verify_place *place);

/* Report a broken rule; `rule` is a string literal. The configured severity applies, else the one
 * given. One that becomes fatal is the bug check 0xC4 (DRIVER_VERIFIER_DETECTED_VIOLATION). */
void verify_report(const char *rule, enum verify_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An error with the code and first parameters that Windows would show (0xC4/0x51); fatal or not. */
void verify_report_code(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                        uint64_t p4, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* Report and stop: a simulated bug check with code and parameters. Returns only if the rule was
 * lowered, if there is no log, or if no place was set. */
void verify_fatal(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                  uint64_t p4, const char *format, ...) __attribute__((format(printf, 7, 8)));

#define VIOLATION(rule, ...) verify_report(rule, VERIFY_ERROR, __VA_ARGS__)
#define WARNING(rule, ...)   verify_report(rule, VERIFY_WARNING, __VA_ARGS__)
#define NOTE(rule, ...)      verify_report(rule, VERIFY_NOTE, __VA_ARGS__)

/* Reports so far of at least this severity (merged and lost ones counted each). */
size_t verify_count(const struct verify_log *log, enum verify_severity at_least);
/* Records in order of their first report; they stay where they are until the log is destroyed. NULL
 * beyond the last. */
const struct verify_record *verify_record_at(const struct verify_log *log, size_t index);
size_t verify_records(const struct verify_log *log);
/* Reports of one rule so far, of any severity (merged and lost ones counted each). 0 for an unknown
 * rule. */
uint64_t verify_rule_count(const struct verify_log *log, const char *rule);
/* Reports that left no record. */
uint64_t verify_lost(const struct verify_log *log);
const struct verify_bugcheck *verify_bugcheck_state(const struct verify_log *log);

/* The rule list compiled in from docs/spec/rules. */
struct verify_rule {
    const char *id, *since, *applies_to, *text, *source, *test;
    bool since_1x; /* for drivers of WDDM 1.x, too, as `since` says */
    /* What the host does not do yet, so that the rule is not in force: number of its text in
     * verify_absent. 0: in force. */
    uint8_t absent;
};
#define VERIFY_MAX_ABSENT 64u
extern const struct verify_rule verify_rules[];
extern const size_t verify_rules_count;
extern const char *const verify_absent[]; /* [0] is NULL */
/* NULL: no such rule. */
const struct verify_rule *verify_rule_find(const char *id);

#endif
