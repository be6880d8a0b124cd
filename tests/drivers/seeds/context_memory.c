/* SPDX-License-Identifier: MIT */
/* Context allocations, and the device's look at what they are mapped to. */
#include "seeds.h"

static HANDLE handle(ULONGLONG value)
{
    return (HANDLE)(ULONG_PTR)value;
}

static void create(struct seeds_adapter *adapter, struct seeds_context *context,
                   struct seeds_context *device, struct seeds_escape *e)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    RtlZeroMemory(&args, sizeof(args));
    args.hAdapter = adapter->dxgk.DeviceHandle;
    args.hDevice = e->arg[0] && device ? device->dxgk_device : NULL;
    args.hContext = e->arg[1] && context ? context->dxgk_context : NULL;
    args.Size = (SIZE_T)e->arg[2];
    args.Alignment = (UINT)e->arg[3];
    args.SupportedSegmentSet = (UINT)e->arg[4];
    args.EvictionSegmentSet = (UINT)e->arg[5];
    args.Flags.Value = (UINT)e->arg[6];
    args.ContextAllocationFlags.Value = (UINT)e->arg[7];
    args.hDriverAllocation = handle(e->arg[8]);
    args.hAllocation = handle(e->arg[9]);
    e->status = adapter->dxgk.DxgkCbCreateContextAllocation(e->how & SEEDS_NO_ARGUMENTS ? NULL
                                                                                        : &args);
    e->arg[9] = (ULONG_PTR)args.hAllocation;
    if (NT_SUCCESS(e->status)) {
        struct seeds_init *init = seeds_context_allocation(adapter, args.hAllocation);

        RtlZeroMemory(init, sizeof(*init)); /* the value may be used again */
        init->allocation = args.hAllocation;
        init->pages = (ULONG)((args.Size + PAGE_SIZE - 1) / PAGE_SIZE);
    }
}

static void destroy(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    e->status = adapter->dxgk.DxgkCbDestroyContextAllocation(adapter->dxgk.DeviceHandle,
                                                             handle(e->arg[0]));
}

#if SEEDS_2_0

/* The members in order; out: the address. */
static void map(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args;

    args.BaseAddress = e->arg[0];
    args.MinimumAddress = e->arg[1];
    args.MaximumAddress = e->arg[2];
    args.hAllocation = handle(e->arg[3]);
    args.OffsetInPages = e->arg[4];
    args.SizeInPages = e->arg[5];
    args.Protection.Value = e->arg[6];
    args.DriverProtection = e->arg[7];
    e->arg[8] = adapter->dxgk.DxgkCbMapContextAllocation(
        e->how & SEEDS_WRONG_ADAPTER ? (HANDLE)adapter : adapter->dxgk.DeviceHandle,
        e->how & SEEDS_NO_ARGUMENTS ? NULL : &args);
    e->status = STATUS_SUCCESS;
}

static void update(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_UPDATECONTEXTALLOCATION args;
    struct seeds_update data;

    data.offset = e->arg[1];
    data.value = e->arg[2];
    args.hAllocation = handle(e->arg[0]);
    args.PrivateDriverDataSize = (UINT)e->arg[3];
    args.pPrivateDriverData = e->arg[4] ? &data : NULL;
    e->status = adapter->dxgk.DxgkCbUpdateContextAllocation(adapter->dxgk.DeviceHandle, &args);
}

static void last_protection(const struct seeds_adapter *adapter, struct seeds_escape *e)
{
    e->status = STATUS_NOT_FOUND;
    for (ULONG i = 0; i < SEEDS_PAGES && i < adapter->next_page; i++) {
        const struct seeds_page *page = &adapter->page[(adapter->next_page - 1 - i) % SEEDS_PAGES];

        if (page->va != e->arg[0])
            continue;
        e->arg[1] = page->protection;
        e->arg[2] = page->entry;
        e->status = STATUS_SUCCESS;
        return;
    }
}

static void later_service(struct seeds_adapter *adapter, struct seeds_context *context,
                          struct seeds_escape *e)
{
    switch (e->code) {
    case SEEDS_MAP_CONTEXT_ALLOCATION:
        map(adapter, e);
        break;
    case SEEDS_UPDATE_CONTEXT_ALLOCATION:
        update(adapter, e);
        break;
    case SEEDS_VIRTUAL_PEEK:
        e->arg[2] = context &&
                    seeds_peek(adapter, SEEDS_PEEK_VIRTUAL, context->root, e->arg[0], &e->arg[1]);
        e->status = STATUS_SUCCESS;
        break;
    case SEEDS_LAST_PROTECTION:
        last_protection(adapter, e);
        break;
    default:
        break;
    }
}

#endif

static void initialised(const struct seeds_adapter *adapter, struct seeds_escape *e)
{
    e->arg[1] = 0;
    e->status = STATUS_SUCCESS;
    for (ULONG i = 0; i < SEEDS_INITS; i++) {
        const struct seeds_init *init = &adapter->init[i];

        if (!init->allocation || init->allocation != handle(e->arg[0]))
            continue;
        e->arg[1] = init->times;
        e->arg[2] = init->segment;
        e->arg[3] = init->address;
        e->arg[4] = (ULONG_PTR)init->cpu;
        e->arg[5] = init->gpu_address;
    }
}

void seeds_context_service(struct seeds_adapter *adapter, struct seeds_context *context,
                           struct seeds_context *device, struct seeds_escape *e)
{
    switch (e->code) {
    case SEEDS_CREATE_CONTEXT_ALLOCATION:
        create(adapter, context, device, e);
        break;
    case SEEDS_DESTROY_CONTEXT_ALLOCATION:
        destroy(adapter, e);
        break;
    case SEEDS_INITIALISED:
        initialised(adapter, e);
        break;
    case SEEDS_LAST_UPDATE:
        e->arg[1] = adapter->update_bytes;
        e->arg[2] = adapter->update_word;
        e->arg[3] = adapter->update_size;
        e->arg[4] = adapter->update_calls;
        e->status = STATUS_SUCCESS;
        break;
    default:
#if SEEDS_2_0
        later_service(adapter, context, e);
#endif
        break;
    }
}
