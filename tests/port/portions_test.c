/* SPDX-License-Identifier: MIT */
/* DMA buffers of a WDDM 1.x driver under memory pressure, from the client to the driver: what is paged in, where a buffer is cut. */
#include "port/support/portions.h"

TEST_WITH(portions, what_is_named_is_paged_in)
{
    struct portions_gpu g;

    portions_open_with_four(&g);
    portions_element(&g, 0, 0, 2, 0);
    portions_element(&g, 1, 1, 1, 32);
    CHECK(portions_render(&g, 64, 2) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK_RULE("PATCH-120", portions.patch_count == 1 &&
                                portions.patched[0].args.DmaBufferSubmissionStartOffset == 0 &&
                                portions.patched[0].args.DmaBufferSubmissionEndOffset == 64);
    CHECK_RULE("RES-002", PORTIONS_THERE(portions.patched[0].list[1]) &&
                              PORTIONS_THERE(portions.patched[0].list[2]));
    CHECK_RULE("PATCH-148", portions.patched[0].list[1].SegmentId == 1 &&
                                portions_apart(0, 1, 2, 5 * PORTIONS_MIB) &&
                                portions.patched[0].args.AllocationListSize == PORTIONS_MANY + 1);
    CHECK_RULE("PATCH-116", !PORTIONS_THERE(portions.patched[0].list[3]) &&
                                portions_address(0, 3) == 0 &&
                                !PORTIONS_THERE(portions.patched[0].list[4]));
    CHECK_RULE("RES-003", portions.paged_in_count == 2 && portions.paged_in[0] == 5 &&
                              portions.paged_in[1] == 6);
    CHECK_RULE("PATCH-119", portions.paged_in[0] == 5 && portions.paged_in[1] == 6);
    (void)p;
    portions_close(&g);
}

TEST_WITH(portions, a_buffer_is_cut)
{
    struct portions_gpu g;

    portions_open_with_four(&g);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    portions_element(&g, 2, 0, 3, 32); /* 6 + 5 + 7 are more than 16 */
    portions_element(&g, 3, 1, 0, 32);
    CHECK(portions_render(&g, 64, 4) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK(portions.patch_count == 2);
    CHECK_RULE("PATCH-121", portions.patched[0].args.DmaBufferSubmissionEndOffset == 32 &&
                                portions.patched[1].args.DmaBufferSubmissionStartOffset == 32 &&
                                portions.patched[1].args.DmaBufferSubmissionEndOffset == 64);
    CHECK_RULE("RES-004", PORTIONS_THERE(portions.patched[0].list[1]) &&
                              PORTIONS_THERE(portions.patched[0].list[2]) &&
                              !PORTIONS_THERE(portions.patched[0].list[3]) &&
                              PORTIONS_THERE(portions.patched[1].list[3]) &&
                              !(PORTIONS_THERE(portions.patched[1].list[1]) &&
                                PORTIONS_THERE(portions.patched[1].list[2])));
    CHECK_RULE("PATCH-150", portions.patched[0].args.PatchLocationListSubmissionLength == 2 &&
                                portions.patched[1].args.PatchLocationListSubmissionStart == 2 &&
                                portions.patched[1].args.PatchLocationListSubmissionLength == 2);
    CHECK_RULE("PATCH-117", portions_state(&g) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                                probe_rule(p, "PATCH-135") == 0);
    /* Again, from the state that the first one left. */
    CHECK(portions_render(&g, 64, 4) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK_RULE("PATCH-121", portions.patch_count == 4 &&
                                portions.patched[2].args.DmaBufferSubmissionEndOffset == 32 &&
                                PORTIONS_THERE(portions.patched[2].list[1]) &&
                                PORTIONS_THERE(portions.patched[2].list[2]) &&
                                PORTIONS_THERE(portions.patched[3].list[3]));
    portions_close(&g);
}

TEST_WITH(portions, a_binding_over_the_cut_stays, .no_dma_patching = true)
{
    struct portions_gpu g;

    portions_open_with_four(&g);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    portions_element(&g, 2, 1, 3, 32); /* takes the place of the second; the first stays bound */
    CHECK(portions_render(&g, 64, 3) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK_RULE("PATCH-122", portions.patch_count == 2 &&
                                portions_address(0, 1) == portions_address(1, 1) &&
                                PORTIONS_THERE(portions.patched[1].list[1]));
    CHECK_RULE("PATCH-122", PORTIONS_THERE(portions.patched[1].list[3]) &&
                                !PORTIONS_THERE(portions.patched[1].list[2]) &&
                                portions_apart(1, 1, 3, 6 * PORTIONS_MIB));
    CHECK_RULE("PATCH-136", probe_rule(p, "PATCH-135") == 0);
    portions_close(&g);
}

TEST_WITH(portions, a_leaking_binding_is_refused)
{
    struct portions_gpu g;

    portions_open_with_four(&g);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    portions_element(&g, 2, 1, 3, 32);
    CHECK(portions_render(&g, 64, 3) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK_RULE("PATCH-134", portions.patch_count == 1);
    CHECK_RULE("PATCH-135", probe_rule(p, "PATCH-135") == 1 &&
                                probe_said(p, "PATCH-135", "slot 0") &&
                                portions_state(&g) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    portions_close(&g);
}

TEST_WITH(portions, what_never_fits_is_told)
{
    struct portions_gpu g, other;

    portions_open_with_four(&g);
    portions_open(&other);
    portions_allocate(&other, 0, 6 * PORTIONS_MIB);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    portions_element(&g, 2, 2, 3, 0);
    CHECK(portions_render(&g, 64, 3) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK_RULE("PATCH-124", portions.patch_count == 0 &&
                                portions_state(&g) == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("PATCH-124", probe_said(p, "PATCH-124", "0x700000 bytes"));
    CHECK_RULE("RES-005", portions_render(&g, 64, 1) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    portions_element(&other, 0, 0, 1, 0);
    CHECK(portions_render(&other, 64, 1) == STATUS_SUCCESS);
    portions_finish(&other);
    CHECK_RULE("RES-005", portions.patch_count == 1 &&
                              portions_state(&other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    portions_close(&other);
    portions_close(&g);
}

/* What does not fit beside the work in flight waits for it, of the same device and of others. */
TEST_WITH(portions, devices_take_turns)
{
    struct portions_gpu g, other;

    (void)p;
    portions_open_with_four(&g);
    portions_open_with_four(&other);
    for (int turn = 0; turn < 8; turn++) {
        struct portions_gpu *one = turn % 2 ? &other : &g;

        portions_element(one, 0, 0, turn % 4 < 2 ? 1 : 3, 0);
        portions_element(one, 1, 1, 2, 32);
        CHECK(portions_render(one, 64, 2) == STATUS_SUCCESS);
    }
    portions_finish(&g);
    portions_finish(&other);
    CHECK_RULE("PATCH-120", portions.patch_count == 8);
    for (unsigned i = 0; i < portions.patch_count; i++)
        CHECK_RULE("RES-002", portions.patched[i].args.DmaBufferSubmissionEndOffset == 64 &&
                                  PORTIONS_THERE(portions.patched[i].list[2]) &&
                                  (PORTIONS_THERE(portions.patched[i].list[1]) ||
                                   PORTIONS_THERE(portions.patched[i].list[3])));
    portions_close(&other);
    portions_close(&g);
}

TEST_WITH(portions, forced_splits_reach_the_driver, .split = true)
{
    struct portions_gpu g;

    (void)p;
    portions_open_with_four(&g);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 0, 1, 16);
    portions_element(&g, 2, 0, 1, 48);
    CHECK(portions_render(&g, 64, 3) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK_RULE("PATCH-132", portions.patch_count == 3 &&
                                portions.patched[1].args.DmaBufferSubmissionStartOffset == 16 &&
                                portions.patched[1].args.DmaBufferSubmissionEndOffset == 48);
    portions_close(&g);
}

/* MaxAllocationListSlotId is 7: the slot itself, and the first beyond. */
TEST_WITH(portions, slots_are_as_many_as_the_driver_says)
{
    struct portions_gpu g;

    portions_open(&g);
    portions_allocate(&g, 0, PORTIONS_MIB);
    for (UINT slot = 6; slot <= 8; slot++) {
        portions_element(&g, 0, slot, 1, 0);
        CHECK_RULE("PATCH-104", portions_render(&g, 64, 1) == STATUS_SUCCESS &&
                                    probe_rule(p, "PATCH-104") == (slot > 7));
        CHECK_RULE("CAPS-022", probe_rule(p, "PATCH-104") == (slot > 7));
    }
    portions_finish(&g);
    CHECK_RULE("PATCH-104", portions.patch_count == 3);
    portions_close(&g);
}
