/* SPDX-License-Identifier: MIT */
#include "physmem/physical_host_mdl.h"

#include "physmem/physical_backing.h"
#include "physmem/physical_record.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/verify.h"

MDL *physical_host_mdl_create(struct physical_memory *memory, const struct physical_backing *backing)
{
    uint64_t pages = backing->pages;
    size_t bytes = sizeof(MDL) + pages * sizeof(PFN_NUMBER);
    MDL *mdl = util_zalloc(1, bytes);

    if (!mdl)
        return NULL;
    mdl->Size = (CSHORT)bytes; /* too narrow for large MDLs, in Windows too */
    mdl->MdlFlags = MDL_PAGES_LOCKED;
    mdl->ByteCount = (ULONG)(pages * PAGE_BYTES);
    for (uint64_t i = 0; i < pages; i++)
        MmGetMdlPfnArray(mdl)[i] = physical_backing_page(backing, i).value;
    if (memory->hooks.mdl_lend &&
        !memory->hooks.mdl_lend(memory->hooks.context, mdl, backing->list, pages)) {
        util_free(mdl);
        return NULL;
    }
    return mdl;
}

/* Flags and system address are not compared: mapping routines change them. */
bool physical_host_mdl_unchanged(const MDL *mdl, const struct physical_backing *backing)
{
    uint64_t pages = backing->pages;

    if (mdl->ByteOffset != 0 || mdl->ByteCount != pages * PAGE_BYTES || mdl->StartVa != NULL)
        return false;
    for (uint64_t i = 0; i < pages; i++)
        if (MmGetMdlPfnArray(mdl)[i] != physical_backing_page(backing, i).value)
            return false;
    return true;
}

void physical_host_mdl_destroy(struct physical_memory *memory, MDL *mdl)
{
    if (memory->hooks.mdl_unmap && memory->hooks.mdl_unmap(memory->hooks.context, mdl))
        VIOLATION("PHYS-076", "an MDL was released while mapped into a process");
    util_free(mdl);
}
