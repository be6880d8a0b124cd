/* SPDX-License-Identifier: MIT */
/* The shadow: for each eight bytes of watched memory, the accesses that a later one may race
 * with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/record.h"

#define PAGE     4096u
#define GRANULE  8u
#define BLOCK    512u
#define ACCESSES 4u

struct granule {
    struct race_access access[ACCESSES]; /* `bytes` 0: none */
};

struct race_block {
    struct granule granule[BLOCK / GRANULE];
};

_Static_assert(sizeof(((struct race_page *)NULL)->block) / sizeof(struct race_block *) ==
                   PAGE / BLOCK,
               "the blocks of a page");

static void free_page(void *value)
{
    struct race_page *page = value;

    for (unsigned i = 0; i < PAGE / BLOCK; i++)
        free(page->block[i]);
    free(page);
}

static void nothing_to_free(void *value)
{
    (void)value;
}

void race_shadow_finish(struct race *race)
{
    race_table_finish(&race->pages, free_page);
    race_table_finish(&race->pairs, nothing_to_free);
}

struct race_page *race_page_of(struct race *race, uintptr_t address)
{
    uint64_t number = address / PAGE;

    if (number != race->last_page) {
        race->last_page = number;
        race->last = race_table_get(&race->pages, number);
    }
    return race->last;
}

static void clear_marks(const struct race_page *page, uintptr_t at, uintptr_t stop)
{
    for (struct race_mark *mark = page->marks; mark; mark = mark->next) {
        if (mark->object < at || mark->object >= stop)
            continue;
        free(mark->clock.time);
        mark->clock = (struct race_clock){.time = NULL};
    }
}

void race_watch(struct race *race, const void *address, uint64_t bytes)
{
    uintptr_t at = (uintptr_t)address, end = at + bytes;

    race->last_page = 0;
    race->last = NULL;
    while (at < end) {
        uintptr_t stop = (at / BLOCK + 1) * BLOCK < end ? (at / BLOCK + 1) * BLOCK : end;
        void **place = race_table_put(&race->pages, at / PAGE);
        struct race_page *page;
        struct race_block *block;

        if (!place || (!*place && (*place = calloc(1, sizeof(struct race_page))) == NULL))
            return;
        page = *place;
        clear_marks(page, at, stop);
        block = page->block[at % PAGE / BLOCK];
        if (block)
            memset(&block->granule[at % BLOCK / GRANULE], 0,
                   ((stop - 1) / GRANULE - at / GRANULE + 1) * sizeof(struct granule));
        at = stop;
    }
}

bool race_watches(struct race *race, const volatile void *address)
{
    return race_page_of(race, (uintptr_t)address) != NULL;
}

static struct granule *granule_of(struct race *race, uintptr_t address, bool make)
{
    struct race_page *page = race_page_of(race, address);
    struct race_block **block;

    if (!page)
        return NULL;
    block = &page->block[address % PAGE / BLOCK];
    if (!*block && make)
        *block = calloc(1, sizeof(**block));
    return *block ? &(*block)->granule[address % BLOCK / GRANULE] : NULL;
}

/* Whether the later access takes the place of the earlier one: what races with that races with
 * this, too. */
static bool implies(const struct race_access *later, const struct race_access *earlier)
{
    return (earlier->bytes & ~later->bytes) == 0 &&
           (later->kind & RACE_WRITE) >= (earlier->kind & RACE_WRITE) &&
           (later->kind & RACE_ATOMIC) <= (earlier->kind & RACE_ATOMIC);
}

static bool conflicts(const struct race_access *a, const struct race_access *b)
{
    return (a->bytes & b->bytes) != 0 && ((a->kind | b->kind) & RACE_WRITE) != 0 &&
           (a->kind & b->kind & RACE_ATOMIC) == 0;
}

/* Which access is forgotten where there are too many: a read, if there is one. */
static struct race_access *victim(struct race *race, struct granule *granule)
{
    for (unsigned i = 0; i < ACCESSES; i++) {
        struct race_access *old = &granule->access[race->evictions++ % ACCESSES];

        if (!(old->kind & RACE_WRITE))
            return old;
    }
    return &granule->access[race->evictions++ % ACCESSES];
}

/* False: this pair of places was told before. */
static bool is_news(struct race *race, uintptr_t a, uintptr_t b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t key = low * 0x9E3779B97F4A7C15u + (high + 1) * 0xC2B2AE3D27D4EB4Fu;
    void **place = race_table_put(&race->pairs, key ? key : 1);

    if (!place || *place)
        return false;
    *place = race;
    return true;
}

/* The accesses of one granule: keep the new one. True: it races with an earlier one, and that is
 * `wanted`, and news. */
static bool look(struct race *race, struct granule *granule, const struct race_access *now,
                 bool wanted, struct race_access *before)
{
    const struct race_task *task = race->current;
    struct race_access *place = NULL;
    bool news = false;

    for (unsigned i = 0; i < ACCESSES; i++) {
        struct race_access *old = &granule->access[i];
        bool ordered;

        if (!old->bytes) {
            if (!place)
                place = old;
            continue;
        }
        ordered = old->task == now->task || old->time <= race_knows(task, old->task) ||
                  old->time <= race->task[old->task]->barrier;
        if (wanted && !news && !ordered && conflicts(old, now) && is_news(race, now->pc, old->pc)) {
            news = true;
            *before = *old;
        }
        if (!ordered || !implies(now, old) || now->kind & RACE_FREE)
            continue;
        if (place)
            old->bytes = 0;
        else
            place = old;
    }
    if (now->kind & RACE_FREE)
        return news;
    if (!place)
        place = victim(race, granule);
    *place = *now;
    return news;
}

bool race_access(struct race *race, const volatile void *address, uint64_t bytes,
                 struct race_access access, struct race_found *found)
{
    uintptr_t at = (uintptr_t)address, end = at + bytes;
    struct race_task *task = race->current;
    bool news = false;

    if (!task || task->carrier || !race_knows(task, task->number))
        return false;
    access.task = task->number;
    access.time = task->knows.time[task->number];
    access.stack = task->place;
    while (at < end) {
        uintptr_t first = at & ~(uintptr_t)(GRANULE - 1);
        uintptr_t stop = first + GRANULE < end ? first + GRANULE : end;
        struct granule *granule = granule_of(race, at, !(access.kind & RACE_FREE));
        struct race_access before;

        access.bytes = (uint8_t)((0xFFu << (at - first)) & (0xFFu >> (first + GRANULE - stop)));
        if (granule && look(race, granule, &access, !news, &before)) {
            news = true;
            found->now = access;
            found->before = before;
            found->address = first + (unsigned)__builtin_ctz(access.bytes & before.bytes);
            snprintf(found->now_name, sizeof(found->now_name), "%s", task->name);
            snprintf(found->before_name, sizeof(found->before_name), "%s",
                     race->task[before.task]->name);
        }
        at = stop;
    }
    return news;
}

unsigned race_pairs(const struct race *race)
{
    return race->pairs.count;
}
