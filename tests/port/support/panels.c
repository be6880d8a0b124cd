/* SPDX-License-Identifier: MIT */
#include "port/support/panels.h"

#include <string.h>

struct panel_answers panel;
struct panel_record panel_seen;

/* ---- answers ---- */

DXGK_COLORIMETRY panels_colors(void)
{
    DXGK_COLORIMETRY c = {.RedPoint = {680, 320},
                          .GreenPoint = {265, 690},
                          .BluePoint = {150, 60},
                          .WhitePoint = {320, 337},
                          .MinLuminance = 1,
                          .MaxLuminance = 600,
                          .MaxFullFrameLuminance = 400};

    c.FormatBitDepths.Rgb = D3DKMDT_BITS_PER_COMPONENT_10;
    return c;
}

/* 1280 x 800 at 60 Hz. */
static void make_edid(uint8_t *edid)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    static const uint8_t timing[18] = {0x9E, 0x20, 0x00, 0x90, 0x51, 0x20, 0x1F, 0x30, 0x48,
                                       0x80, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1C};
    uint8_t sum = 0;

    memset(edid, 0, 128);
    memcpy(edid, header, sizeof(header));
    edid[8] = 0x12;
    edid[9] = 0x34;
    edid[18] = 1;
    edid[19] = 4;
    for (unsigned i = 38; i < 54; i++)
        edid[i] = 1;
    memcpy(edid + 54, timing, sizeof(timing));
    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + edid[i]);
    edid[127] = (uint8_t)-sum;
}

static void describe(struct probe_call *call, UINT target, bool second)
{
    const UINT at = panel_seen.queries++ % 8;
    const UINT n = target == DISPLAY_CHILD ? 0 : 1;
    uint8_t *out = call->query.pOutputData;

    panel_seen.type[at] = call->query_type;
    panel_seen.target[at] = target;
    panel_seen.input_bytes[at] = call->query.InputDataSize;
    panel_seen.output_bytes[at] = call->query.OutputDataSize;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)panel.status;
    if (!NT_SUCCESS(panel.status))
        return;
    memcpy(out, &panel.first[n], second ? sizeof(panel.first[n]) : 124);
    if (!second && call->query.OutputDataSize >= 124 + sizeof(panel.edid))
        memcpy(out + 124, panel.edid, sizeof(panel.edid));
}

static void override(struct probe_call *call, UINT target)
{
    static const DXGK_COLORIMETRY zero;

    panel_seen.color_queries++;
    panel_seen.color_target = target;
    panel_seen.color_bytes = call->query.OutputDataSize;
    panel_seen.color_zeroed = memcmp(call->query.pOutputData, &zero, sizeof(zero)) == 0;
    panel_seen.color_order = call->order;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)panel.color_status;
    if (NT_SUCCESS(panel.color_status))
        memcpy(call->query.pOutputData, &panel.colors, sizeof(panel.colors));
}

static void query(struct probe *p, struct probe_call *call)
{
    UINT target;

    (void)p;
    memcpy(&target, call->query_input, sizeof(target));
    if (call->query_type == DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR ||
        call->query_type == DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR2)
        describe(call, target, call->query_type == DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR2);
    else if (call->query_type == DXGKQAITYPE_QUERYCOLORIMETRYOVERRIDES)
        override(call, target);
}

struct probe *panels_create(UINT version, UINT panels, UINT others)
{
    const struct probe_options options = {.version = version};
    struct probe *p = full_display_create(&options);

    memset(&panel, 0, sizeof(panel));
    memset(&panel_seen, 0, sizeof(panel_seen));
    make_edid(panel.edid);
    for (UINT i = 0; i < 2; i++) {
        panel.first[i].DescriptorType = 1;
        panel.first[i].Instance = (BYTE)i;
    }
    display.outputs = panels + others;
    display.sources = 2;
    for (UINT i = 0; i < panels; i++) {
        p->child[i].ChildDeviceType = TypeIntegratedDisplay;
        p->child[i].ChildUid = DISPLAY_CHILD + i;
        p->child[i].ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
        p->child[i].ChildCapabilities.Type.IntegratedDisplayChild.InterfaceTechnology =
            D3DKMDT_VOT_DISPLAYPORT_EMBEDDED;
        p->child[i].ChildCapabilities.Type.IntegratedDisplayChild.DescriptorLength = 128;
    }
    p->before[PROBE_QueryAdapterInfo] = query;
    return p;
}
