/* SPDX-License-Identifier: MIT */
/* What a driver is asked about the brightness of an integrated panel. */
#include <initguid.h>

#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static struct {
    unsigned asked, references, returned;
    USHORT version[8];
    bool right; /* GUID, size and child */
    bool grant[4];
    unsigned missing; /* version whose last function is NULL; 0: none */
} panel;

static VOID NTAPI count_reference(PVOID context)
{
    (void)context;
    panel.references++;
}

static VOID NTAPI count_return(PVOID context)
{
    CHECK(context == &panel);
    panel.returned++;
}

static void function(void)
{
}

static void offer(struct probe *p, struct probe_call *call)
{
    static const struct {
        const GUID *type;
        USHORT bytes;
    } kinds[] = {{NULL, 0},
                 {&GUID_DEVINTERFACE_BRIGHTNESS, sizeof(DXGK_BRIGHTNESS_INTERFACE)},
                 {&GUID_DEVINTERFACE_BRIGHTNESS_2, sizeof(DXGK_BRIGHTNESS_INTERFACE_2)},
                 {&GUID_DEVINTERFACE_BRIGHTNESS_3, sizeof(DXGK_BRIGHTNESS_INTERFACE_3)}};
    const QUERY_INTERFACE *query = (const QUERY_INTERFACE *)(uintptr_t)call->arg[1];
    const USHORT version = query->Version;
    void (*const filled)(void) = function;

    (void)p;
    panel.version[panel.asked++ % 8] = version;
    panel.right &= version >= 1 && version <= 3 && query->DeviceUid == DISPLAY_CHILD &&
                   memcmp(query->InterfaceType, kinds[version].type, sizeof(GUID)) == 0 &&
                   query->Size == kinds[version].bytes;
    call->answered = true;
    call->result = (uint64_t)STATUS_NOT_SUPPORTED;
    if (version > 3 || !panel.grant[version])
        return;
    *query->Interface = (INTERFACE){.Size = query->Size,
                                    .Version = version,
                                    .Context = &panel,
                                    .InterfaceReference = count_reference,
                                    .InterfaceDereference = count_return};
    for (size_t at = sizeof(INTERFACE); at < query->Size; at += sizeof(filled))
        memcpy((char *)query->Interface + at, &filled, sizeof(filled));
    if (panel.missing == version)
        memset((char *)query->Interface + query->Size - sizeof(filled), 0, sizeof(filled));
    panel.references++; /* of the host, before it has the interface */
    call->result = STATUS_SUCCESS;
}

static struct probe *make(D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    struct probe *p = display_create(NULL);

    memset(&panel, 0, sizeof(panel));
    panel.right = true;
    p->child[0] = (DXGK_CHILD_DESCRIPTOR){
        .ChildDeviceType = TypeVideoOutput,
        .ChildUid = DISPLAY_CHILD,
        .ChildCapabilities = {.HpdAwareness = HpdAwarenessInterruptible,
                              .Type.VideoOutput = {.InterfaceTechnology = technology,
                                                   .MonitorOrientationAwareness = D3DKMDT_MOA_NONE}}};
    probe_set_entry(p, PROBE_QueryInterface, true);
    p->before[PROBE_QueryInterface] = offer;
    return p;
}

static void comes_and_goes(struct probe *p)
{
    CHECK_RULE("DISP-157/a", panel.asked == 3 && panel.right && panel.version[0] == 1 &&
                                 panel.version[1] == 2 && panel.version[2] == 3);
    CHECK_RULE("DISP-157/a", probe_nth(p, PROBE_QueryInterface, 0)->order >
                                 probe_nth(p, PROBE_QueryDeviceDescriptor, 0)->order);
    CHECK_RULE("DISP-158/a", panel.references == 2 && panel.returned == 0);
    display_indicate(p, 0, false);
    CHECK_RULE("DISP-158/a", panel.returned == 2);
    display_indicate(p, 0, true);
    CHECK_RULE("DISP-157/a", panel.asked == 6);
}

TEST(interfaces_of_a_panel)
{
    struct probe *p = make(D3DKMDT_VOT_INTERNAL);

    panel.grant[1] = panel.grant[3] = true;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    (void)probe_run(p, comes_and_goes);
    (void)probe_stop(p); /* with the panel there */
    CHECK_RULE("DISP-158/a", panel.references == 4 && panel.returned == 4);
    CHECK_RULE("DISP-158/b", probe_rule(p, "DISP-158") == 0);
    probe_destroy(p);
}

TEST(another_output_is_not_asked_about)
{
    struct probe *p = make(D3DKMDT_VOT_LVDS);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("DISP-157/b", panel.asked == 0 && display_seen.visible[0]);
    display_end(p);
}

TEST(functions_that_are_missing)
{
    for (unsigned version = 1; version <= 3; version++) {
        struct probe *p = make(D3DKMDT_VOT_INTERNAL);

        panel.grant[1] = panel.grant[2] = panel.grant[3] = true;
        panel.missing = version;
        CHECK(probe_start(p) == STATUS_SUCCESS);
        CHECK_RULE("DISP-158/b", probe_rule(p, "DISP-158") == 1 &&
                                     probe_record(p, "DISP-158")->severity == VERIFY_ERROR);
        display_end(p);
    }
}
