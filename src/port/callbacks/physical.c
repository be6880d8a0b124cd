/* SPDX-License-Identifier: MIT */
/* The hooks through which the physical memory services use the kernel services and the bus, which
 * they must not know. */
#include <stdio.h>

#include "port/callbacks/physical.h"
#include "bus/window.h"
#include "ddi/ddi.h"
#include "nt/mm/mdl.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "physmem/physical_memory.h"
#include "port/record/boundary.h"
#include "port/record/machine.h"
#include "sim/machine.h"

static void *io_map(void *context, struct phys_addr address, uint64_t bytes, enum ram_cache cache)
{
    struct port *port = context;
    void *mapped = bus_map(port->config.bus, address, bytes);

    bus_set_cache(port->config.bus, mapped, cache);
    return mapped;
}

static void io_unmap(void *context, void *mapping)
{
    struct port *port = context;

    bus_unmap(port->config.bus, mapping);
}

void port_physical_view_ends(struct port *port, const void *base, uint64_t bytes, const char *what)
{
    const struct ddi_frame *frame = ddi_current_frame();
    struct phys_addr physical;
    char bar[64], text[128];

    if (bus_physical(port->config.bus, base, &physical) &&
        bus_describe(port->config.bus, physical, bar, sizeof(bar)))
        snprintf(text, sizeof(text), "%s%s%s", what ? what : "", what ? " over " : "", bar);
    else
        snprintf(text, sizeof(text), "%s", what ? what : "device memory");
    if (frame && frame->caller)
        nt_retired_view_add(base, bytes, text, frame->name, (const void *)frame->caller);
    else
        nt_retired_view_add(base, bytes, text, NULL, NULL);
}

static void view_ends(void *context, const void *base, uint64_t bytes, const char *what)
{
    port_physical_view_ends(context, base, bytes, what);
}

static bool user_view(void *context, struct nt_process *process, void *base, uint64_t bytes,
                      bool writable, const char *what)
{
    (void)context;
    return nt_user_range_add(process, base, bytes, writable ? NT_USER_WRITE : NT_USER_READ,
                             "PHYS-195", what);
}

static void user_view_ends(void *context, const void *base)
{
    (void)context;
    nt_user_range_remove(base);
}

static bool user_view_admit(void *context, const void *base)
{
    (void)context;
    return nt_user_range_admit(base);
}

static void user_view_shut(void *context, const void *base)
{
    (void)context;
    nt_user_range_shut(base);
}

static bool read_driver(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    return port_boundary_take_bytes(to, from, bytes);
}

static bool mdl_lend(void *context, PMDL mdl, const struct page_number *pages, uint64_t count)
{
    (void)context;
    return nt_mdl_lend(mdl, pages, (uint32_t)count);
}

static bool mdl_unmap(void *context, PMDL mdl)
{
    (void)context;
    return nt_mdl_take_back(mdl);
}

static bool symbolize(void *context, uintptr_t address, char *text, size_t bytes)
{
    (void)context;
    return ddi_symbolize(address, text, bytes);
}

static uintptr_t caller_of(void *context)
{
    (void)context;
    return sim_current->frame ? ddi_current_frame()->caller : 0;
}

struct physical_memory *port_physical_create(struct port *port)
{
    const struct physical_hooks hooks = {.io_map = io_map,
                                         .io_unmap = io_unmap,
                                         .view_ends = view_ends,
                                         .user_view = user_view,
                                         .user_view_ends = user_view_ends,
                                         .user_view_admit = user_view_admit,
                                         .user_view_shut = user_view_shut,
                                         .read_driver = read_driver,
                                         .mdl_lend = mdl_lend,
                                         .mdl_unmap = mdl_unmap,
                                         .caller = caller_of,
                                         .symbolize = symbolize,
                                         .context = port};

    return physical_memory_create(port->config.ram, &hooks);
}
