/* SPDX-License-Identifier: MIT */
/* Child devices; those of a render adapter are not displays (LIFE-074 to LIFE-083), and displays
 * of an adapter that is run without them (LIFE-069) are only listed. */
#include <string.h>

#include "port/query/children.h"
#include "ddi/ddi.h"
#include "port/query/integrated.h"
#include "port/query/outputs.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "util/alloc.h"

static bool has_child_entries(const struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

    return ddi_has(d, DxgkDdiQueryChildRelations) && ddi_has(d, DxgkDdiQueryChildStatus) &&
           ddi_has(d, DxgkDdiQueryDeviceDescriptor);
}

/* LIFE-078, LIFE-079 */
static NTSTATUS check_child(struct port_adapter *adapter, ULONG index)
{
    DXGK_CHILD_DESCRIPTOR *list = adapter->children.child, *child = &list[index];

    const bool output = child->ChildDeviceType == TypeVideoOutput ||
                        child->ChildDeviceType == TypeIntegratedDisplay;

    if (!adapter->ddi.present_display_only && child->ChildDeviceType != TypeOther &&
        !(output && adapter->displays))
        PORT_REFUSE("LIFE-079", "child %u is of type %d; a render-only adapter has no video outputs",
                    index, (int)child->ChildDeviceType);
    if (child->ChildDeviceType == TypeOther && child->ChildCapabilities.Type.Other.MustBeZero)
        PORT_FINDING(adapter, "LIFE-078", "child %u: MustBeZero of its capabilities is 0x%x", index,
                     child->ChildCapabilities.Type.Other.MustBeZero);
    if (adapter->shows)
        return port_output_check(adapter, index);
    for (ULONG other = 0; other < index; other++)
        if (list[other].ChildUid == child->ChildUid)
            PORT_FINDING(adapter, "LIFE-078", "children %u and %u have the same ChildUid 0x%x",
                         other, index, child->ChildUid);
    return STATUS_SUCCESS;
}

/* LIFE-080: asked only for children whose status can change. */
void port_child_query_status(struct port_adapter *adapter, ULONG index, BOOLEAN quietly)
{
    const DXGK_CHILD_DESCRIPTOR *child = &adapter->children.child[index];
    DXGK_CHILD_STATUS status;

    if (child->ChildCapabilities.HpdAwareness != HpdAwarenessInterruptible &&
        child->ChildCapabilities.HpdAwareness != HpdAwarenessPolled) {
        adapter->children.connected[index] = TRUE;
        return;
    }
    memset(&status, 0, sizeof(status));
    status.Type = StatusConnection;
    status.ChildUid = child->ChildUid;
    if (NT_SUCCESS(ddi_query_child_status(&adapter->ddi, &status, quietly)))
        adapter->children.connected[index] = status.HotPlug.Connected;
}

/* LIFE-081: a generic descriptor, which nothing uses. */
void port_child_query_descriptor(struct port_adapter *adapter, ULONG index)
{
    DXGK_GENERIC_DESCRIPTOR generic;
    DXGK_DEVICE_DESCRIPTOR descriptor;

    memset(&generic, 0, sizeof(generic));
    memset(&descriptor, 0, sizeof(descriptor));
    descriptor.DescriptorLength = sizeof(generic);
    descriptor.DescriptorBuffer = &generic;
    (void)ddi_query_device_descriptor(&adapter->ddi, adapter->children.child[index].ChildUid,
                                      &descriptor);
}

/* LIFE-075, LIFE-076: the array has one element more than there are children, which must stay
 * zero. */
static NTSTATUS query_relations(struct port_adapter *adapter, ULONG children)
{
    DXGK_CHILD_DESCRIPTOR zero;
    NTSTATUS status;

    adapter->children.child = util_zalloc(children + 1, sizeof(*adapter->children.child));
    adapter->children.connected = util_zalloc(children + 1, sizeof(*adapter->children.connected));
    if (!adapter->children.child || !adapter->children.connected)
        return STATUS_NO_MEMORY;
    memset(&zero, 0, sizeof(zero));
    status = ddi_query_child_relations(&adapter->ddi, adapter->children.child,
                                       (children + 1) * (ULONG)sizeof(*adapter->children.child));
    if (children == 0 && /* LIFE-077 */
        (status == STATUS_NOT_IMPLEMENTED || status == STATUS_NOT_SUPPORTED))
        return STATUS_SUCCESS;
    if (!NT_SUCCESS(status))
        return status;
    /* with its padding: no byte may have changed */
    if (memcmp((const char *)&adapter->children.child[children], (const char *)&zero,
               sizeof(zero)) != 0)
        WARNING("LIFE-076", "the terminating child descriptor was changed");
    for (ULONG i = 0; i < children && NT_SUCCESS(status); i++)
        status = check_child(adapter, i);
    if (NT_SUCCESS(status))
        adapter->children.count = children;
    return status;
}

NTSTATUS port_children_query_relations(struct port_adapter *adapter, ULONG children)
{
    if (children && !has_child_entries(adapter))
        PORT_REFUSE(
            "LIFE-074",
            "the driver reports children, but QueryChildRelations, QueryChildStatus or QueryDeviceDescriptor is NULL");
    if (!ddi_has(&adapter->ddi, DxgkDdiQueryChildRelations))
        return STATUS_SUCCESS;
    return query_relations(adapter, children);
}

void port_children_query(struct port_adapter *adapter)
{
    for (ULONG i = 0; i < adapter->children.count; i++) {
        if (adapter->children.child[i].ChildDeviceType != TypeOther)
            continue; /* outputs of displays are left alone (LIFE-069) */
        port_child_query_descriptor(adapter, i);
        port_child_query_status(adapter, i, FALSE);
    }
}

bool port_children_note_status(struct port_adapter *adapter, const DXGK_CHILD_STATUS *status)
{
    struct port_children *children = &adapter->children;
    bool found = false;

    for (ULONG i = 0; i < children->count; i++) {
        if (children->child[i].ChildUid != status->ChildUid)
            continue;
        if (status->Type == StatusConnection)
            children->connected[i] = status->HotPlug.Connected;
        found = true;
    }
    return found;
}

void port_children_forget(struct port_adapter *adapter)
{
    struct port_children *children = &adapter->children;

    port_integrated_forget(adapter);
    util_free(children->child);
    util_free(children->connected);
    *children = (struct port_children){0};
}
