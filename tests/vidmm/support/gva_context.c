/* SPDX-License-Identifier: MIT */
#include "gva_context.h"

void gva_context_open(struct gva_rig *rig, struct gva_context *client, bool virtual_addressing)
{
    vidmm_context_init(&client->context, rig->mm_device, virtual_addressing, false);
    client->context.host_handle = ddi_handle_create(&rig->ddi.handles, DDI_HANDLE_CONTEXT,
                                                    &client->context);
    if (!client->device)
        client->device = ddi_handle_create(&rig->ddi.handles, DDI_HANDLE_DEVICE, rig);
}

void gva_context_attach(struct gva_context *client)
{
    client->context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    CHECK(NT_SUCCESS(vidmm_context_attach(&client->context)));
}

void gva_context_close(struct gva_rig *rig, struct gva_context *client)
{
    vidmm_context_detach(&client->context);
    vidmm_context_finish(&client->context);
    CHECK(ddi_handle_remove(&rig->ddi.handles, client->context.host_handle, DDI_HANDLE_CONTEXT));
    if (client->device)
        CHECK(ddi_handle_remove(&rig->ddi.handles, client->device, DDI_HANDLE_DEVICE));
    gva_idle(rig);
}

DXGKARGCB_CREATECONTEXTALLOCATION gva_context_request(const struct gva_context *client)
{
    return (DXGKARGCB_CREATECONTEXTALLOCATION){.hAdapter = (HANDLE)(uintptr_t)1,
                                               .hDevice = client->device,
                                               .hContext = client->context.host_handle,
                                               .hDriverAllocation = GVA_CONTEXT_DRIVER_NAME,
                                               .Size = 5000,
                                               .SupportedSegmentSet = 1};
}

NTSTATUS gva_context_create(struct gva_rig *rig, DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    return vidmm_cb_create_context_allocation(&rig->ddi, args);
}

NTSTATUS gva_context_destroy(struct gva_rig *rig, HANDLE handle)
{
    NTSTATUS status = vidmm_cb_destroy_context_allocation(&rig->ddi, handle);

    gva_idle(rig);
    return status;
}

struct vidmm_allocation *gva_context_allocation(struct gva_rig *rig, HANDLE handle)
{
    return context_allocation_find(&rig->ddi, handle)->allocation;
}

D3DGPU_VIRTUAL_ADDRESS gva_context_map(struct gva_rig *rig, HANDLE handle, uint64_t base,
                                       uint64_t offset, uint64_t pages, uint64_t protection)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args = {
        .BaseAddress = base, .hAllocation = handle, .OffsetInPages = offset, .SizeInPages = pages};

    args.Protection.Value = protection;
    args.DriverProtection = 0x77;
    return vidmm_cb_map_context_allocation(&rig->ddi, &args);
}
