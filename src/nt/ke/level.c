/* SPDX-License-Identifier: MIT */
/* IRQL limits of routines. */
#include "nt/ke/level.h"
#include "nt/base/current.h"
#include "nt/base/items.h"
#include "nt/base/nt_report.h"
#include "sim/irql.h"
#include "verify/verify.h"

const char *nt_irql_name(uint8_t irql)
{
    static const char *const name[] = {
        "PASSIVE_LEVEL", "APC_LEVEL",   "DISPATCH_LEVEL", "DIRQL 3",    "DIRQL 4",  "DIRQL 5",
        "DIRQL 6",       "DIRQL 7",     "DIRQL 8",        "DIRQL 9",    "DIRQL 10", "DIRQL 11",
        "IRQL 12",       "CLOCK_LEVEL", "IPI_LEVEL",      "HIGH_LEVEL",
    };

    return irql < NT_ITEMS(name) ? name[irql] : "no IRQL";
}

bool nt_level(enum nt_limit limit, const char *rule, uint32_t code, const char *routine)
{
    uint8_t irql = sim_irql();

    /* In a guarded region a thread counts as being at APC_LEVEL (NT-066). */
    if (limit == NT_PASSIVE && irql == SIM_IRQL_PASSIVE && nt_thread()->special_apc_disable != 0)
        irql = SIM_IRQL_APC;
    if (irql <= (uint8_t)limit)
        return true;
    if (code != NT_NO_CODE)
        NT_VERIFIER(rule, code, irql, limit, 0, "%s at %s, its limit is %s", routine,
                    nt_irql_name(irql), nt_irql_name((uint8_t)limit));
    else
        VIOLATION(rule, "%s at %s, its limit is %s", routine, nt_irql_name(irql),
                  nt_irql_name((uint8_t)limit));
    /* Routines that are allowed at DISPATCH_LEVEL neither block nor access pageable memory; at
     * APC_LEVEL both are possible. */
    return limit == NT_DISPATCH || irql <= SIM_IRQL_APC;
}

bool nt_level_zw(const char *routine)
{
    return nt_level(NT_PASSIVE, "NT-145", 0xE6, routine);
}
