/* SPDX-License-Identifier: MIT */
/* What others ask of a driver past the host: interfaces, and requests by number. */
#include "port/support/probe.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])

static const GUID some_interface = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

struct offered {
    INTERFACE header;
    ULONG_PTR routine[2];
};

static void end(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, body) == SIM_DONE);
    probe_destroy(p);
}

static VOID NTAPI count_reference(PVOID context)
{
    ++*(int *)context;
}

static VOID NTAPI count_dereference(PVOID context)
{
    --*(int *)context;
}

static int references;
static QUERY_INTERFACE query;
static struct offered answer;

static void answer_query(struct probe *p, struct probe_call *call)
{
    query = *(const QUERY_INTERFACE *)(uintptr_t)call->arg[1];
    CHECK_RULE("LIFE-131/a", query.Interface->Size == 0); /* all of it is the driver's to fill */
    memcpy(query.Interface, &answer, answer.header.Size);
    call->answered = true;
    call->result = memcmp(query.InterfaceType, &some_interface, sizeof(GUID)) == 0
                       ? STATUS_SUCCESS
                       : (uint32_t)(uintptr_t)p->user;
}

static struct probe *create(void)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_QueryInterface, true);
    p->before[PROBE_QueryInterface] = answer_query;
    references = 1;
    answer = (struct offered){.header = {.Size = sizeof(answer),
                                         .Version = 3,
                                         .Context = &references,
                                         .InterfaceReference = count_reference,
                                         .InterfaceDereference = count_dereference},
                              .routine = {0x11, 0x22}};
    p->user = (void *)(uintptr_t)(uint32_t)STATUS_NOT_SUPPORTED;
    return p;
}

#define RIG_ARGUMENT_answering  struct probe *p
#define RIG_RUN_answering(body) end(create(), body)

static NTSTATUS ask(struct probe *p, const GUID *type, struct offered *interface)
{
    memset(interface, 0, sizeof(*interface));
    interface->header.Size = sizeof(*interface);
    interface->header.Version = 3;
    return port_adapter_query_interface(p->adapter[0], type, &interface->header);
}

TEST_WITH(answering, interfaces_are_asked_for)
{
    const GUID other = {0x87654321, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    const struct probe_call *call;
    struct offered interface;

    CHECK_RULE("LIFE-131/a", IS(ask(p, &some_interface, &interface), STATUS_SUCCESS) &&
                                 query.Size == sizeof(interface) && query.Version == 3 &&
                                 interface.routine[1] == 0x22 && interface.header.Version == 3);
    call = probe_nth(p, PROBE_QueryInterface, 0);
    CHECK_RULE("LIFE-131/a",
               call->irql == PASSIVE_LEVEL && call->arg[0] == (uint64_t)(uintptr_t)A->context);
    interface.header.InterfaceReference(interface.header.Context);
    interface.header.InterfaceDereference(interface.header.Context);
    interface.header.InterfaceDereference(interface.header.Context);
    CHECK(references == 0);
    CHECK_RULE("LIFE-131/b", IS(ask(p, &other, &interface), STATUS_NOT_SUPPORTED) &&
                                 probe_rule(p, "LIFE-131") == 0 && interface.routine[0] == 0);
    /* the wrong status for one it does not know */
    p->user = (void *)(uintptr_t)(uint32_t)STATUS_INVALID_PARAMETER;
    CHECK_RULE("LIFE-131/b", IS(ask(p, &other, &interface), STATUS_NOT_SUPPORTED) &&
                                 probe_rule(p, "LIFE-131") == 1 &&
                                 probe_record(p, "LIFE-131")->severity == VERIFY_WARNING);
    answer.header.InterfaceDereference = NULL;
    CHECK_RULE("LIFE-131/d", IS(ask(p, &some_interface, &interface), STATUS_NOT_SUPPORTED) &&
                                 probe_said(p, "LIFE-131", "InterfaceDereference NULL"));
}

static void larger(struct probe *p, struct probe_call *call)
{
    answer_query(p, call);
    query.Interface->Size = sizeof(answer) + 8;
}

static void larger_body(struct probe *p)
{
    struct offered interface;

    CHECK_RULE("LIFE-131/c", IS(ask(p, &some_interface, &interface), STATUS_NOT_SUPPORTED) &&
                                 probe_said(p, "LIFE-131", "set Size to 56; it was given 48"));
}

static void beyond(struct probe *p, struct probe_call *call)
{
    answer_query(p, call);
    ((uint8_t *)query.Interface)[sizeof(answer)] = 1;
}

static void beyond_body(struct probe *p)
{
    struct offered interface;

    CHECK_RULE("LIFE-131/e", IS(ask(p, &some_interface, &interface), STATUS_SUCCESS) &&
                                 probe_said(p, "LIFE-131",
                                            "past Interface of QUERY_INTERFACE of 48 "
                                            "bytes: 1 bytes were changed"));
}

TEST(a_larger_answer_is_reported)
{
    struct probe *p = create();

    p->before[PROBE_QueryInterface] = larger;
    end(p, larger_body);
    p = create();
    p->before[PROBE_QueryInterface] = beyond;
    end(p, beyond_body);
}

/* ---- alone in the driver ---- */

static unsigned inside_others;
static bool overlapped, other_done;

static void slow_query(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    inside_others++;
    probe_sleep(2000000);
    inside_others--;
}

static void watch(struct probe *p, struct probe_call *call)
{
    if (call->ddi == PROBE_QueryInterface)
        answer_query(p, call);
    overlapped |= inside_others != 0;
    probe_sleep(5000000);
    overlapped |= inside_others != 0;
}

static void ask_driver(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;
    UINT bytes[4] = {0};

    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_UMDRIVERPRIVATE;
    args.pOutputData = bytes;
    args.OutputDataSize = sizeof(bytes);
    for (unsigned i = 0; i < 5; i++)
        (void)ddi_query_adapter_info(port_adapter_ddi(p->adapter[0]), &args);
    other_done = true;
}

static VIDEO_REQUEST_PACKET packet;
static STATUS_BLOCK status_block;

static void exclusive_body(struct probe *p)
{
    struct offered interface;
    struct sim_thread *thread;

    p->before[PROBE_QueryAdapterInfo] = slow_query;
    other_done = overlapped = false;
    thread = probe_thread(p, probe_process(p, "other"), "other", ask_driver);
    probe_sleep(1000000); /* it is inside */
    CHECK(inside_others == 1);
    CHECK(IS(ask(p, &some_interface, &interface), STATUS_SUCCESS));
    CHECK_RULE("LIFE-131/f", !overlapped && !other_done);
    CHECK(IS(port_adapter_dispatch_io(p->adapter[0], 7, &packet), STATUS_SUCCESS));
    CHECK_RULE("LIFE-132/b", !overlapped && !other_done);
    while (!other_done)
        probe_sleep(1000000);
    sim_thread_release(thread);
}

TEST(both_are_alone_in_the_driver)
{
    struct probe *p = create();

    probe_set_entry(p, PROBE_DispatchIoRequest, true);
    p->before[PROBE_QueryInterface] = watch;
    p->before[PROBE_DispatchIoRequest] = watch;
    end(p, exclusive_body);
}

/* ---- requests ---- */

static ULONG served;

static void serve(struct probe *p, struct probe_call *call)
{
    PVIDEO_REQUEST_PACKET request = (PVIDEO_REQUEST_PACKET)(uintptr_t)call->arg[2];

    (void)p;
    served = request->IoControlCode;
    ((ULONG *)request->OutputBuffer)[0] = ((const ULONG *)request->InputBuffer)[0] + 1;
    request->StatusBlock->Status = STATUS_SUCCESS;
    request->StatusBlock->Information = sizeof(ULONG);
}

static void requests_body(struct probe *p)
{
    ULONG in = 41, out = 0;
    const struct probe_call *call;

    packet = (VIDEO_REQUEST_PACKET){.IoControlCode = 0x230000,
                                    .StatusBlock = &status_block,
                                    .InputBuffer = &in,
                                    .InputBufferLength = sizeof(in),
                                    .OutputBuffer = &out,
                                    .OutputBufferLength = sizeof(out)};
    CHECK_RULE("LIFE-132/a",
               IS(port_adapter_dispatch_io(p->adapter[0], 7, &packet), STATUS_SUCCESS) &&
                   out == 42 && status_block.Information == sizeof(ULONG));
    call = probe_nth(p, PROBE_DispatchIoRequest, 0);
    CHECK_RULE("LIFE-132/a", probe_count(p, PROBE_DispatchIoRequest) == 1 &&
                                 call->irql == PASSIVE_LEVEL && (ULONG)call->arg[1] == 7 &&
                                 served == 0x230000);
}

static void without_entry_body(struct probe *p)
{
    CHECK_RULE("LIFE-132/c",
               IS(port_adapter_dispatch_io(p->adapter[0], 0, &packet), STATUS_NOT_SUPPORTED));
}

TEST(requests_reach_the_driver)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_DispatchIoRequest, true);
    p->after[PROBE_DispatchIoRequest] = serve;
    end(p, requests_body);
    end(probe_create(NULL), without_entry_body);
    p = probe_create(NULL);
    probe_make_compute_only(p); /* and without the entry */
    CHECK_RULE("LIFE-132/c", !p->table.DxgkDdiDispatchIoRequest && NT_SUCCESS(probe_start(p)));
    probe_destroy(p);
}
