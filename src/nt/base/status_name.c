/* SPDX-License-Identifier: MIT */
/* Names of NTSTATUS values, for reports. */
#include <stdio.h>
#include <stdlib.h>

#include "nt/base/status_name.h"
#include "nt/base/items.h"

struct status_name {
    uint32_t value;
    const char *name;
};

static const struct status_name names[] = {
#include "nt/base/status_names.inc"
};

static int compare(const void *key, const void *element)
{
    uint32_t value = *(const uint32_t *)key;
    const struct status_name *entry = element;

    return value < entry->value ? -1 : value > entry->value;
}

const char *nt_status_name(NTSTATUS status)
{
    uint32_t value = (uint32_t)status;
    const struct status_name *entry = bsearch(&value, names, NT_ITEMS(names), sizeof(names[0]),
                                              compare);

    return entry ? entry->name : NULL;
}

struct nt_status_text nt_status_text(NTSTATUS status)
{
    const char *name = nt_status_name(status);
    struct nt_status_text text;

    if (name)
        snprintf(text.text, sizeof(text.text), "%s", name);
    else
        snprintf(text.text, sizeof(text.text), "status 0x%08x", (unsigned)status);
    return text;
}
