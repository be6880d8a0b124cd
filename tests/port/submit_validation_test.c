/* SPDX-License-Identifier: MIT */
/* DxgkDdiValidateSubmitCommand on a started adapter: when a driver that has it is asked, and what its answer does. */
#include "port/support/client.h"

#include <string.h>

#define LARGE 64u /* private data of the first context, and of the second */
#define SMALL 48u

static const UINT8 data[LARGE] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                  0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x5A};

/* What the driver was asked last, and how it answers. */
static struct {
    DXGKARG_VALIDATESUBMITCOMMAND args;
    UINT8 bytes[LARGE];
    uint64_t order;
    NTSTATUS status;
    UINT8 tail; /* stored behind the client's bytes; 0: none */
    UINT beyond;
} asked;

static struct {
    HANDLE context;
    UINT8 bytes[LARGE];
    UINT size, of_client;
    uint64_t order;
} sent[8];
static unsigned sent_count;

static void validate(struct probe *p, struct probe_call *call)
{
    const DXGKARG_VALIDATESUBMITCOMMAND *args = (const DXGKARG_VALIDATESUBMITCOMMAND *)(uintptr_t)
                                                    call->arg[1];

    (void)p;
    asked.args = *args;
    asked.order = call->order;
    memcpy(asked.bytes, args->pPrivateDriverData, args->PrivateDriverDataSize);
    if (asked.tail)
        memset((UINT8 *)args->pPrivateDriverData + args->UmdPrivateDataSize, asked.tail,
               args->PrivateDriverDataSize - args->UmdPrivateDataSize + asked.beyond);
    call->answered = true;
    call->result = (uint64_t)(uint32_t)asked.status;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->Flags.Paging || sent_count == 8)
        return;
    sent[sent_count].context = args->hContext;
    sent[sent_count].size = args->DmaBufferPrivateDataSize;
    sent[sent_count].of_client = args->DmaBufferUmdPrivateDataSize;
    sent[sent_count].order = call->order;
    if (args->DmaBufferPrivateDataSize <= LARGE)
        memcpy(sent[sent_count].bytes, args->pDmaBufferPrivateData, args->DmaBufferPrivateDataSize);
    sent_count++;
}

static void give_private_data(struct probe *p, struct probe_call *call)
{
    static unsigned created;
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    if (p->user) /* of a new adapter */
        created = 0;
    p->user = NULL;
    if (args->Flags.VirtualAddressing && !args->Flags.SystemContext)
        args->ContextInfo.DmaBufferPrivateDataSize = created++ ? SMALL : LARGE;
}

static struct probe *begin(void)
{
    struct probe *p = probe_create(NULL);

    memset(&asked, 0, sizeof(asked));
    sent_count = 0;
    p->user = p;
    probe_set_entry(p, PROBE_ValidateSubmitCommand, true);
    p->before[PROBE_ValidateSubmitCommand] = validate;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    p->after[PROBE_CreateContext] = give_private_data;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    return p;
}

static void end(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static struct probe_gpu gpu;
static D3DKMT_HANDLE second;

static void open_two(void)
{
    D3DKMT_CREATECONTEXTVIRTUAL context;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&context, 0, sizeof(context));
    context.hDevice = gpu.device;
    context.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&context)));
    second = context.hContext;
}

static NTSTATUS submit(unsigned contexts, UINT bytes)
{
    D3DKMT_SUBMITCOMMAND args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.Commands = 0x20000;
    args.CommandLength = 96;
    args.BroadcastContextCount = contexts;
    args.BroadcastContext[0] = gpu.context;
    args.BroadcastContext[1] = second;
    args.pPrivateDriverData = (PVOID)(uintptr_t)data;
    args.PrivateDriverDataSize = bytes;
    status = D3DKMTSubmitCommand(&args);
    if (!asked.beyond)
        CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    return status;
}

static void ask_once(struct probe *p)
{
    const struct probe_call *call;

    open_two();
    CHECK(submit(2, 0) == STATUS_SUCCESS && sent_count == 2);
    CHECK_RULE("SUBMIT-113", probe_count(p, PROBE_ValidateSubmitCommand) == 0);
    CHECK(submit(1, 1) == STATUS_SUCCESS && sent_count == 3);
    CHECK_RULE("SUBMIT-113", probe_count(p, PROBE_ValidateSubmitCommand) == 1 &&
                                 asked.args.ContextCount == 1 &&
                                 asked.args.PrivateDriverDataSize == LARGE);
    CHECK(submit(2, 16) == STATUS_SUCCESS && sent_count == 5);
    CHECK_RULE("SUBMIT-113",
               probe_count(p, PROBE_ValidateSubmitCommand) == 2 && asked.args.ContextCount == 2 &&
                   asked.args.Context[0] == sent[3].context &&
                   asked.args.Context[1] == sent[4].context && sent[3].context != sent[4].context);
    CHECK_RULE("SUBMIT-113", asked.order < sent[3].order && asked.order > sent[2].order);
    call = probe_nth(p, PROBE_ValidateSubmitCommand, 1);
    CHECK_RULE("SUBMIT-113", call->irql == PASSIVE_LEVEL && call->left <= sent[3].order &&
                                 call->arg[0] == (uint64_t)(uintptr_t)sent[3].context);
    CHECK_RULE("SUBMIT-113", asked.args.Commands == 0x20000 && asked.args.CommandLength == 96 &&
                                 asked.args.Flags.Value == 0 &&
                                 asked.args.HwQueueProgressFenceId == 0);
    CHECK_RULE("SUBMIT-113", asked.args.UmdPrivateDataSize == 16 &&
                                 asked.args.PrivateDriverDataSize == SMALL &&
                                 memcmp(asked.bytes, data, 16) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_submission_with_private_data_is_asked_for_once)
{
    struct probe *p = begin();

    end(p, probe_client_run(p, ask_once));
}

static bool all_are(const UINT8 *bytes, UINT from, UINT to, UINT8 value)
{
    for (UINT i = from; i < to; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static void store_a_tail(struct probe *p)
{
    (void)p;
    open_two();
    asked.tail = 0xA5;
    CHECK(submit(2, 16) == STATUS_SUCCESS && sent_count == 2);
    for (unsigned i = 0; i < 2; i++)
        CHECK_RULE("SUBMIT-114", sent[i].of_client == 16 && memcmp(sent[i].bytes, data, 16) == 0 &&
                                     all_are(sent[i].bytes, 16, SMALL, 0xA5));
    CHECK_RULE("SUBMIT-114", sent[0].size == LARGE && all_are(sent[0].bytes, SMALL, LARGE, 0));
    asked.tail = 0;
    CHECK(submit(2, 16) == STATUS_SUCCESS && sent_count == 4);
    for (unsigned i = 2; i < 4; i++) /* nothing of an earlier one is left */
        CHECK_RULE("SUBMIT-114", all_are(sent[i].bytes, 16, SMALL, 0));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(what_the_driver_stores_goes_with_each_packet)
{
    struct probe *p = begin();

    end(p, probe_client_run(p, store_a_tail));
}

static void refuse_two(struct probe *p)
{
    static const NTSTATUS failures[] = {STATUS_INVALID_USER_BUFFER, STATUS_NO_MEMORY};

    open_two();
    for (unsigned i = 0; i < 2; i++) {
        asked.status = failures[i];
        CHECK_RULE("SUBMIT-114", submit(2, 16) == failures[i] && sent_count == 0);
        CHECK_RULE("SUBMIT-114", strcmp(probe_refused_call, "D3DKMTSubmitCommand") == 0 &&
                                     strcmp(probe_refused_rule, "SUBMIT-114") == 0);
    }
    asked.status = STATUS_SUCCESS; /* nothing is lost by it */
    CHECK_RULE("SUBMIT-114", submit(2, 16) == STATUS_SUCCESS && sent_count == 2 &&
                                 probe_count(p, PROBE_ValidateSubmitCommand) == 3);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_refused_submission_is_not_queued)
{
    struct probe *p = begin();

    end(p, probe_client_run(p, refuse_two));
}

static void write_beyond(struct probe *p)
{
    (void)p;
    open_two();
    asked.tail = 0xA5;
    (void)submit(1, 16); /* up to the last byte */
    CHECK(sent_count == 1);
    asked.beyond = 1;
    (void)submit(1, 16);
}

TEST(private_data_has_an_end)
{
    struct probe *p = begin();
    struct probe_client *client = probe_client_run(p, write_beyond);

    CHECK_RULE("PATCH-066", probe_said(p, "PATCH-066", "DxgkDdiValidateSubmitCommand") &&
                                verify_bugcheck_state(p->log)->happened);
    end(p, client);
}
