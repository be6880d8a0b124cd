/* SPDX-License-Identifier: MIT */
/* The input; processes, devices and allocations. */
#include "gpu_memory_fuzz.h"

#include "sim/machine.h"

struct fuzz_run *fuzz_run;

/* ---- input ---- */

uint64_t fuzz_number(unsigned bytes)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < bytes && fuzz_run->at < fuzz_run->end; i++)
        number |= (uint64_t)*fuzz_run->at++ << (8 * i);
    return number;
}

unsigned fuzz_byte(void)
{
    return (unsigned)fuzz_number(1);
}

unsigned fuzz_below(unsigned bound)
{
    return fuzz_byte() % bound;
}

/* ---- who ---- */

struct fuzz_process *fuzz_me(void)
{
    return &fuzz_run->process[fuzz_run->turn];
}

unsigned fuzz_my_number(void)
{
    return fuzz_run->turn;
}

struct fuzz_device *fuzz_some_device(unsigned *number)
{
    const unsigned first = fuzz_byte();

    for (unsigned i = 0; i < DEVICES; i++) {
        *number = (first + i) % DEVICES;
        if (fuzz_me()->device[*number].live && !fuzz_me()->device[*number].lost)
            return &fuzz_me()->device[*number];
    }
    return NULL;
}

struct fuzz_allocation *fuzz_some_allocation(unsigned device)
{
    const unsigned first = fuzz_byte();

    for (unsigned i = 0; i < ALLOCATIONS; i++) {
        struct fuzz_allocation *a = &fuzz_run->allocation[(first + i) % ALLOCATIONS];

        if (a->live && a->open[fuzz_my_number()][device].handle)
            return a;
    }
    return NULL;
}

/* ---- outcomes ---- */

bool fuzz_shortage(NTSTATUS status)
{
    return status == STATUS_NO_MEMORY || status == STATUS_INSUFFICIENT_RESOURCES;
}

bool fuzz_much_is_listed(void)
{
    const struct fuzz_shape *s = &fuzz_run->shape;
    uint64_t pages = 0;

    for (unsigned i = 0; i < ALLOCATIONS; i++)
        for (unsigned k = 0; fuzz_run->allocation[i].live && k < PROCESSES * DEVICES; k++) {
            const struct fuzz_open *open = &fuzz_run->allocation[i].open[k / DEVICES][k % DEVICES];

            if (open->refs || open->locks)
                pages += (fuzz_run->allocation[i].pages + 15) / 16 * 16;
        }
    return pages > (s->content_pages < s->aperture_pages ? s->content_pages : s->aperture_pages) / 2;
}

bool fuzz_device_gone(struct fuzz_device *device, NTSTATUS status)
{
    if (status != STATUS_DEVICE_REMOVED && status != STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE)
        return false;
    MUST(fuzz_run->excused || fuzz_much_is_listed());
    device->lost = true;
    fuzz_run->busy = true;
    return true;
}

/* ---- waiting ---- */

static bool at_rest(void)
{
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++) {
            const struct fuzz_device *d = &fuzz_run->process[i].device[k];

            if (d->live && !d->lost &&
                (*d->queue_value < d->queued || *d->fence_value < d->signals || d->done < d->given))
                return false;
        }
    return fuzz_driver_idle();
}

void fuzz_look_for_losses(unsigned process)
{
    for (unsigned k = 0; k < DEVICES; k++) {
        struct fuzz_device *d = &fuzz_run->process[process].device[k];
        D3DKMT_GETDEVICESTATE args;

        if (!d->live || d->lost)
            continue;
        memset(&args, 0, sizeof(args));
        args.hDevice = d->device;
        args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
        if (!NT_SUCCESS(D3DKMTGetDeviceState(&args)) ||
            args.ExecutionState != D3DKMT_DEVICEEXECUTION_ACTIVE) {
            MUST(fuzz_run->excused || fuzz_much_is_listed());
            d->lost = true;
            fuzz_forget_content();
        }
    }
}

/* Which devices have been lost? Each process asks for its own (process_main). */
static void look_everywhere(void)
{
    for (unsigned i = 0; i < fuzz_run->shape.processes; i++) {
        if (i == fuzz_run->turn) {
            fuzz_look_for_losses(i);
            continue;
        }
        fuzz_run->looks[i] = true;
        (void)sim_waitq_wake(&fuzz_run->turns, UINT32_MAX);
        for (unsigned k = 0; k < 100 && fuzz_run->looks[i]; k++)
            probe_sleep(1000);
    }
}

void fuzz_drain(void)
{
    struct util_heap *heap = &fuzz_run->probe->sim->heap;

    if (!fuzz_run->busy)
        return;
    for (unsigned i = 0; i < 300; i++) {
        probe_sleep(i < 60 ? 100000 : 50000000);
        if (at_rest())
            break;
        if (i % 60 == 59)
            look_everywhere();
        MUST(i < 299);
    }
    probe_sleep(100000);
    if (!fuzz_fail_at) {
        heap->fail_at = 0;
        heap->fail_onward = false;
    }
    look_everywhere();
    fuzz_run->busy = fuzz_run->updating = false;
    fuzz_run->working = NULL;
}

/* ---- devices ---- */

static NTSTATUS make_fence(struct fuzz_device *d)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.Info.Type = D3DDDI_MONITORED_FENCE;
    status = D3DKMTCreateSynchronizationObject2(&args);
    d->fence = args.hSyncObject;
    d->fence_value = args.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    return status;
}

static NTSTATUS make_queue(struct fuzz_device *d)
{
    D3DKMT_CREATEPAGINGQUEUE queue;
    NTSTATUS status;

    memset(&queue, 0, sizeof(queue));
    queue.hDevice = d->device;
    status = D3DKMTCreatePagingQueue(&queue);
    d->queue = queue.hPagingQueue;
    d->queue_fence = queue.hSyncObject;
    d->queue_value = queue.FenceValueCPUVirtualAddress;
    return status;
}

static NTSTATUS make_context(struct fuzz_device *d)
{
    D3DKMT_CREATECONTEXTVIRTUAL context;
    NTSTATUS status;

    memset(&context, 0, sizeof(context));
    context.hDevice = d->device;
    context.NodeOrdinal = 1;
    status = D3DKMTCreateContextVirtual(&context);
    d->context = context.hContext;
    if (NT_SUCCESS(status))
        fuzz_driver_last(&d->host_device, &d->host_context, &d->own_context);
    return status;
}

static NTSTATUS find_adapter(struct fuzz_process *me)
{
    D3DKMT_ENUMADAPTERS adapters;
    NTSTATUS status;

    if (me->adapter)
        return STATUS_SUCCESS;
    memset(&adapters, 0, sizeof(adapters));
    status = D3DKMTEnumAdapters(&adapters);
    if (NT_SUCCESS(status))
        me->adapter = adapters.NumAdapters ? adapters.Adapters[0].hAdapter : 0;
    return NT_SUCCESS(status) && !me->adapter ? STATUS_NO_MEMORY : status;
}

bool fuzz_begin_device(unsigned number)
{
    struct fuzz_device *d = &fuzz_me()->device[number];
    D3DKMT_CREATEDEVICE device;
    NTSTATUS status = find_adapter(fuzz_me());

    memset(d, 0, sizeof(*d));
    if (NT_SUCCESS(status)) {
        memset(&device, 0, sizeof(device));
        device.hAdapter = fuzz_me()->adapter;
        status = D3DKMTCreateDevice(&device);
        d->device = device.hDevice;
    }
    fuzz_run->busy = true;
    if (NT_SUCCESS(status)) {
        status = make_queue(d);
        if (NT_SUCCESS(status))
            status = make_context(d);
        if (NT_SUCCESS(status))
            status = make_fence(d);
        d->live = NT_SUCCESS(status);
        if (!d->live) {
            D3DKMT_DESTROYDEVICE destroy = {d->device};

            MUST(NT_SUCCESS(D3DKMTDestroyDevice(&destroy)));
        }
    }
    MUST(d->live || fuzz_run->excused || fuzz_shortage(status));
    return d->live;
}

/* The model's side of the end of a handle. */
void fuzz_close(unsigned process, unsigned device, struct fuzz_allocation *a)
{
    const unsigned index = (unsigned)(a - fuzz_run->allocation);
    bool mine = false, others = false;

    memset(&a->open[process][device], 0, sizeof(a->open[process][device]));
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++) {
            mine |= i == process && a->open[i][k].handle;
            others |= a->open[i][k].handle != 0;
        }
    if (!mine)
        fuzz_unmap_all(&fuzz_run->process[process], index);
    if (!mine && process == a->owner)
        a->left = true;
    if (!others)
        a->live = false;
}

void fuzz_end_device(unsigned number)
{
    const unsigned process = fuzz_my_number();
    struct fuzz_device *d = &fuzz_me()->device[number];
    D3DKMT_DESTROYDEVICE destroy = {d->device};

    MUST(NT_SUCCESS(D3DKMTDestroyDevice(&destroy)));
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        if (fuzz_run->allocation[i].live && fuzz_run->allocation[i].open[process][number].handle)
            fuzz_close(process, number, &fuzz_run->allocation[i]);
    memset(d, 0, sizeof(*d));
    fuzz_run->busy = true;
}
