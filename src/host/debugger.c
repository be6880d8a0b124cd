/* SPDX-License-Identifier: MIT */
#include "host/debugger.h"

#include <stddef.h>
#include <string.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "port/driver.h"
#include "util/array.h"
#include "util/debugger.h"

void host_debugger_entries(const struct port_driver *driver)
{
#define ENTRY(NAME) {#NAME, offsetof(DRIVER_INITIALIZATION_DATA, NAME)},
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {
#include "ddi/ddi_table.inc"
    };
#undef ENTRY
    struct debugger_entry entry[ARRAY_COUNT(members) + 1];
    PDXGKDDI_PRESENTDISPLAYONLY present;
    const DRIVER_INITIALIZATION_DATA *table = port_driver_table(driver, &present);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
        entry[count].name = members[i].name;
        memcpy(&entry[count].routine, (const char *)table + members[i].offset, sizeof(uintptr_t));
        count += entry[count].routine != 0;
    }
    if (present)
        entry[count++] = (struct debugger_entry){"DxgkDdiPresentDisplayOnly", (uintptr_t)present};
    dxgk_debug_entries(entry, count);
}
