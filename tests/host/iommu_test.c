/* SPDX-License-Identifier: MIT */
/* The reference driver and its GPU behind the IOMMU: work in each mode that isolates, a switch under load, and what it costs. */
#include "bus/dma.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/support/refgpu_client.h"
#include "nt/base/state.h"
#include "nt/dma/dma_record.h"
#include "port/record/adapter_info.h"
#include "port/record/machine.h"
#include "port/running/isolate.h"
#include "sim/machine.h"

#include <unistd.h>

#define BYTES 65536u

static struct port_adapter *adapter(void)
{
    return port_adapter_first(port_current());
}

/* ---- work ---- */

static bool copies_arrive(struct gpu *g, const struct memory *commands, const struct memory *from,
                          const struct memory *to, uint32_t seed)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    uint32_t *words = from->cpu;
    struct refgpu_builder b;

    for (uint32_t i = 0; i < BYTES / 4; i++)
        words[i] = seed + i * 2654435761u;
    refgpu_builder_init(&b, commands->cpu, 4096);
    refgpu_copy(&b, to->va, from->va, BYTES);
    return gpu_create_fence(g, &fence) == STATUS_SUCCESS &&
           gpu_submit(g->copy, commands->va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS &&
           gpu_signal(g->copy, fence.hSyncObject, 1) == STATUS_SUCCESS &&
           gpu_wait_cpu(g, fence.hSyncObject, 1) == STATUS_SUCCESS &&
           memcmp(to->cpu, from->cpu, BYTES) == 0;
}

struct work {
    struct gpu g;
    struct memory commands, from, to;
};

static bool begin_work(struct work *w)
{
    return gpu_begin(&w->g) == STATUS_SUCCESS &&
           gpu_memory(&w->g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                      &w->commands) == STATUS_SUCCESS &&
           gpu_memory(&w->g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &w->from) ==
               STATUS_SUCCESS &&
           gpu_memory(&w->g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &w->to) ==
               STATUS_SUCCESS;
}

static uint64_t fault_count(void)
{
    return bus_device_faults(port_adapter_bus_device(adapter()));
}

/* Both engines, page tables, paging, fences. */
static void all_kinds_of_work(struct client *c)
{
    struct work w;
    struct memory target, vram;
    struct refgpu_builder b;
    const bool remap = port_adapter_dma_mode(adapter()) == IOMMU_REMAP;

    TRY(c, begin_work(&w));
    for (uint32_t i = 0; i < 5; i++)
        TRY(c, copies_arrive(&w.g, &w.commands, &w.from, &w.to, i));
    TRY(c, gpu_memory(&w.g, BYTES, 0, REFGPU_IN_VRAM, &vram) == STATUS_SUCCESS);
    TRY(c, copies_arrive(&w.g, &w.commands, &w.from, &w.to, 77));
    TRY(c, gpu_create_memory(&w.g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &target) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&w.g, target.handle) == STATUS_SUCCESS);
    refgpu_builder_init(&b, w.g.lists.pCommandBuffer, w.g.lists.CommandBufferSize);
    refgpu_fill(&b, REFGPU_REF(0, 0), BYTES, 0xABCD1234u);
    w.g.lists.pAllocationList[0].hAllocation = target.handle;
    w.g.lists.pAllocationList[0].Value = 0;
    w.g.lists.pAllocationList[0].WriteOperation = 1;
    TRY(c, gpu_render(&w.g, refgpu_builder_bytes(&b), 1) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&w.g) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&w.g, &target) == STATUS_SUCCESS);
    TRY(c, ((uint32_t *)target.cpu)[BYTES / 4 - 1] == 0xABCD1234u);
    TRY(c, gpu_unlock(&w.g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_memory(&w.g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_end(&w.g) == STATUS_SUCCESS);
    SHOW(c, "IOMMU-068", fault_count() == 0);
    if (remap)
        SHOW(c, "IOMMU-019/a", fault_count() == 0);
}

TEST(work_never_faults)
{
    struct machine m;

    for (int mode = DXGK_IOMMU_OFF; mode <= DXGK_IOMMU_REMAP; mode++) {
        machine_begin(&m, (enum dxgk_iommu)mode);
        machine_run(&m, all_kinds_of_work);
        machine_end(&m);
    }
}

/* ---- common buffers ---- */

static void ask_for_common_buffers(struct machine *m)
{
    char path[] = "/tmp/dxgkhost-common-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\refgpu]\n"
                  "\"CommonBuffers\"=4:01000000\n");
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

/* Rings and fences in common buffers: the device reads the ones and writes the others, and none is left. `flags`: a switch. */
static void work_in_common_buffers(const char *driver, enum dxgk_iommu mode, uint32_t flags)
{
    struct dxgk_machine_config config;
    struct machine m;
    bool entered;

    machine_config(&m, &config);
    config.iommu = mode;
    config.iommu_flags = flags;
    machine_create(&m, &config);
    ask_for_common_buffers(&m);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), NULL, 0, m.error,
                                  sizeof(m.error)) == DXGK_OK);
    if (dxgk_machine_load_driver(m.dxgk, machine_path(driver), m.error, sizeof(m.error)) != DXGK_OK)
        fail_msg("%s: %s", driver, m.error);
    entered = host_enter(m.dxgk);
    CHECK(nt_state()->dma->buffers.count == 3); /* two rings, a page of fences */
    host_leave(entered);
    machine_run(&m, all_kinds_of_work);
    entered = host_enter(m.dxgk);
    CHECK(fault_count() == 0 && (!flags || port_adapter_dma_mode(adapter()) == IOMMU_ISOLATION));
    host_leave(entered);
    machine_end(&m);
}

TEST(common_buffers_work_in_every_mode)
{
    static const char *const drivers[] = {"drivers/refgpu.so", "drivers/gcc/refgpu.sys",
                                          "drivers/clang/refgpu.sys"};

    for (unsigned i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        if (access(machine_path(drivers[i]), R_OK) != 0)
            continue; /* no such compiler here */
        for (int mode = DXGK_IOMMU_OFF; mode <= DXGK_IOMMU_REMAP; mode++)
            work_in_common_buffers(drivers[i], (enum dxgk_iommu)mode, 0);
        work_in_common_buffers(drivers[i], DXGK_IOMMU_OFF,
                               DXGK_IOMMU_DOMAIN | DXGK_IOMMU_MAPPINGS | DXGK_IOMMU_ATTACH);
    }
    check_rule_record("NT-188/c", __FILE__, __LINE__, __func__);
    check_rule_record("IOMMU-075/b", __FILE__, __LINE__, __func__);
}

/* ---- a switch under load ---- */

static struct {
    bool stop;
    NTSTATUS status;
    bool switched;
} change;

static void switch_soon(void *argument)
{
    (void)argument;
    dxgk_client_sleep(100000);
    change.status = port_adapter_set_dma_mode(adapter(), IOMMU_ISOLATION);
    change.switched = true;
}

static void loaded(struct client *c)
{
    struct work w;
    uint32_t rounds = 0;

    TRY(c, begin_work(&w));
    TRY(c, copies_arrive(&w.g, &w.commands, &w.from, &w.to, 1));
    TRY(c, dxgk_client_thread("switch", switch_soon, NULL));
    while (!change.switched || rounds < 20) {
        TRY(c, copies_arrive(&w.g, &w.commands, &w.from, &w.to, ++rounds));
        TRY(c, rounds < 10000);
    }
    SHOW(c, "IOMMU-004/b",
         change.status == STATUS_SUCCESS && port_adapter_dma_mode(adapter()) == IOMMU_ISOLATION &&
             fault_count() == 0);
    TRY(c, gpu_end(&w.g) == STATUS_SUCCESS);
}

TEST(a_switch_under_load_loses_nothing)
{
    struct machine m;

    for (unsigned i = 0; i < 3; i++) {
        struct dxgk_machine_config config;

        memset(&change, 0, sizeof(change));
        machine_config(&m, &config);
        config.seed = 11 + i;
        config.iommu_present = true; /* which the machine does not use by itself */
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        machine_run(&m, loaded);
        machine_end(&m);
    }
}

/* ---- what a machine can be told of its IOMMU ---- */

static void check_flags(uint32_t flags, UINT wanted)
{
    struct dxgk_machine_config config;
    struct machine m;
    UINT isolation;
    bool entered;

    machine_config(&m, &config);
    config.iommu_flags = flags;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    entered = host_enter(m.dxgk);
    isolation = port_adapter_isolation(adapter());
    CHECK((port_adapter_dma_mode(adapter()) == IOMMU_ISOLATION) ==
          ((wanted & DXGK_IOMMU_ATTACH) != 0));
    host_leave(entered);
    CHECK(isolation == wanted);
    machine_run(&m, all_kinds_of_work);
    machine_end(&m);
}

TEST(flags_say_what_isolation_consists_of)
{
    const uint32_t all = DXGK_IOMMU_DOMAIN | DXGK_IOMMU_MAPPINGS | DXGK_IOMMU_ATTACH;

    check_flags(0, 0);
    check_flags(DXGK_IOMMU_ATTACH | DXGK_IOMMU_MAPPINGS, 0);
    check_flags(DXGK_IOMMU_DOMAIN | DXGK_IOMMU_ATTACH, DXGK_IOMMU_DOMAIN);
    check_flags(DXGK_IOMMU_DOMAIN | DXGK_IOMMU_MAPPINGS, DXGK_IOMMU_DOMAIN | DXGK_IOMMU_MAPPINGS);
    check_flags(all, all);
    check_flags(all | DXGK_IOMMU_BYPASS_CAP | DXGK_IOMMU_ALLOW_FAILURE, all);
}

static enum iommu_mode mode_of(struct machine *m)
{
    bool entered = host_enter(m->dxgk);
    enum iommu_mode mode = port_adapter_dma_mode(adapter());

    host_leave(entered);
    return mode;
}

TEST(a_secure_virtual_machine_isolates)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, m.error, sizeof(m.error)) == DXGK_ERROR);
    CHECK(strstr(m.error, "STATUS_NOT_SUPPORTED") && mode_of(&m) == IOMMU_OFF);
    machine_end(&m);

    machine_config(&m, &config);
    config.iommu_present = true;
    machine_create(&m, &config);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, m.error, sizeof(m.error)) == DXGK_ERROR);
    machine_add_refgpu(&m);
    machine_run(&m, all_kinds_of_work);
    CHECK(mode_of(&m) == IOMMU_OFF);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, NULL, 0) == DXGK_OK);
    CHECK(mode_of(&m) == IOMMU_ISOLATION);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, NULL, 0) == DXGK_OK);
    machine_run(&m, all_kinds_of_work);
    machine_end(&m);
}

TEST(a_driver_installed_without_remapping_is_not_remapped)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    config.iommu = DXGK_IOMMU_REMAP;
    config.remapping_opt_out = true;
    machine_create(&m, &config);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), NULL, 0, m.error,
                                  sizeof(m.error)) == DXGK_OK);
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("drivers/refgpu.so"), m.error,
                                   sizeof(m.error)) == DXGK_ERROR);
    CHECK(strstr(m.error, "IOMMU-026"));
    dxgk_machine_destroy(m.dxgk);
}

/* What the model does is shown with a driver that has it (tests/port); here, that a user can ask for it. */
TEST(a_machine_offers_to_share_address_spaces)
{
    struct dxgk_machine_config config;
    struct machine m;
    bool entered;

    for (int offered = 0; offered < 2; offered++) {
        machine_config(&m, &config);
        config.shared_address_space = offered;
        config.dma_unjudged = offered;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        entered = host_enter(m.dxgk);
        CHECK(port_shares_address_spaces(port_current()) == offered);
        host_leave(entered);
        machine_run(&m, all_kinds_of_work);
        machine_end(&m);
    }
}

/* ---- processes come and go ---- */

static uint64_t heap_after(struct machine *m, unsigned processes)
{
    for (unsigned i = 0; i < processes; i++)
        machine_run(m, all_kinds_of_work);
    return m->dxgk->sim->heap.live_bytes;
}

TEST(processes_leave_nothing_behind)
{
    const unsigned many = getenv("DXGK_LONG") ? 500 : 320;
    uint64_t first, then;
    struct machine m;

    for (int mode = DXGK_IOMMU_OFF; mode <= DXGK_IOMMU_REMAP; mode++) {
        machine_begin(&m, (enum dxgk_iommu)mode);
        (void)heap_after(&m, many); /* what is kept for later use is there by then */
        first = heap_after(&m, 40);
        then = heap_after(&m, many / 2);
        if (m.noisy)
            printf("    mode %d: %llu, then %llu bytes\n", mode, (unsigned long long)first,
                   (unsigned long long)then);
        CHECK(then <= first + 2 * 4200); /* an IO page table or two, kept for the next need */
        machine_end(&m);
    }
}
