/* SPDX-License-Identifier: MIT */
#include "wintrace/known.h"
#include "util/array.h"

#include <string.h>

#define PLACE                                                                  \
    "where something lies in a segment depends on what else is there, such as" \
    " allocations of other processes"
#define ADDRESS                                                                 \
    "GPU virtual addresses depend on the ranges that the driver and the system" \
    " have taken before the recording"
#define BUFFER "where a paging buffer ends depends on its size and on what other processes need"
#define SLICE  "time slices depend on times"

static const struct {
    uint16_t event;    /* 0: any */
    const char *field; /* NULL: the event itself */
    const char *reason;
} known[] = {
    {0, "SegmentOffset", PLACE},
    {0, "SourceSegmentOffset", PLACE},
    {0, "DestinationSegmentOffset", PLACE},
    {0, "SegmentAddress", PLACE},
    {0, "OffsetInPages", PLACE},
    {0, "uliOffset", PLACE},
    {0, "PageTableAddress", PLACE},
    {0, "SourcePageTable", PLACE},
    {0, "DestinationPageTable", PLACE},
    {0, "RootPageTableSegmentOffset", PLACE},
    {0, "SourceVirtualAddress", ADDRESS},
    {0, "DestinationVirtualAddress", ADDRESS},
    {0, "StartVirtualAddress", ADDRESS},
    {0, "EndVirtualAddress", ADDRESS},
    {0, "FirstPteVirtualAddress", ADDRESS},
    {0, "GpuVirtualAddress", ADDRESS},
    {0, "MonitoredFenceGpuVa", ADDRESS},
    {0, "ContextAllocation", ADDRESS},
    {0, "ContinueNextBuffer", BUFFER},
    {0, "QuantumStatus", SLICE},
    {313, NULL,
     "system memory is committed without a call into the driver: only Windows tells of it"},
    {314, NULL, "system memory is let go without a call into the driver: only Windows tells of it"},
    {181, NULL, "which VSync interrupts come depends on when the recording began and ended"},
};

static const char *find(uint16_t event, const char *field)
{
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        bool same = field && known[i].field ? strcmp(known[i].field, field) == 0
                                            : field == known[i].field;

        if (same && (!known[i].event || known[i].event == event))
            return known[i].reason;
    }
    return NULL;
}

const char *known_field(uint16_t event, const char *field)
{
    return find(event, field);
}

const char *known_event(uint16_t event)
{
    return find(event, NULL);
}
