/* SPDX-License-Identifier: MIT */
/*
 * What is in a history buffer was written by a driver's part in user mode and by the GPU, so each
 * number is checked before use.
 *
 *     DXGK_HISTORY_BUFFER_HEADER | PrivateDataSize bytes | NumTimestamps of 4 or 8 bytes
 */
#include "vidsch/history.h"
#include <string.h>

#include "ddi/entries_clock.h"
#include "ddi/guarded.h"
#include "nt/base/status_name.h"
#include "util/alloc.h"
#include "vidmm/allocation/scanout.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"

#define FORMATTED_BYTES ((uint32_t)PAGE_BYTES) /* what one call of the driver may fill */
#define STAMPS_AT       offsetof(DXGK_HISTORY_BUFFER, DriverPrivateData)

struct history_copy {
    struct list link; /* vidsch->histories.waiting */
    struct vidsch_context *context;
    uint32_t fence;
    struct ddi_guarded buffer;
    uint32_t bytes;
};

/* An array of time stamps. */
struct stamps {
    const uint8_t *first;
    uint32_t count, bits;
};

static void free_copy(struct history_copy *copy)
{
    ddi_guarded_finish(&copy->buffer);
    util_free(copy);
}

/* ---- when a packet has run ---- */

static void copy_one(const struct packet *packet, struct vidmm_allocation *allocation)
{
    const uint64_t bytes = vidmm_scanout_bytes(allocation);
    struct vidsch *vidsch = packet->context->device->vidsch;
    struct history_copy *copy = bytes <= UINT32_MAX ? util_zalloc(1, sizeof(*copy)) : NULL;

    if (!copy)
        return;
    copy->context = packet->context;
    copy->fence = packet->fence;
    copy->bytes = (uint32_t)bytes;
    list_init(&copy->link);
    if (!ddi_guarded_init(&copy->buffer, bytes, "pHistoryBuffer of DXGKARG_FORMATHISTORYBUFFER") ||
        !vidmm_scanout_read(allocation, copy->buffer.data, bytes)) {
        free_copy(copy);
        return;
    }
    list_push_back(&vidsch->histories.waiting, &copy->link);
    vidsch_kick_worker(vidsch);
}

void vidsch_history_note(const struct packet *packet)
{
    const struct dma_buffer *buffer = packet->buffer;
    struct vidmm_device *device = packet->context->device->mm;

    if (!packet->context->node->info.stamps || packet->end != buffer->used)
        return;
    for (uint32_t i = 0; i < buffer->allocation_count; i++) {
        const struct dma_reference *reference = &buffer->references_map[i];
        const struct vidmm_open *open = reference->history
                                            ? vidmm_open_find_queued(device, reference->handle)
                                            : NULL;

        if (open)
            copy_one(packet, vidmm_open_history(open));
    }
}

/* ---- on the worker ---- */

/* CAPS-109: without the bits above the precision. */
static uint64_t stamp_at(const struct stamps *stamps, uint32_t i)
{
    uint64_t wide;
    uint32_t narrow;

    if (stamps->bits == 32) {
        memcpy(&narrow, stamps->first + (size_t)i * sizeof(narrow), sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, stamps->first + (size_t)i * sizeof(wide), sizeof(wide));
    return stamps->bits == 64 ? wide : wide & ((1ull << stamps->bits) - 1);
}

static uint32_t stamp_bytes(uint32_t bits)
{
    return bits == 32 ? (uint32_t)sizeof(uint32_t) : (uint32_t)sizeof(uint64_t);
}

static void log_stamps(const struct history_copy *copy, const struct stamps *stamps)
{
    for (uint32_t i = 0; i < stamps->count; i++)
        trace_instant(copy->context->track, "GPU time stamp", "fence", copy->fence, "clock",
                      stamp_at(stamps, i));
}

/* CAPS-123; false: nothing of it can be used. */
static bool check_header(const struct history_copy *copy, uint32_t bits,
                         DXGK_HISTORY_BUFFER_HEADER *header)
{
    const uint64_t room = copy->bytes - STAMPS_AT;

    if (copy->bytes < STAMPS_AT) {
        VIOLATION("CAPS-123", "a history buffer of %u bytes has no room for its header",
                  copy->bytes);
        return false;
    }
    memcpy(header, copy->buffer.data, sizeof(*header));
    if (header->PrivateDataSize > room ||
        (bits &&
         (uint64_t)header->NumTimestamps * stamp_bytes(bits) > room - header->PrivateDataSize)) {
        VIOLATION("CAPS-123",
                  "a history buffer of %u bytes says that it has %u bytes of private data and %u "
                  "time stamps",
                  copy->bytes, header->PrivateDataSize, header->NumTimestamps);
        return false;
    }
    if (header->PrivateDataSize % sizeof(uint64_t) || header->Reserved)
        WARNING("CAPS-123",
                "PrivateDataSize of a history buffer is %u, no multiple of 8, or Reserved is not 0 "
                "but 0x%x",
                header->PrivateDataSize, header->Reserved);
    return true;
}

/* CAPS-124: what the driver says that it has formatted. */
static bool check_formatted(const DXGKARG_FORMATHISTORYBUFFER *args, uint32_t before)
{
    const UINT bits = args->Precision.PrecisionBits;

    if (bits < 32 || bits > 64) {
        VIOLATION("CAPS-124", "DxgkDdiFormatHistoryBuffer gave PrecisionBits %u", bits);
        return false;
    }
    if ((uint64_t)args->NumTimestamps * stamp_bytes(bits) > FORMATTED_BYTES) {
        VIOLATION(
            "CAPS-124",
            "DxgkDdiFormatHistoryBuffer gave %u time stamps of %u bits in a buffer of %u bytes",
            args->NumTimestamps, bits, FORMATTED_BYTES);
        return false;
    }
    if (args->Offset && args->Offset <= before) {
        VIOLATION("CAPS-124", "DxgkDdiFormatHistoryBuffer began at offset %u and ended at %u",
                  before, args->Offset);
        return false;
    }
    return true;
}

/* One call; false: it was the last. */
static bool format_some(struct history_copy *copy, const struct ddi_guarded *formatted,
                        uint32_t *offset)
{
    struct ddi_adapter *ddi = copy->context->device->vidsch->ddi;
    DXGKARG_FORMATHISTORYBUFFER args = {
        .pHistoryBuffer = (DXGK_HISTORY_BUFFER *)(void *)copy->buffer.data,
        .HistoryBufferSize = copy->bytes,
        .pFormattedBuffer = formatted->data,
        .FormattedBufferSize = FORMATTED_BYTES,
        .Offset = *offset,
    };
    const NTSTATUS status = ddi_format_history_buffer(ddi, copy->context->mm.driver_handle, &args);

    ddi_guarded_check(&copy->buffer, "DxgkDdiFormatHistoryBuffer");
    ddi_guarded_check(formatted, "DxgkDdiFormatHistoryBuffer");
    if (!NT_SUCCESS(status)) {
        if (ddi_driver_failed(ddi, status))
            WARNING("CAPS-124", "DxgkDdiFormatHistoryBuffer answered %s",
                    nt_status_text(status).text);
        return false;
    }
    if (!check_formatted(&args, *offset))
        return false;
    log_stamps(copy, &(struct stamps){.first = formatted->data,
                                      .count = args.NumTimestamps,
                                      .bits = args.Precision.PrecisionBits});
    *offset = args.Offset;
    return args.Offset != 0;
}

static void format(struct history_copy *copy)
{
    struct ddi_guarded formatted;
    uint32_t offset = 0;

    if (!ddi_guarded_init(&formatted, FORMATTED_BYTES,
                          "pFormattedBuffer of DXGKARG_FORMATHISTORYBUFFER"))
        return;
    while (format_some(copy, &formatted, &offset))
        ;
    ddi_guarded_finish(&formatted);
}

static void log_copy(struct history_copy *copy)
{
    const uint32_t bits = copy->context->node->info.stamp_bits;
    DXGK_HISTORY_BUFFER_HEADER header;

    if (!check_header(copy, bits, &header))
        return;
    if (bits == 0)
        format(copy);
    else
        log_stamps(copy,
                   &(struct stamps){.first = copy->buffer.data + STAMPS_AT + header.PrivateDataSize,
                                    .count = header.NumTimestamps,
                                    .bits = bits});
}

bool vidsch_history_log(struct vidsch *vidsch)
{
    struct vidsch_histories *histories = &vidsch->histories;
    struct history_copy *copy;

    vidsch_assert_worker(vidsch);
    if (list_empty(&histories->waiting) || vidsch->recovery.resetting || vidsch->suspension.all)
        return false;
    copy = CONTAINER(list_pop_front(&histories->waiting), struct history_copy, link);
    histories->busy = copy->context;
    log_copy(copy);
    histories->busy = NULL;
    free_copy(copy);
    vidsch_change_announce(&vidsch->change);
    return true;
}

void vidsch_history_forget(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;

    LIST_FOR_SAFE(link, next, &vidsch->histories.waiting) {
        struct history_copy *copy = CONTAINER(link, struct history_copy, link);

        if (copy->context != context)
            continue;
        list_remove(link);
        free_copy(copy);
    }
    while (vidsch->histories.busy == context && !sim_current->stopped)
        vidsch_change_wait(vidsch, SIM_FOREVER);
}
