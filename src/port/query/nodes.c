/* SPDX-License-Identifier: MIT */
/* The nodes: the type and addressing mode of each, and the entry points that it requires (CAPS-097
 * to CAPS-103). */
#include <string.h>

#include "port/query/nodes.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"

/* CAPS-101: a name is only for users, so a wrong one is reported but does not refuse the
 * adapter. */
static void check_name(UINT node, DXGKARG_GETNODEMETADATA *metadata)
{
    const size_t room = sizeof(metadata->FriendlyName) / sizeof(metadata->FriendlyName[0]);
    bool terminated = false;

    for (size_t c = 0; c < room; c++)
        terminated |= metadata->FriendlyName[c] == 0;
    if (!terminated ||
        (metadata->EngineType == DXGK_ENGINE_TYPE_OTHER) != (metadata->FriendlyName[0] != 0))
        WARNING("CAPS-101", "the FriendlyName of node %u must be %s for engine type %d", node,
                metadata->EngineType == DXGK_ENGINE_TYPE_OTHER ? "a terminated string" : "empty",
                (int)metadata->EngineType);
    if (!terminated)
        metadata->FriendlyName[room - 1] = 0;
}

/* Whether contexts of the node own hardware queues (CAPS-103): the driver says so, was granted the
 * feature, and has what the host would call. */
static bool is_hardware_scheduled(const struct port_adapter *adapter, UINT node)
{
    const struct ddi_adapter *d = &adapter->ddi;
    const char *missing = NULL;

    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_2 ||
        !adapter->nodes.node[node].metadata.Flags.ContextSchedulingSupported ||
        !ddi_feature_granted(d, DXGK_FEATURE_HWSCH))
        return false;
    if (!ddi_has(d, DxgkDdiCreateHwContext) || !ddi_has(d, DxgkDdiDestroyHwContext))
        missing = "DxgkDdiCreateHwContext or DxgkDdiDestroyHwContext is NULL";
    else if (!ddi_has(d, DxgkDdiCreateHwQueue) || !ddi_has(d, DxgkDdiDestroyHwQueue))
        missing = "DxgkDdiCreateHwQueue or DxgkDdiDestroyHwQueue is NULL";
    else if (!ddi_has(d, DxgkDdiSubmitCommandToHwQueue) || !ddi_has(d, DxgkDdiResetHwEngine))
        missing = "DxgkDdiSubmitCommandToHwQueue or DxgkDdiResetHwEngine is NULL";
    else if (!adapter->nodes.node[node].virtual_addressing)
        missing = "it has no GPU virtual addressing";
    if (missing)
        WARNING("CAPS-103",
                "node %u supports context scheduling, but %s: it is scheduled by packets", node,
                missing);
    return !missing;
}

static bool takes_user_mode(const struct port_adapter *adapter, UINT node)
{
    const struct ddi_adapter *d = &adapter->ddi;
    const bool complete = ddi_has(d, DxgkDdiCreateDoorbell) && ddi_has(d, DxgkDdiConnectDoorbell) &&
                          ddi_has(d, DxgkDdiDisconnectDoorbell) &&
                          ddi_has(d, DxgkDdiDestroyDoorbell);

    if (!adapter->nodes.node[node].metadata.Flags.UserModeSubmission ||
        !adapter->nodes.node[node].hardware_scheduled ||
        !ddi_feature_granted(d, DXGK_FEATURE_USER_MODE_SUBMISSION))
        return false;
    if (!complete)
        WARNING("SUBMIT-122", "node %u takes submissions from user mode, but an entry is NULL",
                node);
    return complete;
}

static NTSTATUS query_node(struct port_adapter *adapter, UINT node)
{
    DXGKARG_GETNODEMETADATA *metadata = &adapter->nodes.node[node].metadata;
    NTSTATUS status;

    memset(metadata, 0, sizeof(*metadata));
    status = ddi_get_node_metadata(&adapter->ddi, node, metadata);
    if (!NT_SUCCESS(status)) {
        PORT_FINDING(adapter, "CAPS-097", "DxgkDdiGetNodeMetadata of node %u failed with %s", node,
                     nt_status_text(status).text);
        memset(metadata, 0, sizeof(*metadata));
        metadata->GpuMmuSupported = adapter->caps.gpu_mmu;
        adapter->nodes.node[node].virtual_addressing = adapter->caps.gpu_mmu;
        return STATUS_SUCCESS;
    }
    if ((UINT)metadata->EngineType >= DXGK_ENGINE_TYPE_MAX) {
        PORT_FINDING(adapter, "CAPS-100", "node %u has engine type %d", node,
                     (int)metadata->EngineType);
        metadata->EngineType = DXGK_ENGINE_TYPE_OTHER;
    } else {
        check_name(node, metadata);
    }
    if (port_model_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_2 &&
        metadata->Flags.ContextSchedulingSupported &&
        !ddi_feature_granted(&adapter->ddi, DXGK_FEATURE_HWSCH))
        VIOLATION(
            "LIFE-126",
            "node %u supports context scheduling, but DXGK_FEATURE_HWSCH was not asked for and granted",
            node);
    /* CAPS-102: the metadata give the addressing mode of the node. */
    adapter->nodes.node[node].virtual_addressing = adapter->caps.gpu_mmu &&
                                                   metadata->GpuMmuSupported;
    adapter->nodes.node[node].hardware_scheduled = is_hardware_scheduled(adapter, node);
    adapter->nodes.node[node].user_mode_submission = takes_user_mode(adapter, node);
    return STATUS_SUCCESS;
}

/* CAPS-097, in strict mode: ask for a node that does not exist. */
static void probe_beyond(struct port_adapter *adapter)
{
    DXGKARG_GETNODEMETADATA metadata;
    NTSTATUS status;

    if (!verify_current || !verify_strict(verify_current))
        return;
    memset(&metadata, 0, sizeof(metadata));
    status = ddi_get_node_metadata(&adapter->ddi, adapter->nodes.count, &metadata);
    if (status != STATUS_INVALID_PARAMETER)
        VIOLATION("CAPS-097", "DxgkDdiGetNodeMetadata of node %u, which does not exist, returned %s",
                  adapter->nodes.count, nt_status_text(status).text);
}

/* CAPS-061, CAPS-062 */
static NTSTATUS check_models(struct port_adapter *adapter)
{
    if (!adapter->caps.driver.MemoryManagementCaps.GpuMmuSupported ||
        !adapter->caps.driver.MemoryManagementCaps.IoMmuSupported)
        return STATUS_SUCCESS;
    for (UINT i = 0; i < adapter->nodes.count; i++)
        if (adapter->nodes.node[i].metadata.GpuMmuSupported !=
            adapter->nodes.node[i].metadata.IoMmuSupported)
            PORT_FINDING(adapter, "CAPS-061",
                         "GpuMmu and IoMmu are given to different nodes (node %u)", i);
    WARNING("CAPS-061", "GpuMmu and IoMmu are both offered%s",
            adapter->caps.shared_address_space ? "" : "; GpuMmu is used");
    return STATUS_SUCCESS;
}

static NTSTATUS check_engine_types(struct port_adapter *adapter)
{
    UINT three_d = 0;

    for (UINT i = 0; i < adapter->nodes.count; i++)
        three_d += adapter->nodes.node[i].metadata.EngineType == DXGK_ENGINE_TYPE_3D;
    if (three_d > 1)
        WARNING("CAPS-099", "%u nodes are of type 3D", three_d);
    if (three_d == 0 && !adapter->ddi.compute_only)
        NOTE("CAPS-099", "no node is of type 3D: right for a driver without 3D work");
    return STATUS_SUCCESS;
}

/* The entry points that the host will call for these nodes (LIFE-023). */
static NTSTATUS check_node_entries(struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

    for (UINT i = 0; i < adapter->nodes.count; i++) {
        if (adapter->nodes.node[i].virtual_addressing)
            continue; /* GPUVA-004, LIFE-033 */
        if (!ddi_has(d, DxgkDdiRender) || !ddi_has(d, DxgkDdiPatch) ||
            !ddi_has(d, DxgkDdiSubmitCommand))
            PORT_REFUSE(
                "LIFE-023",
                "node %u has no GPU virtual addressing, but DxgkDdiRender, DxgkDdiPatch or DxgkDdiSubmitCommand is NULL",
                i);
    }
    return STATUS_SUCCESS;
}

NTSTATUS port_nodes_query(struct port_adapter *adapter)
{
    NTSTATUS status = STATUS_SUCCESS;

    memset(adapter->nodes.node, 0, sizeof(adapter->nodes.node));
    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM1_3 ||
        !ddi_has(&adapter->ddi, DxgkDdiGetNodeMetadata)) { /* CAPS-097 */
        for (UINT i = 0; i < adapter->nodes.count; i++)
            adapter->nodes.node[i].virtual_addressing = adapter->caps.gpu_mmu;
        return check_node_entries(adapter);
    }
    for (UINT i = 0; i < adapter->nodes.count && NT_SUCCESS(status); i++)
        status = query_node(adapter, i);
    if (!NT_SUCCESS(status))
        return status;
    probe_beyond(adapter);
    status = check_models(adapter);
    if (NT_SUCCESS(status))
        status = check_engine_types(adapter);
    return NT_SUCCESS(status) ? check_node_entries(adapter) : status;
}
