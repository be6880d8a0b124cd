/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbExcludeAdapterAccess: a driver asks for exclusive access to its adapter (LIFE-108 to
 * LIFE-112), in which the host calls its protected callback.
 *
 *   synchronous    inside a DDI of level two or three, where no other thread is in the driver:
 *                  the callback runs at once
 *   asynchronous   a thread of the host moves all video memory out, if asked; waits until all
 *                  other threads have left the driver, keeps them out, and runs the callback
 *
 * A driver that waits inside a DDI for its asynchronous callback waits for itself: after a time
 * limit the callback is called with an error.
 */
#include "port/callbacks/exclude.h"
#include "ddi/ddi.h"
#include "nt/base/image.h"
#include "nt/ke/driver_call.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/running/managers.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidsch/vidsch.h"

#define EXCLUSION_LIMIT_NS 10000000000u /* LIFE-112 */
#define KNOWN_ATTRIBUTES \
    (DXGK_EXCLUDE_EVICT_ALL | DXGK_EXCLUDE_CALL_SYNCHRONOUS | DXGK_EXCLUDE_BRIDGE_ACCESS)

struct exclusion {
    struct port_adapter *adapter;
    ULONG attributes;
    DXGKDDI_PROTECTED_CALLBACK callback;
    PVOID context;
};

/* Call the protected callback, like a DDI, except that the host holds the lock already. */
static void call_back(const struct exclusion *exclusion, NTSTATUS status)
{
    struct port_adapter *adapter = exclusion->adapter;
    struct ddi_frame *frame = ddi_frame_push(sizeof(*frame), "DxgkProtectedCallback");
    struct nt_image *image = nt_image_enter(adapter->ddi.image);
    struct nt_call_state state;
    struct nt_call_guard guard;
    uint64_t deadline;

    frame->adapter = &adapter->ddi;
    frame->track = frame->outer ? frame->outer->track : TRACE_PROCESSOR(sim_current->processor);
    adapter->exclusions.bridge_open = NT_SUCCESS(status) &&
                                      exclusion->attributes & DXGK_EXCLUDE_BRIDGE_ACCESS;
    nt_call_state(&state);
    nt_call_guard(&guard, true);
    frame->guard = &guard;
    sim_order_ask_host_of_all();
    deadline = sim_inside_enter(SIM_FOREVER);
    exclusion->callback(adapter->ddi.context, exclusion->context, status);
    nt_call_returned(&guard, true, frame->name);
    sim_order_tell_host();
    sim_inside_leave(deadline);
    nt_call_check(&state, frame->name);
    adapter->exclusions.bridge_open = false;
    ddi_frame_end(frame);
    nt_image_enter(image);
}

/* Make the GPU idle (LIFE-108), empty video memory if asked (LIFE-109), and wait until all other
 * threads have left the driver. */
static NTSTATUS stand_still(const struct exclusion *exclusion)
{
    static const struct port_evacuation how = {.limit_ns = EXCLUSION_LIMIT_NS};
    struct port_adapter *adapter = exclusion->adapter;

    if (exclusion->attributes & DXGK_EXCLUDE_EVICT_ALL)
        return port_evacuate(adapter, &how);
    if (!port_adapter_vidsch(adapter))
        return ddi_exclude_others(&adapter->ddi, EXCLUSION_LIMIT_NS);
    return vidsch_stand_still(port_adapter_vidsch(adapter), EXCLUSION_LIMIT_NS, NULL);
}

static void go_on(const struct exclusion *exclusion)
{
    struct port_adapter *adapter = exclusion->adapter;

    if (exclusion->attributes & DXGK_EXCLUDE_EVICT_ALL)
        (void)port_return(adapter);
    else if (port_adapter_vidsch(adapter))
        vidsch_resume(port_adapter_vidsch(adapter));
}

static void run_exclusion(void *arg)
{
    struct exclusion *exclusion = arg;
    struct port_adapter *adapter = exclusion->adapter;
    NTSTATUS status = stand_still(exclusion);

    if (status == STATUS_IO_TIMEOUT)
        VIOLATION(
            "LIFE-112",
            "the driver was not left within %u s of DxgkCbExcludeAdapterAccess: a DDI waits for its protected callback",
            (unsigned)(EXCLUSION_LIMIT_NS / 1000000000u));
    call_back(exclusion, status); /* LIFE-111 */
    if (NT_SUCCESS(status)) {
        ddi_admit_others(&adapter->ddi);
        go_on(exclusion);
    }
    adapter->exclusions.pending--;
    util_free(exclusion);
}

void port_exclude_wait(struct port_adapter *adapter)
{
    while (adapter->exclusions.pending && !sim_current->stopped)
        sim_block(sim_now() + 1000000, NULL);
}

static NTSTATUS request(struct port_adapter *adapter, const struct exclusion *wanted)
{
    struct exclusion *exclusion = util_alloc(sizeof(*exclusion));
    struct sim_thread *thread;

    if (!exclusion)
        return STATUS_NO_MEMORY;
    *exclusion = *wanted;
    thread = sim_thread_create("exclusion", SIM_THREAD_KERNEL, run_exclusion, exclusion);
    if (!thread) {
        util_free(exclusion);
        return STATUS_NO_MEMORY;
    }
    adapter->exclusions.pending++;
    sim_thread_release(thread);
    return STATUS_SUCCESS;
}

static bool inside_exclusive_ddi(const struct port_adapter *adapter)
{
    const struct ddi_frame *ddi = ddi_current_ddi();

    return ddi && ddi->adapter == &adapter->ddi && ddi->alone;
}

static NTSTATUS NTAPI exclude_adapter_access(HANDLE DeviceHandle, ULONG Attributes,
                                             DXGKDDI_PROTECTED_CALLBACK DxgkProtectedCallback,
                                             PVOID ProtectedCallbackContext)
{
    struct port_callback cb;
    struct exclusion exclusion = {.attributes = Attributes,
                                  .callback = DxgkProtectedCallback,
                                  .context = ProtectedCallbackContext};
    bool synchronous = Attributes & DXGK_EXCLUDE_CALL_SYNCHRONOUS;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbExcludeAdapterAccess",
                                          PORT_CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    exclusion.adapter = cb.adapter;
    if (!DxgkProtectedCallback || Attributes & ~(ULONG)KNOWN_ATTRIBUTES ||
        (synchronous && (Attributes & DXGK_EXCLUDE_EVICT_ALL || !inside_exclusive_ddi(cb.adapter)))) {
        status = refuse(STATUS_INVALID_PARAMETER, "LIFE-109", /* LIFE-110, LIFE-111 */
                        "Attributes 0x%x, callback %p", (unsigned)Attributes,
                        (void *)(uintptr_t)DxgkProtectedCallback);
    } else if (synchronous) {
        call_back(&exclusion, STATUS_SUCCESS);
    } else {
        status = request(cb.adapter, &exclusion);
    }
    return port_callback_return(&cb, status);
}

void port_exclude_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbExcludeAdapterAccess = exclude_adapter_access;
}

bool port_exclude_bridge_open(const struct port_adapter *adapter)
{
    return adapter->exclusions.bridge_open;
}
