/* SPDX-License-Identifier: MIT */
/*
 * Page-table updates of a client (D3DKMTUpdateGpuVirtualAddress). Each context that makes some has
 * a companion: a context of the host, with a queue of its own, so that the updates wait for their
 * fences beside the commands. An update is a packet between a wait and a signal of its fence.
 */
#ifndef DXGK_VIDSCH_UPDATE_H
#define DXGK_VIDSCH_UPDATE_H

#include <stdbool.h>

struct packet;
struct va_batch;
struct vidsch_context;

/* What a packet of that kind has. Both functions: any level up to DISPATCH_LEVEL. */
struct vidsch_update {
    /* It is at the head of its queue: carry it out, unless that has begun. */
    void (*reached)(struct packet *packet);
    /* The packet is freed. */
    void (*end)(struct packet *packet);
    struct packet *packet; /* NULL: it was canceled while it was carried out */
    struct vidsch_context *context;
    struct va_batch *batch; /* NULL: given to the memory manager */
    bool running;
};

#endif
