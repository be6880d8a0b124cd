/* SPDX-License-Identifier: MIT */
/*
 * Memory that outlives its process: a mapping that a process shares with those it forks later, each
 * at the same address. What a machine keeps there (its time, broken rules, events) can be read by
 * the parent when the machine's process has ended, however that was.
 *
 * Blocks are taken in order and never given back one by one: the arena is reset as a whole. One
 * process at a time takes blocks.
 */
#ifndef DXGK_UTIL_ARENA_H
#define DXGK_UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct util_arena;

/* Reserves `bytes` of address space, or less where the system does not let it be so much; pages are
 * taken when they are first touched. NULL: out of memory. */
struct util_arena *util_arena_create(size_t bytes);
void util_arena_destroy(struct util_arena *arena);
/* A zeroed block, aligned for any type. NULL: the arena is full. Takes no lock. */
void *util_arena_alloc(struct util_arena *arena, size_t bytes);
/* What the blocks so far take; util_arena_reset frees those that came after. */
size_t util_arena_mark(const struct util_arena *arena);
void util_arena_reset(struct util_arena *arena, size_t mark);
/* Whether [start, start + bytes) lies among the blocks: for a reader that does not trust the
 * writer. */
bool util_arena_has(const struct util_arena *arena, const void *start, size_t bytes);

/* For what is kept in an arena if there is one, else in memory of malloc: zeroed. */
void *util_arena_or_malloc(struct util_arena *arena, size_t bytes);
/* Of an arena, the block stays until the reset. */
void util_arena_or_free(struct util_arena *arena, void *block);

#endif
