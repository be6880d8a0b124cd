/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/registration_display.h"
#include "port/record/boundary.h"
#include "port/record/machine.h"
#include "port/record/versions.h"
#include "verify/verify.h"

/* Members that both tables have. */
#define COMMON(X)                                      \
    X(DxgkDdiAddDevice)                                \
    X(DxgkDdiStartDevice)                              \
    X(DxgkDdiStopDevice)                               \
    X(DxgkDdiRemoveDevice)                             \
    X(DxgkDdiDispatchIoRequest)                        \
    X(DxgkDdiInterruptRoutine)                         \
    X(DxgkDdiDpcRoutine)                               \
    X(DxgkDdiQueryChildRelations)                      \
    X(DxgkDdiQueryChildStatus)                         \
    X(DxgkDdiQueryDeviceDescriptor)                    \
    X(DxgkDdiSetPowerState)                            \
    X(DxgkDdiNotifyAcpiEvent)                          \
    X(DxgkDdiResetDevice)                              \
    X(DxgkDdiUnload)                                   \
    X(DxgkDdiQueryInterface)                           \
    X(DxgkDdiControlEtwLogging)                        \
    X(DxgkDdiQueryAdapterInfo)                         \
    X(DxgkDdiSetPalette)                               \
    X(DxgkDdiSetPointerPosition)                       \
    X(DxgkDdiSetPointerShape)                          \
    X(DxgkDdiEscape)                                   \
    X(DxgkDdiCollectDbgInfo)                           \
    X(DxgkDdiIsSupportedVidPn)                         \
    X(DxgkDdiRecommendFunctionalVidPn)                 \
    X(DxgkDdiEnumVidPnCofuncModality)                  \
    X(DxgkDdiSetVidPnSourceVisibility)                 \
    X(DxgkDdiCommitVidPn)                              \
    X(DxgkDdiUpdateActiveVidPnPresentPath)             \
    X(DxgkDdiRecommendMonitorModes)                    \
    X(DxgkDdiGetScanLine)                              \
    X(DxgkDdiQueryVidPnHWCapability)                   \
    X(DxgkDdiStopDeviceAndReleasePostDisplayOwnership) \
    X(DxgkDdiSystemDisplayEnable)                      \
    X(DxgkDdiSystemDisplayWrite)                       \
    X(DxgkDdiGetChildContainerId)                      \
    X(DxgkDdiControlInterrupt)                         \
    X(DxgkDdiSetPowerComponentFState)                  \
    X(DxgkDdiPowerRuntimeControlRequest)               \
    X(DxgkDdiNotifySurpriseRemoval)

/* DISP-006: no picture without these. */
#define REQUIRED(X)                    \
    X(DxgkDdiAddDevice)                \
    X(DxgkDdiStartDevice)              \
    X(DxgkDdiStopDevice)               \
    X(DxgkDdiRemoveDevice)             \
    X(DxgkDdiQueryAdapterInfo)         \
    X(DxgkDdiQueryChildRelations)      \
    X(DxgkDdiQueryChildStatus)         \
    X(DxgkDdiQueryDeviceDescriptor)    \
    X(DxgkDdiIsSupportedVidPn)         \
    X(DxgkDdiEnumVidPnCofuncModality)  \
    X(DxgkDdiSetVidPnSourceVisibility) \
    X(DxgkDdiCommitVidPn)              \
    X(DxgkDdiPresentDisplayOnly)

/* The host can do without these. */
#define EXPECTED(X)                    \
    X(DxgkDdiResetDevice)              \
    X(DxgkDdiUnload)                   \
    X(DxgkDdiSetPowerState)            \
    X(DxgkDdiRecommendFunctionalVidPn) \
    X(DxgkDdiUpdateActiveVidPnPresentPath)

static bool entries_missing(const KMDDOD_INITIALIZATION_DATA *d)
{
    const struct {
        const char *name;
        bool there, required;
    } entries[] = {
#define ROW(entry) {#entry, d->entry != NULL, true},
        REQUIRED(ROW)
#undef ROW
#define ROW(entry) {#entry, d->entry != NULL, false},
            EXPECTED(ROW)
#undef ROW
    };
    bool refused = false;

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (entries[i].there)
            continue;
        if (entries[i].required) {
            verify_refusal("DISP-006", "%s is NULL", entries[i].name);
            refused = true;
        } else {
            refused |= verify_expected("DISP-006", "%s is NULL; it is never called",
                                       entries[i].name);
        }
    }
    return refused;
}

/* DISP-008: both or none; one that is alone is not used. */
static bool interrupt_is_half(KMDDOD_INITIALIZATION_DATA *d)
{
    const bool refused = !d->DxgkDdiInterruptRoutine != !d->DxgkDdiDpcRoutine &&
                         verify_finding(
                             "DISP-008", "%s is NULL, and %s is not",
                             d->DxgkDdiDpcRoutine ? "DxgkDdiInterruptRoutine" : "DxgkDdiDpcRoutine",
                             d->DxgkDdiDpcRoutine ? "DxgkDdiDpcRoutine" : "DxgkDdiInterruptRoutine");

    if (!d->DxgkDdiInterruptRoutine)
        d->DxgkDdiDpcRoutine = NULL;
    if (!d->DxgkDdiDpcRoutine)
        d->DxgkDdiInterruptRoutine = NULL;
    return refused;
}

/* DISP-009, DISP-010: all four for VSync control, else neither of two, which are not used then. */
static bool control_is_half(KMDDOD_INITIALIZATION_DATA *d)
{
    bool refused;
    const char *missing = !d->DxgkDdiControlInterrupt   ? "DxgkDdiControlInterrupt"
                          : !d->DxgkDdiGetScanLine      ? "DxgkDdiGetScanLine"
                          : !d->DxgkDdiInterruptRoutine ? "DxgkDdiInterruptRoutine"
                                                        : NULL;

    if (!missing || (!d->DxgkDdiControlInterrupt && !d->DxgkDdiGetScanLine))
        return false;
    refused = verify_finding(
        "DISP-010",
        "%s is NULL, and %s is not: VSync control needs both, a service routine and a DPC", missing,
        d->DxgkDdiControlInterrupt ? "DxgkDdiControlInterrupt" : "DxgkDdiGetScanLine");
    d->DxgkDdiControlInterrupt = NULL;
    d->DxgkDdiGetScanLine = NULL;
    return refused;
}

/* DISP-004: of an interface version that Windows has published, from WIN8 on. */
static bool version_is_known(const struct port *port, ULONG version)
{
    const size_t bytes = port_version_table_bytes(version);

    if (bytes && version >= DXGKDDI_INTERFACE_VERSION_WIN8 && version <= port_version_of_host(port))
        return true;
    verify_refusal("DISP-004", "the driver was built for interface version 0x%x, which %s",
                   (unsigned)version,
                   !bytes                                     ? "does not exist"
                   : version < DXGKDDI_INTERFACE_VERSION_WIN8 ? "has no display-only drivers"
                                                              : "is newer than the host's");
    return false;
}

NTSTATUS port_display_only_table(struct port *port, const KMDDOD_INITIALIZATION_DATA *data,
                                 DRIVER_INITIALIZATION_DATA *table,
                                 PDXGKDDI_PRESENTDISPLAYONLY *present)
{
    KMDDOD_INITIALIZATION_DATA d;
    ULONG version = 0;

    if (!PORT_TAKE_MEMBER(KMDDOD_INITIALIZATION_DATA, &version, data, Version))
        return STATUS_INVALID_PARAMETER;
    if (!version_is_known(port, version))
        return STATUS_REVISION_MISMATCH;
    if (!PORT_TAKE_VERSION(KMDDOD_INITIALIZATION_DATA, version, &d, data))
        return STATUS_INVALID_PARAMETER;
    if (entries_missing(&d) || interrupt_is_half(&d) || control_is_half(&d))
        return STATUS_INVALID_PARAMETER;
    memset(table, 0, sizeof(*table));
    table->Version = version;
#define COPY(entry) table->entry = d.entry;
    COMMON(COPY)
#undef COPY
    *present = d.DxgkDdiPresentDisplayOnly;
    return STATUS_SUCCESS;
}
