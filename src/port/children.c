/* SPDX-License-Identifier: MIT */
/* Child devices: those of a render adapter are no displays (LIFE-074 to LIFE-083). */
#include <string.h>

#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/irql.h"

#define DESCRIPTOR_GUARD 64u
#define GUARD_FILL       0xA7

static bool has_child_entries(const struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

    return ddi_has(d, DxgkDdiQueryChildRelations) && ddi_has(d, DxgkDdiQueryChildStatus) &&
           ddi_has(d, DxgkDdiQueryDeviceDescriptor);
}

/* LIFE-078, LIFE-079 */
static NTSTATUS check_child(const DXGK_CHILD_DESCRIPTOR *list, ULONG index)
{
    const DXGK_CHILD_DESCRIPTOR *child = &list[index];

    if (child->ChildDeviceType != TypeOther)
        REFUSE("LIFE-079", "child %u is of type %d; a render-only adapter has no video outputs",
               index, (int)child->ChildDeviceType);
    if (child->ChildCapabilities.Type.Other.MustBeZero)
        REFUSE("LIFE-078", "child %u: MustBeZero of its capabilities is 0x%x", index,
               child->ChildCapabilities.Type.Other.MustBeZero);
    for (ULONG other = 0; other < index; other++)
        if (list[other].ChildUid == child->ChildUid)
            REFUSE("LIFE-078", "children %u and %u have the same ChildUid 0x%x", other, index,
                   child->ChildUid);
    return STATUS_SUCCESS;
}

/* LIFE-080: only for children that can change. */
static void query_status(struct port_adapter *adapter, ULONG index)
{
    const DXGK_CHILD_DESCRIPTOR *child = &adapter->child[index];
    DXGK_CHILD_STATUS status;

    if (child->ChildCapabilities.HpdAwareness != HpdAwarenessInterruptible &&
        child->ChildCapabilities.HpdAwareness != HpdAwarenessPolled) {
        adapter->child_connected[index] = TRUE;
        return;
    }
    memset(&status, 0, sizeof(status));
    status.Type = StatusConnection;
    status.ChildUid = child->ChildUid;
    if (NT_SUCCESS(ddi_query_child_status(&adapter->ddi, &status)))
        adapter->child_connected[index] = status.HotPlug.Connected;
}

/* LIFE-081: a generic descriptor, in a buffer with guards around it. */
static NTSTATUS query_descriptor(struct port_adapter *adapter, ULONG index)
{
    const ULONG bytes = sizeof(DXGK_GENERIC_DESCRIPTOR);
    uint8_t *buffer = util_alloc(bytes + 2 * DESCRIPTOR_GUARD);
    DXGK_DEVICE_DESCRIPTOR descriptor;

    if (!buffer)
        return STATUS_NO_MEMORY;
    memset(buffer, GUARD_FILL, bytes + 2 * DESCRIPTOR_GUARD);
    memset(buffer + DESCRIPTOR_GUARD, 0, bytes);
    memset(&descriptor, 0, sizeof(descriptor));
    descriptor.DescriptorLength = bytes;
    descriptor.DescriptorBuffer = buffer + DESCRIPTOR_GUARD;
    (void)ddi_query_device_descriptor(&adapter->ddi, adapter->child[index].ChildUid, &descriptor);
    for (ULONG i = 0; i < DESCRIPTOR_GUARD; i++) {
        if (buffer[i] != GUARD_FILL || buffer[DESCRIPTOR_GUARD + bytes + i] != GUARD_FILL) {
            VIOLATION("LIFE-081", "the descriptor of child 0x%x was written outside its %u bytes",
                      adapter->child[index].ChildUid, bytes);
            break;
        }
    }
    util_free(buffer);
    return STATUS_SUCCESS;
}

/* LIFE-075, LIFE-076: one element more than there are children, which stays zero. */
static NTSTATUS query_relations(struct port_adapter *adapter, ULONG children)
{
    DXGK_CHILD_DESCRIPTOR zero;
    NTSTATUS status;

    adapter->child = util_zalloc(children + 1, sizeof(*adapter->child));
    adapter->child_connected = util_zalloc(children + 1, sizeof(*adapter->child_connected));
    if (!adapter->child || !adapter->child_connected)
        return STATUS_NO_MEMORY;
    memset(&zero, 0, sizeof(zero));
    status = ddi_query_child_relations(&adapter->ddi, adapter->child,
                                       (children + 1) * (ULONG)sizeof(*adapter->child));
    /* LIFE-077: "not mine" of a render-only driver that has none. */
    if (children == 0 && !adapter->ddi.compute_only &&
        (status == STATUS_NOT_IMPLEMENTED || status == STATUS_NOT_SUPPORTED))
        return STATUS_SUCCESS;
    if (!NT_SUCCESS(status))
        return status;
    /* padding included: all of it must be as it was */
    if (memcmp((const char *)&adapter->child[children], (const char *)&zero, sizeof(zero)) != 0)
        VIOLATION("LIFE-076", "the terminating child descriptor was changed");
    for (ULONG i = 0; i < children && NT_SUCCESS(status); i++)
        status = check_child(adapter->child, i);
    if (NT_SUCCESS(status))
        adapter->children = children;
    return status;
}

NTSTATUS port_query_children(struct port_adapter *adapter, ULONG children)
{
    NTSTATUS status;

    if (children && !has_child_entries(adapter))
        REFUSE(
            "LIFE-074",
            "the driver reports children, but QueryChildRelations, QueryChildStatus or QueryDeviceDescriptor is NULL");
    if (!ddi_has(&adapter->ddi, DxgkDdiQueryChildRelations))
        return STATUS_SUCCESS;
    status = query_relations(adapter, children);
    for (ULONG i = 0; i < adapter->children && NT_SUCCESS(status); i++) {
        status = query_descriptor(adapter, i);
        if (NT_SUCCESS(status))
            query_status(adapter, i);
    }
    return status;
}

/* Power of each child (LIFE-155); its failures are reported as those of the adapter. */
void port_children_power(struct port_adapter *adapter, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    for (ULONG i = 0; i < adapter->children; i++) {
        NTSTATUS status = ddi_set_power_state(&adapter->ddi, adapter->child[i].ChildUid, state,
                                              action);

        if (!NT_SUCCESS(status))
            VIOLATION("LIFE-153", "SetPowerState of child 0x%x returned 0x%08x",
                      adapter->child[i].ChildUid, (unsigned)status);
    }
}

NTSTATUS NTAPI port_cb_indicate_child_status(HANDLE DeviceHandle, PDXGK_CHILD_STATUS ChildStatus)
{
    struct callback cb;
    DXGK_CHILD_STATUS copy;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbIndicateChildStatus", CALLER,
                                     SIM_IRQL_DISPATCH, "THREAD-050", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_INVALID_PARAMETER;
    if (ChildStatus && sim_copy_checked(&copy, ChildStatus, sizeof(copy))) {
        for (ULONG i = 0; i < cb.adapter->children; i++) {
            if (cb.adapter->child[i].ChildUid != copy.ChildUid)
                continue;
            if (copy.Type == StatusConnection)
                cb.adapter->child_connected[i] = copy.HotPlug.Connected;
            status = STATUS_SUCCESS;
        }
        if (!NT_SUCCESS(status))
            VIOLATION("LIFE-083", "the adapter has no child 0x%x", copy.ChildUid);
    }
    callback_end(&cb);
    return status;
}

bool port_adapter_child_connected(const struct port_adapter *adapter, ULONG uid)
{
    for (ULONG i = 0; i < adapter->children; i++)
        if (adapter->child[i].ChildUid == uid)
            return adapter->child_connected[i] != FALSE;
    return false;
}
