/* SPDX-License-Identifier: MIT */
/* History buffers of a driver of WDDM 1.3: time stamps as they are, or as it formats them. */
#include "port/support/portions.h"
#include "sim/machine.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (NTSTATUS)(wanted))
#define BYTES              4096u /* of the history buffer */
#define HEAD               16u
#define PRIVATE            24u
#define JUNK               0xFEDCBA9876543210ull
#define FILLED             4096u /* what one call may fill */

static struct portions_gpu gpu;
static struct trace_sink *own_sink;

/* ---- what was logged ---- */

static uint64_t logged[2048];
static size_t logged_count;

/* Since the first `skipped` of them. */
static void look(size_t skipped)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    CHECK(trace_write_json(trace_current, file));
    (void)fclose(file);
    logged_count = 0;
    for (const char *at = text; (at = strstr(at, "\"GPU time stamp\"")) != NULL;) {
        at = strstr(at, "\"clock\":") + 8;
        if (skipped)
            skipped--;
        else if (logged_count < 2048)
            logged[logged_count++] = strtoull(*at == '"' ? at + 1 : at, NULL, 0);
    }
    free(text);
}

/* ---- the driver ---- */

#define CALLS 8u

static struct {
    DXGKARG_FORMATHISTORYBUFFER answer[CALLS]; /* NumTimestamps, Precision, Offset */
    NTSTATUS status[CALLS];
    DXGKARG_FORMATHISTORYBUFFER seen[CALLS];
    uint64_t first[CALLS]; /* time stamp in the history buffer that it was given */
    HANDLE context[CALLS];
    unsigned calls;
} formatting;

static void format(struct probe *p, struct probe_call *call)
{
    DXGKARG_FORMATHISTORYBUFFER *args = (DXGKARG_FORMATHISTORYBUFFER *)(uintptr_t)call->arg[1];
    const unsigned n = formatting.calls++;

    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
    if (n >= CALLS)
        return;
    formatting.seen[n] = *args;
    formatting.context[n] = (HANDLE)(uintptr_t)call->arg[0];
    memcpy(&formatting.first[n], (uint8_t *)args->pHistoryBuffer + HEAD + PRIVATE, 8);
    for (unsigned i = 0; i < FILLED / 8; i++)
        ((uint64_t *)args->pFormattedBuffer)[i] = JUNK + (n << 8) + i;
    args->NumTimestamps = formatting.answer[n].NumTimestamps;
    args->Precision = formatting.answer[n].Precision;
    args->Offset = formatting.answer[n].Offset;
    call->result = (uint64_t)(uint32_t)formatting.status[n];
}

static void answer(unsigned call, UINT stamps, UINT bits, UINT offset)
{
    formatting.answer[call].NumTimestamps = stamps;
    formatting.answer[call].Precision.PrecisionBits = bits;
    formatting.answer[call].Offset = offset;
}

static UINT allocation_flags;

static void with_flags(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = 2; /* the aperture */
        args->pAllocationInfo[i].PreferredSegment.Value = 0;
        args->pAllocationInfo[i].Flags.Value = allocation_flags;
    }
}

static struct probe *begin(UINT bits, bool formats)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);

    memset(&formatting, 0, sizeof(formatting));
    allocation_flags = 0x4005; /* HistoryBuffer, Cached, CpuVisible */
    p->history_bits = bits;
    p->after[PROBE_CreateAllocation] = with_flags;
    p->before[PROBE_FormatHistoryBuffer] = format;
    probe_set_entry(p, PROBE_FormatHistoryBuffer, formats);
    return p;
}

/* ---- the client ---- */

/* What the GPU would have written. */
static void write_buffer(const DXGK_HISTORY_BUFFER_HEADER *header)
{
    const D3DKMT_UNLOCK unlock = {gpu.device, 1, &gpu.allocation[0]};
    D3DKMT_LOCK lock;

    memset(&lock, 0, sizeof(lock));
    lock.hDevice = gpu.device;
    lock.hAllocation = gpu.allocation[0];
    CHECK(IS(D3DKMTLock(&lock), STATUS_SUCCESS));
    memset(lock.pData, 0xEE, BYTES);
    memcpy(lock.pData, header, sizeof(*header));
    for (unsigned i = 0; i < BYTES / 8 && header->PrivateDataSize <= BYTES - HEAD; i++) {
        const size_t at = HEAD + header->PrivateDataSize + (size_t)8 * i;
        const uint64_t stamp = JUNK + i;

        if (at + 8 <= BYTES)
            memcpy((uint8_t *)lock.pData + at, &stamp, 8);
    }
    CHECK(IS(D3DKMTUnlock(&unlock), STATUS_SUCCESS));
}

/* One DMA buffer with it; what is logged then. */
static void run_with(const DXGK_HISTORY_BUFFER_HEADER *header)
{
    size_t before;

    look(0);
    before = logged_count;
    write_buffer(header);
    portions_element(&gpu, 0, 0, 1, 0);
    CHECK(IS(portions_render(&gpu, 64, 1), STATUS_SUCCESS));
    portions_finish(&gpu);
    probe_sleep(PROBE_SECOND / 100);
    look(before);
}

static void run_stamps(UINT stamps, UINT private_bytes)
{
    run_with(
        &(DXGK_HISTORY_BUFFER_HEADER){.NumTimestamps = stamps, .PrivateDataSize = private_bytes});
}

static void open_client(void)
{
    if (!trace_current) {
        own_sink = trace_sink_create();
        trace_sink_install(own_sink, &sim_current->now);
    }
    portions_open(&gpu);
    portions_allocate(&gpu, 0, BYTES);
}

static void close_client(void)
{
    portions_close(&gpu);
    if (own_sink)
        trace_sink_destroy(own_sink);
    own_sink = NULL;
}

static void end(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    portions_end(p, probe_client_run(p, body));
}

static bool status_enabled(void)
{
    D3DKMT_HISTORY_BUFFER_STATUS status = {0};
    D3DKMT_ESCAPE escape = {.hAdapter = gpu.adapter,
                            .Type = D3DKMT_ESCAPE_HISTORY_BUFFER_STATUS,
                            .pPrivateDriverData = &status,
                            .PrivateDriverDataSize = sizeof(status)};

    CHECK(IS(D3DKMTEscape(&escape), STATUS_SUCCESS) && status.Reserved == 0);
    return status.Enabled;
}

/* ---- time stamps as they are ---- */

static void junk_is_masked(struct probe *p)
{
    const UINT bits = p->history_bits;
    const uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;

    open_client();
    CHECK_RULE("KMT-455/a", status_enabled());
    run_stamps(3, PRIVATE);
    CHECK_RULE("CAPS-109/b", logged_count == (size_t)3 && logged[0] == (JUNK & mask) &&
                                 logged[1] == ((JUNK + 1) & mask) &&
                                 logged[2] == ((JUNK + 2) & mask));
    CHECK_RULE("CAPS-123/a", logged_count == 3 && logged[0] == (JUNK & mask));
    CHECK(formatting.calls == 0 && !probe_rule(p, "CAPS-123") && !probe_rule(p, "CAPS-124"));
    run_stamps(0, PRIVATE);
    CHECK(logged_count == 0);
    close_client();
}

TEST(bits_above_the_precision_are_masked)
{
    static const UINT bits[] = {33, 55, 63, 64};

    for (unsigned i = 0; i < 4; i++)
        end(begin(bits[i], true), junk_is_masked);
}

static void narrow(struct probe *p)
{
    open_client();
    run_stamps(4, 0);
    CHECK_RULE("CAPS-109/b", logged_count == 4 && logged[0] == (uint32_t)JUNK &&
                                 logged[1] == JUNK >> 32 && logged[2] == (uint32_t)JUNK + 1 &&
                                 logged[3] == JUNK >> 32);
    run_stamps((BYTES - HEAD) / 4, 0);
    CHECK_RULE("CAPS-123/b", logged_count == (BYTES - HEAD) / 4 && !probe_rule(p, "CAPS-123"));
    run_stamps((BYTES - HEAD) / 4 + 1, 0);
    CHECK_RULE("CAPS-123/b", logged_count == 0 && probe_rule(p, "CAPS-123") == 1);
    close_client();
}

TEST(time_stamps_of_32_bits_are_read)
{
    end(begin(32, false), narrow);
}

static void limits(struct probe *p)
{
    const UINT most = (BYTES - HEAD - PRIVATE) / 8;

    open_client();
    run_stamps(most, PRIVATE);
    CHECK_RULE("CAPS-123/b", logged_count == most && logged[most - 1] == JUNK + most - 1 &&
                                 !probe_rule(p, "CAPS-123"));
    run_stamps(0, BYTES - HEAD);
    CHECK_RULE("CAPS-123/c", !probe_rule(p, "CAPS-123"));
    run_stamps(most + 1, PRIVATE);
    CHECK_RULE("CAPS-123/b", logged_count == 0 && probe_rule(p, "CAPS-123") == 1);
    run_stamps(UINT32_MAX, 0);
    CHECK_RULE("CAPS-123/b", logged_count == 0 && probe_rule(p, "CAPS-123") == 2);
    run_stamps(0, BYTES - HEAD + 8);
    CHECK_RULE("CAPS-123/c", logged_count == 0 && probe_rule(p, "CAPS-123") == 3);
    run_stamps(0, UINT32_MAX - 7);
    CHECK_RULE("CAPS-123/c", logged_count == 0 && probe_rule(p, "CAPS-123") == 4);
    CHECK(probe_record(p, "CAPS-123")->severity == VERIFY_ERROR);
    close_client();
}

TEST(what_does_not_fit_a_history_buffer_is_an_error)
{
    end(begin(64, false), limits);
}

static void oddities(struct probe *p)
{
    open_client();
    run_stamps(1, 4);
    CHECK_RULE("CAPS-123/d",
               logged_count == 1 && logged[0] == JUNK && probe_rule(p, "CAPS-123") == 1);
    run_with(&(DXGK_HISTORY_BUFFER_HEADER){.NumTimestamps = 1, .Reserved = 1});
    CHECK_RULE("CAPS-123/d", logged_count == 1 && probe_rule(p, "CAPS-123") == 2);
    CHECK_RULE("CAPS-123/d", probe_record(p, "CAPS-123")->severity == VERIFY_WARNING);
    close_client();
}

TEST(a_header_that_is_odd_is_a_warning)
{
    end(begin(64, false), oddities);
}

/* ---- those of the driver ---- */

static void formatted(struct probe *p)
{
    const struct probe_call *call;

    open_client();
    answer(0, 2, 64, 5);
    answer(1, 1, 33, 9);
    answer(2, 1, 32, 0);
    CHECK_RULE("KMT-455/a", status_enabled());
    run_stamps(7, PRIVATE);
    CHECK_RULE("CAPS-109/a", logged_count == 4 && logged[0] == JUNK && logged[1] == JUNK + 1 &&
                                 logged[2] == ((JUNK + 0x100) & 0x1FFFFFFFFull) &&
                                 logged[3] == (uint32_t)(JUNK + 0x200));
    CHECK_RULE("CAPS-124/b", formatting.calls == 3 && formatting.seen[0].Offset == 0 &&
                                 formatting.seen[1].Offset == 5 && formatting.seen[2].Offset == 9);
    for (unsigned i = 0; i < 3; i++) {
        const DXGKARG_FORMATHISTORYBUFFER *seen = &formatting.seen[i];

        CHECK_RULE("CAPS-124/a", seen->HistoryBufferSize == BYTES && seen->pHistoryBuffer &&
                                     formatting.first[i] == JUNK && seen->pFormattedBuffer &&
                                     seen->FormattedBufferSize == FILLED);
        call = probe_nth(p, PROBE_FormatHistoryBuffer, i);
        CHECK_RULE("CAPS-124/a", formatting.context[i] == formatting.context[0] &&
                                     (HANDLE)(uintptr_t)call->arg[0] == formatting.context[0]);
        CHECK_RULE("THREAD-040/b", call->irql == DISPATCH_LEVEL);
    }
    CHECK_RULE("CAPS-124/a",
               formatting.context[0] == (HANDLE)(uintptr_t)probe_nth(p, PROBE_Render, 0)->arg[0]);
    CHECK(!probe_rule(p, "CAPS-123") && !probe_rule(p, "CAPS-124"));
    close_client();
}

TEST(time_stamps_without_precision_are_formatted)
{
    end(begin(0, true), formatted);
}

static void nobody_formats(struct probe *p)
{
    open_client();
    CHECK_RULE("KMT-455/b", !status_enabled());
    run_stamps(7, PRIVATE);
    CHECK_RULE("CAPS-109/a",
               logged_count == 0 && !probe_rule(p, "CAPS-123") && !probe_rule(p, "CAPS-124"));
    close_client();
}

TEST(time_stamps_that_nobody_formats_are_left_out)
{
    end(begin(0, false), nobody_formats);
}

static void unknown_precision(struct probe *p)
{
    (void)p;
    open_client();
    CHECK_RULE("KMT-455/b", !status_enabled());
    run_stamps(7, PRIVATE);
    CHECK(logged_count == 0 && formatting.calls == 0);
    close_client();
}

TEST(history_buffers_of_a_driver_that_does_not_know_them_are_not_read)
{
    struct probe *p = begin(64, true);

    p->query_status[DXGKQAITYPE_HISTORYBUFFERPRECISION] = STATUS_NOT_SUPPORTED;
    end(p, unknown_precision);
}

/* One call, with this answer; whether it is an error. */
static bool errs(struct probe *p, UINT stamps, UINT bits, UINT offset)
{
    const uint64_t before = probe_rule(p, "CAPS-124");

    memset(&formatting, 0, sizeof(formatting));
    answer(0, stamps, bits, offset);
    answer(1, 0, 64, 0);
    run_stamps(1, PRIVATE);
    return probe_rule(p, "CAPS-124") != before;
}

static void answers(struct probe *p)
{
    open_client();
    CHECK_RULE("CAPS-124/d", errs(p, 1, 0, 0) && logged_count == 0);
    CHECK_RULE("CAPS-124/d", errs(p, 1, 31, 0) && errs(p, 1, 65, 0) && logged_count == 0);
    CHECK_RULE("CAPS-124/d", !errs(p, 1, 32, 0) && !errs(p, 1, 64, 0) && logged_count == 1);
    CHECK_RULE("CAPS-124/e", !errs(p, FILLED / 8, 64, 0) && logged_count == FILLED / 8);
    CHECK_RULE("CAPS-124/e", errs(p, FILLED / 8 + 1, 64, 0) && logged_count == 0);
    CHECK_RULE("CAPS-124/e", !errs(p, FILLED / 4, 32, 0) && errs(p, FILLED / 4 + 1, 32, 0));
    CHECK_RULE("CAPS-124/e", errs(p, UINT32_MAX, 33, 0) && errs(p, FILLED / 8 + 1, 33, 0));
    CHECK(!errs(p, 1, 64, 1) && formatting.calls == 2);
    CHECK(probe_record(p, "CAPS-124")->severity == VERIFY_ERROR);
    close_client();
}

TEST(answers_about_formatted_time_stamps_are_checked)
{
    end(begin(0, true), answers);
}

static void no_progress(struct probe *p)
{
    open_client();
    memset(&formatting, 0, sizeof(formatting));
    answer(0, 1, 64, 5);
    answer(1, 1, 64, 5);
    run_stamps(1, PRIVATE);
    CHECK_RULE("CAPS-124/f", formatting.calls == 2 && probe_rule(p, "CAPS-124") == 1 &&
                                 probe_record(p, "CAPS-124")->severity == VERIFY_ERROR);
    close_client();
}

TEST(formatting_that_makes_no_progress_ends)
{
    end(begin(0, true), no_progress);
}

static void refused(struct probe *p)
{
    open_client();
    memset(&formatting, 0, sizeof(formatting));
    answer(0, 1, 64, 5);
    formatting.status[0] = STATUS_UNSUCCESSFUL;
    run_stamps(1, PRIVATE);
    CHECK_RULE("CAPS-124/c", formatting.calls == 1 && logged_count == 0 &&
                                 probe_rule(p, "CAPS-124") == 1 &&
                                 probe_record(p, "CAPS-124")->severity == VERIFY_WARNING);
    close_client();
}

TEST(a_driver_may_refuse_to_format)
{
    end(begin(0, true), refused);
}

/* ---- what is no history buffer ---- */

static void plain(struct probe *p)
{
    (void)p;
    open_client();
    run_stamps(3, PRIVATE);
    CHECK(logged_count == 0);
    close_client();
}

TEST(other_allocations_are_not_read)
{
    struct probe *p = begin(64, false);

    allocation_flags = 5;
    end(p, plain);
}
