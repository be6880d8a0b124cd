/* SPDX-License-Identifier: MIT */
/* What the driver reads its mind from, and what it was given. */
#include "physical_memory_fuzz.h"

struct fuzz_run *fuzz_run;

/* ---- input ---- */

uint64_t fuzz_number(unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes && fuzz_run->at < fuzz_run->end; i++)
        value |= (uint64_t)*fuzz_run->at++ << (8 * i);
    return value;
}

unsigned fuzz_byte(void)
{
    return (unsigned)fuzz_number(1);
}

unsigned fuzz_below(unsigned bound)
{
    return fuzz_byte() % bound;
}

/* A count of bytes or an address. */
uint64_t fuzz_quantity(void)
{
    unsigned how = fuzz_byte();

    switch (how % 8) {
    case 0:
        return 0;
    case 1:
        return fuzz_number(8);
    case 2:
        return UINT64_MAX - fuzz_number(2);
    case 3:
        return RAM_SIZE - 2 * PAGE_BYTES + fuzz_number(2);
    case 4:
        return fuzz_number(3);
    case 5:
        return (uint64_t)1 << (how / 8 + 10);
    default:
        return (uint64_t)(how / 8) * PAGE_BYTES;
    }
}

struct fuzz_thing *fuzz_some_thing(void)
{
    unsigned known = fuzz_run->count < MOST_THINGS ? fuzz_run->count : MOST_THINGS;

    return known ? &fuzz_run->things[fuzz_below(known)] : NULL;
}

/* Mostly of the kind wanted, and live. */
struct fuzz_thing *fuzz_some(enum physical_kind kind)
{
    struct fuzz_thing *first = fuzz_some_thing();

    for (unsigned i = 0; first && i < MOST_THINGS; i++) {
        struct fuzz_thing *thing =
            &fuzz_run->things[((unsigned)(first - fuzz_run->things) + i) % MOST_THINGS];

        if (thing->kind == kind && thing->live)
            return thing;
    }
    return first;
}

HANDLE fuzz_handle_of(const struct fuzz_thing *thing)
{
    unsigned how = fuzz_byte();

    if (how < 8)
        return (HANDLE)(uintptr_t)fuzz_number(8);
    return thing ? thing->handle : NULL;
}

/* ---- what was handed out ---- */

void fuzz_forget(struct fuzz_thing *thing)
{
    thing->live = false;
}

struct fuzz_thing *fuzz_note(enum physical_kind kind, unsigned adapter, HANDLE handle)
{
    struct fuzz_thing *thing;

    MUST(handle != NULL);
    for (unsigned i = 0; i < MOST_THINGS; i++)
        MUST(!fuzz_run->things[i].live || fuzz_run->things[i].handle != handle);
    thing = &fuzz_run->things[fuzz_run->count++ % MOST_THINGS];
    *thing = (struct fuzz_thing){.kind = kind, .live = true, .adapter = adapter, .handle = handle};
    return thing;
}

/* No longer the driver's, whoever said so. */
void fuzz_gone(enum physical_kind kind, HANDLE handle)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (fuzz_run->things[i].kind == kind && fuzz_run->things[i].handle == handle)
            fuzz_forget(&fuzz_run->things[i]);
}

struct fuzz_thing *fuzz_find(enum physical_kind kind, HANDLE handle)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (fuzz_run->things[i].kind == kind && fuzz_run->things[i].live &&
            fuzz_run->things[i].handle == handle)
            return &fuzz_run->things[i];
    return NULL;
}

void fuzz_stamp(struct fuzz_thing *thing, char *bytes, uint64_t size)
{
    thing->bytes = bytes;
    thing->size = size;
    thing->stamp = ++fuzz_run->stamps;
    memset(bytes, (int)(thing->stamp & 0xFF), size < 16 ? size : 16);
    bytes[size - 1] = (char)thing->stamp;
}

void fuzz_check_stamp(const struct fuzz_thing *thing)
{
    if (!thing || !thing->bytes)
        return;
    MUST(thing->bytes[0] == (char)thing->stamp &&
         thing->bytes[thing->size - 1] == (char)thing->stamp);
}

/* ---- state that a failed call must leave ---- */

struct fuzz_books fuzz_books(void)
{
    struct fuzz_books now = {
        ram_free_pages(fuzz_run->ram), physical_memory_commit(fuzz_run->memory), {0}, {0}};

    for (unsigned i = 0; i < ADAPTERS; i++) {
        now.mapped[i] = iommu_domain_mapped_pages(fuzz_run->domain[i]);
        now.held[i] = physical_holdings(fuzz_run->memory, fuzz_run->adapter[i], NULL, 0);
    }
    now.held[ADAPTERS] = physical_holdings(fuzz_run->memory, NULL, NULL, 0);
    return now;
}

void fuzz_must_be_unchanged(const struct fuzz_books *before)
{
    struct fuzz_books now = fuzz_books();

    MUST(now.free_pages == before->free_pages && now.commit == before->commit);
    for (unsigned i = 0; i < ADAPTERS; i++)
        MUST(now.mapped[i] == before->mapped[i] && now.held[i] == before->held[i]);
    MUST(now.held[ADAPTERS] == before->held[ADAPTERS]);
}

bool fuzz_device_reaches(unsigned adapter, uint64_t page)
{
    struct phys_addr physical;

    return iommu_translate(fuzz_run->domain[adapter], (struct logical_addr){page * PAGE_BYTES},
                           IOMMU_WRITE, &physical);
}

struct nt_process *fuzz_process(unsigned number)
{
    return number ? (struct nt_process *)(void *)&fuzz_run->processes[number - 1] : NULL;
}
