/* SPDX-License-Identifier: MIT */
/*
 * How an adapter is refused (LIFE-003). What is wrong with an answer is a finding under its rule,
 * whose class decides (docs/spec/admission.tsv). The start goes on after a finding, so that one run
 * tells all of them, and is refused before the memory manager and the scheduler begin.
 */
#ifndef DXGK_PORT_REFUSE_H
#define DXGK_PORT_REFUSE_H

#include "verify/verify.h"

/* Report a finding with which the host can go on. */
#define PORT_FINDING(adapter, rule, ...) ((adapter)->refused |= verify_finding(rule, __VA_ARGS__))

/* The same for a clause of a rule that is only expected while others of it are refused. */
#define PORT_EXPECTED(adapter, rule, ...) ((adapter)->refused |= verify_expected(rule, __VA_ARGS__))

/* Report a finding with which it cannot, and return from the calling function. */
#define PORT_REFUSE(rule, ...)                    \
    do {                                          \
        verify_refusal(rule, __VA_ARGS__);        \
        return STATUS_DEVICE_CONFIGURATION_ERROR; \
    } while (0)

/* The same where the answers are sound and this machine cannot serve them. */
#define PORT_CANNOT(rule, ...)             \
    do {                                   \
        verify_decline(rule, __VA_ARGS__); \
        return STATUS_NOT_SUPPORTED;       \
    } while (0)

/* The same where it could do without: told with the findings. */
#define PORT_UNSERVED(adapter, rule, ...) \
    ((adapter)->unserved |= verify_unserved(rule, __VA_ARGS__))

#endif
