/* SPDX-License-Identifier: MIT */
/* New sizes for the next D3DKMTRender: larger or smaller blocks of client memory, and a DMA buffer
 * that fits them. */
#include "vidsch/render_resize.h"
#include "vidsch/client_block.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/vidsch_assert.h"

#define MAX_LIST     65536u      /* most elements that a client may ask for (KMT-305) */
#define MAX_COMMANDS (16u << 20) /* most bytes that a client may ask for */

struct block_request { /* of one block, in elements */
    UINT wanted, least, most;
    size_t element; /* bytes */
};

/* Make a block of the wanted size, within the limits of KMT-305. The old one stays if it has that
 * size, or if there is no memory. */
static void resize_block(struct vidsch *vidsch, struct client_block *block, uint32_t *size,
                         const struct block_request *request)
{
    struct client_block fresh;
    UINT wanted = request->wanted;
    uint64_t bytes;

    if (wanted > request->most)
        wanted = request->most;
    if (wanted < request->least)
        wanted = request->least;
    bytes = align_up(wanted * request->element, PAGE_BYTES);
    if (bytes / request->element == *size || !vidsch_client_block_create(vidsch, &fresh, bytes))
        return;
    *block = fresh;
    *size = (uint32_t)(bytes / request->element);
}

static void drop_replaced(struct vidsch *vidsch, struct vidsch_promise *gone,
                          const struct vidsch_promise *kept)
{
    if (gone->commands.view != kept->commands.view)
        vidsch_client_block_destroy(vidsch, &gone->commands);
    if (gone->allocations.view != kept->allocations.view)
        vidsch_client_block_destroy(vidsch, &gone->allocations);
    if (gone->patches.view != kept->patches.view)
        vidsch_client_block_destroy(vidsch, &gone->patches);
}

static void resize_commands(struct vidsch_context *context, struct vidsch_promise *promise,
                            UINT size)
{
    struct block_request request = {size, context->info.DmaBufferSize, MAX_COMMANDS, 1};

    resize_block(context->device->vidsch, &promise->commands, &promise->command_bytes, &request);
}

static void resize_allocations(struct vidsch_context *context, struct vidsch_promise *promise,
                               UINT size)
{
    struct block_request request = {size, context->info.AllocationListSize, MAX_LIST,
                                    sizeof(D3DDDI_ALLOCATIONLIST)};

    resize_block(context->device->vidsch, &promise->allocations, &promise->allocation_count,
                 &request);
}

static void resize_patches(struct vidsch_context *context, struct vidsch_promise *promise, UINT size)
{
    struct block_request request = {size, context->info.PatchLocationListSize, MAX_LIST,
                                    sizeof(D3DDDI_PATCHLOCATIONLIST)};

    resize_block(context->device->vidsch, &promise->patches, &promise->patch_count, &request);
}

void vidsch_render_resize(struct vidsch_context *context, const D3DKMT_RENDER *args)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct vidsch_promise old = context->promise, fresh = old;
    bool patches = !context->info.Caps.NoPatchingRequired;
    struct dma_buffer *reserve;

    vidsch_assert_locked(context);
    if (args->Flags.ResizeCommandBuffer)
        resize_commands(context, &fresh, args->NewCommandBufferSize);
    if (args->Flags.ResizeAllocationList && patches)
        resize_allocations(context, &fresh, args->NewAllocationListSize);
    if (args->Flags.ResizePatchLocationList && patches)
        resize_patches(context, &fresh, args->NewPatchLocationListSize);
    context->promise = fresh;
    reserve = vidsch_dma_buffer_get(context);
    if (!reserve) {
        context->promise = old;
        drop_replaced(vidsch, &fresh, &old);
        return;
    }
    drop_replaced(vidsch, &old, &fresh);
    vidsch_dma_buffer_put(context->reserve);
    context->reserve = reserve;
}
