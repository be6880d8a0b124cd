/* SPDX-License-Identifier: MIT */
/*
 * Features as in WDDM 3.2 (LIFE-038, LIFE-127, LIFE-128): each has versions, and is enabled at the
 * highest one that both sides support.
 *
 *   the host supports    what it is configured with, narrowed by the adapter's registry
 *   the driver supports  what its feature interface answers, queried once for each feature before
 *                        StartDevice; without that interface, version 1 of each feature that it
 *                        was granted in the older way (features.c)
 *   needs                other features, which must be enabled, too
 *
 * The registry key is Features\<number> below the adapter's software key, with the values Enabled,
 * MinVersion and MaxVersion (which only narrow, and only together), and AllowExperimental. They are
 * for testing, as on Windows: they change what the host supports, never what the driver does.
 */
#include <initguid.h>

#include "port/callbacks/feature_interface.h"
#include "ddi/ddi.h"
#include "nt/cm/registry.h"
#include "nt/ke/level.h"
#include "port/callbacks/callback.h"
#include "port/callbacks/features.h"
#include "port/callbacks/native_fence_interface.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/running/query_interface.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "verify/refusal.h"

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define BIT(feature) (1ull << (unsigned)(feature))

struct known_feature {
    DXGK_FEATURE_ID id;
    bool driver; /* needs the driver's support */
    bool global; /* belongs to no adapter */
    bool absent; /* known to the host, but not implemented */
    uint64_t needs;
};

/* `needs`: native fences are part of hardware scheduling, and submission from user mode builds on
 * both. No page of the documentation lists this; it follows from the pages about those two. */
static const struct known_feature known_features[] = {
    {.id = DXGK_FEATURE_HWSCH, .driver = true},
    {.id = DXGK_FEATURE_HWFLIPQUEUE, .driver = true},
    {.id = DXGK_FEATURE_LDA_GPUPV, .driver = true},
    {.id = DXGK_FEATURE_KMD_SIGNAL_CPU_EVENT, .driver = true},
    {.id = DXGK_FEATURE_USER_MODE_SUBMISSION,
     .driver = true,
     .needs = BIT(DXGK_FEATURE_HWSCH) | BIT(DXGK_FEATURE_NATIVE_FENCE)},
    {.id = DXGK_FEATURE_SHARE_BACKING_STORE_WITH_KMD, .driver = true},
    {.id = DXGK_FEATURE_PAGE_BASED_MEMORY_MANAGER, .driver = true},
    {.id = DXGK_FEATURE_KERNEL_MODE_TESTING, .driver = true},
    {.id = DXGK_FEATURE_64K_PT_DEMOTION_FIX},
    {.id = DXGK_FEATURE_GPUPV_PRESENT_HWQUEUE},
    {.id = DXGK_FEATURE_GPUVAIOMMU, .global = true, .absent = true}, /* IOMMU-098 */
    {.id = DXGK_FEATURE_NATIVE_FENCE, .driver = true, .needs = BIT(DXGK_FEATURE_HWSCH)},
};

#define KNOWN (sizeof(known_features) / sizeof(known_features[0]))

/* The answer of the driver's interface, by index in known_features. */
struct port_driver_feature {
    bool supported, on_config;
    UINT16 min, max;
};

static const struct known_feature *find(DXGK_FEATURE_ID id)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (known_features[i].id == id)
            return &known_features[i];
    return NULL;
}

/* ---- the host's side ---- */

struct host_support {
    bool supported, experiments;
    UINT16 min, max;
};

static bool read_value(const struct port_adapter *adapter, DXGK_FEATURE_ID id, const char *name,
                       uint32_t *value)
{
    char path[sizeof(adapter->software_key) + 32];
    uint32_t type, bytes;
    const void *data;

    snprintf(path, sizeof(path), "%s\\Features\\%u", adapter->software_key, (unsigned)id);
    data = nt_registry_get(path, name, &type, &bytes);
    if (!data || type != REG_DWORD || bytes != sizeof(*value))
        return false;
    memcpy(value, data, sizeof(*value));
    return true;
}

static void narrow(const struct port_adapter *adapter, DXGK_FEATURE_ID id,
                   struct host_support *support)
{
    uint32_t value, max;

    if (read_value(adapter, id, "Enabled", &value))
        support->supported = value != 0;
    if (read_value(adapter, id, "AllowExperimental", &value))
        support->experiments = value != 0;
    if (!read_value(adapter, id, "MinVersion", &value) ||
        !read_value(adapter, id, "MaxVersion", &max))
        return;
    if (value > support->min)
        support->min = value > UINT16_MAX ? UINT16_MAX : (UINT16)value;
    if (max < support->max)
        support->max = (UINT16)max;
}

/* `adapter`: NULL for a global feature. */
static struct host_support host_support(const struct port *port, const struct port_adapter *adapter,
                                        DXGK_FEATURE_ID id)
{
    const struct port_config *config = &port->config;
    struct host_support support = {.supported = port_features_allow(port, adapter, id),
                                   .experiments = config->experiments,
                                   .min = 1,
                                   .max = 1};

    for (size_t i = 0; i < config->feature_version_count; i++)
        if (config->feature_versions[i].feature == id) {
            support.min = config->feature_versions[i].min;
            support.max = config->feature_versions[i].max;
        }
    if (adapter)
        narrow(adapter, id, &support);
    return support;
}

/* ---- the driver's side ---- */

static void ask(struct port_adapter *adapter, size_t index)
{
    const struct host_support host = host_support(adapter->port, adapter, known_features[index].id);
    struct port_driver_feature *answer = &adapter->features.answer[index];
    DXGKARG_QUERYFEATURESUPPORT args = {.FeatureId = known_features[index].id,
                                        .AllowExperimental = host.experiments};
    NTSTATUS status;

    status = ddi_query_feature_support(&adapter->ddi,
                                       adapter->features.interface.QueryFeatureSupport, &args);
    if (!NT_SUCCESS(status) || !args.SupportedByDriver)
        return;
    if (args.MinSupportedVersion == 0 || args.MaxSupportedVersion < args.MinSupportedVersion) {
        VIOLATION("LIFE-128", "the driver supports feature %d in versions %u to %u", args.FeatureId,
                  args.MinSupportedVersion, args.MaxSupportedVersion);
        return;
    }
    port_features_note(adapter, args.FeatureId, DXGK_FEATURE_SUPPORT_STABLE);
    answer->supported = true;
    answer->on_config = args.SupportedOnCurrentConfig;
    answer->min = args.MinSupportedVersion;
    answer->max = args.MaxSupportedVersion;
}

static struct port_driver_feature driver_support(const struct port_adapter *adapter,
                                                 const struct known_feature *feature)
{
    if (adapter->features.answer)
        return adapter->features.answer[feature - known_features];
    if ((UINT)feature->id < PORT_FEATURES && ddi_feature_granted(&adapter->ddi, feature->id))
        return (struct port_driver_feature){true, true, 1, 1};
    return (struct port_driver_feature){0};
}

/* ---- both ---- */

/* The recursion ends, since no feature needs itself, directly or indirectly. */
static DXGK_ISFEATUREENABLED_RESULT negotiate(const struct port *port,
                                              const struct port_adapter *adapter,
                                              const struct known_feature *feature)
{
    const struct host_support host = host_support(port, adapter, feature->id);
    struct port_driver_feature driver = {true, true, 0, UINT16_MAX};
    DXGK_ISFEATUREENABLED_RESULT result = {.Version = 0, .Value = 0};
    UINT16 min, max;

    if (feature->driver && adapter) /* a global feature has no adapter, so no driver is asked */
        driver = driver_support(adapter, feature);
    result.KnownFeature = 1;
    result.SupportedByDriver = feature->driver && driver.supported;
    result.SupportedOnCurrentConfig = host.supported && !feature->absent && driver.on_config;
    min = host.min > driver.min ? host.min : driver.min;
    max = host.max < driver.max ? host.max : driver.max;
    if (!host.supported || !driver.supported || !driver.on_config || min > max || feature->absent)
        return result;
    for (size_t i = 0; i < KNOWN; i++)
        if (feature->needs & BIT(known_features[i].id) &&
            !negotiate(port, adapter, &known_features[i]).Enabled)
            return result;
    result.Enabled = 1;
    result.Version = max;
    return result;
}

NTSTATUS port_feature_interface_begin(struct port_adapter *adapter)
{
    DXGKDDI_FEATURE_INTERFACE *interface = &adapter->features.interface;
    NTSTATUS status;

    if (!adapter->port->config.wddm_3_2)
        return STATUS_SUCCESS;
    memset(interface, 0, sizeof(*interface));
    interface->Size = sizeof(*interface);
    interface->Version = DXGK_FEATURE_INTERFACE_VERSION_1;
    status = port_adapter_query_interface(adapter, &GUID_WDDM_INTERFACE_FEATURE,
                                          (PINTERFACE)(void *)interface);
    if (NT_SUCCESS(status) &&
        (interface->Size < sizeof(*interface) || !interface->QueryFeatureSupport)) {
        VIOLATION("LIFE-128", "the driver's feature interface has no QueryFeatureSupport");
        port_feature_interface_end(adapter);
        status = STATUS_NOT_SUPPORTED;
    }
    if (!NT_SUCCESS(status)) {
        memset(interface, 0, sizeof(*interface));
        return status == STATUS_NOT_SUPPORTED ? STATUS_SUCCESS : status;
    }
    adapter->features.answer = util_zalloc(KNOWN, sizeof(*adapter->features.answer));
    if (!adapter->features.answer) {
        port_feature_interface_end(adapter);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < KNOWN; i++)
        if (known_features[i].driver)
            ask(adapter, i);
    /* What is enabled counts as granted: the driver need not ask again before it announces it
     * (LIFE-126). */
    for (size_t i = 0; i < KNOWN; i++)
        if (negotiate(adapter->port, adapter, &known_features[i]).Enabled)
            adapter->ddi.features |= BIT(known_features[i].id);
    return STATUS_SUCCESS;
}

void port_feature_interface_end(struct port_adapter *adapter)
{
    DXGKDDI_FEATURE_INTERFACE *interface = &adapter->features.interface;

    if (interface->InterfaceDereference)
        ddi_dereference_interface(&adapter->ddi, interface->InterfaceDereference,
                                  interface->Context);
    memset(interface, 0, sizeof(*interface));
    util_free(adapter->features.answer);
    adapter->features.answer = NULL;
}

/* ---- what a driver calls ---- */

static NTSTATUS answer(const struct port *port, struct port_adapter *adapter,
                       DXGKARGCB_ISFEATUREENABLED2 *user)
{
    const struct known_feature *feature;
    DXGKARGCB_ISFEATUREENABLED2 args;

    if (!PORT_TAKE(DXGKARGCB_ISFEATUREENABLED2, &args, user) || args.Flags.Value)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "the argument cannot be read, or has Flags");
    feature = find(args.FeatureId);
    memset(&args.Result, 0, sizeof(args.Result));
    if (feature && feature->global != !adapter)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "feature %u is one of %s",
                      (unsigned)args.FeatureId, adapter ? "the system" : "an adapter");
    if (feature)
        args.Result = negotiate(port, adapter, feature);
    if (adapter && feature) {
        if (args.Result.Enabled)
            adapter->ddi.features |= BIT(feature->id);
    }
    return PORT_GIVE(DXGKARGCB_ISFEATUREENABLED2, user, &args) ? STATUS_SUCCESS
                                                               : STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI is_feature_enabled2(HANDLE handle, INOUT_PDXGKARGCB_ISFEATUREENABLED2 args)
{
    struct port_callback cb;
    NTSTATUS status;

    status = handle ? port_callback_begin(&cb, handle, "IsFeatureEnabled", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", 0)
                    : port_callback_begin_of_system(&cb, "IsFeatureEnabled", PORT_CALLER,
                                                    SIM_IRQL_PASSIVE, "THREAD-047");
    if (!NT_SUCCESS(status))
        return status;
    status = answer(port_current(), cb.adapter, args);
    return port_callback_return(&cb, status);
}

/* One feature of the host has an interface of its own, which is there while it is enabled. */
static NTSTATUS give_interface(struct port_adapter *adapter, DXGKARGCB_QUERYFEATUREINTERFACE *args)
{
    const struct known_feature *feature = find(args->FeatureId);

    if (!feature)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "feature %u is unknown",
                      (unsigned)args->FeatureId);
    if (args->FeatureId != DXGK_FEATURE_NATIVE_FENCE)
        return refuse(STATUS_NOT_SUPPORTED, NULL, "feature %u has no interface",
                      (unsigned)args->FeatureId);
    if (!negotiate(adapter->port, adapter, feature).Enabled)
        return refuse(STATUS_NOT_SUPPORTED, "LIFE-127", "feature %u is not enabled",
                      (unsigned)args->FeatureId);
    return port_native_fence_interface(args);
}

static NTSTATUS NTAPI query_feature_interface(HANDLE handle,
                                              INOUT_PDXGKARGCB_QUERYFEATUREINTERFACE user)
{
    DXGKARGCB_QUERYFEATUREINTERFACE args;
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, handle, "QueryFeatureInterface", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!PORT_TAKE(DXGKARGCB_QUERYFEATUREINTERFACE, &args, user))
        return port_callback_return(&cb, STATUS_INVALID_PARAMETER);
    status = give_interface(cb.adapter, &args);
    if (!PORT_GIVE_MEMBER(DXGKARGCB_QUERYFEATUREINTERFACE, user, InterfaceSize, &args.InterfaceSize))
        status = STATUS_INVALID_PARAMETER;
    return port_callback_return(&cb, status);
}

void port_feature_interface_fill(DXGK_FEATURE_INTERFACE *interface)
{
    interface->IsFeatureEnabled = is_feature_enabled2;
    interface->QueryFeatureInterface = query_feature_interface;
}

/* LIFE-038 */
EXPORT NTSTATUS NTAPI DxgkIsFeatureEnabled2(PVOID DriverObject, DXGKARGCB_ISFEATUREENABLED2 *pArgs)
{
    struct port *port = port_current();
    struct port_callback cb;
    NTSTATUS status;

    if (!port || sim_current->stopped)
        return STATUS_INVALID_DEVICE_STATE;
    status = port_callback_begin_of_system(&cb, "DxgkIsFeatureEnabled2", PORT_CALLER,
                                           SIM_IRQL_PASSIVE, "LIFE-038");
    if (!NT_SUCCESS(status))
        return status;
    if (!port->config.wddm_3_2)
        status = refuse(STATUS_NOT_SUPPORTED, "LIFE-038", "the host is configured for WDDM 3.1");
    else
        status = DriverObject ? answer(port, NULL, pArgs)
                              : refuse(STATUS_INVALID_PARAMETER, NULL, "the driver object is NULL");
    return port_callback_return(&cb, status);
}
