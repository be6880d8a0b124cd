/* SPDX-License-Identifier: MIT */
#include "wintrace/fields.h"
#include "util/array.h"

#include <string.h>

/* By name; others are plain, or pointers if that is their type. */
static const struct {
    const char *name;
    enum field_role role;
} roles[] = {
    {"pDxgAdapter", FIELD_IGNORED},
    {"DxgAdapter", FIELD_IGNORED},
    {"FrameQPCTime", FIELD_IGNORED},
    {"ExecutionTime100ns", FIELD_IGNORED},
    {"PresentAtQpc", FIELD_IGNORED},
    {"ScannedPhysicalAddress", FIELD_IGNORED},
    {"PresentIdOrPhysicalAddress", FIELD_IGNORED},
    {"FlipToPhysicalAddress", FIELD_IGNORED},
    {"CompositionSurfaceLuid", FIELD_IGNORED},
    {"BindId", FIELD_IGNORED},
    {"hContext", FIELD_CONTEXT},
    {"hAllocationGlobalHandle", FIELD_ALLOCATION},
    {"hAllocationHandle", FIELD_ALLOCATION},
    {"hGlobalAllocationHandle", FIELD_ALLOCATION},
    {"Alloc", FIELD_ALLOCATION},
    {"FlipToAllocation", FIELD_OBJECT},
    {"FlipToDriverAllocation", FIELD_OBJECT},
    {"hSyncObject", FIELD_OBJECT},
    {"ObjectArray", FIELD_OBJECT},
    {"pSyncObject", FIELD_OBJECT},
    {"PagingQueue", FIELD_OBJECT},
    {"pPagingQueue", FIELD_OBJECT},
    {"SegmentId", FIELD_SEGMENT},
    {"SourceSegmentId", FIELD_SEGMENT},
    {"DestinationSegmentId", FIELD_SEGMENT},
    {"RootPageTableSegmentId", FIELD_SEGMENT},
    {"FlipToSegmentId", FIELD_SEGMENT},
    {"uiSegmentId", FIELD_SEGMENT},
    {"uliSubmissionId", FIELD_SUBMISSION},
    {"uliCompletionId", FIELD_SUBMISSION},
    {"SubmitSequence", FIELD_SEQUENCE},
    {"ulQueueSubmitSequence", FIELD_SEQUENCE},
    {"FlipSubmitSequence", FIELD_SEQUENCE},
    {"FrameNumber", FIELD_SEQUENCE},
    {"FlipPresentId", FIELD_SEQUENCE},
    {"PresentId", FIELD_SEQUENCE},
    {"PresentCount", FIELD_SEQUENCE},
    {"SequenceId", FIELD_FENCE},
    {"FenceValue", FIELD_FENCE},
    {"ProgressFenceValue", FIELD_FENCE},
    {"PagingFenceValue", FIELD_FENCE},
    {"MonitoredFenceValue", FIELD_FENCE},
    {"FlipFenceId", FIELD_FENCE},
};

enum field_role field_role(const struct wintrace_kind *kind, unsigned field)
{
    for (size_t i = 0; i < ARRAY_COUNT(roles); i++)
        if (strcmp(roles[i].name, kind->field[field].name) == 0)
            return roles[i].role;
    return kind->field[field].type == WINTRACE_POINTER ? FIELD_POINTER : FIELD_PLAIN;
}

unsigned field_find(const struct wintrace_kind *kind, const char *name)
{
    unsigned i = 0;

    while (i < kind->fields && strcmp(kind->field[i].name, name) != 0)
        i++;
    return i;
}
