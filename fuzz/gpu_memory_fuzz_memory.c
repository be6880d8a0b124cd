/* SPDX-License-Identifier: MIT */
/* Calls about allocations: their life, residency, offers, locks, properties. */
#include "gpu_memory_fuzz.h"

static struct fuzz_open *open_of(struct fuzz_allocation *a, unsigned device)
{
    return &a->open[fuzz_my_number()][device];
}

/* ---- life ---- */

static struct fuzz_allocation *free_slot(void)
{
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        if (!fuzz_run->allocation[i].live)
            return &fuzz_run->allocation[i];
    return NULL;
}

static UINT some_segments(void)
{
    const UINT all = fuzz_run->shape.hidden ? 7 : 3, set = fuzz_byte() & all;

    return set ? set : all & 3;
}

static UINT some_preference(UINT set)
{
    const UINT choice = fuzz_byte() % SEGMENTS;

    return choice && set >> (choice - 1) & 1 ? choice | (fuzz_byte() & 32) : 0;
}

static struct fuzz_private some_private(uint64_t bytes, bool shared)
{
    const unsigned how = fuzz_byte();
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags = {.Value = 0};
    struct fuzz_private data = {.bytes = bytes, .set = some_segments()};

    flags.CpuVisible = (how & 3) != 0;
    flags.Cached = flags.CpuVisible && how & 4;
    flags.PermanentSysMem = flags.CpuVisible && (how & 24) == 24;
    flags.FromEndOfSegment = (how & 32) != 0;
    flags.AccessedPhysically = (how & 0xC0) == 0xC0;
    flags.ExplicitResidencyNotification = flags.AccessedPhysically && how & 4;
    if (flags.CpuVisible && data.set & 4)
        data.set |= 2; /* ALLOC-065 */
    if (flags.CpuVisible && shared)
        data.set = 2; /* ALLOC-147 */
    data.preferred = some_preference(data.set);
    data.flags = flags.Value;
    data.priority = D3DDDI_ALLOCATIONPRIORITY_NORMAL + (how & 16 ? 0x100 : 0);
    return data;
}

void fuzz_create_allocation(void)
{
    struct fuzz_allocation *a = free_slot();
    unsigned number, size = fuzz_byte();
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_private data;
    D3DKMT_CREATEALLOCATION args;
    D3DDDI_ALLOCATIONINFO2 info;
    NTSTATUS status;

    if (!a || !d)
        return;
    memset(a, 0, sizeof(*a));
    memset(&args, 0, sizeof(args));
    args.Flags.CreateResource = fuzz_byte() & 1;
    args.Flags.CreateShared = args.Flags.CreateResource && fuzz_byte() & 1;
    data = some_private((uint64_t)(size % (size & 128 ? 64 : 12) + 1) * PAGE - (size & 64 ? 100 : 0),
                        args.Flags.CreateShared);
    memset(&info, 0, sizeof(info));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    args.hDevice = d->device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    fuzz_run->busy = true;
    status = D3DKMTCreateAllocation2(&args);
    fuzz_trace("  %u: %llu bytes, segments 0x%x, preferred 0x%x, flags 0x%x: 0x%x",
               (unsigned)(a - fuzz_run->allocation), (unsigned long long)data.bytes, data.set,
               data.preferred, data.flags, (unsigned)status);
    if (!NT_SUCCESS(status)) {
        MUST(fuzz_device_gone(d, status) || fuzz_shortage(status));
        return;
    }
    a->live = true;
    a->pages = (data.bytes + PAGE - 1) / PAGE;
    if (data.set & 4)
        a->pages = (a->pages + 15) / 16 * 16;
    a->bytes = data.bytes;
    a->visible = ((DXGK_ALLOCATIONINFOFLAGS_WDDM2_0){.Value = data.flags}).CpuVisible;
    a->lockable = a->visible && !(data.set & 4) &&
                  !((DXGK_ALLOCATIONINFOFLAGS_WDDM2_0){.Value = data.flags}).Cached;
    a->loose = ((DXGK_ALLOCATIONINFOFLAGS_WDDM2_0){.Value = data.flags}).PermanentSysMem;
    a->shared = args.Flags.CreateShared;
    a->owner = fuzz_my_number();
    a->global = args.hGlobalShare;
    open_of(a, number)->handle = info.hAllocation;
    open_of(a, number)->resource = args.hResource;
    for (unsigned i = 0; i < a->pages; i++)
        a->word[i].known = !a->loose; /* zeroes */
}

/* Work that was queued and has not begun does not wait for what is taken off the list meanwhile. */
static void wait_if_missing(const struct fuzz_allocation *a)
{
    if (fuzz_run->working && !fuzz_host_ready((unsigned)(a - fuzz_run->allocation)))
        fuzz_drain();
}

void fuzz_destroy_allocation(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    D3DKMT_DESTROYALLOCATION2 args;
    struct fuzz_open *open;
    NTSTATUS status;

    if (!a)
        return;
    open = open_of(a, number);
    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.hResource = open->resource;
    args.phAllocationList = open->resource ? NULL : &open->handle;
    args.AllocationCount = !open->resource;
    args.Flags.SynchronousDestroy = fuzz_byte() & 1;
    if (fuzz_byte() & 1)
        fuzz_drain();
    wait_if_missing(a);
    if (d->lost)
        return;
    args.Flags.AssumeNotInUse = !fuzz_run->busy && fuzz_byte() & 1;
    status = D3DKMTDestroyAllocation2(&args);
    fuzz_trace("  %u by device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    MUST(NT_SUCCESS(status) || (fuzz_run->excused && fuzz_shortage(status)));
    if (NT_SUCCESS(status)) {
        fuzz_close(fuzz_my_number(), number, a);
        fuzz_drain(); /* its addresses go with it */
    }
}

static struct fuzz_allocation *some_shared(void)
{
    const unsigned first = fuzz_byte();

    for (unsigned i = 0; i < ALLOCATIONS; i++) {
        struct fuzz_allocation *a = &fuzz_run->allocation[(first + i) % ALLOCATIONS];

        if (a->live && a->shared)
            return a;
    }
    return NULL;
}

void fuzz_open_resource(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? some_shared() : NULL;
    struct fuzz_private total;
    D3DDDI_OPENALLOCATIONINFO2 info;
    D3DKMT_OPENRESOURCE args;
    NTSTATUS status;

    if (!a || open_of(a, number)->handle)
        return;
    memset(&args, 0, sizeof(args));
    memset(&info, 0, sizeof(info));
    args.hDevice = d->device;
    args.hGlobalShare = a->global;
    args.NumAllocations = 1;
    args.pOpenAllocationInfo2 = &info;
    args.pTotalPrivateDriverDataBuffer = &total;
    args.TotalPrivateDriverDataBufferSize = sizeof(total);
    status = D3DKMTOpenResource2(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    if (!NT_SUCCESS(status)) {
        MUST(fuzz_device_gone(d, status) || (fuzz_run->excused && fuzz_shortage(status)));
        return;
    }
    MUST(info.hAllocation && args.hResource);
    open_of(a, number)->handle = info.hAllocation;
    open_of(a, number)->resource = args.hResource;
}

/* ---- residency ---- */

void fuzz_make_resident(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *list[3];
    D3DKMT_HANDLE handle[3];
    D3DDDI_MAKERESIDENT args;
    UINT count = fuzz_byte() % 3 + 1;
    NTSTATUS status;

    for (UINT i = 0; i < count; i++) {
        list[i] = d ? fuzz_some_allocation(number) : NULL;
        if (!list[i])
            return;
        handle[i] = open_of(list[i], number)->handle;
    }
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = d->queue;
    args.NumAllocations = count;
    args.AllocationList = handle;
    args.Flags.CantTrimFurther = fuzz_byte() & 1;
    status = D3DKMTMakeResident(&args);
    for (UINT i = 0; i < count; i++)
        fuzz_trace("  %u on device %u: 0x%x, fence %llu", (unsigned)(list[i] - fuzz_run->allocation),
                   number, (unsigned)status, (unsigned long long)args.PagingFenceValue);
    fuzz_run->busy = true;
    if (NT_SUCCESS(status)) {
        MUST(status == STATUS_SUCCESS || status == STATUS_PENDING);
        MUST((status == STATUS_PENDING) == (args.PagingFenceValue > *d->queue_value) ||
             args.PagingFenceValue);
        for (UINT i = 0; i < count; i++)
            open_of(list[i], number)->refs++;
        if (args.PagingFenceValue > d->queued)
            d->queued = args.PagingFenceValue;
        return;
    }
    MUST(fuzz_device_gone(d, status) || status == STATUS_NO_MEMORY);
    MUST(status != STATUS_NO_MEMORY || args.NumBytesToTrim || fuzz_run->excused);
}

void fuzz_evict(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    const unsigned how = fuzz_byte();
    D3DKMT_EVICT args;
    struct fuzz_open *open;
    NTSTATUS status;

    if (!a)
        return;
    open = open_of(a, number);
    wait_if_missing(a);
    if (d->lost)
        return;
    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.NumAllocations = 1;
    args.AllocationList = &open->handle;
    args.Flags.EvictOnlyIfNecessary = how & 1;
    status = D3DKMTEvict(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    MUST(NT_SUCCESS(status) == (open->refs > 0) || fuzz_run->excused);
    if (NT_SUCCESS(status))
        open->refs--;
}

/* ---- offers ---- */

void fuzz_offer(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    const unsigned how = fuzz_byte();
    D3DKMT_OFFERALLOCATIONS args;
    unsigned locks = 0;
    NTSTATUS status;

    if (!a)
        return;
    for (unsigned i = 0; i < DEVICES; i++)
        locks += a->open[a->owner][i].locks;
    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.HandleList = &open_of(a, number)->handle;
    args.NumAllocations = 1;
    args.Priority = (D3DKMT_OFFER_PRIORITY)(how % 3 + D3DKMT_OFFER_PRIORITY_LOW);
    args.Flags.OfferImmediately = (how & 64) != 0;
    args.Flags.AllowDecommit = (how & 128) != 0;
    if (args.Flags.OfferImmediately) /* even if work that is queued uses it */
        fuzz_drain();
    if (d->lost)
        return;
    status = D3DKMTOfferAllocations(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    if (fuzz_device_gone(d, status))
        return;
    MUST(!NT_SUCCESS(status) || !locks);
    if (NT_SUCCESS(status))
        open_of(a, number)->offered = a->may_be_discarded = true;
}

void fuzz_reclaim(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    D3DDDI_RECLAIM_RESULT result = (D3DDDI_RECLAIM_RESULT)-1;
    D3DKMT_RECLAIMALLOCATIONS2 args;
    NTSTATUS status;

    if (!a)
        return;
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = d->queue;
    args.NumAllocations = 1;
    args.HandleList = &open_of(a, number)->handle;
    args.pResults = &result;
    status = D3DKMTReclaimAllocations2(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    if (fuzz_device_gone(d, status))
        return;
    MUST(NT_SUCCESS(status) || (fuzz_run->excused && fuzz_shortage(status)));
    if (!NT_SUCCESS(status))
        return;
    if (args.PagingFenceValue > d->queued)
        d->queued = args.PagingFenceValue;
    fuzz_trace("  result %d", (int)result);
    MUST(result == D3DDDI_RECLAIM_RESULT_OK || a->may_be_discarded || fuzz_run->excused);
    if (result == D3DDDI_RECLAIM_RESULT_NOT_COMMITTED)
        return;
    a->may_be_discarded = false;
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++)
            a->open[i][k].offered = false;
    for (unsigned i = 0; result == D3DDDI_RECLAIM_RESULT_DISCARDED && i < a->pages; i++)
        a->word[i].known = false;
}

/* ---- the CPU ---- */

static bool offered_by_all(const struct fuzz_allocation *a)
{
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++)
            if (a->open[i][k].handle && !a->open[i][k].offered)
                return false;
    return true;
}

void fuzz_lock(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    D3DKMT_LOCK2 args;
    NTSTATUS status;

    if (!a)
        return;
    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.hAllocation = open_of(a, number)->handle;
    status = D3DKMTLock2(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    if (NT_SUCCESS(status)) {
        MUST(a->owner == fuzz_my_number() && args.pData);
        if (!a->lockable) { /* its paging may wait for the end of the lock (ALLOC-128) */
            const D3DKMT_UNLOCK2 unlock = {args.hDevice, args.hAllocation};

            MUST(NT_SUCCESS(D3DKMTUnlock2(&unlock)) || fuzz_run->excused);
            return;
        }
        open_of(a, number)->locks++;
        open_of(a, number)->cpu = args.pData;
        return;
    }
    MUST(fuzz_device_gone(d, status) || a->owner != fuzz_my_number() || a->left ||
         offered_by_all(a) || !a->visible || fuzz_shortage(status));
}

void fuzz_unlock(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    D3DKMT_UNLOCK2 args;
    struct fuzz_open *open;
    NTSTATUS status;

    if (!a)
        return;
    open = open_of(a, number);
    args.hDevice = d->device;
    args.hAllocation = open->handle;
    status = D3DKMTUnlock2(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    MUST(NT_SUCCESS(status) == (open->locks > 0) || fuzz_run->excused);
    if (NT_SUCCESS(status) && --open->locks == 0)
        open->cpu = NULL;
}

/* The CPU reads and writes through each view that this process has. */
void fuzz_touch(void)
{
    fuzz_drain();
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        for (unsigned k = 0; k < DEVICES; k++) {
            struct fuzz_allocation *a = &fuzz_run->allocation[i];
            const struct fuzz_open *open = open_of(a, k);
            const unsigned page = a->live && open->cpu ? fuzz_below((unsigned)a->pages) : 0;
            uint64_t value;

            if (!a->live || !open->cpu || fuzz_me()->device[k].lost)
                continue;
            memcpy(&value, open->cpu + page * PAGE, 8);
            MUST(!a->word[page].known || value == a->word[page].value);
            value = ++fuzz_run->values;
            fuzz_trace("  the CPU writes 0x%llx to page %u of %u", (unsigned long long)value, page,
                       i);
            memcpy(open->cpu + page * PAGE, &value, 8);
            a->word[page] = (struct fuzz_word){!a->loose, value};
        }
}

/* ---- the rest ---- */

void fuzz_update_property(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    const unsigned how = fuzz_byte();
    D3DDDI_UPDATEALLOCPROPERTY args;
    NTSTATUS status;

    if (!a || !(how & 7))
        return;
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = d->queue;
    args.hAllocation = open_of(a, number)->handle;
    args.SetSupportedSegmentSet = how & 1;
    args.SetPreferredSegment = (how & 2) != 0;
    args.SetAccessedPhysically = (how & 4) != 0;
    args.SupportedSegmentSet = args.SetSupportedSegmentSet ? some_segments() & 3 : 0;
    args.PreferredSegment.Value = args.SetPreferredSegment ? some_preference(3) : 0;
    args.Flags.AccessedPhysically = args.SetAccessedPhysically && how & 8;
    status = D3DKMTUpdateAllocationProperty(&args);
    fuzz_trace("  %u on device %u: 0x%x", (unsigned)(a - fuzz_run->allocation), number,
               (unsigned)status);
    fuzz_run->busy = true;
    if (NT_SUCCESS(status) && args.PagingFenceValue > d->queued)
        d->queued = args.PagingFenceValue;
    MUST(NT_SUCCESS(status) || fuzz_device_gone(d, status) || fuzz_shortage(status) ||
         status == STATUS_INVALID_PARAMETER);
}

void fuzz_invalidate_cache(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    D3DKMT_INVALIDATECACHE args;

    if (!a)
        return;
    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.hAllocation = open_of(a, number)->handle;
    args.Offset = fuzz_byte() * PAGE;
    args.Length = PAGE;
    MUST(NT_SUCCESS(D3DKMTInvalidateCache(&args)) || args.Offset + PAGE > a->bytes ||
         fuzz_run->excused);
}

/* Budgets: how much the process may have; and a priority. */
void fuzz_trim(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_allocation *a = d ? fuzz_some_allocation(number) : NULL;
    const unsigned how = fuzz_byte();
    UINT priority = D3DDDI_ALLOCATIONPRIORITY_MINIMUM + how * 0x01000000u;
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION reservation;
    D3DKMT_SETALLOCATIONPRIORITY set;
    D3DKMT_QUERYVIDEOMEMORYINFO query;

    if (!a)
        return;
    memset(&set, 0, sizeof(set));
    set.hDevice = d->device;
    set.phAllocationList = &open_of(a, number)->handle;
    set.AllocationCount = 1;
    set.pPriorities = &priority;
    (void)D3DKMTSetAllocationPriority(&set);
    memset(&query, 0, sizeof(query));
    query.hAdapter = fuzz_me()->adapter;
    query.MemorySegmentGroup = how & 1 ? D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL
                                       : D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL;
    if (!NT_SUCCESS(D3DKMTQueryVideoMemoryInfo(&query)))
        return;
    memset(&reservation, 0, sizeof(reservation));
    reservation.hAdapter = fuzz_me()->adapter;
    reservation.MemorySegmentGroup = query.MemorySegmentGroup;
    reservation.Reservation = query.AvailableForReservation / 256 * how;
    (void)D3DKMTChangeVideoMemoryReservation(&reservation);
    fuzz_run->busy = true;
}
