/* SPDX-License-Identifier: MIT */
/* Patch locations in a buffer (W6): what the host's check of them and a driver's DxgkDdiPatch take, beside a plain loop. */
#include "bench.h"
#include "util/rng.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/render_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES  64u /* of the buffer, one location each */
#define ALLOCATIONS 256u

struct w6 {
    struct dma_buffer buffer;
    uint64_t base[ALLOCATIONS];
    uint32_t turns;
};

static void *memory(size_t count, size_t bytes)
{
    void *block = calloc(count, bytes);

    if (!block)
        bench_die("out of memory");
    return block;
}

/* B/64 locations at distinct 8-byte places, in order or shuffled. */
static void make(struct w6 *w, uint32_t bytes, bool shuffled)
{
    struct dma_buffer *b = &w->buffer;
    struct rng rng;

    memset(w, 0, sizeof(*w));
    rng.state = 0x5EED0006 + bench_options.seed_base;
    b->capacity = b->used = bytes;
    b->patch_count = bytes / SLOT_BYTES;
    b->allocation_count = ALLOCATIONS;
    b->data = memory(bytes, 1);
    b->patches = memory(b->patch_count, sizeof(*b->patches));
    b->allocations = memory(ALLOCATIONS, sizeof(*b->allocations));
    b->references_map = memory(ALLOCATIONS, sizeof(*b->references_map));
    b->reach = memory(ALLOCATIONS, sizeof(*b->reach));
    for (uint32_t i = 0; i < ALLOCATIONS; i++) {
        w->base[i] = (rng_next(&rng) >> 24) << 12;
        b->allocations[i].hDeviceSpecificAllocation = b;
        b->allocations[i].SegmentId = 1;
        b->allocations[i].PhysicalAddress.QuadPart = (LONGLONG)w->base[i];
        b->references_map[i] = (struct dma_reference){.device_specific = b, .bytes = 1u << 20};
    }
    for (uint32_t i = 0; i < b->patch_count; i++)
        b->patches[i] = (D3DDDI_PATCHLOCATIONLIST){
            .AllocationIndex = rng_below(&rng, ALLOCATIONS),
            .AllocationOffset = rng_below(&rng, 1u << 20),
            .PatchOffset = i * SLOT_BYTES + 8 * rng_below(&rng, SLOT_BYTES / 8)};
    for (uint32_t i = b->patch_count; shuffled && i-- > 1;) {
        uint32_t j = rng_below(&rng, i + 1);
        D3DDDI_PATCHLOCATIONLIST swap = b->patches[i];

        b->patches[i] = b->patches[j];
        b->patches[j] = swap;
    }
    w->turns = (bench_options.quick ? 1u << 14 : 1u << 24) / b->patch_count + 1;
}

static void finish(struct w6 *w)
{
    free(w->buffer.data);
    free(w->buffer.patches);
    free(w->buffer.allocations);
    free(w->buffer.references_map);
    free(w->buffer.reach);
}

static void plain(struct w6 *w)
{
    const struct dma_buffer *b = &w->buffer;

    for (uint32_t i = 0; i < b->patch_count; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l = &b->patches[i];
        const uint64_t value = w->base[l->AllocationIndex] + l->AllocationOffset;

        memcpy(b->data + l->PatchOffset, &value, sizeof(value));
    }
}

static void check(struct w6 *w)
{
    if (!NT_SUCCESS(vidsch_render_answer_check(&w->buffer)))
        bench_die("good patch locations are refused");
}

/* As a driver does it. */
static void patch(struct w6 *w)
{
    const struct dma_buffer *b = &w->buffer;

    for (uint32_t i = 0; i < b->patch_count; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l = &b->patches[i];
        const DXGK_ALLOCATIONLIST *element = &b->allocations[l->AllocationIndex];
        uint64_t value = ~0ull;

        if (element->hDeviceSpecificAllocation && element->SegmentId)
            value = (uint64_t)element->PhysicalAddress.QuadPart + l->AllocationOffset;
        memcpy(b->data + l->PatchOffset, &value, sizeof(value));
    }
}

static void check_and_patch(struct w6 *w)
{
    check(w);
    patch(w);
}

/* ns a location, the least of five turns by turns with the others. */
static void compare(uint32_t bytes, bool shuffled)
{
    static const struct {
        const char *name;
        void (*run)(struct w6 *w);
    } ways[] = {{"plain loop", plain},
                {"host's check", check},
                {"driver's Patch", patch},
                {"check and Patch", check_and_patch}};
    double least[4] = {1e9, 1e9, 1e9, 1e9};
    struct w6 w;

    make(&w, bytes, shuffled);
    for (unsigned turn = 0; turn < 5; turn++)
        for (size_t i = 0; i < 4; i++) {
            double start = bench_now(), took;

            for (uint32_t n = 0; n < w.turns; n++)
                ways[i].run(&w);
            took = bench_now() - start;
            least[i] = took < least[i] ? took : least[i];
        }
    for (size_t i = 0; i < 4; i++) {
        char name[96];

        snprintf(name, sizeof(name), "W6 %u KiB, %s, %s", bytes >> 10,
                 shuffled ? "random" : "ascending", ways[i].name);
        bench_result(name, 0, (uint64_t)w.turns * w.buffer.patch_count, least[i]);
    }
    finish(&w);
}

void bench_patch_locations(void)
{
    compare(1u << 16, false);
    compare(1u << 16, true);
    compare(1u << 24, true);
}
