/* SPDX-License-Identifier: MIT */
#include "report/stages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "vidsch/journal.h"
#include "vidsch/packet.h"

enum stage { RENDERED, QUEUED, PATCHED, RUN, TO_DPC, DONE, ALL, STAGES };

static const char *const names[STAGES] = {[RENDERED] = "Render until queued",
                                          [QUEUED] = "queued until given to the driver",
                                          [PATCHED] = "of that, from Patch on",
                                          [RUN] = "on the GPU, until the interrupt",
                                          [TO_DPC] = "interrupt until DPC",
                                          [DONE] = "DPC until retired",
                                          [ALL] = "all"};

uint64_t stages_begin(const struct journal_packet *packet)
{
    return packet->rendered && packet->rendered <= packet->queued ? packet->rendered
                                                                  : packet->queued;
}

/* False: the packet has not been through the stage. */
static bool time_of(const struct journal_packet *packet, enum stage stage, uint64_t *ns)
{
    uint64_t from[STAGES] = {
        [RENDERED] = packet->rendered, [QUEUED] = packet->queued,      [PATCHED] = packet->patched,
        [RUN] = packet->started,       [TO_DPC] = packet->interrupted, [DONE] = packet->dpc};
    const uint64_t to[STAGES] = {
        [RENDERED] = packet->queued, [QUEUED] = packet->submitted, [PATCHED] = packet->submitted,
        [RUN] = packet->interrupted, [TO_DPC] = packet->dpc,       [DONE] = packet->ended,
        [ALL] = packet->ended};

    from[ALL] = stages_begin(packet);
    if (!from[stage] || to[stage] < from[stage])
        return false;
    *ns = to[stage] - from[stage];
    return true;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

/* Whose packets are looked at: those of a node, or of a context. */
struct group {
    bool node;
    uint32_t number;
};

static bool is_of(const struct journal_packet *packet, const struct group *group)
{
    /* waits and signals have no stages, and updates none of the GPU's */
    return packet->kind <= PACKET_PAGING &&
           (group->node ? packet->node : packet->context) == group->number;
}

/* `times` has room for all packets. */
static size_t collect(const struct journal *journal, const struct group *group, enum stage stage,
                      uint64_t *times)
{
    size_t count = 0;

    for (uint32_t i = 0; i < JOURNAL_PACKETS; i++) {
        const struct journal_packet *chunk = journal->chunk[i / JOURNAL_CHUNK];
        const struct journal_packet *packet = chunk ? &chunk[i % JOURNAL_CHUNK] : NULL;

        if (packet && packet->number && is_of(packet, group) &&
            time_of(packet, stage, &times[count]))
            count++;
    }
    qsort(times, count, sizeof(*times), by_size);
    return count;
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void write_group(const struct journal *journal, const struct group *group, uint64_t *times,
                        FILE *out)
{
    for (enum stage stage = 0; stage < STAGES; stage++) {
        const size_t count = collect(journal, group, stage, times), last = count - 1;

        if (count)
            fprintf(out, "    %-34s %6zu  median %10.1f us  at most %10.1f us\n", names[stage],
                    count, us(times[last / 2]), us(times[last]));
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

/* The numbers of contexts, in order; the room of `list` is for all packets. */
static size_t contexts(const struct journal *journal, uint32_t *list)
{
    size_t all = 0, count = 0;

    for (uint32_t i = 0; i < JOURNAL_PACKETS; i++) {
        const struct journal_packet *chunk = journal->chunk[i / JOURNAL_CHUNK];
        const struct journal_packet *packet = chunk ? &chunk[i % JOURNAL_CHUNK] : NULL;

        if (packet && packet->number && packet->kind <= PACKET_PAGING)
            list[all++] = packet->context;
    }
    qsort(list, all, sizeof(*list), by_number);
    for (size_t i = 0; i < all; i++)
        if (count == 0 || list[count - 1] != list[i])
            list[count++] = list[i];
    return count;
}

bool stages_write(const struct journal *journal, FILE *out)
{
    uint64_t *times = util_alloc(JOURNAL_PACKETS * sizeof(*times));
    uint32_t *list = util_alloc(JOURNAL_PACKETS * sizeof(*list));
    const bool good = times && list;
    const size_t count = good ? contexts(journal, list) : 0;

    for (uint32_t node = 0; good && node < journal->nodes; node++) {
        fprintf(out, "  %s\n", journal->node_name[node]);
        write_group(journal, &(struct group){true, node}, times, out);
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  context %u\n", list[i]);
        write_group(journal, &(struct group){false, list[i]}, times, out);
    }
    util_free(times);
    util_free(list);
    return good;
}
