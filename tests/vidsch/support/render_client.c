/* SPDX-License-Identifier: MIT */
/* A client that renders. */
#include "render_client.h"

struct client make_client(struct fixture *f)
{
    struct client c = {.device = make_device(f)};

    c.context = make_context(c.device, 0);
    vidsch_context_lists(c.context, &c.lists);
    return c;
}

void reference(struct client *c, UINT index, const struct vidmm_open *open, bool write)
{
    c->lists.allocations[index] = (D3DDDI_ALLOCATIONLIST){.hAllocation = open ? open->handle : 0};
    c->lists.allocations[index].WriteOperation = write;
}

NTSTATUS render_lists(struct client *c, UINT bytes, UINT allocations, UINT patches)
{
    D3DKMT_RENDER args = {
        .CommandLength = bytes, .AllocationCount = allocations, .PatchLocationCount = patches};

    return vidsch_render(c->context, &args);
}
