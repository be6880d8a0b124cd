/* SPDX-License-Identifier: MIT */
/* Simulated RAM as a debugger on the machine would see it. */
#include <string.h>

#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "ram/ram.h"
#include "report/memory.h"
#include "util/address.h"

bool dxgk_machine_read_physical(const struct dxgk_machine *machine, uint64_t address, void *to,
                                size_t bytes)
{
    uint64_t top = host_may_look(machine) && to ? ram_bytes(machine->ram) : 0;

    if (address >= top || bytes > top - address)
        return false;
    memcpy(to, ram_direct(machine->ram, (struct phys_addr){address}), bytes);
    return true;
}

bool dxgk_machine_page(const struct dxgk_machine *machine, uint64_t address, struct dxgk_page *page)
{
    struct page_number number = phys_page((struct phys_addr){address});

    if (!page || !host_may_look(machine) || address >= ram_bytes(machine->ram))
        return false;
    *page = (struct dxgk_page){
        .owner = report_owner_name(ram_page_owner(machine->ram, number)),
        .cache = report_cache_name(ram_page_cache(machine->ram, number)),
        .locks = ram_page_locks(machine->ram, number),
        .iommu_maps = ram_page_iommu_maps(machine->ram, number),
    };
    return true;
}
