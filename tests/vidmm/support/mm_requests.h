/* SPDX-License-Identifier: MIT */
/* Allocations in the forms that tests of vidmm ask for them, and questions about where they are. */
#ifndef DXGK_TESTS_VIDMM_MM_REQUESTS_H
#define DXGK_TESTS_VIDMM_MM_REQUESTS_H

#include "mm_rig.h"

/* One allocation, which succeeds: `flags` of DXGK_ALLOCATIONINFOFLAGS. */
D3DKMT_HANDLE mm_make(struct mm_client *c, UINT set, uint64_t pages, UINT flags);
/* In VRAM alone; in VRAM or the aperture; with a priority. Sizes in MiB. */
D3DKMT_HANDLE mm_vram(struct mm_client *c, uint64_t mb);
D3DKMT_HANDLE mm_both(struct mm_client *c, uint64_t mb);
D3DKMT_HANDLE mm_with_priority(struct mm_client *c, UINT set, uint64_t mb, UINT priority);

bool mm_in_vram(struct mm_client *c, D3DKMT_HANDLE h);
/* Not resident. */
bool mm_is_out(struct mm_client *c, D3DKMT_HANDLE h);
/* How many allocations of its list are not ready. */
unsigned mm_waited_for(const struct vidmm_device *device);

/* ---- creation of several at once ---- */

struct mm_request {
    struct mm_private data[4];
    D3DDDI_ALLOCATIONINFO2 info[4];
    struct vidmm_create_item item[4];
    struct vidmm_create_request request;
    D3DKMT_HANDLE resource;
    UINT resource_data;
};

/* `count` allocations of 1, 2, ... pages; the test changes what it wants to be otherwise. */
void mm_request_init(struct mm_request *r, UINT count);
NTSTATUS mm_request_make(struct mm_request *r, struct mm_client *client);
NTSTATUS mm_destroy_list(struct mm_client *c, const D3DKMT_HANDLE *list, UINT count, UINT flags);
NTSTATUS mm_destroy_resource(struct mm_client *c, D3DKMT_HANDLE resource, UINT flags);

#endif
