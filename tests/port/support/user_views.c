/* SPDX-License-Identifier: MIT */
/* Views in user mode and those who look at them; user_views.h says how they are used. */
#include "nt/mm/user_range.h"
#include "port/support/user_views.h"
#include "sim/fault.h"

struct user_view_scene user_view;

PHYSICAL_ADDRESS user_view_bar(const struct probe *p, unsigned index)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *first =
        A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    return first[index].u.Memory.Start;
}

/* ---- the ways to make one ---- */

void user_view_map_object(struct probe *p)
{
    user_view.object = make_object(p, USER_VIEW_BYTES);
    user_view.mapped = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = user_view.object.hPhysicalMemoryObject,
        .Size = USER_VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&user_view.mapped), STATUS_SUCCESS));
    user_view.view = user_view.mapped.pMappedAddress;
}

void user_view_unmap_object(struct probe *p)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {
        .hPhysicalMemoryObject = user_view.object.hPhysicalMemoryObject,
        .pBaseAddress = user_view.mapped.pMappedAddress,
        .Size = user_view.mapped.Size};

    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
    destroy_object(p, &user_view.object);
}

static void map_device(struct probe *p, unsigned index, MEMORY_CACHING_TYPE cache)
{
    PVOID mapped = NULL;

    CHECK(IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, user_view_bar(p, index), 4096, FALSE, TRUE,
                                  cache, &mapped),
             STATUS_SUCCESS));
    user_view.view = mapped;
}

static void map_bar_memory(struct probe *p)
{
    map_device(p, 1, MmWriteCombined);
}

void user_view_map_registers(struct probe *p)
{
    map_device(p, 0, MmNonCached);
    CHECK_RULE("LIFE-097/a", READ_REGISTER_ULONG((PULONG)(uintptr_t)user_view.view) == PROBE_ID);
}

void user_view_unmap_device(struct probe *p)
{
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, (PVOID)(uintptr_t)user_view.view),
             STATUS_SUCCESS));
}

static void map_mdl(struct probe *p)
{
    user_view.pages = make_pages(p, USER_VIEW_BYTES, DXGK_MEMORY_CACHING_TYPE_CACHED);
    user_view.view = MmMapLockedPagesSpecifyCache(user_view.pages.pMdl, UserMode, MmCached, NULL,
                                                  FALSE, NormalPagePriority);
    CHECK(user_view.view != NULL);
}

static void unmap_mdl(struct probe *p)
{
    MmUnmapLockedPages((PVOID)(uintptr_t)user_view.view, user_view.pages.pMdl);
    CHECK(IS(free_pages(p, user_view.pages.hMemoryHandle), STATUS_SUCCESS));
}

const struct user_view_kind user_view_ways[3] = {
    {user_view_map_object, user_view_unmap_object, "PHYS-149/c",
     "a view of a physical memory object (MDL, Context 0x0) of client A"},
    {map_bar_memory, user_view_unmap_device, "PHYS-031", " at 0x0 of client A"},
    {map_mdl, unmap_mdl, "PHYS-195", "a view of the pages of an MDL of client A"},
};

const struct user_view_kind *user_view_way;

/* ---- who can touch it ---- */

bool user_view_is_there(void)
{
    char byte;

    return sim_copy_checked(&byte, (const void *)(uintptr_t)(user_view.view + 4095), 1);
}

bool user_view_is_valid(void)
{
    return MmIsAddressValid((PVOID)(uintptr_t)(user_view.view + 4095));
}

void user_view_make(struct probe *p)
{
    user_view_way->map(p);
    user_view.view[4095] = 0x5A;
    CHECK_RULE("PHYS-195", user_view_is_there() && user_view.view[4095] == 0x5A);
}

void user_view_look_from_a(struct probe *p)
{
    (void)p;
    CHECK_RULE(user_view_way->rule, user_view_is_there() && user_view.view[4095] == 0x5A);
    CHECK_RULE("PHYS-195", user_view_is_valid());
    user_view.reached = true;
}

void user_view_look_from_b(struct probe *p)
{
    (void)p;
    CHECK_RULE("PHYS-195", !user_view_is_valid());
    CHECK_RULE(user_view_way->rule, !user_view_is_there());
    CHECK_RULE("PHYS-195", !user_view_is_there() &&
                               nt_user_range_denies((const void *)(uintptr_t)user_view.view));
    probe_sleep(1000);
    CHECK_RULE("PHYS-195", !user_view_is_there());
    user_view.reached = true;
}

void user_view_unmap_from_a(struct probe *p)
{
    user_view_way->unmap(p);
    CHECK_RULE("PHYS-195", !user_view_is_there() &&
                               !nt_user_range_holds((const void *)(uintptr_t)user_view.view));
}
