/* SPDX-License-Identifier: MIT */
/* Paging buffers: the DxgkDdiBuildPagingBuffer protocol. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#include "sim/irql.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PHYSICAL 0x8000u /* AccessedPhysically */

/* ---- the protocol ---- */

static uint32_t seen_sizes[64], seen_private[64], seen_offsets[64];
static uintptr_t seen_data[64];
static uint64_t seen_va[64];
static uint32_t seen;
static bool misaligned;

static NTSTATUS look(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    if (args->pDmaBuffer && seen < 64) {
        seen_sizes[seen] = args->DmaSize;
        seen_private[seen] = args->DmaBufferPrivateDataSize;
        seen_offsets[seen] = args->DmaBufferWriteOffset;
        seen_data[seen] = (uintptr_t)args->pDmaBuffer;
        seen_va[seen] = args->DmaBufferGpuVirtualAddress;
        if (args->DmaBufferWriteOffset == 0 && (uintptr_t)args->pDmaBuffer % PAGE_BYTES)
            misaligned = true;
        seen++;
    }
    CHECK(args->hSystemContext == (HANDLE)(uintptr_t)0x5C);
    return STATUS_PENDING;
}

TEST_WITH(mm, operations_are_packed, options->private_bytes = 256)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 0);

    rig->on_build = look;
    rig->private_advance = 16;
    seen = 0;
    misaligned = false;
    OK(mm_resident(c, h));
    CHECK(seen >= 3);
    CHECK_RULE("PAGE-003", seen_sizes[0] == 4096);
    CHECK_RULE("PAGE-007", seen_sizes[1] == 4096 - 32 && seen_sizes[2] == 4096 - 64);
    CHECK_RULE("PAGE-007", seen_private[0] == 256 && seen_private[1] == 240);
    CHECK_RULE("PAGE-006", seen_data[1] == seen_data[0] + 32 && !misaligned);
    CHECK_RULE("PAGE-022", seen_va[0] && seen_va[1] == seen_va[0] && seen_offsets[1] == 32 &&
                               seen_offsets[2] == 64);
    CHECK_RULE("PAGE-016",
               mm_event_count(rig, MM_SUBMIT) < seen); /* several operations a submission */
    CHECK_RULE("PAGE-001",
               rig->max_in_build == 1 && mm_event_at(rig, MM_BUILD, 0)->irql == SIM_IRQL_PASSIVE);
}

static UINT pass, pass_offsets[8];
static uint64_t pass_args[8];
static uint64_t pass_tickets[8];

/* Three passes for each fill, leaving a mark in MultipassOffset. */
static NTSTATUS three_passes(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (args->Operation != DXGK_OPERATION_VIRTUAL_FILL)
        return STATUS_PENDING;
    if (pass < 8) {
        pass_offsets[pass] = args->MultipassOffset;
        pass_args[pass] = args->FillVirtual.DestinationVirtualAddress ^
                          args->FillVirtual.FillSizeInBytes ^
                          (uint64_t)(uintptr_t)args->FillVirtual.hAllocation;
        pass_tickets[pass] = rig->submitted;
    }
    pass++;
    args->FillVirtual.FillSizeInBytes = 0; /* what the driver does to its copy is its own affair */
    if (args->MultipassOffset == 8) {
        args->FillVirtual.FillSizeInBytes = pass_args[0] ^
                                            args->FillVirtual.DestinationVirtualAddress ^
                                            (uint64_t)(uintptr_t)args->FillVirtual.hAllocation;
        return STATUS_PENDING;
    }
    args->MultipassOffset = args->MultipassOffset ? 8 : 7;
    return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

TEST_WITH(mm, multipass_is_the_drivers)
{
    struct mm_client *c = &rig->client[0];

    rig->on_build = three_passes;
    pass = 0;
    OK(mm_resident(c, mm_make(c, MM_SET_VRAM, 2, 0)));
    CHECK_RULE("PAGE-012",
               pass == 3 && pass_offsets[0] == 0 && pass_offsets[1] == 7 && pass_offsets[2] == 8);
    CHECK_RULE("PAGE-031", pass_args[0] == pass_args[1] && pass_args[1] == pass_args[2]);
    CHECK_RULE("PAGE-011",
               pass_tickets[1] == pass_tickets[0] + 1 && pass_tickets[2] == pass_tickets[1] + 1);
    pass = 0;
    OK(mm_resident(c, mm_make(c, MM_SET_VRAM, 2, 0)));
    CHECK_RULE("PAGE-012", pass_offsets[0] == 0); /* a new operation begins anew */
}

TEST_WITH(mm, small_buffers_do)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h[12];

    rig->command_bytes = 1024; /* four operations a buffer */
    for (unsigned i = 0; i < 12; i++) {
        h[i] = mm_make(c, MM_SET_VRAM, 3, 0);
        OK(mm_resident(c, h[i]));
        mm_write_content(rig, mm_allocation(c, h[i]), (uint8_t)i);
        OK(mm_evict(c, h[i], 0));
    }
    mm_idle(rig);
    for (unsigned i = 0; i < 12; i++)
        CHECK_RULE("PAGE-011", !mm_allocation(c, h[i])->resident &&
                                   mm_check_content(rig, mm_allocation(c, h[i]), (uint8_t)i));
    CHECK(rig->faults == 0);
}

/* ---- breaches ---- */

static NTSTATUS breach_status;
/* 0: status, 1: DMA pointer forward, 2: backward, 3: private pointer, 4: no progress */
static int breach_kind;
static int breach_operation;
static uint32_t breach_calls;

static NTSTATUS breach(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    if ((int)args->Operation != breach_operation)
        return STATUS_PENDING;
    breach_calls++;
    switch (breach_kind) {
    case 1:
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->DmaSize + 1;
        return STATUS_SUCCESS;
    case 2:
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer - 1;
        return STATUS_SUCCESS;
    case 3:
        args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData +
                                      args->DmaBufferPrivateDataSize + 1;
        return STATUS_SUCCESS;
    default:
        return breach_status;
    }
}

static const char *breach_rule;
static uint64_t breach_cause;
static uint32_t breach_expected;

static void breach_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    const struct verify_bugcheck *bugcheck;
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 0);

    rig->on_build = breach;
    breach_calls = 0;
    CHECK(mm_resident(c, h) == STATUS_PENDING);
    mm_idle(rig);
    bugcheck = verify_bugcheck_state(rig->base.log);
    CHECK(bugcheck->happened && bugcheck->code == 0x10E && bugcheck->parameter[0] == breach_cause);
    CHECK(strcmp(bugcheck->rule, breach_rule) == 0);
    CHECK(breach_calls == breach_expected);
    CHECK(vidmm_validate(rig->vidmm));
    rig->on_build = NULL;
}

static bool is_fatal(const char *rule, uint64_t cause, int kind, NTSTATUS status, uint32_t calls)
{
    struct mm_options o;

    mm_options_default(&o);
    o.private_bytes = 64;
    breach_rule = rule;
    breach_cause = cause;
    breach_kind = kind;
    breach_status = status;
    breach_expected = calls;
    breach_operation = DXGK_OPERATION_VIRTUAL_FILL;
    mm_run(&o, breach_body);
    return true;
}

TEST(breaches_are_fatal)
{
    CHECK_RULE("PAGE-010", is_fatal("PAGE-010", 0xB, 0, STATUS_UNSUCCESSFUL, 1));
    CHECK_RULE("PAGE-009", is_fatal("PAGE-015", 0xB, 0, STATUS_GRAPHICS_ALLOCATION_BUSY,
                                    1)); /* a fill is never busy */
    CHECK_RULE("PAGE-013", is_fatal("PAGE-013", 0xB, 4, STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER, 2));
    CHECK_RULE("PAGE-008", is_fatal("PAGE-008", 0x12, 1, 0, 1));
    CHECK_RULE("PAGE-008", is_fatal("PAGE-008", 0x12, 2, 0, 1));
    CHECK_RULE("PAGE-008", is_fatal("PAGE-008", 0x13, 3, 0, 1));
}

static uint32_t busy_calls;
static bool busy_forever;
static UINT busy_flags[4];
static uint64_t busy_completed[4], busy_submitted[4];

static NTSTATUS busy(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (args->Operation != DXGK_OPERATION_TRANSFER)
        return STATUS_PENDING;
    if (busy_calls < 4) {
        busy_flags[busy_calls] = args->Transfer.Flags.Value;
        busy_completed[busy_calls] = rig->completed;
        busy_submitted[busy_calls] = rig->submitted;
    }
    return busy_calls++ == 0 || busy_forever ? STATUS_GRAPHICS_ALLOCATION_BUSY : STATUS_PENDING;
}

static void busy_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, PHYSICAL);

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 1);
    rig->on_build = busy;
    busy_calls = 0;
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    if (busy_forever) {
        CHECK_RULE("PAGE-015", verify_bugcheck_state(rig->base.log)->code == 0x10E &&
                                   verify_bugcheck_state(rig->base.log)->parameter[0] == 0xB);
        CHECK_RULE("PAGE-015", busy_calls == 2);
    } else {
        CHECK_RULE("PAGE-014", busy_calls == 2 && !(busy_flags[0] & 4) && (busy_flags[1] & 4));
        CHECK_RULE("PAGE-014", busy_completed[1] == busy_submitted[1]);
        CHECK(!mm_allocation(c, h)->resident && mm_check_content(rig, mm_allocation(c, h), 1));
    }
    rig->on_build = NULL;
}

TEST(busy_is_answered_once)
{
    struct mm_options o;

    mm_options_physical(&o);
    busy_forever = false;
    mm_run(&o, busy_body);
    busy_forever = true;
    mm_run(&o, busy_body);
}

TEST_WITH(mm, nothing_written_keeps_the_order)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 0);
    uint64_t fence;

    rig->write_nothing = true; /* the driver does everything at once */
    CHECK(mm_make_resident(c, &h, 1, 0, &fence) == STATUS_PENDING);
    mm_wait_fence(c, fence);
    CHECK_RULE("PAGE-017", mm_event_at(rig, MM_SUBMIT, 0)->count == 0 && mm_allocation(c, h)->ready);
}

/* ---- other ---- */

static D3DKMT_HANDLE callback_handle;
static void *callback_result;

static NTSTATUS call_back(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    const DXGKARGCB_GETHANDLEDATA get = {.hObject = callback_handle, .Type = DXGK_HANDLE_ALLOCATION};

    (void)args;
    callback_result = vidmm_cb_get_handle_data(&rig->ddi,
                                               &get); /* the worker's process owns no handles */
    return STATUS_PENDING;
}

TEST_WITH(mm, callbacks_return_while_building)
{
    struct mm_client *c = &rig->client[0];

    callback_handle = mm_make(c, MM_SET_VRAM, 1, 0);
    callback_result = c;
    rig->on_build = call_back;
    OK(mm_resident(c, callback_handle));
    CHECK_RULE("PAGE-081", callback_result == NULL);
    rig->on_build = NULL;
}

TEST_WITH(mm, removal_stops_paging)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 3, PHYSICAL);
    D3DKMT_HANDLE s = mm_make(c, MM_SET_APERTURE, 3, PHYSICAL);
    uint64_t fence;

    OK(mm_resident(c, h));
    OK(mm_resident(c, s));
    rig->gone = true;
    vidmm_set_lost(rig->vidmm);
    mm_mark(rig);
    CHECK(mm_make_resident(c, &h, 1, 0, &fence) == STATUS_DEVICE_REMOVED);
    OK(mm_destroy(c, h, 0));
    OK(mm_destroy(c, s, 0));
    mm_idle(rig);
    CHECK_RULE("PAGE-082",
               mm_event_count(rig, MM_BUILD) == 0 && mm_event_count(rig, MM_SUBMIT) == 0);
    CHECK_RULE("PAGE-082",
               mm_event_count(rig, MM_CLOSE) == 2 && mm_event_count(rig, MM_DESTROY) == 2);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST(numbers)
{
    CHECK_RULE(
        "PAGE-025",
        DXGK_OPERATION_TRANSFER == 0 && DXGK_OPERATION_FILL == 1 &&
            DXGK_OPERATION_DISCARD_CONTENT == 2 && DXGK_OPERATION_READ_PHYSICAL == 3 &&
            DXGK_OPERATION_WRITE_PHYSICAL == 4 && DXGK_OPERATION_MAP_APERTURE_SEGMENT == 5 &&
            DXGK_OPERATION_UNMAP_APERTURE_SEGMENT == 6 &&
            DXGK_OPERATION_SPECIAL_LOCK_TRANSFER == 7 && DXGK_OPERATION_VIRTUAL_TRANSFER == 8 &&
            DXGK_OPERATION_VIRTUAL_FILL == 9 && DXGK_OPERATION_INIT_CONTEXT_RESOURCE == 10 &&
            DXGK_OPERATION_UPDATE_PAGE_TABLE == 11 && DXGK_OPERATION_FLUSH_TLB == 12 &&
            DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION == 13 &&
            DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES == 14 && DXGK_OPERATION_NOTIFY_RESIDENCY == 15 &&
            DXGK_OPERATION_SIGNAL_MONITORED_FENCE == 16 &&
            DXGK_OPERATION_MAP_APERTURE_SEGMENT2 == 17);
}

TEST_WITH(mm, not_zeroed_gets_a_pattern)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private data = mm_private_default(MM_SET_VRAM, 8192);
    D3DDDI_ALLOCATIONINFO2 info = {0};
    struct vidmm_create_item item = {
        .private_data = &data, .private_bytes = sizeof(data), .info = &info};
    struct vidmm_create_request request = {.count = 1, .item = &item};
    const uint32_t *words;

    request.flags.AllowNotZeroed = 1;
    OK(vidmm_allocation_create(c->device, &request, NULL));
    OK(mm_resident(c, info.hAllocation));
    words = (const void *)mm_page(rig, mm_allocation(c, info.hAllocation), 1);
    CHECK_RULE("KMT-216", words[0] == 0xC5C5C5C5 && words[1023] == 0xC5C5C5C5);
    CHECK_RULE("PAGE-041",
               mm_op_at(rig, DXGK_OPERATION_VIRTUAL_FILL, 0)->args.FillVirtual.FillPattern ==
                   0xC5C5C5C5);
}

TEST_WITH(mm, statistics)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 10, 0);
    struct vidmm_statistics s;

    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    OK(mm_resident(c, h));
    vidmm_statistics(rig->vidmm, &s);
    CHECK(s.bytes_filled == 10 * PAGE_BYTES && s.bytes_paged_out == 10 * PAGE_BYTES &&
          s.bytes_paged_in == 10 * PAGE_BYTES);
    CHECK(s.evictions == 1 && s.paging_buffers > 0 && s.paging_operations > 0 &&
          s.page_table_updates > 0);
}
