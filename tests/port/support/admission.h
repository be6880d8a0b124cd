/* SPDX-License-Identifier: MIT */
/*
 * One driver per line: REFUSED("CAPS-048", "CAPS-048", p->caps.SchedulingCaps.Value = 0x4);
 * shows the first rule by a start that fails, with a report of the second. The function has a variable `struct probe *p`.
 */
#ifndef DXGK_TESTS_ADMISSION_H
#define DXGK_TESTS_ADMISSION_H

#include "port/support/probe.h"

/* The driver's answers are known to be refused: adapter start fails after StartDevice, with an error that names the rule. */
#define REFUSED(shown, reported, ...)                                                      \
    do {                                                                                   \
        p = probe_create(NULL);                                                            \
        __VA_ARGS__;                                                                       \
        CHECK_RULE(shown, (NTSTATUS)probe_start(p) == STATUS_DEVICE_CONFIGURATION_ERROR && \
                              admission_reported(p, reported, VERIFY_ERROR, true) &&       \
                              probe_count(p, PROBE_StopDevice) == 1 &&                     \
                              probe_count(p, PROBE_RemoveDevice) == 1);                    \
        probe_destroy(p);                                                                  \
    } while (0)

/* Only other answers are expected: the start warns and goes on; it fails in strict mode, and where the rule is set to error. */
#define EXPECTED(shown, reported, ...)                                                       \
    for (enum admission_mode mode = 0; mode < ADMISSION_MODES; mode++) {                     \
        p = probe_create(mode == ADMISSION_STRICT ? &(struct probe_options){.strict = true}  \
                                                  : NULL);                                   \
        if (mode == ADMISSION_NOTE || mode == ADMISSION_ERROR)                               \
            CHECK(verify_set_severity(p->log, reported,                                      \
                                      mode == ADMISSION_NOTE ? VERIFY_NOTE : VERIFY_ERROR)); \
        __VA_ARGS__;                                                                         \
        CHECK_RULE(shown, admission_expected(p, (NTSTATUS)probe_start(p), reported, mode));  \
        probe_destroy(p);                                                                    \
    }

/* A refusal that --severity can soften: the start then goes on. */
#define SOFTENED(shown, reported, ...)                                                 \
    do {                                                                               \
        p = probe_create(NULL);                                                        \
        CHECK(verify_set_severity(p->log, reported, VERIFY_WARNING));                  \
        __VA_ARGS__;                                                                   \
        CHECK_RULE(shown, NT_SUCCESS(probe_start(p)) &&                                \
                              admission_reported(p, reported, VERIFY_WARNING, false)); \
        probe_destroy(p);                                                              \
        REFUSED(shown, reported, __VA_ARGS__);                                         \
    } while (0)

enum admission_mode {
    ADMISSION_DEFAULT,
    ADMISSION_STRICT,
    ADMISSION_NOTE,
    ADMISSION_ERROR,
    ADMISSION_MODES
};

/* Does the first record of the rule have this severity, and does it refuse? */
static inline bool admission_reported(const struct probe *p, const char *rule,
                                      enum verify_severity severity, bool refuses)
{
    const struct verify_record *record = probe_rule(p, rule) ? probe_record(p, rule) : NULL;

    return record && record->severity == severity && record->refuses == refuses && !record->undoing;
}

static inline bool admission_expected(struct probe *p, NTSTATUS status, const char *rule,
                                      enum admission_mode mode)
{
    if (mode == ADMISSION_DEFAULT || mode == ADMISSION_NOTE)
        return NT_SUCCESS(status) &&
               admission_reported(p, rule, mode == ADMISSION_NOTE ? VERIFY_NOTE : VERIFY_WARNING,
                                  false);
    return status == STATUS_DEVICE_CONFIGURATION_ERROR &&
           admission_reported(p, rule, VERIFY_ERROR, true) &&
           probe_count(p, PROBE_RemoveDevice) == 1;
}

/* The same for a compute-only driver. */
#define COMPUTE_REFUSED(shown, reported, ...) \
    REFUSED(shown, reported, probe_make_compute_only(p), __VA_ARGS__)
#define COMPUTE_EXPECTED(shown, reported, ...) \
    EXPECTED(shown, reported, probe_make_compute_only(p), __VA_ARGS__)

/* What the machine lacks. */
#define DECLINED(shown, ...)                                                  \
    do {                                                                      \
        p = probe_create(NULL);                                               \
        __VA_ARGS__;                                                          \
        CHECK_RULE(shown, (NTSTATUS)probe_start(p) == STATUS_NOT_SUPPORTED && \
                              probe_reports(p, VERIFY_ERROR) == 0 &&          \
                              probe_reports(p, VERIFY_WARNING) > 0);          \
        probe_destroy(p);                                                     \
    } while (0)

/* Started, and nothing was said beyond notes. */
#define ACCEPTED(shown, ...)                                                                    \
    do {                                                                                        \
        p = probe_create(NULL);                                                                 \
        __VA_ARGS__;                                                                            \
        CHECK_RULE(shown, NT_SUCCESS(probe_start(p)) && probe_reports(p, VERIFY_WARNING) == 0); \
        probe_destroy(p);                                                                       \
    } while (0)

/* Started, with one report. */
#define REPORTED(shown, reported, severe, ...)                                          \
    do {                                                                                \
        p = probe_create(NULL);                                                         \
        __VA_ARGS__;                                                                    \
        CHECK_RULE(shown, NT_SUCCESS(probe_start(p)) && probe_rule(p, reported) == 1 && \
                              probe_record(p, reported)->severity == (severe));         \
        probe_destroy(p);                                                               \
    } while (0)

#endif
