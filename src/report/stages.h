/* SPDX-License-Identifier: MIT */
/* How long the stages of submissions took: count, median and maximum, by node and by context. */
#ifndef DXGK_REPORT_STAGES_H
#define DXGK_REPORT_STAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct journal;
struct journal_packet;

/* When the client's call reached the driver or, where it does not, the queue. */
uint64_t stages_begin(const struct journal_packet *packet);
/* False: out of memory. */
bool stages_write(const struct journal *journal, FILE *out);

#endif
