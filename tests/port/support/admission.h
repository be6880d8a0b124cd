/* SPDX-License-Identifier: MIT */
/*
 * One driver per line: REFUSED("CAPS-048", "CAPS-048", p->caps.SchedulingCaps.Value = 0x4);
 * shows the first rule by a start that fails, with a report of the second. The function has a variable `struct probe *p`.
 */
#ifndef DXGK_TESTS_ADMISSION_H
#define DXGK_TESTS_ADMISSION_H

#include "port/support/probe.h"

/* The driver's answers: adapter start fails after StartDevice, with one error that names the rule. */
#define REFUSED(shown, reported, ...)                                                      \
    do {                                                                                   \
        p = probe_create(NULL);                                                            \
        __VA_ARGS__;                                                                       \
        CHECK_RULE(shown, (NTSTATUS)probe_start(p) == STATUS_DEVICE_CONFIGURATION_ERROR && \
                              probe_rule(p, reported) == 1 &&                              \
                              probe_count(p, PROBE_StopDevice) == 1 &&                     \
                              probe_count(p, PROBE_RemoveDevice) == 1);                    \
        probe_destroy(p);                                                                  \
    } while (0)

/* The same for a compute-only driver. */
#define COMPUTE_REFUSED(shown, reported, ...) \
    REFUSED(shown, reported, probe_make_compute_only(p), __VA_ARGS__)

/* What the machine lacks. */
#define DECLINED(shown, ...)                                                  \
    do {                                                                      \
        p = probe_create(NULL);                                               \
        __VA_ARGS__;                                                          \
        CHECK_RULE(shown, (NTSTATUS)probe_start(p) == STATUS_NOT_SUPPORTED && \
                              probe_reports(p, VERIFY_ERROR) == 0);           \
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
