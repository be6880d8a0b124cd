/* SPDX-License-Identifier: MIT */
/* Features with versions: what each answer of the driver's interface comes to, what the registry may say, what is refused. */
#include <initguid.h>

#include "nt/cm/registry.h"
#include "port/support/probe.h"

#include <stdio.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define BIT(feature)       (1ull << (unsigned)(feature))
#define HWSCH              DXGK_FEATURE_HWSCH

/* ---- the driver's side ---- */

struct reply {
    NTSTATUS status;
    BOOLEAN supported, here;
    UINT16 min, max;
};

static struct reply reply[64];
static DXGKARG_QUERYFEATURESUPPORT given[64]; /* as the driver was asked */
static uint64_t asked;                        /* BIT() of each feature */
static unsigned returned;                     /* the interface */
static DXGKDDI_FEATURE_INTERFACE offered;

static NTSTATUS NTAPI query_support(HANDLE adapter, INOUT_PDXGKARG_QUERYFEATURESUPPORT args)
{
    const struct reply *r = &reply[args->FeatureId];

    CHECK(adapter == probe->state[0].context && !(asked & BIT(args->FeatureId)));
    asked |= BIT(args->FeatureId);
    given[args->FeatureId] = *args;
    args->SupportedByDriver = r->supported;
    args->SupportedOnCurrentConfig = r->here;
    args->MinSupportedVersion = r->min;
    args->MaxSupportedVersion = r->max;
    return r->status;
}

static VOID NTAPI count_reference(PVOID context)
{
    (void)context;
}

static VOID NTAPI count_return(PVOID context)
{
    returned += context == &returned;
}

static void offer(struct probe *p, struct probe_call *call)
{
    const QUERY_INTERFACE *query = (const QUERY_INTERFACE *)(uintptr_t)call->arg[1];

    (void)p;
    CHECK(memcmp(query->InterfaceType, &GUID_WDDM_INTERFACE_FEATURE, sizeof(GUID)) == 0 &&
          query->Size == sizeof(offered) && query->Version == DXGK_FEATURE_INTERFACE_VERSION_1 &&
          query->DeviceUid == DISPLAY_ADAPTER_HW_ID);
    memcpy(query->Interface, &offered, sizeof(offered));
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

/* ---- the host's side ---- */

static DXGK_FEATURE_INTERFACE host;

static void take_host(struct probe *p, struct probe_call *call)
{
    (void)call;
    memset(&host, 0, sizeof(host));
    host.Size = sizeof(host);
    host.Version = DXGK_FEATURE_INTERFACE_VERSION_1;
    CHECK(IS(
        DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesFeature, (PINTERFACE)(void *)&host),
        STATUS_SUCCESS));
}

static void return_host(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    host.InterfaceDereference(host.Context);
}

static DXGK_ISFEATUREENABLED_RESULT state_of(struct probe *p, DXGK_FEATURE_ID feature)
{
    DXGKARGCB_ISFEATUREENABLED2 args = {.FeatureId = feature, .Result = {0xFFFF, {.Value = 0xFFFF}}};

    CHECK(IS(host.IsFeatureEnabled(DXGK.DeviceHandle, &args), STATUS_SUCCESS));
    return args.Result;
}

static bool result_is(struct probe *p, DXGK_FEATURE_ID feature, bool by_driver, bool here,
                      UINT16 version)
{
    DXGK_ISFEATUREENABLED_RESULT result = state_of(p, feature);

    return result.KnownFeature && result.SupportedByDriver == by_driver &&
           result.SupportedOnCurrentConfig == here && result.Enabled == (version != 0) &&
           result.Version == version && result.Reserved == 0;
}

static struct probe *create(uint64_t features, bool experiments,
                            const struct port_feature_versions *versions)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1,
                                          .port = {.wddm_3_2 = true,
                                                   .features = features,
                                                   .experiments = experiments,
                                                   .feature_versions = versions,
                                                   .feature_version_count = versions ? 1 : 0}};
    struct probe *p = probe_create(&options);

    memset(reply, 0, sizeof(reply));
    asked = 0;
    returned = 0;
    offered = (DXGKDDI_FEATURE_INTERFACE){.Size = sizeof(offered),
                                          .Version = DXGK_FEATURE_INTERFACE_VERSION_1,
                                          .Context = &returned,
                                          .InterfaceReference = count_reference,
                                          .InterfaceDereference = count_return,
                                          .QueryFeatureSupport = query_support};
    probe_set_entry(p, PROBE_QueryInterface, true);
    p->before[PROBE_QueryInterface] = offer;
    p->after[PROBE_StartDevice] = take_host;
    p->before[PROBE_StopDevice] = return_host;
    return p;
}

/* ---- what the driver is asked ---- */

/* The features that need the driver, once each; all that is not a question is zero. */
TEST(the_driver_is_asked_about_its_own_features)
{
    for (unsigned experiments = 0; experiments < 2; experiments++) {
        struct probe *p = create(BIT(HWSCH), experiments != 0, NULL);

        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(asked == (0x3F | BIT(DXGK_FEATURE_PAGE_BASED_MEMORY_MANAGER) |
                        BIT(DXGK_FEATURE_KERNEL_MODE_TESTING) | BIT(DXGK_FEATURE_NATIVE_FENCE)));
        for (unsigned i = 0; i < 64; i++)
            if (asked >> i & 1) {
                CHECK((unsigned)given[i].FeatureId == i);
                CHECK_RULE("LIFE-128/e", given[i].AllowExperimental == (BOOLEAN)experiments);
                CHECK(given[i].MinSupportedVersion == 0 && given[i].MaxSupportedVersion == 0 &&
                      !given[i].SupportedByDriver && !given[i].SupportedOnCurrentConfig);
            }
        probe_destroy(p);
    }
}

/* ---- what its answers come to ---- */

static const struct {
    struct port_feature_versions host;
    struct reply reply;
    bool reported, by_driver, here;
    UINT16 version;
} answers[] = {
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, TRUE, 1, 1}, false, true, true, 1},
    {{HWSCH, 1, 4}, {STATUS_UNSUCCESSFUL, TRUE, TRUE, 1, 1}, false, false, false, 0},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, FALSE, TRUE, 1, 1}, false, false, false, 0},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, FALSE, 1, 1}, false, true, false, 0},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, TRUE, 0, 1}, true, false, false, 0},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, TRUE, 2, 1}, true, false, false, 0},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, TRUE, 2, 2}, false, true, true, 2},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, TRUE, 4, 9}, false, true, true, 4},
    {{HWSCH, 1, 4}, {STATUS_SUCCESS, TRUE, TRUE, 5, 9}, false, true, true, 0},
    {{HWSCH, 3, 3}, {STATUS_SUCCESS, TRUE, TRUE, 1, 3}, false, true, true, 3},
    {{HWSCH, 3, 4}, {STATUS_SUCCESS, TRUE, TRUE, 1, 2}, false, true, true, 0},
    {{HWSCH, 1, 0xFFFF}, {STATUS_SUCCESS, TRUE, TRUE, 1, 0xFFFE}, false, true, true, 0xFFFE},
    /* the host's versions of another feature change nothing */
    {{DXGK_FEATURE_HWFLIPQUEUE, 2, 4}, {STATUS_SUCCESS, TRUE, TRUE, 1, 4}, false, true, true, 1},
};

static size_t row;

static void answer_body(struct probe *p)
{
    CHECK(result_is(p, HWSCH, answers[row].by_driver, answers[row].here, answers[row].version));
}

TEST(each_answer_of_the_driver)
{
    for (row = 0; row < sizeof(answers) / sizeof(answers[0]); row++) {
        struct probe *p = create(BIT(HWSCH), false, &answers[row].host);

        reply[HWSCH] = answers[row].reply;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_rule(p, "LIFE-128") == answers[row].reported);
        CHECK(!answers[row].reported ||
              probe_said(p, "LIFE-128", "supports feature 0 in versions "));
        probe_end(p, answer_body);
        CHECK(returned == 1);
    }
}

/* ---- without the driver ---- */

static void host_features_on(struct probe *p)
{
    CHECK(result_is(p, DXGK_FEATURE_64K_PT_DEMOTION_FIX, false, true, 1) &&
          result_is(p, DXGK_FEATURE_GPUPV_PRESENT_HWQUEUE, false, false, 0));
    /* the driver was asked, and supports it; the host does not */
    CHECK(result_is(p, DXGK_FEATURE_HWFLIPQUEUE, true, false, 0));
}

TEST(some_features_are_the_hosts_alone)
{
    struct probe *p = create(BIT(DXGK_FEATURE_64K_PT_DEMOTION_FIX), false, NULL);

    reply[DXGK_FEATURE_HWFLIPQUEUE] = (struct reply){STATUS_SUCCESS, TRUE, TRUE, 1, 1};
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, host_features_on);
}

/* ---- an interface that cannot be used ---- */

static void older_way(struct probe *p)
{
    NTSTATUS status;

    CHECK(result_is(p, HWSCH, false, false, 0));
    CHECK(probe_feature_enabled(p, HWSCH, &status) && result_is(p, HWSCH, true, true, 1));
    CHECK(asked == 0);
}

TEST(an_interface_without_its_routine)
{
    static const struct {
        USHORT size;
        PDXGKDDI_QUERYFEATURESUPPORT routine;
    } bad[] = {{sizeof(offered), NULL}, {sizeof(offered) - 1, query_support}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct probe *p = create(BIT(HWSCH), false, NULL);

        offered.Size = bad[i].size;
        offered.QueryFeatureSupport = bad[i].routine;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_rule(p, "LIFE-128") == 1 &&
              probe_said(p, "LIFE-128", "has no QueryFeatureSupport") && returned == 1);
        probe_end(p, older_way);
        CHECK(returned == 1);
    }
}

static const struct {
    bool reference, dereference;
    USHORT size;
    const char *text;
} headers[] = {
    {false, true, sizeof(offered), "left InterfaceReference NULL"},
    {true, false, sizeof(offered), "left InterfaceDereference NULL"},
    {true, true, sizeof(offered) + 1, "set Size to "},
    {true, true, sizeof(INTERFACE) - 1, "set Size to "},
};

TEST(an_interface_without_its_header)
{
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct probe *p = create(BIT(HWSCH), false, NULL);

        offered.Size = headers[i].size;
        offered.InterfaceReference = headers[i].reference ? count_reference : NULL;
        offered.InterfaceDereference = headers[i].dereference ? count_return : NULL;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK_RULE(i < 2 ? "LIFE-131/d" : "LIFE-131/c",
                   probe_rule(p, "LIFE-131") == 1 && probe_said(p, "LIFE-131", headers[i].text));
        probe_end(p, older_way);
        CHECK(returned == 0);
    }
}

/* ---- the registry ---- */

static void set_value(struct probe *p, const char *name, uint32_t type, uint64_t value,
                      uint32_t bytes)
{
    DXGK_DEVICE_INFO info;
    char path[192] = "";
    size_t length = 0;

    CHECK(NT_SUCCESS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info)));
    while (length < info.DeviceRegistryPath.Length / sizeof(WCHAR) && length < 160) {
        path[length] = (char)info.DeviceRegistryPath.Buffer[length];
        length++;
    }
    snprintf(path + length, sizeof(path) - length, "\\Features\\%d", HWSCH);
    CHECK(nt_registry_set(path, name, type, &value, bytes));
}

static void limits(struct probe *p, uint32_t min, uint32_t max)
{
    set_value(p, "MinVersion", REG_DWORD, min, 4);
    set_value(p, "MaxVersion", REG_DWORD, max, 4);
    asked = 0;
    probe_restart(p);
}

static void registry_body(struct probe *p)
{
    CHECK(result_is(p, HWSCH, true, true, 4));
    limits(p, 4, 4);
    CHECK(result_is(p, HWSCH, true, true, 4));
    limits(p, 5, 9); /* above what the host has */
    CHECK(result_is(p, HWSCH, true, true, 0));
    limits(p, 0x10001, 9); /* not 1 */
    CHECK(result_is(p, HWSCH, true, true, 0));
    limits(p, 0xFFFF, 9);
    CHECK(result_is(p, HWSCH, true, true, 0));
    limits(p, 1, 2);
    CHECK(result_is(p, HWSCH, true, true, 2));
    limits(p, 1, 1); /* below what the host has */
    CHECK(result_is(p, HWSCH, true, true, 0));
    limits(p, 1, 0x10002);
    CHECK(result_is(p, HWSCH, true, true, 4));
    set_value(p, "MinVersion", REG_BINARY, 9, 4); /* no numbers: as if they were not there */
    set_value(p, "Enabled", REG_DWORD, 0, 8);
    asked = 0;
    probe_restart(p);
    CHECK(result_is(p, HWSCH, true, true, 4));
    set_value(p, "Enabled", REG_DWORD, 0, 4);
    asked = 0;
    probe_restart(p);
    CHECK(result_is(p, HWSCH, true, false, 0));
}

TEST(the_registry_narrows_by_numbers)
{
    const struct port_feature_versions versions = {HWSCH, 2, 4};
    struct probe *p = create(BIT(HWSCH), false, &versions);

    reply[HWSCH] = (struct reply){STATUS_SUCCESS, TRUE, TRUE, 1, 9};
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, registry_body);
}

/* Turned on between the start and the question: what is answered counts as granted. */
static void turn_on(struct probe *p, struct probe_call *call)
{
    take_host(p, call);
    CHECK(result_is(p, HWSCH, true, false, 0));
    set_value(p, "Enabled", REG_DWORD, 1, 4);
    CHECK(result_is(p, HWSCH, true, true, 1));
}

TEST(an_answer_grants)
{
    struct probe *p = create(0, false, NULL);

    reply[HWSCH] = (struct reply){STATUS_SUCCESS, TRUE, TRUE, 1, 1};
    p->after[PROBE_StartDevice] = turn_on;
    p->node[1].Flags.ContextSchedulingSupported = 1;
    CHECK_RULE("LIFE-126", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-126") == 0);
    probe_destroy(p);
}

/* ---- arguments of the host's routines ---- */

static void arguments_body(struct probe *p)
{
    DXGKARGCB_ISFEATUREENABLED2 args = {.FeatureId = HWSCH, .Flags.Value = 0x80000000u};
    const HANDLE bad = (HANDLE)(uintptr_t)0x1234567;

    args.Result.Version = 0x1234;
    args.Result.Value = 0x5678;
    CHECK(IS(host.IsFeatureEnabled(DXGK.DeviceHandle, &args), STATUS_INVALID_PARAMETER));
    args.Flags.Value = 0;
    CHECK(IS(host.IsFeatureEnabled(NULL, &args), STATUS_INVALID_PARAMETER));
    CHECK(strcmp(probe_refused_call, "IsFeatureEnabled") == 0 &&
          strstr(probe_refused_text, "is one of an adapter"));
    CHECK(IS(host.IsFeatureEnabled(bad, &args), STATUS_INVALID_PARAMETER) &&
          probe_rule(p, "LIFE-063") == 1);
    CHECK(args.Result.Version == 0x1234 && args.Result.Value == 0x5678);
    args.FeatureId = DXGK_FEATURE_GPUVAIOMMU;
    CHECK(IS(host.IsFeatureEnabled(DXGK.DeviceHandle, &args), STATUS_INVALID_PARAMETER));
    CHECK(strstr(probe_refused_text, "feature 36 is one of the system"));
    CHECK(args.Result.Version == 0x1234 && args.Result.Value == 0x5678);
    CHECK(IS(host.IsFeatureEnabled(NULL, &args), STATUS_SUCCESS) && args.Result.Version == 0 &&
          args.Result.KnownFeature && !args.Result.SupportedByDriver &&
          !args.Result.SupportedOnCurrentConfig && !args.Result.Enabled);
    CHECK(IS(host.QueryFeatureInterface(DXGK.DeviceHandle, NULL), STATUS_INVALID_PARAMETER));
    CHECK(IS(host.QueryFeatureInterface(bad, &(DXGKARGCB_QUERYFEATUREINTERFACE){.FeatureId = HWSCH}),
             STATUS_INVALID_PARAMETER) &&
          probe_rule(p, "LIFE-063") == 2);
}

TEST(arguments_of_questions)
{
    struct probe *p = create(UINT64_MAX, false, NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, arguments_body);
}

/* ---- the older questions ---- */

static void older_arguments(struct probe *p)
{
    const HANDLE bad = (HANDLE)(uintptr_t)0x1234567;
    DXGKARGCB_QUERYFEATURESUPPORT support = {.DeviceHandle = bad,
                                             .FeatureId = HWSCH,
                                             .DriverSupportState = DXGK_FEATURE_SUPPORT_ALWAYS_ON,
                                             .Enabled = 0x5A};
    DXGKARGCB_ISFEATUREENABLED enabled = {.DeviceHandle = bad, .FeatureId = HWSCH, .Enabled = 0x5A};
    NTSTATUS status;

    CHECK(IS(DXGK.DxgkCbQueryFeatureSupport(NULL), STATUS_INVALID_PARAMETER) &&
          IS(DXGK.DxgkCbIsFeatureEnabled(NULL), STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbQueryFeatureSupport(&support), STATUS_INVALID_PARAMETER) &&
          support.Enabled == 0x5A);
    CHECK(IS(DXGK.DxgkCbIsFeatureEnabled(&enabled), STATUS_INVALID_PARAMETER) &&
          enabled.Enabled == 0x5A);
    CHECK(probe_rule(p, "LIFE-063") == 2);
    CHECK(!probe_feature_supported(p, HWSCH, DXGK_FEATURE_SUPPORT_ALWAYS_ON + 1, &status) &&
          IS(status, STATUS_INVALID_PARAMETER));
    CHECK(probe_feature_supported(p, HWSCH, DXGK_FEATURE_SUPPORT_ALWAYS_ON, &status) == TRUE &&
          IS(status, STATUS_SUCCESS) && probe_rule(p, "LIFE-124") == 0);
    CHECK(!probe_feature_supported(p, DXGK_FEATURE_HWFLIPQUEUE, DXGK_FEATURE_SUPPORT_EXPERIMENTAL,
                                   &status) &&
          IS(status, STATUS_SUCCESS));
    CHECK(!probe_feature_supported(p, DXGK_FEATURE_HWFLIPQUEUE, DXGK_FEATURE_SUPPORT_STABLE,
                                   &status) &&
          IS(status, STATUS_SUCCESS) && probe_rule(p, "LIFE-124") == 0);
    CHECK(!probe_feature_enabled(p, (DXGK_FEATURE_ID)-1, &status) &&
          IS(status, STATUS_INVALID_PARAMETER));
}

TEST(arguments_of_older_questions)
{
    const struct probe_options options = {.port = {.features = BIT(HWSCH), .experiments = true}};

    probe_end(probe_started(&options), older_arguments);
}
