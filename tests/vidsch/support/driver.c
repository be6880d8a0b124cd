/* SPDX-License-Identifier: MIT */
/* A display miniport whose GPU is a list of fences per node and a timer. */
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "sim/dpc.h"
#include "sim/event.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/wait.h"
#include "vidsch/support/fixture.h"

#include <string.h>

static struct fixture *current; /* one machine at a time */

static struct fixture *fixture_of(const void *adapter)
{
    return (struct fixture *)(uintptr_t)adapter;
}

static struct call *note(struct fixture *f, enum call_kind kind, const void *handle)
{
    struct fake_driver *d = &f->driver;
    struct call *call = &d->calls[d->call_count < MAX_CALLS - 1 ? d->call_count++ : MAX_CALLS - 1];

    memset(call, 0, sizeof(*call));
    call->kind = kind;
    call->time = sim_now();
    call->irql = sim_irql();
    call->handle = (HANDLE)(uintptr_t)handle;
    call->process = nt_process_current()->id;
    return call;
}

/* ---- notifications ---- */

static bool service(void *context, uint32_t message)
{
    struct fixture *f = context;
    struct fake_driver *d = &f->driver;

    (void)message;
    for (uint32_t i = 0; i < d->notification_count; i++)
        vidsch_notify_interrupt(f->vidsch, &d->notifications[i]);
    d->notification_count = 0;
    sim_dpc_queue(&d->dpc);
    return true;
}

static bool service_now(void *context)
{
    return service(context, 0);
}

static void dpc(struct sim_dpc *object)
{
    struct fixture *f = CONTAINER(object, struct fixture, driver.dpc);

    if (!f->driver.no_notify_dpc)
        vidsch_notify_dpc(f->vidsch);
}

static bool add(struct fixture *f, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct fake_driver *d = &f->driver;

    if (d->notification_count == MAX_NOTIFICATIONS)
        return false;
    d->notifications[d->notification_count++] = *data;
    return true;
}

void driver_notify(struct fixture *f, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    if (add(f, data))
        sim_interrupt_raise(&f->driver.interrupt);
}

void driver_notify_now(struct fixture *f, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    if (add(f, data))
        sim_interrupt_synchronize(&f->driver.interrupt, service_now, f);
}

void driver_complete(struct fixture *f, UINT node, UINT fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    data.DmaCompleted.SubmissionFenceId = fence;
    data.DmaCompleted.NodeOrdinal = node;
    driver_notify_now(f, &data);
}

/* ---- engines ---- */

static void start(struct fake_engine *engine)
{
    if (engine->count && !engine->hang && !sim_event_pending(&engine->event))
        sim_event_arm(&engine->event, sim_now() + engine->run_ns);
}

static void pop(struct fake_engine *engine)
{
    engine->completed = engine->queue[0];
    memmove(engine->queue, engine->queue + 1, --engine->count * sizeof(engine->queue[0]));
}

static void ran(struct sim_event *event)
{
    struct fake_engine *engine = CONTAINER(event, struct fake_engine, event);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    if (!engine->count || engine->hang)
        return;
    pop(engine);
    data.DmaCompleted.SubmissionFenceId = engine->completed;
    data.DmaCompleted.NodeOrdinal = engine->ordinal;
    driver_notify(engine->fixture, &data);
    start(engine);
}

void driver_run(struct fixture *f, UINT node)
{
    f->driver.engine[node].hang = false;
    start(&f->driver.engine[node]);
}

static void execute(struct fixture *f, UINT node, UINT fence)
{
    struct fake_engine *engine = &f->driver.engine[node];

    engine->submitted = fence;
    engine->queue[engine->count++] = fence;
    if (engine->completes_inside) {
        pop(engine);
        driver_complete(f, node, fence);
        return;
    }
    start(engine);
}

/* ---- entries ---- */

static void enter_class(struct fixture *f)
{
    if (++f->driver.inside > f->driver.most_inside)
        f->driver.most_inside = f->driver.inside;
    f->driver.overlapped |= f->driver.inside_zero > 0;
    sim_point();
}

static void leave_class(struct fixture *f)
{
    f->driver.inside--;
}

static HANDLE new_handle(struct fixture *f)
{
    return (HANDLE)(uintptr_t)(0xD0000000u + 16 * ++f->driver.next_handle);
}

static void enter_zero(struct fixture *f)
{
    if (++f->driver.inside_zero > f->driver.most_inside_zero)
        f->driver.most_inside_zero = f->driver.inside_zero;
    sim_point();
    if (f->driver.stall_ns)
        sim_stall(f->driver.stall_ns);
    if (f->driver.block_ns)
        sim_block(sim_now() + f->driver.block_ns, NULL);
    f->driver.inside_zero--;
}

static NTSTATUS NTAPI create_device(IN_CONST_HANDLE adapter, INOUT_PDXGKARG_CREATEDEVICE args)
{
    struct fixture *f = fixture_of(adapter);
    struct call *call = note(f, CALL_CREATE_DEVICE, adapter);

    call->create_device.args = *args;
    call->create_device.flags = args->Flags.Value;
    enter_zero(f);
    if (!NT_SUCCESS(f->driver.status[CALL_CREATE_DEVICE]))
        return f->driver.status[CALL_CREATE_DEVICE];
    if (f->options.single_engine) {
        static const DXGK_DEVICEINFO zero;

        call->create_device.info_is_zero = memcmp(args->pInfo, &zero, sizeof(zero)) == 0;
        *args->pInfo = f->driver.device_info;
        f->driver.last_device_info = args->pInfo;
        args->pInfo = NULL; /* the host does not look at it again */
    }
    if (!f->driver.keep_handles)
        args->hDevice = new_handle(f);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI destroy_device(IN_CONST_HANDLE device)
{
    struct fixture *f = current;

    note(f, CALL_DESTROY_DEVICE, device);
    f->mm.order++;
    return f->driver.status[CALL_DESTROY_DEVICE];
}

static NTSTATUS NTAPI create_context(IN_CONST_HANDLE device, INOUT_PDXGKARG_CREATECONTEXT args)
{
    struct fixture *f = current;
    struct call *call = note(f, CALL_CREATE_CONTEXT, device);
    static const DXGK_CONTEXTINFO zero;

    call->create_context.args = *args;
    call->create_context.info_is_zero = memcmp(&args->ContextInfo, &zero, sizeof(zero)) == 0;
    if (args->pPrivateDriverData)
        memcpy(call->create_context.private_data, args->pPrivateDriverData,
               args->PrivateDriverDataSize < 16 ? args->PrivateDriverDataSize : 16);
    sim_point();
    args->ContextInfo = f->driver.info[args->Flags.VirtualAddressing];
    if (f->driver.on_create_context) {
        NTSTATUS status = f->driver.on_create_context(f, args);

        if (!NT_SUCCESS(status))
            return status;
    }
    if (!NT_SUCCESS(f->driver.status[CALL_CREATE_CONTEXT]))
        return f->driver.status[CALL_CREATE_CONTEXT];
    args->hContext = new_handle(f);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI destroy_context(IN_CONST_HANDLE context)
{
    struct fixture *f = current;

    note(f, CALL_DESTROY_CONTEXT, context);
    return f->driver.status[CALL_DESTROY_CONTEXT];
}

static NTSTATUS NTAPI render_entry(IN_CONST_HANDLE context, INOUT_PDXGKARG_RENDER args)
{
    struct fixture *f = current;
    struct call *call = note(f, CALL_RENDER, context);

    call->render.args = *args;
    for (UINT i = 0; i < args->AllocationListSize && i < 4; i++)
        call->render.list[i] = args->pAllocationList[i];
    if (args->pDmaBufferPrivateData)
        call->render.private_byte = *(uint8_t *)args->pDmaBufferPrivateData;
    enter_zero(f);
    if (f->driver.on_render)
        return f->driver.on_render(f, args);
    if (!NT_SUCCESS(f->driver.status[CALL_RENDER]))
        return f->driver.status[CALL_RENDER];
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
    for (UINT i = 0; i < args->PatchLocationListInSize; i++)
        *args->pPatchLocationListOut++ = args->pPatchLocationListIn[i];
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI patch(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARG_PATCH args)
{
    struct fixture *f = fixture_of(adapter);
    struct call *call = note(f, CALL_PATCH, adapter);
    NTSTATUS status = f->driver.status[CALL_PATCH];

    call->patch.args = *args;
    for (UINT i = 0; i < args->AllocationListSize && i < 4; i++)
        call->patch.list[i] = args->pAllocationList[i];
    for (UINT i = 0; i < args->PatchLocationListSize && i < 4; i++)
        call->patch.patches[i] = args->pPatchLocationList[i];
    enter_class(f);
    if (f->driver.on_patch)
        status = f->driver.on_patch(f, args);
    leave_class(f);
    return status;
}

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARG_SUBMITCOMMAND args)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_SUBMIT, adapter)->submit = *args;
    enter_class(f);
    if (f->driver.on_submit)
        (void)f->driver.on_submit(f, args);
    if (NT_SUCCESS(f->driver.status[CALL_SUBMIT]))
        execute(f, args->NodeOrdinal, args->SubmissionFenceId);
    leave_class(f);
    return f->driver.status[CALL_SUBMIT];
}

static NTSTATUS NTAPI submit_command_virtual(IN_CONST_HANDLE adapter,
                                             IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL args)
{
    struct fixture *f = fixture_of(adapter);
    struct call *call = note(f, CALL_SUBMIT_VIRTUAL, adapter);
    NTSTATUS status = f->driver.status[CALL_SUBMIT_VIRTUAL];

    call->submit_virtual.args = *args;
    call->submit_virtual.in_flight = f->vidsch->node[args->NodeOrdinal].count;
    if (args->pDmaBufferPrivateData)
        memcpy(call->submit_virtual.private_data, args->pDmaBufferPrivateData,
               args->DmaBufferPrivateDataSize < 32 ? args->DmaBufferPrivateDataSize : 32);
    enter_class(f);
    if (f->driver.on_submit_virtual)
        status = f->driver.on_submit_virtual(f, args);
    if (NT_SUCCESS(status))
        execute(f, args->NodeOrdinal, args->SubmissionFenceId);
    leave_class(f);
    return status;
}

static NTSTATUS NTAPI preempt_command(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARG_PREEMPTCOMMAND args)
{
    struct fixture *f = fixture_of(adapter);
    struct fake_engine *engine = &f->driver.engine[args->NodeOrdinal];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    note(f, CALL_PREEMPT, adapter)->preempt = *args;
    enter_class(f);
    if (!engine->ignores_preemption && NT_SUCCESS(f->driver.status[CALL_PREEMPT])) {
        engine->count = 0;
        sim_event_cancel(&engine->event);
        data.DmaPreempted.PreemptionFenceId = args->PreemptionFenceId;
        data.DmaPreempted.LastCompletedFenceId = engine->completed;
        data.DmaPreempted.NodeOrdinal = args->NodeOrdinal;
        if (engine->answers_inside)
            driver_notify_now(f, &data);
        else
            driver_notify(f, &data);
    }
    leave_class(f);
    return f->driver.status[CALL_PREEMPT];
}

static NTSTATUS NTAPI cancel_command(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARG_CANCELCOMMAND args)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_CANCEL, adapter)->cancel = *args;
    enter_class(f);
    leave_class(f);
    return f->driver.status[CALL_CANCEL];
}

static NTSTATUS NTAPI query_current_fence(IN_CONST_HANDLE adapter,
                                          INOUT_PDXGKARG_QUERYCURRENTFENCE args)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_QUERY_FENCE, adapter);
    args->CurrentFence = f->driver.engine[args->NodeOrdinal].completed;
    return f->driver.on_query_fence ? f->driver.on_query_fence(f, args) : STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_group(IN_CONST_HANDLE adapter,
                                  INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP args)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_QUERY_GROUP, adapter)->group = *args;
    if (f->driver.group_mask)
        args->DependentNodeOrdinalMask = f->driver.group_mask;
    if (f->driver.on_query_group)
        return f->driver.on_query_group(f, args);
    return f->driver.status[CALL_QUERY_GROUP];
}

static NTSTATUS NTAPI query_engine(IN_CONST_HANDLE adapter, INOUT_PDXGKARG_QUERYENGINESTATUS args)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_QUERY_ENGINE, adapter)->reset_engine.NodeOrdinal = args->NodeOrdinal;
    args->EngineStatus.Responsive = !f->driver.engine[args->NodeOrdinal].hang;
    return f->driver.status[CALL_QUERY_ENGINE];
}

static NTSTATUS NTAPI reset_engine(IN_CONST_HANDLE adapter, INOUT_PDXGKARG_RESETENGINE args)
{
    struct fixture *f = fixture_of(adapter);
    struct fake_engine *engine = &f->driver.engine[args->NodeOrdinal];

    note(f, CALL_RESET_ENGINE, adapter)->reset_engine = *args;
    sim_point();
    if (!NT_SUCCESS(f->driver.status[CALL_RESET_ENGINE]))
        return f->driver.status[CALL_RESET_ENGINE];
    args->LastAbortedFenceId = engine->count ? engine->queue[0] : engine->completed;
    if (f->driver.aborted != UINT32_MAX)
        args->LastAbortedFenceId = f->driver.aborted;
    engine->completed = args->LastAbortedFenceId;
    engine->count = 0;
    engine->hang = engine->stays_hung;
    sim_event_cancel(&engine->event);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI reset_from_timeout(IN_CONST_HANDLE adapter)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_RESET, adapter);
    if (f->driver.on_reset)
        f->driver.on_reset(f);
    for (uint32_t i = 0; i < 4; i++) {
        struct fake_engine *engine = &f->driver.engine[i];

        engine->completed = engine->submitted;
        engine->count = 0;
        engine->hang = false;
        sim_event_cancel(&engine->event);
    }
    return f->driver.status[CALL_RESET];
}

static NTSTATUS NTAPI restart_from_timeout(IN_CONST_HANDLE adapter)
{
    struct fixture *f = fixture_of(adapter);

    note(f, CALL_RESTART, adapter);
    return f->driver.status[CALL_RESTART];
}

static NTSTATUS NTAPI collect(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARG_COLLECTDBGINFO args)
{
    struct fixture *f = fixture_of(adapter);

    struct call *call = note(f, CALL_COLLECT, adapter);
    const uint8_t *bytes = args->pBuffer;

    call->collect.reason = args->Reason;
    call->collect.bytes = args->BufferSize;
    call->collect.is_zero = true;
    for (SIZE_T i = 0; i < args->BufferSize; i++)
        call->collect.is_zero &= bytes[i] == 0;
    if (f->driver.writes_reserved)
        args->pExtension->Reserved5 = 1;
    args->pExtension->BucketingKey = 7;
    return f->driver.status[CALL_COLLECT];
}

NTSTATUS NTAPI driver_create_process(IN_CONST_HANDLE adapter, INOUT_PDXGKARG_CREATEPROCESS args)
{
    (void)adapter;
    (void)args;
    return STATUS_SUCCESS;
}

void driver_table(DRIVER_INITIALIZATION_DATA *table)
{
    memset(table, 0, sizeof(*table));
    table->Version = DXGKDDI_INTERFACE_VERSION_WDDM2_9;
    table->DxgkDdiCreateDevice = create_device;
    table->DxgkDdiDestroyDevice = destroy_device;
    table->DxgkDdiCreateContext = create_context;
    table->DxgkDdiDestroyContext = destroy_context;
    table->DxgkDdiRender = render_entry;
    table->DxgkDdiPatch = patch;
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiSubmitCommandVirtual = submit_command_virtual;
    table->DxgkDdiPreemptCommand = preempt_command;
    table->DxgkDdiCancelCommand = cancel_command;
    table->DxgkDdiQueryCurrentFence = query_current_fence;
    table->DxgkDdiQueryDependentEngineGroup = query_group;
    table->DxgkDdiQueryEngineStatus = query_engine;
    table->DxgkDdiResetEngine = reset_engine;
    table->DxgkDdiResetFromTimeout = reset_from_timeout;
    table->DxgkDdiRestartFromTimeout = restart_from_timeout;
    table->DxgkDdiCollectDbgInfo = collect;
}

void driver_init(struct fixture *f)
{
    struct fake_driver *d = &f->driver;

    current = f;
    d->aborted = UINT32_MAX;
    for (uint32_t i = 0; i < 2; i++)
        d->info[i] = (DXGK_CONTEXTINFO){.DmaBufferSize = i == 0 ? 8192 : 0, /* PATCH-161 */
                                        .DmaBufferPrivateDataSize = 32,
                                        .AllocationListSize = 8,
                                        .PatchLocationListSize = 16};
    for (uint32_t i = 0; i < 4; i++)
        d->engine[i] = (struct fake_engine){
            .event.fire = ran, .fixture = f, .ordinal = i, .run_ns = 10000};
    d->dpc.routine = dpc;
    list_init(&d->dpc.link);
    sim_interrupt_connect(&d->interrupt, service, f, 0, SIM_IRQL_DEVICE);
}

/* ---- looking back ---- */

uint32_t calls_of(const struct fixture *f, enum call_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < f->driver.call_count; i++)
        count += f->driver.calls[i].kind == kind;
    return count;
}

const struct call *call_at(const struct fixture *f, enum call_kind kind, uint32_t index)
{
    for (uint32_t i = 0; i < f->driver.call_count; i++)
        if (f->driver.calls[i].kind == kind && index-- == 0)
            return &f->driver.calls[i];
    return NULL;
}

const struct call *last_call(const struct fixture *f, enum call_kind kind)
{
    uint32_t count = calls_of(f, kind);

    return count ? call_at(f, kind, count - 1) : NULL;
}
