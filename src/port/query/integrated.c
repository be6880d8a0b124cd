/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/query/integrated.h"
#include "modes/colorimetry.h"
#include "modes/edid.h"
#include "modes/panel.h"
#include "nt/base/status_name.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "util/alloc.h"

#define ANSWER_BYTES FIELD_OFFSET(DXGK_QUERYINTEGRATEDDISPLAYOUT, Descriptor)
/* DXGK_DISPLAY_DESCRIPTOR_TYPE, which the headers have for C++ alone */
#define TYPE_EDID      1u
#define TYPE_DISPLAYID 2u

const struct modes_panel *port_integrated(const struct port_adapter *adapter, ULONG uid)
{
    for (UINT i = 0; i < adapter->children.panels; i++)
        if (adapter->children.panel[i].target == uid)
            return &adapter->children.panel[i];
    return NULL;
}

void port_integrated_forget(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->children.panels; i++)
        util_free(adapter->children.panel[i].edid);
    util_free(adapter->children.panel);
    adapter->children.panel = NULL;
    adapter->children.panels = 0;
}

/* ---- the descriptor ---- */

static bool is_edid(const uint8_t *edid, UINT bytes)
{
    if (bytes < EDID_BLOCK || bytes % EDID_BLOCK || !edid_block_valid(edid, true) ||
        (1 + edid_extensions(edid)) * EDID_BLOCK != bytes)
        return false;
    for (UINT at = EDID_BLOCK; at < bytes; at += EDID_BLOCK)
        if (!edid_block_valid(edid + at, false))
            return false;
    return true;
}

static NTSTATUS take_descriptor(struct modes_panel *panel, const uint8_t *edid, UINT bytes)
{
    if (!is_edid(edid, bytes))
        PORT_REFUSE("DISP-076",
                    "the descriptor of the integrated display 0x%x, of %u bytes, is no "
                    "EDID with right sums",
                    panel->target, bytes);
    panel->edid = util_alloc(bytes);
    if (!panel->edid)
        return STATUS_NO_MEMORY;
    memcpy(panel->edid, edid, bytes);
    panel->blocks = bytes / EDID_BLOCK;
    return STATUS_SUCCESS;
}

/* ---- the answer ---- */

/* Members that both forms have, at the same places. */
static NTSTATUS take_common(struct modes_panel *panel, const DXGK_QUERYINTEGRATEDDISPLAYOUT *answer)
{
    static const D3DKMDT_VIDEO_SIGNAL_INFO none;
    const char *fault = NULL;

    panel->flags = answer->Flags;
    panel->native = answer->NativeTiming;
    panel->has_native = memcmp((const char *)&panel->native, (const char *)&none, sizeof(none)) != 0;
    panel->link.Capabilities = answer->LinkCapabilities;
    panel->colors = answer->Colorimetry;
    panel->has_colors = !colorimetry_is_zero(&panel->colors);
    panel->technology = answer->DisplayTechnology;
    panel->usage = answer->IntendedUsage;
    panel->instance = answer->Instance;
    if (panel->has_colors)
        fault = colorimetry_fault(&panel->colors);
    if (fault)
        PORT_REFUSE("DISP-076", "Colorimetry of the integrated display 0x%x: %s", panel->target,
                    fault);
    if (answer->Flags.Reserved)
        PORT_REFUSE("DISP-076", "reserved bits of the flags of the integrated display 0x%x: 0x%x",
                    panel->target, answer->Flags.Value);
    return STATUS_SUCCESS;
}

static NTSTATUS refuse_type(const struct modes_panel *panel, UINT type)
{
    PORT_REFUSE("DISP-077", "DescriptorType of the integrated display 0x%x is %u", panel->target,
                type);
}

static NTSTATUS failed(const struct modes_panel *panel, NTSTATUS status)
{
    verify_refusal("DISP-080", "the driver does not describe the integrated display 0x%x: %s",
                   panel->target, nt_status_text(status).text);
    return status;
}

/* DISP-037: the descriptor follows the answer. */
static NTSTATUS query_first(struct port_adapter *adapter, struct modes_panel *panel, UINT bytes)
{
    const DXGK_QAITARGETIN input = {.TargetId = panel->target};
    uint8_t *buffer = util_zalloc(ANSWER_BYTES + bytes + sizeof(DXGK_QUERYINTEGRATEDDISPLAYOUT), 1);
    const DXGK_QUERYINTEGRATEDDISPLAYOUT *answer = (const void *)buffer;
    NTSTATUS status;

    if (!buffer)
        return STATUS_NO_MEMORY;
    status = port_query(adapter, DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR, &input, sizeof(input),
                        buffer, ANSWER_BYTES + bytes);
    if (!NT_SUCCESS(status)) {
        util_free(buffer);
        return failed(panel, status);
    }
    status = take_common(panel, answer);
    if (NT_SUCCESS(status) && answer->DescriptorType != TYPE_EDID)
        status = refuse_type(panel, answer->DescriptorType);
    if (NT_SUCCESS(status))
        status = take_descriptor(panel, buffer + ANSWER_BYTES, bytes);
    util_free(buffer);
    return status;
}

/* The answer has no place for a descriptor. */
static NTSTATUS query_second(struct port_adapter *adapter, struct modes_panel *panel)
{
    const DXGK_QAITARGETIN input = {.TargetId = panel->target};
    DXGK_QUERYINTEGRATEDDISPLAYOUT2 answer;
    DXGK_QUERYINTEGRATEDDISPLAYOUT common;
    NTSTATUS status;

    memset(&answer, 0, sizeof(answer));
    status = port_query(adapter, DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR2, &input, sizeof(input),
                        &answer, sizeof(answer));
    if (!NT_SUCCESS(status))
        return failed(panel, status);
    memcpy(&common, &answer, sizeof(common));
    status = take_common(panel, &common);
    panel->link.DitheringSupport = answer.DitheringSupport;
    if (NT_SUCCESS(status) && answer.DescriptorType != TYPE_EDID &&
        (answer.DescriptorType != TYPE_DISPLAYID ||
         port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_5))
        return refuse_type(panel, answer.DescriptorType);
    return status;
}

/* DISP-076: 0, 1, 2 and so on, in any order. */
static NTSTATUS check_instances(const struct port_adapter *adapter)
{
    const UINT count = adapter->children.panels;

    for (UINT wanted = 0; wanted < count; wanted++) {
        UINT found = 0;

        for (UINT i = 0; i < count; i++)
            found += adapter->children.panel[i].instance == wanted;
        if (found != 1)
            PORT_REFUSE("DISP-076", "%u of %u integrated displays have the instance %u", found,
                        count, wanted);
    }
    return STATUS_SUCCESS;
}

NTSTATUS port_integrated_query(struct port_adapter *adapter)
{
    struct port_children *children = &adapter->children;
    NTSTATUS status = STATUS_SUCCESS;

    if (port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_2 ||
        adapter->ddi.present_display_only) /* DISP-011 */
        return status;
    children->panel = util_zalloc(children->count + 1, sizeof(*children->panel));
    if (!children->panel)
        return STATUS_NO_MEMORY;
    for (ULONG i = 0; NT_SUCCESS(status) && i < children->count; i++) {
        const DXGK_CHILD_DESCRIPTOR *child = &children->child[i];
        const UINT bytes = child->ChildCapabilities.Type.IntegratedDisplayChild.DescriptorLength;
        struct modes_panel *panel = &children->panel[children->panels];

        if (child->ChildDeviceType != TypeIntegratedDisplay)
            continue;
        children->panels++;
        panel->target = child->ChildUid;
        status = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_4
                     ? query_second(adapter, panel)
                     : query_first(adapter, panel, bytes);
    }
    return NT_SUCCESS(status) ? check_instances(adapter) : status;
}
