/* SPDX-License-Identifier: MIT */
/*
 * A client that owns source 0 of a full driver, with primaries of the size that `owner` says.
 *
 *     struct probe *p = owner_create(NULL);
 *     owner_run(p, body);             starts, runs `body` as a client, and ends all
 *
 *     owner_begin(p);                 in the body: a device, three primaries, a display engine
 *     owner_show(owner.primary[0]);
 *     CHECK(NT_SUCCESS(owner_flip(owner.primary[1])));
 *     owner_end();
 */
#ifndef DXGK_TESTS_OWNER_H
#define DXGK_TESTS_OWNER_H

#include "port/support/client.h"
#include "port/support/full_display.h"

struct owner {
    /* what DxgkDdiDescribeAllocation answers */
    UINT width, height;
    D3DDDIFORMAT format;
    D3DDDI_RATIONAL rate;
    UINT attribute;
    UINT describes; /* calls of it */
    /* the client's */
    struct probe_gpu gpu;
    D3DKMT_HANDLE primary[3];
};
extern struct owner owner;

struct probe *owner_create(const struct probe_options *options);
void owner_run(struct probe *p, void (*body)(struct probe *p));
void owner_begin(struct probe *p);
void owner_end(void);

NTSTATUS owner_allocate(UINT source, D3DKMT_HANDLE *handle);
NTSTATUS owner_own(D3DKMT_HANDLE device, D3DKMT_VIDPNSOURCEOWNER_TYPE type, UINT source);
NTSTATUS owner_set_mode(D3DKMT_HANDLE primary);
/* Own source 0 and show the primary on it, until just after a vertical blank. */
void owner_show(D3DKMT_HANDLE primary);
NTSTATUS owner_flip(D3DKMT_HANDLE primary);
const struct full_address *owner_last(void);

#endif
