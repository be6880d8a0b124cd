/* SPDX-License-Identifier: MIT */
#include "ring.h"

#define FLAG_NEXT         1u
#define FLAG_WRITE        2u
#define FLAG_INDIRECT     4u
#define FLAG_NO_INTERRUPT 1u /* of the available ring */
#define CAUSE_QUEUE       1u
#define ACCEPTED_INDIRECT (1ull << 28)

/* Available ring: flags, index, heads. Used ring: flags, index, elements. */
#define RING_INDEX    2u
#define RING_ELEMENTS 4u

struct descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};

struct used {
    uint32_t head, bytes;
};

static uint16_t read_16(struct virtio *virtio, uint64_t address)
{
    uint16_t value;

    (void)virtio->services->dma_read(virtio->host, address, &value, sizeof(value));
    return value;
}

bool virtio_has_more(struct virtio *virtio, unsigned queue)
{
    const struct virtio_queue *q = &virtio->queue[queue];

    return virtio_is_live(virtio) && q->enabled &&
           read_16(virtio, q->available + RING_INDEX) != q->next_available;
}

struct virtio_progress virtio_progress(struct virtio *virtio, unsigned queue)
{
    const struct virtio_queue *q = &virtio->queue[queue];

    if (!virtio_is_live(virtio) || !q->enabled)
        return (struct virtio_progress){0, 0};
    return (struct virtio_progress){read_16(virtio, q->available + RING_INDEX), q->next_available};
}

/* False: pieces out of order, or too many. */
static bool add(struct virtio_chain *chain, const struct descriptor *d)
{
    const bool writes = d->flags & FLAG_WRITE;

    if (chain->pieces == VIRTIO_MOST_PIECES || (!writes && chain->reads != chain->pieces))
        return false;
    chain->piece[chain->pieces++] = (struct virtio_piece){d->address, d->bytes};
    if (!writes)
        chain->reads = chain->pieces;
    return true;
}

struct table {
    uint64_t address;
    uint32_t count;
    bool indirect;
};

/* The descriptors of a table from `index` on. False: the chain breaks the rules. */
static bool follow(struct virtio *virtio, const struct table *table, uint32_t index,
                   struct virtio_chain *chain)
{
    for (uint32_t seen = 0; seen < table->count; seen++) {
        struct descriptor d;

        if (index >= table->count ||
            !virtio->services->dma_read(virtio->host, table->address + index * sizeof(d), &d,
                                        sizeof(d)))
            return false;
        if (d.flags & FLAG_INDIRECT) {
            const struct table inner = {d.address, d.bytes / (uint32_t)sizeof(d), true};

            return !table->indirect && (virtio->accepted & ACCEPTED_INDIRECT) &&
                   !(d.flags & FLAG_NEXT) && d.bytes % sizeof(d) == 0 &&
                   inner.count <= VIRTIO_MOST_PIECES && follow(virtio, &inner, 0, chain);
        }
        if (!add(chain, &d))
            return false;
        if (!(d.flags & FLAG_NEXT))
            return true;
        index = d.next;
    }
    return false; /* it comes back to where it was */
}

bool virtio_take(struct virtio *virtio, unsigned queue, struct virtio_chain *chain)
{
    struct virtio_queue *q = &virtio->queue[queue];
    const struct table table = {q->descriptors, q->size, false};
    uint16_t waiting;

    if (!virtio_is_live(virtio) || !q->enabled)
        return false;
    waiting = (uint16_t)(read_16(virtio, q->available + RING_INDEX) - q->next_available);
    if (waiting == 0)
        return false;
    chain->queue = queue;
    chain->reads = chain->pieces = 0;
    chain->head = read_16(virtio, q->available + RING_ELEMENTS +
                                      q->next_available % q->size * sizeof(uint16_t));
    if (waiting > q->size || !follow(virtio, &table, chain->head, chain)) {
        virtio_needs_reset(virtio);
        return false;
    }
    q->next_available++;
    return true;
}

void virtio_give(struct virtio *virtio, const struct virtio_chain *chain, uint32_t written)
{
    struct virtio_queue *q = &virtio->queue[chain->queue];
    const struct used element = {chain->head, written};

    (void)virtio->services->dma_write(
        virtio->host, q->used + RING_ELEMENTS + q->next_used % q->size * sizeof(element), &element,
        sizeof(element));
    q->next_used++;
    (void)virtio->services->dma_write(virtio->host, q->used + RING_INDEX, &q->next_used,
                                      sizeof(q->next_used));
    if (!(read_16(virtio, q->available) & FLAG_NO_INTERRUPT))
        virtio_interrupt(virtio, q->vector, CAUSE_QUEUE);
}

struct transfer {
    bool write;
    size_t offset, bytes;
    uint8_t *at;
};

static size_t move(struct virtio *virtio, const struct virtio_piece *piece, unsigned pieces,
                   struct transfer t)
{
    size_t done = 0;

    for (unsigned i = 0; i < pieces && done < t.bytes; i++) {
        size_t run;

        if (t.offset >= piece[i].bytes) {
            t.offset -= piece[i].bytes;
            continue;
        }
        run = piece[i].bytes - t.offset;
        if (run > t.bytes - done)
            run = t.bytes - done;
        if (t.write)
            (void)virtio->services->dma_write(virtio->host, piece[i].address + t.offset,
                                              t.at + done, run);
        else
            (void)virtio->services->dma_read(virtio->host, piece[i].address + t.offset, t.at + done,
                                             run);
        done += run;
        t.offset = 0;
    }
    return done;
}

size_t virtio_chain_read(struct virtio *virtio, const struct virtio_chain *chain, size_t offset,
                         void *to, size_t bytes)
{
    return move(virtio, chain->piece, chain->reads, (struct transfer){false, offset, bytes, to});
}

size_t virtio_chain_write(struct virtio *virtio, const struct virtio_chain *chain, size_t offset,
                          const void *from, size_t bytes)
{
    return move(virtio, chain->piece + chain->reads, chain->pieces - chain->reads,
                (struct transfer){true, offset, bytes, (uint8_t *)(uintptr_t)from});
}
