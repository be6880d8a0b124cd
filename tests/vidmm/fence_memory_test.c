/* SPDX-License-Identifier: MIT */
/* Slots for monitored fences: three views of eight bytes. */
#include "support/gva_rig.h"
#include "nt/ps/process.h"

#include <string.h>

#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "sim/wait.h"

static uint64_t *gpu_view(struct gva_rig *rig, uint64_t va)
{
    DXGKARG_SETROOTPAGETABLE root = gva_root(rig->process->space);
    struct phys_addr physical;
    uint64_t entry;

    CHECK(gva_walk(rig, &root, va, &entry) && gva_entry_segment(entry) == 0 &&
          !(entry & GVA_READ_ONLY));
    CHECK(iommu_translate(rig->base.domain,
                          (struct logical_addr){(gva_entry_page(entry) << 12) + va % 4096},
                          IOMMU_WRITE, &physical));
    return ram_direct(rig->base.ram, physical);
}

TEST_WITH(gva, a_slot_is_seen_by_host_client_and_gpu)
{
    struct vidmm_fence_slot slot;
    uint64_t old = 1;
    uint64_t value = 0x1122334455667788;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK_RULE("GPUVA-095", slot.va.value != 0 && slot.va.value % 8 == 0);
    CHECK(*slot.kernel == 0);
    *gpu_view(rig, slot.va.value) = value; /* right after creation, nothing was waited for */
    CHECK_RULE("GPUVA-095",
               *slot.kernel == value && *(const volatile uint64_t *)slot.client == value);
    CHECK(!sim_copy_checked(slot.client, &old, sizeof(old))); /* read-only */
    *slot.kernel = 5;
    CHECK(*(const volatile uint64_t *)slot.client == 5 && *gpu_view(rig, slot.va.value) == 5);
    vidmm_fence_slot_destroy(rig->process, &slot);
    CHECK(slot.page == NULL);
}

struct departure {
    struct gva_rig *rig;
    struct vidmm_process *process;
    struct vidmm_fence_slot slot;
    unsigned gone;
};

static void destroy_slot(void *arg)
{
    struct departure *d = arg;

    vidmm_fence_slot_destroy(d->process, &d->slot);
    d->gone++;
}

static void close_process(void *arg)
{
    struct departure *d = arg;

    vidmm_process_close(d->process);
    d->gone++;
}

/* As the scheduler frees the fences of a process that ends. */
TEST_WITH(gva, a_process_outlives_a_slot_that_waits_to_be_freed)
{
    struct nt_process *nt = nt_process_create("other");
    struct departure d = {.rig = rig};

    CHECK(nt && NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &d.process)));
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(d.process, &d.slot)));
    sim_mutex_lock(&rig->vidmm->lock);
    sim_thread_release(sim_thread_create("slot", SIM_THREAD_KERNEL, destroy_slot, &d));
    sim_block(sim_now() + 1000, NULL); /* it waits for the lock */
    sim_thread_release(sim_thread_create("process", SIM_THREAD_KERNEL, close_process, &d));
    sim_block(sim_now() + 1000, NULL);
    CHECK(d.gone == 0 && rig->destroy_process_calls == 0);
    sim_mutex_unlock(&rig->vidmm->lock);
    sim_block(sim_now() + 1000000, NULL);
    CHECK(d.gone == 2 && rig->destroy_process_calls == 1);
    nt_process_destroy(nt);
}

static struct logical_page device_page(struct gva_rig *rig, uint64_t va)
{
    DXGKARG_SETROOTPAGETABLE root = gva_root(rig->process->space);
    uint64_t entry;

    CHECK(gva_walk(rig, &root, va, &entry));
    return (struct logical_page){gva_entry_page(entry)};
}

/* IOMMU-067: mapped for the device without the driver's doing. A page goes with its last fence, if there is room elsewhere. */
TEST_WITH(gva, fence_memory_is_in_reach_for_its_life)
{
    enum { SLOTS = 513 };
    struct vidmm_fence_slot *slot = util_zalloc(SLOTS, sizeof(*slot));
    struct logical_page page;

    CHECK(slot);
    for (int i = 0; i < SLOTS; i++)
        CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot[i])));
    page = device_page(rig, slot[SLOTS - 1].va.value);
    CHECK(page.value != device_page(rig, slot[0].va.value).value);
    *gpu_view(rig, slot[SLOTS - 1].va.value) = 9;
    CHECK_RULE("IOMMU-067/a",
               *slot[SLOTS - 1].kernel == 9 && iommu_page_mapped(rig->base.domain, page));
    vidmm_fence_slot_destroy(rig->process, &slot[0]);
    CHECK_RULE("IOMMU-067/a", iommu_page_mapped(rig->base.domain, page));
    vidmm_fence_slot_destroy(rig->process, &slot[SLOTS - 1]);
    gva_idle(rig);
    CHECK_RULE("IOMMU-067/b", !iommu_page_mapped(rig->base.domain, page));
    for (int i = 1; i < SLOTS - 1; i++)
        vidmm_fence_slot_destroy(rig->process, &slot[i]);
    util_free(slot);
}

/* One value, seen through the slots of all that opened it; it lives as long as any of them. */
TEST_WITH(gva, a_shared_fence_has_memory_of_its_own)
{
    struct vidmm_fence_memory *memory;
    struct vidmm_fence_slot own, first, second;
    volatile uint64_t *kernel;
    struct logical_page page;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &own)));
    CHECK(NT_SUCCESS(vidmm_fence_memory_create(rig->process, &memory)));
    kernel = vidmm_fence_memory_kernel(memory);
    CHECK(NT_SUCCESS(vidmm_fence_slot_open(rig->process, memory, true, &first)));
    CHECK(NT_SUCCESS(vidmm_fence_slot_open(rig->process, memory, false, &second)));
    CHECK_RULE("KMT-360", first.kernel == kernel && second.kernel == kernel &&
                              first.client != second.client && first.va.value != 0);
    CHECK_RULE("KMT-362", second.va.value == 0);
    page = device_page(rig, first.va.value);
    CHECK(page.value != device_page(rig, own.va.value).value); /* nothing else is in reach */
    *gpu_view(rig, first.va.value) = 5;
    CHECK_RULE("KMT-360", *kernel == 5 && *(const volatile uint64_t *)second.client == 5);
    vidmm_fence_slot_destroy(rig->process, &first);
    gva_idle(rig);
    CHECK_RULE("IOMMU-067/a", iommu_page_mapped(rig->base.domain, page));
    vidmm_fence_memory_release(memory);
    CHECK(*(const volatile uint64_t *)second.client == 5);
    CHECK_RULE("IOMMU-067/a", iommu_page_mapped(rig->base.domain, page));
    vidmm_fence_slot_destroy(rig->process, &second);
    gva_idle(rig);
    CHECK_RULE("IOMMU-067/b", !iommu_page_mapped(rig->base.domain, page));
    CHECK(*own.kernel == 0);
    vidmm_fence_slot_destroy(rig->process, &own);
}

TEST_WITH(gva, pages_are_mapped_without_an_allocation_handle)
{
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    for (uint32_t i = 0; i < gva_op_count(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE); i++)
        CHECK_RULE(
            "GPUVA-176",
            gva_op_at(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE, i)->args.UpdatePageTable.hAllocation ==
                NULL);
    {
        DXGKARG_SETROOTPAGETABLE root = gva_root(rig->process->space);
        uint64_t entry;

        /* Cached system memory is snooped. */
        CHECK_RULE("GPUVA-195",
                   gva_walk(rig, &root, slot.va.value, &entry) && (entry & GVA_COHERENT));
        CHECK_RULE("GPUVA-196", gva_entry_segment(entry) == 0);
    }
    vidmm_fence_slot_destroy(rig->process, &slot);
}

TEST_WITH(gva, slots_share_pages)
{
    enum { SLOTS = 1300 };
    struct vidmm_fence_slot *slot = util_zalloc(SLOTS, sizeof(*slot));
    uint64_t frames = ram_free_pages(rig->base.ram), operations;

    CHECK(slot);
    for (int i = 0; i < SLOTS; i++)
        CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot[i])));
    CHECK(frames - ram_free_pages(rig->base.ram) >= 3 &&
          frames - ram_free_pages(rig->base.ram) <= 8);
    for (int i = 0; i < SLOTS; i++)
        *slot[i].kernel = (uint64_t)i + 1;
    for (int i = 0; i < SLOTS; i++)
        CHECK(*gpu_view(rig, slot[i].va.value) == (uint64_t)i + 1);
    operations = rig->op_count;
    vidmm_fence_slot_destroy(rig->process, &slot[700]);
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot[700])));
    CHECK(rig->op_count == operations && *slot[700].kernel == 0); /* a used page had room */
    for (int i = 0; i < SLOTS; i++)
        vidmm_fence_slot_destroy(rig->process, &slot[(i * 7) % SLOTS]);
    gva_idle(rig);
    CHECK(gva_valid(rig));
    CHECK(frames - ram_free_pages(rig->base.ram) <= 4);
    util_free(slot);
}

static void narrow(struct gva_options *options)
{
    options->internal_start = 1ull << 32;
    options->internal_end = (1ull << 32) + 65536;
}

TEST_WITH(gva, pages_come_from_the_internal_range, narrow(options))
{
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK_RULE("GPUVA-059", slot.va.value >= 1ull << 32 && slot.va.value < (1ull << 32) + 65536);
    vidmm_fence_slot_destroy(rig->process, &slot);
}

static void physical(struct gva_options *options)
{
    options->no_gpu_mmu = true;
}

TEST_WITH(gva, without_gpu_mmu_there_is_no_gpu_address, physical(options))
{
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK_RULE("GPUVA-001", slot.va.value == 0 && gva_op_count(rig, -1) == 0);
    *slot.kernel = 3;
    CHECK(*(const volatile uint64_t *)slot.client == 3);
    vidmm_fence_slot_destroy(rig->process, &slot);
}

TEST_WITH(gva, every_failed_allocation_leaves_nothing)
{
    struct util_heap *heap = &sim_current->heap;
    uint64_t frames = ram_free_pages(rig->base.ram);
    struct vidmm_fence_slot slot = {0};
    NTSTATUS status = STATUS_NO_MEMORY;

    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        heap->fail_at = heap->requests + n;
        status = vidmm_fence_slot_create(rig->process, &slot);
        heap->fail_at = 0;
        gva_idle(rig);
        CHECK(gva_valid(rig));
        CHECK(NT_SUCCESS(status) ||
              (status == STATUS_NO_MEMORY && ram_free_pages(rig->base.ram) == frames));
        CHECK(n < 100);
    }
    vidmm_fence_slot_destroy(rig->process, &slot);
}
