/* SPDX-License-Identifier: MIT */
/* Random arguments of a call: mostly such that it gets deep, with things in them that nobody should pass. */
#ifndef DXGK_FUZZ_CLIENT_ARGUMENTS_H
#define DXGK_FUZZ_CLIENT_ARGUMENTS_H

#include <stdbool.h>

#include "calls.h"

#include "util/rng.h"

enum handle_kind {
    HANDLE_ADAPTER,
    HANDLE_DEVICE,
    HANDLE_CONTEXT,
    HANDLE_ALLOCATION,
    HANDLE_RESOURCE,
    HANDLE_SYNC,
    HANDLE_PAGING_QUEUE,
    HANDLE_HW_QUEUE,
    HANDLE_MUTEX,
    HANDLE_SHARED,
    HANDLE_OTHER,
    HANDLE_KINDS
};

#define POOL 32u

/* What a client knows; old things are overwritten, but never forgotten because they are gone. */
struct pool {
    uint32_t handle[HANDLE_KINDS][POOL];
    uint64_t nt[POOL], address[POOL];
    void *memory[POOL];
};

#define SCRATCH 524288u
#define PIECES  64u

/* Room for a call's arguments; it ends at memory that cannot be accessed. */
struct arguments {
    struct rng *rng;
    struct pool *pool;         /* the client's own */
    const struct pool *others; /* of another client */
    uint8_t *scratch;          /* SCRATCH bytes, then an inaccessible page */
    uint32_t used;
    uint32_t wild; /* one in so many members is filled with garbage */
    struct {
        const struct structure *structure;
        void *at;
    } piece[PIECES]; /* structures that were filled, the call's own first */
    uint32_t pieces;
};

/* False: out of memory. */
bool arguments_init(struct arguments *a, struct rng *rng, struct pool *pool,
                    const struct pool *others);
void arguments_finish(struct arguments *a);
/* Fill what the call takes. */
void *arguments_fill(struct arguments *a, const struct call *call);
/* The call has succeeded: remember the handles, addresses and memory that it gave. */
void arguments_keep(struct arguments *a, const struct call *call);
enum handle_kind handle_kind_of(const char *member);
void pool_put(struct pool *pool, struct rng *rng, enum handle_kind kind, uint32_t handle);

#endif
