/* SPDX-License-Identifier: MIT */
/* Monitors: what drivers say of them, their descriptors, their modes. */
#include "port/support/display.h"
#include "modes/monitor.h"
#include "support/test.h"

#include <string.h>

#define MANY 32u

/* A descriptor of a monitor, with its checks. */
static uint8_t edid[256][128];
static unsigned blocks;          /* that the driver has; 0: it answers `no_edid` */
static NTSTATUS no_edid, at_end; /* and `at_end` after the last block */
static ULONG shorter;            /* bytes that it says of the last block; 0: all */
static bool alternates;          /* another serial number each time */

static struct {
    char steps[128]; /* B0: block 0 is asked; I: container; M: monitor modes; S, E, C: VidPN */
    unsigned descriptors;
    ULONG offset[300], length[300];
    bool zeroed;
    UCHAR *buffer;
    unsigned recommends;
    SIZE_T on_entry; /* modes of the set */
    UINT target;
    DXGK_CHILD_CONTAINER_ID container; /* as it was on entry */
} seen;

static void step(char what)
{
    const size_t at = strlen(seen.steps);

    if (at + 1 < sizeof(seen.steps))
        seen.steps[at] = what;
}

static bool steps_are(const char *wanted)
{
    const bool are = strcmp(seen.steps, wanted) == 0;

    if (!are)
        print_message("steps: %s, wanted: %s\n", seen.steps, wanted);
    memset(seen.steps, 0, sizeof(seen.steps));
    return are;
}

static void sum_up(uint8_t *block)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
}

/* 1024 x 768 at 60 Hz: a detailed timing of VESA's numbers. */
static const uint8_t timing_1024[18] = {0x64, 0x19, 0x00, 0x40, 0x41, 0x00, 0x26, 0x30, 0x18,
                                        0x88, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18};
/* 1280 x 800 at 60 Hz */
static const uint8_t timing_1280[18] = {0x9E, 0x20, 0x00, 0x90, 0x51, 0x20, 0x1F, 0x30, 0x48,
                                        0x80, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1C};

static void make_edid(unsigned count)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};

    memset(edid, 0, sizeof(edid));
    memcpy(edid[0], header, sizeof(header));
    edid[0][8] = 0x12;
    edid[0][9] = 0x34;
    edid[0][10] = 0x56;
    edid[0][11] = 0x78;
    edid[0][12] = 7; /* serial number */
    edid[0][18] = 1;
    edid[0][19] = 4;
    for (unsigned i = 38; i < 54; i++)
        edid[0][i] = 1;
    memcpy(edid[0] + 54, timing_1024, sizeof(timing_1024));
    edid[0][126] = (uint8_t)(count - 1);
    for (unsigned i = 1; i < count; i++)
        edid[i][0] = 0x70; /* nothing with modes */
    for (unsigned i = 0; i < count; i++)
        sum_up(edid[i]);
    blocks = count;
}

static void answer_descriptor(struct probe *p, struct probe_call *call)
{
    DXGK_DEVICE_DESCRIPTOR *d = (DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];
    const unsigned n = d->DescriptorOffset / 128, at = seen.descriptors++ % 300;

    (void)p;
    step('B');
    CHECK_RULE("DISP-060", call->irql == PASSIVE_LEVEL);
    seen.offset[at] = d->DescriptorOffset;
    seen.length[at] = d->DescriptorLength;
    seen.buffer = d->DescriptorBuffer;
    for (unsigned i = 0; i < 128; i++)
        seen.zeroed &= ((const UCHAR *)d->DescriptorBuffer)[i] == 0;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (n >= blocks) {
        call->result = (uint32_t)(blocks ? at_end : no_edid);
        return;
    }
    if (alternates && n == 0) {
        edid[0][12]++;
        sum_up(edid[0]);
    }
    memcpy(d->DescriptorBuffer, edid[n], 128);
    if (shorter && n + 1 == blocks)
        d->DescriptorLength = shorter;
}

/* ---- modes of the driver's ---- */

static D3DKMDT_MONITOR_SOURCE_MODE added[2];
static unsigned adds;
static NTSTATUS recommend_status;

static void recommend(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDMONITORMODES *args = (const DXGKARG_RECOMMENDMONITORMODES *)(uintptr_t)
                                                    call->arg[1];
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = args->pMonitorSourceModeSetInterface;
    D3DKMDT_MONITOR_SOURCE_MODE *mode;
    UINT id;

    (void)p;
    step('M');
    seen.recommends++;
    seen.target = args->VideoPresentTargetId;
    CHECK_RULE("DISP-108", call->irql == PASSIVE_LEVEL &&
                               set->pfnGetNumModes(args->hMonitorSourceModeSet, &seen.on_entry) ==
                                   STATUS_SUCCESS &&
                               seen.on_entry > 0);
    call->answered = true;
    call->result = (uint32_t)recommend_status;
    for (unsigned i = 0; i < adds; i++) {
        CHECK(set->pfnCreateNewModeInfo(args->hMonitorSourceModeSet, &mode) == STATUS_SUCCESS);
        id = mode->Id;
        *mode = added[i];
        mode->Id = id;
        CHECK(set->pfnAddMode(args->hMonitorSourceModeSet, mode) == STATUS_SUCCESS);
    }
}

static D3DKMDT_MONITOR_SOURCE_MODE monitor_mode(UINT width, UINT height,
                                                D3DKMDT_MODE_PREFERENCE preference)
{
    return (D3DKMDT_MONITOR_SOURCE_MODE){
        .VideoSignalInfo = display_target_mode(width, height).VideoSignalInfo,
        .ColorBasis = D3DKMDT_CB_SRGB,
        .Origin = D3DKMDT_MCO_DRIVER,
        .Preference = preference};
}

/* ---- the driver ---- */

static void note_support(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    step('S');
}

static void note_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    (void)args;
    (void)v;
    step('E');
}

static const struct modes_target *target_of(const struct probe *p, UINT output)
{
    return &display_modes(p)->target[output];
}

static bool gone_too_early;

static void note_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    (void)args;
    (void)v;
    step('C');
    gone_too_early |= p->adapters && !target_of(p, 0)->monitor;
}

static struct probe *watched(UINT outputs)
{
    struct probe *p = display_create(NULL);

    memset(&seen, 0, sizeof(seen));
    seen.zeroed = true;
    no_edid = STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    at_end = STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    blocks = adds = 0;
    shorter = 0;
    alternates = gone_too_early = false;
    recommend_status = STATUS_SUCCESS;
    display.sources = display.outputs = outputs;
    p->before[PROBE_QueryDeviceDescriptor] = answer_descriptor;
    p->before[PROBE_RecommendMonitorModes] = recommend;
    p->before[PROBE_IsSupportedVidPn] = note_support;
    display.before_enum = note_enum;
    display.in_commit = note_commit;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static UINT modes_of(const struct probe *p, D3DKMDT_MONITOR_CAPABILITIES_ORIGIN origin)
{
    const struct monitor *monitor = target_of(p, 0)->monitor;
    UINT count = 0;

    for (UINT i = 0; monitor && i < monitor->set->count; i++)
        count += monitor->set->mode[i].monitor.Origin == origin;
    return count;
}

static bool has_defaults(const struct probe *p)
{
    return modes_of(p, D3DKMDT_MCO_DEFAULTMONITORPROFILE) == 7 &&
           !target_of(p, 0)->monitor->blocks && display_seen.commits == 1;
}

static bool active_size(const struct probe *p, UINT source, UINT width, UINT height)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(display_modes(p)->active, source));

    return mode && mode->source.Format.Graphics.PrimSurfSize.cx == width &&
           mode->source.Format.Graphics.PrimSurfSize.cy == height;
}

static NTSTATUS say_status(struct probe *p, const DXGK_CHILD_STATUS *status)
{
    DXGK_CHILD_STATUS copy = *status;

    return p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &copy);
}

static NTSTATUS say(struct probe *p, UINT output, bool connected)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + output};

    status.HotPlug.Connected = connected;
    display.connected[output] = connected;
    return say_status(p, &status);
}

static void look(struct probe *p)
{
    CHECK(display_update(display_modes(p)) == STATUS_SUCCESS);
}

/* ---- descriptor blocks ---- */

static void check_blocks(struct probe *p)
{
    CHECK_RULE("DISP-060", seen.offset[0] == 0 && seen.length[0] == 128 && seen.zeroed);
    CHECK_RULE("DISP-061", seen.offset[0] == 0 && seen.offset[1] == 0 && seen.offset[2] != 0);
    CHECK_RULE("DISP-062", seen.offset[1] == 0 && probe_rule(p, "DISP-062") == 0);
    CHECK_RULE("DISP-063", seen.descriptors == 4 && seen.offset[2] == 128 &&
                               seen.length[2] == 128 && seen.offset[3] == 256);
    CHECK_RULE("DISP-101", steps_are("BBBBMSEEESC"));
    CHECK(target_of(p, 0)->monitor->blocks == 3 &&
          memcmp(target_of(p, 0)->monitor->edid, edid, (size_t)3 * 128) == 0);
    CHECK_RULE("DISP-103", modes_of(p, D3DKMDT_MCO_MONITORDESCRIPTOR) == 1);
}

TEST(blocks_are_read)
{
    struct probe *p = watched(1);

    make_edid(3);
    run(p, check_blocks);
}

static void check_255(struct probe *p)
{
    CHECK_RULE("DISP-064/c", target_of(p, 0)->monitor->blocks == 256 &&
                                 seen.offset[seen.descriptors - 1] == 255 * 128);
}

TEST(as_many_blocks_as_there_may_be)
{
    struct probe *p = watched(1);

    make_edid(256);
    run(p, check_255);
}

static void check_other_serial(struct probe *p)
{
    CHECK_RULE("DISP-062",
               probe_rule(p, "DISP-062") == 1 && target_of(p, 0)->monitor->edid[12] == 9);
}

TEST(the_second_read_counts)
{
    struct probe *p = watched(1);

    make_edid(1);
    alternates = true;
    run(p, check_other_serial);
}

static void check_short(struct probe *p)
{
    CHECK_RULE("DISP-064/a", target_of(p, 0)->monitor->blocks == 1 && seen.descriptors == 3);
}

TEST(a_short_block_is_dropped)
{
    struct probe *p = watched(1);

    make_edid(2);
    shorter = 127;
    run(p, check_short);
}

static void check_longer(struct probe *p)
{
    CHECK_RULE("DISP-064/d",
               target_of(p, 0)->monitor->blocks == 2 && probe_said(p, "DISP-064", "129"));
}

TEST(a_length_that_is_raised)
{
    struct probe *p = watched(1);

    make_edid(2);
    shorter = 129;
    run(p, check_longer);
}

static void check_not_supported(struct probe *p)
{
    CHECK_RULE("DISP-065", has_defaults(p) && seen.descriptors == 1);
    CHECK_RULE("DISP-065", probe_reports(p, VERIFY_WARNING) == 0 && steps_are("BMSEEESC"));
    say(p, 0, false);
    say(p, 0, true);
    look(p);
    CHECK_RULE("DISP-065", seen.descriptors == 2);
}

TEST(no_descriptor_at_all)
{
    run(watched(1), check_not_supported);
}

static void check_no_descriptor(struct probe *p)
{
    CHECK_RULE("DISP-066",
               has_defaults(p) && seen.descriptors == 1 && probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(a_monitor_without_descriptor)
{
    struct probe *p = watched(1);

    no_edid = STATUS_MONITOR_NO_DESCRIPTOR;
    run(p, check_no_descriptor);
}

static void check_end(struct probe *p)
{
    CHECK_RULE("DISP-067", target_of(p, 0)->monitor->blocks == 2 && seen.descriptors == 4 &&
                               seen.offset[3] == 256 && probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(the_descriptor_ends_early)
{
    struct probe *p = watched(1);

    make_edid(2);
    edid[0][126] = 3;
    sum_up(edid[0]);
    run(p, check_end);
}

static void check_odd_status(struct probe *p)
{
    CHECK_RULE("DISP-068", has_defaults(p) && probe_rule(p, "DISP-068") == 1);
}

TEST(descriptor_fails)
{
    struct probe *p = watched(1);

    no_edid = STATUS_UNSUCCESSFUL;
    run(p, check_odd_status);
    p = watched(1);
    no_edid = STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    run(p, check_odd_status);
}

static void inform(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
}

static void check_informed(struct probe *p)
{
    CHECK_RULE("DISP-068", target_of(p, 0)->monitor->blocks == 1 && probe_rule(p, "DISP-068") == 0);
}

TEST(descriptor_informs)
{
    struct probe *p = watched(1);

    make_edid(1);
    p->after[PROBE_QueryDeviceDescriptor] = inform;
    run(p, check_informed);
}

static void check_bad_sum(struct probe *p)
{
    CHECK_RULE("DISP-069", has_defaults(p) && probe_said(p, "DISP-069", "sum"));
}

TEST(a_bit_is_flipped)
{
    struct probe *p = watched(1);

    make_edid(1);
    edid[0][20] ^= 1;
    run(p, check_bad_sum);
}

static void check_bad_header(struct probe *p)
{
    CHECK_RULE("DISP-069", has_defaults(p) && probe_said(p, "DISP-069", "header"));
}

TEST(another_header)
{
    struct probe *p = watched(1);

    make_edid(1);
    edid[0][7] = 1;
    sum_up(edid[0]);
    run(p, check_bad_header);
}

static void check_bad_extension(struct probe *p)
{
    CHECK_RULE("DISP-069",
               target_of(p, 0)->monitor->blocks == 1 && probe_said(p, "DISP-069", "block 1"));
}

TEST(an_extension_with_a_bad_sum)
{
    struct probe *p = watched(1);

    make_edid(3);
    edid[1][20] ^= 1;
    run(p, check_bad_extension);
}

static void write_nothing(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void check_nothing_written(struct probe *p)
{
    CHECK_RULE("DISP-070", has_defaults(p) && probe_rule(p, "DISP-069") == 1);
}

TEST(success_without_bytes)
{
    struct probe *p = watched(1);

    p->before[PROBE_QueryDeviceDescriptor] = write_nothing;
    run(p, check_nothing_written);
}

/* ---- the container ---- */

static NTSTATUS container_status;
static bool changes_container;

static void answer_container(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_CONTAINER_ID *id = (DXGK_CHILD_CONTAINER_ID *)(uintptr_t)call->arg[2];

    (void)p;
    step('I');
    seen.container = *id;
    if (changes_container)
        id->EldInfo.ProductCode = 0x4321;
    call->answered = true;
    call->result = (uint32_t)container_status;
}

static const GUID no_guid;

static struct probe *with_container(NTSTATUS status, bool changes)
{
    struct probe *p = watched(1);

    make_edid(1);
    container_status = status;
    changes_container = changes;
    probe_set_entry(p, PROBE_GetChildContainerId, true);
    p->before[PROBE_GetChildContainerId] = answer_container;
    return p;
}

static DXGK_CHILD_CONTAINER_ID first_container;

static void check_container(struct probe *p)
{
    first_container = seen.container;
    CHECK_RULE("DISP-073/a", steps_are("BBIMSEEESC"));
    CHECK_RULE("DISP-073/a", memcmp(&seen.container.ContainerId, &no_guid, sizeof(no_guid)) != 0 &&
                                 target_of(p, 0)->monitor->container.EldInfo.ProductCode == 0x4321);
    CHECK_RULE("DISP-074/a", seen.container.EldInfo.ManufacturerName == 0x3412 &&
                                 seen.container.EldInfo.ProductCode == 0x7856);
    CHECK_RULE("DISP-101", probe_count(p, PROBE_GetChildContainerId) == 1);
}

static void check_kept(struct probe *p)
{
    CHECK_RULE("DISP-074/b",
               memcmp(&seen.container, &first_container, sizeof(first_container)) == 0);
    CHECK_RULE("DISP-073/b", target_of(p, 0)->monitor->container.EldInfo.ProductCode == 0x7856 &&
                                 probe_rule(p, "DISP-074") == 0);
}

static void check_ignored(struct probe *p)
{
    CHECK_RULE("DISP-074/c", target_of(p, 0)->monitor->container.EldInfo.ProductCode == 0x7856 &&
                                 probe_rule(p, "DISP-074") == 1);
}

TEST(container_of_a_monitor)
{
    run(with_container(STATUS_SUCCESS, true), check_container);
    run(with_container(STATUS_MONITOR_NO_DESCRIPTOR, false), check_kept);
    run(with_container(STATUS_UNSUCCESSFUL, true), check_ignored);
}

/* ---- modes ---- */

static void check_default_modes(struct probe *p)
{
    static const UINT sizes[7][2] = {{640, 480},   {800, 600},   {1024, 768}, {1280, 720},
                                     {1280, 1024}, {1600, 1200}, {1920, 1080}};
    const struct mode_set *set = target_of(p, 0)->monitor->set;

    CHECK_RULE("DISP-106", set->count == 7);
    for (unsigned i = 0; i < 7; i++) {
        const D3DKMDT_MONITOR_SOURCE_MODE *mode = &set->mode[i].monitor;
        const D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES *r = &mode->ColorCoeffDynamicRanges;
        const D3DKMDT_VIDEO_SIGNAL_INFO *s = &mode->VideoSignalInfo;
        const double rate = (double)s->VSyncFreq.Numerator / s->VSyncFreq.Denominator;

        CHECK_RULE("DISP-106", s->ActiveSize.cx == sizes[i][0] && s->ActiveSize.cy == sizes[i][1] &&
                                   rate > 59.5 && rate < 60.5 &&
                                   s->ScanLineOrdering == D3DDDI_VSSLO_PROGRESSIVE &&
                                   s->VideoStandard == D3DKMDT_VSS_VESA_DMT);
        CHECK_RULE("DISP-106",
                   mode->Origin == D3DKMDT_MCO_DEFAULTMONITORPROFILE &&
                       (mode->Preference == D3DKMDT_MP_PREFERRED) == (sizes[i][0] == 1024));
        CHECK_RULE("DISP-107", mode->ColorBasis == D3DKMDT_CB_SRGB && r->FirstChannel == 8 &&
                                   r->SecondChannel == 8 && r->ThirdChannel == 8 &&
                                   r->FourthChannel == 0);
    }
    CHECK_RULE("DISP-108", seen.on_entry == 7 && seen.target == DISPLAY_CHILD);
}

TEST(default_modes)
{
    run(watched(1), check_default_modes);
}

static void check_driver_modes(struct probe *p)
{
    CHECK_RULE("DISP-103", modes_of(p, D3DKMDT_MCO_MONITORDESCRIPTOR) == 1 &&
                               modes_of(p, D3DKMDT_MCO_DRIVER) == 1 && seen.on_entry == 1);
    CHECK_RULE("DISP-140",
               monitor_preferred(target_of(p, 0)->monitor)->VideoSignalInfo.ActiveSize.cx == 1280);
    CHECK_RULE("VIDPN-151/c", active_size(p, 0, 1280, 800));
}

TEST(modes_of_the_driver)
{
    struct probe *p = watched(1);

    make_edid(1);
    added[0] = monitor_mode(1280, 800, D3DKMDT_MP_PREFERRED);
    adds = 1;
    display.source_mode[0] = display_source_mode(1280, 800);
    run(p, check_driver_modes);
}

static void check_follows(struct probe *p)
{
    CHECK_RULE("VIDPN-151/d", active_size(p, 0, 800, 600));
}

/* As virtio drivers add them: a total size, and no active one. */
TEST(preferred_without_active_size)
{
    struct probe *p = watched(1);

    added[0] = monitor_mode(800, 600, D3DKMDT_MP_PREFERRED);
    added[0].VideoSignalInfo.ActiveSize = (D3DKMDT_2DREGION){D3DKMDT_DIMENSION_NOTSPECIFIED,
                                                             D3DKMDT_DIMENSION_NOTSPECIFIED};
    adds = 1;
    run(p, check_follows);
}

static void check_failed_recommendation(struct probe *p)
{
    CHECK_RULE("DISP-110", modes_of(p, D3DKMDT_MCO_DRIVER) == 1);
    CHECK_RULE("DISP-111", probe_rule(p, "DISP-111") == 1 && display_seen.commits == 1);
}

TEST(recommendation_fails)
{
    struct probe *p = watched(1);

    added[0] = monitor_mode(1280, 800, D3DKMDT_MP_NOTPREFERRED);
    adds = 1;
    recommend_status = STATUS_NO_MEMORY;
    run(p, check_failed_recommendation);
}

static void check_recommendations(struct probe *p)
{
    CHECK_RULE("DISP-109", seen.recommends == 1 && seen.target == DISPLAY_CHILD);
    say(p, 1, true);
    look(p);
    CHECK_RULE("DISP-109", seen.recommends == 2 && seen.target == DISPLAY_CHILD + 1);
    say(p, 1, false);
    look(p);
    CHECK_RULE("DISP-109", seen.recommends == 2);
    memset(seen.steps, 0, sizeof(seen.steps));
    say(p, 1, true);
    look(p);
    CHECK_RULE("DISP-101", seen.recommends == 3 && steps_are("BMSEEESC"));
}

TEST(once_for_each_arrival)
{
    struct probe *p = watched(2);

    display.connected[1] = false;
    run(p, check_recommendations);
}

static void check_no_entry(struct probe *p)
{
    CHECK_RULE("DISP-109", has_defaults(p) && seen.recommends == 0);
}

TEST(no_recommendation)
{
    struct probe *p = watched(1);

    probe_set_entry(p, PROBE_RecommendMonitorModes, false);
    run(p, check_no_entry);
}

static void check_departure(struct probe *p)
{
    say(p, 0, false);
    look(p);
    CHECK_RULE("DISP-102",
               display_seen.commits == 2 && !gone_too_early && !target_of(p, 0)->monitor);
}

TEST(departure)
{
    run(watched(1), check_departure);
}

/* ---- what drivers say ---- */

static void check_again(struct probe *p)
{
    const UINT arrival = target_of(p, 0)->monitor->arrival;

    CHECK(active_size(p, 0, 1024, 768));
    memset(seen.steps, 0, sizeof(seen.steps));
    say(p, 0, true);
    say(p, 0, true);
    look(p);
    CHECK_RULE("DISP-050", steps_are("BM"));
    CHECK_RULE("DISP-049/b", seen.recommends == 2 && target_of(p, 0)->monitor->arrival == arrival);
    added[0] = monitor_mode(1280, 800, D3DKMDT_MP_PREFERRED);
    adds = 1;
    display.source_mode[0] = display_source_mode(1280, 800);
    say(p, 0, true);
    look(p);
    CHECK_RULE("DISP-050",
               steps_are("BMSEEESC") && active_size(p, 0, 1280, 800) && display_seen.commits == 2);
    make_edid(1);
    memset(seen.steps, 0, sizeof(seen.steps));
    say(p, 0, true);
    look(p);
    CHECK_RULE("DISP-050", strncmp(seen.steps, "BBMSEEES", 8) == 0);
}

TEST(connected_once_more)
{
    run(watched(1), check_again);
}

static void check_removal_and_arrival(struct probe *p)
{
    const UINT arrival = target_of(p, 0)->monitor->arrival;

    memset(seen.steps, 0, sizeof(seen.steps));
    say(p, 0, false);
    say(p, 0, true);
    look(p);
    CHECK_RULE("DISP-049/a",
               target_of(p, 0)->monitor->arrival == arrival + 1 && steps_are("CBMSEEESC"));
    say(p, 0, false);
    say(p, 0, true);
    say(p, 0, false);
    look(p);
    CHECK_RULE("DISP-049/a", !target_of(p, 0)->monitor && steps_are("C"));
    say(p, 0, false);
    say(p, 0, false);
    look(p);
    CHECK_RULE("DISP-051", steps_are("") && probe_reports(p, VERIFY_WARNING) == 0);
    say(p, 0, true);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("DISP-049/d", target_of(p, 0)->monitor && steps_are("BMSEEESC"));
}

TEST(gone_and_back)
{
    run(watched(1), check_removal_and_arrival);
}

static size_t calls_before, calls_after;

static void say_in_dpc(struct probe *p, struct probe_call *call)
{
    (void)call;
    calls_before = p->calls;
    CHECK_RULE("DISP-048", say(p, 0, false) == STATUS_SUCCESS);
    calls_after = p->calls;
}

static void check_dpc(struct probe *p)
{
    p->before[PROBE_DpcRoutine] = say_in_dpc;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("DISP-048", calls_before != 0 && calls_after == calls_before);
    CHECK_RULE("DISP-049/e", !target_of(p, 0)->monitor &&
                                 probe_nth(p, PROBE_CommitVidPn, 1)->irql == PASSIVE_LEVEL);
}

TEST(said_in_a_dpc)
{
    calls_before = calls_after = 0;
    run(watched(1), check_dpc);
}

static NTSTATUS in_service;

static void say_in_service(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (call->irql > DISPATCH_LEVEL && !in_service)
        in_service = say(p, 0, false);
}

static void check_service(struct probe *p)
{
    p->before[PROBE_InterruptRoutine] = say_in_service;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(PROBE_SECOND / 10);
    p->before[PROBE_InterruptRoutine] = NULL;
    CHECK_RULE("DISP-055", in_service == STATUS_INVALID_DEVICE_REQUEST &&
                               probe_rule(p, "THREAD-060") == 1 && target_of(p, 0)->monitor);
}

TEST(said_in_the_service_routine)
{
    in_service = 0;
    run(watched(1), check_service);
}

static void set_child(struct probe *p, DXGK_CHILD_DEVICE_HPD_AWARENESS awareness,
                      D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology,
                      D3DKMDT_MONITOR_ORIENTATION_AWARENESS orientation)
{
    p->child[0].ChildDeviceType = TypeVideoOutput;
    p->child[0].ChildUid = DISPLAY_CHILD;
    p->child[0].ChildCapabilities.HpdAwareness = awareness;
    p->child[0].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = technology;
    p->child[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = orientation;
}

static void check_always(struct probe *p)
{
    CHECK_RULE("DISP-052",
               say(p, 0, false) == STATUS_INVALID_PARAMETER && probe_rule(p, "DISP-052") == 1);
    look(p);
    CHECK_RULE("DISP-052", display_seen.commits == 1 && target_of(p, 0)->monitor);
    memset(seen.steps, 0, sizeof(seen.steps));
    CHECK_RULE("DISP-052", say(p, 0, true) == STATUS_SUCCESS);
    look(p);
    CHECK_RULE("DISP-052", steps_are("BM"));
}

TEST(always_connected)
{
    struct probe *p = watched(1);

    set_child(p, HpdAwarenessAlwaysConnected, D3DKMDT_VOT_HDMI, D3DKMDT_MOA_NONE);
    run(p, check_always);
}

static void check_polled(struct probe *p)
{
    const size_t asked = probe_count(p, PROBE_QueryChildStatus);

    probe_sleep(60 * PROBE_SECOND);
    CHECK_RULE("DISP-042/a", probe_count(p, PROBE_QueryChildStatus) == asked);
    CHECK_RULE("DISP-053", say(p, 0, false) == STATUS_SUCCESS);
    look(p);
    CHECK_RULE("DISP-053", !target_of(p, 0)->monitor && display_seen.commits == 2 &&
                               probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(polled)
{
    struct probe *p = watched(1);

    set_child(p, HpdAwarenessPolled, D3DKMDT_VOT_HDMI, D3DKMDT_MOA_NONE);
    run(p, check_polled);
}

static void check_angles(struct probe *p)
{
    static const struct {
        UCHAR said;
        UINT is;
    } cases[] = {{90, 90}, {180, 180}, {3, 270}, {1, 90}, {2, 180}, {0, 0}};
    DXGK_CHILD_STATUS status = {.Type = StatusRotation, .ChildUid = DISPLAY_CHILD};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        status.Rotation.Angle = cases[i].said;
        CHECK_RULE("DISP-045", say_status(p, &status) == STATUS_SUCCESS);
        CHECK_RULE("DISP-046/a", target_of(p, 0)->angle == cases[i].is);
    }
    status.Rotation.Angle = 90;
    (void)say_status(p, &status);
    status.Rotation.Angle = 7;
    CHECK_RULE("DISP-046/b", say_status(p, &status) == STATUS_SUCCESS &&
                                 probe_rule(p, "DISP-046") == 1 && target_of(p, 0)->angle == 0);
    look(p);
    CHECK_RULE("DISP-046/c",
               display_seen.commits == 1 && target_of(p, 0)->monitor && seen.recommends == 1);
}

TEST(angles)
{
    struct probe *p = watched(1);

    set_child(p, HpdAwarenessInterruptible, D3DKMDT_VOT_INTERNAL, D3DKMDT_MOA_INTERRUPTIBLE);
    run(p, check_angles);
}

static void check_miracast(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusMiracastConnection, .ChildUid = DISPLAY_CHILD};

    CHECK_RULE("DISP-047", say_status(p, &status) == STATUS_INVALID_PARAMETER &&
                               probe_rule(p, "DISP-047") == 1);
    look(p);
    CHECK_RULE("DISP-047", target_of(p, 0)->monitor);
}

static void check_sink(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusMiracastConnection, .ChildUid = DISPLAY_CHILD};

    CHECK_RULE("DISP-047", say_status(p, &status) == STATUS_SUCCESS);
    look(p);
    CHECK_RULE("DISP-047", !target_of(p, 0)->monitor && probe_rule(p, "DISP-047") == 0);
}

TEST(miracast)
{
    struct probe *p = watched(1);

    run(p, check_miracast);
    p = watched(1);
    set_child(p, HpdAwarenessInterruptible, D3DKMDT_VOT_MIRACAST, D3DKMDT_MOA_NONE);
    run(p, check_sink);
}

static NTSTATUS early[2];

static void say_early(struct probe *p, struct probe_call *call)
{
    (void)call;
    early[0] = say(p, 0, false);
    display.connected[0] = true; /* so the start finds it connected; what was said comes after */
    early[1] = say(p, 3, true);
}

static void check_early(struct probe *p)
{
    CHECK_RULE("DISP-054", early[0] == STATUS_SUCCESS && early[1] == STATUS_SUCCESS &&
                               !target_of(p, 0)->monitor && probe_rule(p, "LIFE-083") == 1 &&
                               display_seen.commits == 0);
}

TEST(said_while_it_starts)
{
    struct probe *p = watched(1);

    p->after[PROBE_StartDevice] = say_early;
    run(p, check_early);
}

/* ---- another monitor ---- */

static void check_other_monitor(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    say(p, 0, false);
    say(p, 0, true);
    look(p);
    CHECK_RULE("VIDPN-151/b", active_size(p, 0, 800, 600));
    edid[0][12]++; /* another one of the kind */
    sum_up(edid[0]);
    say(p, 0, false);
    say(p, 0, true);
    look(p);
    CHECK_RULE("VIDPN-151/b", active_size(p, 0, 1024, 768));
    CHECK(display_ask_mode(p, 0, 640, 480, 0) == STATUS_SUCCESS);
    memcpy(edid[0] + 54, timing_1280, sizeof(timing_1280));
    sum_up(edid[0]);
    say(p, 0, true);
    look(p);
    CHECK_RULE("VIDPN-151/b", !active_size(p, 0, 640, 480));
    CHECK(display_ask_mode(p, 0, 640, 480, 0) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-151/b", active_size(p, 0, 640, 480));
}

TEST(another_monitor)
{
    struct probe *p = watched(1);

    make_edid(1);
    run(p, check_other_monitor);
}
