/* SPDX-License-Identifier: MIT */
/* The check of page tables, as a debugger on the machine would ask for it. */
#include "dxgkhost/dxgkhost.h"
#include "host/driver.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "port/record/adapter_info.h"
#include "util/list.h"
#include "vidmm/check/table_check.h"
#include "vidmm/check/table_format.h"

#include <stdio.h>

struct checking {
    const struct dxgk_machine *machine;
    struct dxgk_table_check sum;
};

static void check_all(void *arg)
{
    struct checking *checking = arg;
    struct dxgk_table_check *sum = &checking->sum;

    LIST_FOR(node, &checking->machine->adapters) {
        const struct host_adapter *adapter = CONTAINER(node, struct host_adapter, link);
        struct vidmm *vidmm = port_adapter_vidmm(adapter->port);
        struct table_check check;

        if (!vidmm || !vidmm_check_tables(vidmm, &check))
            continue;
        sum->adapters++;
        sum->entries += check.entries;
        sum->wrong += check.wrong;
        sum->pending += check.pending;
        sum->tables += check.tables;
        sum->hidden += check.hidden;
    }
}

bool dxgk_machine_check_page_tables(struct dxgk_machine *machine, struct dxgk_table_check *check)
{
    struct checking checking = {.machine = machine};

    if (!machine || !check)
        return false;
    *check = checking.sum;
    if (host_run_client_machine() == machine) {
        check_all(&checking);
    } else {
        if (!host_begin(machine, NULL, 0))
            return false;
        if (!machine->sim->stopped && !machine->shut_down)
            (void)host_run_kernel(machine, "page tables", check_all, &checking);
        host_leave(true);
    }
    *check = checking.sum;
    return check->adapters > 0;
}

bool dxgk_table_format_check(const struct dxgk_table_format *format, char *error, size_t error_bytes)
{
    char text[160] = "no description";
    const bool good = format && table_format_sound(format, text, sizeof(text));

    if (!good && error && error_bytes)
        snprintf(error, error_bytes, "%s", text);
    return good;
}

const struct dxgk_table_format *dxgk_table_format(const char *name)
{
    return name ? table_format_named(name) : NULL;
}
