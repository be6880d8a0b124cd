/* SPDX-License-Identifier: MIT */
#include "mm_requests.h"

D3DKMT_HANDLE mm_make(struct mm_client *c, UINT set, uint64_t pages, UINT flags)
{
    struct mm_private p = mm_private_default(set, pages * PAGE_BYTES);

    p.flags = flags;
    return mm_create_ok(c, p);
}

D3DKMT_HANDLE mm_vram(struct mm_client *c, uint64_t mb)
{
    return mm_create_ok(c, mm_private_default(MM_SET_VRAM, mb * MM_MB));
}

D3DKMT_HANDLE mm_both(struct mm_client *c, uint64_t mb)
{
    return mm_create_ok(c, mm_private_default(MM_SET_BOTH, mb * MM_MB));
}

D3DKMT_HANDLE mm_with_priority(struct mm_client *c, UINT set, uint64_t mb, UINT priority)
{
    struct mm_private p = mm_private_default(set, mb * MM_MB);

    p.priority = priority;
    return mm_create_ok(c, p);
}

bool mm_in_vram(struct mm_client *c, D3DKMT_HANDLE h)
{
    const struct vidmm_allocation *a = mm_allocation(c, h);

    return a->resident && a->segment == MM_VRAM;
}

unsigned mm_waited_for(const struct vidmm_device *device)
{
    unsigned count = device->missing;

    LIST_FOR(node, &device->joining_list)
        count++;
    return count;
}

bool mm_is_out(struct mm_client *c, D3DKMT_HANDLE h)
{
    return !mm_allocation(c, h)->resident;
}

/* ---- creation of several at once ---- */

void mm_request_init(struct mm_request *r, UINT count)
{
    memset(r, 0, sizeof(*r));
    r->request.count = count;
    r->request.item = r->item;
    for (UINT i = 0; i < count; i++) {
        r->data[i] = mm_private_default(MM_SET_BOTH, 4096 * (uint64_t)(i + 1));
        r->item[i] = (struct vidmm_create_item){
            .private_data = &r->data[i], .private_bytes = sizeof(r->data[i]), .info = &r->info[i]};
    }
}

NTSTATUS mm_request_make(struct mm_request *r, struct mm_client *client)
{
    return vidmm_allocation_create(client->device, &r->request, &r->resource);
}

NTSTATUS mm_destroy_list(struct mm_client *c, const D3DKMT_HANDLE *list, UINT count, UINT flags)
{
    return vidmm_allocation_destroy(c->device, 0, list, count,
                                    (D3DDDICB_DESTROYALLOCATION2FLAGS){.Value = flags});
}

NTSTATUS mm_destroy_resource(struct mm_client *c, D3DKMT_HANDLE resource, UINT flags)
{
    return vidmm_allocation_destroy(c->device, resource, NULL, 0,
                                    (D3DDDICB_DESTROYALLOCATION2FLAGS){.Value = flags});
}
