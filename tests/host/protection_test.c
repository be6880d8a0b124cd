/* SPDX-License-Identifier: MIT */
/* Protection.Execute on the reference GPU, with and without the right to say NoExecute in page tables: the commands of a
 * client run from where it mapped them with Execute, and fault elsewhere. */
#include "host/support/refgpu_client.h"

#define WRITE   1u
#define EXECUTE 2u
#define MARK    0x13572468u

/* The save area of a context that has room for it in the first page of the address space alone. */
#define AREA     0x00010000ull
#define AREA_END 0x00011000ull

static UINT64 protection; /* of the mapping that the commands are in */

static void begin(struct machine *m, const char *option)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    machine_create(m, &config);
    if (dxgk_machine_add_device(m->dxgk, machine_path("devices/refgpu.so"), &option, option ? 1 : 0,
                                m->error, sizeof(m->error)) != DXGK_OK ||
        dxgk_machine_load_driver(m->dxgk, machine_path("drivers/refgpu.so"), m->error,
                                 sizeof(m->error)) != DXGK_OK)
        fail_msg("refgpu: %s", m->error);
}

static void run(const char *option, UINT64 with, void (*program)(struct client *c))
{
    struct machine m;

    protection = with;
    begin(&m, option);
    machine_run(&m, program);
    machine_end(&m);
}

static NTSTATUS map_with(const struct gpu *g, struct memory *m, UINT64 value)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    NTSTATUS status;

    memset(&map, 0, sizeof(map));
    map.hPagingQueue = g->queue;
    map.hAllocation = m->handle;
    map.SizeInPages = m->bytes / 4096;
    map.Protection.Value = value;
    status = D3DKMTMapGpuVirtualAddress(&map);
    m->va = map.VirtualAddress;
    return status == STATUS_PENDING ? gpu_wait_cpu(g, g->queue_fence, map.PagingFenceValue) : status;
}

static NTSTATUS device_fault(const struct gpu *g, D3DKMT_DEVICEPAGEFAULT_STATE *fault)
{
    D3DKMT_GETDEVICESTATE state;
    NTSTATUS status;

    memset(&state, 0, sizeof(state));
    state.hDevice = g->device;
    state.StateType = D3DKMT_DEVICESTATE_PAGE_FAULT;
    status = D3DKMTGetDeviceState(&state);
    *fault = state.PageFaultState;
    return status;
}

/* The page that takes the mark, and one with the command that writes it. */
static bool prepare(const struct gpu *g, struct memory *commands, struct memory *target,
                    struct refgpu_builder *b)
{
    if (gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, target) !=
            STATUS_SUCCESS ||
        gpu_create_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, commands) !=
            STATUS_SUCCESS ||
        gpu_make_resident(g, commands->handle) != STATUS_SUCCESS ||
        map_with(g, commands, protection) != STATUS_SUCCESS ||
        gpu_lock(g, commands) != STATUS_SUCCESS)
        return false;
    refgpu_builder_init(b, commands->cpu, 4096);
    refgpu_write(b, target->va, MARK, 0);
    return true;
}

static void commands_run(struct client *c)
{
    struct memory commands, target;
    struct refgpu_builder b;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && prepare(&g, &commands, &target, &b));
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-085", *(const volatile uint32_t *)target.cpu == MARK);
    SHOW(c, "GPUVA-194", *(const volatile uint32_t *)target.cpu == MARK);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static void commands_fault(struct client *c)
{
    struct memory commands, target;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
    struct refgpu_builder b;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && prepare(&g, &commands, &target, &b));
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    (void)gpu_wait_idle(&g);
    TRY(c, device_fault(&g, &fault) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-248",
         fault.FaultedVirtualAddress == commands.va && *(const volatile uint32_t *)target.cpu == 0);
    SHOW(c, "GPUVA-085", fault.FaultedVirtualAddress == commands.va);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_mapping_runs_with_execute_alone)
{
    run("no_execute=1", WRITE | EXECUTE, commands_run);
    run("no_execute=1", EXECUTE, commands_run);
    run("no_execute=1", WRITE, commands_fault);
    run("no_execute=1", 0, commands_fault);
}

TEST(without_the_cap_all_of_it_runs)
{
    run(NULL, WRITE | EXECUTE, commands_run);
    run(NULL, WRITE, commands_run);
    run("no_execute=0", 0, commands_run);
}

/* ---- context allocations: the save area of a context, which the miniport maps as it is asked to ---- */

static bool executable_area;

static NTSTATUS create_context(struct gpu *g)
{
    struct refgpu_context_data data;
    D3DKMT_CREATECONTEXTVIRTUAL create;
    NTSTATUS status;

    memset(&data, 0, sizeof(data));
    data.magic = REFGPU_UMD_MAGIC;
    data.flags = executable_area ? REFGPU_CONTEXT_EXECUTABLE_SAVE_AREA : 0;
    data.save_below = AREA_END;
    memset(&create, 0, sizeof(create));
    create.hDevice = g->device;
    create.NodeOrdinal = REFGPU_NODE_COPY;
    create.pPrivateDriverData = &data;
    create.PrivateDriverDataSize = sizeof(data);
    status = D3DKMTCreateContextVirtual(&create);
    g->copy = create.hContext;
    return status;
}

/* A context without a save area of its own puts commands into that of another one, and has them run there. */
static bool prepare_area(struct gpu *g, struct memory *commands, struct memory *target, UINT *bytes)
{
    struct refgpu_builder b;

    protection = WRITE | EXECUTE;
    if (gpu_open_adapter(g) != STATUS_SUCCESS || gpu_create_device(g) != STATUS_SUCCESS ||
        gpu_create_queue(g) != STATUS_SUCCESS || create_context(g) != STATUS_SUCCESS ||
        !prepare(g, commands, target, &b))
        return false;
    *bytes = refgpu_builder_bytes(&b);
    refgpu_copy(&b, AREA, commands->va, *bytes);
    return gpu_submit(g->copy, commands->va + *bytes, refgpu_builder_bytes(&b) - *bytes) ==
               STATUS_SUCCESS &&
           gpu_wait_idle(g) == STATUS_SUCCESS && *(const volatile uint32_t *)target->cpu == 0;
}

static void area_runs(struct client *c)
{
    struct memory commands, target;
    struct gpu g;
    UINT bytes;

    TRY(c, prepare_area(&g, &commands, &target, &bytes));
    TRY(c, gpu_submit(g.copy, AREA, bytes) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    SHOW(c, "CTXA-049", *(const volatile uint32_t *)target.cpu == MARK);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static void area_faults(struct client *c)
{
    struct memory commands, target;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
    struct gpu g;
    UINT bytes;

    TRY(c, prepare_area(&g, &commands, &target, &bytes));
    TRY(c, gpu_submit(g.copy, AREA, bytes) == STATUS_SUCCESS);
    (void)gpu_wait_idle(&g);
    TRY(c, device_fault(&g, &fault) == STATUS_SUCCESS);
    SHOW(c, "CTXA-049",
         fault.FaultedVirtualAddress == AREA && *(const volatile uint32_t *)target.cpu == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_context_allocation_runs_with_execute_alone)
{
    executable_area = true;
    run("no_execute=1", 0, area_runs);
    executable_area = false;
    run("no_execute=1", 0, area_faults);
    run(NULL, 0, area_runs);
}
