/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: the allocation list says what work writes to, and so what must be copied out of video memory. */
#include "port/support/paged.h"
#include "port/support/portions.h"

#include <string.h>

#define MIB                PORTIONS_MIB
#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct portions_gpu gpu;
static HANDLE driver_handle[PORTIONS_MANY]; /* of the driver */
static unsigned created;
static bool keeps_copy; /* of allocations that are created from now on */

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1;
    info->PreferredSegment.Value = 0;
    info->Flags.Value = 0;
    info->Flags.PermanentSysMem = info->Flags.CpuVisible = keeps_copy;
    driver_handle[created++] = info->hAllocation;
}

/* Work with an allocation, with which the other one has to leave. Elements of the patch-location
 * list: the first `elements` of (it, it, nothing). */
static void use(unsigned index, bool write)
{
    for (unsigned i = 0; i <= PORTIONS_MANY; i++)
        gpu.context.pAllocationList[i] = (D3DDDI_ALLOCATIONLIST){0};
    gpu.context.pAllocationList[index + 1].hAllocation = gpu.allocation[index];
    gpu.context.pAllocationList[index + 1].WriteOperation = write;
    portions_element(&gpu, 0, 0, index + 1, 0);
    CHECK(IS(portions_render(&gpu, 64, 1), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK(portions.patched[portions.patch_count - 1].list[index + 1].SegmentId == 1);
}

struct moves {
    unsigned in, out, dropped;
};

/* What was done with an allocation since `from`. */
static struct moves moves_of(unsigned index, unsigned from)
{
    struct moves m = {0};

    for (unsigned i = from; i < paged.count; i++) {
        const DXGKARG_BUILDPAGINGBUFFER *args = &paged.op[i].args;

        if (args->Operation == DXGK_OPERATION_TRANSFER &&
            args->Transfer.hAllocation == driver_handle[index]) {
            m.in += args->Transfer.Destination.SegmentId != 0;
            m.out += args->Transfer.Destination.SegmentId == 0;
        }
        m.dropped += args->Operation == DXGK_OPERATION_DISCARD_CONTENT &&
                     args->DiscardContent.hAllocation == driver_handle[index];
    }
    return m;
}

/* How the first allocation leaves, for the second. */
static struct moves leave(void)
{
    unsigned mark = paged.count;

    use(1, false);
    return moves_of(0, mark);
}

static void open_two(bool copy)
{
    created = 0;
    portions_open(&gpu);
    keeps_copy = copy;
    portions_allocate(&gpu, 0, 9 * MIB);
    keeps_copy = false;
    portions_allocate(&gpu, 1, 9 * MIB);
    use(0, false);
    CHECK(leave().out == !copy); /* what was filled has none yet */
}

static void write_and_read(struct probe *p)
{
    unsigned mark;
    struct moves m;

    (void)p;
    open_two(true);
    mark = paged.count;
    use(0, true);
    CHECK(moves_of(0, mark).in == 1);
    m = leave();
    CHECK_RULE("PATCH-076", m.out == 1 && m.dropped == 0);
    use(0, false);
    use(0, false);
    m = leave();
    CHECK_RULE("PATCH-076", m.out == 0 && m.dropped == 1);
    use(0, true); /* written to earlier in the same stay */
    use(0, false);
    m = leave();
    CHECK_RULE("PATCH-076", m.out == 1 && m.dropped == 0);
    use(0, false);
    use(0, true); /* or later */
    m = leave();
    CHECK_RULE("PATCH-076", m.out == 1 && m.dropped == 0);
    use(0, false); /* what was copied out is clean again */
    m = leave();
    CHECK_RULE("PATCH-076", m.out == 0 && m.dropped == 1);
    portions_close(&gpu);
}

/* The only copy is never dropped, whatever the list says. */
static void without_copy(struct probe *p)
{
    struct moves m;

    (void)p;
    open_two(false);
    use(0, false);
    m = leave();
    CHECK_RULE("PATCH-076", m.out == 1 && m.dropped == 0);
    portions_close(&gpu);
}

/* Two allocations in one list: only one of them is written to. */
static void one_of_two(struct probe *p)
{
    unsigned mark;

    (void)p;
    created = 0;
    portions_open(&gpu);
    keeps_copy = true;
    portions_allocate(&gpu, 0, 5 * MIB);
    portions_allocate(&gpu, 1, 5 * MIB);
    keeps_copy = false;
    portions_allocate(&gpu, 2, 14 * MIB);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 2; i++) {
            gpu.context.pAllocationList[i + 1] = (D3DDDI_ALLOCATIONLIST){
                .hAllocation = gpu.allocation[i]};
            gpu.context.pAllocationList[i + 1].WriteOperation = i == 1 && round == 1;
            portions_element(&gpu, i, i, i + 1, 0);
        }
        CHECK(IS(portions_render(&gpu, 64, 2), STATUS_SUCCESS));
        portions_finish(&gpu);
        mark = paged.count;
        use(2, true);
    }
    CHECK_RULE("PATCH-076", moves_of(0, mark).out == 0 && moves_of(0, mark).dropped == 1);
    CHECK_RULE("PATCH-076", moves_of(1, mark).out == 1 && moves_of(1, mark).dropped == 0);
    portions_close(&gpu);
}

static void run(UINT version, void (*body)(struct probe *p))
{
    struct probe *p = portions_create(version, false);
    struct probe_client *client;

    paged_watch(p);
    p->after[PROBE_CreateAllocation] = describe;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, body);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    portions_end(p, client);
}

TEST(what_was_written_to_is_copied_out)
{
    run(DXGKDDI_INTERFACE_VERSION_WDDM1_3, write_and_read);
    run(DXGKDDI_INTERFACE_VERSION_WDDM1_3, without_copy);
    run(DXGKDDI_INTERFACE_VERSION_WDDM1_3, one_of_two);
    run(DXGKDDI_INTERFACE_VERSION_VISTA_SP1, write_and_read);
}
