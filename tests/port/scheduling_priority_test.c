/* SPDX-License-Identifier: MIT */
/* Who comes first: classes of processes, and contexts that are ahead of the others of their process. */
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "port/support/client.h"
#include "sim/thread.h"

#include <string.h>

#define MS               1000000ull
#define IS(call, status) ((call) == (NTSTATUS)(status))

#define CLASS(name) D3DKMT_SCHEDULINGPRIORITYCLASS_##name

/* Two client processes: P has two contexts on node 1, Q one, each known by where its commands are. */
static struct {
    struct probe_client *client[2];
    struct probe_gpu gpu[2];
    D3DKMT_HANDLE context[3]; /* A and B of P, C of Q */
    char order[32];           /* who was submitted, oldest first */
    const char *wanted;       /* for submit_all */
    unsigned adapter;
} two;

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];
    size_t count = strlen(two.order);

    (void)p;
    if (!args->Flags.Paging && args->NodeOrdinal == 1 && count + 1 < sizeof(two.order))
        two.order[count] = (char)(args->DmaBufferVirtualAddress >> 16);
}

static D3DKMT_HANDLE make_context(const struct probe_gpu *gpu)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu->device;
    create.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
    return create.hContext;
}

static void begin_p(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two.gpu[0])));
    two.context[0] = two.gpu[0].context;
    two.context[1] = make_context(&two.gpu[0]);
}

static void begin_q(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two.gpu[1])));
    two.context[2] = two.gpu[1].context;
}

static void submit(char who)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.Commands = (D3DGPU_VIRTUAL_ADDRESS)who << 16;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = two.context[who - 'A'];
    CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&args)));
}

/* The letters of two.wanted of P, or of Q. */
static void submit_p(struct probe *p)
{
    (void)p;
    for (const char *who = two.wanted; *who; who++)
        if (*who != 'C')
            submit(*who);
}

static void submit_q(struct probe *p)
{
    (void)p;
    for (const char *who = two.wanted; *who; who++)
        if (*who == 'C')
            submit(*who);
}

static void keep_busy(struct probe *p)
{
    (void)p;
    submit('A');
    probe_sleep(MS);
}

static void wait_p(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&two.gpu[0])));
}

static void wait_q(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&two.gpu[1])));
}

/* The order in which the driver gets these packets, each of which takes longer than a quantum, if
 * all wait while the node is busy with one that is not counted. Q's are queued last. */
static const char *order_of(struct probe *p, const char *packets)
{
    probe_device_packet_ns = 50 * MS;
    probe_client_go_on(p, two.client[0], keep_busy);
    probe_device_packet_ns = 6 * MS;
    memset(two.order, 0, sizeof(two.order));
    two.wanted = packets;
    probe_client_go_on(p, two.client[0], submit_p);
    probe_client_go_on(p, two.client[1], submit_q);
    CHECK(two.order[0] == '\0');
    probe_client_go_on(p, two.client[0], wait_p);
    probe_client_go_on(p, two.client[1], wait_q);
    probe_device_packet_ns = 1000;
    return two.order;
}

static struct probe *begin(void)
{
    struct probe *p = probe_create(NULL);

    p->caps.SchedulingCaps.HwQueuePacketCap = 1;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    two.client[0] = probe_client_run(p, begin_p);
    two.client[1] = probe_client_run(p, begin_q);
    return p;
}

static void end(struct probe *p)
{
    probe_client_end(p, two.client[1]);
    probe_client_end(p, two.client[0]);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- within a process ---- */

static NTSTATUS set_ahead(D3DKMT_HANDLE context, INT priority)
{
    const D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY args = {context, priority};

    return D3DKMTSetContextInProcessSchedulingPriority(&args);
}

static INT ahead(D3DKMT_HANDLE context)
{
    D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY args = {context, 77};

    CHECK(NT_SUCCESS(D3DKMTGetContextInProcessSchedulingPriority(&args)));
    return args.Priority;
}

static void b_is_ahead(struct probe *p)
{
    (void)p;
    CHECK_RULE("KMT-164", ahead(two.context[0]) == 0 && ahead(two.context[1]) == 0);
    CHECK_RULE("SUBMIT-021/a", NT_SUCCESS(set_ahead(two.context[1], 1)));
    CHECK_RULE("KMT-164", ahead(two.context[0]) == 0 && ahead(two.context[1]) == 1);
    CHECK_RULE("KMT-165", IS(set_ahead(two.context[1], 2), STATUS_INVALID_PARAMETER) &&
                              IS(set_ahead(two.context[1], -1), STATUS_INVALID_PARAMETER) &&
                              ahead(two.context[1]) == 1);
    CHECK_RULE("SUBMIT-021/c", IS(set_ahead(two.context[0], 2), STATUS_INVALID_PARAMETER) &&
                                   ahead(two.context[0]) == 0);
}

static void c_is_ahead(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(set_ahead(two.context[2], 1)));
}

static void b_is_equal(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(set_ahead(two.context[1], 0)) && ahead(two.context[1]) == 0);
}

static void a_is_more(struct probe *p)
{
    const D3DKMT_SETCONTEXTSCHEDULINGPRIORITY args = {two.context[0], 1};

    (void)p;
    CHECK(NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&args)));
}

/* The packet before has used up the quantum of A, so that B is next. C has the same turns either way. */
TEST(a_context_may_be_ahead_of_its_process)
{
    struct probe *p = begin();

    CHECK(strcmp(order_of(p, "AABBBCC"), "BCABCAB") == 0);
    probe_client_go_on(p, two.client[0], b_is_ahead);
    CHECK_RULE("SUBMIT-021/a", strcmp(order_of(p, "AABB"), "BBAA") == 0);
    CHECK_RULE("KMT-164", strcmp(order_of(p, "AABBBCC"), "BCBBCAA") == 0);
    CHECK_RULE("KMT-164", strcmp(order_of(p, "AACC"), "CACA") == 0);
    probe_client_go_on(p, two.client[1], c_is_ahead);
    CHECK_RULE("KMT-164", strcmp(order_of(p, "AACC"), "CACA") == 0);
    probe_client_go_on(p, two.client[0], b_is_equal);
    CHECK_RULE("SUBMIT-021/a", strcmp(order_of(p, "AABB"), "BABA") == 0);
    probe_client_go_on(p, two.client[0], b_is_ahead);
    probe_client_go_on(p, two.client[0], a_is_more);
    CHECK_RULE("SUBMIT-021/d", strcmp(order_of(p, "AABB"), "AABB") == 0);
    end(p);
}

/* ---- classes ---- */

static D3DKMT_SCHEDULINGPRIORITYCLASS wanted;
static INT priority;

static D3DKMT_SCHEDULINGPRIORITYCLASS class_of(HANDLE process)
{
    D3DKMT_SCHEDULINGPRIORITYCLASS is = (D3DKMT_SCHEDULINGPRIORITYCLASS)77;

    CHECK(NT_SUCCESS(D3DKMTGetProcessSchedulingPriorityClass(process, &is)));
    return is;
}

static void set_class(struct probe *p)
{
    (void)p;
    CHECK_RULE("SUBMIT-022", NT_SUCCESS(D3DKMTSetProcessSchedulingPriorityClass(NULL, wanted)));
    CHECK_RULE("KMT-166", class_of(NULL) == wanted && class_of((HANDLE)(intptr_t)-1) == wanted);
}

static void set_priority(unsigned context)
{
    const D3DKMT_SETCONTEXTSCHEDULINGPRIORITY args = {two.context[context], priority};

    CHECK(NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&args)));
}

static void priority_of_a(struct probe *p)
{
    (void)p;
    set_priority(0);
}

static void priority_of_c(struct probe *p)
{
    (void)p;
    set_priority(2);
}

static void class_for(struct probe *p, unsigned client, D3DKMT_SCHEDULINGPRIORITYCLASS value)
{
    wanted = value;
    probe_client_go_on(p, two.client[client], set_class);
}

static void classes_are_refused(struct probe *p)
{
    (void)p;
    CHECK_RULE("KMT-166", class_of(NULL) == CLASS(NORMAL));
    CHECK_RULE("KMT-167", IS(D3DKMTSetProcessSchedulingPriorityClass(NULL, CLASS(REALTIME) + 1),
                             STATUS_INVALID_PARAMETER) &&
                              IS(D3DKMTSetProcessSchedulingPriorityClass(
                                     NULL, (D3DKMT_SCHEDULINGPRIORITYCLASS)-1),
                                 STATUS_INVALID_PARAMETER) &&
                              class_of(NULL) == CLASS(NORMAL));
    CHECK(IS(D3DKMTGetProcessSchedulingPriorityClass(NULL, NULL), STATUS_INVALID_PARAMETER));
}

TEST(a_higher_class_comes_before_any_priority)
{
    struct probe *p = begin();

    probe_client_go_on(p, two.client[0], classes_are_refused);
    priority = 7;
    probe_client_go_on(p, two.client[0], priority_of_a);
    priority = -7;
    probe_client_go_on(p, two.client[1], priority_of_c);
    CHECK_RULE("KMT-166", strcmp(order_of(p, "AACC"), "AACC") == 0); /* both are NORMAL */
    for (int low = CLASS(IDLE); low < CLASS(REALTIME); low++) {
        class_for(p, 0, (D3DKMT_SCHEDULINGPRIORITYCLASS)low);
        class_for(p, 1, (D3DKMT_SCHEDULINGPRIORITYCLASS)(low + 1));
        CHECK_RULE("SUBMIT-022", strcmp(order_of(p, "AACC"), "CCAA") == 0);
        class_for(p, 1, (D3DKMT_SCHEDULINGPRIORITYCLASS)low);
        CHECK_RULE("SUBMIT-022", strcmp(order_of(p, "AACC"), "AACC") == 0);
    }
    end(p);
}

/* ---- whose class, and where ---- */

static void another_device(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_end(&two.gpu[1])) && NT_SUCCESS(probe_gpu_begin(&two.gpu[1])));
    two.context[2] = two.gpu[1].context;
}

static void another_context(struct probe *p)
{
    const D3DKMT_DESTROYCONTEXT destroy = {two.context[2]};

    (void)p;
    CHECK(NT_SUCCESS(D3DKMTDestroyContext(&destroy)));
    two.context[2] = make_context(&two.gpu[1]);
}

static HANDLE open_client(unsigned client, ACCESS_MASK access)
{
    HANDLE handle = NULL;

    CHECK(NT_SUCCESS(ObOpenObjectByPointer(two.client[client]->nt, 0, NULL, access, *PsProcessType,
                                           UserMode, &handle)));
    return handle;
}

/* P sets the class of Q. */
static void set_another(struct probe *p)
{
    HANDLE set = open_client(1, 0x200), query = open_client(1, 0x400);

    (void)p;
    CHECK_RULE("KMT-166", NT_SUCCESS(D3DKMTSetProcessSchedulingPriorityClass(set, wanted)) &&
                              class_of(query) == wanted && class_of(NULL) == CLASS(NORMAL));
    CHECK_RULE("KMT-166", IS(D3DKMTSetProcessSchedulingPriorityClass(query, CLASS(IDLE)),
                             STATUS_ACCESS_DENIED) &&
                              class_of(query) == wanted);
    CHECK(NT_SUCCESS(ZwClose(set)) && NT_SUCCESS(ZwClose(query)));
}

TEST(a_class_is_of_all_contexts_of_a_process)
{
    struct probe *p = begin();

    CHECK(strcmp(order_of(p, "AACC"), "CACA") == 0);
    wanted = CLASS(HIGH);
    probe_client_go_on(p, two.client[0], set_another);
    CHECK_RULE("KMT-166", strcmp(order_of(p, "AACC"), "CCAA") == 0);
    probe_client_go_on(p, two.client[1], another_context);
    CHECK_RULE("KMT-166", strcmp(order_of(p, "AACC"), "CCAA") == 0);
    probe_client_go_on(p, two.client[1], another_device);
    CHECK_RULE("KMT-166", strcmp(order_of(p, "AACC"), "CCAA") == 0);
    class_for(p, 1, CLASS(NORMAL));
    CHECK(strcmp(order_of(p, "AACC"), "CACA") == 0);
    end(p);
}

static bool making;

static void make_slowly(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    making = true;
    probe_sleep(2 * MS);
    making = false;
}

static void set_class_meanwhile(struct probe *p)
{
    while (!making)
        probe_sleep(MS / 10);
    set_class(p);
    CHECK(making);
}

static void context_meanwhile(struct probe *p)
{
    sim_thread_release(probe_thread(p, nt_process_current(), "other", set_class_meanwhile));
    p->before[PROBE_CreateContext] = make_slowly;
    another_context(p);
    p->before[PROBE_CreateContext] = NULL;
    probe_sleep(MS); /* the thread ends before its process */
}

/* The driver is making the context when the class changes. */
TEST(a_context_in_the_making_gets_the_new_class)
{
    struct probe *p = begin();

    CHECK(strcmp(order_of(p, "AACC"), "CACA") == 0);
    wanted = CLASS(HIGH);
    probe_client_go_on(p, two.client[1], context_meanwhile);
    CHECK_RULE("KMT-166", strcmp(order_of(p, "AACC"), "CCAA") == 0);
    end(p);
}

/* ---- preemption ---- */

static unsigned requests;

static void note_request(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    requests++;
}

static void one_of_c(struct probe *p)
{
    (void)p;
    submit('C');
}

/* A class is a reason to preempt as any other priority is (PREEMPT-039); who is ahead within a
 * process is none. */
TEST(a_higher_class_preempts)
{
    static const struct probe_options options = {
        .port = {.tdr = {.level = 3, .delay = 2, .ddi_delay = 5, .enable_preemption = true}}};
    struct probe *p = probe_create(&options);

    p->caps.SchedulingCaps.HwQueuePacketCap = 1;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    p->before[PROBE_PreemptCommand] = note_request;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    two.client[0] = probe_client_run(p, begin_p);
    two.client[1] = probe_client_run(p, begin_q);
    requests = 0;
    probe_client_go_on(p, two.client[0], b_is_ahead);
    CHECK_RULE("SUBMIT-021/b", strcmp(order_of(p, "AABB"), "BBAA") == 0 && requests == 0);
    probe_device_packet_ns = 50 * MS;
    probe_client_go_on(p, two.client[0], keep_busy);
    class_for(p, 1, CLASS(ABOVE_NORMAL));
    CHECK(requests == 0);
    probe_client_go_on(p, two.client[1], one_of_c);
    probe_client_go_on(p, two.client[1], wait_q);
    CHECK_RULE("SUBMIT-022", requests == 1);
    probe_client_go_on(p, two.client[0], wait_p);
    probe_device_packet_ns = 1000;
    end(p);
}
