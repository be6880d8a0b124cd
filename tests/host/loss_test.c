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

/* With memory for commands, so that nothing takes addresses that are freed later. */
static NTSTATUS begin(struct gpu *g, struct memory *commands)
{
    NTSTATUS status = gpu_begin(g);

    return NT_SUCCESS(status)
               ? gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, commands)
               : status;
}

/* A copy of a page to `address`, on node 1. */
static NTSTATUS copy_to(struct gpu *g, const struct memory *commands, UINT64 address)
{
    struct refgpu_builder b;
    NTSTATUS status;

    refgpu_builder_init(&b, commands->cpu, 4096);
    refgpu_copy(&b, address, commands->va, 4096);
    status = gpu_submit(g->copy, commands->va, refgpu_builder_bytes(&b));
    dxgk_client_sleep(100000000);
    return status;
}

static NTSTATUS evict_with(const struct gpu *g, D3DKMT_HANDLE allocation, bool lazily)
{
    D3DKMT_EVICT evict;

    memset(&evict, 0, sizeof(evict));
    evict.hDevice = g->device;
    evict.NumAllocations = 1;
    evict.AllocationList = &allocation;
    evict.Flags.EvictOnlyIfNecessary = lazily;
    return D3DKMTEvict(&evict);
}

static NTSTATUS evict(const struct gpu *g, D3DKMT_HANDLE allocation)
{
    return evict_with(g, allocation, false);
}

static NTSTATUS evict_lazily(const struct gpu *g, D3DKMT_HANDLE allocation)
{
    return evict_with(g, allocation, true);
}

static NTSTATUS free_va(const struct gpu *g, const struct memory *m)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args = {
        .hAdapter = g->adapter, .BaseAddress = m->va, .Size = m->bytes};

    return D3DKMTFreeGpuVirtualAddress(&args);
}

static unsigned index_at(UINT64 address, unsigned level)
{
    return (unsigned)(address >> (12 + 9 * level)) & 511;
}

/* Four levels of 9 bits each: the walk ends on this level, with this entry. */
static bool walk_ends(const char *text, UINT64 address, unsigned level, const char *entry)
{
    const char *walk = strstr(text, "; page tables: root table at segment 1 offset 0x");
    char last[64];

    if (!walk)
        return says(text, "; page tables: root table at segment 1 offset 0x");
    for (unsigned above = 3; above > level; above--)
        if (!says(walk, "; level %u [%u] table at segment 1 offset 0x", above,
                  index_at(address, above)))
            return false;
    snprintf(last, sizeof(last), "; level %u [%u] %s", level, index_at(address, level), entry);
    walk = strstr(walk, last);
    return (walk && !strchr(walk + 1, ';')) || says(text, "%s, and no more", last);
}

/* The line of a fault; that of the reset of the engine follows it. */
static bool is_fault_at(const char *text, UINT64 address)
{
    return strncmp(text, "refgpu: page fault: node 1, engine 0, fence ", 44) == 0 &&
           says(text, ", process 1 (client), address 0x%" PRIx64 ", flags 0x9, ", (uint64_t)address);
}

static bool names(const char *text, const char *before, const struct memory *m, const char *after)
{
    char where[160], end[160];

    snprintf(where, sizeof(where), "; %s 0x%x (number ", before, m->handle);
    snprintf(end, sizeof(end), ", 0x%llx bytes) at 0x%llx to 0x%llx%s", (unsigned long long)m->bytes,
             (unsigned long long)m->va, (unsigned long long)(m->va + m->bytes - 1), after);
    return says(text, "%s", where) && says(text, "%s", end);
}

TEST_WITH(gpu_that_loses, an_address_that_was_never_mapped)
{
    struct gpu g;
    struct memory commands;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, &commands, 0x7654321000) == STATUS_SUCCESS);
    TRY(c, dxgk_machine_losses(c->machine->dxgk) == 2 && !*line(c, 2));
    TRY(c, is_fault_at(line(c, 1), 0x7654321000));
    SHOW(c, "TDR-083",
         says(line(c, 1), "; nothing was ever mapped there; below it is a mapping of a context "
                          "allocation, 0x100000000 to 0x100000fff (there, an allocation of 4096 "
                          "bytes); above it is a mapping of the host's own, 0x") &&
             says(line(c, 1), "; preemption was not asked for; page tables: "));
    TRY(c, walk_ends(line(c, 1), 0x7654321000, 2, "invalid"));
    SHOW(c, "TDR-083",
         says(line(c, 0), "refgpu: engine reset (0x141): node 1, engine 0, no packet "
                          "was aborted; cause: a page fault; "));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, a_range_that_was_freed)
{
    struct gpu g;
    struct memory commands, m;
    struct dxgk_refusal refusal;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, free_va(&g, &m) == STATUS_SUCCESS);
    dxgk_client_sleep(7000000);
    TRY(c, copy_to(&g, &commands, m.va + 4096) == STATUS_SUCCESS);
    TRY(c, is_fault_at(line(c, 1), m.va + 4096));
    SHOW(c, "TDR-083",
         names(line(c, 1), "last there was allocation", &m, ", until its range was freed 7."));
    TRY(c, walk_ends(line(c, 1), m.va + 4096, 0, "invalid"));
    TRY(c, gpu_submit(g.copy, m.va, 4) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    TRY(c, dxgk_client_last_refusal(&refusal));
    SHOW(c, "TDR-083",
         says(refusal.reason, "; page fault: node 1, engine 0, fence ") &&
             names(refusal.reason, "last there was allocation", &m,
                   ", until its range was freed 7.") &&
             !strstr(refusal.reason, "page tables"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, an_allocation_that_was_destroyed)
{
    struct gpu g;
    struct memory commands, m, gone;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    gone = m;
    TRY(c, gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    TRY(c, copy_to(&g, &commands, gone.va) == STATUS_SUCCESS);
    TRY(c, is_fault_at(line(c, 1), gone.va));
    SHOW(c, "TDR-083",
         names(line(c, 1), "last there was allocation", &gone, ", until it was destroyed 1."));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static NTSTATUS reserve(const struct gpu *g, UINT64 *va)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = g->queue;
    args.Size = 2 * BYTES;
    status = D3DKMTReserveGpuVirtualAddress(&args);
    *va = args.VirtualAddress;
    return status;
}

/* Pages of a reservation: BYTES of the allocation at `va`, or no access (`m` NULL). */
static NTSTATUS map_at(const struct gpu *g, const struct memory *m, UINT64 va, UINT64 bytes)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    NTSTATUS status;

    memset(&map, 0, sizeof(map));
    map.hPagingQueue = g->queue;
    map.BaseAddress = va;
    map.SizeInPages = bytes / 4096;
    if (m)
        map.hAllocation = m->handle;
    else
        map.Protection.NoAccess = 1;
    status = D3DKMTMapGpuVirtualAddress(&map);
    return status == STATUS_PENDING ? gpu_wait_cpu(g, g->queue_fence, map.PagingFenceValue) : status;
}

TEST_WITH(gpu_that_loses, pages_that_were_mapped_over)
{
    struct gpu g;
    struct memory commands, m, part;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, reserve(&g, &m.va) == STATUS_SUCCESS);
    TRY(c, map_at(&g, &m, m.va, BYTES) == STATUS_SUCCESS);
    TRY(c, map_at(&g, NULL, m.va + 8192, 8192) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, &commands, m.va + 12288) == STATUS_SUCCESS);
    TRY(c, is_fault_at(line(c, 1), m.va + 12288));
    part = m;
    part.va += 8192;
    SHOW(c, "TDR-083",
         says(line(c, 1), "; the range is mapped as without access; last there was allocation 0x%x ",
              m.handle) &&
             says(line(c, 1), " at 0x%llx to 0x%llx, until it was unmapped or mapped over ",
                  (unsigned long long)part.va, (unsigned long long)part.va + 8191));
    TRY(c, walk_ends(line(c, 1), m.va + 12288, 0, "invalid"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, a_reservation_with_nothing_in_it)
{
    struct gpu g;
    struct memory commands;
    UINT64 va;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, reserve(&g, &va) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, &commands, va) == STATUS_SUCCESS);
    SHOW(c, "TDR-083",
         is_fault_at(line(c, 1), va) &&
             says(line(c, 1), "; the range is reserved, and nothing is mapped there; preemption"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, an_allocation_that_was_evicted)
{
    struct gpu g;
    struct memory commands, m;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, evict(&g, m.handle) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000000);
    TRY(c, copy_to(&g, &commands, m.va + BYTES - 4096) == STATUS_SUCCESS);
    TRY(c, is_fault_at(line(c, 1), m.va + BYTES - 4096));
    SHOW(c, "TDR-083",
         names(line(c, 1), "allocation", &m,
               " is mapped there, but not resident: evicted by D3DKMTEvict; on no "
               "residency list; preemption"));
    TRY(c, walk_ends(line(c, 1), m.va + BYTES - 4096, 0, "invalid"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(gpu_that_loses, an_allocation_that_was_never_resident)
{
    struct gpu g;
    struct memory commands, m;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, gpu_map(&g, &m) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, &commands, m.va) == STATUS_SUCCESS);
    SHOW(c, "TDR-083",
         is_fault_at(line(c, 1), m.va) &&
             names(line(c, 1), "allocation", &m,
                   " is mapped there, but not resident: never made resident; on no "
                   "residency list; preemption"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* 16 MiB of video memory, of which a second allocation needs more than is left. */
#define RIG_ARGUMENT_small_gpu     struct client *c
#define RIG_RUN_small_gpu(program) on_machine(program, "vram=16777216")

TEST_WITH(small_gpu, an_allocation_that_had_to_make_room)
{
    struct gpu g;
    struct memory commands, m, other;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 8 << 20, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, evict_lazily(&g, m.handle) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 10 << 20, 0, REFGPU_IN_VRAM, &other) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, &commands, m.va) == STATUS_SUCCESS);
    SHOW(c, "TDR-083",
         is_fault_at(line(c, 1), m.va) &&
             names(line(c, 1), "allocation", &m,
                   " is mapped there, but not resident: evicted to make room for "
                   "others; on no residency list; preemption"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static NTSTATUS offer(const struct gpu *g, D3DKMT_HANDLE allocation)
{
    D3DKMT_OFFERALLOCATIONS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.HandleList = &allocation;
    args.NumAllocations = 1;
    args.Priority = D3DKMT_OFFER_PRIORITY_LOW;
    return D3DKMTOfferAllocations(&args);
}

TEST_WITH(small_gpu, an_allocation_that_was_offered)
{
    struct gpu g;
    struct memory commands, m, other;

    TRY(c, begin(&g, &commands) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 8 << 20, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, offer(&g, m.handle) == STATUS_SUCCESS);
    TRY(c, evict_lazily(&g, m.handle) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 10 << 20, 0, REFGPU_IN_VRAM, &other) == STATUS_SUCCESS);
    TRY(c, copy_to(&g, &commands, m.va) == STATUS_SUCCESS);
    SHOW(c, "TDR-083",
         is_fault_at(line(c, 1), m.va) &&
             names(line(c, 1), "allocation", &m,
                   " is mapped there, but not resident: discarded while it was "
                   "offered"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* The packet hangs where its commands are: they are still mapped. */
TEST_WITH(gpu_that_loses, a_command_that_never_ends)
{
    struct gpu g;
    struct memory commands;
    struct refgpu_builder b;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_VRAM, &commands) ==
               STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_hang(&b, 0);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    dxgk_client_sleep(5000000000);
    TRY(c, dxgk_machine_losses(c->machine->dxgk) == 1);
    SHOW(c, "TDR-083",
         says(line(c, 0), "refgpu: engine reset (0x141): node 1, engine 0, fence ") &&
             says(line(c, 0), ", after a timeout) was asked for 2000.00") &&
             says(line(c, 0), " ms before and not answered; ") &&
             says(line(c, 0), "; commands at address 0x%llx; ", (unsigned long long)commands.va) &&
             names(line(c, 0), "allocation", &commands,
                   " is mapped there, resident in segment 1; page tables: "));
    SHOW(c, "TDR-083", walk_ends(line(c, 0), commands.va, 0, "page, segment 1 offset 0x"));
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
