/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets of submissions share: the input, an adapter whose shape it chooses, a driver that renders, patches and
 * submits as it should, and the calls of clients.
 *
 * The adapter has a driver of WDDM 1.x, whose contexts are all physical, or one of 2.x with contexts of both kinds. The driver
 * copies commands and those patch locations that lie inside of what it was given, and writes addresses into them.
 */
#ifndef DXGK_FUZZ_SUBMISSION_RIG_H
#define DXGK_FUZZ_SUBMISSION_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/support/client.h"

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            rig_tell();                                                                   \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

enum { RIG_CLIENTS = 2, RIG_DEVICES = 2, RIG_CONTEXTS = 4, RIG_ALLOCATIONS = 8, RIG_FENCES = 4 };

struct rig_context {
    D3DKMT_HANDLE handle; /* 0: there is none */
    unsigned device;
    bool virtual;
    void *commands;
    UINT command_bytes;
    D3DDDI_ALLOCATIONLIST *allocations;
    UINT allocation_count;
    D3DDDI_PATCHLOCATIONLIST *patches;
    UINT patch_count;
};

struct rig_client {
    struct probe_client *client;
    D3DKMT_HANDLE adapter;
    D3DKMT_HANDLE device[RIG_DEVICES];
    struct rig_context context[RIG_CONTEXTS];
    struct {
        D3DKMT_HANDLE handle;
        unsigned device;
    } allocation[RIG_ALLOCATIONS], fence[RIG_FENCES];
};

extern struct rig {
    struct probe *p;
    const uint8_t *at, *end; /* of the input */
    bool old;                /* WDDM 1.x */
    UINT private_bytes, buffer_bytes, list, max_slot;
    unsigned operations;
    struct rig_client client[RIG_CLIENTS];
} rig;

extern uint64_t fuzz_operations; /* of all runs, for replay.c */

/* Little-endian; 0 where the input has ended. */
uint64_t rig_number(unsigned bytes);
unsigned rig_byte(void);
unsigned rig_below(unsigned bound);
bool rig_ended(void);

/* The adapter, started; a run of the clients, each with `operation` until the input has ended, and then `last`; the end of all.
 * A bug check may stop the machine in between. */
void rig_begin(const uint8_t *data, size_t size, void (*prepare)(struct probe *p));
void rig_run(void (*operation)(struct rig_client *c), void (*last)(struct rig_client *c));
void rig_finish(void);
bool rig_stopped(void);
/* To standard error: what was reported so far. */
void rig_tell(void);
/* With FUZZ_TRACE in the environment. */
void rig_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- what clients make; each does nothing where there is no room ---- */

bool rig_open(struct rig_client *c, unsigned device);
void rig_close(struct rig_client *c, unsigned device);
void rig_create_context(struct rig_client *c, unsigned device, bool virtual, UINT node);
void rig_destroy_context(struct rig_client *c, struct rig_context *context);
void rig_create_allocation(struct rig_client *c, unsigned device, uint64_t bytes);
void rig_create_fence(struct rig_client *c, unsigned device);
/* After D3DKMTRender: where the next commands and lists go. */
void rig_take_buffers(struct rig_context *context, const D3DKMT_RENDER *args);

/* ---- the driver ---- */

/* Puts the commands and the patch locations that lie inside into the DMA buffer. */
NTSTATUS rig_driver_render(DXGKARG_RENDER *args);
void rig_driver_patch(const DXGKARG_PATCH *args);

#endif
