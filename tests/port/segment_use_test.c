/* SPDX-License-Identifier: MIT */
/* What the segment table of the driver means for the addresses that it gets, and for what may stay in a segment. */
#include "bus/memory.h"
#include "port/support/portions.h"
#include "ram/ram.h"
#include "util/address.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FAR                (1ull << 36)

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- offsets, not addresses ---- */

#define NUMBERS 65536u

/* Segments and addresses of everything that the driver is told of page tables, in order. */
struct told {
    uint64_t number[NUMBERS];
    unsigned count;
    unsigned roots, tables, in_segment, in_system;
    uint64_t highest; /* page in segment 1 */
    uint64_t wanted;  /* page of RAM */
    bool system_page; /* an entry names it, of segment 0 */
};

static struct told told[2], *now;

static void tell(uint64_t number)
{
    CHECK(now->count < NUMBERS);
    now->number[now->count++] = number;
}

static void tell_physical(D3DGPU_PHYSICAL_ADDRESS address)
{
    CHECK_RULE("SEG-025",
               address.SegmentId == 1 && address.SegmentOffset < 16u << 20 && !address.Padding);
    tell(address.SegmentOffset);
}

static void note_update(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE)
        return;
    if (update->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL) { /* not at the start */
        tell_physical(update->PageTableAddress.GpuPhysical);
        now->tables++;
    }
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const DXGK_PTE *entry = &update->pPageTableEntries[update->Flags.Repeat ? 0 : i];

        if (!entry->Valid)
            continue;
        tell(entry->Segment);
        tell(entry->PageAddress);
        if (entry->Segment == 1) {
            now->in_segment++;
            if (entry->PageAddress > now->highest)
                now->highest = entry->PageAddress;
        } else {
            CHECK_RULE("SEG-025", entry->Segment == 0);
            now->in_system++;
            now->system_page |= now->wanted && entry->PageAddress == now->wanted;
        }
    }
}

static void note_root(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETROOTPAGETABLE *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    tell_physical(args->Address);
    now->roots++;
}

static void into_system_if_small(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++)
        if (args->pAllocationInfo[i].Size == 4096) {
            args->pAllocationInfo[i].SupportedReadSegmentSet =
                args->pAllocationInfo[i].SupportedWriteSegmentSet = 2;
            args->pAllocationInfo[i].PreferredSegment.Value = 0;
        }
}

static void map(const struct probe_gpu *g, D3DKMT_HANDLE allocation, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = g->queue;
    args.hAllocation = allocation;
    args.SizeInPages = pages;
    args.Protection.Write = 1;
    status = D3DKMTMapGpuVirtualAddress(&args);
    CHECK(NT_SUCCESS(status));
    if (status == STATUS_PENDING) {
        D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

        memset(&wait, 0, sizeof(wait));
        wait.hDevice = g->device;
        wait.ObjectCount = 1;
        wait.ObjectHandleArray = &g->queue_fence;
        wait.FenceValueArray = &args.PagingFenceValue;
        CHECK(IS(D3DKMTWaitForSynchronizationObjectFromCpu(&wait), STATUS_SUCCESS));
    }
}

static void map_both(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE in_segment, in_system;
    D3DKMT_LOCK2 lock;
    struct phys_addr at = {0};

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 1u << 20, &in_segment), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 4096, &in_system), STATUS_SUCCESS));
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = gpu.device;
    lock.hAllocation = in_system;
    CHECK(IS(D3DKMTLock2(&lock), STATUS_SUCCESS) && ram_physical(p->ram, lock.pData, &at));
    now->wanted = phys_page(at).value;
    map(&gpu, in_segment, 256);
    map(&gpu, in_system, 1);
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, in_system}), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(references_are_offsets_whatever_the_base)
{
    for (unsigned far = 0; far < 2; far++) {
        struct probe *p = probe_create(NULL);

        now = &told[far];
        memset(now, 0, sizeof(*now));
        p->segment[0].BaseAddress.QuadPart = far ? (LONGLONG)FAR : 0;
        p->before[PROBE_BuildPagingBuffer] = note_update;
        p->before[PROBE_SetRootPageTable] = note_root;
        p->after[PROBE_CreateAllocation] = into_system_if_small;
        run(p, map_both);
        CHECK_RULE("SEG-025", now->roots && now->tables && now->in_segment >= 256 &&
                                  now->system_page && now->highest < (16u << 20) >> 12);
    }
    CHECK_RULE("SEG-025", told[0].count == told[1].count &&
                              memcmp(told[0].number, told[1].number,
                                     told[0].count * sizeof(told[0].number[0])) == 0);
}

/* ---- what hibernation leaves where it is ---- */

static struct portions_gpu gpu;
static SIZE_T end_address;
static unsigned out_count;
static uint64_t out_from[16];

static void keep_part(struct probe *p)
{
    p->segment[0].BaseAddress.QuadPart = (LONGLONG)FAR;
    p->segment[0].Flags.PreservedDuringStandby = 1;
    p->segment[0].Flags.PartiallyPreservedDuringHibernate = 1;
    p->segment[0].SystemMemoryEndAddress = end_address;
}

static void note_out(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation == DXGK_OPERATION_TRANSFER && op->Transfer.Source.SegmentId == 1 &&
        out_count < 16)
        out_from[out_count++] = (uint64_t)op->Transfer.Source.SegmentAddress.QuadPart;
}

static void three_side_by_side(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    for (unsigned i = 0; i < 3; i++) {
        portions_allocate(&gpu, i, PORTIONS_MIB);
        portions_element(&gpu, i, i, i + 1, 0);
    }
    CHECK(IS(portions_render(&gpu, 64, 3), STATUS_SUCCESS));
    portions_finish(&gpu);
}

static void hibernate(struct probe *p)
{
    p->before[PROBE_BuildPagingBuffer] = note_out;
    out_count = 0;
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionHibernate),
             STATUS_SUCCESS));
    p->before[PROBE_BuildPagingBuffer] = NULL;
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

/* Address of the n-th of them, as Patch was told; the driver-reserved memory ends at `end`. */
static uint64_t hibernated(SIZE_T end, unsigned n)
{
    struct probe *p;
    struct probe_client *client;

    end_address = end;
    portions_prepare = keep_part;
    p = portions_begin(false, false);
    client = probe_client_run(p, three_side_by_side);
    CHECK(probe_run(p, hibernate) == SIM_DONE);
    portions_end(p, client);
    return portions_address(0, n + 1);
}

static bool went_out(uint64_t address)
{
    for (unsigned i = 0; i < out_count; i++)
        if (out_from[i] == address || out_from[i] == address - FAR)
            return true;
    return false;
}

TEST(what_lies_below_the_end_address_stays)
{
    uint64_t at[3];
    SIZE_T middle_ends;

    for (unsigned i = 0; i < 3; i++)
        at[i] = hibernated((16u << 20) - 1, i);
    CHECK_RULE("SEG-040", out_count == 0);
    CHECK(at[0] >= FAR && at[1] == at[0] + PORTIONS_MIB && at[2] == at[1] + PORTIONS_MIB);
    middle_ends = at[1] - FAR + PORTIONS_MIB - 1; /* its last byte */
    (void)hibernated(middle_ends, 0);
    CHECK_RULE("SEG-040", out_count == 1 && went_out(at[2]));
    (void)hibernated(middle_ends + PORTIONS_MIB - 1, 0); /* all of the last but one byte */
    CHECK_RULE("SEG-040", out_count == 1 && went_out(at[2]));
    (void)hibernated(middle_ends - 1, 0); /* one byte of it beyond */
    CHECK_RULE("SEG-040", out_count == 2 && went_out(at[1]) && went_out(at[2]));
    (void)hibernated(middle_ends - PORTIONS_MIB + 1, 0); /* one byte of it within */
    CHECK_RULE("SEG-040", out_count == 2 && went_out(at[1]) && went_out(at[2]));
}

/* ---- the virtual copy engine ---- */

static UINT map_nodes, map_operations;

static void note_map(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    map_operations += op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2 ||
                      op->Operation == DXGK_OPERATION_UNMAP_APERTURE_SEGMENT;
}

static void note_node(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.Paging)
        map_nodes |= 1u << args->NodeOrdinal;
}

static void accessed_physically(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedWriteSegmentSet = 2;
        args->pAllocationInfo[i].PreferredSegment.Value = 0;
        args->pAllocationInfo[i].FlagsWddm2.AccessedPhysically = 1;
    }
}

static void in_and_out_of_the_aperture(struct probe *p)
{
    struct probe_gpu g;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&g), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&g, 65536, &allocation), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&g), STATUS_SUCCESS));
}

TEST(the_paging_node_maps_the_aperture_whatever_copies)
{
    for (unsigned flag = 0; flag < 2; flag++) {
        struct probe *p = probe_create(NULL);

        p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 4;
        p->physical.NumExecutionNodes = 4;
        p->physical.PagingNodeIndex = 2;
        p->physical.Flags.VirtualCopyEngineSupported = flag & 1;
        p->physical.VirtualCopyNodeIndex = flag ? 3 : 0;
        p->before[PROBE_BuildPagingBuffer] = note_map;
        p->before[PROBE_SubmitCommandVirtual] = note_node;
        p->after[PROBE_CreateAllocation] = accessed_physically;
        map_nodes = map_operations = 0;
        run(p, in_and_out_of_the_aperture);
        CHECK_RULE("SEG-089", map_operations == 2 && map_nodes == 1u << 2);
    }
}

/* ---- a BAR over all of the memory ---- */

static uint64_t vram_bytes;

static void lock_the_end(struct probe *p)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *bar =
        &p->state[0].device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors[1];
    const uint8_t *memory = bus_device_memory(p->device[0], 2);
    struct probe_gpu g;
    D3DKMT_HANDLE allocation;
    D3DKMT_LOCK2 lock;

    CHECK_RULE("SEG-074", bar->u.Memory.Length == vram_bytes);
    CHECK(IS(probe_gpu_begin(&g), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&g, 65536, &allocation), STATUS_SUCCESS));
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = g.device;
    lock.hAllocation = allocation;
    CHECK(IS(D3DKMTLock2(&lock), STATUS_SUCCESS));
    ((uint8_t *)lock.pData)[65535] = 0xE7;
    CHECK_RULE("SEG-074", memory[vram_bytes - 1] == 0xE7); /* no part of it is out of reach */
    CHECK(IS(probe_gpu_end(&g), STATUS_SUCCESS));
}

static void at_the_end(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].PreferredSegment.Direction0 = 1;
}

TEST(the_bar_is_as_large_as_the_memory)
{
    static const char *const options[][2] = {{"vram=0x2000000"}, {"vram=0x8000000"}};

    for (unsigned i = 0; i < 2; i++) {
        const struct probe_options o = {.device = options[i]};
        struct probe *p = probe_create(&o);

        vram_bytes = i ? 128u << 20 : 32u << 20;
        p->segment[0].Size = p->segment[0].CommitLimit = vram_bytes;
        p->after[PROBE_CreateAllocation] = at_the_end;
        run(p, lock_the_end);
    }
}
