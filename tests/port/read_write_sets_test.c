/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: one set of segments for work that reads an allocation, and one for work that writes to it. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MEMORY             1u
#define APERTURE           2u

static struct portions_gpu gpu;
static UINT reads, writes; /* of what is created next */
static unsigned last;      /* Patch of the latest render */

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = reads;
    info->SupportedWriteSegmentSet = writes;
    info->PreferredSegment.Value = 0;
    info->Flags.Value = 0;
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = describe;
}

static void make(unsigned index, UINT read_set, UINT write_set)
{
    reads = read_set;
    writes = write_set;
    portions_allocate(&gpu, index, PORTIONS_MIB);
}

static void use(unsigned index, bool write)
{
    for (unsigned i = 0; i <= PORTIONS_MANY; i++)
        gpu.context.pAllocationList[i].Value = 0, gpu.context.pAllocationList[i].hAllocation = 0;
    gpu.context.pAllocationList[index + 1].hAllocation = gpu.allocation[index];
    gpu.context.pAllocationList[index + 1].WriteOperation = write;
    portions_element(&gpu, 0, 0, index + 1, 0);
    CHECK(IS(portions_render(&gpu, 64, 1), STATUS_SUCCESS));
}

/* The segment where it was for that. */
static UINT used_in(unsigned index, bool write)
{
    use(index, write);
    portions_finish(&gpu);
    last = portions.patch_count - 1;
    CHECK((portions.patched[last].list[index + 1].WriteOperation != 0) == write);
    return portions.patched[last].list[index + 1].SegmentId;
}

static void body(struct probe *p)
{
    portions_open(&gpu);
    make(0, MEMORY | APERTURE, MEMORY);
    make(1, APERTURE, MEMORY);
    make(2, MEMORY, MEMORY | APERTURE);
    make(3, 0, APERTURE); /* the set that is left empty says nothing */
    CHECK_RULE("ALLOC-039", used_in(0, true) == 1);
    CHECK_RULE("ALLOC-039", used_in(0, false) == 1); /* it may stay */
    CHECK_RULE("ALLOC-039", used_in(1, false) == 2);
    CHECK_RULE("ALLOC-039", used_in(1, true) == 1); /* even if it was in 2 */
    CHECK_RULE("ALLOC-039", used_in(1, false) == 2);
    CHECK_RULE("ALLOC-039", used_in(2, false) == 1 && used_in(2, true) == 1);
    CHECK_RULE("ALLOC-039", used_in(3, false) == 2 && used_in(3, true) == 2);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    portions_close(&gpu);
}

static void run(void (*client)(struct probe *p))
{
    struct probe *p;

    portions_prepare = prepare;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, client));
}

TEST(what_the_work_does_decides_where_it_is_done)
{
    run(body);
}

/* One after another without a wait in between, each where it has to be. */
static void alternating_body(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    make(0, APERTURE, MEMORY);
    probe_device_packet_ns = 1000000;
    for (unsigned i = 0; i < 10; i++)
        use(0, i % 2);
    portions_finish(&gpu);
    probe_device_packet_ns = 1000;
    CHECK_RULE("ALLOC-039", portions.patch_count == 10);
    for (unsigned i = 0; i < 10; i++)
        CHECK_RULE("ALLOC-039", portions.patched[i].list[1].SegmentId == (i % 2 ? 1 : 2));
    portions_close(&gpu);
}

TEST(it_moves_between_packets)
{
    run(alternating_body);
}

/* Both in one buffer, by two entries of the list: what is written decides. */
static void both_body(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    make(0, APERTURE, MEMORY);
    for (unsigned writer = 1; writer <= 2; writer++) {
        for (unsigned i = 1; i <= 2; i++) {
            gpu.context.pAllocationList[i].hAllocation = gpu.allocation[0];
            gpu.context.pAllocationList[i].WriteOperation = i == writer;
            portions_element(&gpu, i - 1, i - 1, i, 0);
        }
        CHECK(IS(portions_render(&gpu, 64, 2), STATUS_SUCCESS));
        portions_finish(&gpu);
        CHECK_RULE("ALLOC-039", portions.patch_count == writer &&
                                    portions.patched[writer - 1].list[1].SegmentId == 1 &&
                                    portions.patched[writer - 1].list[2].SegmentId == 1);
    }
    portions_close(&gpu);
}

TEST(a_buffer_that_does_both_writes)
{
    run(both_body);
}
