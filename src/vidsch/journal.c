/* SPDX-License-Identifier: MIT */
#include "vidsch/journal.h"

#include <stdlib.h>

struct journal *journal_create(uint32_t nodes)
{
    struct journal *journal = calloc(1, sizeof(*journal));

    if (!journal)
        return NULL;
    journal->nodes = nodes;
    journal->node_name = calloc(nodes, sizeof(*journal->node_name));
    if (!journal->node_name) {
        free(journal);
        return NULL;
    }
    return journal;
}

void journal_destroy(struct journal *journal)
{
    if (!journal)
        return;
    for (size_t i = 0; i < JOURNAL_PACKETS / JOURNAL_CHUNK; i++)
        free(journal->chunk[i]);
    free(journal->events);
    free(journal->node_name);
    free(journal);
}

struct journal_packet *journal_begin(struct journal *journal, uint32_t number)
{
    const uint32_t place = number % JOURNAL_PACKETS;
    struct journal_packet **chunk = &journal->chunk[place / JOURNAL_CHUNK];
    struct journal_packet *packet;

    journal->packets++;
    if (number > journal->last)
        journal->last = number;
    if (!*chunk)
        *chunk = calloc(JOURNAL_CHUNK, sizeof(**chunk));
    if (!*chunk) {
        journal->lost++;
        return NULL;
    }
    packet = &(*chunk)[place % JOURNAL_CHUNK];
    journal->dropped += packet->number != 0;
    *packet = (struct journal_packet){.number = number};
    return packet;
}

struct journal_packet *journal_packet(const struct journal *journal, uint32_t number)
{
    const uint32_t place = number % JOURNAL_PACKETS;
    struct journal_packet *chunk = journal->chunk[place / JOURNAL_CHUNK];

    if (!chunk || number == 0 || chunk[place % JOURNAL_CHUNK].number != number)
        return NULL;
    return &chunk[place % JOURNAL_CHUNK];
}

void journal_event(struct journal *journal, const struct journal_event *event)
{
    if (!journal->events)
        journal->events = calloc(JOURNAL_EVENTS, sizeof(*journal->events));
    if (!journal->events) {
        journal->lost++;
        return;
    }
    journal->events[journal->event_count++ % JOURNAL_EVENTS] = *event;
}

uint64_t journal_events_dropped(const struct journal *journal)
{
    return journal->event_count > JOURNAL_EVENTS ? journal->event_count - JOURNAL_EVENTS : 0;
}

const struct journal_event *journal_event_at(const struct journal *journal, size_t i)
{
    const uint64_t at = journal_events_dropped(journal) + i;

    return at < journal->event_count ? &journal->events[at % JOURNAL_EVENTS] : NULL;
}
