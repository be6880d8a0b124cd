/* SPDX-License-Identifier: MIT */
/* The translated resource list, made of the device's BARs and messages (LIFE-089 to LIFE-091). */
#include "port/callbacks/resources.h"
#include "bus/device.h"
#include "bus/ports.h"
#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "sim/irql.h"
#include "sim/machine.h"

#define SHARE_DEVICE_EXCLUSIVE 1 /* CmResourceShareDeviceExclusive */
#define FIRST_VECTOR           0x50u

static void describe_memory(CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor, uint64_t start,
                            uint64_t bytes, bool prefetchable)
{
    descriptor->ShareDisposition = SHARE_DEVICE_EXCLUSIVE;
    descriptor->u.Memory.Start.QuadPart = (LONGLONG)start;
    if (bytes <= UINT32_MAX) {
        descriptor->Type = CmResourceTypeMemory;
        descriptor->u.Memory.Length = (ULONG)bytes;
    } else if (bytes >> 8 <= UINT32_MAX) {
        descriptor->Type = CmResourceTypeMemoryLarge;
        descriptor->Flags = CM_RESOURCE_MEMORY_LARGE_40;
        descriptor->u.Memory40.Length40 = (ULONG)(bytes >> 8);
    } else {
        descriptor->Type = CmResourceTypeMemoryLarge;
        descriptor->Flags = CM_RESOURCE_MEMORY_LARGE_48;
        descriptor->u.Memory48.Length48 = (ULONG)(bytes >> 16);
    }
    if (prefetchable)
        descriptor->Flags |= CM_RESOURCE_MEMORY_PREFETCHABLE;
}

static void describe_ports(CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor, uint32_t start,
                           uint64_t count)
{
    descriptor->Type = CmResourceTypePort;
    descriptor->ShareDisposition = SHARE_DEVICE_EXCLUSIVE;
    descriptor->Flags = CM_RESOURCE_PORT_IO | CM_RESOURCE_PORT_16_BIT_DECODE;
    descriptor->u.Port.Start.QuadPart = start;
    descriptor->u.Port.Length = (ULONG)count;
}

/* Memory and port ranges in the order of the BARs, then one descriptor per message. */
static void describe(const struct port_adapter *adapter, CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++)
        if (d->bar[bar].kind == DXGK_BAR_PORTS)
            describe_ports(descriptor++, bus_device_port(adapter->device, bar), d->bar[bar].bytes);
        else if (d->bar[bar].kind != DXGK_BAR_NONE)
            describe_memory(descriptor++, bus_device_bar(adapter->device, bar).value,
                            d->bar[bar].bytes, d->bar[bar].kind == DXGK_BAR_MEMORY);
    for (uint32_t message = 0; message < d->messages; message++, descriptor++) {
        descriptor->Type = CmResourceTypeInterrupt;
        descriptor->ShareDisposition = SHARE_DEVICE_EXCLUSIVE;
        descriptor->Flags = CM_RESOURCE_INTERRUPT_LATCHED | CM_RESOURCE_INTERRUPT_MESSAGE;
        descriptor->u.MessageInterrupt.Translated.Level = SIM_IRQL_DEVICE;
        descriptor->u.MessageInterrupt.Translated.Vector = FIRST_VECTOR + message;
        descriptor->u.MessageInterrupt.Translated.Affinity =
            sim_current->processors < 64 ? (1ull << sim_current->processors) - 1 : ~0ull;
    }
}

NTSTATUS port_resources_create(struct port_adapter *adapter)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);
    ULONG count = d->messages;
    CM_RESOURCE_LIST *list;

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++)
        count += d->bar[bar].kind != DXGK_BAR_NONE;
    ddi_loan_finish(&adapter->resource_loan); /* of an earlier start */
    if (!ddi_loan_init(&adapter->resource_loan,
                       sizeof(*list) + count * sizeof(CM_PARTIAL_RESOURCE_DESCRIPTOR), "LIFE-091",
                       "the translated resource list",
                       ", which is read-only and gone after StopDevice"))
        return STATUS_NO_MEMORY;
    list = adapter->resource_loan.address;
    list->Count = count ? 1 : 0;
    list->List[0].InterfaceType = PCIBus;
    list->List[0].PartialResourceList.Version = 1;
    list->List[0].PartialResourceList.Revision = 1;
    list->List[0].PartialResourceList.Count = count;
    describe(adapter, list->List[0].PartialResourceList.PartialDescriptors);
    ddi_loan_protect(&adapter->resource_loan);
    return STATUS_SUCCESS;
}

void port_resources_revoke(struct port_adapter *adapter)
{
    if (adapter->resource_loan.address)
        ddi_loan_revoke(&adapter->resource_loan);
}
