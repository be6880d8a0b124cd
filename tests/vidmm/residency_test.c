/* SPDX-License-Identifier: MIT */
/* Residency lists, and the paging queues behind them. */
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/wait.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* ---- MakeResident ---- */

TEST_WITH(mm, content_is_there_when_the_fence_is_reached)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);
    uint64_t fence = 99;

    rig->hold = true;
    CHECK_RULE("RES-014", mm_make_resident(c, &h, 1, 0, &fence) == STATUS_PENDING && fence == 1);
    sim_stall(1000000);
    CHECK_RULE("RES-014", c->fence == 0); /* still on the GPU */
    rig->hold = false;
    mm_release(rig);
    mm_wait_fence(c, fence);
    CHECK_RULE("RES-014", mm_in_vram(c, h) && mm_allocation(c, h)->ready);
    CHECK_RULE("RES-060", *(uint64_t *)(void *)mm_page(rig, mm_allocation(c, h), 255) == 0);
    CHECK_RULE("RES-060", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) >= 1);
    CHECK_RULE("RES-013", mm_make_resident(c, &h, 1, 0, &fence) == STATUS_SUCCESS && fence == 0);
}

TEST_WITH(mm, a_bad_element_leaves_all_counts)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[3];
    uint64_t fence;

    OK(mm_client_open(rig, 1, 0));
    list[0] = mm_vram(c, 1);
    list[1] = mm_vram(&rig->client[1], 1);
    list[2] = mm_vram(c, 1);
    CHECK_RULE("RES-012", mm_make_resident(c, list, 3, 0, &fence) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("RES-012", mm_open(c, list[0])->residency_count == 0 &&
                              mm_open(c, list[2])->residency_count == 0);
    list[1] = 0x999;
    CHECK_RULE("RES-012", mm_make_resident(c, list, 3, 0, &fence) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("RES-012", mm_make_resident(c, list, 1, 4, &fence) ==
                              STATUS_INVALID_PARAMETER); /* reserved bit */
    CHECK_RULE("RES-020", mm_make_resident(c, list, 1, 2, &fence) ==
                              STATUS_INVALID_PARAMETER); /* MustSucceed alone */
    CHECK(mm_open(c, list[0])->residency_count == 0);
}

TEST_WITH(mm, make_resident_counts)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[3] = {mm_vram(c, 1)};
    uint64_t fence;
    uint64_t trim;

    OK(mm_resident(c, list[0]));
    OK(mm_resident(c, list[0]));
    OK(mm_evict(c, list[0], 0));
    CHECK_RULE("RES-017", mm_open(c, list[0])->residency_count == 1 && mm_in_vram(c, list[0]));
    OK(mm_evict(c, list[0], 0));
    CHECK_RULE("RES-017", mm_open(c, list[0])->residency_count == 0 &&
                              list_empty(&mm_open(c, list[0])->residency_link));
    CHECK_RULE("RES-025", mm_evict(c, list[0], 0) == STATUS_INVALID_PARAMETER);
    list[1] = list[0];
    OK(mm_make_resident(c, list, 2, 0, &fence));
    CHECK_RULE("RES-022", mm_open(c, list[0])->residency_count == 2);
    list[1] = list[0];
    list[2] = list[0];
    CHECK_RULE("RES-025", vidmm_evict(c->device, list, 3, (D3DDDI_EVICT_FLAGS){0}, &trim) ==
                                  STATUS_INVALID_PARAMETER &&
                              mm_open(c, list[0])->residency_count == 2);
    CHECK_RULE("RES-024",
               vidmm_evict(c->device, list, 2, (D3DDDI_EVICT_FLAGS){0}, &trim) == STATUS_SUCCESS &&
                   trim == 0 && mm_open(c, list[0])->residency_count == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, make_resident_is_all_or_nothing)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[4];
    uint64_t fence = 7;
    uint64_t trim = 0;

    for (int i = 0; i < 4; i++)
        list[i] = mm_vram(c, 5);
    OK(mm_resident(c, list[0]));
    mm_mark(rig);
    CHECK_RULE("RES-015", vidmm_make_resident(c->queue, list, 4, (D3DDDI_MAKERESIDENT_FLAGS){0},
                                              &fence, &trim) == STATUS_NO_MEMORY);
    CHECK_RULE("RES-015", mm_open(c, list[0])->residency_count == 1 &&
                              mm_open(c, list[1])->residency_count == 0);
    CHECK_RULE("RES-015", trim == 4 * MM_MB); /* 20 wanted of 16 */
    mm_idle(rig);
    CHECK_RULE("RES-016", fence == 0 && mm_op_count(rig, -1) == 0);
    CHECK_RULE("RES-058", mm_make_resident(c, list, 4, 0, &fence) == STATUS_NO_MEMORY);
    CHECK_RULE("RES-018",
               mm_make_resident(c, list, 4, 1, &fence) == STATUS_NO_MEMORY && c->error == 0);
    OK(mm_resident(c, list[1])); /* the device works */
    CHECK_RULE("RES-020", mm_make_resident(c, list, 4, 3, &fence) == STATUS_NO_MEMORY);
    mm_idle(rig);
    CHECK_RULE("RES-020", c->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("GPUVA-073", mm_make_resident(c, list, 1, 0, &fence) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("GPUVA-073", mm_evict(c, list[0], 0) == STATUS_SUCCESS);
    CHECK(vidmm_validate(rig->vidmm));
}

/* ---- the list and the contexts ---- */

TEST_WITH(mm, contexts_wait_for_the_list)
{
    struct mm_client *c = &rig->client[0];
    struct mm_client *d;
    D3DKMT_HANDLE a = mm_vram(c, 10);
    D3DKMT_HANDLE b;
    uint64_t fence;

    rig->hold = true;
    CHECK(mm_make_resident(c, &a, 1, 0, &fence) == STATUS_PENDING);
    mm_submit(c);
    CHECK_RULE("RES-010", !mm_dispatch(c)); /* before the fence, without waiting for it */
    CHECK_RULE("PAGE-023", c->hardware == 0);
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("RES-010", c->resident_calls == 1 && mm_dispatch(c));
    mm_finish(c);

    /* Another device takes the memory while this one is idle; it gets it back before it runs. */
    mm_write_content(rig, mm_allocation(c, a), 3);
    OK(mm_client_open(rig, 1, 1));
    d = &rig->client[1];
    b = mm_vram(d, 10);
    OK(mm_resident(d, b));
    CHECK_RULE("RES-053", mm_is_out(c, a) && mm_in_vram(d, b));
    CHECK_RULE("RES-010", mm_open(c, a)->residency_count == 1 && c->device->missing == 1);
    mm_submit(c);
    CHECK_RULE("RES-010", !mm_dispatch(c));
    mm_idle(rig);
    CHECK_RULE("RES-010", c->resident_calls == 2 && mm_in_vram(c, a) && mm_dispatch(c));
    CHECK_RULE("RES-059", mm_check_content(rig, mm_allocation(c, a), 3));
    CHECK(mm_is_out(d, b) && d->device->missing == 1);
    CHECK(vidmm_validate(rig->vidmm));
}

/* Two devices whose lists do not fit together, both with work all the time: they take turns. */
TEST_WITH(mm, busy_devices_take_turns)
{
    D3DKMT_HANDLE h[2];
    unsigned ran[2] = {0, 0};

    OK(mm_client_open(rig, 1, 1));
    for (unsigned i = 0; i < 2; i++) {
        h[i] = mm_vram(&rig->client[i], 10);
        mm_submit(&rig->client[i]); /* never idle */
        OK(mm_make_resident(&rig->client[i], &h[i], 1, 0, &(uint64_t){0}));
    }
    for (unsigned step = 0; step < 400; step++) {
        for (unsigned i = 0; i < 2; i++) {
            if (!mm_dispatch(&rig->client[i]))
                continue;
            ran[i]++;
            mm_submit(&rig->client[i]); /* the next packet is queued already */
        }
        sim_stall(1000000);
        CHECK(vidmm_validate(rig->vidmm));
    }
    CHECK_RULE("RES-050", ran[0] > 5 && ran[1] > 5);
    CHECK_RULE("RES-050", rig->suspends > 5 && rig->suspends == rig->resumes);
}

/* ---- Evict ---- */

TEST_WITH(mm, evict_follows_the_gpu)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 2);
    D3DKMT_HANDLE keep = mm_vram(c, 2);
    D3DKMT_HANDLE big;

    OK(mm_resident(c, h));
    OK(mm_resident(c, keep));
    mm_write_content(rig, mm_allocation(c, h), 1);
    mm_write_content(rig, mm_allocation(c, keep), 2);
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("RES-026", mm_in_vram(c, h) && mm_check_content(rig, mm_allocation(c, h),
                                                               1)); /* the packet may use it */
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("RES-026", mm_is_out(c, h));
    CHECK_RULE("RES-027", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) >= 1);
    CHECK_RULE("RES-059", mm_check_content(rig, mm_allocation(c, h), 1));

    mm_mark(rig);
    OK(mm_evict(c, keep, 1));
    mm_idle(rig);
    CHECK_RULE("RES-027", mm_in_vram(c, keep) && mm_op_count(rig, -1) == 0);
    big = mm_vram(c, 15);
    OK(mm_resident(c, big));
    CHECK_RULE("RES-027", mm_is_out(c, keep) && mm_check_content(rig, mm_allocation(c, keep), 2));

    /* with the flag but a count left nothing changes */
    OK(mm_evict(c, big, 0));
    mm_idle(rig);
    OK(mm_resident(c, keep));
    OK(mm_resident(c, keep));
    OK(mm_evict(c, keep, 1));
    OK(mm_evict(c, keep, 0));
    mm_idle(rig);
    CHECK_RULE("RES-027", mm_is_out(c, keep));

    /* a second MakeResident before the GPU is done keeps it */
    OK(mm_resident(c, h));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_evict(c, h, 0));
    OK(mm_resident(c, h));
    mm_finish(c);
    mm_idle(rig);
    CHECK(mm_in_vram(c, h) && vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, hint_never_loses_content)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 8192);
    D3DKMT_HANDLE h = mm_create_ok(c, p);
    D3DKMT_HANDLE permanent;

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 8);
    OK(mm_evict(c, h, 2));
    mm_idle(rig);
    CHECK_RULE("RES-029", mm_is_out(c, h) && mm_check_content(rig, mm_allocation(c, h), 8));

    p.flags |= 2; /* PermanentSysMem: the system copy stays */
    permanent = mm_create_ok(c, p);
    OK(mm_resident(c, permanent));
    OK(mm_resident(c, permanent));
    mm_mark(rig);
    OK(mm_evict(c, permanent, 2));
    OK(mm_evict(c, permanent, 0));
    mm_idle(rig);
    CHECK_RULE("RES-028",
               mm_is_out(c, permanent) && mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    OK(mm_resident(c, permanent));
    mm_mark(rig);
    OK(mm_evict(c, permanent, 0));
    mm_idle(rig);
    CHECK_RULE("RES-028",
               mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 1); /* dirty by default */
}

/* ---- paging queues ---- */

static uint64_t urgent_fence, urgent_at, normal_at;

static void urgent_progress(void *context, uint64_t value)
{
    (void)context;
    urgent_fence = value;
    urgent_at = sim_now();
}

TEST_WITH(mm, queues_have_growing_fences)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_paging_queue *urgent;
    D3DKMT_HANDLE h[4];
    uint64_t fence[4];
    uint64_t trim;

    for (unsigned i = 0; i < 4; i++)
        h[i] = mm_vram(c, 1);
    CHECK_RULE("GPUVA-065",
               vidmm_paging_queue_create(c->device, (D3DDDI_PAGINGQUEUE_PRIORITY)2, NULL, NULL,
                                         &urgent) == STATUS_INVALID_PARAMETER);
    OK(vidmm_paging_queue_create(c->device, D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL,
                                 urgent_progress, NULL, &urgent));
    CHECK(vidmm_paging_queue_device(urgent) == c->device);
    urgent_fence = 0;
    rig->hold = true;
    for (unsigned i = 0; i < 3; i++)
        CHECK(mm_make_resident(c, &h[i], 1, 0, &fence[i]) == STATUS_PENDING);
    CHECK_RULE("RES-037", fence[0] == 1 && fence[1] == 2 && fence[2] == 3);
    CHECK(vidmm_make_resident(urgent, &h[3], 1, (D3DDDI_MAKERESIDENT_FLAGS){0}, &fence[3], &trim) ==
          STATUS_PENDING);
    CHECK_RULE("GPUVA-064", fence[3] == 1); /* a sequence of its own */
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("RES-037", c->fence == 3); /* progress() checks that values grow */
    CHECK_RULE("GPUVA-064", urgent_fence == 1);

    /* destroying waits */
    OK(mm_evict(c, h[3], 0));
    mm_idle(rig);
    CHECK(vidmm_make_resident(urgent, &h[3], 1, (D3DDDI_MAKERESIDENT_FLAGS){0}, &fence[3], &trim) ==
          STATUS_PENDING);
    vidmm_paging_queue_destroy(urgent);
    CHECK_RULE("RES-039", urgent_fence == fence[3] && mm_allocation(c, h[3])->ready);
}

static void order_progress(void *context, uint64_t value)
{
    (void)value;
    *(uint64_t *)context = sim_now();
}

TEST_WITH(mm, urgent_queue_goes_first)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_paging_queue *low;
    struct vidmm_paging_queue *high;
    D3DKMT_HANDLE h[3];
    uint64_t fence;
    uint64_t trim;

    OK(vidmm_paging_queue_create(c->device, D3DDDI_PAGINGQUEUE_PRIORITY_BELOW_NORMAL,
                                 order_progress, &normal_at, &low));
    OK(vidmm_paging_queue_create(c->device, D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL,
                                 order_progress, &urgent_at, &high));
    for (unsigned i = 0; i < 3; i++)
        h[i] = mm_vram(c, 1);
    mm_mark(rig);
    rig->vidmm->reset = true; /* jobs wait */
    CHECK(vidmm_make_resident(low, &h[0], 1, (D3DDDI_MAKERESIDENT_FLAGS){0}, &fence, &trim) ==
          STATUS_PENDING);
    CHECK(vidmm_make_resident(c->queue, &h[1], 1, (D3DDDI_MAKERESIDENT_FLAGS){0}, &fence, &trim) ==
          STATUS_PENDING);
    CHECK(vidmm_make_resident(high, &h[2], 1, (D3DDDI_MAKERESIDENT_FLAGS){0}, &fence, &trim) ==
          STATUS_PENDING);
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_idle(rig);
    /* in the order of the fills */
    CHECK_RULE("RES-036",
               mm_op_at(rig, DXGK_OPERATION_VIRTUAL_FILL, 0)->args.FillVirtual.hAllocation ==
                   mm_allocation(c, h[2])->driver_handle);
    vidmm_paging_queue_destroy(low);
    vidmm_paging_queue_destroy(high);
}

TEST_WITH(mm, losing_a_device_releases_waiters)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);
    uint64_t fence;

    rig->hold = true;
    CHECK(mm_make_resident(c, &h, 1, 0, &fence) == STATUS_PENDING);
    vidmm_device_set_lost(c->device);
    sim_stall(100000);
    CHECK_RULE("GPUVA-073", c->fence == fence); /* waiters are released */
    rig->hold = false;
    mm_release(rig);
}

/* ---- IOMMU ---- */

TEST_WITH(mm, pages_are_mapped_only_while_needed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_both(c, 1);
    D3DKMT_HANDLE system = mm_create_ok(c, mm_private_default(MM_SET_APERTURE, MM_MB));
    uint64_t mapped = iommu_domain_mapped_pages(rig->base.domain);

    OK(mm_resident(c, h));
    CHECK_RULE("RES-061", iommu_domain_mapped_pages(rig->base.domain) == mapped); /* all in VRAM */
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("RES-061", mm_is_out(c, h) && iommu_domain_mapped_pages(rig->base.domain) ==
                                                 mapped); /* only during the transfer */
    OK(mm_resident(c, system));
    CHECK_RULE("RES-061", iommu_domain_mapped_pages(rig->base.domain) == mapped + 256);
    rig->hold = true;
    OK(mm_evict(c, system, 0));
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("RES-061", iommu_domain_mapped_pages(rig->base.domain) == mapped);
    CHECK(rig->faults == 0);
}
TEST_ALSO(mm, pages_are_mapped_only_while_needed, isolated, options->iommu = IOMMU_ISOLATION)

/* ---- reset ---- */

TEST_WITH(mm, reset_purges_and_restores)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 8192);
    D3DKMT_HANDLE a;
    D3DKMT_HANDLE b;
    D3DKMT_HANDLE s;

    p.flags = 0x18000;
    a = mm_create_ok(c, p);
    p.flags = 0x8000;
    p.set = MM_SET_APERTURE;
    b = mm_create_ok(c, p);
    p.flags = 0;
    s = mm_create_ok(c, p);
    OK(mm_resident(c, a));
    OK(mm_resident(c, b));
    OK(mm_resident(c, s));
    mm_write_content(rig, mm_allocation(c, b), 2);
    mm_mark(rig);
    vidmm_device_set_lost(c->device);
    vidmm_reset_cleanup(rig->vidmm);
    CHECK_RULE(
        "RES-086",
        mm_op_count(rig, DXGK_OPERATION_NOTIFY_RESIDENCY) == 1 &&
            mm_op_at(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0)->args.NotifyResidency.Resident == 0);
    CHECK_RULE("RES-086", mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1);
    CHECK_RULE("RES-086", mm_op_count(rig, DXGK_OPERATION_TRANSFER) == 0 &&
                              mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    CHECK_RULE("TDR-051", mm_event_count(rig, MM_SUBMIT) == 0);
    CHECK_RULE("RES-085", mm_allocation(c, a)->content == CONTENT_NONE && mm_is_out(c, a) &&
                              mm_is_out(c, b) && mm_is_out(c, s));
    CHECK_RULE("TDR-083", mm_allocation(c, a)->absence == ABSENCE_RESET &&
                              mm_allocation(c, b)->absence == ABSENCE_RESET);
    CHECK_RULE("RES-085",
               mm_check_content(rig, mm_allocation(c, b), 2)); /* system pages keep theirs */
    mm_mark(rig);
    OK(vidmm_reset_restore(rig->vidmm));
    CHECK(vidmm_validate(rig->vidmm));

    /* Life goes on for a new device. */
    OK(mm_client_open(rig, 1, 0));
    c = &rig->client[1];
    a = mm_vram(c, 1);
    OK(mm_resident(c, a));
    CHECK(mm_allocation(c, a)->ready && rig->faults == 0);
}

TEST_WITH(mm, reset_with_physical_paging, options->physical = true, options->iommu = IOMMU_ISOLATION)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 8192);
    D3DKMT_HANDLE a;
    const struct mm_op *op;
    HANDLE handle;

    p.flags = 0x8000;
    a = mm_create_ok(c, p);
    OK(mm_resident(c, a));
    handle = mm_allocation(c, a)->driver_handle;
    mm_mark(rig);
    vidmm_device_set_lost(c->device);
    vidmm_reset_cleanup(rig->vidmm);
    op = mm_op_at(rig, DXGK_OPERATION_TRANSFER, 0);
    CHECK_RULE("RES-085", op && op->args.Transfer.TransferSize == 0 &&
                              op->args.Transfer.hAllocation == handle);
    CHECK_RULE("PAGE-037", mm_op_count(rig, DXGK_OPERATION_TRANSFER) == 1 &&
                               op->args.Transfer.Source.SegmentId == MM_VRAM);
    OK(vidmm_reset_restore(rig->vidmm));
}

/* ---- a loss of power ---- */

TEST_WITH(mm, a_loss_of_power_ends_what_was_begun)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE a = mm_vram(c, 4), b = mm_vram(c, 4), handles[1];
    uint64_t fence;

    OK(mm_resident(c, a));
    mm_write_content(rig, mm_allocation(c, a), 3);
    mm_mark(rig);
    /* One page-in that is still being built, and an allocation that is still to leave. */
    handles[0] = b;
    OK(mm_make_resident(c, handles, 1, 0, &fence));
    OK(mm_evict(c, a, 0));
    OK(vidmm_evacuate(rig->vidmm, NULL, true));
    CHECK(mm_event_count(rig, MM_SUBMIT) >= 2);
    CHECK_RULE("PAGE-019", mm_event_at(rig, MM_SUBMIT, 0)->flags == 0 &&
                               mm_event_at(rig, MM_SUBMIT, 1)->flags == 1);
    CHECK_RULE("RES-078", mm_is_out(c, a) && mm_is_out(c, b));
    CHECK_RULE("TDR-083", mm_allocation(c, b)->absence == ABSENCE_POWER);
    mm_mark(rig);
    sim_block(sim_now() + 1000000, NULL); /* the worker rests, although `a` was about to leave */
    CHECK_RULE("LIFE-156/c", mm_event_count(rig, MM_SUBMIT) == 0 && mm_op_count(rig, -1) == 0);
    OK(vidmm_return(rig->vidmm));
    OK(mm_resident(c, a));
    CHECK(mm_check_content(rig, mm_allocation(c, a), 3));
    CHECK_RULE("PAGE-019", mm_event_at(rig, MM_SUBMIT, 0)->flags == 0);
    CHECK(vidmm_validate(rig->vidmm));
}
TEST_ALSO(mm, a_loss_of_power_ends_what_was_begun, isolated, options->physical = true,
          options->iommu = IOMMU_ISOLATION)
