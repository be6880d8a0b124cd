/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocateAdl and DxgkCbFreeAdl. */
#include "physmem/physical_services.h"

#include "physmem/physical_adapter_object.h"
#include "physmem/physical_adl.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_object.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"

static NTSTATUS check_request(const struct physical_object *object,
                              const DXGKARGCB_ALLOCATE_ADL *args)
{
    if (args->Flags.Reserved != 0)
        return physical_refuse("PHYS-171", "Flags 0x%x has reserved bits", args->Flags.Value);
    if (args->Offset % PAGE_BYTES != 0 || args->Size % PAGE_BYTES != 0)
        return physical_refuse("PHYS-161",
                               "Offset 0x%llx and Size 0x%llx are not both multiples of PAGE_SIZE",
                               (unsigned long long)args->Offset, (unsigned long long)args->Size);
    if (args->Size == 0 || !range_inside(args->Offset, args->Size, object->bytes))
        return physical_refuse("PHYS-162",
                               "0x%llx bytes at 0x%llx are not inside an object of 0x%llx",
                               (unsigned long long)args->Size, (unsigned long long)args->Offset,
                               (unsigned long long)object->bytes);
    if (args->Size / PAGE_BYTES > UINT32_MAX)
        return refuse(STATUS_INSUFFICIENT_RESOURCES, NULL,
                      "0x%llx bytes are too many pages for an ADL", (unsigned long long)args->Size);
    if (args->Flags.RequireContiguous && !physical_object_is_one_run(object))
        return physical_refuse(
            "PHYS-167",
            "RequireContiguous is for contiguous memory and IO space, not for an object of type %u",
            (unsigned)object->type);
    return STATUS_SUCCESS;
}

NTSTATUS physical_adl_allocate(struct physical_memory *memory, DXGKARGCB_ALLOCATE_ADL *args)
{
    struct physical_adapter_object *opened;
    struct physical_adl_request request;
    struct physical_adl *adl;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbAllocateAdl");
    args->pAdl = NULL;
    opened = physical_adapter_object_find(memory, args->hAdapterMemoryObject, "PHYS-130");
    if (!opened)
        return STATUS_INVALID_HANDLE;
    if (!physical_gate_acquire(opened->tracked.adapter))
        return STATUS_INVALID_DEVICE_STATE;
    status = check_request(opened->object, args);
    if (status != STATUS_SUCCESS)
        return status;
    request = (struct physical_adl_request){
        .object = opened->object,
        .adapter = opened->tracked.adapter,
        .kind = PHYSICAL_ADL,
        .first_page = args->Offset / PAGE_BYTES,
        .pages = args->Size / PAGE_BYTES,
        .want_contiguous = args->Flags.RequireContiguous || args->Flags.PreferContiguous,
    };
    status = physical_adl_create(&request, &adl);
    if (status != STATUS_SUCCESS)
        return status;
    list_push_back(&opened->adls, &adl->of_opened);
    args->pAdl = adl->adl;
    return STATUS_SUCCESS;
}

void physical_adl_free(struct physical_memory *memory, const DXGKARGCB_FREE_ADL *args)
{
    struct physical_adapter_object *opened;
    struct physical_tracked *tracked;
    struct physical_adl *adl;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbFreeAdl");
        return;
    }
    opened = physical_adapter_object_find(memory, args->hAdapterMemoryObject, "PHYS-130");
    if (!opened)
        return;
    tracked = physical_tracked_find(memory, NULL, PHYSICAL_ADL, (uintptr_t)args->pAdl, "PHYS-017");
    if (!tracked)
        return;
    adl = CONTAINER(tracked, struct physical_adl, tracked);
    if (adl->object->opened != opened) {
        VIOLATION("PHYS-180", "pAdl was made from another adapter memory object than the one given");
        return;
    }
    physical_adl_destroy(adl);
}
