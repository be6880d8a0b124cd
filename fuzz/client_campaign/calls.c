/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <d3dkmthk.h>

/* ---- exports without a structure of their own: the arguments one after another ---- */

static NTSTATUS special_ShareObjects(void *arguments)
{
    uint64_t *a = arguments;

    return D3DKMTShareObjects((UINT)a[0], (const D3DKMT_HANDLE *)(uintptr_t)a[1],
                              (POBJECT_ATTRIBUTES)(uintptr_t)a[2], (DWORD)a[3], (HANDLE *)&a[4]);
}

static NTSTATUS special_GetPresentQueueEvent(void *arguments)
{
    uint64_t *a = arguments;

    return D3DKMTGetPresentQueueEvent((D3DKMT_HANDLE)a[0], (HANDLE *)&a[1]);
}

static NTSTATUS special_SetProcessSchedulingPriorityClass(void *arguments)
{
    const uint64_t *a = arguments;

    return D3DKMTSetProcessSchedulingPriorityClass((HANDLE)(uintptr_t)a[0],
                                                   (D3DKMT_SCHEDULINGPRIORITYCLASS)a[1]);
}

static NTSTATUS special_GetProcessSchedulingPriorityClass(void *arguments)
{
    uint64_t *a = arguments;

    return D3DKMTGetProcessSchedulingPriorityClass((HANDLE)(uintptr_t)a[0],
                                                   (D3DKMT_SCHEDULINGPRIORITYCLASS *)&a[1]);
}

static NTSTATUS special_ReleaseProcessVidPnSourceOwners(void *arguments)
{
    const uint64_t *a = arguments;

    return D3DKMTReleaseProcessVidPnSourceOwners((HANDLE)(uintptr_t)a[0]);
}

static NTSTATUS special_CheckExclusiveOwnership(void *arguments)
{
    (void)arguments;
    (void)D3DKMTCheckExclusiveOwnership();
    return STATUS_SUCCESS;
}

static NTSTATUS special_CloseDxCoreDevice(void *arguments)
{
    (void)arguments;
    D3DKMTCloseDxCoreDevice();
    return STATUS_SUCCESS;
}

#include "calls.inc"

_Static_assert(sizeof(calls) / sizeof(calls[0]) == CALLS, "another export: CALLS follows");

const struct call *call_at(size_t index)
{
    return index < CALLS ? &calls[index] : NULL;
}

const struct structure *structure_at(int index)
{
    return &structures[index];
}

const struct member *member_at(const struct structure *structure, uint32_t index)
{
    return &members[structure->first + index];
}

int64_t constant_of(int enumeration, uint32_t random)
{
    const struct enumeration *of = &enumerations[enumeration];

    return constants[of->first + random % of->count];
}
