/* SPDX-License-Identifier: MIT */
/* Comparisons in words. */
#ifndef DXGK_WINTRACE_SHOW_H
#define DXGK_WINTRACE_SHOW_H

#include "wintrace/compare.h"

#define SHOW_BYTES 1024u

/* An event: "QueuePacket Start hContext #3 PacketType 0 SubmitSequence +5". Handles have numbers by
 * their first appearance in the trace, counters their distance from where the lanes begin to agree;
 * what is not compared is left out. Cut to the room of `text`. */
void show_event(const struct side *side, const struct lane *lane, size_t item, char *text,
                size_t bytes);
/* "context 2 on node 0", "paging operations of allocation 5" */
void show_pair(const struct comparison *comparison, const struct compare_pair *pair, char *text,
               size_t bytes);
/* Where they part: "SubmitSequence differs", "only Windows has the event" */
void show_part(const struct compare_pair *pair, char *text, size_t bytes);

#endif
