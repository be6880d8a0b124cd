/* SPDX-License-Identifier: MIT */
/* Context allocations: who may have them, where they are, when they are initialised, mapped,
 * updated and freed. */
#include "support/gva_rig.h"

#include <string.h>

#include "sim/machine.h"
#include "vidmm/context/context_allocation.h"

#define SPAN           (512ull * 4096)
#define GB             (1ull << 30)
#define INIT           DXGK_OPERATION_INIT_CONTEXT_RESOURCE
#define UPDATE_CONTEXT DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION
#define DRIVER_NAME    ((HANDLE)(uintptr_t)0xD1CE)

/* A context of the rig's device as the scheduler would hold it. */
struct client {
    HANDLE device;
    struct vidmm_context context;
};

static void open_context(struct gva_rig *rig, struct client *client, bool virtual_addressing)
{
    vidmm_context_init(&client->context, rig->mm_device, virtual_addressing, false);
    client->context.host_handle = ddi_handle_create(&rig->ddi.handles, DDI_HANDLE_CONTEXT,
                                                    &client->context);
    if (!client->device)
        client->device = ddi_handle_create(&rig->ddi.handles, DDI_HANDLE_DEVICE, rig);
}

static void attach(struct client *client)
{
    client->context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    CHECK(NT_SUCCESS(vidmm_context_attach(&client->context)));
}

static void close_context(struct gva_rig *rig, struct client *client)
{
    vidmm_context_detach(&client->context);
    vidmm_context_finish(&client->context);
    CHECK(ddi_handle_remove(&rig->ddi.handles, client->context.host_handle, DDI_HANDLE_CONTEXT));
    if (client->device)
        CHECK(ddi_handle_remove(&rig->ddi.handles, client->device, DDI_HANDLE_DEVICE));
    gva_idle(rig);
}

static DXGKARGCB_CREATECONTEXTALLOCATION request(const struct gva_rig *rig,
                                                 const struct client *client)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = {.hAdapter = (HANDLE)(uintptr_t)1,
                                              .hDevice = client->device,
                                              .hContext = client->context.host_handle,
                                              .hDriverAllocation = DRIVER_NAME,
                                              .Size = 5000,
                                              .SupportedSegmentSet = 1};

    (void)rig;
    return args;
}

static NTSTATUS create(struct gva_rig *rig, DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    return vidmm_cb_create_context_allocation(&rig->ddi, args);
}

static NTSTATUS destroy(struct gva_rig *rig, HANDLE handle)
{
    NTSTATUS status = vidmm_cb_destroy_context_allocation(&rig->ddi, handle);

    gva_idle(rig);
    return status;
}

static struct vidmm_allocation *allocation_of(struct gva_rig *rig, HANDLE handle)
{
    return context_allocation_find(&rig->ddi, handle)->allocation;
}

/* ---- creation ---- */

TEST_WITH(gva, a_context_allocation_is_initialised_once_before_its_context_runs)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args, second;
    const struct gva_op *op;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK_RULE("CTXA-029", create(rig, &args) == STATUS_SUCCESS && args.hAllocation != NULL);
    second = request(rig, &client);
    CHECK_RULE("CTXA-026",
               create(rig, &second) == STATUS_SUCCESS && second.hAllocation != args.hAllocation);
    gva_idle(rig);
    CHECK_RULE("CTXA-036", gva_op_count(rig, INIT) == 0);
    CHECK_RULE("CTXA-016", allocation_of(rig, args.hAllocation)->pages == 2);
    attach(&client);
    CHECK_RULE("CTXA-035", gva_op_count(rig, INIT) == 2);
    op = gva_op_at(rig, INIT, 0);
    CHECK_RULE("CTXA-038", op->args.InitContextResource.hAllocation == args.hAllocation);
    CHECK_RULE("CTXA-039",
               op->args.InitContextResource.Destination.SegmentId == GVA_VRAM_SEGMENT &&
                   op->args.InitContextResource.Destination.SegmentAddress.QuadPart ==
                       (LONGLONG)allocation_of(rig, args.hAllocation)->runs[0].first << 12);
    CHECK_RULE("CTXA-040", op->args.InitContextResource.Destination.VirtualAddress == NULL);
    CHECK_RULE("CTXA-019", allocation_of(rig, args.hAllocation)->segment == 1);
    CHECK_RULE("CTXA-030", allocation_of(rig, args.hAllocation)->resident);
    /* The memory is not cleared for the driver. */
    CHECK_RULE("CTXA-036",
               ((uint32_t *)bus_device_memory(
                   rig->base.device,
                   0))[allocation_of(rig, args.hAllocation)->runs[0].first * 1024] == 0xCACACACA);
    CHECK(NT_SUCCESS(vidmm_context_prepare(&client.context)));
    CHECK_RULE("CTXA-036", gva_op_count(rig, INIT) == 2);
    CHECK_RULE("CTXA-062", destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-063", destroy(rig, args.hAllocation) == STATUS_INVALID_PARAMETER &&
                               verify_rule_count(rig->base.log, "CTXA-063") == 1);
    CHECK_RULE("CTXA-065", destroy(rig, second.hAllocation) == STATUS_SUCCESS &&
                               verify_rule_count(rig->base.log, "CTXA-066") == 0);
    close_context(rig, &client);
}

TEST_WITH(gva, system_memory_is_described_by_an_mdl)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args, visible;
    const struct gva_op *op;
    bool seen_view = false, seen_none = false;

    open_context(rig, &client, true);
    args = request(rig, &client);
    args.SupportedSegmentSet = 2;
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    visible = args;
    visible.Flags.Value = 1 | 8; /* CpuVisible, Protected */
    CHECK(create(rig, &visible) == STATUS_SUCCESS);
    attach(&client);
    for (uint32_t i = 0; i < 2; i++) {
        op = gva_op_at(rig, INIT, i);
        CHECK_RULE("CTXA-039", op->args.InitContextResource.Destination.SegmentId == 0);
        if (op->args.InitContextResource.hAllocation == visible.hAllocation)
            seen_view = op->args.InitContextResource.Destination.VirtualAddress != NULL;
        else
            seen_none = op->args.InitContextResource.Destination.VirtualAddress == NULL;
        if (op->args.InitContextResource.Destination.VirtualAddress)
            /* writable for good */
            *(volatile uint32_t *)op->args.InitContextResource.Destination.VirtualAddress = 7;
    }
    CHECK_RULE("CTXA-040", seen_view && seen_none);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS &&
          destroy(rig, visible.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

TEST_WITH(gva, a_shared_one_belongs_to_all_contexts_of_the_device)
{
    struct client first = {0}, second = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    open_context(rig, &first, true);
    second.device = first.device;
    open_context(rig, &second, true);
    args = request(rig, &first);
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    CHECK_RULE("CTXA-008",
               create(rig, &args) == STATUS_INVALID_PARAMETER && args.hAllocation == NULL);
    args.hContext = NULL;
    CHECK_RULE("CTXA-006", create(rig, &args) == STATUS_SUCCESS);
    CHECK(!context_allocations_ready(&second.context));
    attach(&second);
    CHECK_RULE("CTXA-031",
               gva_op_count(rig, INIT) == 1 && context_allocations_ready(&first.context));
    second.device = NULL;
    close_context(rig, &second);
    CHECK_RULE("CTXA-006", context_allocation_find(&rig->ddi, args.hAllocation) != NULL);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &first);
}

TEST_WITH(gva, owners_must_fit_together)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    open_context(rig, &client, true);
    args = request(rig, &client);
    args.hContext = NULL;
    CHECK_RULE("CTXA-010",
               create(rig, &args) == STATUS_INVALID_PARAMETER && args.hAllocation == NULL);
    args = request(rig, &client);
    args.hDevice = (HANDLE)(uintptr_t)0xDE; /* the driver's own */
    CHECK_RULE("CTXA-007", create(rig, &args) == STATUS_INVALID_PARAMETER);
    args.hDevice = NULL;
    CHECK_RULE("CTXA-011", create(rig, &args) == STATUS_INVALID_PARAMETER);
    args = request(rig, &client);
    client.context.system = true;
    CHECK_RULE("CTXA-011", create(rig, &args) == STATUS_INVALID_PARAMETER);
    client.context.system = false;
    CHECK_RULE("CTXA-010", verify_rule_count(rig->base.log, "CTXA-010") == 3);
    CHECK_RULE("CTXA-011", verify_rule_count(rig->base.log, "CTXA-011") == 1);
    vidmm_context_detach(&client.context);
    CHECK_RULE("CTXA-012", create(rig, &args) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(rig->vidmm->segment[1].mapped_bytes == rig->vidmm->segment[1].pinned_bytes);
    close_context(rig, &client);
}

TEST_WITH(gva, malformed_requests_are_refused)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    open_context(rig, &client, true);
#define BAD(rule, expected, ...)                                                        \
    do {                                                                                \
        args = request(rig, &client);                                                   \
        __VA_ARGS__;                                                                    \
        CHECK_RULE(rule, create(rig, &args) == (expected) && args.hAllocation == NULL); \
    } while (0)
    BAD("CTXA-014", STATUS_INVALID_PARAMETER, args.ContextAllocationFlags.Value = 4);
    BAD("CTXA-013", STATUS_INVALID_PARAMETER, args.ContextAllocationFlags.Value = 0x80000000);
    BAD("CTXA-018", STATUS_INVALID_PARAMETER, args.Size = 0);
    BAD("CTXA-018", STATUS_INVALID_PARAMETER, args.Alignment = 3);
    BAD("CTXA-022", STATUS_INVALID_PARAMETER, args.SupportedSegmentSet = 0);
    BAD("CTXA-022", STATUS_INVALID_PARAMETER, args.SupportedSegmentSet = 4);
    BAD("CTXA-020", STATUS_INVALID_PARAMETER, args.EvictionSegmentSet = 1);
    BAD("CTXA-021", STATUS_INVALID_PARAMETER, args.PreferredSegment.SegmentId0 = 2);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x100);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x8 | 0x2);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x4);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x80000000);
    BAD("CTXA-027", STATUS_INVALID_PARAMETER, args.PhysicalAdapterIndex = 1);
    BAD("CTXA-028", STATUS_INVALID_PARAMETER, args.PhysicalAdapterIndex = 1);
    BAD("CTXA-028", STATUS_NO_MEMORY, args.Size = 1ull << 40);
    CHECK_RULE("CTXA-022", verify_rule_count(rig->base.log, "CTXA-022") >= 4);
    args = request(rig, &client);
    args.Flags.Value = 1 | 8;
    CHECK_RULE("CTXA-024", create(rig, &args) == STATUS_SUCCESS);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

static void physical(struct gva_options *options)
{
    options->no_gpu_mmu = true;
}

TEST_WITH(gva, physical_adapters_have_them_without_addresses, physical(options))
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_MAPCONTEXTALLOCATION map = {.SizeInPages = 1};
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {0};

    open_context(rig, &client, false);
    args = request(rig, &client);
    args.ContextAllocationFlags.MapGpuVirtualAddress = 1;
    CHECK_RULE("CTXA-015", create(rig, &args) == STATUS_NOT_SUPPORTED);
    args.ContextAllocationFlags.Value = 0;
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    attach(&client);
    CHECK_RULE("CTXA-035", gva_op_count(rig, INIT) == 1);
    map.hAllocation = update.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-050", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0);
    CHECK_RULE("CTXA-058",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_NOT_SUPPORTED);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

TEST_WITH(gva, initialisation_may_use_a_gpu_address)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    const struct gva_op *op;

    open_context(rig, &client, true);
    args = request(rig, &client);
    args.ContextAllocationFlags.MapGpuVirtualAddress = 1;
    args.Alignment = 65536;
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    attach(&client);
    op = gva_op_at(rig, INIT, 0);
    CHECK_RULE("CTXA-015", op->args.InitContextResource.Destination.GpuVirtualAddress >=
                               rig->vidmm->mmu->scratch.first << 12);
    /* The rig's GPU wrote through it, in the paging process. */
    CHECK_RULE("CTXA-041",
               ((uint32_t *)bus_device_memory(
                   rig->base.device,
                   0))[allocation_of(rig, args.hAllocation)->runs[0].first * 1024] == 0x1417);
    CHECK_RULE("CTXA-017", allocation_of(rig, args.hAllocation)->runs[0].first % 16 == 0);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

/* ---- addresses ---- */

static D3DGPU_VIRTUAL_ADDRESS map_context(struct gva_rig *rig, HANDLE handle, uint64_t base,
                                          uint64_t offset, uint64_t pages, uint64_t protection)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args = {
        .BaseAddress = base, .hAllocation = handle, .OffsetInPages = offset, .SizeInPages = pages};

    args.Protection.Value = protection;
    args.DriverProtection = 0x77;
    return vidmm_cb_map_context_allocation(&rig->ddi, &args);
}

TEST_WITH(gva, mappings_stand_in_the_clients_space)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    uint64_t before, after, first, reserved = GB, page;
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS map = gva_map_args(object, 1);
    const struct gva_op *op = NULL;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    before = map_context(rig, args.hAllocation, 0, 0, 2, 1);
    CHECK_RULE("CTXA-044", before != 0);
    attach(&client);
    first = allocation_of(rig, args.hAllocation)->runs[0].first;
    CHECK_RULE("CTXA-051", gva_entry_page(gva_look(rig, before)) == first &&
                               gva_entry_page(gva_look(rig, before + 4096)) == first + 1);
    for (uint32_t i = 0; i < gva_op_count(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE); i++) {
        op = gva_op_at(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE, i);
        if (op->args.UpdatePageTable.PageTableLevel == 0 && op->entries[0].Valid &&
            op->args.UpdatePageTable.hProcess == rig->process->driver_handle)
            break;
    }
    CHECK_RULE("GPUVA-177", op->args.UpdatePageTable.hAllocation == DRIVER_NAME);
    CHECK_RULE("CTXA-049",
               op->args.UpdatePageTable.DriverProtection == 0x77 && !op->entries[0].ReadOnly);
    after = map_context(rig, args.hAllocation, 2 * GB, 1, 1, 0);
    CHECK_RULE("CTXA-046", after == 2 * GB);
    CHECK_RULE("CTXA-051", gva_entry_page(gva_look(rig, after)) == first + 1 &&
                               (gva_look(rig, after) & GVA_READ_ONLY));
    CHECK_RULE("CTXA-052", after != before);
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &reserved)));
    CHECK_RULE("CTXA-046", map_context(rig, args.hAllocation, GB + 4096, 0, 1, 0) == 0);
    CHECK_RULE("CTXA-048", map_context(rig, args.hAllocation, 0, 1, 2, 0) == 0);
    CHECK_RULE("CTXA-050", map_context(rig, args.hAllocation, 0, 0, 0, 0) == 0 &&
                               map_context(rig, args.hAllocation, 0, 0, 1, 4) == 0 &&
                               map_context(rig, args.hAllocation, 0, 0, 1, 16) == 0 &&
                               map_context(rig, args.hAllocation, 77, 0, 1, 0) == 0);
    CHECK_RULE("CTXA-050", verify_rule_count(rig->base.log, "CTXA-050") >= 4);
    CHECK_RULE("CTXA-045", map_context(rig, (HANDLE)(uintptr_t)object->handle, 0, 0, 1, 0) == 0 &&
                               verify_rule_count(rig->base.log, "CTXA-045") == 1);
    map.BaseAddress = before;
    CHECK_RULE("CTXA-053", gva_map(rig, &map) == STATUS_INVALID_PARAMETER &&
                               gva_free(rig, before, 2) == STATUS_INVALID_PARAMETER &&
                               gva_entry_page(gva_look(rig, before)) == first);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-052", gva_look(rig, before) == GVA_FAULT && gva_look(rig, after) == GVA_FAULT);
    page = 2 * GB;
    map.BaseAddress = page;
    CHECK_RULE("CTXA-052", NT_SUCCESS(gva_map(rig, &map)));
    CHECK(gva_valid(rig));
    close_context(rig, &client);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, windows_of_mappings)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_MAPCONTEXTALLOCATION map = {
        .MinimumAddress = GB, .MaximumAddress = GB + 8192, .SizeInPages = 2};

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    map.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-047", vidmm_cb_map_context_allocation(&rig->ddi, &map) == GB);
    CHECK_RULE("CTXA-047", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0);
    map.MaximumAddress = GB + 4096;
    CHECK_RULE("CTXA-047", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

/* ---- updates ---- */

TEST_WITH(gva, updates_are_done_when_the_callback_returns)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    uint8_t data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {.pPrivateDriverData = data,
                                                .PrivateDriverDataSize = sizeof(data)};
    const struct gva_op *op;
    uint8_t *memory;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    update.hAllocation = args.hAllocation;
    rig->delay = 100000; /* a slow GPU */
    CHECK_RULE("CTXA-054", vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_SUCCESS);
    rig->delay = 0;
    op = gva_op_at(rig, UPDATE_CONTEXT, 0);
    CHECK_RULE("CTXA-054", gva_op_count(rig, UPDATE_CONTEXT) == 1 && op->executed);
    CHECK_RULE("CTXA-055", op->args.UpdateContextAllocation.DriverPrivateDataSize == 16 &&
                               memcmp(op->data, data, 16) == 0);
    CHECK_RULE("CTXA-057", op->args.UpdateContextAllocation.ContextAllocationSize == 5000);
    CHECK_RULE("CTXA-056", op->args.UpdateContextAllocation.ContextAllocation >=
                               rig->vidmm->mmu->scratch.first << 12);
    memory = (uint8_t *)bus_device_memory(rig->base.device, 0) +
             (allocation_of(rig, args.hAllocation)->runs[0].first << 12);
    CHECK_RULE("CTXA-056", memcmp(memory, data, 16) == 0 && memory[4999] == 0x99);
    CHECK_RULE("CTXA-058",
               gva_op_count(rig, INIT) == 1 &&
                   gva_op_position(rig, INIT, 0) < gva_op_position(rig, UPDATE_CONTEXT, 0));
    update.pPrivateDriverData = NULL;
    CHECK_RULE("CTXA-058",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_INVALID_PARAMETER);
    update.PrivateDriverDataSize = 0;
    CHECK_RULE("CTXA-058", vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_SUCCESS);
    update.hAllocation = (HANDLE)(uintptr_t)0x5555;
    CHECK_RULE("CTXA-058",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_INVALID_PARAMETER);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

static HANDLE callback_handle;
static NTSTATUS callback_status[4];

static void update_in_set_root(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *args)
{
    uint64_t root = args->Address.SegmentOffset;
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {
        .hAllocation = callback_handle, .pPrivateDriverData = &root, .PrivateDriverDataSize = 8};

    callback_status[0] = vidmm_cb_update_context_allocation(&rig->ddi, &update);
}

TEST_WITH(gva, updates_work_inside_set_root_page_table)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    uint64_t *memory;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    callback_handle = args.hAllocation;
    rig->on_set_root = update_in_set_root;
    attach(&client);
    memory = (uint64_t *)(void *)((uint8_t *)bus_device_memory(rig->base.device, 0) +
                                  (allocation_of(rig, args.hAllocation)->runs[0].first << 12));
    CHECK_RULE("CTXA-059", callback_status[0] == STATUS_SUCCESS &&
                               memory[0] == rig->last_root.Address.SegmentOffset);
    CHECK_RULE("GPUVA-162", callback_status[0] == STATUS_SUCCESS);
    rig->on_set_root = NULL;
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

static struct client *callback_client;

static void callbacks_in_build(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *build)
{
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {.hAllocation = callback_handle};
    DXGKARGCB_CREATECONTEXTALLOCATION args = request(rig, callback_client);

    (void)build;
    rig->on_build = NULL;
    callback_status[0] = vidmm_cb_update_context_allocation(&rig->ddi, &update);
    callback_status[1] = create(rig, &args);
    callback_status[2] = map_context(rig, callback_handle, 0, 0, 1, 0) == 0
                             ? STATUS_INVALID_DEVICE_REQUEST
                             : STATUS_SUCCESS;
    callback_status[3] = vidmm_cb_destroy_context_allocation(&rig->ddi, callback_handle);
}

TEST_WITH(gva, callbacks_inside_build_paging_buffer_are_refused)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    callback_handle = args.hAllocation;
    callback_client = &client;
    rig->on_build = callbacks_in_build;
    attach(&client);
    CHECK_RULE("CTXA-060", callback_status[0] == STATUS_INVALID_DEVICE_REQUEST &&
                               verify_rule_count(rig->base.log, "CTXA-060") == 1);
    CHECK_RULE("CTXA-067", callback_status[1] == STATUS_INVALID_DEVICE_REQUEST &&
                               callback_status[2] == STATUS_INVALID_DEVICE_REQUEST &&
                               callback_status[3] == STATUS_INVALID_DEVICE_REQUEST &&
                               verify_rule_count(rig->base.log, "CTXA-067") == 3);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

/* ---- the end ---- */

TEST_WITH(gva, what_is_left_is_a_leak)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    attach(&client);
    close_context(rig, &client);
    CHECK_RULE("CTXA-066", verify_rule_count(rig->base.log, "CTXA-066") == 1);
    CHECK_RULE("CTXA-066", vidmm_cb_destroy_context_allocation(&rig->ddi, args.hAllocation) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("CTXA-066",
               rig->vidmm->segment[1].mapped_bytes == rig->vidmm->segment[1].pinned_bytes);
}

TEST_WITH(gva, a_reset_initialises_those_in_vram_again)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION vram, sysmem;
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    open_context(rig, &client, true);
    vram = request(rig, &client);
    sysmem = request(rig, &client);
    sysmem.SupportedSegmentSet = 2;
    CHECK(create(rig, &vram) == STATUS_SUCCESS && create(rig, &sysmem) == STATUS_SUCCESS);
    attach(&client);
    CHECK(gva_op_count(rig, INIT) == 2);
    vidmm_reset_cleanup(rig->vidmm);
    while (hash_next(&rig->tables, &cursor, &key, &value))
        ((struct gva_table *)value)->initialised = false;
    gva_mark(rig);
    CHECK(NT_SUCCESS(vidmm_reset_restore(rig->vidmm)));
    CHECK(NT_SUCCESS(vidmm_context_prepare(&client.context)));
    CHECK_RULE("CTXA-068", gva_op_count(rig, INIT) == 1 &&
                               gva_op_at(rig, INIT, 0)->args.InitContextResource.hAllocation ==
                                   vram.hAllocation);
    CHECK(destroy(rig, vram.hAllocation) == STATUS_SUCCESS &&
          destroy(rig, sysmem.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

TEST_WITH(gva, every_failed_allocation_leaves_nothing)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    struct util_heap *heap = &sim_current->heap;
    NTSTATUS status = STATUS_NO_MEMORY;

    open_context(rig, &client, true);
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        args = request(rig, &client);
        heap->fail_at = heap->requests + n;
        status = create(rig, &args);
        heap->fail_at = 0;
        CHECK_RULE("CTXA-028",
                   NT_SUCCESS(status) || (status == STATUS_NO_MEMORY && args.hAllocation == NULL &&
                                          list_empty(&client.context.allocations)));
        gva_idle(rig);
        CHECK(n < 100);
    }
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}

/* A map, and the update that first makes the allocation resident, with each request for memory failing once. */
TEST_WITH(gva, failed_maps_and_updates_say_so_and_leave_nothing)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {0};
    struct util_heap *heap = &sim_current->heap;
    D3DGPU_VIRTUAL_ADDRESS va = 0;
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t failures = 0;

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    for (uint64_t n = 1; !va; n++) {
        heap->fail_at = heap->requests + n;
        va = map_context(rig, args.hAllocation, 8 * GB, 0, 2, 1);
        heap->fail_at = 0;
        failures += va == 0;
        CHECK_RULE("CTXA-044", verify_rule_count(rig->base.log, "CTXA-044") == failures && n < 100);
        CHECK(gva_valid(rig));
    }
    CHECK_RULE("CTXA-044", va == 8 * GB && failures > 0);
    failures = 0;
    update.hAllocation = args.hAllocation;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        heap->fail_at = heap->requests + n;
        status = vidmm_cb_update_context_allocation(&rig->ddi, &update);
        heap->fail_at = 0;
        failures += !NT_SUCCESS(status);
        CHECK_RULE("CTXA-058", NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK_RULE("CTXA-058", verify_rule_count(rig->base.log, "CTXA-058") == failures && n < 200);
        gva_idle(rig);
    }
    CHECK(verify_count(rig->base.log, VERIFY_WARNING) == 0 && gva_valid(rig));
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-052", gva_look(rig, va) == GVA_FAULT && gva_valid(rig));
    close_context(rig, &client);
}

TEST_WITH(gva, a_unique_driver_protection_binds_context_allocations)
{
    struct client client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_MAPCONTEXTALLOCATION map = {.SizeInPages = 1,
                                          .DriverProtection = D3DGPU_UNIQUE_DRIVER_PROTECTION | 5};

    open_context(rig, &client, true);
    args = request(rig, &client);
    CHECK(create(rig, &args) == STATUS_SUCCESS);
    map.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-049", vidmm_cb_map_context_allocation(&rig->ddi, &map) != 0 &&
                               vidmm_cb_map_context_allocation(&rig->ddi, &map) != 0);
    map.DriverProtection = 5;
    CHECK_RULE("CTXA-049", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0 &&
                               verify_rule_count(rig->base.log, "CTXA-049") == 1);
    map.OffsetInPages = 1; /* another page */
    CHECK_RULE("CTXA-049", vidmm_cb_map_context_allocation(&rig->ddi, &map) != 0);
    CHECK(destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    close_context(rig, &client);
}
