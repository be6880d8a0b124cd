/* SPDX-License-Identifier: MIT */
/* Optional features: who may enable which (LIFE-122 to LIFE-126). */
#include <string.h>

#include "port/callbacks/features.h"
#include "ddi/ddi.h"
#include "nt/cm/registry.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "verify/refusal.h"

/* Whether the system's setting has an answer: HwSchMode, 1 for off, 2 for on (LIFE-122). */
static bool is_set(bool *on)
{
    uint32_t type, bytes, mode;
    const void *data = nt_registry_get(
        "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers", "HwSchMode",
        &type, &bytes);

    if (!data || type != REG_DWORD || bytes != sizeof(mode))
        return false;
    memcpy(&mode, data, sizeof(mode));
    *on = mode == 2;
    return mode == 1 || mode == 2;
}

bool port_features_allow(const struct port *port, const struct port_adapter *adapter,
                         DXGK_FEATURE_ID feature)
{
    bool on;

    if (feature == DXGK_FEATURE_SHARE_BACKING_STORE_WITH_KMD) /* PHYS-183 */
        return adapter && adapter->ddi.table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM3_1 &&
               ddi_has(&adapter->ddi, DxgkDdiSetAllocationBackingStore);
    if (feature == DXGK_FEATURE_HWSCH && is_set(&on))
        return on;
    return (UINT)feature < PORT_FEATURES_3_2 && port->config.features >> (UINT)feature & 1;
}

static bool allowed(const struct port_adapter *adapter, DXGK_FEATURE_ID feature)
{
    return port_features_allow(adapter->port, adapter, feature);
}

void port_features_note(struct port_adapter *adapter, DXGK_FEATURE_ID feature, UINT state)
{
    struct port_driver_features *features = &adapter->features;

    if (feature != DXGK_FEATURE_HWSCH)
        return;
    features->hwsch_state = state;
    features->hwsch_by_default = state != DXGK_FEATURE_SUPPORT_ALWAYS_OFF &&
                                 allowed(adapter, feature) &&
                                 (state != DXGK_FEATURE_SUPPORT_EXPERIMENTAL ||
                                  adapter->port->config.experiments);
}

static BOOLEAN answer(struct port_adapter *adapter, DXGK_FEATURE_ID feature, bool enabled)
{
    if (enabled)
        adapter->ddi.features |= 1ull << (UINT)feature;
    return enabled ? TRUE : FALSE;
}

static NTSTATUS NTAPI is_feature_enabled(INOUT_PDXGKARGCB_ISFEATUREENABLED args)
{
    struct port_callback cb;
    DXGKARGCB_ISFEATUREENABLED copy;
    NTSTATUS status;

    if (!PORT_TAKE(DXGKARGCB_ISFEATUREENABLED, &copy, args))
        return STATUS_INVALID_PARAMETER;
    status = port_callback_begin(&cb, copy.DeviceHandle, "DxgkCbIsFeatureEnabled", PORT_CALLER,
                                 SIM_IRQL_PASSIVE, "THREAD-047", 0);
    if (!NT_SUCCESS(status))
        return status;
    copy.Enabled = FALSE;
    if (!cb.adapter->features.hwsch_state) /* it asks without a state */
        port_features_note(cb.adapter, copy.FeatureId, DXGK_FEATURE_SUPPORT_STABLE);
    if ((UINT)copy.FeatureId < PORT_FEATURES)
        copy.Enabled = answer(cb.adapter, copy.FeatureId, allowed(cb.adapter, copy.FeatureId));
    else
        status = refuse(STATUS_INVALID_PARAMETER, "LIFE-125", "feature %u is unknown",
                        (UINT)copy.FeatureId);
    if (!PORT_GIVE(DXGKARGCB_ISFEATUREENABLED, args, &copy))
        status = STATUS_INVALID_PARAMETER;
    return port_callback_return(&cb, status);
}

/* LIFE-123, LIFE-124: the driver's own support decides, too. */
static bool agrees(const struct port_adapter *adapter, const DXGKARGCB_QUERYFEATURESUPPORT *args)
{
    bool on = allowed(adapter, args->FeatureId);

    switch (args->DriverSupportState) {
    case DXGK_FEATURE_SUPPORT_ALWAYS_OFF:
        WARNING("LIFE-123", "DxgkCbQueryFeatureSupport for feature %d that is always off",
                (int)args->FeatureId);
        return false;
    case DXGK_FEATURE_SUPPORT_EXPERIMENTAL:
        return on && adapter->port->config.experiments;
    case DXGK_FEATURE_SUPPORT_STABLE:
        return on;
    default:
        if (!on)
            WARNING(
                "LIFE-124",
                "feature %d is disabled, and the driver calls it always on: it may refuse to start",
                (int)args->FeatureId);
        return on;
    }
}

static NTSTATUS NTAPI query_feature_support(INOUT_PDXGKARGCB_QUERYFEATURESUPPORT args)
{
    struct port_callback cb;
    DXGKARGCB_QUERYFEATURESUPPORT copy;
    NTSTATUS status;

    if (!PORT_TAKE(DXGKARGCB_QUERYFEATURESUPPORT, &copy, args))
        return STATUS_INVALID_PARAMETER;
    status = port_callback_begin(&cb, copy.DeviceHandle, "DxgkCbQueryFeatureSupport", PORT_CALLER,
                                 SIM_IRQL_PASSIVE, "THREAD-054", 0);
    if (!NT_SUCCESS(status))
        return status;
    copy.Enabled = FALSE;
    if ((UINT)copy.FeatureId >= PORT_FEATURES ||
        (UINT)copy.DriverSupportState > DXGK_FEATURE_SUPPORT_ALWAYS_ON)
        status = refuse(STATUS_INVALID_PARAMETER, "LIFE-125", "feature %u is unknown",
                        (UINT)copy.FeatureId);
    else {
        port_features_note(cb.adapter, copy.FeatureId, copy.DriverSupportState);
        copy.Enabled = answer(cb.adapter, copy.FeatureId, agrees(cb.adapter, &copy));
    }
    if (!PORT_GIVE(DXGKARGCB_QUERYFEATURESUPPORT, args, &copy))
        status = STATUS_INVALID_PARAMETER;
    return port_callback_return(&cb, status);
}

void port_features_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbIsFeatureEnabled = is_feature_enabled;
    interface->DxgkCbQueryFeatureSupport = query_feature_support;
}
