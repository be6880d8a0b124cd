/* SPDX-License-Identifier: MIT */
/* What the driver reads its mind from, and what it was given. */
#include "physical_memory_fuzz.h"

struct run *run;

/* ---- input ---- */

uint64_t number(unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes && run->at < run->end; i++)
        value |= (uint64_t)*run->at++ << (8 * i);
    return value;
}

unsigned byte(void)
{
    return (unsigned)number(1);
}

unsigned below(unsigned bound)
{
    return byte() % bound;
}

/* A count of bytes or an address. */
uint64_t quantity(void)
{
    unsigned how = byte();

    switch (how % 8) {
    case 0:
        return 0;
    case 1:
        return number(8);
    case 2:
        return UINT64_MAX - number(2);
    case 3:
        return RAM_SIZE - 2 * PAGE_BYTES + number(2);
    case 4:
        return number(3);
    case 5:
        return (uint64_t)1 << (how / 8 + 10);
    default:
        return (uint64_t)(how / 8) * PAGE_BYTES;
    }
}

struct thing *some_thing(void)
{
    unsigned known = run->count < MOST_THINGS ? run->count : MOST_THINGS;

    return known ? &run->things[below(known)] : NULL;
}

/* Mostly of the kind wanted, and live. */
struct thing *some(enum physical_kind kind)
{
    struct thing *first = some_thing();

    for (unsigned i = 0; first && i < MOST_THINGS; i++) {
        struct thing *thing = &run->things[((unsigned)(first - run->things) + i) % MOST_THINGS];

        if (thing->kind == kind && thing->live)
            return thing;
    }
    return first;
}

HANDLE handle_of(const struct thing *thing)
{
    unsigned how = byte();

    if (how < 8)
        return (HANDLE)(uintptr_t)number(8);
    return thing ? thing->handle : NULL;
}

/* ---- what was handed out ---- */

void forget(struct thing *thing)
{
    thing->live = false;
}

struct thing *note(enum physical_kind kind, unsigned adapter, HANDLE handle)
{
    struct thing *thing;

    MUST(handle != NULL);
    for (unsigned i = 0; i < MOST_THINGS; i++)
        MUST(!run->things[i].live || run->things[i].handle != handle);
    thing = &run->things[run->count++ % MOST_THINGS];
    *thing = (struct thing){.kind = kind, .live = true, .adapter = adapter, .handle = handle};
    return thing;
}

/* No longer the driver's, whoever said so. */
void gone(enum physical_kind kind, HANDLE handle)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].kind == kind && run->things[i].handle == handle)
            forget(&run->things[i]);
}

struct thing *find(enum physical_kind kind, HANDLE handle)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].kind == kind && run->things[i].live && run->things[i].handle == handle)
            return &run->things[i];
    return NULL;
}

void stamp(struct thing *thing, char *bytes, uint64_t size)
{
    thing->bytes = bytes;
    thing->size = size;
    thing->stamp = ++run->stamps;
    memset(bytes, (int)(thing->stamp & 0xFF), size < 16 ? size : 16);
    bytes[size - 1] = (char)thing->stamp;
}

void check_stamp(const struct thing *thing)
{
    if (!thing || !thing->bytes)
        return;
    MUST(thing->bytes[0] == (char)thing->stamp &&
         thing->bytes[thing->size - 1] == (char)thing->stamp);
}

/* ---- state that a failed call must leave ---- */

struct books books(void)
{
    struct books now = {ram_free_pages(run->ram), physical_memory_commit(run->memory), {0}, {0}};

    for (unsigned i = 0; i < ADAPTERS; i++) {
        now.mapped[i] = iommu_domain_mapped_pages(run->domain[i]);
        now.held[i] = physical_holdings(run->memory, run->adapter[i], NULL, 0);
    }
    now.held[ADAPTERS] = physical_holdings(run->memory, NULL, NULL, 0);
    return now;
}

void must_be_unchanged(const struct books *before)
{
    struct books now = books();

    MUST(now.free_pages == before->free_pages && now.commit == before->commit);
    for (unsigned i = 0; i < ADAPTERS; i++)
        MUST(now.mapped[i] == before->mapped[i] && now.held[i] == before->held[i]);
    MUST(now.held[ADAPTERS] == before->held[ADAPTERS]);
}

bool device_reaches(unsigned adapter, uint64_t page)
{
    struct phys_addr physical;

    return iommu_translate(run->domain[adapter], (struct logical_addr){page * PAGE_BYTES},
                           IOMMU_WRITE, &physical);
}

struct nt_process *process(unsigned number)
{
    return number ? (struct nt_process *)(void *)&run->processes[number - 1] : NULL;
}
