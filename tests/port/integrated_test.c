/* SPDX-License-Identifier: MIT */
/* Displays that are part of the device: how they are described, and what that makes of them. */
#include "modes/monitor.h"
#include "port/support/panels.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define WDDM(version)      DXGKDDI_INTERFACE_VERSION_WDDM##version

static const struct monitor *monitor_of(const struct probe *p, UINT target)
{
    return modes_target(display_modes(p), target)->monitor;
}

TEST(the_first_form)
{
    struct probe *p = panels_create(WDDM(2_3), 1, 0);
    const struct monitor *monitor;

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-075/a", panel_seen.queries == 1 &&
                                 panel_seen.type[0] == DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR &&
                                 (int)panel_seen.type[0] == 17 && panel_seen.target[0] == FIRST &&
                                 panel_seen.input_bytes[0] == 4);
    CHECK_RULE("DISP-037", panel_seen.output_bytes[0] == 252);
    CHECK_RULE("DISP-072", probe_count(p, PROBE_QueryDeviceDescriptor) == 0 &&
                               probe_count(p, PROBE_QueryChildStatus) == 0);
    monitor = monitor_of(p, FIRST);
    CHECK_RULE("DISP-079", monitor && vidpn_path_to(display_modes(p)->active, FIRST));
    CHECK_RULE("DISP-075/a", monitor->blocks == 1 && memcmp(monitor->edid, panel.edid, 128) == 0 &&
                                 monitor_preferred(monitor)->VideoSignalInfo.ActiveSize.cx == 1280);
    CHECK_RULE("DISP-078", probe_count(p, PROBE_RecommendMonitorModes) == 1);
    CHECK_RULE("DISP-080", probe_rule(p, "DISP-080") == 0);
    display_end(p);
}

TEST(the_second_form)
{
    struct probe *p = panels_create(WDDM(2_4), 2, 1);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-075/b",
               panel_seen.queries == 2 &&
                   panel_seen.type[0] == DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR2 &&
                   (int)panel_seen.type[0] == 23 && panel_seen.target[1] == FIRST + 1 &&
                   panel_seen.input_bytes[0] == 4 && panel_seen.output_bytes[0] == 128);
    CHECK_RULE("DISP-072", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                               probe_nth(p, PROBE_QueryDeviceDescriptor, 0)->arg[1] == FIRST + 2);
    CHECK_RULE("DISP-079", monitor_of(p, FIRST) && monitor_of(p, FIRST + 1));
    display_end(p);
}

TEST(older_drivers_are_not_asked)
{
    struct probe *p = panels_create(WDDM(2_1), 0, 1);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-075/a", panel_seen.queries == 0);
    display_end(p);
}

TEST(a_native_timing)
{
    struct probe *p = panels_create(WDDM(2_3), 1, 1);
    const D3DKMDT_MONITOR_SOURCE_MODE *mode;
    UINT preferred = 0;

    panel.first[0].NativeTiming = full_target_mode(5120, 2160, 60).VideoSignalInfo;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    mode = monitor_preferred(monitor_of(p, FIRST));
    CHECK_RULE("DISP-078", mode->VideoSignalInfo.ActiveSize.cx == 5120 &&
                               mode->VideoSignalInfo.ActiveSize.cy == 2160 &&
                               mode->Origin == D3DKMDT_MCO_DRIVER);
    for (UINT i = 0; i < monitor_of(p, FIRST)->set->count; i++)
        preferred += monitor_of(p, FIRST)->set->mode[i].monitor.Preference == D3DKMDT_MP_PREFERRED;
    CHECK_RULE("DISP-078", preferred == 1 && probe_count(p, PROBE_RecommendMonitorModes) == 1);
    display_end(p);
}

/* ---- what is refused ---- */

static bool refused(struct probe *p, const char *rule)
{
    const NTSTATUS status = probe_start(p);
    const bool told = probe_rule(p, rule) == 1;

    probe_destroy(p);
    return IS(status, STATUS_DEVICE_CONFIGURATION_ERROR) && told;
}

TEST(instances)
{
    struct probe *p = panels_create(WDDM(2_3), 2, 0);

    panel.first[1].Instance = 2;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
    p = panels_create(WDDM(2_4), 2, 0);
    panel.first[1].Instance = 0;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
    p = panels_create(WDDM(2_4), 2, 0);
    panel.first[0].Instance = 1;
    panel.first[1].Instance = 0;
    CHECK_RULE("DISP-076", IS(probe_start(p), STATUS_SUCCESS));
    display_end(p);
}

TEST(descriptors)
{
    struct probe *p = panels_create(WDDM(2_3), 1, 0);

    panel.edid[20]++;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
    p = panels_create(WDDM(2_3), 1, 0);
    p->child[0].ChildCapabilities.Type.IntegratedDisplayChild.DescriptorLength = 256;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
    p = panels_create(WDDM(2_3), 1, 0);
    p->child[0].ChildCapabilities.Type.IntegratedDisplayChild.DescriptorLength = 0;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
    p = panels_create(WDDM(2_4), 1, 0);
    panel.first[0].DescriptorType = 0;
    CHECK_RULE("DISP-077", refused(p, "DISP-077"));
    p = panels_create(WDDM(2_4), 1, 0);
    panel.first[0].DescriptorType = 2;
    CHECK_RULE("DISP-077", refused(p, "DISP-077"));
    p = panels_create(WDDM(2_5), 1, 0);
    panel.first[0].DescriptorType = 3;
    CHECK_RULE("DISP-077", refused(p, "DISP-077"));
    p = panels_create(WDDM(2_5), 1, 0);
    panel.first[0].DescriptorType = 2;
    CHECK_RULE("DISP-077", IS(probe_start(p), STATUS_SUCCESS));
    display_end(p);
}

TEST(colors_and_flags)
{
    struct probe *p = panels_create(WDDM(2_3), 1, 0);

    panel.first[0].Colorimetry = panels_colors();
    CHECK_RULE("DISP-076", IS(probe_start(p), STATUS_SUCCESS) &&
                               monitor_of(p, FIRST)->colors.RedPoint.cx == 680);
    display_end(p);
    p = panels_create(WDDM(2_3), 1, 0);
    panel.first[0].Colorimetry = panels_colors();
    panel.first[0].Colorimetry.BluePoint.cy = 0;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
    p = panels_create(WDDM(2_4), 1, 0);
    panel.first[0].Flags.Reserved = 1;
    CHECK_RULE("DISP-076", refused(p, "DISP-076"));
}

TEST(a_query_that_fails)
{
    struct probe *p = panels_create(WDDM(2_3), 1, 0);

    panel.status = STATUS_NOT_SUPPORTED;
    CHECK_RULE("DISP-080",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "DISP-080") == 1);
    probe_destroy(p);
    p = panels_create(WDDM(2_4), 1, 0);
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    CHECK_RULE("DISP-080", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-080") == 1 &&
                               probe_record(p, "DISP-080")->severity == VERIFY_WARNING);
    CHECK_RULE("DISP-079", monitor_of(p, FIRST) && probe_count(p, PROBE_QueryChildStatus) == 0);
    display_end(p);
}

/* ---- children that are no displays ---- */

TEST(other_children)
{
    struct probe *p = panels_create(WDDM(2_3), 1, 1);

    p->child[1].ChildDeviceType = TypeOther;
    p->child[1].ChildUid = 0x300;
    p->child[1].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-071", probe_count(p, PROBE_QueryDeviceDescriptor) == 1 &&
                               probe_nth(p, PROBE_QueryDeviceDescriptor, 0)->arg[1] == 0x300);
    display_end(p);
}
