/* SPDX-License-Identifier: MIT */
/* Outputs of all kinds, and drivers of all ages, that show a picture in the same way. */
#include "modes/monitor.h"
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static uint8_t block[128];
static bool beyond;

static void make_block(void)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    static const uint8_t timing[18] = {0x64, 0x19, 0x00, 0x40, 0x41, 0x00, 0x26, 0x30, 0x18,
                                       0x88, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18};
    uint8_t sum = 0;

    memset(block, 0, sizeof(block));
    memcpy(block, header, sizeof(header));
    block[18] = 1;
    block[19] = 4;
    memset(block + 38, 1, 16);
    memcpy(block + 54, timing, sizeof(timing));
    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
}

static void give_block(struct probe *p, struct probe_call *call)
{
    const DXGK_DEVICE_DESCRIPTOR *d = (const DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];

    (void)p;
    memcpy(d->DescriptorBuffer, block, sizeof(block));
    if (beyond)
        ((uint8_t *)d->DescriptorBuffer)[128] = 0x5A;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void set_output(struct probe *p, D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    p->child[0] = (DXGK_CHILD_DESCRIPTOR){
        .ChildDeviceType = TypeVideoOutput,
        .ChildUid = DISPLAY_CHILD,
        .ChildCapabilities = {.HpdAwareness = HpdAwarenessInterruptible,
                              .Type.VideoOutput = {.InterfaceTechnology = technology,
                                                   .MonitorOrientationAwareness = D3DKMDT_MOA_NONE}}};
}

static bool is_lit(const struct probe *p)
{
    return display_modes(p)->target[0].monitor && display_seen.commits == 1 &&
           display_seen.commit[0].size.cx == 1024 && display_seen.visible[0];
}

TEST(nothing_but_a_wire_behind_it)
{
    static const D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY kinds[] = {
        D3DKMDT_VOT_HDMI, D3DKMDT_VOT_OTHER, D3DKMDT_VOT_INDIRECT_WIRED, D3DKMDT_VOT_MIRACAST};

    make_block();
    beyond = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct probe *p = display_create(NULL);

        set_output(p, kinds[i]);
        p->before[PROBE_QueryDeviceDescriptor] = give_block;
        CHECK(probe_start(p) == STATUS_SUCCESS);
        CHECK_RULE("DISP-059", is_lit(p) && display_modes(p)->target[0].monitor->blocks == 1 &&
                                   probe_count(p, PROBE_RecommendMonitorModes) == 1);
        display_end(p);
    }
}

/* As drivers of frame buffers do: TRUE, and no descriptor. */
static void no_descriptor(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
}

TEST(a_monitor_that_is_assumed)
{
    struct probe *p = display_create(NULL);

    p->before[PROBE_QueryDeviceDescriptor] = no_descriptor;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("DISP-057", is_lit(p) && !display_modes(p)->target[0].monitor->edid &&
                               display_modes(p)->target[0].monitor->set->count == 7 &&
                               probe_reports(p, VERIFY_WARNING) == 0);
    display_end(p);
}

TEST(descriptors_do_not_pass_their_buffer)
{
    struct probe *p = display_create(NULL);

    make_block();
    beyond = true;
    p->before[PROBE_QueryDeviceDescriptor] = give_block;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("DISP-064/b", probe_rule(p, "LIFE-081") == 2 && /* the base block is read twice */
                                 probe_said(p, "LIFE-081", "offset 128") &&
                                 probe_record(p, "LIFE-081")->severity == VERIFY_ERROR);
    display_end(p);
}

TEST(newer_drivers_are_asked_the_old_way)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WIN8,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_2,
                                    DXGKDDI_INTERFACE_VERSION_WDDM3_0};

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct probe_options options = {.version = versions[i]};
        struct probe *p = display_create(&options);

        CHECK(probe_start(p) == STATUS_SUCCESS);
        CHECK_RULE("DISP-084", is_lit(p) && probe_count(p, PROBE_QueryChildStatus) == 1);
        display_end(p);
    }
}
