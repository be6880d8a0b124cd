/* SPDX-License-Identifier: MIT */
#include "nt/mm/race_guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "nt/base/image.h"
#include "nt/base/state.h"
#include "race/table.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "util/address.h"
#include "util/list.h"
#include "util/map.h"

#define OPEN   8u       /* pages that one instruction may touch */
#define SHARE  4000u    /* traps of a page within */
#define WINDOW 1000000u /* ns of virtual time; then it rests for that long */
#define CROWD  8192u    /* pages that are guarded at most: each may be a mapping of the process */

struct guarded {
    bool closed, resting, gone;
    bool orders; /* nt_race_guard_keep */
    bool executable;
    uint32_t traps;
    uint64_t since;
    uintptr_t number;
    struct guarded *next_resting;
};

struct nt_race_guard {
    bool on;
    uint32_t count;
    struct race_table pages; /* struct guarded, by number; one that is forgotten stays, open */
    struct guarded *resting;
    uintptr_t open[OPEN];
    unsigned opened;
    uintptr_t pass;
};

static struct nt_race_guard *guard_state(void)
{
    return nt_state() ? nt_state()->race_guard : NULL;
}

static bool set_open(const struct guarded *page, bool open)
{
    int rights = PROT_READ | PROT_WRITE | (page->executable ? PROT_EXEC : 0);

    return util_protect((void *)(page->number * PAGE_BYTES),
                        PAGE_BYTES, // NOLINT: a page by its number
                        open ? rights : PROT_NONE) == 0;
}

static void forget_page(struct nt_race_guard *guard, struct guarded *page)
{
    if (page->closed)
        (void)set_open(page, true);
    page->closed = false;
    page->gone = true;
    guard->count--;
}

/* ---- in the signal handler ---- */

static bool is_driver(uintptr_t pc)
{
    LIST_FOR(node, &nt_state()->images->all) {
        const struct nt_image *image = CONTAINER(node, struct nt_image, link);

        if (image->base && pc - image->base < image->bytes)
            return true;
    }
    return false;
}

/* Copy between a page of the host and one that may be guarded. False: that one is not there. */
static bool copy_piece(struct nt_race_guard *guard, uintptr_t at, uint8_t *piece, uint64_t bytes,
                       bool write)
{
    const struct guarded *page = race_table_get(&guard->pages, at / PAGE_BYTES);
    bool opened = page && page->closed && set_open(page, true);
    void *there = (void *)at; // NOLINT: an address in registers
    bool done = write ? sim_copy_checked(there, piece, bytes)
                      : sim_copy_checked(piece, there, bytes);

    if (opened)
        (void)set_open(page, false);
    return done;
}

/* Bytes to move at a time: of one page here and there, and none that were just written. */
static uint64_t piece_of(const struct sim_string *r, bool moves)
{
    uint64_t bytes = PAGE_BYTES - *r->rdi % PAGE_BYTES;

    if (moves && bytes > PAGE_BYTES - *r->rsi % PAGE_BYTES)
        bytes = PAGE_BYTES - *r->rsi % PAGE_BYTES;
    if (moves && *r->rdi - *r->rsi - 1 < bytes)
        bytes = *r->rdi - *r->rsi;
    return bytes < *r->rcx ? bytes : *r->rcx;
}

/* How the host's memset and memcpy go over large blocks: bytes repeated, upwards. After each of
 * them the trap flag would stop. Where it would fault, the instruction goes on by itself. False: at
 * once. */
static bool carry_out(struct nt_race_guard *guard, const struct sim_string *r)
{
    static const uint8_t store[] = {0xF3, 0xAA}, move[] = {0xF3, 0xA4};
    const void *code = (const void *)*r->rip; // NOLINT: code that runs
    bool moves = memcmp(code, move, sizeof(move)) == 0, any = false;
    uint8_t piece[PAGE_BYTES];

    if (!moves && memcmp(code, store, sizeof(store)) != 0)
        return false;
    if (!moves)
        memset(piece, (int)(r->rax & 0xFF), sizeof(piece));
    while (*r->rcx) {
        uint64_t bytes = piece_of(r, moves);

        if ((moves && !copy_piece(guard, *r->rsi, piece, bytes, false)) ||
            !copy_piece(guard, *r->rdi, piece, bytes, true))
            return any;
        *r->rsi += moves ? bytes : 0;
        *r->rdi += bytes;
        *r->rcx -= bytes;
        any = true;
    }
    *r->rip += sizeof(store);
    return true;
}

static enum sim_guard on_fault(uintptr_t address, bool fetch, const struct sim_string *registers)
{
    struct nt_race_guard *guard = guard_state();
    uintptr_t pc = *registers->rip;
    struct guarded *page = guard && guard->on ? race_table_get(&guard->pages, address / PAGE_BYTES)
                                              : NULL;

    if (!page || !page->closed)
        return SIM_GUARD_NONE;
    if (fetch && !page->executable)
        return SIM_GUARD_NONE;
    if (fetch) {
        forget_page(guard, page);
        return SIM_GUARD_DONE;
    }
    if (guard->opened == 0 && guard->pass != pc && sim_current->inside && !sim_current->stopped &&
        is_driver(pc))
        return SIM_GUARD_TRAP;
    if (guard->opened == 0 && !is_driver(pc) && carry_out(guard, registers))
        return SIM_GUARD_DONE;
    if (guard->opened == OPEN || !set_open(page, true))
        return SIM_GUARD_NONE;
    page->closed = false;
    guard->open[guard->opened++] = address / PAGE_BYTES;
    return SIM_GUARD_STEP;
}

/* Whether the page rests from now on: its window is full. */
static bool rests(struct nt_race_guard *guard, struct guarded *page)
{
    if (sim_current->now - page->since > WINDOW) {
        page->since = sim_current->now;
        page->traps = 0;
    }
    if (++page->traps < SHARE || page->orders)
        return false;
    page->since = sim_current->now;
    page->traps = 0;
    page->resting = true;
    page->next_resting = guard->resting;
    guard->resting = page;
    return true;
}

static bool on_step(void)
{
    struct nt_race_guard *guard = guard_state();

    if (!guard || guard->opened == 0)
        return false;
    while (guard->opened) {
        uintptr_t number = guard->open[--guard->opened];
        struct guarded *page = race_table_get(&guard->pages, number);

        if (page && !rests(guard, page))
            page->closed = set_open(page, false);
    }
    guard->pass = 0;
    return true;
}

static bool on_broken_off(void)
{
    struct nt_race_guard *guard = guard_state();

    if (!guard || guard->opened == 0)
        return false;
    while (guard->opened) {
        uintptr_t number = guard->open[--guard->opened];
        struct guarded *page = race_table_get(&guard->pages, number);

        if (page && !page->gone)
            page->closed = set_open(page, false);
    }
    guard->pass = 0;
    return true;
}

/* ---- pages ---- */

void nt_race_guard_wake(void)
{
    struct nt_race_guard *guard = guard_state();
    struct guarded **place = guard ? &guard->resting : NULL;

    while (place && *place) {
        struct guarded *page = *place;

        if (sim_current->now - page->since <= WINDOW) {
            place = &page->next_resting;
            continue;
        }
        *place = page->next_resting;
        page->resting = false;
        if (!page->gone)
            page->closed = set_open(page, false);
    }
}

void nt_race_guard_begin(void)
{
    struct nt_race_guard *guard = guard_state();

    if (!guard || guard->on || !sim_current->races)
        return;
    guard->on = true;
    sim_on_guard(
        &(struct sim_guarding){.fault = on_fault, .stepped = on_step, .broken_off = on_broken_off});
}

bool nt_race_guard_is_on(void)
{
    return guard_state() && guard_state()->on;
}

void nt_race_guard_add(const void *address, uint64_t bytes, bool executable)
{
    struct nt_race_guard *guard = guard_state();
    uintptr_t end = (uintptr_t)address + bytes;

    if (!guard || !guard->on)
        return;
    for (uintptr_t number = (uintptr_t)address / PAGE_BYTES; number * PAGE_BYTES < end; number++) {
        void **place = guard->count < CROWD ? race_table_put(&guard->pages, number) : NULL;
        struct guarded *page;
        bool fresh;

        if (!place || (!*place && (*place = calloc(1, sizeof(*page))) == NULL))
            return;
        page = *place;
        fresh = page->gone || !page->number;
        guard->count += fresh;
        page->orders = page->orders && !fresh;
        page->executable = fresh ? executable : page->executable;
        page->number = number;
        page->gone = false;
        if (!page->closed && !page->resting)
            page->closed = set_open(page, false);
    }
}

void nt_race_guard_forget(const void *address, uint64_t bytes)
{
    struct nt_race_guard *guard = guard_state();
    uintptr_t end = (uintptr_t)address + bytes;

    if (!guard || !guard->on)
        return;
    for (uintptr_t number = (uintptr_t)address / PAGE_BYTES; number * PAGE_BYTES < end; number++) {
        struct guarded *page = race_table_get(&guard->pages, number);

        if (page && !page->gone)
            forget_page(guard, page);
    }
}

bool nt_race_guard_traps_at(uintptr_t address)
{
    struct nt_race_guard *guard = guard_state();
    const struct guarded *page = guard && guard->on
                                     ? race_table_get(&guard->pages, address / PAGE_BYTES)
                                     : NULL;

    return page && page->closed;
}

bool nt_race_guard_traps(uintptr_t address, uintptr_t pc)
{
    return nt_race_guard_traps_at(address) && is_driver(pc);
}

void nt_race_guard_keep(uintptr_t address)
{
    struct guarded *page = race_table_get(&guard_state()->pages, address / PAGE_BYTES);

    if (page)
        page->orders = true;
}

void nt_race_guard_pass(uintptr_t pc)
{
    guard_state()->pass = pc;
}

/* ---- the component ---- */

static void finish(struct nt *nt)
{
    struct nt_race_guard *guard = nt->race_guard;

    if (!guard || !guard->on)
        return;
    guard->on = false;
    sim_on_guard(NULL);
    for (uint32_t i = 0; guard->pages.mask && i <= guard->pages.mask; i++) {
        struct guarded *page = guard->pages.slot[i].value;

        if (page && page->closed)
            (void)set_open(page, true);
    }
    race_table_finish(&guard->pages, free);
}

const struct nt_component nt_race_guard_component = {
    .slot = offsetof(struct nt, race_guard),
    .bytes = sizeof(struct nt_race_guard),
    .finish = finish,
};
