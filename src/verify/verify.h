/* SPDX-License-Identifier: MIT */
/*
 * Broken rules, by number. A room that enforces a rule of docs/spec/rules names the rule where it
 * checks it: VIOLATION("PATCH-017", ...). The record keeps the rule, what was seen, where (DDI or
 * callback in progress, thread, level, virtual time) and up to four parameters (LIFE-001). A fatal
 * one is a simulated bug check (LIFE-002). This header includes little, since every room may
 * include it.
 */
#ifndef DXGK_VERIFY_H
#define DXGK_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verify_severity { VERIFY_NOTE, VERIFY_WARNING, VERIFY_ERROR, VERIFY_FATAL };

struct util_arena;
struct verify_log;
extern _Thread_local struct verify_log *verify_current;

struct verify_record {
    const char *rule;
    enum verify_severity severity;
    const char *seen;  /* what was seen, one sentence. Owned by the log */
    const char *cause; /* the same without its values: only to be compared */
    char where[96];    /* "DxgkDdiPatch", "DxgkCbMapMemory called by refgpu.so!StartDevice+0x42" */
    char thread[32];
    uint8_t irql;
    uint32_t code; /* bug check code; 0: none */
    uint64_t parameter[4];
    uint64_t time; /* virtual ns */
    /* errors and fatal ones: stack frames of the driver, innermost first, one per line; NULL:
     * unknown. Owned by the log */
    const char *stack;
    bool refuses; /* it refuses the adapter or the object that was to be made */
    bool undoing; /* it came up while a refused start was undone (verify_set_undoing) */
    bool client;  /* a mistake of a client, for which the driver does not answer */
    /* number of like reports (same rule, severity, place and cause); the other members are those of
     * the first */
    uint64_t count;
};

struct verify_bugcheck {
    bool happened;
    uint32_t code;
    uint64_t parameter[4];
    const char *rule;
    bool client; /* a client caused it */
};

/* NULL: out of memory. The log uses the host's memory, not the machine's heap, so injected failures
 * do not affect it. */
struct verify_log *verify_log_create(void);
/* The same with everything in the arena, for other processes to read (verify_record_at and the
 * counts); destroying it frees nothing. NULL: in the host's memory. */
struct verify_log *verify_log_create_in(struct util_arena *arena);
void verify_log_destroy(struct verify_log *log);
/* Make this log the current one of this host thread; NULL: no log. Without a log every report is
 * dropped, including fatal ones. */
void verify_log_install(struct verify_log *log);
/* Keep at most this many records (default 10000); reports beyond that leave no record and are
 * counted as lost, as when memory is short. */
void verify_log_limit(struct verify_log *log, size_t records);

/* Sets the severity of one rule, before the driver is loaded (LIFE-004). False: no such rule. */
bool verify_set_severity(struct verify_log *log, const char *rule, enum verify_severity severity);
/* Make every error fatal (strict mode). A rule lowered by verify_set_severity stays lowered. */
void verify_set_strict(struct verify_log *log, bool strict);
bool verify_strict(const struct verify_log *log);

/* Hooks that fill in where, thread, irql and time of a record; installed by the room that knows
 * them (ddi). The structure must outlive its use. */
struct verify_place {
    void (*describe)(struct verify_record *record);
    /* Writes the stack into `text`, at most `bytes` including the terminator. False: no stack is
     * known. */
    bool (*stack)(char *text, size_t bytes);
    /* Carries out a bug check after its record is made: the last DDI, then sim_stop. May not
     * return. If another fatal report comes while it runs, it is called again with the data of the
     * first one and must stop at once. */
    void (*bugcheck)(const struct verify_bugcheck *bugcheck);
};
void verify_set_place(struct verify_log *log, const struct verify_place *place);
/* Called for each new record, when it is complete; not for reports that are merged with one. A bug
 * check is carried out after it. It must not block. NULL: nothing is called. */
void verify_set_news(struct verify_log *log,
                     void (*news)(void *context, const struct verify_record *record), void *context);

/* The stack of the next report, for one that is made when the code that is to blame has returned:
 * frames of the driver as the hook writes them. `text` stays valid until then; NULL: the hook finds
 * it. */
void verify_set_stack(const char *text);

/* Report a broken rule; `rule` is a string literal. The severity is the configured one, else the
 * given one. If it is fatal, the bug check is 0xC4 (DRIVER_VERIFIER_DETECTED_VIOLATION). */
void verify_report(const char *rule, enum verify_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same; it is merged only with reports that say the same, values included. */
void verify_report_each(const char *rule, enum verify_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Report an error with the bug check code and first parameters that Windows would show (0xC4/0x51),
 * whether or not it is fatal here. */
void verify_report_code(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                        uint64_t p4, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* Report and stop: a simulated bug check with code and parameters. Returns only if the rule was
 * lowered, there is no log, or no place was set. */
void verify_fatal(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                  uint64_t p4, const char *format, ...) __attribute__((format(printf, 7, 8)));

#define VIOLATION(rule, ...) verify_report(rule, VERIFY_ERROR, __VA_ARGS__)
#define WARNING(rule, ...)   verify_report(rule, VERIFY_WARNING, __VA_ARGS__)
#define NOTE(rule, ...)      verify_report(rule, VERIFY_NOTE, __VA_ARGS__)

/*
 * What a client did wrong, and no driver answers for: an error of a class of its own, which strict
 * mode does not raise to a stop, and which verify_count leaves out.
 */
void verify_client_error(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A client has asked for a bug check: like verify_fatal, and counted like an error of a client. */
void verify_client_fatal(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Number of them so far, at the severity error or above; each of those that were merged or lost is
 * counted. */
uint64_t verify_client_errors(const struct verify_log *log);

/*
 * Findings: what a driver says of itself or of an object, and may be refused for. The class of the
 * rule (docs/spec/admission.tsv) decides. If Windows is known to refuse, or nobody could go on, the
 * finding is an error and the host refuses; if it is only expected, a warning and the host goes on.
 * Strict mode refuses for both, and makes no bug check of either. A severity that is configured for
 * the rule goes before that: the host refuses for an error. Findings that say different things are
 * never merged.
 */
/* True: refused. */
bool verify_finding(const char *rule, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for one clause of a rule that is only expected, whatever the class of the rule. */
bool verify_expected(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A finding with which the host cannot go on: it refuses at any severity. */
void verify_refusal(const char *rule, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A sound answer that this machine cannot serve: it refuses at any severity, and is no mistake of
 * the driver, so a warning. */
void verify_decline(const char *rule, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same where the host can go on without serving it: true, it refuses, unless the user has given
 * the rule a severity below error. */
bool verify_unserved(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* While set, records are marked as made by the clean-up after a refused start. NULL: no log. */
void verify_set_undoing(struct verify_log *log, bool undoing);
bool verify_undoing(const struct verify_log *log);

/* Number of reports so far of at least this severity, without those of what clients did; merged and
 * lost ones are counted each. */
size_t verify_count(const struct verify_log *log, enum verify_severity at_least);
/* Records in the order of their first report; they do not move until the log is destroyed. NULL
 * beyond the last. */
const struct verify_record *verify_record_at(const struct verify_log *log, size_t index);
size_t verify_records(const struct verify_log *log);
/* Number of reports of one rule so far, of any severity; merged and lost ones are counted each. 0
 * for an unknown rule. */
uint64_t verify_rule_count(const struct verify_log *log, const char *rule);
/* Number of reports that left no record. */
uint64_t verify_lost(const struct verify_log *log);
const struct verify_bugcheck *verify_bugcheck_state(const struct verify_log *log);

/* What becomes of a driver whose answer breaks the rule. */
enum verify_admission {
    VERIFY_NO_ADMISSION, /* the rule refuses nothing */
    VERIFY_REFUSED,      /* Windows is known to refuse, or the host cannot go on */
    VERIFY_EXPECTED,     /* asked for, but nobody saw Windows refuse */
};

/* The rules of docs/spec/rules, compiled in. */
struct verify_rule {
    const char *id, *since, *applies_to, *text, *source, *test;
    /* Applies to drivers of WDDM 1.x, too, as `since` says; its series is not wholly absent. */
    bool since_1x;
    /* If the rule is not in force because the host lacks something: index in verify_absent of the
     * text that says what. 0: in force. */
    uint8_t absent;
    enum verify_admission admission;
    const char *evidence; /* for the class of admission; NULL: no class */
    const char *rests_on; /* documentation, what Windows was seen to do, a decision */
};
#define VERIFY_MAX_ABSENT 64u
extern const struct verify_rule verify_rules[];
extern const size_t verify_rules_count;
extern const char *const verify_absent[]; /* [0] is NULL */
/* NULL: no such rule. */
const struct verify_rule *verify_rule_find(const char *id);

#endif
