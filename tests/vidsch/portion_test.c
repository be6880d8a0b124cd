/* SPDX-License-Identifier: MIT */
/* Portions of DMA buffers, WDDM 1.x: the checks of the patch-location list, where a buffer is cut, what each portion is given. */
#include "support/render_client.h"

#include <string.h>

#define V13  .version = DXGKDDI_INTERFACE_VERSION_WDDM1_3
#define MANY 4u

/* A client with four allocations, elements 1 to 4 of its list; element 0 is none. */
struct scene {
    struct client client;
    struct vidmm_open *open[MANY];
};

static struct scene make_scene(struct fixture *f)
{
    struct scene s = {.client = make_client(f)};

    reference(&s.client, 0, NULL, false);
    for (UINT i = 0; i < MANY; i++) {
        s.open[i] = memory_open(f, s.client.device, 0x10000u * (i + 1));
        s.open[i]->listed = false; /* no client ever asks for it */
        reference(&s.client, i + 1, s.open[i], true);
    }
    return s;
}

static void end_scene(struct fixture *f, struct scene *s)
{
    idle(s->client.device);
    vidsch_device_destroy(s->client.device);
    for (UINT i = 0; i < MANY; i++)
        memory_close(f, s->open[i]);
    CHECK(f->mm.held == 0 && f->mm.kept == 0);
}

/* Element `i` of the client's patch-location list, which the driver copies. */
static void element(struct scene *s, UINT i, UINT slot, UINT allocation, UINT split, UINT patch)
{
    D3DDDI_PATCHLOCATIONLIST *e = &s->client.lists.patches[i];

    *e = (D3DDDI_PATCHLOCATIONLIST){.AllocationIndex = allocation,
                                    .DriverId = 0xD0 + i,
                                    .SplitOffset = split,
                                    .PatchOffset = patch};
    e->SlotId = slot & 0xFFFFFFu;
}

static NTSTATUS go(struct scene *s, UINT bytes, UINT elements)
{
    return render_lists(&s->client, bytes, MANY + 1, elements);
}

static const DXGKARG_PATCH *patched(const struct fixture *f, uint32_t n)
{
    CHECK(call_at(f, CALL_PATCH, n) != NULL);
    return &call_at(f, CALL_PATCH, n)->patch.args;
}

static const DXGKARG_SUBMITCOMMAND *sent(const struct fixture *f, uint32_t n)
{
    CHECK(call_at(f, CALL_SUBMIT, n) != NULL);
    return &call_at(f, CALL_SUBMIT, n)->submit;
}

static bool window_is(const struct fixture *f, uint32_t n, UINT start, UINT end)
{
    return patched(f, n)->DmaBufferSubmissionStartOffset == start &&
           patched(f, n)->DmaBufferSubmissionEndOffset == end &&
           sent(f, n)->DmaBufferSubmissionStartOffset == start &&
           sent(f, n)->DmaBufferSubmissionEndOffset == end;
}

static bool elements_are(const struct fixture *f, uint32_t n, UINT first, UINT count)
{
    return patched(f, n)->PatchLocationListSubmissionStart == first &&
           patched(f, n)->PatchLocationListSubmissionLength == count;
}

/* ---- the checks of the list ---- */

static void slots_and_split_points_are_checked(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 3, 1, 0, 0);
    CHECK_RULE("PATCH-104", go(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-104") == 0);
    element(&s, 0, 4, 1, 0, 0);
    CHECK_RULE("PATCH-104",
               go(&s, 64, 1) == STATUS_INVALID_PARAMETER && violations(f, "PATCH-104") == 1);
    element(&s, 0, 0, 0, 64, 999);
    CHECK_RULE("PATCH-112", go(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-112") == 0);
    CHECK_RULE("PATCH-110", violations(f, "PATCH-110") == 0);
    element(&s, 0, 0, 0, 65, 0);
    CHECK_RULE("PATCH-112",
               go(&s, 64, 1) == STATUS_INVALID_PARAMETER && violations(f, "PATCH-112") == 1);
    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 1, 2, 0, 4);
    element(&s, 2, 0, 3, 32, 32);
    element(&s, 3, 1, 4, 32, 36);
    CHECK_RULE("PATCH-113", go(&s, 64, 4) == STATUS_SUCCESS && violations(f, "PATCH-114") == 0);
    element(&s, 3, 1, 4, 31, 36);
    CHECK_RULE("PATCH-114",
               go(&s, 64, 4) == STATUS_INVALID_PARAMETER && violations(f, "PATCH-114") == 1);
    idle(s.client.device);
    CHECK_RULE("PATCH-104", calls_of(f, CALL_SUBMIT) == 3); /* what was dropped never went */
    end_scene(f, &s);
}

static void a_driver_without_slots_has_slot_0(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 0, 1, 0, 0);
    CHECK_RULE("PATCH-104", go(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-104") == 0);
    element(&s, 0, 1, 1, 0, 0);
    CHECK_RULE("PATCH-104",
               go(&s, 64, 1) == STATUS_INVALID_PARAMETER && violations(f, "PATCH-104") == 1);
    end_scene(f, &s);
}

static void odd_elements_are_told_and_go(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 0, 1, 32, 32);
    element(&s, 1, 1, 0, 48, 0);
    CHECK(go(&s, 64, 2) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-115", violations(f, "PATCH-115") == 0);
    element(&s, 0, 0, 1, 32, 31);
    CHECK_RULE("PATCH-115", go(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-115") == 1);
    element(&s, 0, 2, 1, 0, 0);
    element(&s, 1, 2, 1, 0, 4);
    element(&s, 2, 2, 0, 0, 0);
    element(&s, 3, 2, 2, 32, 32);
    CHECK(go(&s, 64, 4) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-118", violations(f, "PATCH-118") == 0);
    element(&s, 2, 2, 2, 0, 8);
    element(&s, 3, 2, 3, 32, 32);
    CHECK_RULE("PATCH-118", go(&s, 64, 4) == STATUS_SUCCESS && violations(f, "PATCH-118") == 1);
    element(&s, 0, 0, 1, 0, 0);
    s.client.lists.patches[0].AllocationOffset = 65536;
    CHECK(go(&s, 64, 1) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-108", violations(f, "PATCH-108") == 0);
    s.client.lists.patches[0].AllocationOffset = 65537;
    CHECK_RULE("PATCH-108", go(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-108") == 1);
    idle(s.client.device);
    CHECK_RULE("PATCH-115", calls_of(f, CALL_SUBMIT) == 6);
    end_scene(f, &s);
}

static void later_drivers_are_not_looked_at(struct fixture *f)
{
    struct scene s = make_scene(f);

    for (UINT i = 0; i < MANY; i++)
        s.open[i]->listed = true;
    element(&s, 0, 9, 1, 99, 0);
    element(&s, 1, 9, 2, 0, 4);
    f->mm.room = 1;
    CHECK_RULE("PATCH-130", go(&s, 64, 2) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-130", violations(f, "PATCH-104") + violations(f, "PATCH-112") +
                                    violations(f, "PATCH-114") + violations(f, "PATCH-115") ==
                                0);
    CHECK_RULE("PATCH-128", calls_of(f, CALL_SUBMIT) == 1 && f->mm.portions == 0);
    end_scene(f, &s);
}

/* ---- cutting ---- */

static void what_fits_is_one_portion(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 1, 2, 32, 32);
    f->mm.room = 2;
    CHECK(go(&s, 64, 2) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-120", calls_of(f, CALL_SUBMIT) == 1 && window_is(f, 0, 0, 64));
    CHECK_RULE("PATCH-149", elements_are(f, 0, 0, 2) && patched(f, 0)->PatchLocationListSize == 2);
    CHECK_RULE("RES-002", s.open[0]->listed && s.open[1]->listed);
    CHECK_RULE("PATCH-116", !s.open[2]->listed); /* in the allocation list alone */
    end_scene(f, &s);
}

static void a_buffer_is_cut_where_memory_ends(struct fixture *f)
{
    struct scene s = make_scene(f);
    const DXGKARG_PATCH *one, *two;

    element(&s, 0, 1, 1, 0, 8);
    element(&s, 1, 1, 2, 48, 52);
    element(&s, 2, 1, 2, 48, 56);
    f->mm.room = 1;
    CHECK(go(&s, 96, 3) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK(calls_of(f, CALL_PATCH) == 2 && calls_of(f, CALL_SUBMIT) == 2);
    one = patched(f, 0);
    two = patched(f, 1);
    CHECK_RULE("PATCH-121", window_is(f, 0, 0, 48) && window_is(f, 1, 48, 96));
    CHECK_RULE("PATCH-111", one->DmaBufferSubmissionEndOffset == 48);
    CHECK_RULE("PATCH-146",
               two->DmaBufferSubmissionStartOffset == one->DmaBufferSubmissionEndOffset);
    CHECK_RULE("PATCH-150", elements_are(f, 0, 0, 1) && elements_are(f, 1, 1, 2));
    CHECK_RULE("PATCH-149", one->pPatchLocationList == two->pPatchLocationList &&
                                one->PatchLocationListSize == 3 && two->PatchLocationListSize == 3);
    CHECK_RULE("PATCH-148", one->AllocationListSize == MANY + 1 &&
                                two->AllocationListSize == MANY + 1 &&
                                one->pAllocationList == two->pAllocationList);
    CHECK_RULE("PATCH-145", one->pDmaBuffer == two->pDmaBuffer && two->DmaBufferSize == 8192);
    CHECK_RULE("PATCH-144",
               one->DmaBufferPhysicalAddress.QuadPart == two->DmaBufferPhysicalAddress.QuadPart &&
                   sent(f, 1)->DmaBufferPhysicalAddress.QuadPart ==
                       one->DmaBufferPhysicalAddress.QuadPart);
    CHECK_RULE("PATCH-147", two->pDmaBufferPrivateData == one->pDmaBufferPrivateData &&
                                two->DmaBufferPrivateDataSubmissionStartOffset == 0 &&
                                two->DmaBufferPrivateDataSubmissionEndOffset == 32 &&
                                sent(f, 1)->DmaBufferPrivateDataSubmissionStartOffset == 0 &&
                                sent(f, 1)->DmaBufferPrivateDataSubmissionEndOffset == 32);
    CHECK_RULE("PATCH-109", call_at(f, CALL_PATCH, 1)->patch.patches[1].PatchOffset == 52 &&
                                call_at(f, CALL_PATCH, 1)->patch.patches[1].SplitOffset == 48);
    CHECK_RULE("PATCH-125",
               sent(f, 0)->SubmissionFenceId == 1 && sent(f, 1)->SubmissionFenceId == 2);
    CHECK_RULE("PATCH-153", one->SubmissionFenceId == 1 && two->SubmissionFenceId == 2);
    CHECK_RULE("PATCH-103", violations(f, "PATCH-135") == 0); /* B took the slot of A */
    CHECK_RULE("PATCH-042", one->pDmaBufferPrivateData == two->pDmaBufferPrivateData);
    end_scene(f, &s);
}

static void elements_of_one_split_point_stay_together(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 0, 2, 32, 32);
    element(&s, 2, 1, 3, 32, 36); /* the one without room */
    element(&s, 3, 0, 4, 64, 64);
    element(&s, 4, 1, 3, 64, 68);
    f->mm.room = 2;
    CHECK(go(&s, 96, 5) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-121", window_is(f, 0, 0, 32) && elements_are(f, 0, 0, 1));
    CHECK_RULE("PATCH-124", calls_of(f, CALL_SUBMIT) == 3 && window_is(f, 1, 32, 64) &&
                                elements_are(f, 1, 1, 2) && window_is(f, 2, 64, 96) &&
                                elements_are(f, 2, 3, 2));
    end_scene(f, &s);
}

static void what_never_fits_costs_the_device(struct fixture *f)
{
    struct scene s = make_scene(f);
    struct scene other = make_scene(f);

    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 0, 2, 32, 32);
    element(&s, 2, 1, 3, 32, 36);
    f->mm.room = 1;
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    vidsch_device_drain(s.client.device, NULL);
    CHECK_RULE("PATCH-124", calls_of(f, CALL_SUBMIT) == 1 && window_is(f, 0, 0, 32) &&
                                vidsch_device_state(s.client.device) ==
                                    D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("RES-005", go(&s, 64, 3) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    element(&other, 0, 0, 1, 0, 0);
    CHECK_RULE("RES-005", go(&other, 64, 1) == STATUS_SUCCESS);
    idle(other.client.device);
    CHECK_RULE("RES-005", calls_of(f, CALL_SUBMIT) == 2);
    end_scene(f, &other);
    end_scene(f, &s);
}

static void nothing_goes_before_it_is_there(struct fixture *f)
{
    struct scene s = make_scene(f);

    s.client.device->mm->missing = true;
    element(&s, 0, 0, 1, 0, 0);
    CHECK(go(&s, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("RES-002", f->mm.portions == 1 && calls_of(f, CALL_PATCH) == 0);
    s.client.device->mm->missing = false;
    vidsch_for_vidmm.device_resident(s.client.device->mm);
    idle(s.client.device);
    CHECK_RULE("RES-002", calls_of(f, CALL_SUBMIT) == 1);
    CHECK_RULE("PATCH-139", calls_of(f, CALL_PATCH) == 1 && f->mm.portions == 2);
    end_scene(f, &s);
}

/* ---- bindings over a split point ---- */

/* A in slot 1, B and C in slot 2, which do not fit beside each other and A: cut at 32. */
static void bind_over_the_split(struct scene *s, struct fixture *f)
{
    element(s, 0, 1, 1, 0, 0);
    element(s, 1, 2, 2, 0, 4);
    element(s, 2, 2, 3, 32, 32);
    f->mm.room = 2;
}

static void a_binding_that_leaks_is_refused(struct fixture *f)
{
    struct scene s = make_scene(f);

    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    vidsch_device_drain(s.client.device, NULL);
    CHECK_RULE("PATCH-133", calls_of(f, CALL_SUBMIT) == 1 && window_is(f, 0, 0, 32));
    CHECK_RULE("PATCH-134", calls_of(f, CALL_PATCH) == 1);
    CHECK_RULE("PATCH-135",
               violations(f, "PATCH-135") == 1 &&
                   vidsch_device_state(s.client.device) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("PATCH-135", verify_record_at(f->log, 0)->code == 0x10E &&
                                verify_record_at(f->log, 0)->parameter[0] == 0x27 &&
                                verify_record_at(f->log, 0)->parameter[1] == 1 &&
                                verify_record_at(f->log, 0)->parameter[2] == s.open[0]->handle &&
                                verify_record_at(f->log, 0)->parameter[3] == 32);
    end_scene(f, &s);
}

static void a_slot_that_is_emptied_does_not_leak(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 1, 1, 0, 0);
    element(&s, 1, 2, 2, 0, 4);
    element(&s, 2, 1, 0, 32, 0);
    element(&s, 3, 2, 3, 32, 32);
    f->mm.room = 2;
    CHECK(go(&s, 64, 4) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-117", violations(f, "PATCH-135") == 0 && window_is(f, 1, 32, 64));
    CHECK_RULE("PATCH-133", elements_are(f, 1, 2, 2));
    end_scene(f, &s);
}

/* The drivers of Windows 7: the binding stays, and so does the allocation. */
static void a_binding_may_stay(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.engine[0].hang = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-136", calls_of(f, CALL_SUBMIT) == 2 && violations(f, "PATCH-135") == 0);
    CHECK_RULE("PATCH-122", f->mm.kept == 1 && f->mm.last_kept == s.open[0]->handle);
    driver_run(f, 0);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", f->mm.kept == 0);
    element(&s, 3, 1, 1, 32, 36); /* bound anew: it may move */
    f->driver.engine[0].hang = true;
    f->mm.room = 2;
    CHECK(go(&s, 64, 4) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-123", calls_of(f, CALL_SUBMIT) == 4 && f->mm.kept == 0);
    driver_run(f, 0);
    end_scene(f, &s);
}

/* Neither drivers of before WDDM 1.2 nor those that do not take preemption have to bind anew. */
static void older_drivers_may_leave_bindings(struct fixture *f)
{
    struct scene s = make_scene(f);

    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-133", calls_of(f, CALL_SUBMIT) == 2 && violations(f, "PATCH-135") == 0);
    end_scene(f, &s);
}

/* ---- the test switch ---- */

static void every_split_point_can_be_forced(struct fixture *f)
{
    struct scene s = make_scene(f);
    static const UINT ends[] = {32, 40, 64};

    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 0, 1, 32, 32);
    element(&s, 2, 1, 2, 32, 36);
    element(&s, 3, 0, 1, 40, 40);
    element(&s, 4, 1, 2, 40, 44);
    element(&s, 5, 0, 0, 64, 0);
    CHECK(go(&s, 64, 6) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-132", calls_of(f, CALL_SUBMIT) == 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_RULE("PATCH-132", window_is(f, i, i ? ends[i - 1] : 0, ends[i]));
    CHECK_RULE("PATCH-150",
               elements_are(f, 0, 0, 1) && elements_are(f, 1, 1, 2) && elements_are(f, 2, 3, 3));
    CHECK_RULE("PATCH-127", f->vidsch->config.caps.PreemptionAware);
    element(&s, 0, 0, 1, 8, 8); /* the first bytes need nothing */
    CHECK(go(&s, 64, 1) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-132", window_is(f, 3, 0, 8) && elements_are(f, 3, 0, 0) &&
                                window_is(f, 4, 8, 64) && elements_are(f, 4, 0, 1));
    end_scene(f, &s);
}

/* Each has a buffer of two portions; the node takes one packet; the second, more important one comes
 * while the first portion of the other runs. */
static void two_buffers(struct fixture *f, struct scene *a, struct scene *b)
{
    vidsch_context_set_priority(b->client.context, 7);
    f->driver.engine[0].hang = true;
    for (int i = 0; i < 2; i++) {
        struct scene *s = i ? b : a;

        element(s, 0, 0, 1, 0, 0);
        element(s, 1, 0, 1, 32, 32);
        CHECK(go(s, 64, 2) == STATUS_SUCCESS);
        pass(MS);
    }
    driver_run(f, 0);
    idle(a->client.device);
    idle(b->client.device);
    CHECK(calls_of(f, CALL_SUBMIT) == 4);
}

static bool is_of(const struct fixture *f, uint32_t n, const struct scene *s)
{
    return sent(f, n)->hContext == s->client.context->mm.driver_handle;
}

static void others_may_run_between_portions(struct fixture *f)
{
    struct scene a = make_scene(f), b = make_scene(f);

    two_buffers(f, &a, &b);
    CHECK_RULE("PATCH-126",
               is_of(f, 0, &a) && is_of(f, 1, &b) && is_of(f, 2, &b) && is_of(f, 3, &a));
    CHECK_RULE("PATCH-126", window_is(f, 1, 0, 32) && window_is(f, 3, 32, 64));
    end_scene(f, &a);
    end_scene(f, &b);
}

static void only_paging_runs_between_portions_without_preemption(struct fixture *f)
{
    struct scene a = make_scene(f), b = make_scene(f);
    uint64_t ticket;

    two_buffers(f, &a, &b);
    CHECK_RULE("PATCH-126",
               is_of(f, 0, &a) && is_of(f, 1, &a) && is_of(f, 2, &b) && is_of(f, 3, &b));
    f->driver.engine[0].hang = true;
    CHECK(go(&a, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    ticket = page(f, 64);
    driver_run(f, 0);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    idle(a.client.device);
    CHECK_RULE("PATCH-125", sent(f, 4)->Flags.Paging == 0 && sent(f, 5)->Flags.Paging == 1 &&
                                sent(f, 6)->Flags.Paging == 0 && window_is(f, 6, 32, 64));
    end_scene(f, &a);
    end_scene(f, &b);
}

static void the_rest_of_a_lost_buffer_lets_others_run(struct fixture *f)
{
    struct scene a = make_scene(f), b = make_scene(f);
    const DXGKARG_CANCELCOMMAND *cancelled;

    f->driver.engine[0].hang = true;
    element(&a, 0, 0, 1, 0, 0);
    element(&a, 1, 0, 2, 32, 32);
    CHECK(go(&a, 64, 2) == STATUS_SUCCESS);
    element(&b, 0, 0, 1, 0, 0);
    CHECK(go(&b, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    vidsch_device_mark_error(a.client.device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    pass(MS);
    cancelled = &call_at(f, CALL_CANCEL, 0)->cancel;
    CHECK_RULE("TDR-063", calls_of(f, CALL_CANCEL) == 1 &&
                              cancelled->DmaBufferSubmissionStartOffset == 32 &&
                              cancelled->DmaBufferSubmissionEndOffset == 64 &&
                              cancelled->PatchLocationListSubmissionStart == 1 &&
                              cancelled->PatchLocationListSubmissionLength == 1);
    driver_run(f, 0);
    idle(b.client.device);
    CHECK_RULE("PATCH-126", is_of(f, 1, &b));
    end_scene(f, &b);
    end_scene(f, &a);
}

/* ---- one piece of work ---- */

static void a_signal_waits_for_the_last_portion(struct fixture *f)
{
    struct scene s = make_scene(f);
    struct vidsch_sync *fence = make_fence(s.client.device, 0);
    D3DKMT_RENDER args = {.CommandLength = 64, .AllocationCount = 2, .PatchLocationCount = 2};

    f->driver.engine[0].hang = true;
    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 0, 1, 32, 32);
    args.Flags.NullRendering = 1;
    CHECK(vidsch_render(s.client.context, &args) == STATUS_SUCCESS);
    CHECK(signal_gpu(s.client.context, fence, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2 && vidsch_validate(f->vidsch));
    CHECK_RULE("PATCH-096", sent(f, 0)->Flags.NullRendering && sent(f, 1)->Flags.NullRendering &&
                                patched(f, 1)->Flags.NullRendering);
    driver_complete(f, 0, 1);
    pass(MS);
    CHECK(vidsch_validate(f->vidsch));
    CHECK_RULE("PATCH-125", vidsch_sync_value(fence) == 0);
    driver_complete(f, 0, 2);
    pass(MS);
    CHECK_RULE("PATCH-125", vidsch_sync_value(fence) == 1);
    f->driver.engine[0].count = 0;
    f->driver.engine[0].hang = false;
    vidsch_sync_destroy(fence);
    end_scene(f, &s);
}

static void answer(struct fixture *f, UINT id, UINT completed)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    data.DmaPreempted.PreemptionFenceId = id;
    data.DmaPreempted.LastCompletedFenceId = completed;
    f->driver.engine[0].count = 0;
    f->driver.engine[0].completed = completed;
    driver_notify_now(f, &data);
}

static void a_preempted_portion_goes_as_it_was(struct fixture *f)
{
    struct scene s = make_scene(f), high = make_scene(f);
    UINT id;

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 0, 2, 32, 32);
    f->mm.room = 1;
    CHECK(go(&s, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2);
    f->mm.room = 0; /* it would fit as a whole now */
    element(&high, 0, 0, 1, 0, 0);
    CHECK(go(&high, 64, 1) == STATUS_SUCCESS);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1);
    id = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = false;
    s.open[0]->place.physical = 0x990000; /* moved meanwhile */
    answer(f, id, 0);
    idle(s.client.device);
    idle(high.client.device);
    CHECK_RULE("PATCH-158", calls_of(f, CALL_PATCH) == 5 && window_is(f, 3, 0, 32) &&
                                elements_are(f, 3, 0, 1) && window_is(f, 4, 32, 64) &&
                                elements_are(f, 4, 1, 1));
    CHECK_RULE("PATCH-158",
               patched(f, 3)->SubmissionFenceId > id &&
                   patched(f, 4)->SubmissionFenceId == patched(f, 3)->SubmissionFenceId + 1);
    CHECK_RULE("PATCH-158",
               call_at(f, CALL_PATCH, 3)->patch.list[1].PhysicalAddress.QuadPart == 0x990000);
    end_scene(f, &high);
    end_scene(f, &s);
}

/* ---- contexts that wait for the one that keeps memory in place ---- */

/* Another context of the device, with the same allocations. */
static struct scene beside(struct scene *s, UINT node)
{
    struct scene other = *s;

    other.client.context = make_context(s->client.device, node);
    vidsch_context_lists(other.client.context, &other.client.lists);
    for (UINT i = 0; i <= MANY; i++)
        other.client.lists.allocations[i] = s->client.lists.allocations[i];
    return other;
}

/* The more important context of the same device waits for the keeper, and does not hold it up. */
static void a_keeper_goes_before_its_device(struct fixture *f)
{
    struct scene s = make_scene(f), high = beside(&s, 0);

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    bind_over_the_split(&high, f);
    CHECK(go(&high, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && f->mm.kept == 1);
    driver_run(f, 0);
    idle(s.client.device);
    CHECK_RULE("PATCH-122",
               is_of(f, 0, &s) && is_of(f, 1, &s) && is_of(f, 2, &high) && is_of(f, 3, &high));
    CHECK_RULE("PATCH-122", window_is(f, 1, 32, 64) && window_is(f, 3, 32, 64));
    end_scene(f, &s);
}

/* Who waits for the keeper asks for no memory of that device meanwhile: nobody could tell then whose
 * turn it is. What its driver would have been told is the whole buffer. */
static void who_waits_for_a_keeper_asks_for_nothing(struct fixture *f)
{
    struct scene s = make_scene(f), more = beside(&s, 1), other = make_scene(f);
    const DXGKARG_CANCELCOMMAND *cancelled;
    uint64_t asked;

    f->driver.engine[0].hang = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    asked = f->mm.portions;
    element(&more, 0, 0, 4, 0, 0);
    CHECK(go(&more, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-122", f->mm.portions == asked && calls_of(f, CALL_SUBMIT) == 2);
    vidsch_context_set_priority(other.client.context, 1);
    bind_over_the_split(&other, f);
    driver_complete(f, 0, 1);
    CHECK(go(&other, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-122", f->mm.portions > asked && calls_of(f, CALL_SUBMIT) == 2);
    CHECK(vidsch_validate(f->vidsch));
    vidsch_device_mark_error(other.client.device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    pass(MS);
    cancelled = &call_at(f, CALL_CANCEL, 0)->cancel;
    CHECK_RULE("TDR-063", calls_of(f, CALL_CANCEL) == 1 &&
                              cancelled->DmaBufferSubmissionStartOffset == 0 &&
                              cancelled->DmaBufferSubmissionEndOffset == 64 &&
                              cancelled->PatchLocationListSubmissionStart == 0 &&
                              cancelled->PatchLocationListSubmissionLength == 3);
    f->driver.engine[0].count = 0;
    f->driver.engine[0].hang = false;
    driver_complete(f, 0, 2);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 3 && is_of(f, 2, &more));
    end_scene(f, &other);
    end_scene(f, &s);
}

/* The end of the keeping is no news for those whose memory is not there. */
static void only_who_waits_for_the_keeper_goes_on(struct fixture *f)
{
    struct scene s = make_scene(f), other = make_scene(f), missing = make_scene(f);
    uint64_t asked;

    f->driver.engine[0].hang = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    missing.client.device->mm->missing = true;
    f->driver.engine[0].count = 0;
    element(&missing, 0, 0, 1, 0, 0);
    driver_complete(f, 0, 1);
    CHECK(go(&missing, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    asked = f->mm.portions;
    f->driver.engine[0].hang = false;
    driver_complete(f, 0, 2);
    pass(MS);
    CHECK_RULE("RES-002", f->mm.portions == asked && f->mm.kept == 0);
    missing.client.device->mm->missing = false;
    vidsch_for_vidmm.device_resident(missing.client.device->mm);
    idle(missing.client.device);
    end_scene(f, &missing);
    end_scene(f, &other);
    end_scene(f, &s);
}

/* A process whose device keeps memory is suspended while another of its contexts waits for that. */
static void a_suspended_keeper_goes_on(struct fixture *f)
{
    struct scene s = make_scene(f), more = beside(&s, 1);

    f->driver.engine[0].hang = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    bind_over_the_split(&more, f);
    CHECK(go(&more, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1);
    driver_run(f, 0);
    CHECK(vidsch_for_vidmm.process_suspend(&f->client) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && vidsch_validate(f->vidsch));
    vidsch_for_vidmm.process_resume(&f->client);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4 && is_of(f, 1, &s) && is_of(f, 2, &more));
    end_scene(f, &s);
}

/* Whose memory stays in place is let out before clients are held back. */
static void a_keeper_ends_before_clients_stand_still(struct fixture *f)
{
    struct scene s = make_scene(f);
    uint32_t depth = f->vidsch->node[0].depth;

    f->driver.engine[0].run_ns = 10 * MS;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == depth && f->mm.kept == 1);
    CHECK(vidsch_hold_clients(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 2 && f->mm.kept == 0);
    vidsch_release_clients(f->vidsch);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4);
    end_scene(f, &s);
}

static void a_keeper_with_two_packets(struct fixture *f)
{
    a_keeper_ends_before_clients_stand_still(f);
}

/* The keeper goes to its own node, when that has room. */
static void a_keeper_is_let_out_to_its_node(struct fixture *f)
{
    struct scene s = make_scene(f), other = make_scene(f);
    struct scene busy = beside(&other, 1);

    f->driver.engine[0].run_ns = 30 * MS;
    f->driver.engine[1].run_ns = 10 * MS;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    element(&busy, 0, 0, 1, 0, 0);
    for (int i = 0; i < 3; i++)
        CHECK(go(&busy, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2 && f->mm.kept == 1);
    CHECK(vidsch_hold_clients(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 3 && is_of(f, 2, &s) &&
                                f->vidsch->node[0].last_completed == 2 &&
                                f->vidsch->node[1].last_completed == 1);
    vidsch_release_clients(f->vidsch);
    idle(other.client.device);
    end_scene(f, &other);
    end_scene(f, &s);
}

/* ---- a portion that is with the driver while things happen ---- */

static struct vidsch_device *to_lose;

static NTSTATUS lose_and_close(struct fixture *f, const DXGKARG_PATCH *args)
{
    if (args->DmaBufferSubmissionStartOffset == 0)
        return STATUS_SUCCESS;
    vidsch_device_mark_error(to_lose, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    f->driver.on_patch = NULL;
    vidsch_want_engine_reset(&f->vidsch->node[0], RECOVER_FORCED);
    return STATUS_SUCCESS;
}

/* The node is closed and the device lost while the second portion is patched. */
static void a_lost_context_does_not_keep_the_node(struct fixture *f)
{
    struct scene a = make_scene(f), b = make_scene(f);

    to_lose = a.client.device;
    f->driver.on_patch = lose_and_close;
    element(&a, 0, 0, 1, 0, 0);
    element(&a, 1, 0, 1, 32, 32);
    element(&a, 2, 0, 1, 48, 48);
    CHECK(go(&a, 64, 3) == STATUS_SUCCESS);
    vidsch_device_drain(a.client.device, NULL);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && calls_of(f, CALL_PATCH) == 2);
    pass(MS);
    CHECK(vidsch_validate(f->vidsch));
    element(&b, 0, 0, 1, 0, 0);
    CHECK(go(&b, 64, 1) == STATUS_SUCCESS);
    pass(SECOND);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 2 && is_of(f, 1, &b));
    end_scene(f, &b);
    end_scene(f, &a);
}

/* What a portion may have is what it had when the driver first saw it. */
static void a_portion_wants_what_it_had(struct fixture *f)
{
    struct scene s = make_scene(f);

    element(&s, 0, 0, 1, 0, 0);
    element(&s, 1, 0, 2, 32, 32);
    f->mm.room = 1;
    f->driver.engine[0].hang = true;
    CHECK(go(&s, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-158", node_in_flight(&f->vidsch->node[0], 0)->portion->mm.wanted == 1 &&
                                node_in_flight(&f->vidsch->node[0], 1)->portion->mm.wanted == 1);
    driver_run(f, 0);
    end_scene(f, &s);
}

/* Several portions keep memory at once: it ends with the last of them. Who keeps none goes meanwhile. */
static void the_last_one_that_keeps_ends_it(struct fixture *f)
{
    struct scene s = make_scene(f), first = make_scene(f);
    struct scene other = beside(&first, 1), free = beside(&first, 1);

    f->driver.engine[0].hang = true;
    bind_over_the_split(&s, f);
    element(&s, 3, 3, 2, 32, 36);
    element(&s, 4, 2, 4, 48, 48);
    CHECK(go(&s, 64, 5) == STATUS_SUCCESS);
    pass(MS);
    driver_complete(f, 0, 1);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 3 && f->mm.kept == 3);
    bind_over_the_split(&other, f);
    CHECK(go(&other, 64, 3) == STATUS_SUCCESS);
    element(&free, 0, 0, 1, 0, 0);
    CHECK(go(&free, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4 && is_of(f, 3, &free));
    driver_complete(f, 0, 2);
    pass(MS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4 && f->mm.kept == 2);
    f->driver.engine[0].count = 0;
    f->driver.engine[0].hang = false;
    driver_complete(f, 0, 3);
    idle(s.client.device);
    idle(first.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 6 && is_of(f, 5, &other));
    end_scene(f, &first);
    end_scene(f, &s);
}

static NTSTATUS held;

static void hold_clients(void *arg)
{
    struct fixture *f = arg;

    held = vidsch_hold_clients(f->vidsch, SECOND);
}

/* Also a first portion that was preempted goes again before clients stand still. */
static void a_preempted_keeper_ends_first(struct fixture *f)
{
    struct scene s = make_scene(f), high = make_scene(f);
    struct sim_thread *holder;
    UINT id;

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    element(&high, 0, 0, 1, 0, 0);
    CHECK(go(&high, 64, 1) == STATUS_SUCCESS);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && calls_of(f, CALL_PREEMPT) == 1);
    holder = spawn(f, hold_clients, f);
    pass(MS);
    id = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = false;
    answer(f, id, 0);
    join(holder);
    CHECK_RULE("PATCH-122", held == STATUS_SUCCESS && calls_of(f, CALL_SUBMIT) == 3 &&
                                is_of(f, 1, &s) && is_of(f, 2, &s));
    CHECK_RULE("PATCH-158", f->mm.returned == 1 && window_is(f, 1, 0, 32));
    vidsch_release_clients(f->vidsch);
    idle(high.client.device);
    end_scene(f, &high);
    end_scene(f, &s);
}

static void suspend_client(void *arg)
{
    CHECK(vidsch_for_vidmm.process_suspend(arg) == STATUS_SUCCESS);
}

/* ... but not while its process is suspended. */
static void a_suspended_keeper_is_not_let_out(struct fixture *f)
{
    struct scene s = make_scene(f);
    struct vidsch_device *device = make_device_of(f, &f->other_client);
    struct sim_thread *holder, *suspender;

    f->driver.engine[0].hang = true;
    bind_over_the_split(&s, f);
    CHECK(go(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(render(make_context(device, 0), 64) == STATUS_SUCCESS);
    suspender = spawn(f, suspend_client, &f->client);
    holder = spawn(f, hold_clients, f);
    pass(MS);
    driver_run(f, 0);
    pass(10 * MS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 1 && f->mm.kept == 1);
    join(suspender);
    vidsch_for_vidmm.process_resume(&f->client);
    join(holder);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 2 && is_of(f, 1, &s));
    vidsch_release_clients(f->vidsch);
    vidsch_device_drain(device, NULL);
    vidsch_device_destroy(device);
    end_scene(f, &s);
}

static uint32_t close_at; /* a Patch during which the node is closed */

static NTSTATUS close_node(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)args;
    if (calls_of(f, CALL_PATCH) == close_at)
        f->vidsch->node[0].stopped = true;
    return STATUS_SUCCESS;
}

/* The node is closed while a portion is patched: before the first one others may go, before the last
 * one they may not. */
static void closed_during_patch(struct fixture *f, uint32_t at)
{
    struct scene a = make_scene(f), b = make_scene(f);

    close_at = at;
    f->driver.on_patch = close_node;
    vidsch_context_set_priority(b.client.context, 7);
    element(&a, 0, 0, 1, 0, 0);
    element(&a, 1, 0, 1, 32, 32);
    CHECK(go(&a, 64, 2) == STATUS_SUCCESS);
    pass(10 * MS);
    CHECK(calls_of(f, CALL_SUBMIT) == at - 1 && calls_of(f, CALL_PATCH) == at);
    element(&b, 0, 0, 1, 0, 0);
    CHECK(go(&b, 64, 1) == STATUS_SUCCESS);
    f->vidsch->node[0].stopped = false;
    vidsch_kick(&f->vidsch->node[0]);
    idle(a.client.device);
    idle(b.client.device);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 3 && is_of(f, at == 1 ? 0 : 2, &b));
    end_scene(f, &b);
    end_scene(f, &a);
}

static void closed_during_the_first_patch(struct fixture *f)
{
    closed_during_patch(f, 1);
}

static void closed_during_the_last_patch(struct fixture *f)
{
    closed_during_patch(f, 2);
}

/* The last portion comes back from an engine reset that was for nobody's packet. */
static void a_portion_back_from_a_reset_keeps_the_node(struct fixture *f)
{
    struct scene a = make_scene(f), b = make_scene(f);

    vidsch_context_set_priority(b.client.context, 7);
    f->driver.engine[0].hang = true;
    element(&a, 0, 0, 1, 0, 0);
    element(&a, 1, 0, 1, 32, 32);
    CHECK(go(&a, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    driver_complete(f, 0, 1);
    pass(MS);
    element(&b, 0, 0, 1, 0, 0);
    CHECK(go(&b, 64, 1) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2);
    f->driver.aborted = 1;
    f->driver.engine[0].hang = false;
    CHECK(vidsch_force_engine_reset(f->vidsch, 0) == STATUS_SUCCESS);
    idle(a.client.device);
    idle(b.client.device);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 4 && is_of(f, 2, &a) && is_of(f, 3, &b) &&
                                window_is(f, 2, 32, 64));
    end_scene(f, &b);
    end_scene(f, &a);
}

static void memory_that_runs_out_loses_nothing(struct fixture *f)
{
    uint32_t cancelled = 0;

    for (uint64_t n = 1;; n++) {
        struct scene s = make_scene(f);
        uint64_t requests;
        NTSTATUS status;

        element(&s, 0, 1, 1, 0, 0);
        element(&s, 1, 2, 2, 0, 4);
        element(&s, 2, 2, 3, 32, 32);
        f->mm.room = 2;
        f->sim->heap.fail_at = f->sim->heap.requests + n;
        status = go(&s, 64, 3);
        vidsch_device_drain(s.client.device, NULL);
        requests = f->sim->heap.fail_at - f->sim->heap.requests;
        f->sim->heap.fail_at = 0;
        CHECK(status == STATUS_SUCCESS || status == STATUS_NO_MEMORY);
        CHECK(vidsch_validate(f->vidsch));
        if (vidsch_device_state(s.client.device) != D3DKMT_DEVICEEXECUTION_ACTIVE)
            CHECK_RULE("PATCH-124", vidsch_device_state(s.client.device) ==
                                        D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
        if (calls_of(f, CALL_CANCEL) > cancelled) /* nothing of it was sent */
            CHECK_RULE("TDR-063",
                       last_call(f, CALL_CANCEL)->cancel.DmaBufferSubmissionEndOffset == 64 &&
                           last_call(f, CALL_CANCEL)->cancel.PatchLocationListSubmissionLength == 3);
        cancelled = calls_of(f, CALL_CANCEL);
        end_scene(f, &s);
        if (requests > 0 && requests < UINT32_MAX) {
            CHECK(cancelled > 0);
            return; /* none was left to fail */
        }
    }
}

TEST(slots_and_split_points_are_checked, V13, .max_slot = 3)
TEST(a_driver_without_slots_has_slot_0, V13)
TEST(odd_elements_are_told_and_go, V13, .max_slot = 3)
TEST(later_drivers_are_not_looked_at, 0)
TEST(what_fits_is_one_portion, V13, .max_slot = 3)
TEST(a_buffer_is_cut_where_memory_ends, V13, .max_slot = 3)
TEST(elements_of_one_split_point_stay_together, V13, .max_slot = 3)
TEST(what_never_fits_costs_the_device, V13, .max_slot = 3)
TEST(nothing_goes_before_it_is_there, V13, .max_slot = 3)
TEST(a_binding_that_leaks_is_refused, V13, .max_slot = 3)
TEST(a_slot_that_is_emptied_does_not_leak, V13, .max_slot = 3)
TEST(a_binding_may_stay, V13, .max_slot = 3, .no_dma_patching = true)
static void windows_7(struct fixture *f)
{
    older_drivers_may_leave_bindings(f);
}

static void without_preemption(struct fixture *f)
{
    older_drivers_may_leave_bindings(f);
}

TEST(windows_7, .version = DXGKDDI_INTERFACE_VERSION_WIN7, .max_slot = 3)
TEST(without_preemption, V13, .max_slot = 3, .no_preemption = true)
TEST(every_split_point_can_be_forced, V13, .max_slot = 3, .split = true)
TEST(others_may_run_between_portions, V13, .max_slot = 3, .split = true, .depth = 1)
TEST(only_paging_runs_between_portions_without_preemption, V13, .max_slot = 3, .split = true,
     .depth = 1, .no_preemption = true, .physical_paging = true)
TEST(the_rest_of_a_lost_buffer_lets_others_run, V13, .max_slot = 3, .split = true, .depth = 1,
     .no_preemption = true, .cancel_aware = true)
TEST(a_signal_waits_for_the_last_portion, V13, .max_slot = 3, .split = true)
TEST(a_preempted_portion_goes_as_it_was, V13, .max_slot = 3)
TEST(a_keeper_goes_before_its_device, V13, .max_slot = 3, .no_dma_patching = true, .depth = 1)
TEST(who_waits_for_a_keeper_asks_for_nothing, V13, .max_slot = 3, .no_dma_patching = true,
     .nodes = 3, .virtual_mask = 4, .physical_paging = true, .cancel_aware = true, .depth = 2)
TEST(only_who_waits_for_the_keeper_goes_on, V13, .max_slot = 3, .no_dma_patching = true)
TEST(a_suspended_keeper_goes_on, V13, .max_slot = 3, .no_dma_patching = true, .nodes = 3,
     .virtual_mask = 4, .physical_paging = true, .depth = 1)
TEST(a_keeper_ends_before_clients_stand_still, V13, .max_slot = 3, .no_dma_patching = true,
     .depth = 1)
TEST(a_lost_context_does_not_keep_the_node, V13, .max_slot = 3, .split = true, .depth = 1,
     .no_preemption = true)
TEST(a_portion_wants_what_it_had, V13, .max_slot = 3)
static void windows_8(struct fixture *f)
{
    a_binding_that_leaks_is_refused(f);
}

TEST(the_last_one_that_keeps_ends_it, V13, .max_slot = 3, .no_dma_patching = true, .nodes = 3,
     .virtual_mask = 4, .physical_paging = true)
TEST(a_preempted_keeper_ends_first, V13, .max_slot = 3, .no_dma_patching = true, .depth = 1)
TEST(a_suspended_keeper_is_not_let_out, V13, .max_slot = 3, .no_dma_patching = true, .depth = 1)
TEST(closed_during_the_first_patch, V13, .max_slot = 3, .split = true, .depth = 1,
     .no_preemption = true)
TEST(closed_during_the_last_patch, V13, .max_slot = 3, .split = true, .depth = 1,
     .no_preemption = true)
TEST(a_portion_back_from_a_reset_keeps_the_node, V13, .max_slot = 3, .split = true, .depth = 1,
     .no_preemption = true)
TEST(a_keeper_is_let_out_to_its_node, V13, .max_slot = 3, .no_dma_patching = true, .nodes = 3,
     .virtual_mask = 4, .physical_paging = true, .depth = 1)
TEST(a_keeper_with_two_packets, V13, .max_slot = 3, .no_dma_patching = true)
TEST(windows_8, .version = DXGKDDI_INTERFACE_VERSION_WIN8, .max_slot = 3)
TEST(memory_that_runs_out_loses_nothing, V13, .max_slot = 3, .no_dma_patching = true,
     .cancel_aware = true)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_and_split_points_are_checked),
        cmocka_unit_test(test_a_driver_without_slots_has_slot_0),
        cmocka_unit_test(test_odd_elements_are_told_and_go),
        cmocka_unit_test(test_later_drivers_are_not_looked_at),
        cmocka_unit_test(test_what_fits_is_one_portion),
        cmocka_unit_test(test_a_buffer_is_cut_where_memory_ends),
        cmocka_unit_test(test_elements_of_one_split_point_stay_together),
        cmocka_unit_test(test_what_never_fits_costs_the_device),
        cmocka_unit_test(test_nothing_goes_before_it_is_there),
        cmocka_unit_test(test_a_binding_that_leaks_is_refused),
        cmocka_unit_test(test_a_slot_that_is_emptied_does_not_leak),
        cmocka_unit_test(test_a_binding_may_stay),
        cmocka_unit_test(test_windows_7),
        cmocka_unit_test(test_without_preemption),
        cmocka_unit_test(test_every_split_point_can_be_forced),
        cmocka_unit_test(test_others_may_run_between_portions),
        cmocka_unit_test(test_only_paging_runs_between_portions_without_preemption),
        cmocka_unit_test(test_the_rest_of_a_lost_buffer_lets_others_run),
        cmocka_unit_test(test_a_signal_waits_for_the_last_portion),
        cmocka_unit_test(test_a_preempted_portion_goes_as_it_was),
        cmocka_unit_test(test_a_keeper_goes_before_its_device),
        cmocka_unit_test(test_who_waits_for_a_keeper_asks_for_nothing),
        cmocka_unit_test(test_only_who_waits_for_the_keeper_goes_on),
        cmocka_unit_test(test_a_suspended_keeper_goes_on),
        cmocka_unit_test(test_a_keeper_ends_before_clients_stand_still),
        cmocka_unit_test(test_a_lost_context_does_not_keep_the_node),
        cmocka_unit_test(test_a_portion_wants_what_it_had),
        cmocka_unit_test(test_the_last_one_that_keeps_ends_it),
        cmocka_unit_test(test_a_preempted_keeper_ends_first),
        cmocka_unit_test(test_a_suspended_keeper_is_not_let_out),
        cmocka_unit_test(test_closed_during_the_first_patch),
        cmocka_unit_test(test_closed_during_the_last_patch),
        cmocka_unit_test(test_a_portion_back_from_a_reset_keeps_the_node),
        cmocka_unit_test(test_a_keeper_is_let_out_to_its_node),
        cmocka_unit_test(test_a_keeper_with_two_packets),
        cmocka_unit_test(test_windows_8),
        cmocka_unit_test(test_memory_that_runs_out_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
