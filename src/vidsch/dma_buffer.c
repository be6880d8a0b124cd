/* SPDX-License-Identifier: MIT */
/*
 * DMA buffers of a context, and the blocks of client memory that correspond to them.
 *
 *   page of canary | data: whole pages, contiguous, seen by the device | page of canary
 *   canary | private block, zeroed once | canary
 *   allocation list        canary element | patch-location list | canary element
 *
 * A buffer is referenced by whoever fills it and by each packet made from it; with the last
 * reference it goes back to the pool of its context (PATCH-043), newest first. Buffers that are not
 * as large as what is promised by now are freed instead. In virtual mode a buffer is just its
 * private block.
 */
#include <string.h>

#include "vidsch/vidsch_private.h"

#define CANARY 0xC5

/* ---- memory ---- */

bool vidsch_pages_take(struct vidsch *vidsch, uint64_t pages, uint64_t guard,
                       struct page_number *first, struct page_number *logical)
{
    struct ram_request request = {
        .pages = pages + 2 * guard,
        .owner = RAM_HOST,
        .cache = RAM_WRITE_COMBINED,
        .zero = true,
    };
    struct page_number run, data;

    if (iommu_domain_mode(vidsch->config.domain) != IOMMU_REMAP)
        request.high.value = vidsch->config.highest_address; /* PATCH-044 */
    if (!ram_take_contiguous(vidsch->config.ram, &request, &run))
        return false;
    data.value = run.value + guard;
    if (!iommu_map_run(vidsch->config.domain, data, pages, IOMMU_READ | IOMMU_WRITE, logical)) {
        ram_give_contiguous(vidsch->config.ram, run, request.pages);
        return false;
    }
    *first = data;
    return true;
}

void vidsch_pages_give(struct vidsch *vidsch, struct page_number first, uint64_t pages,
                       uint64_t guard, struct page_number logical)
{
    iommu_unmap_run(vidsch->config.domain, logical, pages);
    ram_give_contiguous(vidsch->config.ram, (struct page_number){first.value - guard},
                        pages + 2 * guard);
}

static bool is_canary(const uint8_t *bytes, size_t count)
{
    static const uint8_t canary[VIDSCH_CANARY_BYTES] = {[0 ... VIDSCH_CANARY_BYTES - 1] = CANARY};

    return memcmp(bytes, canary, count) == 0;
}

uint8_t *vidsch_private_create(uint32_t bytes)
{
    size_t whole = align_up(bytes, 8);
    uint8_t *block = util_zalloc(1, whole + 2 * (size_t)VIDSCH_CANARY_BYTES);

    if (!block)
        return NULL;
    memset(block, CANARY, VIDSCH_CANARY_BYTES);
    memset(block + VIDSCH_CANARY_BYTES + bytes, CANARY, VIDSCH_CANARY_BYTES + whole - bytes);
    return block;
}

bool vidsch_private_intact(const uint8_t *block, uint32_t bytes)
{
    return is_canary(block, VIDSCH_CANARY_BYTES) &&
           is_canary(block + VIDSCH_CANARY_BYTES + bytes, VIDSCH_CANARY_BYTES);
}

/* ---- client memory ---- */

bool vidsch_client_block_create(struct vidsch *vidsch, struct client_block *block, uint64_t bytes)
{
    struct ram *ram = vidsch->config.ram;
    struct ram_request request = {.pages = align_up(bytes, PAGE_BYTES) >> PAGE_BITS,
                                  .owner = RAM_CLIENT,
                                  .cache = RAM_CACHED,
                                  .zero = true};

    *block = (struct client_block){0};
    if (bytes == 0)
        return true;
    block->frames = util_alloc((size_t)request.pages * sizeof(*block->frames));
    if (!block->frames)
        return false;
    if (!ram_take_pages(ram, &request, block->frames)) {
        util_free(block->frames);
        block->frames = NULL;
        return false;
    }
    block->pages = request.pages;
    block->view = ram_view_reserve(ram, block->pages +
                                            1); /* the last page stays unmapped, against overruns */
    if (block->view && ram_view_point(ram, block->view, 0, block->frames, block->pages, true))
        return true;
    vidsch_client_block_destroy(vidsch, block);
    return false;
}

void vidsch_client_block_destroy(struct vidsch *vidsch, struct client_block *block)
{
    if (block->view)
        ram_view_release(vidsch->config.ram, block->view, block->pages + 1);
    if (block->frames)
        ram_give_pages(vidsch->config.ram, block->frames, block->pages);
    util_free(block->frames);
    *block = (struct client_block){0};
}

/* ---- buffers ---- */

static uint8_t *guard_before(const struct dma_buffer *buffer)
{
    return buffer->data - VIDSCH_CANARY_BYTES;
}

static void buffer_free(struct dma_buffer *buffer)
{
    struct vidsch_context *context = buffer->owner;

    vidmm_aperture_unmap(context->device->vidsch->vidmm, &buffer->aperture);
    if (buffer->data)
        vidsch_pages_give(context->device->vidsch, buffer->first, buffer->pages, 1,
                          buffer->first_logical);
    util_free(buffer->private_block);
    util_free(buffer->references_map);
    util_free(buffer->allocations);
    util_free(buffer->patches ? buffer->patches - 1 : NULL);
    util_free(buffer->needs);
    util_free(buffer->next_in_slot);
    util_free(buffer);
    context->buffers--;
}

static bool make_arrays(struct dma_buffer *buffer, const struct vidsch_context *context)
{
    D3DDDI_PATCHLOCATIONLIST *patches;

    buffer->allocation_capacity = context->allocation_count;
    buffer->patch_capacity = context->patch_count;
    buffer->references_map = util_zalloc(context->allocation_count + 1,
                                         sizeof(*buffer->references_map));
    buffer->allocations = util_zalloc(context->allocation_count + 1, sizeof(*buffer->allocations));
    patches = util_zalloc(context->patch_count + 2, sizeof(*patches));
    if (!buffer->references_map || !buffer->allocations || !patches) {
        util_free(patches);
        return false;
    }
    memset(&patches[0], CANARY, sizeof(*patches));
    memset(&patches[context->patch_count + 1], CANARY, sizeof(*patches));
    buffer->patches = patches + 1;
    if (!vidsch_is_1x(context->device->vidsch))
        return true;
    buffer->needs = util_zalloc(context->patch_count + 1, sizeof(*buffer->needs));
    buffer->next_in_slot = util_zalloc(context->patch_count + 1, sizeof(*buffer->next_in_slot));
    return buffer->needs && buffer->next_in_slot;
}

static bool make_data(struct dma_buffer *buffer, struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;

    buffer->pages = align_up(context->command_bytes, PAGE_BYTES) >> PAGE_BITS;
    if (!vidsch_pages_take(vidsch, buffer->pages, 1, &buffer->first, &buffer->first_logical))
        return false;
    buffer->data = ram_direct(vidsch->config.ram, page_phys(buffer->first));
    buffer->capacity = context->command_bytes; /* PATCH-056 */
    memset(guard_before(buffer), CANARY, VIDSCH_CANARY_BYTES);
    memset(buffer->data + buffer->capacity, CANARY, VIDSCH_CANARY_BYTES);
    return true;
}

/* PATCH-040 */
static bool place_data(struct dma_buffer *buffer, const struct vidsch_context *context)
{
    if (!context->info.DmaBufferSegmentSet)
        return true;
    buffer->aperture.frame = buffer->first;
    buffer->aperture.logical = buffer->first_logical;
    buffer->aperture.pages = buffer->pages;
    return NT_SUCCESS(vidmm_aperture_map(context->device->vidsch->vidmm,
                                         context->info.DmaBufferSegmentSet, &buffer->aperture));
}

static struct dma_buffer *buffer_create(struct vidsch_context *context)
{
    struct dma_buffer *buffer = util_zalloc(1, sizeof(*buffer));

    if (!buffer)
        return NULL;
    list_init(&buffer->link);
    buffer->owner = context;
    context->buffers++;
    buffer->private_bytes = context->info.DmaBufferPrivateDataSize;
    if (buffer->private_bytes) {
        buffer->private_block = vidsch_private_create(buffer->private_bytes);
        if (!buffer->private_block) {
            buffer_free(buffer);
            return NULL;
        }
        buffer->private_data = buffer->private_block + VIDSCH_CANARY_BYTES;
    }
    if (context->has_lists && (!make_arrays(buffer, context) || !make_data(buffer, context) ||
                               !place_data(buffer, context))) {
        buffer_free(buffer);
        return NULL;
    }
    return buffer;
}

static bool is_as_promised(const struct dma_buffer *buffer)
{
    const struct vidsch_context *context = buffer->owner;

    return !context->has_lists || (buffer->capacity == context->command_bytes &&
                                   buffer->allocation_capacity >= context->allocation_count &&
                                   buffer->patch_capacity >= context->patch_count);
}

struct dma_buffer *vidsch_dma_buffer_get(struct vidsch_context *context)
{
    struct dma_buffer *buffer = NULL;
    struct list *link;

    while (!buffer && (link = list_pop_front(&context->free_buffers)) != NULL) {
        buffer = CONTAINER(link, struct dma_buffer, link);
        context->buffers_free--;
        if (!is_as_promised(buffer)) {
            buffer_free(buffer);
            buffer = NULL;
        }
    }
    if (!buffer)
        buffer = buffer_create(context);
    if (!buffer)
        return NULL;
    buffer->references = 1;
    buffer->used = buffer->private_used = 0;
    buffer->allocation_count = buffer->patch_count = 0;
    return buffer;
}

void vidsch_dma_buffer_put(struct dma_buffer *buffer)
{
    struct vidsch_context *context = buffer->owner;

    if (--buffer->references)
        return;
    list_push_front(&context->free_buffers, &buffer->link);
    context->buffers_free++;
    if (context->dying)
        vidsch_device_wake(context->device);
}

void vidsch_dma_buffers_free(struct vidsch_context *context)
{
    struct list *link;

    while ((link = list_pop_front(&context->free_buffers)) != NULL) {
        context->buffers_free--;
        buffer_free(CONTAINER(link, struct dma_buffer, link));
    }
}

bool vidsch_dma_buffer_check(const struct dma_buffer *buffer, const char *ddi)
{
    const uint8_t *lists = (const uint8_t *)(buffer->patches - 1);
    size_t element = sizeof(*buffer->patches);

    if (!is_canary(guard_before(buffer), VIDSCH_CANARY_BYTES) ||
        !is_canary(buffer->data + buffer->capacity, VIDSCH_CANARY_BYTES) ||
        !is_canary(lists, element) ||
        !is_canary(lists + (buffer->patch_capacity + 1) * element, element)) {
        verify_fatal("PATCH-066", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0x12, buffer->capacity,
                     buffer->patch_capacity, 0,
                     "%s wrote outside its DMA buffer or patch-location list", ddi);
        return false;
    }
    if (buffer->private_block &&
        !vidsch_private_intact(buffer->private_block, buffer->private_bytes)) {
        verify_fatal("PATCH-066", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0x13, buffer->private_bytes, 0,
                     0, "%s wrote outside the private data of its DMA buffer", ddi);
        return false;
    }
    return true;
}

uint64_t vidsch_dma_buffer_address(const struct dma_buffer *buffer)
{
    return buffer->aperture.segment
               ? vidmm_aperture_address(buffer->owner->device->vidsch->vidmm, &buffer->aperture)
               : page_phys(buffer->first_logical).value;
}
