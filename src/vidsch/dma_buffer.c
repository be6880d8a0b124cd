/* SPDX-License-Identifier: MIT */
/*
 * The DMA buffers of a context.
 *
 *   page of canary | data: whole pages, contiguous, seen by the device | page of canary
 *   private block, zeroed once; allocation list; patch-location list: between known bytes
 *
 * The thread that fills a buffer and each packet made from it hold a reference. With the last
 * reference the buffer returns to the pool of its context (PATCH-043), which hands out the newest
 * first. Buffers that no longer have the sizes promised to the client are freed instead. In virtual
 * mode a buffer is only its private block, unless the driver writes commands to it (present.h,
 * render_gdi.h): then its data is mapped in the address space of the process.
 */
#include <string.h>

#include "vidsch/dma_buffer.h"
#include "ram/ram.h"
#include "util/min_max.h"
#include "verify/refusal.h"
#include "vidmm/space/open_address.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_wait.h"
#include "vidsch/dma_memory.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_bugcheck.h"

static void buffer_free(struct dma_buffer *buffer)
{
    struct vidsch_context *context = buffer->owner;

    vidmm_aperture_unmap(context->device->vidsch->vidmm, &buffer->aperture);
    vidmm_commands_unmap(context->device->mm, buffer->va);
    vidsch_dma_view_destroy(context->device->vidsch, &buffer->view);
    if (buffer->first.value)
        vidsch_dma_memory_give(context->device->vidsch, buffer->first, buffer->pages, 1,
                               buffer->first_logical);
    ddi_guarded_finish(&buffer->private);
    util_free(buffer->references_map);
    util_free(buffer->reach);
    ddi_guarded_finish(&buffer->allocation_memory);
    ddi_guarded_finish(&buffer->patch_memory);
    util_free(buffer->needs);
    util_free(buffer->next_in_slot);
    vidsch_patch_watch_free(&buffer->watch);
    util_free(buffer);
    context->buffers--;
}

static bool make_arrays(struct dma_buffer *buffer, const struct vidsch_context *context)
{
    buffer->allocation_capacity = (uint32_t)max_of(context->promise.allocation_count,
                                                   DMA_PRESENT_ELEMENTS);
    buffer->patch_capacity = context->promise.patch_count;
    buffer->references_map = util_zalloc(buffer->allocation_capacity + 1,
                                         sizeof(*buffer->references_map));
    buffer->reach = util_zalloc(buffer->allocation_capacity + (size_t)1, sizeof(*buffer->reach));
    if (!buffer->references_map || !buffer->reach ||
        !ddi_guarded_init(&buffer->allocation_memory,
                          (buffer->allocation_capacity + (size_t)1) * sizeof(*buffer->allocations),
                          "the allocation list") ||
        !ddi_guarded_init(&buffer->patch_memory,
                          context->promise.patch_count * sizeof(*buffer->patches),
                          "the patch-location list"))
        return false;
    buffer->allocations = (void *)buffer->allocation_memory.data;
    buffer->patches = (void *)buffer->patch_memory.data;
    if (!vidsch_is_1x(context->device->vidsch))
        return true;
    buffer->needs = util_zalloc(context->promise.patch_count + 1, sizeof(*buffer->needs));
    buffer->next_in_slot = util_zalloc(context->promise.patch_count + 1,
                                       sizeof(*buffer->next_in_slot));
    return buffer->needs && buffer->next_in_slot;
}

static bool make_data(struct dma_buffer *buffer, struct vidsch_context *context, uint32_t bytes)
{
    struct vidsch *vidsch = context->device->vidsch;

    buffer->pages = align_up(bytes, PAGE_BYTES) >> PAGE_BITS;
    if (!vidsch_dma_memory_take(vidsch, buffer->pages, 1, &buffer->first, &buffer->first_logical))
        return false;
    if (!vidsch_dma_view_create(vidsch, &buffer->view, buffer->first, buffer->pages,
                                "the DMA buffer"))
        return false;
    buffer->data = buffer->view.data;
    buffer->capacity = bytes; /* PATCH-056 */
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

/* PRES-115: at an address of the process. */
static bool make_virtual_data(struct dma_buffer *buffer, struct vidsch_context *context)
{
    const uint32_t bytes = context->info.DmaBufferSize ? context->info.DmaBufferSize
                                                       : (uint32_t)PAGE_BYTES;

    if (context->promise.allocation_count && !make_arrays(buffer, context)) /* PATCH-166 */
        return false;
    return make_data(buffer, context, bytes) &&
           NT_SUCCESS(vidmm_commands_map(context->device->mm, buffer->first_logical, buffer->pages,
                                         &buffer->va));
}

static bool make_all(struct dma_buffer *buffer, struct vidsch_context *context)
{
    return make_arrays(buffer, context) &&
           make_data(buffer, context, context->promise.command_bytes) &&
           place_data(buffer, context);
}

static struct dma_buffer *buffer_create(struct vidsch_context *context, bool with_data)
{
    struct dma_buffer *buffer = util_zalloc(1, sizeof(*buffer));

    if (!buffer)
        return NULL;
    list_init(&buffer->link);
    buffer->owner = context;
    context->buffers++;
    buffer->number = ++context->device->vidsch->next_buffer;
    buffer->private_bytes = context->info.DmaBufferPrivateDataSize;
    if (buffer->private_bytes) {
        if (!ddi_guarded_init(&buffer->private, buffer->private_bytes,
                              "the private data of the DMA buffer")) {
            buffer_free(buffer);
            return NULL;
        }
        buffer->private_data = buffer->private.data;
    }
    if ((context->has_lists && !make_all(buffer, context)) ||
        (!context->has_lists && with_data && !make_virtual_data(buffer, context))) {
        buffer_free(buffer);
        return NULL;
    }
    return buffer;
}

static bool is_as_promised(const struct dma_buffer *buffer)
{
    const struct vidsch_context *context = buffer->owner;

    if (!context->has_lists)
        return !buffer->data || buffer->allocation_capacity >= context->promise.allocation_count;
    return buffer->capacity == context->promise.command_bytes &&
           buffer->allocation_capacity >= context->promise.allocation_count &&
           buffer->patch_capacity >= context->promise.patch_count;
}

/* Take the newest free one off its list; NULL: there is none. */
static struct dma_buffer *take_free(struct vidsch_context *context, bool with_data)
{
    LIST_FOR(node, &context->free_buffers) {
        struct dma_buffer *buffer = CONTAINER(node, struct dma_buffer, link);

        if (with_data && !buffer->data)
            continue;
        list_remove(node);
        context->buffers_free--;
        return buffer;
    }
    return NULL;
}

static struct dma_buffer *get(struct vidsch_context *context, bool with_data)
{
    struct dma_buffer *buffer = take_free(context, with_data);

    while (buffer && !is_as_promised(buffer)) {
        buffer_free(buffer);
        buffer = take_free(context, with_data);
    }
    if (!buffer)
        buffer = buffer_create(context, with_data);
    if (!buffer) {
        (void)refuse(STATUS_NO_MEMORY, NULL,
                     "there is no memory for a DMA buffer of 0x%x bytes with 0x%x of private data",
                     context->info.DmaBufferSize, context->info.DmaBufferPrivateDataSize);
        return NULL;
    }
    buffer->references = 1;
    buffer->used = buffer->private_used = 0;
    buffer->present = false;
    buffer->flip = (struct vidsch_flip){.is = false};
    buffer->allocation_count = buffer->patch_count = 0;
    return buffer;
}

struct dma_buffer *vidsch_dma_buffer_get(struct vidsch_context *context)
{
    return get(context, false);
}

struct dma_buffer *vidsch_dma_buffer_get_data(struct vidsch_context *context)
{
    return get(context, true);
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

void vidsch_dma_buffer_free_pool(struct vidsch_context *context)
{
    struct list *link;

    while ((link = list_pop_front(&context->free_buffers)) != NULL) {
        context->buffers_free--;
        buffer_free(CONTAINER(link, struct dma_buffer, link));
    }
}

bool vidsch_dma_buffer_check_private(const struct dma_buffer *buffer, const char *ddi)
{
    if (ddi_guarded_intact(&buffer->private))
        return true;
    verify_fatal("PATCH-066", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_PRIVATE_DATA_OVERFLOW,
                 buffer->private_bytes, 0, 0,
                 "%s wrote outside the %u bytes of private data of its DMA buffer", ddi,
                 buffer->private_bytes);
    return false;
}

static bool overrun(const struct dma_buffer *buffer, const char *ddi, const char *what)
{
    verify_fatal("PATCH-066", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_DMA_BUFFER_OVERFLOW,
                 buffer->capacity, buffer->patch_capacity, 0, "%s wrote outside its %s", ddi, what);
    return false;
}

bool vidsch_dma_buffer_check(const struct dma_buffer *buffer, const char *ddi, bool lists)
{
    if (!vidsch_dma_view_intact(&buffer->view))
        return overrun(buffer, ddi, "DMA buffer");
    if (!lists && !vidsch_compares_now(buffer->owner->device->vidsch))
        return true;
    if (!ddi_guarded_intact(&buffer->patch_memory))
        return overrun(buffer, ddi, "patch-location list");
    if (vidsch_compares_now(buffer->owner->device->vidsch) &&
        !ddi_guarded_intact(&buffer->allocation_memory))
        return overrun(buffer, ddi, "allocation list");
    return vidsch_dma_buffer_check_private(buffer, ddi);
}

uint64_t vidsch_dma_buffer_address(const struct dma_buffer *buffer)
{
    return buffer->aperture.segment
               ? vidmm_aperture_address(buffer->owner->device->vidsch->vidmm, &buffer->aperture)
               : logical_page_addr(buffer->first_logical).value;
}
