/* SPDX-License-Identifier: MIT */
/*
 * Adapters by the paths of their device interfaces (KMT-047, KMT-048). Windows publishes each
 * adapter in the class GUID_DISPLAY_DEVICE_ARRIVAL, of whatever kind it is, and programs that list
 * adapters also look in GUID_COMPUTE_DEVICE_ARRIVAL: either path opens it.
 */
#include <string.h>
#include <strings.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "port/record/adapter_info.h"
#include "util/array.h"
#include "verify/refusal.h"

#define LONGEST_PATH 260u

static const char *const classes[] = {
    "{1ca05180-a699-450a-9a0c-de4fbe3ddd89}", /* GUID_DISPLAY_DEVICE_ARRIVAL */
    "{1024e4c9-47c9-48d3-b4a8-f9df78523b53}", /* GUID_COMPUTE_DEVICE_ARRIVAL */
};

/* A client's name, of which anything that is not ASCII is no part of a path. */
static NTSTATUS copy_name(const WCHAR *user, char *name)
{
    for (size_t i = 0; i < LONGEST_PATH; i++) {
        WCHAR c;

        if (!kmt_client_get(&c, user ? user + i : NULL, sizeof(c)))
            return STATUS_INVALID_PARAMETER;
        name[i] = c < 0x80 ? (char)c : '?';
        if (c == 0)
            return STATUS_SUCCESS;
    }
    return refuse(STATUS_INVALID_PARAMETER, "KMT-047", "a device name of more than %u characters",
                  LONGEST_PATH - 1);
}

static bool is_path_of(const struct port_adapter *port, const char *name)
{
    char path[LONGEST_PATH];

    for (size_t i = 0; i < ARRAY_COUNT(classes); i++) {
        port_adapter_interface(port, classes[i], path, sizeof(path));
        if (path[0] && strcasecmp(path, name) == 0)
            return true;
    }
    return false;
}

static NTSTATUS open_from_device_name(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENADAPTERFROMDEVICENAME *args = arguments;
    char name[LONGEST_PATH];
    NTSTATUS status = copy_name(args->pDeviceName, name);

    if (status != STATUS_SUCCESS)
        return status;
    for (struct port_adapter *port = port_adapter_first(call->process->kmt->port); port;
         port = port_adapter_next(port)) {
        if (!kmt_adapter_is_listed(port) || !is_path_of(port, name))
            continue;
        args->AdapterLuid = port_adapter_luid(port);
        return kmt_adapter_open(call, port, &args->hAdapter);
    }
    return refuse(STATUS_INVALID_PARAMETER, "KMT-047", "no adapter has the device name '%s'", name);
}

KMT_IN_OUT(D3DKMTOpenAdapterFromDeviceName, D3DKMT_OPENADAPTERFROMDEVICENAME, open_from_device_name)
