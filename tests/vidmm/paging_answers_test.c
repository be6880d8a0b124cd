/* SPDX-License-Identifier: MIT */
/* Answers of DxgkDdiBuildPagingBuffer beside success, and what a reset and an evacuation leave. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PHYSICAL  0x8000u /* AccessedPhysically */
#define PERMANENT 0x3u    /* CpuVisible, PermanentSysMem */

/* ---- busy ---- */

static unsigned busy_calls;
static UINT idle[4];

static NTSTATUS busy_once(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    if (args->Operation != DXGK_OPERATION_DISCARD_CONTENT)
        return STATUS_PENDING;
    idle[busy_calls & 3] = args->DiscardContent.Flags.AllocationIsIdle;
    return busy_calls++ == 0 ? STATUS_GRAPHICS_ALLOCATION_BUSY : STATUS_PENDING;
}

TEST_WITH(mm, a_discard_may_be_busy_once, mm_options_physical(options))
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, PHYSICAL | PERMANENT);

    OK(mm_resident(c, h));
    mm_mark(rig);
    busy_calls = 0;
    rig->on_build = busy_once;
    OK(mm_evict(c, h, 2));
    mm_idle(rig);
    rig->on_build = NULL;
    CHECK_RULE("PAGE-014", busy_calls == 2 && idle[0] == 0 && idle[1] == 1);
    CHECK(mm_op_count(rig, DXGK_OPERATION_DISCARD_CONTENT) == 1 && mm_is_out(c, h));
    CHECK(!verify_bugcheck_state(rig->base.log)->happened);
}

/* ---- operations without a buffer ---- */

static NTSTATUS immediate_answer;

static NTSTATUS fail_immediate(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    return args->pDmaBuffer ? STATUS_PENDING : immediate_answer;
}

static void restore_with(struct mm_rig *rig, NTSTATUS answer, NTSTATUS expected)
{
    uint64_t before = verify_rule_count(rig->base.log, "GPUVA-186");

    vidmm_reset_cleanup(rig->vidmm);
    immediate_answer = answer;
    rig->on_build = fail_immediate;
    CHECK_RULE("GPUVA-186", vidmm_reset_restore(rig->vidmm) == expected);
    rig->on_build = NULL;
    CHECK_RULE("GPUVA-186", verify_rule_count(rig->base.log, "GPUVA-186") > before);
}

TEST_WITH(mm, an_operation_without_a_buffer_succeeds_or_is_reported)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, 0);

    OK(mm_resident(c, h));
    restore_with(rig, STATUS_NOT_FOUND, STATUS_NOT_FOUND);
    restore_with(rig, STATUS_TIMEOUT, STATUS_UNSUCCESSFUL); /* a success, but not STATUS_SUCCESS */
    vidmm_reset_cleanup(rig->vidmm);
    OK(vidmm_reset_restore(rig->vidmm));
    OK(mm_resident(c, h));
    CHECK(mm_in_vram(c, h) && rig->faults == 0 && vidmm_validate(rig->vidmm));
}

/* ---- what a reset leaves ---- */

TEST_WITH(mm, a_reset_leaves_clean_copies, mm_options_physical(options))
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE clean = mm_make(c, MM_SET_VRAM, 4, PHYSICAL | PERMANENT);
    D3DKMT_HANDLE dirty = mm_make(c, MM_SET_VRAM, 4, PHYSICAL | PERMANENT);
    D3DKMT_HANDLE single = mm_make(c, MM_SET_VRAM, 4, PHYSICAL);

    OK(mm_resident(c, clean));
    OK(mm_resident(c, dirty));
    OK(mm_resident(c, single));
    CHECK(mm_allocation(c, clean)->system_copy && mm_allocation(c, dirty)->system_copy);
    CHECK(!mm_allocation(c, single)->system_copy);
    mm_allocation(c, clean)->written = false;
    mm_allocation(c, single)->written = false;
    CHECK(mm_allocation(c, dirty)->written);
    vidmm_device_set_lost(c->device);
    mm_mark(rig);
    vidmm_reset_cleanup(rig->vidmm);
    CHECK(mm_op_count(rig, DXGK_OPERATION_TRANSFER) == 3);
    for (uint32_t i = 0; i < 3; i++) {
        const DXGK_TRANSFERFLAGS flags =
            mm_op_at(rig, DXGK_OPERATION_TRANSFER, i)->args.Transfer.Flags;

        CHECK_RULE("RES-085", flags.TransferStart && flags.TransferEnd && flags.AllocationIsIdle);
    }
    CHECK_RULE("RES-085", mm_allocation(c, clean)->content == CONTENT_SYSTEM);
    CHECK_RULE("RES-085", mm_allocation(c, dirty)->content == CONTENT_NONE);
    CHECK_RULE("RES-085", mm_allocation(c, single)->content == CONTENT_NONE);
    CHECK(!mm_allocation(c, clean)->system_copy && !mm_allocation(c, dirty)->system_copy);
    CHECK(mm_is_out(c, clean) && mm_is_out(c, dirty) && mm_is_out(c, single));
    OK(vidmm_reset_restore(rig->vidmm));
    CHECK(vidmm_validate(rig->vidmm));
}

/* ---- what an evacuation leaves ---- */

TEST_WITH(mm, what_is_kept_is_not_evacuated)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, PHYSICAL);
    uint64_t kept[2] = {0, 0}, end;

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 9);
    end = mm_allocation(c, h)->runs[0].first + 4;
    kept[0] = end << PAGE_BITS;
    CHECK(!vidmm_is_evacuated(rig->vidmm));
    OK(vidmm_evacuate(rig->vidmm, kept, false));
    CHECK(vidmm_is_evacuated(rig->vidmm) && mm_in_vram(c, h));
    OK(vidmm_return(rig->vidmm));
    CHECK(!vidmm_is_evacuated(rig->vidmm) && mm_check_content(rig, mm_allocation(c, h), 9));
    kept[0] = (end << PAGE_BITS) - 1;
    OK(vidmm_evacuate(rig->vidmm, kept, false));
    CHECK_RULE("RES-078", mm_is_out(c, h));
    CHECK_RULE("TDR-083", mm_allocation(c, h)->absence == ABSENCE_POWER);
    OK(vidmm_return(rig->vidmm));
    OK(mm_resident(c, h));
    CHECK(mm_check_content(rig, mm_allocation(c, h), 9) && vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, what_is_offered_is_discarded_by_an_evacuation)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE offered = mm_make(c, MM_SET_VRAM, 4, 0), other = mm_make(c, MM_SET_VRAM, 4, 0);

    OK(mm_resident(c, offered));
    OK(mm_resident(c, other));
    OK(mm_evict(c, offered, 1));
    mm_idle(rig);
    mm_allocation(c, offered)->offer.in_force = true;
    OK(vidmm_evacuate(rig->vidmm, NULL, false));
    CHECK(mm_is_out(c, offered) && mm_allocation(c, offered)->offer.discarded);
    CHECK(mm_is_out(c, other) && !mm_allocation(c, other)->offer.discarded);
    mm_allocation(c, offered)->offer.in_force = false;
    OK(vidmm_return(rig->vidmm));
}

/* ---- a process that finds no room for its root ---- */

TEST_WITH(mm, a_new_process_makes_room_for_its_root, options->table_segment = MM_VRAM)
{
    struct mm_client *c = &rig->client[0];
    uint64_t free = rig->vidmm->segment[MM_VRAM].free.free_units;
    D3DKMT_HANDLE big = mm_make(c, MM_SET_VRAM, free, 0);

    OK(mm_resident(c, big));
    OK(mm_evict(c, big, 1)); /* only if necessary */
    mm_idle(rig);
    CHECK(mm_in_vram(c, big) && rig->vidmm->segment[MM_VRAM].free.free_units == 0);
    OK(mm_client_open(rig, 1, 1));
    CHECK(rig->client[1].process != c->process);
    CHECK(mm_is_out(c, big) && vidmm_validate(rig->vidmm));
    OK(mm_resident(&rig->client[1], mm_make(&rig->client[1], MM_SET_VRAM, 1, 0)));
}

TEST_WITH(mm, a_mapping_makes_room_for_its_tables, options->table_segment = MM_VRAM)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE small = mm_make(c, MM_SET_APERTURE, 4, 0), big;
    D3DDDI_MAPGPUVIRTUALADDRESS args = {
        .hAllocation = small, .BaseAddress = 5ull << 30, .SizeInPages = 4};

    OK(mm_resident(c, small));
    big = mm_make(c, MM_SET_VRAM, rig->vidmm->segment[MM_VRAM].free.free_units, 0);
    OK(mm_resident(c, big));
    OK(mm_evict(c, big, 1)); /* only if necessary */
    mm_idle(rig);
    CHECK(mm_in_vram(c, big) && rig->vidmm->segment[MM_VRAM].free.free_units == 0);
    CHECK_RULE("GPUVA-151", NT_SUCCESS(vidmm_map_gpu_va(c->queue, &args)));
    mm_idle(rig);
    CHECK(mm_is_out(c, big) && args.VirtualAddress == 5ull << 30 && vidmm_validate(rig->vidmm));
}
