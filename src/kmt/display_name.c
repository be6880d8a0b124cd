/* SPDX-License-Identifier: MIT */
/*
 * Adapters by the name of a display, or by its device context (PRES-260, PRES-261). All sources of
 * all started adapters are displays of the desktop: DISPLAY1 is the first source of the first
 * adapter. The host has no device contexts: n stands for that of DISPLAYn.
 */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "port/record/adapter_info.h"
#include "util/array.h"
#include "verify/refusal.h"

/* The adapter of the n-th display, from 1 on; NULL: there are not so many. */
static struct port_adapter *find(const struct kmt_call *call, uint64_t n, UINT *source)
{
    struct port_adapter *port = port_adapter_first(call->process->kmt->port);

    for (; n && port; port = port_adapter_next(port)) {
        const ULONG sources = kmt_adapter_is_listed(port) ? port_adapter_sources(port) : 0;

        if (n <= sources) {
            *source = (UINT)n - 1;
            return port;
        }
        n -= sources;
    }
    return NULL;
}

/* Of \\.\DISPLAYn; 0: it is no such name. */
static uint64_t number_of(const WCHAR *name, size_t most)
{
    static const WCHAR start[] = L"\\\\.\\DISPLAY";
    const size_t length = ARRAY_COUNT(start) - 1;
    uint64_t n = 0;

    if (memcmp(name, start, length * sizeof(*start)) != 0 || name[length] == L'0')
        return 0;
    for (size_t i = length; i < most && name[i]; i++) {
        if (name[i] < L'0' || name[i] > L'9' || n > UINT32_MAX)
            return 0;
        n = n * 10 + (uint64_t)(name[i] - L'0');
    }
    return n;
}

static NTSTATUS open_by_name(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *args = arguments;
    struct port_adapter *port = find(
        call, number_of(args->DeviceName, ARRAY_COUNT(args->DeviceName)), &args->VidPnSourceId);

    if (!port) /* KMT-049 */
        return refuse(STATUS_UNSUCCESSFUL, "PRES-260", "no display of the desktop has this name");
    args->AdapterLuid = port_adapter_luid(port);
    return kmt_adapter_open(call, port, &args->hAdapter);
}

/* KMT-049: Windows answers so for no argument, too. */
NTSTATUS APIENTRY D3DKMTOpenAdapterFromGdiDisplayName(D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *user)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME arguments;
    struct refusal refusal;

    if (user)
        return kmt_call_run(__func__, open_by_name, user, &arguments, sizeof(arguments), KMT_WRITES);
    refusal_begin(&refusal);
    (void)refuse(STATUS_UNSUCCESSFUL, "PRES-260", "no name of a display");
    refusal_end(&refusal, __func__, STATUS_UNSUCCESSFUL);
    return STATUS_UNSUCCESSFUL;
}

static NTSTATUS open_by_context(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENADAPTERFROMHDC *args = arguments;
    struct port_adapter *port = find(call, (uintptr_t)args->hDc, &args->VidPnSourceId);

    if (!port)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-261", "%p is no device context of a display",
                      (const void *)args->hDc);
    args->AdapterLuid = port_adapter_luid(port);
    return kmt_adapter_open(call, port, &args->hAdapter);
}

KMT_IN_OUT(D3DKMTOpenAdapterFromHdc, D3DKMT_OPENADAPTERFROMHDC, open_by_context)
