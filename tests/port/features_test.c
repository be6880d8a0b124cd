/* SPDX-License-Identifier: MIT */
/* Features: who may turn on what, as WDDM 2.6 to 3.1 ask for them, and with versions and interfaces as 3.2 does. */
#include <initguid.h>

#include "nt/cm/registry.h"
#include "port/support/probe.h"

#include <stdio.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

/* ---- features ---- */

static void features_body(struct probe *p)
{
    bool experiments = p->options.port.experiments;
    NTSTATUS status;

    /* HWSCH is granted, HWFLIPQUEUE is not. */
    CHECK_RULE("LIFE-122/a",
               probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) && IS(status, STATUS_SUCCESS));
    CHECK_RULE("LIFE-122/b", !probe_feature_enabled(p, DXGK_FEATURE_HWFLIPQUEUE, &status) &&
                                 IS(status, STATUS_SUCCESS));
    CHECK_RULE("LIFE-123/a", probe_feature_supported(p, DXGK_FEATURE_HWSCH,
                                                     DXGK_FEATURE_SUPPORT_STABLE, &status) &&
                                 IS(status, STATUS_SUCCESS) && probe_rule(p, "LIFE-123") == 0);
    CHECK_RULE("LIFE-123/b", !probe_feature_supported(p, DXGK_FEATURE_HWSCH,
                                                      DXGK_FEATURE_SUPPORT_ALWAYS_OFF, &status) &&
                                 probe_rule(p, "LIFE-123") == 1 &&
                                 probe_record(p, "LIFE-123")->severity == VERIFY_WARNING);
    CHECK_RULE("LIFE-124/a",
               probe_feature_supported(p, DXGK_FEATURE_HWSCH, DXGK_FEATURE_SUPPORT_EXPERIMENTAL,
                                       &status) == experiments &&
                   probe_rule(p, "LIFE-124") == 0);
    CHECK_RULE("LIFE-124/b", !probe_feature_supported(p, DXGK_FEATURE_HWFLIPQUEUE,
                                                      DXGK_FEATURE_SUPPORT_ALWAYS_ON, &status) &&
                                 probe_rule(p, "LIFE-124") == 1 &&
                                 probe_record(p, "LIFE-124")->severity == VERIFY_WARNING);
    CHECK_RULE("LIFE-125/a", !probe_feature_enabled(p, (DXGK_FEATURE_ID)6, &status) &&
                                 IS(status, STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-125/b", !probe_feature_supported(p, (DXGK_FEATURE_ID)6,
                                                      DXGK_FEATURE_SUPPORT_STABLE, &status) &&
                                 IS(status, STATUS_INVALID_PARAMETER));
}

/* ---- the setting of hardware scheduling ---- */

static void set_mode(uint32_t type, uint32_t value)
{
    CHECK(nt_registry_set("\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers",
                          "HwSchMode", type, &value, sizeof(value)));
}

static void mode_body(struct probe *p)
{
    const bool policy = p->options.port.features != 0;
    NTSTATUS status;

    CHECK(probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) == policy);
    set_mode(REG_DWORD, 2);
    CHECK_RULE("LIFE-122/c", probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) &&
                                 probe_feature_supported(p, DXGK_FEATURE_HWSCH,
                                                         DXGK_FEATURE_SUPPORT_STABLE, &status));
    CHECK_RULE("LIFE-122/c", !probe_feature_enabled(p, DXGK_FEATURE_HWFLIPQUEUE, &status));
    set_mode(REG_DWORD, 1);
    CHECK_RULE("LIFE-122/d", !probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status));
    set_mode(REG_DWORD, 0);
    CHECK_RULE("LIFE-122/e", probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) == policy);
    set_mode(REG_BINARY, policy ? 1 : 2);
    CHECK_RULE("LIFE-122/e", probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) == policy);
}

TEST(the_registry_decides_on_hardware_scheduling)
{
    for (unsigned policy = 0; policy < 2; policy++) {
        const struct probe_options options = {.port = {.features = policy}};
        struct probe *p = probe_create(&options);

        CHECK(NT_SUCCESS(probe_start(p)));
        probe_end(p, mode_body);
    }
}

static void ask_for_scheduling(struct probe *p, struct probe_call *call)
{
    NTSTATUS status;

    (void)call;
    (void)probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status);
}

TEST(features)
{
    for (unsigned experiments = 0; experiments < 2; experiments++) {
        const struct probe_options options = {
            .port = {.features = 1u << DXGK_FEATURE_HWSCH, .experiments = experiments != 0}};
        struct probe *p = probe_create(&options);

        CHECK(NT_SUCCESS(probe_start(p)));
        probe_end(p, features_body);
    }
    for (unsigned asks = 0; asks < 2; asks++) {
        const struct probe_options options = {.port = {.features = 1u << DXGK_FEATURE_HWSCH}};
        struct probe *p = probe_create(&options);

        p->node[1].Flags.ContextSchedulingSupported = 1;
        p->after[PROBE_StartDevice] = asks ? ask_for_scheduling : NULL;
        CHECK_RULE("LIFE-126", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-126") == !asks);
        probe_destroy(p);
    }
}

/* ---- WDDM 3.2: what the driver says ---- */

struct said {
    UINT16 min, max; /* 0: not supported */
    bool not_here;   /* on this configuration */
};

static struct said said[64];
static unsigned asked[64], given_back;
static bool experimental[64];

static NTSTATUS NTAPI query_support(HANDLE adapter, INOUT_PDXGKARG_QUERYFEATURESUPPORT args)
{
    const struct said *answer = &said[args->FeatureId];

    CHECK(adapter == probe->state[0].context && KeGetCurrentIrql() == PASSIVE_LEVEL);
    asked[args->FeatureId]++;
    experimental[args->FeatureId] = args->AllowExperimental;
    args->SupportedByDriver = answer->max != 0;
    args->SupportedOnCurrentConfig = answer->max && !answer->not_here;
    args->MinSupportedVersion = answer->min;
    args->MaxSupportedVersion = answer->max;
    return STATUS_SUCCESS;
}

static VOID NTAPI nothing(PVOID context)
{
    (void)context;
}

static VOID NTAPI give_back(PVOID context)
{
    given_back += context == &given_back;
}

/* DxgkDdiQueryInterface of a driver that has the feature interface. */
static void offer_interface(struct probe *p, struct probe_call *call)
{
    const QUERY_INTERFACE *query = (const QUERY_INTERFACE *)(uintptr_t)call->arg[1];
    PDXGKDDI_FEATURE_INTERFACE interface = (PDXGKDDI_FEATURE_INTERFACE)(void *)query->Interface;

    (void)p;
    call->answered = true;
    call->result = (uint32_t)STATUS_NOT_SUPPORTED;
    if (memcmp(query->InterfaceType, &GUID_WDDM_INTERFACE_FEATURE, sizeof(GUID)) != 0 ||
        query->Size < sizeof(*interface) || query->Version != DXGK_FEATURE_INTERFACE_VERSION_1)
        return;
    interface->Size = sizeof(*interface);
    interface->Version = DXGK_FEATURE_INTERFACE_VERSION_1;
    interface->Context = &given_back;
    interface->InterfaceReference = nothing;
    interface->InterfaceDereference = give_back;
    interface->QueryFeatureSupport = query_support;
    call->result = STATUS_SUCCESS;
}

static DXGK_FEATURE_INTERFACE host;
static NTSTATUS host_status;

static void ask_host(struct probe *p, struct probe_call *call)
{
    (void)call;
    memset(&host, 0, sizeof(host));
    host.Size = sizeof(host);
    host.Version = DXGK_FEATURE_INTERFACE_VERSION_1;
    host_status = DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesFeature,
                                           (PINTERFACE)(void *)&host);
}

static void return_host(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    if (NT_SUCCESS(host_status))
        host.InterfaceDereference(host.Context);
}

static DXGK_ISFEATUREENABLED_RESULT state_of(struct probe *p, DXGK_FEATURE_ID feature,
                                             NTSTATUS *status)
{
    DXGKARGCB_ISFEATUREENABLED2 args = {.FeatureId = feature, .Result.Value = 0xFFFF};

    *status = host.IsFeatureEnabled(DXGK.DeviceHandle, &args);
    return args.Result;
}

static bool enabled_at(struct probe *p, DXGK_FEATURE_ID feature, UINT16 version)
{
    NTSTATUS status;
    DXGK_ISFEATUREENABLED_RESULT result = state_of(p, feature, &status);

    return IS(status, STATUS_SUCCESS) && result.KnownFeature && result.Enabled == (version != 0) &&
           (!version || result.Version == version);
}

static struct probe *create_3_2(bool wddm_3_2, uint64_t features,
                                const struct port_feature_versions *versions)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1,
                                          .port = {.wddm_3_2 = wddm_3_2,
                                                   .features = features,
                                                   .feature_versions = versions,
                                                   .feature_version_count = versions ? 1 : 0}};
    struct probe *p = probe_create(&options);

    memset(said, 0, sizeof(said));
    memset(asked, 0, sizeof(asked));
    given_back = 0;
    probe_set_entry(p, PROBE_QueryInterface, true);
    p->before[PROBE_QueryInterface] = offer_interface;
    p->after[PROBE_StartDevice] = ask_host;
    p->before[PROBE_StopDevice] = return_host;
    return p;
}

#define BIT(feature) (1ull << (unsigned)(feature))

/* ---- the host's interface ---- */

static void fall_back_body(struct probe *p)
{
    NTSTATUS status;

    CHECK_RULE("LIFE-127/a", IS(host_status, STATUS_NOT_SUPPORTED) && !host.IsFeatureEnabled &&
                                 probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) &&
                                 IS(status, STATUS_SUCCESS));
    CHECK_RULE("LIFE-127/a", probe_count(p, PROBE_QueryInterface) == 0);
}

static void host_interface_body(struct probe *p)
{
    DXGKARGCB_QUERYFEATUREINTERFACE interface = {.FeatureId = DXGK_FEATURE_HWSCH, .Version = 1};
    DXGK_ISFEATUREENABLED_RESULT result;
    NTSTATUS status;
    KIRQL before;

    CHECK_RULE("LIFE-127/b", IS(host_status, STATUS_SUCCESS) && host.IsFeatureEnabled &&
                                 host.QueryFeatureInterface && host.InterfaceReference &&
                                 enabled_at(p, DXGK_FEATURE_HWSCH, 1));
    CHECK_RULE("LIFE-127/b",
               enabled_at(p, DXGK_FEATURE_HWFLIPQUEUE, 0)); /* the host's configuration */
    result = state_of(p, (DXGK_FEATURE_ID)60, &status);
    CHECK_RULE("LIFE-127/c",
               IS(status, STATUS_SUCCESS) && result.Value == 0 && !result.KnownFeature);
    (void)state_of(p, DXGK_FEATURE_GPUVAIOMMU, &status); /* belongs to no adapter */
    CHECK_RULE("LIFE-127/c", IS(status, STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-127/c",
               IS(host.QueryFeatureInterface(DXGK.DeviceHandle, &interface), STATUS_NOT_SUPPORTED));
    interface.FeatureId = (DXGK_FEATURE_ID)60;
    CHECK_RULE("LIFE-127/c", IS(host.QueryFeatureInterface(DXGK.DeviceHandle, &interface),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-127/c",
               IS(host.IsFeatureEnabled(DXGK.DeviceHandle, NULL), STATUS_INVALID_PARAMETER));
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    (void)state_of(p, DXGK_FEATURE_HWSCH, &status);
    KeLowerIrql(before);
    CHECK_RULE("LIFE-127/c",
               IS(status, STATUS_INVALID_DEVICE_REQUEST) && probe_rule(p, "THREAD-047") == 1);
}

TEST(the_host_has_a_feature_interface)
{
    struct probe *p = create_3_2(false, BIT(DXGK_FEATURE_HWSCH), NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, fall_back_body);
    p = create_3_2(true, BIT(DXGK_FEATURE_HWSCH), NULL);
    said[DXGK_FEATURE_HWSCH] = (struct said){1, 1, false};
    said[DXGK_FEATURE_HWFLIPQUEUE] = (struct said){1, 1, false};
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, host_interface_body);
}

/* A driver without an interface of its own: what it asked for in the older way. */
static void older_way_body(struct probe *p)
{
    NTSTATUS status;

    CHECK_RULE("LIFE-127/b", enabled_at(p, DXGK_FEATURE_HWSCH, 0) &&
                                 probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) &&
                                 enabled_at(p, DXGK_FEATURE_HWSCH, 1));
}

TEST(a_driver_may_lack_one)
{
    struct probe *p = create_3_2(true, BIT(DXGK_FEATURE_HWSCH), NULL);

    probe_set_entry(p, PROBE_QueryInterface, false);
    CHECK(NT_SUCCESS(probe_start(p)) && probe_reports(p, VERIFY_WARNING) == 0);
    probe_end(p, older_way_body);
}

/* ---- versions ---- */

static void enabled_4(struct probe *p)
{
    CHECK_RULE("LIFE-128/a", enabled_at(p, DXGK_FEATURE_HWSCH, 4));
}

static void not_enabled(struct probe *p)
{
    CHECK_RULE("LIFE-128/b", enabled_at(p, DXGK_FEATURE_HWSCH, 0));
}

static void negotiation(UINT16 min, UINT16 max, struct said driver, void (*body)(struct probe *))
{
    const struct port_feature_versions versions = {DXGK_FEATURE_HWSCH, min, max};
    struct probe *p = create_3_2(true, BIT(DXGK_FEATURE_HWSCH), &versions);

    said[DXGK_FEATURE_HWSCH] = driver;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-128/c", probe_count(p, PROBE_QueryInterface) == 1 &&
                                 probe_nth(p, PROBE_QueryInterface, 0)->irql == PASSIVE_LEVEL &&
                                 asked[DXGK_FEATURE_HWSCH] == 1 &&
                                 asked[DXGK_FEATURE_NATIVE_FENCE] == 1);
    probe_end(p, body);
    CHECK_RULE("LIFE-131/a", given_back == 1);
}

TEST(both_speak_a_version)
{
    negotiation(1, 4, (struct said){3, 5, false}, enabled_4);
    negotiation(2, 9, (struct said){1, 4, false}, enabled_4);
    negotiation(1, 2, (struct said){3, 5, false}, not_enabled);
    negotiation(6, 7, (struct said){3, 5, false}, not_enabled);
    negotiation(1, 4, (struct said){3, 5, true}, not_enabled);
    negotiation(1, 4, (struct said){0, 0, false}, not_enabled);
}

TEST(a_range_upside_down_is_reported)
{
    struct probe *p = create_3_2(true, BIT(DXGK_FEATURE_HWSCH), NULL);

    said[DXGK_FEATURE_HWSCH] = (struct said){3, 2, false};
    CHECK_RULE("LIFE-128/b", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-128") == 1);
    probe_end(p, not_enabled);
}

/* ---- what a feature needs ---- */

static void needs_met(struct probe *p)
{
    CHECK_RULE("LIFE-128/d", enabled_at(p, DXGK_FEATURE_NATIVE_FENCE, 1) &&
                                 enabled_at(p, DXGK_FEATURE_USER_MODE_SUBMISSION, 1));
}

static void needs_missing(struct probe *p)
{
    CHECK_RULE("LIFE-128/d", enabled_at(p, DXGK_FEATURE_NATIVE_FENCE, 0) &&
                                 enabled_at(p, DXGK_FEATURE_USER_MODE_SUBMISSION, 0));
}

TEST(features_need_others)
{
    for (unsigned met = 0; met < 2; met++) {
        struct probe *p = create_3_2(true, UINT64_MAX, NULL);

        said[DXGK_FEATURE_HWSCH] = (struct said){1, (UINT16)met, false};
        said[DXGK_FEATURE_NATIVE_FENCE] = (struct said){1, 1, false};
        said[DXGK_FEATURE_USER_MODE_SUBMISSION] = (struct said){1, 1, false};
        CHECK(NT_SUCCESS(probe_start(p)));
        probe_end(p, met ? needs_met : needs_missing);
    }
}

/* What was negotiated need not be asked for again before it is announced. */
TEST(a_negotiated_feature_is_granted)
{
    for (unsigned supports = 0; supports < 2; supports++) {
        struct probe *p = create_3_2(true, BIT(DXGK_FEATURE_HWSCH), NULL);

        said[DXGK_FEATURE_HWSCH] = (struct said){1, (UINT16)supports, false};
        p->node[1].Flags.ContextSchedulingSupported = 1;
        CHECK_RULE("LIFE-126", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-126") == !supports);
        probe_destroy(p);
    }
}

/* ---- the registry narrows what the host supports ---- */

static void set_number(struct probe *p, const char *name, uint32_t value)
{
    DXGK_DEVICE_INFO info;
    char path[192] = "";
    size_t length = 0;

    CHECK(NT_SUCCESS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info)));
    while (length < info.DeviceRegistryPath.Length / sizeof(WCHAR) && length < 160) {
        path[length] = (char)info.DeviceRegistryPath.Buffer[length];
        length++;
    }
    snprintf(path + length, sizeof(path) - length, "\\Features\\%d", DXGK_FEATURE_HWSCH);
    CHECK(nt_registry_set(path, name, REG_DWORD, &value, sizeof(value)));
}

static void registry_body(struct probe *p)
{
    CHECK_RULE("LIFE-128/a", enabled_at(p, DXGK_FEATURE_HWSCH, 4));
    set_number(p, "MaxVersion", 3);
    probe_restart(p);
    CHECK_RULE("LIFE-128/e", enabled_at(p, DXGK_FEATURE_HWSCH, 4)); /* only both together */
    CHECK_RULE("LIFE-128/e", !experimental[DXGK_FEATURE_HWSCH]);
    set_number(p, "MinVersion", 1);
    set_number(p, "AllowExperimental", 1);
    probe_restart(p);
    CHECK_RULE("LIFE-128/e", enabled_at(p, DXGK_FEATURE_HWSCH, 3));
    CHECK_RULE("LIFE-128/e", experimental[DXGK_FEATURE_HWSCH]);
    set_number(p, "MaxVersion", 9); /* no more than the host has */
    probe_restart(p);
    CHECK_RULE("LIFE-128/e", enabled_at(p, DXGK_FEATURE_HWSCH, 4));
    set_number(p, "Enabled", 0);
    probe_restart(p);
    CHECK_RULE("LIFE-128/e", enabled_at(p, DXGK_FEATURE_HWSCH, 0));
    CHECK(asked[DXGK_FEATURE_HWSCH] == 5 && given_back == 4);
}

TEST(the_registry_narrows)
{
    const struct port_feature_versions versions = {DXGK_FEATURE_HWSCH, 1, 4};
    struct probe *p = create_3_2(true, BIT(DXGK_FEATURE_HWSCH), &versions);

    said[DXGK_FEATURE_HWSCH] = (struct said){1, 5, false};
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, registry_body);
}

/* ---- before DxgkInitialize ---- */

static NTSTATUS early[4];
static DXGK_ISFEATUREENABLED_RESULT early_result;

static NTSTATUS ask_early(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    DXGKARGCB_ISFEATUREENABLED2 args = {.FeatureId = DXGK_FEATURE_GPUVAIOMMU};
    KIRQL before;

    early[0] = DxgkIsFeatureEnabled2(object, &args);
    early_result = args.Result;
    args.FeatureId = DXGK_FEATURE_HWSCH;
    early[1] = DxgkIsFeatureEnabled2(object, &args);
    early[2] = DxgkIsFeatureEnabled2(NULL, &args);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    args.FeatureId = DXGK_FEATURE_GPUVAIOMMU;
    early[3] = DxgkIsFeatureEnabled2(object, &args);
    KeLowerIrql(before);
    return DxgkInitialize(object, path, &p->table);
}

TEST(global_features_are_answered_before_registration)
{
    for (unsigned on = 0; on < 2; on++) {
        struct probe *p = create_3_2(true, on ? BIT(DXGK_FEATURE_GPUVAIOMMU) : 0, NULL);

        p->driver_entry = ask_early;
        CHECK(NT_SUCCESS(probe_load(p)));
        CHECK_RULE("LIFE-038/a", IS(early[0], STATUS_SUCCESS) && early_result.KnownFeature &&
                                     !early_result.Enabled);
        CHECK_RULE("IOMMU-098/b", !early_result.Enabled && early_result.Version == 0);
        CHECK_RULE("LIFE-038/b", IS(early[1], STATUS_INVALID_PARAMETER) &&
                                     IS(early[2], STATUS_INVALID_PARAMETER));
        CHECK_RULE("LIFE-038/b",
                   IS(early[3], STATUS_INVALID_DEVICE_REQUEST) && probe_rule(p, "LIFE-038") == 1);
        probe_destroy(p);
    }
}
