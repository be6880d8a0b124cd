/* SPDX-License-Identifier: MIT */
/* The table of entries. */
#include "ddi/entry.h"

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

#include "sim/irql.h"
#include "sim/machine.h"

#define SECOND      1000000000u
#define LIMIT_SHORT (10ull * SECOND) /* for entries that should only compute */
#define LIMIT_LONG  (60ull * SECOND) /* for entries that may wait for the GPU */

#define IRQL_PASSIVE  SIM_IRQL_PASSIVE
#define IRQL_DISPATCH SIM_IRQL_DISPATCH
#define IRQL_ANY      SIM_IRQL_PASSIVE /* stays at the caller's level */

typedef char DDI_NO_ARGUMENT[0];

const struct ddi_entry_info ddi_entry_infos[] = {
#define DDI_ENTRY(name, level, irql, limit, flags, structure, way)         \
    [DDI_##name] = {#name, LEVEL_##level, IRQL_##irql,      LIMIT_##limit, \
                    flags, DDI_WAY_##way, sizeof(structure)},
#include "ddi/entry_table.h"
};
