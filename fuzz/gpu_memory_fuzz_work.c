/* SPDX-License-Identifier: MIT */
/* Submissions: the GPU reads and writes through addresses of the process, and context allocations. */
#include "gpu_memory_fuzz.h"

#define WORK_MAGIC 0x5A5A0001u

/* A mapped page of an allocation that is on the device's list. */
static bool choose(unsigned number, struct fuzz_access *access)
{
    struct fuzz_process *me = fuzz_me();
    const unsigned first = fuzz_byte(), how = fuzz_byte();

    for (unsigned i = 0; i < me->ranges; i++) {
        const struct fuzz_range *range = &me->range[(first + i) % me->ranges];
        const struct fuzz_piece *piece = &range->piece[how % range->count];
        struct fuzz_allocation *a = &fuzz_run->allocation[piece->allocation];
        const uint64_t page = piece->pages ? how % piece->pages : 0;
        struct fuzz_word *word;

        if (piece->state != STATE_PAGES || !a->open[fuzz_my_number()][number].refs ||
            fuzz_is_offered(a))
            continue;
        word = &a->word[piece->offset + page];
        *access = (struct fuzz_access){.va = (piece->first + page) * PAGE,
                                       .write = piece->write && how & 64,
                                       .known = word->known,
                                       .value = word->value};
        if (access->write) {
            access->value = ++fuzz_run->values;
            *word = (struct fuzz_word){!a->loose, access->value};
        }
        return true;
    }
    return false;
}

static NTSTATUS submit(struct fuzz_device *d, struct fuzz_work *work)
{
    D3DKMT_SUBMITCOMMAND args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.Commands = 0x10000;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = d->context;
    args.pPrivateDriverData = work;
    args.PrivateDriverDataSize = sizeof(*work);
    work->number = ++d->given;
    status = D3DKMTSubmitCommand(&args);
    if (!NT_SUCCESS(status))
        d->given--;
    return status;
}

void fuzz_submit(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_work work = {.magic = WORK_MAGIC};
    struct fuzz_word before[ALLOCATIONS][MOST_PAGES];
    NTSTATUS status;

    if (!d)
        return;
    /* Work of two contexts is in no order, and tables must be ready. */
    if (fuzz_run->working != &d->context || *d->queue_value < d->queued || fuzz_run->updating)
        fuzz_drain();
    if (d->lost)
        return;
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        memcpy(before[i], fuzz_run->allocation[i].word, sizeof(before[i]));
    for (UINT i = fuzz_byte() % ACCESSES + 1; i > 0; i--)
        work.count += choose(number, &work.access[work.count]);
    status = submit(d, &work);
    for (UINT i = 0; i < work.count; i++)
        fuzz_trace("  %s 0x%llx, 0x%llx", work.access[i].write ? "write" : "read",
                   (unsigned long long)work.access[i].va, (unsigned long long)work.access[i].value);
    fuzz_trace("  device %u: 0x%x", number, (unsigned)status);
    fuzz_run->busy = true;
    fuzz_run->working = &d->context;
    if (NT_SUCCESS(status))
        return;
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        memcpy(fuzz_run->allocation[i].word, before[i], sizeof(before[i]));
    /* context allocations are brought in before it is submitted */
    MUST(fuzz_device_gone(d, status) ||
         (fuzz_shortage(status) && (fuzz_run->excused || fuzz_much_is_listed())));
}

/* ---- a packet that never ends ---- */

void fuzz_forget_content(void)
{
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        for (unsigned k = 0; k < MOST_PAGES; k++)
            fuzz_run->allocation[i].word[k].known = false;
}

void fuzz_hang(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    const unsigned how = fuzz_byte();
    struct fuzz_work work = {.magic = WORK_MAGIC};

    if (!d || fuzz_run->resets == 2)
        return;
    fuzz_drain();
    if (d->lost)
        return;
    fuzz_run->resets++;
    fuzz_run->excused = true;
    fuzz_driver_hang(how & 1);
    if (how & 1) {
        D3DKMT_HANDLE handle = 0;
        D3DDDI_MAKERESIDENT args;

        for (unsigned i = 0; i < ALLOCATIONS && !handle; i++)
            if (fuzz_run->allocation[i].live)
                handle = fuzz_run->allocation[i].open[fuzz_my_number()][number].handle;
        memset(&args, 0, sizeof(args));
        args.hPagingQueue = d->queue;
        args.NumAllocations = 1;
        args.AllocationList = &handle;
        if (handle && NT_SUCCESS(D3DKMTMakeResident(&args))) {
            for (unsigned i = 0; i < ALLOCATIONS; i++)
                if (fuzz_run->allocation[i].open[fuzz_my_number()][number].handle == handle)
                    fuzz_run->allocation[i].open[fuzz_my_number()][number].refs++;
            if (args.PagingFenceValue > d->queued)
                d->queued = args.PagingFenceValue;
        }
    } else {
        (void)submit(d, &work);
    }
    fuzz_run->busy = true;
    fuzz_forget_content();
    probe_sleep(5 * PROBE_SECOND);
    fuzz_driver_calm();
    fuzz_drain();
}

/* ---- context allocations ---- */

static struct {
    struct fuzz_device *device;
    unsigned slot, how;
    uint64_t pages, base;
} inside;

static void map_context(const DXGKRNL_INTERFACE *dxgk, HANDLE allocation)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    args.hAllocation = allocation;
    args.SizeInPages = inside.pages;
    args.Protection.Write = 1;
    if (inside.how & 8)
        args.BaseAddress = inside.base * PAGE;
    (void)dxgk->DxgkCbMapContextAllocation(dxgk->DeviceHandle, &args);
}

/* In the driver, during an escape of the client. */
void fuzz_context_inside(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    HANDLE *handle = &inside.device->context_allocation[inside.slot];
    uint8_t data[16] = {1, 2, 3};

    if (!*handle) {
        DXGKARGCB_CREATECONTEXTALLOCATION args;

        memset(&args, 0, sizeof(args));
        args.hAdapter = dxgk->DeviceHandle;
        args.hDevice = inside.device->host_device;
        args.hContext = inside.device->host_context;
        args.Size = inside.pages * PAGE;
        args.SupportedSegmentSet = 1;
        if (NT_SUCCESS(dxgk->DxgkCbCreateContextAllocation(&args))) {
            *handle = args.hAllocation;
            fuzz_driver_own(inside.device->own_context, args.hAllocation);
            inside.device->context_pages[inside.slot] = inside.pages;
        }
        return;
    }
    inside.pages = inside.device->context_pages[inside.slot];
    if ((inside.how & 3) == 0) {
        map_context(dxgk, *handle);
    } else if ((inside.how & 3) == 1) {
        DXGKARGCB_UPDATECONTEXTALLOCATION args;

        memset(&args, 0, sizeof(args));
        args.hAllocation = *handle;
        args.pPrivateDriverData = data;
        args.PrivateDriverDataSize = sizeof(data);
        (void)dxgk->DxgkCbUpdateContextAllocation(dxgk->DeviceHandle, &args);
    } else {
        MUST(NT_SUCCESS(dxgk->DxgkCbDestroyContextAllocation(dxgk->DeviceHandle, *handle)));
        fuzz_driver_disown(*handle);
        *handle = NULL;
    }
}

void fuzz_context_allocation(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    uint32_t data = 0;
    D3DKMT_ESCAPE args;

    if (!d)
        return;
    inside.device = d;
    inside.slot = fuzz_below(CONTEXT_ALLOCATIONS);
    inside.how = fuzz_byte();
    inside.pages = fuzz_byte() % 8 + 1;
    inside.base = fuzz_first_page() + fuzz_byte() * 16ull;
    memset(&args, 0, sizeof(args));
    args.hAdapter = fuzz_me()->adapter;
    args.pPrivateDriverData = &data;
    args.PrivateDriverDataSize = sizeof(data);
    fuzz_drain();
    if (d->lost || (inside.how & 8 &&
                    (fuzz_taken(fuzz_me(), inside.base, 8) || fuzz_host_has(inside.base, 8))))
        return; /* the driver does nothing wrong */
    (void)D3DKMTEscape(&args);
    fuzz_run->busy = true;
}
