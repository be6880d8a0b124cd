/* SPDX-License-Identifier: MIT */
#include "physmem/physical_adapter.h"

#include <stdio.h>

#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_save.h"
#include "physmem/physical_tracked.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

struct physical_adapter *physical_adapter_create(const struct physical_adapter_config *config)
{
    struct physical_adapter *adapter = util_zalloc(1, sizeof(*adapter));

    if (!adapter)
        return NULL;
    adapter->memory = config->memory;
    adapter->domain = config->domain;
    adapter->driver = config->driver;
    adapter->legacy_refused = config->legacy_refused;
    adapter->started = true;
    snprintf(adapter->name, sizeof(adapter->name), "%s", config->name ? config->name : "adapter");
    list_init(&adapter->held);
    list_push_back(&config->memory->adapters, &adapter->link);
    return adapter;
}

void physical_adapter_destroy(struct physical_adapter *adapter)
{
    if (!adapter)
        return;
    physical_tracked_reclaim(&adapter->held);
    physical_save_free(adapter);
    list_remove(&adapter->link);
    util_free(adapter);
}

void physical_adapter_set_started(struct physical_adapter *adapter, bool started)
{
    adapter->started = started;
}

void physical_adapter_set_legacy_refused(struct physical_adapter *adapter, bool refused)
{
    adapter->legacy_refused = refused;
}

/* ---- leaks ---- */

static bool leaks_fatally(const struct physical_tracked *tracked)
{
    return tracked->class->kind == PHYSICAL_ADAPTER_OBJECT || tracked->class->kind == PHYSICAL_ADL;
}

/* PHYS-143: one bug check that names as many of them as the report has room for. */
static void report_fatal_leaks(const struct physical_adapter *adapter, unsigned objects,
                               unsigned adls)
{
    char text[160] = "", one[128];
    size_t used = 0;

    LIST_FOR(link, &adapter->held) {
        const struct physical_tracked *tracked = CONTAINER(link, const struct physical_tracked,
                                                           link);

        if (!leaks_fatally(tracked) || used >= sizeof(text))
            continue;
        physical_tracked_describe(tracked, one, sizeof(one));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "; %s", one);
    }
    verify_fatal("PHYS-143", SYSMM_BUGCHECK,
                 adls > 0 ? SYSMM_ADL_LEAKED : SYSMM_ADAPTER_OBJECT_LEAKED, objects, adls, 0,
                 "%s left%s", adapter->name, text);
}

unsigned physical_adapter_report_leaks(struct physical_adapter *adapter)
{
    unsigned plain = 0, objects = 0, adls = 0;
    char text[160];

    LIST_FOR(link, &adapter->held) {
        const struct physical_tracked *tracked = CONTAINER(link, const struct physical_tracked,
                                                           link);

        objects += tracked->class->kind == PHYSICAL_ADAPTER_OBJECT;
        adls += tracked->class->kind == PHYSICAL_ADL;
        if (leaks_fatally(tracked))
            continue;
        physical_tracked_describe(tracked, text, sizeof(text));
        VIOLATION("PHYS-022", "%s left: %s", adapter->name, text);
        plain++;
    }
    if (objects + adls > 0)
        report_fatal_leaks(adapter, objects, adls);
    return plain + objects + adls;
}
