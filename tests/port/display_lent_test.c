/* SPDX-License-Identifier: MIT */
/* What the functions of a VidPN and of a monitor lend to a driver, which writes where it must not. */
#include "port/support/vidpn.h"
#include "modes/monitor.h"
#include "support/test.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

/* Flip bits of a byte of memory that is lent, or beside it. */
static void spoil(const void *lent, ptrdiff_t offset)
{
    volatile uint8_t *at = (volatile uint8_t *)(uintptr_t)lent + offset;

    *at = (uint8_t) ~*at;
}

/* One report so far, which says this. */
static bool is_said(struct probe *p, const char *part)
{
    return probe_rule(p, "LIFE-191") == 1 && probe_said(p, "LIFE-191", part) &&
           probe_record(p, "LIFE-191")->severity == VERIFY_ERROR;
}

TEST_WITH(vidpn, writes_behind_a_path)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    spoil(path, sizeof(*path));
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    CHECK_RULE("LIFE-191", is_said(p, "DxgkDdiEnumVidPnCofuncModality wrote outside of a "
                                      "D3DKMDT_VIDPN_PRESENT_PATH"));
}

TEST_WITH(vidpn, writes_in_front_of_a_path)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    spoil(path, -1);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    CHECK_RULE("LIFE-191", is_said(p, "1 bytes were changed at offset -1 "));
}

/* The structure is the host's again when it is added. */
TEST_WITH(vidpn, writes_behind_a_mode_that_it_adds)
{
    D3DKMDT_VIDPN_SOURCE_MODE *source = vidpn_source_mode(h, h->source, 640, 480);

    spoil(source, sizeof(*source));
    OK(h->s->pfnAddMode(h->source, source));
    CHECK_RULE("LIFE-191", is_said(p, "D3DKMDT_VIDPN_SOURCE_MODE"));
}

/* The last byte is the driver's own. */
TEST_WITH(vidpn, writes_the_last_byte_of_a_mode)
{
    D3DKMDT_VIDPN_TARGET_MODE *target;

    OK(h->g->pfnCreateNewModeInfo(h->target, &target));
    spoil(target, 0);
    spoil(target, sizeof(*target) - 1);
    OK(h->g->pfnReleaseModeInfo(h->target, target));
    CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == 0 && probe_rule(p, "VIDPN-016") == 0);
}

/* ---- what is never released ---- */

static const D3DKMDT_VIDPN_PRESENT_PATH *kept;

static void keep_a_path(struct probe *p, struct hands *h)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *released;

    (void)p;
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &kept));
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &released));
    OK(h->t->pfnReleasePathInfo(h->topology, released));
    spoil(kept, sizeof(*kept) + 3);
    spoil(kept, 0);
    spoil(released, 5);
}

static void is_told(struct probe *p)
{
    CHECK_RULE("LIFE-191", is_said(p, "D3DKMDT_VIDPN_PRESENT_PATH"));
    CHECK_RULE("VIDPN-016", probe_rule(p, "VIDPN-016") == 1);
    CHECK_RULE("VIDPN-017", probe_rule(p, "VIDPN-017") == 1 &&
                                probe_said(p, "VIDPN-017", "offset 5 after its release") &&
                                probe_record(p, "VIDPN-017")->severity == VERIFY_ERROR);
}

TEST(structures_that_are_left)
{
    vidpn_run(&(struct vidpn_case){.in_enum = keep_a_path, .after = is_told});
}

/* ---- monitors ---- */

static HANDLE adapter_of(const struct probe *p)
{
    return p->state[0].dxgk.DeviceHandle;
}

static const DXGK_MONITOR_INTERFACE_V2 *interface_of(const struct probe *p)
{
    const DXGK_MONITOR_INTERFACE *interface = NULL;

    OK(p->state[0].dxgk.DxgkCbQueryMonitorInterface(adapter_of(p),
                                                    DXGK_MONITOR_INTERFACE_VERSION_V2, &interface));
    return (const DXGK_MONITOR_INTERFACE_V2 *)(const void *)interface;
}

static uint8_t block[128];

static void answer_descriptor(struct probe *p, struct probe_call *call)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    const DXGK_DEVICE_DESCRIPTOR *d = (const DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];
    uint8_t sum = 0;

    (void)p;
    memcpy(block, header, sizeof(header));
    block[18] = 1;
    block[19] = 4;
    block[127] = 0;
    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
    memcpy(d->DescriptorBuffer, block, sizeof(block));
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void spoil_descriptor(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_of(p);
    const DXGK_MONITORDESCRIPTORSET_INTERFACE *table;
    const D3DKMDT_MONITOR_DESCRIPTOR *descriptor, *again;
    D3DKMDT_HMONITORDESCRIPTORSET set;

    OK(m->pfnGetMonitorDescriptorSet(adapter_of(p), DISPLAY_CHILD, &set, &table));
    OK(table->pfnAcquireFirstDescriptorInfo(set, &descriptor));
    spoil(descriptor->pData, 128);
    OK(table->pfnReleaseDescriptorInfo(set, descriptor));
    CHECK_RULE("LIFE-191", is_said(p, "the blocks of the descriptors"));
    spoil(descriptor, 2);
    OK(table->pfnAcquireFirstDescriptorInfo(set, &again));
    CHECK_RULE("DISP-149", probe_rule(p, "DISP-149") == 0);
    spoil(again->pData, 127); /* which is never released */
    display_indicate(p, 0, false);
    CHECK_RULE("DISP-149", probe_rule(p, "DISP-149") == 1 &&
                               probe_said(p, "DISP-149", "byte 127 is now 0x") &&
                               probe_record(p, "DISP-149")->severity == VERIFY_ERROR);
    CHECK_RULE("VIDPN-017", probe_said(p, "VIDPN-017", "offset 2 after its release"));
}

TEST(writes_beside_descriptors)
{
    struct probe *p = display_create(NULL);

    p->before[PROBE_QueryDeviceDescriptor] = answer_descriptor;
    OK(probe_start(p));
    probe_end(p, spoil_descriptor);
}

static void spoil_further(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_of(p);
    DXGK_TARGETMODE_DETAIL_TIMING *modes;
    UINT count;

    OK(m->pfnGetAdditionalMonitorModeSet(adapter_of(p), DISPLAY_CHILD, &count, &modes));
    CHECK(count == 1);
    modes->TimingId = 99; /* a copy */
    spoil(modes, sizeof(*modes));
    OK(m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), DISPLAY_CHILD, modes));
    CHECK_RULE("LIFE-191", is_said(p, "the additional modes"));
    OK(m->pfnGetAdditionalMonitorModeSet(adapter_of(p), DISPLAY_CHILD, &count, &modes));
    CHECK_RULE("DISP-130/b", modes->TimingId == 4);
    OK(m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), DISPLAY_CHILD, modes));
}

TEST(writes_beside_additional_modes)
{
    struct probe *p = display_create(NULL);

    p->child[0] = (DXGK_CHILD_DESCRIPTOR){
        .ChildDeviceType = TypeVideoOutput,
        .ChildUid = DISPLAY_CHILD,
        .ChildCapabilities = {.HpdAwareness = HpdAwarenessInterruptible,
                              .Type.VideoOutput = {.InterfaceTechnology = D3DKMDT_VOT_HD15,
                                                   .MonitorOrientationAwareness = D3DKMDT_MOA_NONE}}};
    OK(probe_start(p));
    probe_end(p, spoil_further);
}
