/* SPDX-License-Identifier: MIT */
/*
 * A driver for tests of the fuzzer: the compute-only one with private requests, whose handler has two mistakes. With
 * FUZZED_REPAIRED it has none.
 *
 *   - FUZZED_SET takes an index that it does not compare with the length of its table;
 *   - FUZZED_CONVERT frees its copy of the request twice for one pair of fields.
 */
#include "../compute/compute.h"

#define FUZZED_MAGIC 0x5A5A5546u /* "FUZZ" */
#define FUZZED_SLOTS 16u
#define FUZZED_TAG   0x7A7A7546u

enum { FUZZED_QUERY, FUZZED_SET, FUZZED_GET, FUZZED_CONVERT };

typedef struct _FUZZED_REQUEST {
    UINT Magic, Code, Index, Value, From, To;
} FUZZED_REQUEST;

static UINT FuzzedValues[FUZZED_SLOTS];
static UINT *FuzzedSlots[FUZZED_SLOTS]; /* NULL: not set yet */

static NTSTATUS Set(const FUZZED_REQUEST *Request)
{
#ifdef FUZZED_REPAIRED
    if (Request->Index >= FUZZED_SLOTS)
        return STATUS_INVALID_PARAMETER;
#endif
    if (Request->Index < FUZZED_SLOTS)
        FuzzedSlots[Request->Index] = &FuzzedValues[Request->Index];
    *FuzzedSlots[Request->Index] = Request->Value;
    return STATUS_SUCCESS;
}

static NTSTATUS Get(FUZZED_REQUEST *Request)
{
    if (Request->Index >= FUZZED_SLOTS || !FuzzedSlots[Request->Index])
        return STATUS_INVALID_PARAMETER;
    Request->Value = *FuzzedSlots[Request->Index];
    return STATUS_SUCCESS;
}

static NTSTATUS Convert(FUZZED_REQUEST *Request)
{
    FUZZED_REQUEST *copy = (FUZZED_REQUEST *)ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*copy),
                                                                   FUZZED_TAG);
    NTSTATUS status = STATUS_SUCCESS;

    if (!copy)
        return STATUS_NO_MEMORY;
    *copy = *Request;
    if (copy->From == 0x21 && copy->To == 0x3007) {
        status = STATUS_NOT_SUPPORTED;
#ifndef FUZZED_REPAIRED
        ExFreePoolWithTag(copy, FUZZED_TAG);
#endif
    } else {
        Request->Value = copy->Value + copy->To - copy->From;
    }
    ExFreePoolWithTag(copy, FUZZED_TAG);
    return status;
}

NTSTATUS NTAPI FuzzedEscape(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_ESCAPE pEscape);

NTSTATUS NTAPI FuzzedEscape(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_ESCAPE pEscape)
{
    FUZZED_REQUEST *request = (FUZZED_REQUEST *)pEscape->pPrivateDriverData;

    UNREFERENCED_PARAMETER(hAdapter);
    if (!request || pEscape->PrivateDriverDataSize < sizeof(*request))
        return STATUS_BUFFER_TOO_SMALL;
    if (request->Magic != FUZZED_MAGIC)
        return STATUS_INVALID_PARAMETER;
    switch (request->Code) {
    case FUZZED_QUERY:
        request->Value = FUZZED_SLOTS;
        return STATUS_SUCCESS;
    case FUZZED_SET:
        return Set(request);
    case FUZZED_GET:
        return Get(request);
    case FUZZED_CONVERT:
        return Convert(request);
    default:
        return STATUS_INVALID_PARAMETER;
    }
}
