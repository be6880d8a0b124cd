/* SPDX-License-Identifier: MIT */
/* The last faults and resets of a machine, as the lines that were said of them. */
#ifndef DXGK_HOST_LOSSES_H
#define DXGK_HOST_LOSSES_H

#include <stdint.h>

#define HOST_LOSSES 32u /* kept */

/* A ring: element n is at n % HOST_LOSSES. */
struct host_losses {
    uint64_t count; /* ever */
    struct {
        char *line; /* malloc; NULL: memory was short */
        uint64_t virtual_ns;
    } last[HOST_LOSSES];
};

struct dxgk_machine;

/* Keep the line, and give it to who made the machine; `context` is the machine. Any level. */
void host_loss(void *context, const char *line);
void host_losses_free(struct host_losses *losses);

#endif
