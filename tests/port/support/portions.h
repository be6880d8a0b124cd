/* SPDX-License-Identifier: MIT */
/*
 * Portions on a started adapter: a WDDM 1.x driver that copies commands and patch locations and notes what it is told, and a
 * client whose allocations need more than the 16 MiB of memory that there are.
 *
 *     TEST_WITH(portions, name, .split = true)          body on a client thread of a new adapter
 *
 * or, with something between: p = portions_begin(...), portions_end(p, probe_client_run(p, body)).
 */
#ifndef DXGK_TESTS_PORT_PORTIONS_H
#define DXGK_TESTS_PORT_PORTIONS_H

#include "port/support/client.h"

#define PORTIONS_MIB      (1u << 20)
#define PORTIONS_MANY     4u
#define PORTIONS_THERE(a) ((a).SegmentId != 0)

struct portions_patch {
    DXGKARG_PATCH args;
    DXGK_ALLOCATIONLIST list[PORTIONS_MANY + 1];
    uint64_t order;
};

/* Of the adapter of the latest portions_begin. */
extern struct portions_record {
    struct portions_patch patched[64];
    unsigned patch_count;
    unsigned paged_in[64]; /* sizes in MiB, in order */
    unsigned paged_in_count;
    UINT segments; /* of allocations */
} portions;

/* Changes the driver's answers before the start, if set; each portions_begin forgets it. */
extern void (*portions_prepare)(struct probe *p);
/* The driver and its records, before the start. */
struct probe *portions_create(UINT version, bool split);
/* The start of an adapter with this driver: SplitDmaBuffers of the port, NoDmaPatching of the driver. */
struct probe *portions_begin(bool split, bool no_dma_patching);
void portions_end(struct probe *p, struct probe_client *client);

struct portions_options {
    bool split, no_dma_patching;
};
void portions_run(struct portions_options options, void (*body)(struct probe *p));
#define RIG_ARGUMENT_portions       struct probe *p
#define RIG_RUN_portions(body, ...) portions_run((struct portions_options){__VA_ARGS__}, body)

/* Before each Patch. */
void portions_note_patch(struct probe *p, struct probe_call *call);

/* ---- the client ---- */

struct portions_gpu {
    D3DKMT_HANDLE adapter, device;
    D3DKMT_CREATECONTEXT context;
    D3DKMT_HANDLE allocation[PORTIONS_MANY];
};

void portions_open(struct portions_gpu *g);
void portions_close(const struct portions_gpu *g);
/* Element index + 1 of the allocation list. */
void portions_allocate(struct portions_gpu *g, unsigned index, uint64_t bytes);
/* Open, with allocations of 6, 5, 7 and 1 MiB. */
void portions_open_with_four(struct portions_gpu *g);
/* Element `i` of the patch-location list, which the driver copies. */
void portions_element(struct portions_gpu *g, unsigned i, UINT slot, UINT allocation, UINT split);
NTSTATUS portions_render(const struct portions_gpu *g, UINT bytes, UINT elements);
void portions_finish(const struct portions_gpu *g);
D3DKMT_DEVICEEXECUTION_STATE portions_state(const struct portions_gpu *g);

/* Where element `index` of the allocation list was at Patch `n`; whether two of `bytes` at most lie apart. */
uint64_t portions_address(unsigned n, unsigned index);
bool portions_apart(unsigned n, unsigned a, unsigned b, uint64_t bytes);

#endif
