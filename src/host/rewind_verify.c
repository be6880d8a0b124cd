/* SPDX-License-Identifier: MIT */
/* Whether all memory is as it was, page by page: what a reset must come to. */
#include "host/rewind.h"

#include <string.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#else
static const ptrdiff_t __rseq_offset = 0; // NOLINT: the C library does not use it
#endif

#include "util/address.h"
#include "util/min_max.h"

#define RSEQ_BYTES 32u

static void note(struct rewind *rewind, uintptr_t address)
{
    if (rewind->different++ == 0)
        rewind->first_different = address;
}

/* The kernel writes there which processor the thread runs on. */
static void skip_rseq(const uint8_t *was, uint8_t *is, uintptr_t address, size_t bytes)
{
    const uintptr_t first = (uintptr_t)__builtin_thread_pointer() + (uintptr_t)__rseq_offset;
    const uintptr_t low = max_of(first, address);
    const uintptr_t high = min_of(first + RSEQ_BYTES, address + bytes);

    if (low < high)
        memcpy(is + (low - address), was + (low - address), high - low);
}

static void compare(struct rewind *rewind, const uint8_t *was, uintptr_t address, size_t bytes)
{
    uint8_t is[PAGE_BYTES];

    for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
        if (!rewind_peek(rewind, is, address + at, PAGE_BYTES)) {
            note(rewind, address + at);
            continue;
        }
        skip_rseq(was + at, is, address + at, PAGE_BYTES);
        for (size_t i = 0; i < PAGE_BYTES; i++) {
            if (was[at + i] == is[i])
                continue;
            note(rewind, address + at + i);
            break;
        }
    }
}

/* A page of private memory that was not there is zero. */
static void compare_new(struct rewind *rewind, uintptr_t address, size_t *copy)
{
    static const uint8_t zeroes[PAGE_BYTES];
    const struct rewind_copies *copies = &rewind->copies;

    while (*copy < copies->count && copies->copy[*copy].end <= address)
        ++*copy;
    if (*copy == copies->count || copies->copy[*copy].first > address)
        compare(rewind, zeroes, address, PAGE_BYTES);
}

void rewind_verify(struct rewind *rewind)
{
    const uintptr_t end = rewind->area[rewind->areas - 1].end;
    uintptr_t at = rewind->area[0].first;
    size_t copy = 0;

    for (size_t i = 0; i < rewind->copies.count; i++) {
        const struct rewind_copy *c = &rewind->copies.copy[i];

        compare(rewind, c->bytes, c->first, c->end - c->first);
    }
    for (int i = 0; i < rewind->files; i++)
        for (size_t j = 0; j < rewind->file[i].copies.count; j++) {
            const struct rewind_copy *c = &rewind->file[i].copies.copy[j];

            compare(rewind, c->bytes, (uintptr_t)rewind->file[i].ram.bytes + c->first,
                    c->end - c->first);
        }
    while (at < end) {
        int count = rewind_scan(rewind, &at, end, false, false);

        for (int i = 0; i < count; i++)
            for (uintptr_t page = rewind->region[i].first; page < rewind->region[i].end;
                 page += PAGE_BYTES)
                if (!rewind->area[rewind_find_area(rewind, page)].shared)
                    compare_new(rewind, page, &copy);
        if (count < 0)
            break;
    }
}
