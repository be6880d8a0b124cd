/* SPDX-License-Identifier: MIT */
/*
 * IRQL limits of routines, and names of IRQLs.
 */
#ifndef DXGK_NT_LEVEL_H
#define DXGK_NT_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/irql.h"

enum nt_limit {
    NT_PASSIVE = SIM_IRQL_PASSIVE,
    NT_APC = SIM_IRQL_APC,
    NT_DISPATCH = SIM_IRQL_DISPATCH,
};

#define NT_NO_CODE UINT32_MAX /* nt_level: no Driver Verifier code */

/* IRQL check of `routine`: whether it is within the limit. If not, that is reported, as
 * 0xC4/`code`, and the result says whether to carry out the call anyway (THREAD-009). */
bool nt_level(enum nt_limit limit, const char *rule, uint32_t code, const char *routine);
/* The IRQL rule of the Zw routines (NT-145). */
bool nt_level_zw(const char *routine);

/* The name of an IRQL of the machine. */
const char *nt_irql_name(uint8_t irql);

#endif
