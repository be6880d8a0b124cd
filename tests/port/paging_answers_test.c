/* SPDX-License-Identifier: MIT */
/* Answers of DxgkDdiBuildPagingBuffer on a started adapter of WDDM 1.x: buffers shared by operations, and what stops the machine. */
#include "port/support/paged.h"
#include "port/support/portions.h"

#include <string.h>

#define MIB      PORTIONS_MIB
#define TRANSFER DXGK_OPERATION_TRANSFER
#define FILL     DXGK_OPERATION_FILL
#define BUSY     STATUS_GRAPHICS_ALLOCATION_BUSY
#define FULL     STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER

static struct portions_gpu gpu;

/* What the driver does with the first operations of one kind. */
static struct {
    DXGK_BUILDPAGINGBUFFER_OPERATION kind;
    NTSTATUS status;
    LONG moved, moved_private; /* of the pointers; 0: by what is written well */
    unsigned skip;             /* that many calls are answered well first */
    unsigned times, calls;     /* how often so; how often it was asked */
    bool idle[4];              /* AllocationIsIdle of each call */
    ULONG unfinished[4];       /* packets that the GPU had */
    size_t packets[4];         /* how many it had been given */
} wrong;

static void answer_wrongly(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    if (args->Operation != wrong.kind)
        return;
    if (wrong.calls < 4) {
        wrong.idle[wrong.calls] = args->Operation == TRANSFER &&
                                  args->Transfer.Flags.AllocationIsIdle;
        wrong.unfinished[wrong.calls] = p->state[0].submitted[0] - p->state[0].reported[0] +
                                        p->state[0].submitted[1] - p->state[0].reported[1];
        wrong.packets[wrong.calls] = probe_count(p, PROBE_SubmitCommand);
    }
    if (wrong.calls++ < wrong.skip || wrong.calls > wrong.skip + wrong.times)
        return;
    if (wrong.moved)
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer +
                           (wrong.moved > 0 ? (LONG)args->DmaSize + wrong.moved : wrong.moved);
    if (wrong.moved_private)
        args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData +
                                      (LONG)args->DmaBufferPrivateDataSize + wrong.moved_private;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)wrong.status;
}

static void trade_places(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, 9 * MIB);
    portions_allocate(&gpu, 1, 9 * MIB);
    for (unsigned i = 0; i < 3; i++) {
        portions_element(&gpu, 0, 0, (i & 1) + 1, 0);
        (void)portions_render(&gpu, 64, 1);
    }
    (void)D3DKMTWaitForIdle(&(D3DKMT_WAITFORIDLE){gpu.device});
}

static UINT collected;

static void note_reason(struct probe *p, struct probe_call *call)
{
    (void)p;
    collected = ((const DXGKARG_COLLECTDBGINFO *)(uintptr_t)call->arg[1])->Reason;
}

static struct probe *created(void)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);

    p->paging_private_bytes = 64;
    p->before[PROBE_BuildPagingBuffer] = answer_wrongly;
    p->before[PROBE_CollectDbgInfo] = note_reason;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    return p;
}

static void stops(const char *rule, uint64_t cause)
{
    struct probe *p = created();
    struct probe_client *client = probe_client_run(p, trade_places);
    const struct verify_bugcheck *state = verify_bugcheck_state(p->log);

    CHECK_RULE(rule, state->happened && state->code == 0x10E && state->parameter[0] == cause &&
                         state->parameter[1] == (uint64_t)wrong.kind);
    CHECK_RULE(rule, p->call[p->calls - 2]->ddi == PROBE_BuildPagingBuffer);
    CHECK_RULE("TDR-066", p->call[p->calls - 1]->ddi == PROBE_CollectDbgInfo &&
                              probe_count(p, PROBE_CollectDbgInfo) == 1 && collected == 0x10E);
    portions_end(p, client);
}

#define WRONG(...)                                \
    do {                                          \
        memset(&wrong, 0, sizeof(wrong));         \
        wrong = (__typeof__(wrong)){__VA_ARGS__}; \
    } while (0)

TEST(an_answer_that_is_none_stops_the_machine)
{
    WRONG(.kind = FILL, .status = STATUS_UNSUCCESSFUL, .times = 1);
    stops("PAGE-010", 0xB);
    WRONG(.kind = FILL, .status = STATUS_NO_MEMORY, .times = 1);
    stops("SUBMIT-099", 0xB);
    WRONG(.kind = FILL, .status = BUSY, .times = 1); /* for TRANSFER and DISCARD_CONTENT only */
    stops("PAGE-009", 0xB);
    WRONG(.kind = FILL, .status = BUSY, .times = 1);
    stops("SUBMIT-099", 0xB);
    WRONG(.kind = TRANSFER, .status = STATUS_PENDING, .times = 1);
    stops("PAGE-009", 0xB);
    WRONG(.kind = TRANSFER, .status = BUSY, .times = 2);
    stops("PAGE-015", 0xB);
    CHECK_RULE("PAGE-015", wrong.calls == 2 && wrong.idle[1]);
    CHECK_RULE("SUBMIT-099", wrong.calls == 2 && !wrong.idle[0] && wrong.idle[1]);
    WRONG(.kind = TRANSFER, .status = FULL, .times = 100);
    stops("PAGE-013", 0xB);
    CHECK_RULE("PAGE-013", wrong.calls <= 2);
    WRONG(.kind = TRANSFER, .status = FULL, .times = 100);
    stops("SUBMIT-097", 0xB);
    CHECK_RULE("SUBMIT-097", wrong.calls <= 2);
}

TEST(a_pointer_outside_of_what_was_offered_stops_the_machine)
{
    WRONG(.kind = FILL, .moved = 1, .times = 1);
    stops("PAGE-008", 0x12);
    WRONG(.kind = FILL, .moved = -4, .times = 1);
    stops("PAGE-008", 0x12);
    WRONG(.kind = FILL, .moved_private = 1, .times = 1);
    stops("PAGE-008", 0x13);
    WRONG(.kind = FILL, .moved = 1, .times = 1);
    stops("SUBMIT-100", 0x12);
    WRONG(.kind = FILL, .moved_private = 1, .times = 1);
    stops("SUBMIT-100", 0x13);
}

static void goes_on(void)
{
    struct probe *p = created();
    struct probe_client *client;

    probe_device_packet_ns = PROBE_SECOND / 10;
    client = probe_client_run(p, trade_places);
    CHECK(!verify_bugcheck_state(p->log)->happened);
    portions_end(p, client);
}

TEST(an_allocation_that_is_busy_is_waited_for_once)
{
    /* one goes, the other one goes, and the first comes back, which the driver puts off */
    WRONG(.kind = TRANSFER, .status = BUSY, .skip = 2, .times = 1);
    goes_on();
    CHECK_RULE("PAGE-014", wrong.calls == 4 && !wrong.idle[2] && wrong.idle[3] &&
                               wrong.packets[3] > wrong.packets[2] && wrong.unfinished[3] == 0);
    CHECK_RULE("SUBMIT-098", wrong.calls == 4 && !wrong.idle[2] && wrong.idle[3] &&
                                 wrong.packets[3] > wrong.packets[2] && wrong.unfinished[3] == 0);
}

/* ---- buffers ---- */

static void write_little(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const UINT bytes = 12 + 4 * (paged.count & 3); /* after paged has noted it */

    (void)p;
    memset(args->pDmaBuffer, 0, bytes);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + bytes;
    args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData + 1;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void note_and_write(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    CHECK(paged.count < PAGED_MAX);
    paged.op[paged.count].args = *args;
    paged.op[paged.count].order = call->order;
    paged.count++;
    write_little(p, call);
}

static UINT longest; /* of what was submitted at once */

static void note_length(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];
    const UINT bytes = args->DmaBufferSubmissionEndOffset - args->DmaBufferSubmissionStartOffset;

    (void)p;
    if (args->Flags.Paging && bytes > longest)
        longest = bytes;
}

TEST(operations_follow_each_other_in_a_buffer)
{
    struct probe *p;
    struct probe_client *client;
    unsigned fresh = 0, followed = 0;

    WRONG(.kind = TRANSFER);
    p = created();
    memset(&paged, 0, sizeof(paged));
    p->before[PROBE_BuildPagingBuffer] = note_and_write;
    p->before[PROBE_SubmitCommand] = note_length;
    longest = 0;
    client = probe_client_run(p, trade_places);
    for (unsigned i = 0; i < paged.count; i++) {
        const DXGKARG_BUILDPAGINGBUFFER *args = &paged.op[i].args, *before = args - 1;

        if ((uintptr_t)args->pDmaBuffer % 4096 == 0) {
            fresh++;
            CHECK_RULE("PAGE-003", args->DmaSize == p->paging_bytes);
            CHECK_RULE("PAGE-006", args->DmaBufferPrivateDataSize == 64);
            CHECK_RULE("SUBMIT-093",
                       args->DmaSize == p->paging_bytes && args->DmaBufferPrivateDataSize == 64);
            continue;
        }
        if (i == 0)
            continue;
        before = &paged.op[i - 1].args;
        followed++;
        CHECK_RULE("PAGE-006", (const uint8_t *)args->pDmaBuffer ==
                                   (const uint8_t *)before->pDmaBuffer + 12 + 4 * (i & 3));
        CHECK_RULE("PAGE-007",
                   args->DmaSize == before->DmaSize - (12 + 4 * (i & 3)) &&
                       args->DmaBufferPrivateDataSize == before->DmaBufferPrivateDataSize - 1);
        CHECK_RULE("SUBMIT-093",
                   (const uint8_t *)args->pDmaBuffer ==
                           (const uint8_t *)before->pDmaBuffer + 12 + 4 * (i & 3) &&
                       args->DmaSize == before->DmaSize - (12 + 4 * (i & 3)) &&
                       (const uint8_t *)args->pDmaBufferPrivateData ==
                           (const uint8_t *)before->pDmaBufferPrivateData + 1 &&
                       args->DmaBufferPrivateDataSize == before->DmaBufferPrivateDataSize - 1);
    }
    CHECK_RULE("PAGE-006", fresh >= 1 && followed >= 1);
    CHECK_RULE("SUBMIT-094", longest > 24); /* more than one operation writes */
    portions_end(p, client);
}
