/* SPDX-License-Identifier: MIT */
/* Sources and children of a display-only driver: how many, of what kind, and what is asked of them. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static const struct probe_options strict = {.strict = true};

static void set_child(struct probe *p, unsigned i, DXGK_CHILD_DEVICE_TYPE type, ULONG uid)
{
    memset(&p->child[i], 0, sizeof(p->child[i]));
    p->child[i].ChildDeviceType = type;
    p->child[i].ChildUid = uid;
    p->child[i].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    if (type == TypeVideoOutput) {
        p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
        p->child[i].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    } else if (type == TypeIntegratedDisplay) {
        p->child[i].ChildCapabilities.Type.IntegratedDisplayChild.InterfaceTechnology =
            D3DKMDT_VOT_INTERNAL;
    }
}

static D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY *technology(struct probe *p, unsigned i)
{
    return &p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology;
}

/* Outputs 0x100, 0x101, ... as the driver describes them by default, to be changed. */
static struct probe *with_outputs(const struct probe_options *options, UINT outputs)
{
    struct probe *p = display_create(options);

    display.outputs = outputs;
    for (unsigned i = 0; i < outputs && i < 4; i++)
        set_child(p, i, TypeVideoOutput, DISPLAY_CHILD + i);
    return p;
}

/* Strict: refused with the finding. Else: told as often, and lit all the same. */
static void is_expected(const char *rule, UINT outputs, void (*change)(struct probe *p),
                        const char *said, bool *refused, bool *told)
{
    struct probe *p = with_outputs(&strict, outputs);

    change(p);
    *refused = IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) && probe_said(p, rule, said);
    probe_destroy(p);
    p = with_outputs(NULL, outputs);
    change(p);
    *told = IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, rule) == 1 &&
            probe_said(p, rule, said) && display_seen.visible[0];
    display_end(p);
}

/* ---- sources ---- */

TEST(sources_are_numbered_from_0)
{
    struct probe *p = display_create(NULL);
    UINT seen = 0;

    display.outputs = display.sources = 3;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    for (UINT i = 0; i < display_seen.commits; i++)
        seen |= 1u << display_seen.commit[i].source;
    CHECK_RULE("DISP-015", seen == 7);
    for (size_t i = 0; i < probe_count(p, PROBE_SetVidPnSourceVisibility); i++)
        CHECK_RULE("DISP-015", ((const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)probe_nth(
                                    p, PROBE_SetVidPnSourceVisibility, i)
                                    ->arg[1]) != NULL &&
                                   display_seen.visible[0] && display_seen.visible[1] &&
                                   display_seen.visible[2] && !display_seen.visible[3]);
    display_end(p);
}

TEST(sources_and_outputs_need_each_other)
{
    struct probe *p = display_create(NULL);

    display.sources = 17;
    CHECK_RULE("DISP-016",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "DISP-016") == 1);
    probe_destroy(p);

    p = display_create(NULL);
    display.sources = 16;
    CHECK_RULE("DISP-016", IS(probe_start(p), STATUS_SUCCESS));
    display_end(p);

    p = display_create(&strict);
    display.outputs = 0;
    CHECK_RULE("DISP-016",
               IS(probe_start(p), STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_TARGET));
    probe_destroy(p);

    p = with_outputs(&strict, 1); /* a child that is no output */
    set_child(p, 0, TypeOther, 9);
    CHECK_RULE("DISP-016",
               IS(probe_start(p), STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_TARGET));
    probe_destroy(p);

    p = display_create(NULL); /* nobody has seen that it is refused */
    display.outputs = 0;
    CHECK_RULE("DISP-016", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-016") == 1 &&
                               display_seen.commits == 0);
    display_end(p);

    p = display_create(NULL);
    display.sources = 0;
    CHECK_RULE("DISP-017",
               IS(probe_start(p), STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_SOURCE) &&
                   probe_count(p, PROBE_StopDevice) == 1);
    probe_destroy(p);

    p = with_outputs(NULL, 1); /* neither */
    display.sources = 0;
    set_child(p, 0, TypeOther, 9);
    CHECK_RULE("DISP-017", IS(probe_start(p), STATUS_SUCCESS));
    display_end(p);
}

/* ---- how many children ---- */

static ULONG many;

static void report_many(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(PULONG)(uintptr_t)call->arg[4] = many;
}

static void describe_many(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_DESCRIPTOR *list = (DXGK_CHILD_DESCRIPTOR *)(uintptr_t)call->arg[1];

    call->answered = true;
    call->result = STATUS_SUCCESS;
    for (ULONG i = 0; i < many; i++) {
        list[i] = p->child[0];
        list[i].ChildUid = 0x200 + i;
    }
}

static void indicate_unknown(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + 1};

    status.HotPlug.Connected = TRUE;
    CHECK_RULE("DISP-018",
               IS(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status),
                  STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-083") == 1);
    status.ChildUid = DISPLAY_CHILD;
    CHECK_RULE("DISP-018",
               IS(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status),
                  STATUS_SUCCESS));
}

TEST(the_table_of_children_is_fixed)
{
    struct probe *p;

    display_run(NULL, indicate_unknown);
    for (many = 64; many <= 65; many++) {
        p = with_outputs(NULL, 1);
        p->after[PROBE_StartDevice] = report_many;
        p->before[PROBE_QueryChildRelations] = describe_many;
        if (many == 64)
            CHECK_RULE("DISP-019", IS(probe_start(p), STATUS_SUCCESS));
        else
            CHECK_RULE("DISP-019",
                       IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "DISP-019") == 1 &&
                           probe_count(p, PROBE_QueryChildRelations) == 0 &&
                           probe_count(p, PROBE_StopDevice) +
                                   probe_count(p, PROBE_StopDeviceAndReleasePostDisplayOwnership) ==
                               1 &&
                           probe_count(p, PROBE_RemoveDevice) == 1);
        display_end(p);
    }
}

/* ---- QueryChildRelations ---- */

static bool is_before(const struct probe *p, enum probe_ddi first, enum probe_ddi second)
{
    return probe_count(p, second) == 0 ||
           probe_nth(p, first, 0)->left <= probe_nth(p, second, 0)->order;
}

static void relations_are_first(struct probe *p)
{
    static const enum probe_ddi later[] = {
        PROBE_QueryAdapterInfo,         PROBE_QueryChildStatus,      PROBE_QueryDeviceDescriptor,
        PROBE_EnumVidPnCofuncModality,  PROBE_CommitVidPn,           PROBE_IsSupportedVidPn,
        PROBE_SetVidPnSourceVisibility, PROBE_RecommendMonitorModes, PROBE_QueryVidPnHWCapability,
    };
    const struct probe_call *call = probe_nth(p, PROBE_QueryChildRelations, 0);

    CHECK_RULE("DISP-020", probe_count(p, PROBE_QueryChildRelations) == 1 &&
                               call->irql == PASSIVE_LEVEL &&
                               call->arg[2] == 2 * sizeof(DXGK_CHILD_DESCRIPTOR) &&
                               call->order >= probe_nth(p, PROBE_StartDevice, 0)->left);
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        CHECK_RULE("DISP-020", is_before(p, PROBE_QueryChildRelations, later[i]));
    CHECK(probe_count(p, PROBE_QueryChildStatus) && probe_count(p, PROBE_QueryDeviceDescriptor));
    probe_restart(p);
}

static void fail_relations(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_NO_MEMORY;
}

TEST(children_are_asked_for_first)
{
    struct probe *p = display_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, relations_are_first) == SIM_DONE);
    display_end(p);

    p = display_create(NULL);
    p->before[PROBE_QueryChildRelations] = fail_relations;
    CHECK_RULE("DISP-021", IS(probe_start(p), STATUS_NO_MEMORY) &&
                               probe_count(p, PROBE_QueryAdapterInfo) == 0 &&
                               probe_count(p, PROBE_QueryChildStatus) == 0);
    probe_destroy(p);
}

/* ---- types ---- */

static void zero_the_last(struct probe *p, struct probe_call *call)
{
    (void)p;
    memset((DXGK_CHILD_DESCRIPTOR *)(uintptr_t)call->arg[1] + 2, 0, sizeof(DXGK_CHILD_DESCRIPTOR));
}

static void zeroed_last(struct probe *p)
{
    p->after[PROBE_QueryChildRelations] = zero_the_last;
}

static void unknown_type(struct probe *p)
{
    p->child[2].ChildDeviceType = (DXGK_CHILD_DEVICE_TYPE)4;
}

static void integrated(struct probe *p)
{
    set_child(p, 1, TypeIntegratedDisplay, 0x300);
}

TEST(children_have_types)
{
    const struct probe_options v2_2 = {.strict = true, .version = DXGKDDI_INTERFACE_VERSION_WDDM2_2};
    const struct probe_options v2_1 = {.strict = true,
                                       .version = DXGKDDI_INTERFACE_VERSION_WDDM2_1_6};
    struct probe *p = with_outputs(&v2_2, 3);
    bool refused, told;

    integrated(p);
    set_child(p, 2, TypeOther, 9);
    CHECK_RULE("DISP-022", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-023") == 0);
    display_end(p);

    p = with_outputs(&v2_1, 2);
    integrated(p);
    CHECK_RULE("DISP-023", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_said(p, "DISP-023", "child 1") &&
                               probe_said(p, "DISP-023", "3"));
    probe_destroy(p);

    is_expected("DISP-023", 3, zeroed_last, "child 2 is of type 0", &refused, &told);
    CHECK_RULE("DISP-023", refused && told);
    is_expected("DISP-023", 3, unknown_type, "child 2 is of type 4", &refused, &told);
    CHECK_RULE("DISP-023", refused && told);
    p = with_outputs(NULL, 3); /* it is left alone */
    display.sources = 3;
    unknown_type(p);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-023", display_seen.commits == 2 && probe_count(p, PROBE_QueryChildStatus) == 2);
    display_end(p);
}

/* ---- identifiers ---- */

static void same_uid(struct probe *p)
{
    p->child[1].ChildUid = p->child[0].ChildUid = 5;
}

static void reserved_uid(struct probe *p)
{
    p->child[1].ChildUid = D3DDDI_ID_UNINITIALIZED;
}

static void any_uid(struct probe *p)
{
    p->child[1].ChildUid = D3DDDI_ID_ANY;
}

static void all_uid(struct probe *p)
{
    p->child[1].ChildUid = D3DDDI_ID_ALL;
}

TEST(children_have_identifiers)
{
    static void (*const reserved[])(struct probe *) = {reserved_uid, any_uid, all_uid};
    struct probe *p = with_outputs(NULL, 1);
    bool refused, told;

    p->child[0].ChildUid = 0x110;
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-024", display_seen.commits == 1 && display_seen.commit[0].target == 0x110 &&
                               probe_nth(p, PROBE_QueryDeviceDescriptor, 0)->arg[1] == 0x110);
    display_end(p);

    p = with_outputs(NULL, 2);
    same_uid(p);
    CHECK_RULE("DISP-025/a", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 probe_said(p, "DISP-025", "children 0 and 1"));
    probe_destroy(p);
    for (size_t i = 0; i < 3; i++) {
        is_expected("DISP-025", 2, reserved[i], "child 1", &refused, &told);
        CHECK_RULE("DISP-025/a", refused && told);
    }
    p = with_outputs(&strict, 1);
    p->child[0].ChildUid = 0;
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
    CHECK_RULE("DISP-025/b", IS(probe_start(p), STATUS_SUCCESS) && display_seen.commits == 1 &&
                                 display_seen.commit[0].target == 0);
    display_end(p);

    for (ULONG acpi = 0; acpi <= 0x400; acpi += 0x400) {
        p = with_outputs(NULL, 2);
        p->child[0].AcpiUid = p->child[1].AcpiUid = acpi;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        if (acpi)
            CHECK_RULE("DISP-028/b", probe_rule(p, "DISP-028") == 1 &&
                                         probe_record(p, "DISP-028")->severity == VERIFY_WARNING);
        else
            CHECK_RULE("DISP-028/a", probe_rule(p, "DISP-028") == 0);
        display_end(p);
    }
}

/* ---- capabilities of outputs ---- */

static void no_awareness(struct probe *p)
{
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessUninitialized;
}

static void unknown_awareness(struct probe *p)
{
    p->child[0].ChildCapabilities.HpdAwareness = (DXGK_CHILD_DEVICE_HPD_AWARENESS)5;
}

TEST(children_tell_of_their_monitors)
{
    struct probe *p;
    bool refused, told;

    for (int kind = HpdAwarenessAlwaysConnected; kind <= HpdAwarenessInterruptible; kind++) {
        p = with_outputs(kind == HpdAwarenessNone ? NULL : &strict, 1);
        p->child[0].ChildCapabilities.HpdAwareness = (DXGK_CHILD_DEVICE_HPD_AWARENESS)kind;
        CHECK(IS(probe_start(p), STATUS_SUCCESS) && display_seen.visible[0]);
        if (kind == HpdAwarenessNone)
            CHECK_RULE("DISP-030/b", probe_rule(p, "DISP-030") == 1 &&
                                         probe_record(p, "DISP-030")->severity == VERIFY_ERROR &&
                                         probe_count(p, PROBE_QueryChildStatus) == 1);
        else
            CHECK_RULE("DISP-029", probe_reports(p, VERIFY_WARNING) == 0 &&
                                       probe_count(p, PROBE_QueryChildStatus) ==
                                           (kind != HpdAwarenessAlwaysConnected));
        display_end(p);
    }
    is_expected("DISP-030", 1, no_awareness, "child 0 is 0", &refused, &told);
    CHECK_RULE("DISP-030/a", refused && told);
    is_expected("DISP-030", 1, unknown_awareness, "child 0 is 5", &refused, &told);
    CHECK_RULE("DISP-030/a", refused && told);
}

static int bad_technology;

static void give_technology(struct probe *p)
{
    *technology(p, 0) = (D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY)bad_technology;
}

TEST(outputs_name_their_connector)
{
    static const int bad[] = {D3DKMDT_VOT_UNINITIALIZED, -3, 7, 0x7FFFFFFF};
    struct probe *p = with_outputs(NULL, 2);
    bool refused, told;

    *technology(p, 1) = (D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY)0x80000000; /* of one source: the panel */
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-031", display_seen.commit[0].target == DISPLAY_CHILD + 1 &&
                               display_modes(p)->target[1].technology == D3DKMDT_VOT_INTERNAL);
    display_end(p);
    p = with_outputs(&strict, 1);
    *technology(p, 0) = (D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY)0xFFFFFFFF;
    CHECK_RULE("DISP-031", IS(probe_start(p), STATUS_SUCCESS) &&
                               display_modes(p)->target[0].technology == D3DKMDT_VOT_OTHER);
    display_end(p);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bad_technology = bad[i];
        is_expected("DISP-032", 1, give_technology, "child 0", &refused, &told);
        CHECK_RULE("DISP-032/a", refused && told);
    }
    for (int good = D3DKMDT_VOT_HD15; good <= D3DKMDT_VOT_INDIRECT_WIRED; good++) {
        if (good == 7)
            continue;
        p = with_outputs(&strict, 1);
        *technology(p, 0) = (D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY)good;
        CHECK_RULE("DISP-032/a", IS(probe_start(p), STATUS_SUCCESS));
        display_end(p);
    }
    p = with_outputs(NULL, 2);
    *technology(p, 0) = *technology(p, 1) = D3DKMDT_VOT_INTERNAL;
    CHECK_RULE("DISP-032/b", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-032") == 1 &&
                                 probe_record(p, "DISP-032")->severity == VERIFY_WARNING);
    display_end(p);
    for (unsigned internal = 0; internal < 2; internal++) { /* the other one is not */
        p = with_outputs(NULL, 2);
        *technology(p, internal) = D3DKMDT_VOT_INTERNAL;
        CHECK_RULE("DISP-032/b",
                   IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-032") == 0);
        display_end(p);
    }
}

static void integrated_bad(struct probe *p)
{
    set_child(p, 0, TypeIntegratedDisplay, DISPLAY_CHILD);
    p->child[0].ChildCapabilities.Type.IntegratedDisplayChild.InterfaceTechnology =
        (D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY)bad_technology;
}

TEST(integrated_displays_name_their_connector)
{
    static const int good[] = {
        D3DKMDT_VOT_INTERNAL,     D3DKMDT_VOT_LVDS, D3DKMDT_VOT_DISPLAYPORT_EMBEDDED,
        D3DKMDT_VOT_UDI_EMBEDDED, D3DKMDT_VOT_DVI,  D3DKMDT_VOT_HDMI,
        D3DKMDT_VOT_D_JPN,        D3DKMDT_VOT_SDI,  D3DKMDT_VOT_DISPLAYPORT_EXTERNAL,
        D3DKMDT_VOT_UDI_EXTERNAL};
    struct probe *p;
    bool refused, told;

    for (int value = D3DKMDT_VOT_UNINITIALIZED; value <= D3DKMDT_VOT_INDIRECT_WIRED; value++) {
        bool is_good = false;

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
            is_good |= good[i] == value;
        bad_technology = value;
        is_expected("DISP-036", 1, integrated_bad, "child 0", &refused, &told);
        CHECK_RULE("DISP-036", refused == !is_good && told == !is_good);
    }
    bad_technology = D3DKMDT_VOT_INTERNAL;
    is_expected("DISP-036", 1, integrated_bad, "child 0", &refused, &told);
    CHECK_RULE("DISP-036", !refused && !told);

    bad_technology = D3DKMDT_VOT_HD15; /* which it then does not have */
    p = with_outputs(NULL, 1);
    integrated_bad(p);
    CHECK_RULE("DISP-036", IS(probe_start(p), STATUS_SUCCESS) &&
                               display_modes(p)->target[0].technology == D3DKMDT_VOT_INTERNAL);
    display_end(p);
}

static unsigned rotations;
static UCHAR angle;

static void answer_rotation(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_STATUS *status = (DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1];

    (void)p;
    if (status->Type != StatusRotation)
        return;
    rotations++;
    CHECK_RULE("DISP-038", status->ChildUid == DISPLAY_CHILD && status->Rotation.Angle == 0 &&
                               call->arg[2] == TRUE);
    status->Rotation.Angle = angle;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void replug(struct probe *p)
{
    CHECK_RULE("DISP-033/b", rotations == 0 && !display_modes(p)->target[0].monitor);
    display_indicate(p, 0, true);
    CHECK_RULE("DISP-033/b", rotations == 1 && display_modes(p)->target[0].angle == 90);
    display_indicate(p, 0, false);
    CHECK_RULE("DISP-033/b", rotations == 1);
}

static struct probe *turned(UINT awareness)
{
    struct probe *p = with_outputs(NULL, 1);

    p->child[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness =
        (D3DKMDT_MONITOR_ORIENTATION_AWARENESS)awareness;
    p->before[PROBE_QueryChildStatus] = answer_rotation;
    rotations = 0;
    angle = 90;
    return p;
}

TEST(outputs_tell_how_they_are_turned)
{
    struct probe *p = turned(D3DKMDT_MOA_UNINITIALIZED);

    CHECK_RULE("DISP-034", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-034") == 1 &&
                               probe_record(p, "DISP-034")->severity == VERIFY_WARNING &&
                               rotations == 0);
    display_end(p);
    p = turned(D3DKMDT_MOA_NONE);
    CHECK_RULE("DISP-033/a", IS(probe_start(p), STATUS_SUCCESS) && rotations == 0 &&
                                 probe_reports(p, VERIFY_WARNING) == 0);
    display_end(p);
    for (UINT i = D3DKMDT_MOA_POLLED; i <= D3DKMDT_MOA_INTERRUPTIBLE; i++) {
        p = turned(i);
        CHECK_RULE("DISP-033/b", IS(probe_start(p), STATUS_SUCCESS) && rotations == 1);
        display_end(p);
    }
    p = turned(D3DKMDT_MOA_POLLED);
    display.connected[0] = false;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, replug);
}
