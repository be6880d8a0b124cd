/* SPDX-License-Identifier: MIT */
/*
 * A client that owns source 0 of a full driver, and flips between three primaries on it.
 *
 *     struct probe *p = flips_create(&options);
 *     flips_run(p, body);      starts, runs `body` as a client, and ends all
 *
 *     flips_begin(p);          in the body: the client's device and primaries, a display engine
 *     flips_show_first();
 *     CHECK(NT_SUCCESS(flips_flip(flips.primary[1])));
 *     flips_end();
 */
#ifndef DXGK_TESTS_FLIPS_H
#define DXGK_TESTS_FLIPS_H

#include "port/support/client.h"
#include "port/support/full_display.h"

#define FLIPS_MODE_CHANGE   1u
#define FLIPS_IMMEDIATE     2u
#define FLIPS_ON_NEXT_VSYNC 4u

struct flips {
    struct probe_gpu gpu;
    D3DKMT_HANDLE primary[3];
    UINT presents; /* calls of DxgkDdiPresent */
};
extern struct flips flips;

struct probe *flips_create(const struct probe_options *options);
/* Primaries are in the aperture segment, where their pixels are kept. */
void flips_keep_pixels(struct probe *p);
void flips_run(struct probe *p, void (*body)(struct probe *p));
/* The same of a body in which a bug check comes; to be followed by probe_destroy. */
void flips_run_fatal(struct probe *p, void (*body)(struct probe *p));
void flips_begin(struct probe *p);
void flips_end(void);

NTSTATUS flips_create_primary(UINT source, D3DKMT_HANDLE *handle);
NTSTATUS flips_own(D3DKMT_VIDPNSOURCEOWNER_TYPE type, UINT source);
/* Own source 0 and show the first primary on it, until just after a vertical blank. */
void flips_show_first(void);
NTSTATUS flips_set_mode(D3DKMT_HANDLE primary);
NTSTATUS flips_flip_at(D3DKMT_HANDLE primary, D3DDDI_FLIPINTERVAL_TYPE interval);
NTSTATUS flips_flip(D3DKMT_HANDLE primary);
/* Those of source 0 that are complete. */
uint64_t flips_complete(const struct probe *p);
/* The last call of DxgkDdiSetVidPnSourceAddress. */
const struct full_address *flips_last(void);
/* All pixels of a primary. */
void flips_fill(D3DKMT_HANDLE primary, UINT value);

#endif
