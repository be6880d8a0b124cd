/* SPDX-License-Identifier: MIT */
/* How an adapter is refused: one violation that names the rule and the value, and one status
 * (LIFE-003). */
#ifndef DXGK_PORT_REFUSE_H
#define DXGK_PORT_REFUSE_H

#include "verify/verify.h"

/* Report the breach and return from the calling function. */
#define PORT_REFUSE(rule, ...)                    \
    do {                                          \
        VIOLATION(rule, __VA_ARGS__);             \
        return STATUS_DEVICE_CONFIGURATION_ERROR; \
    } while (0)

#endif
