/* SPDX-License-Identifier: MIT */
/* Queries answered from the machine: memory, bus, identity, and texts of the registry (KMT-065 to
 * KMT-079, KMT-095 to KMT-109). */
#include <stdio.h>
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/query_machine.h"
#include "bus/device.h"
#include "kmt/adapter.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "kmt/query_buffer.h"
#include "port/record/adapter_info.h"
#include "util/array.h"
#include "verify/refusal.h"
#include "vidmm/segment/segment_table.h"

static void widen(WCHAR *to, size_t capacity, const char *from)
{
    size_t i = 0;

    for (; from[i] && i + 1 < capacity; i++)
        to[i] = (WCHAR)(unsigned char)from[i];
    to[i] = 0;
}

/* ---- memory ---- */

static NTSTATUS segment_size(const struct kmt_query *query)
{
    const struct vidmm *vidmm = port_adapter_vidmm(query->adapter->port);
    D3DKMT_SEGMENTSIZEINFO info;

    memset(&info, 0, sizeof(info));
    if (vidmm)
        vidmm_segment_sizes(vidmm, &info); /* KMT-069 */
    return kmt_query_put(query, &info, sizeof(info));
}

/* KMT-078: only a report. */
static NTSTATUS working_set(const struct kmt_query *query)
{
    D3DKMT_WORKINGSETINFO info;

    memset(&info, 0, sizeof(info));
    info.Flags.UseDefault = 1;
    info.MaximumWorkingSetPercentile = 100;
    return kmt_query_put(query, &info, sizeof(info));
}

/* ---- bus ---- */

/* KMT-074. One bus, one device after the other, function 0. */
static NTSTATUS address(const struct kmt_query *query)
{
    D3DKMT_ADAPTERADDRESS answer = {0};

    for (struct port_adapter *p = port_adapter_first(query->adapter->process->kmt->port);
         p && p != query->adapter->port; p = port_adapter_next(p))
        answer.DeviceNumber++;
    return kmt_query_put(query, &answer, sizeof(answer));
}

static NTSTATUS adapter_count(const struct kmt_query *query)
{
    D3DKMT_PHYSICAL_ADAPTER_COUNT answer = {1}; /* KMT-095: there are no links */

    return kmt_query_put(query, &answer, sizeof(answer));
}

static NTSTATUS device_ids(const struct kmt_query *query)
{
    const struct dxgk_device_description *d = bus_device_description(
        port_adapter_bus_device(query->adapter->port));
    D3DKMT_QUERY_DEVICE_IDS answer;
    NTSTATUS status = kmt_query_get(query, &answer, sizeof(answer));

    if (!NT_SUCCESS(status))
        return status;
    if (answer.PhysicalAdapterIndex != 0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-062", "physical adapter %u, there is only 0",
                      (UINT)answer.PhysicalAdapterIndex);
    answer.DeviceIds = (D3DKMT_DEVICE_IDS){
        /* KMT-096 */
        .VendorID = d->vendor,
        .DeviceID = d->device,
        .SubVendorID = d->subsystem_vendor,
        .SubSystemID = d->subsystem,
        .RevisionID = d->revision,
        .BusType = 5, /* PCIBus of INTERFACE_TYPE */
    };
    return kmt_query_put(query, &answer, sizeof(answer));
}

/* ---- identity ---- */

static NTSTATUS guid(const struct kmt_query *query)
{
    GUID answer = port_adapter_guid(query->adapter->port);

    return kmt_query_put(query, &answer, sizeof(answer)); /* KMT-072 */
}

static NTSTATUS guid_text(const struct kmt_query *query)
{
    D3DKMT_QUERY_ADAPTER_UNIQUE_GUID answer;
    GUID g = port_adapter_guid(query->adapter->port);
    char text[40];

    memset(&answer, 0, sizeof(answer));
    snprintf(text, sizeof(text), "{%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X}",
             (unsigned)g.Data1, g.Data2, g.Data3, g.Data4[0], g.Data4[1], g.Data4[2], g.Data4[3],
             g.Data4[4], g.Data4[5], g.Data4[6], g.Data4[7]);
    widen(answer.AdapterUniqueGUID, sizeof(answer.AdapterUniqueGUID) / sizeof(WCHAR),
          text); /* KMT-073 */
    return kmt_query_put(query, &answer, sizeof(answer));
}

/* ---- texts ---- */

/* KMT-076, KMT-077: the adapter key has no such values. */
static NTSTATUS registry_info(const struct kmt_query *query)
{
    static const D3DKMT_ADAPTERREGISTRYINFO empty;

    return kmt_query_put(query, &empty, sizeof(empty));
}

/* KMT-109: the client's buffer is as long as it likes; cut, and terminated. */
static NTSTATUS service_name(const struct kmt_query *query)
{
    WCHAR text[64];
    size_t length = 0;

    memset(text, 0, sizeof(text));
    widen(text, ARRAY_COUNT(text), port_adapter_name(query->adapter->port));
    while (text[length])
        length++;
    return kmt_query_put(query, text, (length + 1) * sizeof(WCHAR));
}

static NTSTATUS driver_description(const struct kmt_query *query)
{
    WCHAR end = 0;

    if (query->bytes < sizeof(D3DKMT_DRIVER_DESCRIPTION))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-056", "a buffer of %u bytes for %zu",
                      query->bytes, sizeof(D3DKMT_DRIVER_DESCRIPTION));
    return kmt_query_put(query, &end, sizeof(end));
}

/* KMT-066: there is no list of user-mode drivers. */
static NTSTATUS user_mode_driver(const struct kmt_query *query)
{
    D3DKMT_UMDFILENAMEINFO info;
    NTSTATUS status = kmt_query_get(query, &info, sizeof(info));

    if (!NT_SUCCESS(status))
        return status;
    return (unsigned)info.Version <= KMTUMDVERSION_DX12
               ? refuse(STATUS_OBJECT_NAME_NOT_FOUND, "KMT-066",
                        "no user-mode driver is installed for version %u", (unsigned)info.Version)
               : refuse(STATUS_INVALID_PARAMETER, NULL, "version %u of user-mode driver is unknown",
                        (unsigned)info.Version);
}

static NTSTATUS opengl(const struct kmt_query *query)
{
    return query->bytes < sizeof(D3DKMT_OPENGLINFO)
               ? refuse(STATUS_INVALID_PARAMETER, "KMT-056", "a buffer of %u bytes for %zu",
                        query->bytes, sizeof(D3DKMT_OPENGLINFO))
               : refuse(STATUS_OBJECT_NAME_NOT_FOUND, "KMT-068", "no OpenGL driver is installed");
}

static NTSTATUS file_version(const struct kmt_query *query)
{
    LARGE_INTEGER none = {.QuadPart = 0}; /* KMT-106: an ELF image has none */

    return kmt_query_put(query, &none, sizeof(none));
}

static NTSTATUS answer_false(const struct kmt_query *query)
{
    BOOL no = FALSE;

    return kmt_query_put(query, &no, sizeof(no));
}

static NTSTATUS block_list(const struct kmt_query *query)
{
    D3DKMT_BLOCKLIST_INFO answer;

    memset(&answer, 0, sizeof(answer)); /* KMT-111 */
    return kmt_query_put(query, &answer, sizeof(answer));
}

static NTSTATUS paravirtualization(const struct kmt_query *query)
{
    D3DKMT_PARAVIRTUALIZATION answer = {.SecureContainer = FALSE};

    return kmt_query_put(query, &answer, sizeof(answer));
}

NTSTATUS kmt_query_machine(const struct kmt_query *query)
{
    switch (query->type) {
    case KMTQAITYPE_GETSEGMENTSIZE:
        return segment_size(query);
    case KMTQAITYPE_SETWORKINGSETINFO:
        return working_set(query);
    case KMTQAITYPE_ADAPTERADDRESS:
        return address(query);
    case KMTQAITYPE_PHYSICALADAPTERCOUNT:
        return adapter_count(query);
    case KMTQAITYPE_PHYSICALADAPTERDEVICEIDS:
        return device_ids(query);
    case KMTQAITYPE_ADAPTERGUID:
        return guid(query);
    case KMTQAITYPE_QUERY_ADAPTER_UNIQUE_GUID:
        return guid_text(query);
    case KMTQAITYPE_ADAPTERREGISTRYINFO:
        return registry_info(query);
    case KMTQAITYPE_SERVICENAME:
        return service_name(query);
    case KMTQAITYPE_DRIVER_DESCRIPTION:
        return driver_description(query);
    case KMTQAITYPE_UMDRIVERNAME:
        return user_mode_driver(query);
    case KMTQAITYPE_UMOPENGLINFO:
        return opengl(query);
    case KMTQAITYPE_UMD_DRIVER_VERSION:
    case KMTQAITYPE_KMD_DRIVER_VERSION:
        return file_version(query);
    case KMTQAITYPE_CHECKDRIVERUPDATESTATUS: /* KMT-079 */
        return answer_false(query);
    case KMTQAITYPE_BLOCKLIST_KERNEL:
    case KMTQAITYPE_BLOCKLIST_RUNTIME:
        return block_list(query);
    case KMTQAITYPE_PARAVIRTUALIZATION_RENDER:
        return paravirtualization(query);
    default:
        return STATUS_NOT_IMPLEMENTED;
    }
}
