/* SPDX-License-Identifier: MIT */
/*
 * What the pages of an address space will map when all that is queued has been carried out, in the
 * order in which it was called for, and after that what is added here. For the question whether a
 * driver protection that is unique stands against a further mapping (GPUVA-101, GPUVA-103). Lock
 * held, and kept until the end.
 *
 *     va_outlook_begin; va_outlook_look_at...; va_outlook_start; the others; va_outlook_end
 *
 * Those that return a status fail for want of memory.
 */
#ifndef DXGK_VIDMM_VA_OUTLOOK_H
#define DXGK_VIDMM_VA_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/list.h"
#include "util/span_tree.h"

struct va_piece;
struct va_range;
struct vidmm_allocation;
struct vidmm_space;

struct va_outlook {
    struct vidmm_space *space;
    struct span_tree changes; /* of pages: the latest of each */
    struct list unique;       /* those of them that map with a unique protection */
    struct list looked_at;    /* ranges for which changes are queued */
};

void va_outlook_begin(struct va_outlook *outlook, struct vidmm_space *space);
void va_outlook_end(struct va_outlook *outlook);
/* What is queued counts, as far as it has to do with unique mappings of the allocation. */
NTSTATUS va_outlook_look_at(struct va_outlook *outlook, const struct vidmm_allocation *allocation);
/* What was looked at happens, in its order. */
NTSTATUS va_outlook_start(struct va_outlook *outlook);
/* The pages values->span map what the values say. */
NTSTATUS va_outlook_map(struct va_outlook *outlook, const struct va_piece *values);
/* They map what pages of `source`, from page `from` on, do. */
NTSTATUS va_outlook_copy(struct va_outlook *outlook, uint64_t first, uint64_t pages,
                         struct va_range *source, uint64_t from);
/* Are some of these pages of an allocation mapped with a unique protection that is another one? */
bool va_outlook_conflict(const struct va_outlook *outlook, const struct vidmm_allocation *allocation,
                         uint64_t offset, uint64_t pages, uint64_t protection);

#endif
