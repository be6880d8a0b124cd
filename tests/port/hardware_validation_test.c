/* SPDX-License-Identifier: MIT */
/* DxgkDdiValidateSubmitCommand for commands of hardware queues. */
#include "port/support/hardware.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define ROOM               24u /* of a context made with HwQueueSupported */

static struct hardware_client client;

static struct {
    DXGKARG_VALIDATESUBMITCOMMAND args;
    HANDLE context; /* the first argument */
    char bytes[8];
    uint64_t order;
    NTSTATUS answer;
    unsigned tail; /* bytes stored behind those of the client */
} asked;

static HANDLE queue; /* the driver's handle of the latest */

static void validate(struct probe *p, struct probe_call *call)
{
    const DXGKARG_VALIDATESUBMITCOMMAND *args = (const DXGKARG_VALIDATESUBMITCOMMAND *)(uintptr_t)
                                                    call->arg[1];

    (void)p;
    asked.args = *args;
    asked.context = (HANDLE)(uintptr_t)call->arg[0];
    asked.order = call->order;
    memcpy(asked.bytes, args->pPrivateDriverData, sizeof(asked.bytes));
    memset((uint8_t *)args->pPrivateDriverData + args->UmdPrivateDataSize, 0x5A, asked.tail);
    call->answered = true;
    call->result = (uint64_t)(uint32_t)asked.answer;
}

static probe_hook *create_queue;

static void note_queue(struct probe *p, struct probe_call *call)
{
    create_queue(p, call);
    queue = ((const DXGKARG_CREATEHWQUEUE *)(uintptr_t)call->arg[1])->hHwQueue;
}

static probe_hook *create_context;

static void give_room(struct probe *p, struct probe_call *call)
{
    create_context(p, call);
    ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->ContextInfo.DmaBufferPrivateDataSize = ROOM;
}

static struct probe *create(void)
{
    struct probe *p = hardware_create(NULL);

    memset(&asked, 0, sizeof(asked));
    probe_set_entry(p, PROBE_ValidateSubmitCommand, true);
    p->before[PROBE_ValidateSubmitCommand] = validate;
    create_queue = p->after[PROBE_CreateHwQueue];
    p->after[PROBE_CreateHwQueue] = note_queue;
    create_context = p->after[PROBE_CreateContext];
    p->after[PROBE_CreateContext] = give_room;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

static void asked_body(struct probe *p)
{
    D3DKMT_SUBMITCOMMANDTOHWQUEUE bare = {
        .HwQueueProgressFenceId = 9, .CommandBuffer = 0x10000, .CommandLength = 64};

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 7)) && NT_SUCCESS(hardware_wait(&client, 7)));
    CHECK_RULE("SUBMIT-113",
               probe_count(p, PROBE_ValidateSubmitCommand) == 1 &&
                   asked.order < probe_nth(p, PROBE_SubmitCommandToHwQueue, 0)->order &&
                   probe_nth(p, PROBE_ValidateSubmitCommand, 0)->irql == PASSIVE_LEVEL);
    CHECK_RULE("SUBMIT-113", asked.args.Flags.Value == 1 && asked.args.ContextCount == 1 &&
                                 asked.args.Context[0] == queue &&
                                 asked.context == hardware.context[hardware.contexts - 1].driver);
    CHECK_RULE("SUBMIT-113",
               asked.args.Commands == 0x10000 && asked.args.CommandLength == 64 &&
                   asked.args.HwQueueProgressFenceId == 7 && asked.args.UmdPrivateDataSize == 8 &&
                   asked.args.PrivateDriverDataSize == 8 && memcmp(asked.bytes, "command", 8) == 0);
    bare.hHwQueue = client.queue;
    CHECK_RULE("SUBMIT-113", NT_SUCCESS(D3DKMTSubmitCommandToHwQueue(&bare)) &&
                                 NT_SUCCESS(hardware_wait(&client, 9)) &&
                                 probe_count(p, PROBE_ValidateSubmitCommand) == 1);
    asked.answer = STATUS_INVALID_USER_BUFFER;
    CHECK_RULE("SUBMIT-114", IS(hardware_submit(&client, 10), STATUS_INVALID_USER_BUFFER));
    asked.answer = STATUS_SUCCESS; /* the id is still free */
    CHECK_RULE("SUBMIT-114", NT_SUCCESS(hardware_submit(&client, 10)) &&
                                 NT_SUCCESS(hardware_wait(&client, 10)) &&
                                 hardware.submissions == 3);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(commands_of_hardware_queues_are_validated)
{
    run(create(), asked_body);
}

/* ---- what the driver adds ---- */

static void begin_with_room(void)
{
    D3DKMT_CREATECONTEXTVIRTUAL context = {.NodeOrdinal = HARDWARE_NODE};

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    context.hDevice = client.gpu.device;
    context.Flags.HwQueueSupported = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&context)));
    CHECK(NT_SUCCESS(hardware_queue(&client, context.hContext, (D3DDDI_CREATEHWQUEUEFLAGS){0})));
}

static void tail_body(struct probe *p)
{
    const struct hardware_submission *s = &hardware.submission[0];
    static const uint8_t added[8] = {0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A};

    (void)p;
    begin_with_room();
    asked.tail = ROOM - 8;
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_wait(&client, 1)));
    CHECK_RULE("SUBMIT-114", asked.args.PrivateDriverDataSize == ROOM &&
                                 asked.args.UmdPrivateDataSize == 8 &&
                                 s->args.DmaBufferPrivateDataSize == ROOM &&
                                 memcmp(s->private_data, "command", 8) == 0 &&
                                 memcmp(s->private_data + 8, added, 8) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void beyond_body(struct probe *p)
{
    (void)p;
    begin_with_room();
    asked.tail = ROOM - 8 + 1;
    (void)hardware_submit(&client, 1);
}

TEST(the_driver_may_add_to_private_data_but_not_beyond)
{
    struct probe *p = create();
    struct probe_client *process;

    run(p, tail_body);
    p = create();
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, beyond_body);
    CHECK_RULE("PATCH-066", p->sim->stopped &&
                                probe_said(p, "PATCH-066", "beyond the 24 bytes of private data"));
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}
