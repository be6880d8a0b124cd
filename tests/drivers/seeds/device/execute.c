/* SPDX-License-Identifier: MIT */
/* What the engines do: addresses to bytes, commands to accesses. */
#include <string.h>

#include "model.h"

#define PAGE         4096u
#define PACKET_NS    500u /* to fetch and decode */
#define BYTES_PER_NS 4u

static uint32_t to_end_of_page(uint64_t address)
{
    return PAGE - (uint32_t)(address % PAGE);
}

/* ---- one page ---- */

/* An address of the aperture becomes one of the bus. */
static bool through_aperture(const struct seeds_device *d, uint64_t *address)
{
    uint64_t page = (*address - SEEDS_APERTURE) / PAGE;

    if (*address & SEEDS_BUS || *address < SEEDS_APERTURE)
        return true;
    if (page >= SEEDS_APERTURE_PAGES || !d->aperture[page])
        return false;
    *address = SEEDS_BUS | (d->aperture[page] + *address % PAGE);
    return true;
}

static void *in_vram(struct seeds_device *d, uint64_t address, uint32_t bytes)
{
    uint64_t offset = address - SEEDS_VRAM;

    if (address < SEEDS_VRAM || offset > d->vram_bytes || bytes > d->vram_bytes - offset)
        return NULL;
    return (char *)d->services->memory(d->host, 2) + offset;
}

static bool access_page(struct seeds_device *d, uint64_t address, void *to, const void *from,
                        uint32_t bytes)
{
    void *vram;

    if (!through_aperture(d, &address))
        return false;
    if (address & SEEDS_BUS)
        return to ? d->services->dma_read(d->host, address & ~SEEDS_BUS, to, bytes)
                  : d->services->dma_write(d->host, address & ~SEEDS_BUS, from, bytes);
    vram = in_vram(d, address, bytes);
    if (!vram)
        return false;
    memcpy(to ? to : vram, to ? vram : from, bytes);
    return true;
}

enum access {
    LOAD,
    STORE,
    FETCH,
};

/* The device address of a GPU virtual one; false: not mapped, or not like this. `zero`: a page of nothing. */
static bool walk(struct seeds_device *d, uint64_t root, uint64_t va, enum access access,
                 uint64_t *address, bool *zero)
{
    uint64_t table = root, entry = 0;

    if (va >> SEEDS_VA_BITS)
        return false;
    for (unsigned level = SEEDS_LEVELS; level-- > 0;) {
        uint64_t index = va >> (12 + SEEDS_LEVEL_BITS * level) & 0x1FF;

        if (!access_page(d, table + index * 8, &entry, NULL, 8) || !(entry & SEEDS_PTE_VALID))
            return false;
        table = (entry & SEEDS_PTE_ADDRESS) | (entry & SEEDS_PTE_BUS ? SEEDS_BUS : 0);
        if (entry & SEEDS_PTE_ZERO)
            break;
    }
    *zero = (entry & SEEDS_PTE_ZERO) != 0;
    *address = table + va % PAGE;
    return !(access == STORE && entry & SEEDS_PTE_READONLY) &&
           !(access == FETCH && entry & SEEDS_PTE_NOEXEC);
}

/* ---- any range ---- */

static bool access_range(struct seeds_device *d, bool is_virtual, uint64_t root, uint64_t address,
                         uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes;) {
        uint32_t part = bytes - done;
        uint64_t at = address + done;
        bool zero = false;

        if (part > to_end_of_page(at))
            part = to_end_of_page(at);
        if (is_virtual && !walk(d, root, address + done, to ? LOAD : STORE, &at, &zero))
            return false;
        if (zero && to)
            memset(to + done, 0, part);
        else if (!zero &&
                 !access_page(d, at, to ? to + done : NULL, from ? from + done : NULL, part))
            return false;
        done += part;
    }
    return true;
}

bool seeds_load(struct seeds_device *d, bool is_virtual, uint64_t root, uint64_t address, void *to,
                uint32_t bytes)
{
    return access_range(d, is_virtual, root, address, to, NULL, bytes);
}

bool seeds_store(struct seeds_device *d, bool is_virtual, uint64_t root, uint64_t address,
                 const void *from, uint32_t bytes)
{
    return access_range(d, is_virtual, root, address, NULL, from, bytes);
}

/* ---- commands ---- */

static bool map_aperture(struct seeds_device *d, const struct seeds_command *c)
{
    uint32_t pages = c->bytes / PAGE;

    if (c->dst > SEEDS_APERTURE_PAGES || pages > SEEDS_APERTURE_PAGES - c->dst)
        return false;
    for (uint32_t i = 0; i < pages; i++)
        d->aperture[c->dst + i] = c->src + (c->op == SEEDS_OP_MAP ? (uint64_t)i * PAGE : 0);
    return true;
}

static bool move(struct seeds_device *d, const struct seeds_packet *p, const struct seeds_command *c)
{
    bool is_virtual = (p->flags & SEEDS_PACKET_VIRTUAL) != 0;
    uint8_t buffer[PAGE];

    for (size_t i = 0; c->op == SEEDS_OP_FILL && i < sizeof(buffer); i += 4)
        memcpy(buffer + i, &c->pattern, 4);
    for (uint32_t done = 0, part; done < c->bytes; done += part) {
        part = c->bytes - done < PAGE ? c->bytes - done : PAGE;
        if (c->op == SEEDS_OP_COPY &&
            !seeds_load(d, is_virtual, p->root, c->src + done, buffer, part))
            return false;
        if (!seeds_store(d, is_virtual, p->root, c->dst + done, buffer, part))
            return false;
    }
    return true;
}

static bool may_fetch(struct seeds_device *d, const struct seeds_packet *p,
                      const struct seeds_command *c)
{
    uint64_t at;
    bool zero;

    return c->op != SEEDS_OP_FETCH || !(p->flags & SEEDS_PACKET_VIRTUAL) ||
           walk(d, p->root, c->src, FETCH, &at, &zero);
}

static bool probe(struct seeds_device *d, const struct seeds_packet *p,
                  const struct seeds_command *c)
{
    bool is_virtual = (p->flags & SEEDS_PACKET_VIRTUAL) != 0;
    uint32_t answer[2] = {1, c->pattern};

    if (!may_fetch(d, p, c) ||
        (c->op == SEEDS_OP_TRY ? !seeds_store(d, is_virtual, p->root, c->src, &answer[1], 4)
                               : !seeds_load(d, is_virtual, p->root, c->src, &answer[1], 4)))
        answer[0] = 2;
    return seeds_store(d, is_virtual, p->root, c->dst, answer, sizeof(answer));
}

static bool series(struct seeds_device *d, const struct seeds_command *c)
{
    uint64_t value = c->src, step = (uint64_t)c->reserved << 32 | c->pattern;

    for (uint32_t i = 0; i < c->bytes; i++, value += step)
        if (!seeds_store(d, false, 0, c->dst + i * 8ull, &value, 8))
            return false;
    return true;
}

static bool execute(struct seeds_device *d, const struct seeds_packet *p,
                    const struct seeds_command *c)
{
    uint64_t value = c->src;

    switch (c->op) {
    case SEEDS_OP_FILL:
    case SEEDS_OP_COPY:
        return move(d, p, c);
    case SEEDS_OP_MAP:
    case SEEDS_OP_HIDE:
        return map_aperture(d, c);
    case SEEDS_OP_DELAY:
        return true;
    case SEEDS_OP_PROBE:
    case SEEDS_OP_TRY:
    case SEEDS_OP_FETCH:
        return probe(d, p, c);
    case SEEDS_OP_SERIES:
        return series(d, c);
    case SEEDS_OP_WRITE:
        return seeds_store(d, (p->flags & SEEDS_PACKET_VIRTUAL) != 0, p->root, c->dst, &value, 8);
    default:
        return false;
    }
}

static bool fetch(struct seeds_device *d, const struct seeds_packet *p, uint32_t at,
                  struct seeds_command *c)
{
    return seeds_load(d, (p->flags & SEEDS_PACKET_VIRTUAL) != 0, p->root, p->address + at, c,
                      sizeof(*c));
}

bool seeds_execute(struct seeds_device *d, const struct seeds_packet *packet)
{
    if (packet->bytes % sizeof(struct seeds_command) != 0)
        return false;
    for (uint32_t at = 0; at < packet->bytes; at += (uint32_t)sizeof(struct seeds_command)) {
        struct seeds_command c;

        if (!fetch(d, packet, at, &c) || !execute(d, packet, &c))
            return false;
    }
    return true;
}

/* How long it takes; what cannot be fetched takes no time. */
uint64_t seeds_duration(struct seeds_device *d, const struct seeds_packet *packet)
{
    uint64_t ns = PACKET_NS;

    for (uint32_t at = 0; at + sizeof(struct seeds_command) <= packet->bytes;
         at += (uint32_t)sizeof(struct seeds_command)) {
        struct seeds_command c;

        if (!fetch(d, packet, at, &c))
            break;
        ns += c.op == SEEDS_OP_DELAY ? c.bytes : c.bytes / BYTES_PER_NS;
    }
    return ns;
}
