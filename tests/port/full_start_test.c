/* SPDX-License-Identifier: MIT */
/* A full driver lights a screen: its start, shared primaries, and the order of a mode set. */
#include "port/support/full_display.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MODE_CHANGE        1u

static bool before(const struct probe *p, enum probe_ddi a, unsigned i, enum probe_ddi b, unsigned k)
{
    const struct probe_call *first = probe_nth(p, a, i), *second = probe_nth(p, b, k);

    return first && second && first->order < second->order;
}

/* ---- the start ---- */

TEST(the_first_picture)
{
    struct probe *p = full_display_create(NULL);
    const struct full_address *shown = &full_seen.address[0];

    CHECK_RULE("DISP-001/b", IS(probe_start(p), STATUS_SUCCESS));
    CHECK(display_seen.failure == 0);
    CHECK_RULE("PRES-055", full_seen.described == 2 && full_seen.created == 1);
    CHECK_RULE("PRES-057", full_seen.surface.Width == 1024 && full_seen.surface.Height == 768 &&
                               full_seen.surface.Format == D3DDDIFMT_A8R8G8B8 &&
                               full_seen.surface.VidPnSourceId == 0);
    CHECK_RULE("PRES-058", full_seen.surface.RefreshRate.Numerator == 60 &&
                               full_seen.surface.RefreshRate.Denominator == 1);
    CHECK_RULE("PRES-063", full_seen.private_bytes == 16 && full_seen.resource_bytes == 4);
    CHECK_RULE("PRES-064", full_seen.create_flags.Resource && full_seen.create_resource == NULL &&
                               full_seen.create_count == 1);
    CHECK_RULE("PRES-061/a",
               full_seen.committed[0] == full_seen.primary &&
                   before(p, PROBE_OpenAllocation, 0, PROBE_CommitVidPn, 0) &&
                   before(p, PROBE_GetStandardAllocationDriverData, 1, PROBE_CreateAllocation, 0));
    CHECK_RULE("PRES-153/a",
               full_seen.addresses == 1 &&
                   before(p, PROBE_CommitVidPn, 0, PROBE_SetVidPnSourceAddress, 0) &&
                   before(p, PROBE_SetVidPnSourceAddress, 0, PROBE_SetVidPnSourceVisibility, 0));
    CHECK_RULE("PRES-119/a",
               shown->flags == MODE_CHANGE && shown->contexts == 0 && shown->source == 0);
    CHECK_RULE("PRES-122", shown->allocation == full_seen.primary);
    CHECK_RULE("PRES-129/a", shown->irql == 0);
    CHECK_RULE("DISP-170", before(p, PROBE_CreateDevice, 1, PROBE_CommitVidPn, 0));
    CHECK(display_seen.visible[0]);
    display_end(p);
}

TEST(displays_are_switched_off)
{
    const struct probe_options dark = {.port.no_displays = true};

    for (unsigned sources = 0; sources < 2; sources++) {
        struct probe *p = full_display_create(&dark);

        display.sources = display.outputs = sources;
        CHECK_RULE("DISP-001/a",
                   IS(probe_start(p), sources ? STATUS_NOT_SUPPORTED : STATUS_SUCCESS) &&
                       display_seen.commits == 0 && probe_count(p, PROBE_QueryChildStatus) == 0);
        probe_destroy(p);
    }
}

/* ---- the last of the capability queries ---- */

static UINT extension_given;

static void note_extension(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *q = (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];

    (void)p;
    if (q->Type == DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION)
        extension_given = *(const UINT *)q->pOutputData;
}

TEST(what_else_displays_can_do_is_asked_last)
{
    static const UINT claimed[] = {0, DXGKDDI_WDDMv1_3, DXGKDDI_WDDMv2};

    for (size_t i = 0; i < sizeof(claimed) / sizeof(claimed[0]); i++) {
        const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_0};
        struct probe *p = full_display_create(&options);
        const struct probe_call *extension, *system;

        if (claimed[i] != DXGKDDI_WDDMv2)
            probe_make_1x(p);
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)claimed[i];
        p->before[PROBE_QueryAdapterInfo] = note_extension;
        extension_given = 99;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        extension = probe_query(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION, 0);
        CHECK_RULE("DISP-166/a",
                   extension && (int)extension->query_type == 16 &&
                       probe_queries(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION) == 1 &&
                       extension->query.OutputDataSize == 4 && extension_given == 0);
        if (claimed[i] == DXGKDDI_WDDMv2) {
            system = probe_nth(p, PROBE_CreateProcess, 0);
            CHECK_RULE("DISP-166/a", probe_query(p, DXGKQAITYPE_HISTORYBUFFERPRECISION, 0)->left <=
                                             extension->order &&
                                         extension->left <= system->order);
            for (size_t k = 0; k < probe_count(p, PROBE_QueryAdapterInfo); k++)
                CHECK_RULE("DISP-166/a",
                           probe_nth(p, PROBE_QueryAdapterInfo, k)->order <= extension->order ||
                               probe_nth(p, PROBE_QueryAdapterInfo, k)->order > system->order);
        }
        display_end(p);
    }
}

TEST(who_is_not_asked_what_else_displays_can_do)
{
    const struct probe_options older = {.version = DXGKDDI_INTERFACE_VERSION_WDDM1_3};
    struct probe *p = full_display_create(&older);

    probe_make_1x(p);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-166/c", probe_queries(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION) == 0);
    display_end(p);

    p = probe_create(NULL); /* one without displays */
    CHECK_RULE("DISP-166/c", IS(probe_start(p), STATUS_SUCCESS) &&
                                 probe_queries(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION) == 0);
    probe_destroy(p);
}

/* ---- where the picture is ---- */

static void look_at_address(struct probe *p)
{
    const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(p->adapter[0],
                                                          full_seen.address[0].segment - 1);
    const uint64_t offset = full_seen.address[0].address - (uint64_t)segment->BaseAddress.QuadPart;

    CHECK_RULE("PRES-120", full_seen.address[0].segment == 1);
    CHECK_RULE("PRES-121", offset < segment->Size && offset % 4096 == 0);
}

TEST(where_the_primary_is)
{
    struct probe *p = full_display_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, look_at_address);
}

/* ---- other modes ---- */

static bool shown[8]; /* what the n-th call of SetVidPnSourceVisibility said */

static void note_visibility(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY *args =
        (const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)call->arg[1];
    const size_t n = probe_count(p, PROBE_SetVidPnSourceVisibility) - 1;

    shown[n % 8] = args->Visible != FALSE;
    display_seen.visible[args->VidPnSourceId] = args->Visible != FALSE;
}

static void another_mode(struct probe *p)
{
    const HANDLE first = full_seen.primary;
    const unsigned closed = (unsigned)probe_count(p, PROBE_CloseAllocation);

    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK_RULE("VIDPN-188/b", probe_count(p, PROBE_SetVidPnSourceVisibility) == 3 && shown[0] &&
                                  !shown[1] && shown[2]);
    CHECK_RULE("VIDPN-188/b",
               before(p, PROBE_SetVidPnSourceVisibility, 1, PROBE_CommitVidPn, 1) &&
                   before(p, PROBE_CommitVidPn, 1, PROBE_SetVidPnSourceAddress, 1) &&
                   before(p, PROBE_SetVidPnSourceAddress, 1, PROBE_SetVidPnSourceVisibility, 2));
    CHECK_RULE("PRES-061/b", full_seen.created == 2 && full_seen.primary != first &&
                                 full_seen.committed[1] == full_seen.primary);
    CHECK_RULE("PRES-057", full_seen.surface.Width == 800 && full_seen.surface.Height == 600);
    CHECK_RULE("PRES-061/c",
               probe_count(p, PROBE_CloseAllocation) == closed + 1 &&
                   probe_count(p, PROBE_DestroyAllocation) == closed + 1 &&
                   before(p, PROBE_CommitVidPn, 1, PROBE_CloseAllocation, closed) &&
                   before(p, PROBE_SetVidPnSourceVisibility, 2, PROBE_CloseAllocation, closed));
    CHECK_RULE("PRES-153/b",
               full_seen.addresses == 2 && full_seen.address[1].allocation == full_seen.primary &&
                   before(p, PROBE_CreateAllocation, 1, PROBE_SetVidPnSourceVisibility, 1) &&
                   before(p, PROBE_SetVidPnSourceVisibility, 1, PROBE_CommitVidPn, 1) &&
                   before(p, PROBE_CommitVidPn, 1, PROBE_SetVidPnSourceAddress, 1) &&
                   before(p, PROBE_SetVidPnSourceAddress, 1, PROBE_SetVidPnSourceVisibility, 2));

    /* the same mode, turned: the primary stays */
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 1)));
    CHECK_RULE("PRES-061/d", full_seen.created == 2);

    /* the driver refuses to describe one: all stays */
    full.described_status = STATUS_NO_MEMORY;
    CHECK_RULE("PRES-062", IS(display_ask_mode(p, 0, 640, 480, 0), STATUS_NO_MEMORY) &&
                               full_seen.created == 2 && display_seen.visible[0]);
    CHECK_RULE("PRES-071/a", display_seen.commits == probe_count(p, PROBE_CommitVidPn) &&
                                 display_seen.commit[display_seen.commits - 1].size.cx == 800);
    full.described_status = STATUS_SUCCESS;

    /* it refuses to show the new one: the old mode comes back */
    full.address_status = STATUS_UNSUCCESSFUL;
    CHECK_RULE("PRES-132/a", IS(display_ask_mode(p, 0, 640, 480, 0), STATUS_UNSUCCESSFUL));
    full.address_status = STATUS_SUCCESS;
    CHECK_RULE("PRES-132/a", display_seen.commit[display_seen.commits - 1].size.cx == 800 &&
                                 display_seen.visible[0]);
}

TEST(each_mode_has_its_primary)
{
    struct probe *p = full_display_create(NULL);

    p->before[PROBE_SetVidPnSourceVisibility] = note_visibility;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, another_mode);
    CHECK(full_seen.created >= 2);
}

/* ---- power ---- */

static void off_and_on(struct probe *p)
{
    const HANDLE primary = full_seen.primary;

    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK_RULE("PRES-061/e",
               probe_count(p, PROBE_DestroyAllocation) == 0 && full_seen.committed[1] == NULL);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK_RULE("PRES-247",
               full_seen.created == 1 && full_seen.committed[2] == primary &&
                   full_seen.addresses == 2 && full_seen.address[1].allocation == primary &&
                   full_seen.address[1].flags == MODE_CHANGE && display_seen.visible[0]);
}

TEST(a_display_that_is_off_keeps_its_primary)
{
    struct probe *p = full_display_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, off_and_on);
}

static void sleep_and_wake(struct probe *p)
{
    const struct full_address first = full_seen.address[0];

    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionNone)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK_RULE("PRES-250", full_seen.created == 1 && full_seen.addresses == 2 &&
                               full_seen.address[1].allocation == first.allocation &&
                               display_seen.commit[display_seen.commits - 1].power &&
                               display_seen.visible[0]);
}

TEST(the_adapter_sleeps)
{
    struct probe *p = full_display_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, sleep_and_wake);
}

/* Transfers of the primary, and the order of the first one back. */
static struct {
    UINT out, in;
    uint64_t in_order;
} moved;

static void note_transfer(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation != DXGK_OPERATION_VIRTUAL_TRANSFER ||
        op->TransferVirtual.hAllocation != full_seen.primary)
        return;
    if (op->TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM)
        moved.out++;
    else if (!moved.in++)
        moved.in_order = call->order;
}

static void content_returns(struct probe *p)
{
    memset(&moved, 0, sizeof(moved));
    p->before[PROBE_BuildPagingBuffer] = note_transfer;
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(moved.out && !moved.in);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK_RULE(
        "PRES-061/e",
        moved.in &&
            moved.in_order <
                probe_nth(p, PROBE_CommitVidPn, probe_count(p, PROBE_CommitVidPn) - 1)->order);
}

TEST(the_primary_returns_before_the_display_is_lit)
{
    struct probe *p = full_display_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, content_returns);
}

/* Where the primary of the first mode was, there is room for it by then. */
static void elsewhere(struct probe *p)
{
    const struct full_address *last = &full_seen.address[1];

    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK(full_seen.addresses == 2 && last->address != full_seen.address[0].address);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    last = &full_seen.address[full_seen.addresses - 1];
    CHECK_RULE("PRES-061/e", last->allocation == full_seen.primary &&
                                 last->address == full_seen.address[0].address);
}

TEST(the_primary_returns_to_another_place)
{
    struct probe *p = full_display_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, elsewhere);
}

/* ---- what is wrong ---- */

static void shrink(DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args)
{
    if (args->pAllocationPrivateDriverData)
        args->pCreateSharedPrimarySurfaceData->Width = 1000;
}

static void small(DXGK_ALLOCATIONINFO *info)
{
    info->Size = 1024 * 768 * 4 - 1;
}

static DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 more_flags;

static void with_more_flags(DXGK_ALLOCATIONINFO *info)
{
    info->FlagsWddm2.CpuVisible = 0; /* without it two of them would be findings of their own */
    info->FlagsWddm2.Value |= more_flags.Value;
}

TEST(a_primary_that_is_not_as_it_was_asked_for)
{
    struct probe *p = full_display_create(NULL);

    full.in_described = shrink;
    CHECK_RULE("PRES-059", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "PRES-059") == 1 &&
                               probe_said(p, "PRES-059", "1000 x 768"));
    display_end(p);

    p = full_display_create(NULL);
    full.in_create = small;
    CHECK_RULE("PRES-080", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "PRES-080") == 1);
    display_end(p);
}

/* What is left of it is a primary as any other; in strict mode there is none. */
TEST(flags_that_no_primary_has)
{
    static const DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags[] = {{.PermanentSysMem = 1},
                                                             {.Cached = 1},
                                                             {.Protected = 1},
                                                             {.ExistingSysMem = 1},
                                                             {.ExistingKernelSysMem = 1}};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        for (unsigned refused = 0; refused < 2; refused++) {
            const struct probe_options options = {.strict = refused};
            struct probe *p = full_display_create(&options);

            more_flags = flags[i];
            full.in_create = with_more_flags;
            CHECK(IS(probe_start(p), STATUS_SUCCESS));
            CHECK_RULE("PRES-075", probe_rule(p, "PRES-075") == 1 &&
                                       (refused || probe_reports(p, VERIFY_WARNING) == 1) &&
                                       full_seen.addresses == !refused &&
                                       display_seen.visible[0] == !refused);
            display_end(p);
        }
}

TEST(what_a_full_driver_needs)
{
    const struct probe_options strict = {.strict = true};
    struct probe *p = full_display_create(NULL);

    probe_set_entry(p, PROBE_SetVidPnSourceAddress, false);
    CHECK_RULE("PRES-091/a", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 probe_rule(p, "PRES-091") == 1);
    probe_destroy(p);
    p = full_display_create(NULL);
    probe_set_entry(p, PROBE_Present, false);
    CHECK_RULE("PRES-091/b", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "PRES-091") == 1);
    display_end(p);
    p = full_display_create(&strict);
    probe_set_entry(p, PROBE_Present, false);
    CHECK_RULE("PRES-091/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR));
    probe_destroy(p);
    p = full_display_create(NULL);
    probe_set_entry(p, PROBE_GetScanLine, false);
    CHECK_RULE("PRES-091/c", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "PRES-091") == 1);
    display_end(p);

    for (UINT flips = 0; flips < 2; flips++) {
        p = full_display_create(NULL);
        p->caps.MaxQueuedFlipOnVSync = flips;
        CHECK_RULE("PRES-140/a", IS(probe_start(p), STATUS_SUCCESS) &&
                                     (probe_rule(p, "PRES-140") == 1) == !flips);
        display_end(p);
    }
    for (UINT flips = 64; flips < 66; flips++) {
        p = full_display_create(NULL);
        p->caps.MaxQueuedFlipOnVSync = flips;
        CHECK_RULE("PRES-140/b", NT_SUCCESS(probe_start(p)) == (flips == 64) &&
                                     (probe_rule(p, "PRES-140") == 1) == (flips == 65));
        if (flips == 64)
            display_end(p);
        else
            probe_destroy(p);
    }
}

TEST(caps_that_windows_does_not_insist_on)
{
    struct probe *p = full_display_create(NULL);

    p->caps.SupportNonVGA = p->caps.SupportSmoothRotation = p->caps.SupportDirectFlip = FALSE;
    p->caps.SupportPerEngineTDR = FALSE;
    p->caps.FlipCaps.Value = 0;
    p->caps.PresentationCaps.SupportKernelModeCommandBuffer = 0;
    memset(&p->caps.PreemptionCaps, 0, sizeof(p->caps.PreemptionCaps));
    CHECK_RULE("DISP-160/a", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-160") == 8 &&
                                 probe_rule(p, "CAPS-029") == 0 && probe_rule(p, "CAPS-030") == 0);
    display_end(p);
    p = full_display_create(NULL);
    p->caps.FlipCaps.FlipIndependent = 0;
    CHECK_RULE("DISP-160/b", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-160") == 1);
    display_end(p);
}
