/* SPDX-License-Identifier: MIT */
/*
 * Calls that name something of a display or of the window system. Neither exists here, so a display
 * name or a device context names nothing, and the rest is not carried out; but arguments that are
 * wrong without any display are refused as they are elsewhere (KMT-049, KMT-489).
 */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/call.h"
#include "kmt/handle.h"
#include "verify/refusal.h"

/* KMT-049: Windows answers so for every name that is not of a display of the desktop. */
NTSTATUS APIENTRY D3DKMTOpenAdapterFromGdiDisplayName(D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *args)
{
    struct refusal refusal;

    (void)args;
    refusal_begin(&refusal);
    (void)refuse(STATUS_UNSUCCESSFUL, "KMT-049", "no display of the desktop has this name");
    refusal_end(&refusal, "D3DKMTOpenAdapterFromGdiDisplayName", STATUS_UNSUCCESSFUL);
    return STATUS_UNSUCCESSFUL;
}

static NTSTATUS open_from_hdc(struct kmt_call *call, void *arguments)
{
    (void)call;
    (void)arguments;
    return refuse(STATUS_INVALID_PARAMETER, "KMT-049", "there is no display, and no HDC of one");
}

/* No value can be the handle of a window. */
static NTSTATUS check_occlusion(struct kmt_call *call, void *arguments)
{
    (void)call;
    (void)arguments;
    return refuse(STATUS_INVALID_PARAMETER, NULL, "there is no window that could be hidden");
}

KMT_IN_OUT(D3DKMTOpenAdapterFromHdc, D3DKMT_OPENADAPTERFROMHDC, open_from_hdc)
KMT_IN(D3DKMTCheckOcclusion, D3DKMT_CHECKOCCLUSION, check_occlusion)
