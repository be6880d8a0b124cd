/* SPDX-License-Identifier: MIT */
/* Banks of a segment, and the hints of a WDDM 1.x driver for the placement of allocations in them. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FAR                (1ll << 36)
#define MIB                PORTIONS_MIB

static struct portions_gpu gpu;
static SIZE_T table[] = {4 * MIB, 8 * MIB, 9 * MIB}; /* the last one is not read */
static bool banking;

/* Allocations in the order of their placement. */
static struct item {
    UINT64 bytes;
    UINT banks[4]; /* with 0x80: from the end */
    UINT place;    /* of the segment in PreferredSegment, from 1 */
} item[PORTIONS_MANY];
static unsigned created;
static uint64_t at[PORTIONS_MANY]; /* offset in MiB */

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];
    const struct item *i = &item[created++];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1;
    info->PreferredSegment.Value = i->place ? 1u << (6 * (i->place - 1)) : 0;
    info->HintedBank.Value = i->banks[0] | i->banks[1] << 8 | i->banks[2] << 16 | i->banks[3] << 24;
    info->Flags.Value = 0;
}

static void prepare(struct probe *p)
{
    p->segment[0].BaseAddress.QuadPart = FAR;
    p->segment[0].Flags.UseBanking = banking;
    p->banks = 3;
    p->bank_table = table;
    p->after[PROBE_CreateAllocation] = describe;
    created = 0;
}

static void body(struct probe *p)
{
    unsigned count = 0;

    portions_open(&gpu);
    while (count < PORTIONS_MANY && item[count].bytes) {
        portions_allocate(&gpu, count, item[count].bytes);
        portions_element(&gpu, count, count, count + 1, 0);
        count++;
    }
    CHECK(IS(portions_render(&gpu, 64, count), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK(portions.patch_count == 1 && probe_reports(p, VERIFY_ERROR) == 0);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t offset = portions_address(0, i + 1) - FAR;

        CHECK(portions.patched[0].list[i + 1].SegmentId == 1 && offset % MIB == 0);
        at[i] = offset / MIB;
    }
    portions_close(&gpu);
}

static void place(bool use, const struct item *items, unsigned count)
{
    struct probe *p;

    banking = use;
    memset(item, 0, sizeof(item));
    memcpy(item, items, count * sizeof(*items));
    portions_prepare = prepare;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, body));
}

#define PLACE(...)                                  \
    place(true, (const struct item[]){__VA_ARGS__}, \
          (unsigned)(sizeof((const struct item[]){__VA_ARGS__}) / sizeof(struct item)))

/* One bank, from its start or its end. */
#define UP(n)   n
#define DOWN(n) (0x80u | (n))

TEST(hints_are_followed_in_their_order)
{
    PLACE({MIB, {DOWN(2)}, 1}, {MIB, {UP(2)}, 1}, {2 * MIB, {UP(2)}, 1},
          {MIB, {UP(2), DOWN(1), UP(3)}, 1});
    CHECK_RULE("ALLOC-042", at[0] == 7 && at[1] == 4 && at[2] == 5 && at[3] == 3);
    PLACE({MIB, {UP(3)}, 1}, {MIB, {DOWN(3)}, 1}, {MIB, {UP(1)}, 1}, {MIB, {DOWN(1)}, 1});
    CHECK_RULE("ALLOC-042", at[0] == 8 && at[1] == 15 && at[2] == 0 && at[3] == 3);
    /* the others count when the first does not have the room, or is none */
    PLACE({3 * MIB, {UP(1)}, 1}, {2 * MIB, {UP(1), UP(3)}, 1}, {MIB, {0, DOWN(2)}, 1},
          {MIB, {0, 0, 0, DOWN(3)}, 1});
    CHECK_RULE("ALLOC-042", at[0] == 0 && at[1] == 8 && at[2] == 7 && at[3] == 15);
    PLACE({MIB, {UP(4), UP(127), UP(2)}, 1}, {MIB, {0, 0, UP(3)}, 1});
    CHECK_RULE("ALLOC-042", at[0] == 4 && at[1] == 8);
}

TEST(they_are_about_the_first_preferred_segment)
{
    PLACE({MIB, {UP(3)}, 2}, {MIB, {UP(3)}, 0}, {MIB, {UP(3)}, 1});
    CHECK_RULE("ALLOC-042", at[0] == 0 && at[1] == 1 && at[2] == 8);
    place(false, (const struct item[]){{MIB, {UP(3)}, 1}, {MIB, {DOWN(2)}, 1}}, 2);
    CHECK_RULE("ALLOC-042", at[0] == 0 && at[1] == 1);
}

TEST(banks_are_hints)
{
    /* larger than its bank: across the border */
    PLACE({6 * MIB, {UP(1)}, 1});
    CHECK_RULE("SEG-039", at[0] == 0);
    PLACE({6 * MIB, {UP(2)}, 1});
    CHECK_RULE("SEG-039", at[0] == 4);
    PLACE({6 * MIB, {DOWN(2)}, 1});
    CHECK_RULE("SEG-039", at[0] == 2);
    PLACE({16 * MIB, {UP(2)}, 1}); /* only one place is left */
    CHECK_RULE("SEG-039", at[0] == 0);
    /* a full bank */
    PLACE({4 * MIB, {UP(1)}, 1}, {MIB, {UP(1)}, 1}, {MIB, {DOWN(1)}, 1});
    CHECK_RULE("SEG-039", at[0] == 0 && at[1] == 4 && at[2] == 5);
    PLACE({8 * MIB, {UP(3)}, 1}, {4 * MIB, {UP(3)}, 1}, {4 * MIB, {UP(3)}, 1});
    CHECK_RULE("SEG-039", at[0] == 8 && at[1] == 0 && at[2] == 4);
}

/* ---- either end ---- */

TEST(the_host_chooses_the_end_unless_it_is_told)
{
    PLACE({15 * MIB, {0}, 1}, {MIB, {0}, 1}); /* the upper end is all there is */
    CHECK_RULE("ALLOC-036", at[0] <= 1 && at[1] < 16 && (at[1] < at[0] || at[1] >= at[0] + 15));
}
