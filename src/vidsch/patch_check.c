/* SPDX-License-Identifier: MIT */
/*
 * The check of DxgkDdiPatch.
 *
 *   before   the bytes of the buffer are copied
 *   after    the bytes at each location of the packet are compared with the address, if the format
 *            is known, and copied, too; then nothing but a fence id may differ (PATCH-162)
 *   later    the same comparison, when SubmitCommand has returned and when the packet has ended:
 *            from then on locations may differ only where nothing is known of them (PATCH-159)
 *
 * Without a format, one thing is certain of an address: if the allocation has moved, and the bytes
 * were not written, and are its former address, then it was left out (PATCH-163).
 */
#include "vidsch/patch_check.h"
#include "util/alloc.h"
#include "util/min_max.h"
#include "verify/verify.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/packet.h"
#include "vidsch/patch_format.h"
#include "vidsch/scheduler.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_BYTES 8u /* of a location of which nothing is known */
#define BEHIND        64u
#define NOWHERE       UINT64_MAX
#define NEAR          0x10000 /* an address that is off by no more is told with the difference */

static const struct dxgk_patch_format *format_of(const struct dma_buffer *buffer)
{
    return buffer->owner->device->vidsch->config.patch_format;
}

/* Bytes that are looked at: those in use, and some behind, where a driver may be one too far. */
static uint32_t watched(const struct dma_buffer *buffer)
{
    return (uint32_t)min_of(buffer->capacity, (uint64_t)buffer->used + BEHIND);
}

static bool checked(const struct dma_buffer *buffer)
{
    return buffer->owner->device->vidsch->config.check_patches;
}

static uint64_t load(const uint8_t *from, uint32_t bytes)
{
    uint64_t value = 0;
    uint32_t half;

    switch (bytes) { /* lengths that the compiler knows */
    case 8:
        memcpy(&value, from, 8);
        return value;
    case 4:
        memcpy(&half, from, 4);
        return half;
    default:
        memcpy(&value, from, bytes);
        return value;
    }
}

static void store(uint8_t *to, uint64_t value, uint32_t bytes)
{
    if (bytes == 8)
        memcpy(to, &value, 8);
    else if (bytes == 4)
        memcpy(to, &value, 4);
    else
        memcpy(to, &value, bytes);
}

static uint64_t address_of(const DXGK_ALLOCATIONLIST *element)
{
    return element->hDeviceSpecificAllocation && element->SegmentId
               ? (uint64_t)element->PhysicalAddress.QuadPart
               : NOWHERE;
}

static void note_addresses(struct dma_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->allocation_count; i++)
        buffer->watch.address[i] = address_of(&buffer->allocations[i]);
}

static bool make_watch(struct dma_buffer *buffer)
{
    struct patch_watch *watch = &buffer->watch;

    if (watch->expected)
        return true;
    watch->address = util_alloc((buffer->allocation_capacity + (size_t)1) * sizeof(*watch->address));
    watch->expected = watch->address ? util_alloc(buffer->capacity) : NULL;
    if (watch->expected)
        return true;
    vidsch_patch_watch_free(watch);
    return false;
}

void vidsch_patch_watch_free(struct patch_watch *watch)
{
    util_free(watch->address);
    util_free(watch->expected);
    *watch = (struct patch_watch){0};
}

void vidsch_patch_rendered(struct dma_buffer *buffer)
{
    buffer->watch.patched = false;
    if (checked(buffer) && make_watch(buffer))
        note_addresses(buffer);
}

/* ---- one location ---- */

struct look {
    struct dma_buffer *buffer;
    const struct packet *packet;
    const struct dxgk_patch_format *format;
    bool moved; /* an allocation, since its locations were written */
};

/* The bytes that a location has by what is known of it. */
static uint32_t bytes_of(const struct look *look, const D3DDDI_PATCHLOCATIONLIST *location,
                         const struct dxgk_patch_encoding *encoding)
{
    const uint32_t wanted = encoding ? encoding->bytes : UNKNOWN_BYTES;

    return location->PatchOffset < look->buffer->used
               ? (uint32_t)min_of(wanted, look->buffer->used - location->PatchOffset)
               : 0;
}

/* What is added to the address. False: the driver's own, and this location has just told it. */
static bool base_of(const struct look *look, const struct dxgk_patch_encoding *encoding,
                    uint32_t segment, uint64_t now, uint64_t without, uint64_t *base)
{
    struct patch_bases *bases = &look->buffer->owner->device->vidsch->patch_bases;
    const size_t row = (size_t)(encoding - look->format->encoding);

    *base = 0;
    if (!encoding->own_base)
        return true;
    *base = bases->base[row][segment];
    if (bases->known[row] >> segment & 1)
        return true;
    bases->known[row] |= 1u << segment;
    bases->base[row][segment] = (now >> encoding->left << encoding->right) - without;
    return false;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* What a location has, had before, and should have, with what the driver adds. */
struct value {
    uint64_t before, now, wanted, base;
};

/* What stands there instead, if it can be told. */
static void explain(const struct look *look, const D3DDDI_PATCHLOCATIONLIST *location,
                    const struct dxgk_patch_encoding *encoding, const struct value *value,
                    char *text, size_t bytes)
{
    const struct dma_buffer *buffer = look->buffer;
    const uint64_t bits = patch_bits(encoding), off = (value->now - value->wanted) & bits;

    for (uint32_t i = 0; i < buffer->allocation_count; i++) {
        const uint64_t address = address_of(&buffer->allocations[i]);

        if (i != location->AllocationIndex && address != NOWHERE &&
            patch_value(encoding, patch_address(encoding, location, address) + value->base) ==
                (value->now & bits)) {
            snprintf(text, bytes, "that is the address of allocation 0x%x, element %u",
                     buffer->references_map[i].handle, i);
            return;
        }
    }
    if (value->now == value->before)
        snprintf(text, bytes, "DxgkDdiPatch has not written it");
    else if (off <= NEAR)
        snprintf(text, bytes, "it is 0x%llx byte%s too high", (unsigned long long)off, plural(off));
    else if ((-off & bits) <= NEAR)
        snprintf(text, bytes, "it is 0x%llx byte%s too low", (unsigned long long)(-off & bits),
                 plural(-off & bits));
    else
        snprintf(text, bytes, "it is the address of no allocation of the list");
}

static const char *fields(const struct look *look, uint32_t index, char *text, size_t bytes)
{
    const D3DDDI_PATCHLOCATIONLIST *location = &look->buffer->patches[index];

    snprintf(text, bytes,
             "patch location %u (at 0x%x of the DMA buffer, allocation 0x%x, element %u, offset "
             "0x%x)",
             index, location->PatchOffset,
             look->buffer->references_map[location->AllocationIndex].handle,
             location->AllocationIndex, location->AllocationOffset);
    return text;
}

/* Whether the location still has the address that the allocation had before (PATCH-163). */
static bool is_stale(uint64_t before, uint64_t now, uint64_t old, uint64_t new)
{
    static const uint8_t shift[] = {0, 8, 12, 16};

    if ((uint32_t)before != (uint32_t)now || (uint32_t)now <= 0xFF) /* 0 says nothing */
        return false;
    for (size_t i = 0; i < sizeof(shift); i++)
        if ((uint32_t)now == (uint32_t)(old >> shift[i]) &&
            (uint32_t)now != (uint32_t)(new >> shift[i]))
            return true;
    return false;
}

/* True: it is, and this was said. */
static bool tell_stale(const struct look *look, uint32_t index, uint64_t before, uint64_t now)
{
    const struct dma_buffer *buffer = look->buffer;
    const D3DDDI_PATCHLOCATIONLIST *location = &buffer->patches[index];
    const uint64_t old = buffer->watch.address[location->AllocationIndex];
    const uint64_t new = address_of(&buffer->allocations[location->AllocationIndex]);
    char text[160];

    if (!look->moved || old == NOWHERE || new == NOWHERE || old == new ||
        !is_stale(before, now, old + location->AllocationOffset, new + location->AllocationOffset))
        return false;
    VIOLATION("PATCH-163",
              "DxgkDdiPatch left out %s: fence %u, it still holds 0x%llx, by the address 0x%llx that "
              "the allocation had before it was moved to 0x%llx",
              fields(look, index, text, sizeof(text)), look->packet->fence, (unsigned long long)now,
              (unsigned long long)old, (unsigned long long)new);
    return true;
}

static void check_value(const struct look *look, uint32_t index,
                        const struct dxgk_patch_encoding *encoding, uint64_t before, uint64_t now)
{
    const struct dma_buffer *buffer = look->buffer;
    const D3DDDI_PATCHLOCATIONLIST *location = &buffer->patches[index];
    const DXGK_ALLOCATIONLIST *element = &buffer->allocations[location->AllocationIndex];
    const uint64_t bits = patch_bits(encoding), address = address_of(element);
    uint64_t wanted, base = 0;
    char text[160], why[96];

    if (address == NOWHERE) {
        if (!encoding->has_absent)
            return;
        wanted = encoding->absent >> encoding->right << encoding->left & bits;
    } else {
        wanted = patch_address(encoding, location, address);
        if (!base_of(look, encoding, element->SegmentId, now & bits, wanted, &base))
            return;
        wanted = patch_value(encoding, wanted + base);
    }
    if ((now & bits) == wanted || tell_stale(look, index, before, now))
        return;
    explain(look, location, encoding, &(struct value){before, now, wanted, base}, why, sizeof(why));
    VIOLATION("PATCH-164",
              "%s holds 0x%llx after DxgkDdiPatch for fence %u, where 0x%llx belongs: %s",
              fields(look, index, text, sizeof(text)), (unsigned long long)(now & bits),
              look->packet->fence, (unsigned long long)wanted, why);
}

static void check_location(const struct look *look, uint32_t index)
{
    struct dma_buffer *buffer = look->buffer;
    const D3DDDI_PATCHLOCATIONLIST *location = &buffer->patches[index];
    const struct dxgk_patch_encoding *encoding = look->format
                                                     ? patch_encoding_of(look->format, location)
                                                     : NULL;
    const uint32_t bytes = bytes_of(look, location, encoding);
    uint8_t *expected;
    uint64_t before, now, kept = 0;

    /* The driver may have written to its list since it was checked. */
    if (!bytes || location->AllocationIndex >= buffer->allocation_count)
        return;
    expected = buffer->watch.expected + location->PatchOffset;
    before = load(expected, bytes);
    now = load(buffer->data + location->PatchOffset, bytes);
    if (!encoding) {
        (void)tell_stale(look, index, before, now);
    } else {
        kept = ~patch_bits(encoding); /* bits of something else, which do not change */
        if (!encoding->any_value && bytes == encoding->bytes)
            check_value(look, index, encoding, before, now);
    }
    store(expected, (now & ~kept) | (before & kept), bytes);
}

/* ---- everything else ---- */

/* Is one of the bytes at `at` part of the fence id? Then where it ends, else 0. */
static uint32_t fence_end(const struct dma_buffer *buffer, uint32_t at, uint32_t fence)
{
    for (uint32_t begin = at < 3 ? 0 : at - 3; begin <= at; begin++)
        if (watched(buffer) >= 4 && begin <= watched(buffer) - 4 &&
            load(buffer->data + begin, 4) == fence)
            return begin + 4;
    return 0;
}

/* The next bytes from `from` on that differ; false: none do. */
static bool next_difference(const struct dma_buffer *buffer, uint32_t fence, uint32_t from,
                            uint32_t *begin, uint32_t *end)
{
    const uint8_t *now = buffer->data, *before = buffer->watch.expected;
    uint32_t at = from;

    while (at < watched(buffer)) {
        uint32_t past;

        if (now[at] == before[at]) {
            at++;
            continue;
        }
        past = fence_end(buffer, at, fence);
        if (!past)
            break;
        at = past;
    }
    *begin = *end = at;
    while (*end < watched(buffer) && now[*end] != before[*end])
        ++*end;
    return *end > *begin;
}

static void tell_nearest(const struct dma_buffer *buffer, uint32_t at, char *text, size_t bytes)
{
    uint32_t nearest = 0, distance = UINT32_MAX;

    for (uint32_t i = 0; i < buffer->patch_count; i++) {
        const uint32_t offset = buffer->patches[i].PatchOffset;
        const uint32_t away = offset > at ? offset - at : at - offset;

        if (away < distance) {
            distance = away;
            nearest = i;
        }
    }
    if (distance == UINT32_MAX)
        snprintf(text, bytes, "the buffer has no patch locations");
    else
        snprintf(text, bytes, "the nearest patch location is %u, at 0x%x", nearest,
                 buffer->patches[nearest].PatchOffset);
}

static void tell_difference(const struct dma_buffer *buffer, uint32_t begin, uint32_t end,
                            uint32_t fence, const struct packet *packet)
{
    const uint32_t bytes = (uint32_t)min_of(end - begin, 8);
    const unsigned long long was = load(buffer->watch.expected + begin, bytes),
                             is = load(buffer->data + begin, bytes);
    char near[96], window[64] = "";

    tell_nearest(buffer, begin, near, sizeof(near));
    if (packet->start != 0 || packet->end != buffer->used)
        snprintf(window, sizeof(window), ", whose portion is 0x%x to 0x%x,", packet->start,
                 packet->end);
    verify_report("PATCH-162", format_of(buffer) ? VERIFY_ERROR : VERIFY_WARNING,
                  "DxgkDdiPatch for fence %u%s changed %u byte%s at 0x%x of the DMA buffer, from "
                  "0x%llx to 0x%llx: no location of the packet is there, and it is not the fence id; "
                  "%s",
                  fence, window, end - begin, plural(end - begin), begin, was, is, near);
}

/* ---- before, after, later ---- */

void vidsch_patch_before(struct packet *packet)
{
    struct dma_buffer *buffer = packet->buffer;

    buffer->watch.patched = false;
    if (checked(buffer) && buffer->watch.expected)
        memcpy(buffer->watch.expected, buffer->data, watched(buffer));
}

static bool has_moved(const struct dma_buffer *buffer)
{
    bool moved = false;

    for (uint32_t i = 0; i < buffer->allocation_count; i++)
        moved |= buffer->watch.address[i] != address_of(&buffer->allocations[i]);
    return moved;
}

void vidsch_patch_after(struct packet *packet)
{
    struct dma_buffer *buffer = packet->buffer;
    struct look look = {.buffer = buffer, .packet = packet, .format = format_of(buffer)};
    uint32_t begin, end;

    if (!checked(buffer) || !buffer->watch.expected)
        return;
    look.moved = has_moved(buffer);
    for (uint32_t i = packet->first_patch; i < packet->first_patch + packet->patch_count; i++)
        check_location(&look, i);
    if (look.moved)
        note_addresses(buffer);
    if (memcmp(buffer->watch.expected, buffer->data, watched(buffer)) != 0) {
        if (next_difference(buffer, packet->fence, 0, &begin, &end))
            tell_difference(buffer, begin, end, packet->fence, packet);
        memcpy(buffer->watch.expected, buffer->data, watched(buffer));
    }
    buffer->watch.patched = true;
}

/* The locations that a driver may still write: those of which nothing is known, and those that
 * DxgkDdiPatch does not write. Microsoft's render-only sample writes such ones in SubmitCommand. */
static void take_unknown(struct dma_buffer *buffer)
{
    const struct look look = {.buffer = buffer, .format = format_of(buffer)};

    for (uint32_t i = 0; i < buffer->patch_count; i++) {
        const D3DDDI_PATCHLOCATIONLIST *location = &buffer->patches[i];
        const struct dxgk_patch_encoding *encoding = look.format
                                                         ? patch_encoding_of(look.format, location)
                                                         : NULL;
        const uint32_t bytes = encoding && encoding->bytes ? 0 : bytes_of(&look, location, NULL);

        if (bytes)
            memcpy(buffer->watch.expected + location->PatchOffset,
                   buffer->data + location->PatchOffset, bytes);
    }
}

void vidsch_patch_unchanged(struct dma_buffer *buffer, uint32_t fence, const char *when)
{
    uint32_t begin, end;
    char near[96];

    if (!buffer->watch.patched || memcmp(buffer->watch.expected, buffer->data, watched(buffer)) == 0)
        return;
    take_unknown(buffer);
    if (next_difference(buffer, fence, 0, &begin, &end)) {
        tell_nearest(buffer, begin, near, sizeof(near));
        WARNING("PATCH-159",
                "the DMA buffer of fence %u was written to %s: %u byte%s at 0x%x, from 0x%llx to "
                "0x%llx; %s",
                fence, when, end - begin, plural(end - begin), begin,
                (unsigned long long)load(buffer->watch.expected + begin,
                                         (uint32_t)min_of(end - begin, 8)),
                (unsigned long long)load(buffer->data + begin, (uint32_t)min_of(end - begin, 8)),
                near);
    }
    memcpy(buffer->watch.expected, buffer->data, watched(buffer));
}
