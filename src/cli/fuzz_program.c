/* SPDX-License-Identifier: MIT */
/* Inputs of a campaign, as records. See fuzz_program.h for their form. */
#include "cli/fuzz_program.h"

#include <string.h>

#include "util/array.h"
#include "util/min_max.h"

#define LINE_BYTES 16u

/* Escapes are what most drivers take most of; objects are made more often than they go. */
static const uint8_t kinds[32] = {
    FUZZ_ESCAPE,
    FUZZ_CREATE_ALLOCATION,
    FUZZ_OPEN_RESOURCE,
    FUZZ_DESTROY_ALLOCATION,
    FUZZ_RENDER,
    FUZZ_SUBMIT_COMMAND,
    FUZZ_PRESENT,
    FUZZ_QUERY_ADAPTER,
    FUZZ_CREATE_CONTEXT,
    FUZZ_DESTROY_CONTEXT,
    FUZZ_CREATE_DEVICE,
    FUZZ_DESTROY_DEVICE,
    FUZZ_WAIT,
    FUZZ_CREATE_ALLOCATION,
    FUZZ_CREATE_ALLOCATION,
    FUZZ_CREATE_CONTEXT,
    FUZZ_RENDER,
    FUZZ_RENDER,
    FUZZ_SUBMIT_COMMAND,
    FUZZ_SUBMIT_COMMAND,
    FUZZ_PRESENT,
    FUZZ_QUERY_ADAPTER,
    /* the rest: FUZZ_ESCAPE */
};

static const uint16_t zeroes[16] = {0,  0,  0,  0,   4,   8,    12,   16,
                                    24, 32, 64, 128, 256, 1024, 4096, 7936};

bool fuzz_program_next(const uint8_t *input, size_t bytes, size_t *at, struct fuzz_call *call)
{
    uint8_t head[FUZZ_HEAD] = {0};
    size_t left = bytes - *at;

    if (left == 0)
        return false;
    memcpy(head, input + *at, min_of(left, FUZZ_HEAD));
    left -= min_of(left, FUZZ_HEAD);
    call->kind = (enum fuzz_kind)kinds[head[0] % ARRAY_COUNT(kinds)];
    call->choice = head[1];
    call->length = (uint32_t)min_of(left, head[2]);
    call->bytes = call->length + zeroes[head[3] % ARRAY_COUNT(zeroes)];
    call->data = input + (bytes - left);
    *at = bytes - left + call->length;
    return true;
}

const char *fuzz_kind_name(enum fuzz_kind kind)
{
    static const char *const names[] = {
        [FUZZ_ESCAPE] = "D3DKMTEscape",
        [FUZZ_CREATE_ALLOCATION] = "D3DKMTCreateAllocation",
        [FUZZ_OPEN_RESOURCE] = "D3DKMTOpenResource",
        [FUZZ_DESTROY_ALLOCATION] = "D3DKMTDestroyAllocation2",
        [FUZZ_RENDER] = "D3DKMTRender",
        [FUZZ_SUBMIT_COMMAND] = "D3DKMTSubmitCommand",
        [FUZZ_PRESENT] = "D3DKMTPresent",
        [FUZZ_QUERY_ADAPTER] = "D3DKMTQueryAdapterInfo",
        [FUZZ_CREATE_CONTEXT] = "D3DKMTCreateContext",
        [FUZZ_DESTROY_CONTEXT] = "D3DKMTDestroyContext",
        [FUZZ_CREATE_DEVICE] = "D3DKMTCreateDevice",
        [FUZZ_DESTROY_DEVICE] = "D3DKMTDestroyDevice",
        [FUZZ_WAIT] = "a pause",
    };

    return (unsigned)kind < FUZZ_KINDS ? names[kind] : "";
}

void fuzz_call_print(FILE *out, unsigned number, const struct fuzz_call *call)
{
    fprintf(out, "%3u  %s, choice 0x%02x, %u bytes", number, fuzz_kind_name(call->kind),
            call->choice, call->bytes);
    if (call->bytes > call->length && call->length)
        fprintf(out, ", zeroes from 0x%x on", call->length);
    putc('\n', out);
    for (uint32_t at = 0; at < call->length; at++) {
        if (at % LINE_BYTES == 0)
            fprintf(out, "     %04x ", at);
        fprintf(out, " %02x", call->data[at]);
        if (at % LINE_BYTES == LINE_BYTES - 1 || at + 1 == call->length)
            putc('\n', out);
    }
}

/* ---- smaller ones ---- */

struct reduction {
    uint8_t *input;
    size_t bytes;
    unsigned tries;
    bool (*still)(void *context, const uint8_t *input, size_t bytes);
    void *context;
};

/* Whether it is as good without the bytes [first, end) and, `from` not SIZE_MAX, with another byte
 * there; then it is kept so. */
static bool try_change(struct reduction *r, size_t first, size_t end, size_t from, uint8_t other)
{
    uint8_t copy[65536];
    size_t bytes = r->bytes - (end - first);

    if (r->tries == 0 || r->bytes > sizeof(copy))
        return false;
    r->tries--;
    memcpy(copy, r->input, first);
    memcpy(copy + first, r->input + end, r->bytes - end);
    if (from < bytes)
        copy[from] = other;
    if (!r->still(r->context, copy, bytes))
        return false;
    memcpy(r->input, copy, bytes);
    r->bytes = bytes;
    return true;
}

/* The last calls first: what depends on others goes before them. */
static bool drop_calls(struct reduction *r)
{
    size_t start[FUZZ_CALLS + 1], at = 0;
    unsigned count = 0;
    struct fuzz_call call;
    bool smaller = false;

    start[0] = 0;
    while (count < FUZZ_CALLS && fuzz_program_next(r->input, r->bytes, &at, &call))
        start[++count] = at;
    if (at < r->bytes) /* calls that are not made */
        smaller |= try_change(r, at, r->bytes, SIZE_MAX, 0);
    for (unsigned i = count; i-- > 0;)
        smaller |= try_change(r, start[i], start[i + 1], SIZE_MAX, 0);
    return smaller;
}

/* Cuts the data of the call whose record begins at `start`, by halves. */
static bool cut_data(struct reduction *r, size_t start)
{
    bool smaller = false;
    struct fuzz_call call;

    for (;;) {
        size_t at = start, begin;
        uint32_t left;

        if (!fuzz_program_next(r->input, r->bytes, &at, &call) || call.length == 0)
            return smaller;
        begin = at - call.length;
        for (left = call.length / 2; left < call.length; left += (call.length - left + 1) / 2)
            if (try_change(r, begin + left, at, start + 2, (uint8_t)left))
                break;
        if (left >= call.length)
            return smaller;
        smaller = true;
    }
}

static void clear_data(struct reduction *r, size_t start)
{
    struct fuzz_call call;
    size_t at = start;

    if (!fuzz_program_next(r->input, r->bytes, &at, &call))
        return;
    for (size_t i = at - call.length; i < at; i++)
        if (r->input[i])
            (void)try_change(r, 0, 0, i, 0);
    for (size_t i = start + 1; i < start + FUZZ_HEAD && i < r->bytes; i += 2)
        if (r->input[i])
            (void)try_change(r, 0, 0, i, 0);
}

size_t fuzz_program_reduce(uint8_t *input, size_t bytes, unsigned tries,
                           bool (*still)(void *context, const uint8_t *input, size_t bytes),
                           void *context)
{
    struct reduction r = {input, bytes, tries, still, context};
    struct fuzz_call call;
    size_t at, start;

    while (drop_calls(&r))
        ;
    for (at = start = 0; fuzz_program_next(r.input, r.bytes, &at, &call); start = at) {
        (void)cut_data(&r, start);
        clear_data(&r, start);
        at = start;
        (void)fuzz_program_next(r.input, r.bytes, &at, &call);
    }
    return r.bytes;
}
