/* SPDX-License-Identifier: MIT */
#include "vidsch/gdi_commands.h"
#include <string.h>

#include "verify/refusal.h"

/* Where the arguments of an operation have their rectangles. */
struct operation {
    uint32_t bytes; /* of a record without rectangles */
    uint32_t count_at, rects_at;
};

#define HEAD_BYTES ((uint32_t)offsetof(DXGK_RENDERKM_COMMAND, Command))
#define OPERATION(member)                                                            \
    {                                                                                \
        HEAD_BYTES + (uint32_t)sizeof(((DXGK_RENDERKM_COMMAND *)0)->Command.member), \
            (uint32_t)offsetof(DXGK_RENDERKM_COMMAND, Command.member.NumSubRects),   \
            (uint32_t)offsetof(DXGK_RENDERKM_COMMAND, Command.member.pSubRects)      \
    }

/* NULL: an operation that has none, or that is not known; the driver judges it. */
static const struct operation *find_operation(UINT code)
{
    static const struct operation operations[] = {
        [DXGK_GDIOP_BITBLT] = OPERATION(BitBlt),
        [DXGK_GDIOP_COLORFILL] = OPERATION(ColorFill),
        [DXGK_GDIOP_ALPHABLEND] = OPERATION(AlphaBlend),
        [DXGK_GDIOP_STRETCHBLT] = OPERATION(StretchBlt),
        [DXGK_GDIOP_TRANSPARENTBLT] = OPERATION(TransparentBlt),
        [DXGK_GDIOP_CLEARTYPEBLEND] = OPERATION(ClearTypeBlend),
    };

    return code < sizeof(operations) / sizeof(operations[0]) && operations[code].bytes
               ? &operations[code]
               : NULL;
}

/* Of the record of `size` bytes at `record`, which the client had at `written`. */
static NTSTATUS move_rects(uint8_t *record, uint32_t size, uint64_t written,
                           const struct operation *operation)
{
    uint64_t rects, bytes;
    UINT count;

    memcpy(&count, record + operation->count_at, sizeof(count));
    memcpy(&rects, record + operation->rects_at, sizeof(rects));
    bytes = (uint64_t)count * sizeof(RECT);
    if (count && (bytes > size || rects - written > size - bytes))
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-165",
                      "%u rectangles of a record of %u bytes do not lie in it", count, size);
    rects = count ? (uint64_t)(uintptr_t)record + (rects - written) : 0;
    memcpy(record + operation->rects_at, &rects, sizeof(rects));
    return STATUS_SUCCESS;
}

static NTSTATUS mend(uint8_t *copy, const uint8_t *commands, uint32_t bytes)
{
    NTSTATUS status = STATUS_SUCCESS;
    uint32_t at = 0;

    while (at < bytes && NT_SUCCESS(status)) {
        const struct operation *operation;
        UINT head[2] = {0}; /* OpCode, CommandSize */

        if (bytes - at >= HEAD_BYTES)
            memcpy(head, copy + at, sizeof(head));
        operation = find_operation(head[0]);
        if (head[1] < (operation ? operation->bytes : HEAD_BYTES) || head[1] > bytes - at)
            return refuse(STATUS_INVALID_PARAMETER, "PATCH-165",
                          "the record at %u of %u bytes, operation %u, has CommandSize %u", at,
                          bytes, head[0], head[1]);
        if (operation)
            status = move_rects(copy + at, head[1], (uint64_t)(uintptr_t)(commands + at), operation);
        at += head[1];
    }
    return status;
}

NTSTATUS vidsch_gdi_commands_copy(struct ddi_guarded *copy, const void *commands, uint32_t bytes)
{
    NTSTATUS status;

    if (!ddi_guarded_init(copy, bytes, "the commands of GDI"))
        return STATUS_NO_MEMORY;
    if (!bytes)
        return STATUS_SUCCESS;
    memcpy(copy->data, commands, bytes);
    status = mend(copy->data, commands, bytes);
    if (!NT_SUCCESS(status))
        ddi_guarded_finish(copy);
    return status;
}
