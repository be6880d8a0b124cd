/* SPDX-License-Identifier: MIT */
/* Entry points of a driver by offset in its table, for checks of whole lists of them: registration
 * and admission. */
#ifndef DXGK_PORT_ENTRIES_H
#define DXGK_PORT_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_entry {
    size_t offset;
    const char *name;
    bool called; /* the host calls it without asking first, so it cannot do without it */
};

#define PORT_ENTRY(entry)                                          \
    {                                                              \
        offsetof(DRIVER_INITIALIZATION_DATA, entry), #entry, false \
    }
#define PORT_CALLED(entry)                                        \
    {                                                             \
        offsetof(DRIVER_INITIALIZATION_DATA, entry), #entry, true \
    }
#define PORT_ENTRY_COUNT(entries) (sizeof(entries) / sizeof((entries)[0]))

static inline bool port_entry_there(const DRIVER_INITIALIZATION_DATA *table,
                                    const struct port_entry *entry)
{
    const void *value;

    memcpy(&value, (const char *)table + entry->offset, sizeof(value));
    return value != NULL;
}

#endif
