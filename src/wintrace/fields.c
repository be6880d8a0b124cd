/* SPDX-License-Identifier: MIT */
#include "wintrace/fields.h"
#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* Sorted by name, for a binary search; others are plain, or pointers if that is their type. */
static const struct role {
    const char *name;
    enum field_role role;
} roles[] = {
    {"Alloc", FIELD_ALLOCATION},
    {"BindId", FIELD_IGNORED},
    {"CompositionSurfaceLuid", FIELD_IGNORED},
    {"DestinationSegmentId", FIELD_SEGMENT},
    {"DxgAdapter", FIELD_IGNORED},
    {"ExecutionTime100ns", FIELD_IGNORED},
    {"FenceValue", FIELD_FENCE},
    {"FlipFenceId", FIELD_FENCE},
    {"FlipPresentId", FIELD_SEQUENCE},
    {"FlipSubmitSequence", FIELD_SEQUENCE},
    {"FlipToAllocation", FIELD_OBJECT},
    {"FlipToDriverAllocation", FIELD_OBJECT},
    {"FlipToPhysicalAddress", FIELD_IGNORED},
    {"FlipToSegmentId", FIELD_SEGMENT},
    {"FrameNumber", FIELD_SEQUENCE},
    {"FrameQPCTime", FIELD_IGNORED},
    {"MonitoredFenceValue", FIELD_FENCE},
    {"ObjectArray", FIELD_OBJECT},
    {"PagingFenceValue", FIELD_FENCE},
    {"PagingQueue", FIELD_OBJECT},
    {"PresentAtQpc", FIELD_IGNORED},
    {"PresentCount", FIELD_SEQUENCE},
    {"PresentId", FIELD_SEQUENCE},
    {"PresentIdOrPhysicalAddress", FIELD_IGNORED},
    {"ProgressFenceValue", FIELD_FENCE},
    {"RootPageTableSegmentId", FIELD_SEGMENT},
    {"ScannedPhysicalAddress", FIELD_IGNORED},
    {"SegmentId", FIELD_SEGMENT},
    {"SequenceId", FIELD_FENCE},
    {"SourceSegmentId", FIELD_SEGMENT},
    {"SubmitSequence", FIELD_SEQUENCE},
    {"hAllocationGlobalHandle", FIELD_ALLOCATION},
    {"hAllocationHandle", FIELD_ALLOCATION},
    {"hContext", FIELD_CONTEXT},
    {"hGlobalAllocationHandle", FIELD_ALLOCATION},
    {"hSyncObject", FIELD_OBJECT},
    {"pDxgAdapter", FIELD_IGNORED},
    {"pPagingQueue", FIELD_OBJECT},
    {"pSyncObject", FIELD_OBJECT},
    {"uiSegmentId", FIELD_SEGMENT},
    {"ulQueueSubmitSequence", FIELD_SEQUENCE},
    {"uliCompletionId", FIELD_SUBMISSION},
    {"uliSubmissionId", FIELD_SUBMISSION},
};

static int compare(const void *name, const void *row)
{
    const struct role *role = row;

    return strcmp(name, role->name);
}

enum field_role field_role(const struct wintrace_kind *kind, unsigned field)
{
    const struct role *role = bsearch(kind->field[field].name, roles, ARRAY_COUNT(roles),
                                      sizeof(roles[0]), compare);

    if (role)
        return role->role;
    return kind->field[field].type == WINTRACE_POINTER ? FIELD_POINTER : FIELD_PLAIN;
}

unsigned field_find(const struct wintrace_kind *kind, const char *name)
{
    unsigned i = 0;

    while (i < kind->fields && strcmp(kind->field[i].name, name) != 0)
        i++;
    return i;
}
