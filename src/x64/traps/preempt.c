/* SPDX-License-Identifier: MIT */
#include "x64/traps/preempt.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"
#include "util/address.h"
#include "util/map.h"
#include "x64/traps/state.h"

#define TRAP       0xF4u /* hlt */
#define BREAKPOINT 0xCCu
#define SHARE      100u     /* hits of a place within */
#define WINDOW     1000000u /* ns of virtual time; then it rests for that long */

struct place {
    uint32_t at; /* offset in the image */
    uint8_t byte;
    bool traps, gone;
    uint8_t hits;
    uint64_t since;
    struct place *next_resting;
};

struct x64_preempt_image {
    struct x64_preempt_image *next;
    uintptr_t base;
    uint32_t bytes, count;
    struct place *resting;
    struct place place[]; /* by offset */
};

static struct x64_preempt_image *image_of(uintptr_t pc)
{
    struct x64_preempt_image *image = x64_state()->preempt;

    while (image && pc - image->base >= image->bytes)
        image = image->next;
    return image;
}

static struct place *place_at(struct x64_preempt_image *image, uintptr_t pc)
{
    uint32_t at = (uint32_t)(pc - image->base), low = 0, high = image->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (image->place[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->count && image->place[low].at == at ? &image->place[low] : NULL;
}

/* Exchange a byte of code that is not writable. False: a debugger has a breakpoint there, and the
 * byte in its own memory; or the page is gone. */
static bool exchange(uintptr_t pc, uint8_t old, uint8_t fresh)
{
    uint8_t *code = (uint8_t *)pc;                   // NOLINT: a place in an image
    void *page = (void *)align_down(pc, PAGE_BYTES); // NOLINT
    bool same = *code == old && util_protect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) == 0;

    if (!same)
        return false;
    *code = fresh;
    (void)util_protect(page, PAGE_BYTES, PROT_READ | PROT_EXEC);
    return true;
}

void x64_preempt_add(const struct x64_function_table *table, const uint32_t *at, uint32_t count)
{
    struct x64_machine *x64 = x64_state();
    struct x64_preempt_image *image = count
                                          ? calloc(1, sizeof(*image) + count * sizeof(struct place))
                                          : NULL;

    if (!image)
        return;
    *image = (struct x64_preempt_image){
        .next = x64->preempt, .base = table->base, .bytes = table->image_bytes, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *code = (uint8_t *)table->base + at[i]; // NOLINT: a place in an image

        image->place[i] = (struct place){.at = at[i], .byte = *code, .traps = true};
        *code = TRAP;
    }
    x64->preempt = image;
}

void x64_preempt_forget(uintptr_t base, uint64_t bytes)
{
    for (struct x64_preempt_image *image = x64_state()->preempt; image; image = image->next)
        for (uint32_t i = 0; i < image->count; i++)
            if (image->base + image->place[i].at - base < bytes)
                image->place[i].gone = true;
}

bool x64_preempt_at(uintptr_t pc, uint8_t *first)
{
    struct x64_preempt_image *image = image_of(pc);
    const struct place *place = image ? place_at(image, pc) : NULL;

    if (!place || !place->traps || place->gone)
        return false;
    *first = place->byte;
    return true;
}

/* False: the byte could not be put right. */
static bool stop_trapping(uintptr_t pc, struct place *place)
{
    if (!place->traps || !exchange(pc, TRAP, place->byte))
        return false;
    place->traps = false;
    return true;
}

static bool rest(struct x64_preempt_image *image, struct place *place)
{
    if (!stop_trapping(image->base + place->at, place))
        return false;
    place->since = sim_current->now;
    place->next_resting = image->resting;
    image->resting = place;
    return true;
}

bool x64_preempt_rest(uintptr_t pc)
{
    struct x64_preempt_image *image = image_of(pc);
    struct place *place = image ? place_at(image, pc) : NULL;

    return place && rest(image, place);
}

void x64_preempt_count(uintptr_t pc)
{
    struct x64_preempt_image *image = image_of(pc);
    struct place *place = image ? place_at(image, pc) : NULL;

    if (!place)
        return;
    if (sim_current->now - place->since > WINDOW) {
        place->since = sim_current->now;
        place->hits = 0;
    }
    if (++place->hits < SHARE)
        return;
    place->hits = 0;
    (void)rest(image, place);
}

bool x64_preempt_drop(uintptr_t pc)
{
    struct x64_preempt_image *image = image_of(pc);
    struct place *place = image ? place_at(image, pc) : NULL;

    return place && stop_trapping(pc, place);
}

void x64_preempt_wake(void)
{
    struct x64_machine *x64 = x64_state();
    uint64_t now = sim_current->now;

    for (struct x64_preempt_image *image = x64 ? x64->preempt : NULL; image; image = image->next) {
        struct place **link = &image->resting;

        while (*link) {
            struct place *place = *link;

            if (now - place->since <= WINDOW) {
                link = &place->next_resting;
                continue;
            }
            *link = place->next_resting;
            place->traps = !place->gone && exchange(image->base + place->at, place->byte, TRAP);
            place->since = now;
        }
    }
}

void x64_preempt_finish(struct x64_machine *x64)
{
    while (x64->preempt) {
        struct x64_preempt_image *image = x64->preempt;

        x64->preempt = image->next;
        free(image);
    }
}
