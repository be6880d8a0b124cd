/* SPDX-License-Identifier: MIT */
/* Answers about monitors that differ in one place: the last bytes, another child, a later block. */
#include "port/support/display.h"
#include "modes/monitor.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MANUFACTURER       9u /* bytes of a base block */
#define PRODUCT            10u
#define SERIAL             15u

/* ---- a driver with the same monitor on each output ---- */

static uint8_t edid[2][128];
static unsigned reads;
static unsigned alternating; /* a byte that is another one in each second read; 0: none */

static void sum_up(uint8_t *block)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
}

/* 1024 x 768 at 60 Hz, and a block behind it without modes. */
static void make_edid(void)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    static const uint8_t timing[18] = {0x64, 0x19, 0x00, 0x40, 0x41, 0x00, 0x26, 0x30, 0x18,
                                       0x88, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18};

    memset(edid, 0, sizeof(edid));
    memcpy(edid[0], header, sizeof(header));
    memcpy(edid[0] + 8, (const uint8_t[]){0x12, 0x34, 0x56, 0x78, 1, 2, 3, 4}, 8);
    edid[0][18] = 1;
    edid[0][19] = 4;
    memset(edid[0] + 38, 1, 16);
    memcpy(edid[0] + 54, timing, sizeof(timing));
    edid[0][126] = 1;
    edid[1][0] = 0x70;
    sum_up(edid[0]);
    sum_up(edid[1]);
}

static void answer_descriptor(struct probe *p, struct probe_call *call)
{
    DXGK_DEVICE_DESCRIPTOR *d = (DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];
    const unsigned n = d->DescriptorOffset / 128;

    (void)p;
    call->answered = true;
    call->result = n < 2 ? STATUS_SUCCESS : (uint32_t)STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    if (n >= 2)
        return;
    if (n == 0 && alternating) {
        edid[0][alternating] = (uint8_t)(reads++ % 2);
        sum_up(edid[0]);
    }
    memcpy(d->DescriptorBuffer, edid[n], 128);
}

static struct probe *with_monitors(UINT outputs)
{
    struct probe *p = display_create(NULL);

    display.sources = display.outputs = outputs;
    reads = alternating = 0;
    make_edid();
    p->before[PROBE_QueryDeviceDescriptor] = answer_descriptor;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, body);
}

/* ---- the two reads of the base block ---- */

static void differs_once(struct probe *p)
{
    CHECK_RULE("DISP-062", reads == 2 && probe_rule(p, "DISP-062") == 1);
}

TEST(two_reads_are_compared_to_their_end)
{
    static const unsigned place[] = {8, 63, 64, 125};

    for (unsigned i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
        struct probe *p = with_monitors(1);

        alternating = place[i];
        run(p, differs_once);
    }
}

/* ---- the container ---- */

static const DXGK_CHILD_CONTAINER_ID *container(const struct probe *p, UINT output)
{
    return &display_modes(p)->target[output].monitor->container;
}

static bool same_guid(const DXGK_CHILD_CONTAINER_ID *a, const DXGK_CHILD_CONTAINER_ID *b)
{
    return memcmp(&a->ContainerId, &b->ContainerId, sizeof(GUID)) == 0;
}

/* A monitor that differs from the last in one byte of its base block. */
static void exchange(struct probe *p, unsigned byte)
{
    display_indicate(p, 0, false);
    edid[0][byte] ^= 1;
    sum_up(edid[0]);
    display_indicate(p, 0, true);
}

static void named(struct probe *p)
{
    const DXGK_CHILD_CONTAINER_ID first = *container(p, 0);
    DXGK_CHILD_CONTAINER_ID before;

    CHECK_RULE("DISP-074/b", !same_guid(&first, container(p, 1)));
    CHECK_RULE("DISP-074/a", first.EldInfo.PortId != container(p, 1)->EldInfo.PortId &&
                                 first.EldInfo.PortId && first.EldInfo.ManufacturerName == 0x3412);
    for (unsigned byte = MANUFACTURER; byte <= SERIAL; byte += PRODUCT - MANUFACTURER) {
        before = *container(p, 0);
        exchange(p, byte);
        CHECK_RULE("DISP-074/b", !same_guid(&before, container(p, 0)) &&
                                     before.EldInfo.PortId == container(p, 0)->EldInfo.PortId);
        exchange(p, byte);
        CHECK_RULE("DISP-074/b", same_guid(&before, container(p, 0)));
    }
    exchange(p, 24); /* of its features, which name nothing */
    CHECK_RULE("DISP-074/b", same_guid(&first, container(p, 0)));
}

TEST(a_container_is_named_by_its_monitor_and_its_child)
{
    run(with_monitors(2), named);
}

/* ---- a changed monitor ---- */

static UINT enumerations(const struct probe *p)
{
    return (UINT)probe_count(p, PROBE_EnumVidPnCofuncModality);
}

static void later_block(struct probe *p)
{
    UINT before = enumerations(p);

    display_indicate(p, 0, true);
    CHECK_RULE("DISP-050", enumerations(p) == before);
    edid[1][100] ^= 1; /* the base block stays as it is */
    sum_up(edid[1]);
    display_indicate(p, 0, true);
    CHECK_RULE("DISP-050", enumerations(p) > before);
    before = enumerations(p);
    edid[0][126] = 0; /* now without it */
    sum_up(edid[0]);
    display_indicate(p, 0, true);
    CHECK_RULE("DISP-050",
               enumerations(p) > before && display_modes(p)->target[0].monitor->blocks == 1);
}

TEST(a_monitor_is_compared_with_all_its_blocks)
{
    run(with_monitors(1), later_block);
}

/* ---- how it is turned ---- */

static UINT wrong_uid;
static DXGK_CHILD_STATUS_TYPE wrong_type;

static void turn(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_STATUS *status = (DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1];

    (void)p;
    if (status->Type != StatusRotation)
        return;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    status->Rotation.Angle = 90;
    status->ChildUid += wrong_uid;
    if (wrong_type)
        status->Type = wrong_type;
}

static struct probe *turned(void)
{
    struct probe *p = with_monitors(1);

    p->child[0].ChildDeviceType = TypeVideoOutput;
    p->child[0].ChildUid = DISPLAY_CHILD;
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[0].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
    p->child[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_POLLED;
    p->before[PROBE_QueryChildStatus] = turn;
    return p;
}

static void drops(struct probe *p)
{
    CHECK_RULE("DISP-040", probe_rule(p, "DISP-040") == 1 &&
                               probe_record(p, "DISP-040")->severity == VERIFY_ERROR &&
                               display_modes(p)->target[0].angle == 0);
}

static void takes(struct probe *p)
{
    CHECK_RULE("DISP-040",
               probe_rule(p, "DISP-040") == 0 && display_modes(p)->target[0].angle == 90);
}

TEST(an_angle_of_another_child_is_dropped)
{
    wrong_uid = 0;
    wrong_type = StatusUninitialized;
    run(turned(), takes);
    wrong_uid = 1;
    run(turned(), drops);
    wrong_uid = 0;
    wrong_type = StatusConnection;
    run(turned(), drops);
}

/* ---- the interface of monitors ---- */

static void off_but_there(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = NULL;
    const DXGK_MONITOR_INTERFACE *monitors = NULL;
    D3DKMDT_HMONITORSOURCEMODESET handle = NULL;

    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(IS(dxgk->DxgkCbQueryMonitorInterface(dxgk->DeviceHandle,
                                               DXGK_MONITOR_INTERFACE_VERSION_V1, &monitors),
             STATUS_SUCCESS));
    CHECK_RULE("DISP-125", IS(monitors->pfnAcquireMonitorSourceModeSet(
                                  dxgk->DeviceHandle, DISPLAY_CHILD, &handle, &set),
                              STATUS_SUCCESS) &&
                               handle && set);
    CHECK(IS(monitors->pfnReleaseMonitorSourceModeSet(dxgk->DeviceHandle, handle), STATUS_SUCCESS));
}

TEST(a_monitor_that_is_off_is_connected)
{
    run(with_monitors(1), off_but_there);
}

/* ---- what is indicated of a child that is no output ---- */

static void of_no_output(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusMiracastConnection, .ChildUid = DISPLAY_CHILD + 1};

    CHECK_RULE("DISP-047",
               IS(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status),
                  STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "DISP-047") == 1);
}

TEST(a_sink_is_an_output)
{
    struct probe *p = with_monitors(2);

    display.sources = 1;
    p->child[1].ChildDeviceType = TypeOther;
    p->child[1].ChildUid = DISPLAY_CHILD + 1;
    p->child[1].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[1].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_MIRACAST;
    run(p, of_no_output);
}

/* ---- a mode of a monitor whose active size is left open ---- */

static bool adds;

static void recommend(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDMONITORMODES *args = (const DXGKARG_RECOMMENDMONITORMODES *)(uintptr_t)
                                                    call->arg[1];
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = args->pMonitorSourceModeSetInterface;
    D3DKMDT_MONITOR_SOURCE_MODE *mode;

    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (!adds)
        return;
    CHECK(IS(set->pfnCreateNewModeInfo(args->hMonitorSourceModeSet, &mode), STATUS_SUCCESS));
    mode->VideoSignalInfo = display_target_mode(1111, 700).VideoSignalInfo;
    mode->VideoSignalInfo.ActiveSize = (D3DKMDT_2DREGION){0, 0};
    mode->ColorBasis = D3DKMDT_CB_SRGB;
    mode->Origin = D3DKMDT_MCO_DRIVER;
    mode->Preference = D3DKMDT_MP_NOTPREFERRED;
    CHECK(IS(set->pfnAddMode(args->hMonitorSourceModeSet, mode), STATUS_SUCCESS));
}

TEST(an_open_size_matches_any)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = with_monitors(1);

        adds = i != 0;
        p->before[PROBE_RecommendMonitorModes] = recommend;
        display.target_mode[0] = display_target_mode(1111, 700);
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("VIDPN-154", probe_said(p, "VIDPN-153", "accepts") == !adds);
        display_end(p);
    }
}
