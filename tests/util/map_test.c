/* SPDX-License-Identifier: MIT */
#include "util/map.h"

#include <stdint.h>
#include <string.h>

#include "support/check_rule.h"

#define PAGE  4096u
#define NOTED 8u

struct notes {
    struct util_map_listener listener;
    unsigned count;
    struct util_map_event event[NOTED];
    bool keeps;
};

static bool note(struct util_map_listener *listener, const struct util_map_event *event)
{
    struct notes *notes = (struct notes *)(void *)listener;

    if (notes->count < NOTED)
        notes->event[notes->count++] = *event;
    return notes->keeps && event->change == UTIL_MAP_REMOVING;
}

static bool noted(const struct notes *notes, unsigned index, enum util_map_change change,
                  const void *start, size_t bytes)
{
    const struct util_map_event *event = &notes->event[index];

    return index < notes->count && event->change == change && event->start == start &&
           event->bytes == bytes && event->file == -1;
}

TEST(a_listener_is_told_of_each_change_in_its_order)
{
    struct notes notes = {.listener = {note}};
    char *pages;

    util_map_listener = &notes.listener;
    pages = util_map(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(util_map(pages + PAGE, PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages + PAGE);
    CHECK(util_protect(pages, PAGE, PROT_READ) == 0);
    CHECK(util_advise(pages + PAGE, PAGE, MADV_DONTNEED) == 0);
    CHECK(util_advise(pages + PAGE, PAGE, MADV_NORMAL) == 0); /* no change */
    CHECK(util_unmap(pages, 4 * PAGE) == 0);
    util_map_listener = NULL;
    CHECK(notes.count == 6);
    CHECK(noted(&notes, 0, UTIL_MAP_NEW, pages, 4 * PAGE));
    CHECK(noted(&notes, 1, UTIL_MAP_REPLACING, pages + PAGE, PAGE));
    CHECK(noted(&notes, 2, UTIL_MAP_REPLACED, pages + PAGE, PAGE));
    CHECK(noted(&notes, 3, UTIL_MAP_PROTECTED, pages, PAGE));
    CHECK(noted(&notes, 4, UTIL_MAP_DISCARDED, pages + PAGE, PAGE));
    CHECK(noted(&notes, 5, UTIL_MAP_REMOVING, pages, 4 * PAGE));
}

TEST(a_change_that_fails_is_none)
{
    struct notes notes = {.listener = {note}};

    util_map_listener = &notes.listener;
    CHECK(util_map(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK(util_protect((void *)(uintptr_t)PAGE, PAGE, PROT_READ) != 0); // NOLINT: nothing is there
    CHECK(util_advise((void *)(uintptr_t)1, PAGE, MADV_DONTNEED) != 0); // NOLINT
    util_map_listener = NULL;
    CHECK(notes.count == 0);
}

TEST(a_listener_can_keep_what_is_unmapped)
{
    struct notes notes = {.listener = {note}, .keeps = true};
    char *pages = util_map(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(pages != MAP_FAILED);
    pages[0] = 7;
    util_map_listener = &notes.listener;
    CHECK(util_unmap(pages, PAGE) == 0);
    util_map_listener = NULL;
    CHECK(notes.count == 1 && pages[0] == 7);
    CHECK(util_unmap(pages, PAGE) == 0);
}
