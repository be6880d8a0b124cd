/* SPDX-License-Identifier: MIT */
/*
 * DMA adapters (NT-187): what a driver gets of IoGetDmaAdapter for its device, a table of
 * operations of its own, to PutDmaAdapter. The device is a bus master of the PCI bus; there is no
 * system DMA controller. Map registers are not needed: their number only bounds one transfer.
 */
#include "bus/device.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/state.h"
#include "nt/dma/dma_adapter.h"
#include "nt/dma/dma_context.h"
#include "nt/dma/dma_members.h"
#include "nt/dma/dma_record.h"
#include "nt/io/device_object.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define ISA_BITS 24u
#define PCI_BITS 32u

/* ---- members about the adapter itself ---- */

static void NTAPI put_adapter(PDMA_ADAPTER DmaAdapter)
{
    static const char routine[] = "PutDmaAdapter";
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_DISPATCH, "NT-187", NT_NO_CODE, routine))
        return;
    if (adapter->buffers != 0 || adapter->transfers != 0 || adapter->channels != 0) {
        VIOLATION(
            "NT-187",
            "%s with %u common buffer(s), %u mapped transfer(s) and %u adapter channel(s) left",
            routine, adapter->buffers, adapter->transfers, adapter->channels);
        return;
    }
    nt_dma_adapter_destroy(adapter);
}

static ULONG NTAPI get_alignment(PDMA_ADAPTER DmaAdapter)
{
    NT_ENTER();
    nt_level(NT_PASSIVE, "NT-187", NT_NO_CODE, "GetDmaAlignment");
    nt_dma_adapter_find(DmaAdapter, "GetDmaAlignment");
    return 1; /* caches are coherent with DMA */
}

static NTSTATUS NTAPI get_info(PDMA_ADAPTER DmaAdapter, PDMA_ADAPTER_INFO AdapterInfo)
{
    static const char routine[] = "GetDmaAdapterInfo";
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    adapter = nt_dma_adapter_find_v3(DmaAdapter, routine);
    if (!adapter || !AdapterInfo || !nt_level(NT_DISPATCH, "NT-192", NT_NO_CODE, routine))
        return STATUS_INVALID_PARAMETER;
    if (AdapterInfo->Version != DMA_ADAPTER_INFO_VERSION1)
        return STATUS_NOT_SUPPORTED;
    AdapterInfo->V1 = (DMA_ADAPTER_INFO_V1){
        .ScatterGatherLimit = adapter->scatter_gather ? adapter->map_registers : 1,
        .DmaAddressWidth = adapter->bits,
        .MinimumTransferUnit = 1,
    };
    return STATUS_SUCCESS;
}

static const DMA_OPERATIONS operations = {
    .PutDmaAdapter = put_adapter,
    .AllocateCommonBuffer = nt_dma_allocate_common_buffer,
    .FreeCommonBuffer = nt_dma_free_common_buffer,
    .AllocateAdapterChannel = nt_dma_allocate_channel,
    .FlushAdapterBuffers = nt_dma_flush_buffers,
    .FreeAdapterChannel = nt_dma_free_channel,
    .FreeMapRegisters = nt_dma_free_registers,
    .MapTransfer = nt_dma_map_transfer,
    .GetDmaAlignment = get_alignment,
    .ReadDmaCounter = nt_dma_read_counter,
    .GetScatterGatherList = nt_dma_get_list,
    .PutScatterGatherList = nt_dma_put_list,
    .CalculateScatterGatherList = nt_dma_calculate_list,
    .BuildScatterGatherList = nt_dma_build_list,
    .BuildMdlFromScatterGatherList = nt_dma_build_mdl,
    .GetDmaAdapterInfo = get_info,
    .GetDmaTransferInfo = nt_dma_transfer_info,
    .InitializeDmaTransferContext = nt_dma_initialize_context,
    .AllocateCommonBufferEx = nt_dma_allocate_common_buffer_ex,
    .AllocateAdapterChannelEx = nt_dma_allocate_channel_ex,
    .ConfigureAdapterChannel = nt_dma_configure_channel,
    .CancelAdapterChannel = nt_dma_cancel_channel,
    .MapTransferEx = nt_dma_map_transfer_ex,
    .GetScatterGatherListEx = nt_dma_get_list_ex,
    .BuildScatterGatherListEx = nt_dma_build_list_ex,
    .FlushAdapterBuffersEx = nt_dma_flush_buffers_ex,
    .FreeAdapterObject = nt_dma_free_object,
    .CancelMappedTransfer = nt_dma_cancel_transfer,
    .AllocateDomainCommonBuffer = nt_dma_allocate_domain_buffer,
    .FlushDmaBuffer = nt_dma_flush_buffer,
    .JoinDmaDomain = nt_dma_join_domain,
    .LeaveDmaDomain = nt_dma_leave_domain,
    .GetDmaDomain = nt_dma_get_domain,
    .AllocateCommonBufferWithBounds = nt_dma_allocate_common_buffer_with_bounds,
    .AllocateCommonBufferVector = nt_dma_allocate_vector,
    .GetCommonBufferFromVectorByIndex = nt_dma_vector_buffer,
    .FreeCommonBufferFromVector = nt_dma_free_from_vector,
    .FreeCommonBufferVector = nt_dma_free_vector,
    .CreateCommonBufferFromMdl = nt_dma_buffer_from_mdl,
};

/* ---- IoGetDmaAdapter ---- */

/* Bytes of the table that a version has. */
static ULONG table_bytes(ULONG version)
{
    switch (version) {
    case DEVICE_DESCRIPTION_VERSION:
    case DEVICE_DESCRIPTION_VERSION1:
        return offsetof(DMA_OPERATIONS, CalculateScatterGatherList);
    case DEVICE_DESCRIPTION_VERSION2:
        return offsetof(DMA_OPERATIONS, GetDmaAdapterInfo);
    default:
        return sizeof(DMA_OPERATIONS);
    }
}

static unsigned address_bits(const DEVICE_DESCRIPTION *description)
{
    if (description->Version >= DEVICE_DESCRIPTION_VERSION3)
        return description->DmaAddressWidth;
    if (description->Dma64BitAddresses)
        return 64;
    if (description->Dma32BitAddresses ||
        (description->ScatterGather && (description->InterfaceType == PCIBus ||
                                        description->InterfaceType == InterfaceTypeUndefined)))
        return PCI_BITS;
    return ISA_BITS;
}

static bool description_served(const DEVICE_DESCRIPTION *description)
{
    if (description->Version > DEVICE_DESCRIPTION_VERSION3) {
        VIOLATION("NT-187", "IoGetDmaAdapter of DEVICE_DESCRIPTION version %u: the highest is 3",
                  description->Version);
        return false;
    }
    if (!description->Master) {
        VIOLATION("NT-187", "IoGetDmaAdapter for a device that is no bus master: there is no system "
                            "DMA controller");
        return false;
    }
    if (address_bits(description) == 0 || address_bits(description) > 64) {
        VIOLATION("NT-187", "IoGetDmaAdapter with DmaAddressWidth %u: 1 to 64 bits can be",
                  description->DmaAddressWidth);
        return false;
    }
    return true;
}

static struct nt_dma_adapter *create(const DEVICE_DESCRIPTION *description,
                                     struct bus_device *device, const void *caller)
{
    struct nt_dma_adapter *adapter = nt_faults_due() ? NULL : util_zalloc(1, sizeof(*adapter));

    if (!adapter)
        return NULL;
    adapter->header.Version = 1; /* whatever was asked for */
    adapter->header.Size = sizeof(adapter->header);
    adapter->header.DmaOperations = &adapter->operations;
    adapter->operations = operations;
    adapter->operations.Size = table_bytes(description->Version);
    adapter->device = device;
    adapter->version = description->Version;
    adapter->bits = address_bits(description);
    adapter->scatter_gather = description->ScatterGather;
    adapter->map_registers = (ULONG)BYTES_TO_PAGES((uint64_t)description->MaximumLength) + 1;
    if (nt_dma_adapter_enter(adapter, caller))
        return adapter;
    util_free(adapter);
    return NULL;
}

NT_EXPORT struct _DMA_ADAPTER *NTAPI IoGetDmaAdapter(PDEVICE_OBJECT PhysicalDeviceObject,
                                                     struct _DEVICE_DESCRIPTION *DeviceDescription,
                                                     PULONG NumberOfMapRegisters)
{
    struct bus_device *device = nt_device_object_device(PhysicalDeviceObject);
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-187", NT_NO_CODE, __func__))
        return NULL;
    if (!DeviceDescription || !NumberOfMapRegisters || (PhysicalDeviceObject && !device)) {
        VIOLATION("NT-187", "%s with DeviceDescription %s, NumberOfMapRegisters %s, and %s",
                  __func__, DeviceDescription ? "given" : "NULL",
                  NumberOfMapRegisters ? "given" : "NULL",
                  device                 ? "a physical device object"
                  : PhysicalDeviceObject ? "a device object that is not the physical one"
                                         : "no device object");
        return NULL;
    }
    if (!description_served(DeviceDescription))
        return NULL;
    if (!device)
        WARNING("NT-187",
                "%s without a physical device object: where an IOMMU translates, the "
                "device does not reach what this adapter object allocates",
                __func__);
    adapter = create(DeviceDescription, device, NT_CALLER());
    if (!adapter)
        return NULL;
    *NumberOfMapRegisters = adapter->map_registers;
    return &adapter->header;
}
