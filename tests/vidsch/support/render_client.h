/* SPDX-License-Identifier: MIT */
/* A client that renders: a device, a physical context and the blocks that the context has for it. */
#ifndef DXGK_TESTS_VIDSCH_RENDER_CLIENT_H
#define DXGK_TESTS_VIDSCH_RENDER_CLIENT_H

#include "fixture.h"

struct client {
    struct vidsch_device *device;
    struct vidsch_context *context;
    struct vidsch_client_lists lists;
};

struct client make_client(struct fixture *f);
/* Put an allocation (NULL: handle 0) into the allocation list. */
void reference(struct client *c, UINT index, const struct vidmm_open *open, bool write);
NTSTATUS render_lists(struct client *c, UINT bytes, UINT allocations, UINT patches);

#endif
