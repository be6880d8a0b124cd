/* SPDX-License-Identifier: MIT */
/* What is said of faults and resets: each line against the values that the client saw. */
#include "host/support/refgpu_client.h"

#include <inttypes.h>
#include <stdarg.h>

#define BYTES 65536u

static void keep_line(void *context, const char *line)
{
    struct machine *m = context;

    if (m->noisy)
        printf("    lost: %s\n", line);
}

static void on_machine(void (*program)(struct client *c), const char *device_option)
{
    struct dxgk_machine_config config;
    struct client c = {.program = program};
    struct machine m;

    machine_config(&m, &config);
    config.loss = keep_line;
    machine_create(&m, &config);
    if (dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), &device_option,
                                device_option ? 1 : 0, m.error, sizeof(m.error)) != DXGK_OK)
        fail_msg("device: %s", m.error);
    if (dxgk_machine_load_driver(m.dxgk, machine_path("drivers/refgpu.so"), m.error,
                                 sizeof(m.error)) != DXGK_OK)
        fail_msg("driver: %s", m.error);
    machine_run_with(&m, &c, program, DXGK_OK);
    client_report(&c);
    machine_end(&m);
}

#define RIG_ARGUMENT_gpu_that_loses     struct client *c
#define RIG_RUN_gpu_that_loses(program) on_machine(program, NULL)

/* The line but `back` of the last; "": there is none. */
static const char *line(const struct client *c, size_t back)
{
    struct dxgk_loss loss;

    return dxgk_machine_loss(c->machine->dxgk, back, &loss) ? loss.line : "";
}

static bool says(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool says(const char *text, const char *format, ...)
{
    char part[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(part, sizeof(part), format, arguments);
    va_end(arguments);
    if (strstr(text, part))
        return true;
    printf("    '%s' is not in: %s\n", part, text);
    return false;
}

/* A copy to `address` faults on node 1, its first packet. */
static NTSTATUS copy_to(struct gpu *g, UINT64 address)
{
    struct memory commands;
    struct refgpu_builder b;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    NTSTATUS status = gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                                 &commands);

    if (!NT_SUCCESS(status))
        return status;
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_copy(&b, address, commands.va, 4096);
    status = gpu_create_fence(g, &fence);
    if (NT_SUCCESS(status))
        status = gpu_submit(g->copy, commands.va, refgpu_builder_bytes(&b));
    dxgk_client_sleep(100000000);
    return status;
}

static NTSTATUS evict(const struct gpu *g, D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT evict;

    memset(&evict, 0, sizeof(evict));
    evict.hDevice = g->device;
    evict.NumAllocations = 1;
    evict.AllocationList = &allocation;
    return D3DKMTEvict(&evict);
}

static NTSTATUS free_va(const struct gpu *g, const struct memory *m)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args = {
        .hAdapter = g->adapter, .BaseAddress = m->va, .Size = m->bytes};

    return D3DKMTFreeGpuVirtualAddress(&args);
}

TEST_WITH(gpu_that_loses, an_address_that_was_never_mapped)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, 0x7654321000) == STATUS_SUCCESS);
    TRY(c, says(line(c, 1), "never"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, a_range_that_was_freed)
{
    struct gpu g;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, free_va(&g, &m) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, m.va + 4096) == STATUS_SUCCESS);
    TRY(c, says(line(c, 1), "freed"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, an_allocation_that_was_evicted)
{
    struct gpu g;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, evict(&g, m.handle) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000000);
    TRY(c, copy_to(&g, m.va) == STATUS_SUCCESS);
    TRY(c, says(line(c, 1), "D3DKMTEvict"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
