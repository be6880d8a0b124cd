/* SPDX-License-Identifier: MIT */
/* 64 KiB transfers of a device through the IOMMU, mapped by scattered pages of 4 KiB, beside plain copying. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bus/support/dma_rig.h"
#include "ram/ram.h"

enum { TRANSFER = 65536, PAGES = TRANSFER / 4096, BUFFERS = 16 };

/* Every other frame of a stretch, in an order that is never ascending; isolated: side by side, since the device sees the frames'
 * own addresses. */
static uint64_t map_buffer(const struct dma_rig *rig)
{
    const struct ram_request request = {
        .pages = 2 * PAGES, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number first, pages[PAGES];
    struct logical_page logical[PAGES];

    if (!ram_take_contiguous(rig->ram, &request, &first))
        bench_die("out of memory");
    for (unsigned i = 0; i < PAGES; i++) {
        pages[i].value = first.value +
                         (iommu_domain_mode(rig->domain) == IOMMU_REMAP ? 2 * (i ^ 1u) : i);
        memset(ram_direct(rig->ram, page_phys(pages[i])), (int)i, 4096);
    }
    if (!iommu_map(rig->domain, pages, PAGES, IOMMU_READ | IOMMU_WRITE, logical))
        bench_die("out of memory");
    return logical_page_addr(logical[0]).value;
}

static void transfers(enum iommu_mode mode, const char *reads, const char *writes)
{
    uint64_t count = bench_options.quick ? 100 : 200000;
    uint64_t logical[BUFFERS];
    static _Alignas(4096) uint8_t local[TRANSFER];
    struct dma_rig rig;
    double start;
    bool fine = true;

    if (!dma_rig_create(&rig, mode, 64u << 20, (1ull << 40) - 1))
        bench_die("out of memory");
    for (unsigned i = 0; i < BUFFERS; i++)
        logical[i] = map_buffer(&rig);
    memset(local, 1, TRANSFER);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++)
        fine &= dma_rig_read(&rig, logical[i % BUFFERS], local, TRANSFER);
    bench_result(reads, 0, count, bench_now() - start);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++)
        fine &= dma_rig_write(&rig, logical[i % BUFFERS], local, TRANSFER);
    bench_result(writes, 0, count, bench_now() - start);
    if (!fine)
        bench_die("an access was refused");
    if (!dma_rig_destroy(&rig))
        bench_die("the domain could not be deleted");
}

static void plain(void)
{
    uint64_t count = bench_options.quick ? 100 : 200000;
    static _Alignas(4096) uint8_t local[TRANSFER], other[2 * BUFFERS * TRANSFER];
    double start;

    memset(local, 1, sizeof(local));
    memset(other, 2, sizeof(other));
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        memcpy(local, other + i % BUFFERS * 2 * TRANSFER, TRANSFER);
        __asm__ volatile("" ::: "memory");
    }
    bench_result("64 KiB memcpy, in", 0, count, bench_now() - start);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        memcpy(other + i % BUFFERS * 2 * TRANSFER, local, TRANSFER);
        __asm__ volatile("" ::: "memory");
    }
    bench_result("64 KiB memcpy, out", 0, count, bench_now() - start);
}

/* ---- the GPU's copy engine ---- */

#define COPIES 32u /* of a submission */

static D3DGPU_VIRTUAL_ADDRESS map_virtual(struct bench_client *c, D3DKMT_HANDLE allocation)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = c->queue;
    args.hAllocation = allocation;
    args.SizeInPages = PAGES;
    args.Protection.Write = 1;
    bench_check("D3DKMTMapGpuVirtualAddress", D3DKMTMapGpuVirtualAddress(&args));
    memset(&wait, 0, sizeof(wait));
    wait.hDevice = c->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &c->queue_sync;
    wait.FenceValueArray = &args.PagingFenceValue;
    bench_check("D3DKMTWaitForSynchronizationObjectFromCpu",
                D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
    return args.VirtualAddress;
}

static void submit(struct bench_client *c, D3DGPU_VIRTUAL_ADDRESS va, UINT bytes)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.Commands = va;
    args.CommandLength = bytes;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = c->virtual;
    bench_check("D3DKMTSubmitCommand", D3DKMTSubmitCommand(&args));
}

static void copy_client(void *argument)
{
    uint64_t submissions = bench_options.quick ? 4 : 2000;
    struct bench_client c;
    D3DKMT_HANDLE list[3];
    D3DGPU_VIRTUAL_ADDRESS va[3];
    D3DKMT_LOCK2 lock;
    D3DKMT_UNLOCK2 unlock;
    struct refgpu_builder b;
    double start;

    bench_client_open(&c);
    for (unsigned i = 0; i < 3; i++)
        list[i] = bench_allocate(&c, TRANSFER, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE);
    bench_make_resident(&c, list, 3);
    for (unsigned i = 0; i < 3; i++)
        va[i] = map_virtual(&c, list[i]);
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = c.device;
    lock.hAllocation = list[0];
    bench_check("D3DKMTLock2", D3DKMTLock2(&lock));
    refgpu_builder_init(&b, lock.pData, TRANSFER);
    for (unsigned i = 0; i < COPIES; i++)
        refgpu_copy(&b, va[1 + i % 2], va[2 - i % 2], TRANSFER);
    memset(&unlock, 0, sizeof(unlock));
    unlock.hDevice = c.device;
    unlock.hAllocation = list[0];
    bench_check("D3DKMTUnlock2", D3DKMTUnlock2(&unlock));
    start = bench_now();
    for (uint64_t i = 0; i < submissions; i++) {
        submit(&c, va[0], refgpu_builder_bytes(&b));
        if (i % 8 == 7)
            bench_drain(&c, c.virtual);
    }
    bench_drain(&c, c.virtual);
    bench_result(argument, 0, submissions * COPIES, bench_now() - start);
    bench_free(&c, list, 3);
    bench_client_close(&c);
}

void bench_dma(void)
{
    plain();
    transfers(IOMMU_REMAP, "64 KiB DMA read, logical", "64 KiB DMA write, logical");
    transfers(IOMMU_ISOLATION, "64 KiB DMA read, isolated", "64 KiB DMA write, isolated");
}

void bench_gpu_copy(void)
{
    static char off[] = "64 KiB copy by the GPU, no IOMMU", on[] = "64 KiB copy by the GPU, logical";

    plain();
    bench_on_machine(copy_client, off);
    bench_on_machine_with(DXGK_IOMMU_REMAP, copy_client, on);
}
