/* SPDX-License-Identifier: MIT */
/* Lookaside lists: what they keep, and whose routines they call. */
#include "nt/mm/pool.h"
#include "nt/io/image_life.h"
#include "sim/point.h"
#include "support/harness.h"

/* ---- routines of the driver ---- */

static unsigned freed, allocated;
static bool refuse;

static PVOID NTAPI my_allocate(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
    allocated++;
    return refuse ? NULL : ExAllocatePoolWithTag(type, bytes, tag);
}

static VOID NTAPI my_free(PVOID buffer)
{
    freed++;
    ExFreePool(buffer);
}

static PVOID NTAPI my_allocate_ex(POOL_TYPE type, SIZE_T bytes, ULONG tag, PLOOKASIDE_LIST_EX list)
{
    assert_non_null(list);
    allocated++;
    return ExAllocatePoolWithTag(type, bytes, tag);
}

static NPAGED_LOOKASIDE_LIST lookaside;

static void check_lookaside(void)
{
    static LOOKASIDE_LIST_EX ex;
    struct nt_pool_statistics before, after;
    void *entry[8];

    freed = allocated = 0;
    refuse = false;
    nt_pool_statistics(&before);
    ExInitializeNPagedLookasideList(&lookaside, my_allocate, my_free, POOL_NX_ALLOCATION, 64, TAG,
                                    0);
    nt_pool_statistics(&after);
    CHECK_RULE("NT-028/a", after.live_blocks == before.live_blocks && errors() == 0);
    ExInitializeNPagedLookasideList(&lookaside, NULL, NULL, 0, 64, TAG, 0);
    CHECK_RULE("NT-029/b", reported("NT-029", 0xC4, 0xCA));
    for (unsigned i = 0; i < 8; i++)
        entry[i] = ExAllocateFromNPagedLookasideList(&lookaside);
    for (unsigned i = 0; i < 8; i++)
        ExFreeToNPagedLookasideList(&lookaside, entry[i]);
    CHECK_RULE("NT-030/c", freed == 4); /* beyond the depth */
    CHECK_RULE("NT-030/a", ExAllocateFromNPagedLookasideList(&lookaside) == entry[3]);
    ExFreeToNPagedLookasideList(&lookaside, entry[3]);
    refuse = true;
    for (unsigned i = 0; i < 4; i++)
        entry[i] = ExAllocateFromNPagedLookasideList(&lookaside);
    CHECK_RULE("NT-030/b", ExAllocateFromNPagedLookasideList(&lookaside) == NULL);
    for (unsigned i = 0; i < 4; i++)
        ExFreeToNPagedLookasideList(&lookaside, entry[i]);
    ExDeleteNPagedLookasideList(&lookaside);
    CHECK_RULE("NT-031/a", freed == 8 && nt_image_leak_check(h.image) == 0);
    ExDeleteNPagedLookasideList(&lookaside);
    CHECK_RULE("NT-029/c", reported("NT-029", 0xC4, 0xCB));
    ExInitializeNPagedLookasideList(&lookaside, NULL, NULL, 0, 4, TAG, 0);
    CHECK_RULE("NT-029/a", reported("NT-029", 0xC4, 0xCD));
    forget_reports();
    CHECK_RULE("NT-031/c", nt_image_leak_check(h.image) == 1 && broken("NT-031"));

    allocated = 0;
    assert_int_equal(
        ExInitializeLookasideListEx(&ex, my_allocate_ex, NULL, PagedPool, 0, 32, TAG, 0),
        STATUS_SUCCESS);
    entry[0] = ex.L.AllocateEx(ex.L.Type, ex.L.Size, ex.L.Tag, &ex);
    CHECK_RULE("NT-033/a", entry[0] && allocated == 1);
    ex.L.FreeEx(entry[0], &ex);
    ExDeleteLookasideListEx(&ex);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

static PAGED_LOOKASIDE_LIST paged_list;

static void init_paged(void)
{
    ExInitializePagedLookasideList(&paged_list, NULL, NULL, 0, 32, TAG, 0);
}

/* The forms for paged memory, and for the callers' own. */
static void check_other_lookaside(void)
{
    LOOKASIDE_LIST_EX ex;
    PVOID entry, other;

    init_paged();
    entry = ExAllocateFromPagedLookasideList(&paged_list);
    CHECK_RULE("NT-032/a", entry && paged_list.L.AllocateMisses == 1);
    ExFreeToPagedLookasideList(&paged_list, entry);
    CHECK_RULE("NT-032/a", ExAllocateFromPagedLookasideList(&paged_list) == entry);
    CHECK_RULE("NT-032/a", paged_list.L.AllocateMisses == 1 && paged_list.L.TotalAllocates == 2);
    ExFreeToPagedLookasideList(&paged_list, entry);
    ExDeletePagedLookasideList(&paged_list);
    allocated = 0;
    ExInitializeLookasideListEx(&ex, my_allocate_ex, NULL, NonPagedPoolNx, 0, 64, TAG, 0);
    entry = ExAllocateFromLookasideListEx(&ex);
    other = ExAllocateFromLookasideListEx(&ex);
    CHECK_RULE("NT-033/a", entry && other && allocated == 2);
    ExFreeToLookasideListEx(&ex, other);
    CHECK_RULE("NT-033/c", ExAllocateFromLookasideListEx(&ex) == other && allocated == 2);
    ExFreeToLookasideListEx(&ex, other);
    ExFreeToLookasideListEx(&ex, entry);
    ExDeleteLookasideListEx(&ex);
    CHECK_RULE("NT-032/a", errors() == 0 && nt_image_leak_check(h.image) == 0);
}

static void check_lookaside_memory(void)
{
    NPAGED_LOOKASIDE_LIST *list = ExAllocatePoolWithTag(NonPagedPoolNx, 4096, TAG);

    ExInitializeNPagedLookasideList(list, NULL, NULL, 0, 32, TAG, 0);
    ExFreePool(list);
    CHECK_RULE("NT-029/d", reported("NT-006", 0xC4, 0xCC));
    forget_reports();
    in_dpc(init_paged);
    CHECK_RULE("NT-032/c", broken("NT-032"));
}

static unsigned entries_seen, workers_done;

static void use_lookaside(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t *entry = ExAllocateFromNPagedLookasideList(&lookaside);

        entry[4] = (uintptr_t)entry;
        sim_point();
        assert_true(entry[4] == (uintptr_t)entry);
        ExFreeToNPagedLookasideList(&lookaside, entry);
        entries_seen++;
    }
    workers_done++;
}

static void check_lookaside_threads(void)
{
    workers_done = entries_seen = 0;
    ExInitializeNPagedLookasideList(&lookaside, NULL, NULL, 0, 64, TAG, 0);
    for (unsigned i = 0; i < 8; i++)
        start("user", use_lookaside, NULL);
    while (workers_done < 8)
        pause_ns(100000);
    ExDeleteNPagedLookasideList(&lookaside);
    CHECK_RULE("NT-030/d", entries_seen == 2400 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(machine_smp, lookaside_lists_keep_entries)
{
    run(check_lookaside);
    forget_reports();
    run(check_other_lookaside);
    run(check_lookaside_memory);
    run(check_lookaside_threads);
}
