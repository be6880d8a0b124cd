/* SPDX-License-Identifier: MIT */
#include "wintrace/touched.h"
#include "util/array.h"
#include "wintrace/ids.h"

#include <stddef.h>
#include <string.h>

/* The first row that fits is taken; field NULL: any, or that the event is there at all. */
static const struct {
    uint16_t event; /* 0: any */
    const char *field, *rule;
} touched[] = {
    {0, "SegmentId", "SEG-063"},
    {0, "SourceSegmentId", "SEG-063"},
    {0, "DestinationSegmentId", "SEG-063"},
    {0, "uiSegmentId", "SEG-063"},
    {EVENT_DMA_START, "uliSubmissionId", "SUBMIT-039"},
    {EVENT_DMA_START, NULL, "SUBMIT-017"},
    {EVENT_DMA_REPORTED, "InterruptType", "PREEMPT-012"},
    {EVENT_DMA_REPORTED, NULL, "SUBMIT-018"},
    {EVENT_DMA_STOP, "bPreempted", "PREEMPT-022"},
    {EVENT_DMA_STOP, NULL, "SUBMIT-047"},
    {EVENT_QUEUE_START, NULL, "SUBMIT-017"},
    {EVENT_QUEUE_INFO, NULL, "SUBMIT-017"},
    {EVENT_QUEUE_STOP, "bPreempted", "PREEMPT-022"},
    {EVENT_QUEUE_STOP, NULL, "SUBMIT-047"},
    {EVENT_QUEUE_WAIT, NULL, "SUBMIT-128"},
    {EVENT_QUEUE_SIGNAL, NULL, "SUBMIT-129"},
    {EVENT_UNWAIT, NULL, "SUBMIT-128"},
    {54, NULL, "RES-060"},
    {307, NULL, "GPUVA-237"},
    {EVENT_PAGING_VIRTUAL_TRANSFER, "TransferDirection", "GPUVA-234"},
    {EVENT_PAGING_VIRTUAL_TRANSFER, NULL, "GPUVA-233"},
    {58, NULL, "SEG-043"},
    {59, NULL, "SEG-043"},
    {308, NULL, "PAGE-074"},
    {309, NULL, "GPUVA-187"},
    {EVENT_FLUSH_TLB, NULL, "GPUVA-217"},
    {EVENT_PAGING_NOTIFY_RESIDENCY, NULL, "GPUVA-239"},
    {53, NULL, "PAGE-025"},
    {55, NULL, "PAGE-025"},
    {EVENT_PAGING_SIGNAL_FENCE, NULL, "PAGE-078"},
    {EVENT_PAGING_START_DEVICE, NULL, "GPUVA-068"},
    {EVENT_PAGING_START, NULL, "GPUVA-068"},
    {EVENT_PAGING_STOP, NULL, "GPUVA-068"},
    {EVENT_MAKE_RESIDENT_STOP, NULL, "RES-014"},
    {EVENT_MAKE_RESIDENT_START, NULL, "RES-014"},
};

const char *touched_rule(uint16_t event, const char *field)
{
    for (size_t i = 0; i < ARRAY_COUNT(touched); i++)
        if ((!touched[i].event || touched[i].event == event) &&
            (!touched[i].field || (field && strcmp(touched[i].field, field) == 0)))
            return touched[i].rule;
    return NULL;
}
