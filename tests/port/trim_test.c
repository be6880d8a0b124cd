/* SPDX-License-Identifier: MIT */
/* Trim callbacks of clients on a started adapter: who is told how much, when, and what a callback may do. */
#include "port/record/adapter_record.h"
#include "port/support/paged.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, s) ((NTSTATUS)(status) == (s))
#define PIECE         (4 * PAGED_MIB)

static struct probe_gpu gpu, other;
static D3DKMT_HANDLE pieces[4], more[4];
static LUID luid;

/* ---- the callbacks ---- */

static struct {
    unsigned calls, inside; /* those that run */
    D3DDDI_TRIMRESIDENCYSET_FLAGS flags;
    UINT64 bytes;
    void *context;
    uint64_t time;
    char order[8]; /* of callbacks: a, b */
    unsigned ordered;
    bool both; /* PeriodicTrim and RestartPeriodicTrim at once */
    bool right_place;
    void *handle;
    uint64_t sleep;
    void (*act)(void);
} told;

static void note(char who, const D3DKMT_TRIMNOTIFICATION *n)
{
    told.calls++;
    told.inside++;
    told.flags = n->Flags;
    told.bytes = n->NumBytesToTrim;
    told.context = n->Context;
    told.time = sim_now();
    told.both |= n->Flags.PeriodicTrim && n->Flags.RestartPeriodicTrim;
    if (told.ordered < sizeof(told.order) - 1)
        told.order[told.ordered++] = who;
    told.right_place = sim_irql() == SIM_IRQL_PASSIVE;
    if (told.act)
        told.act();
    if (told.sleep)
        probe_sleep(told.sleep);
    told.inside--;
}

static void APIENTRY first(D3DKMT_TRIMNOTIFICATION *n)
{
    note('a', n);
}

static void APIENTRY second(D3DKMT_TRIMNOTIFICATION *n)
{
    note('b', n);
}

static NTSTATUS enroll(PFND3DKMT_TRIMNOTIFICATIONCALLBACK callback, void *context, void **handle)
{
    D3DKMT_REGISTERTRIMNOTIFICATION args = {
        .AdapterLuid = luid, .hDevice = gpu.device, .Callback = callback, .Context = context};
    NTSTATUS status = D3DKMTRegisterTrimNotification(&args);

    *handle = args.Handle;
    return status;
}

static NTSTATUS dismiss(void *handle, PFND3DKMT_TRIMNOTIFICATIONCALLBACK callback)
{
    D3DKMT_UNREGISTERTRIMNOTIFICATION args = {.Handle = handle, .Callback = callback};

    return D3DKMTUnregisterTrimNotification(&args);
}

/* ---- clients ---- */

static UINT64 local_budget(const struct probe_gpu *g)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.hAdapter = g->adapter};

    CHECK(NT_SUCCESS(D3DKMTQueryVideoMemoryInfo(&info)));
    return info.Budget;
}

static void take_three(struct probe *p)
{
    luid = port_adapter_luid(p->adapter[0]);
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PIECE, &pieces[i])));
}

/* The other process: two pieces, so that both together want more than there is. */
static void take_two(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    for (unsigned i = 0; i < 2; i++)
        CHECK(NT_SUCCESS(probe_gpu_allocate(&other, 3 * PAGED_MIB, &more[i])));
}

static void give_two(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 2; i++)
        CHECK(NT_SUCCESS(paged_evict(&other, more[i])));
}

static void take_two_again(struct probe *p)
{
    uint64_t fence;

    (void)p;
    for (unsigned i = 0; i < 2; i++) {
        NTSTATUS status = paged_make_resident(&other, more[i], &fence);

        CHECK(NT_SUCCESS(status) &&
              (status != STATUS_PENDING || NT_SUCCESS(paged_wait(&other, fence))));
    }
}

static struct probe *begin(void)
{
    struct probe *p = probe_create(NULL);

    paged_watch(p);
    paged.segments = 1;
    p->segment[0].Flags.ApplicationTarget = 1;
    memset(&told, 0, sizeof(told));
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void end(struct probe *p, struct probe_client *a, struct probe_client *b)
{
    if (a)
        probe_client_end(p, a);
    if (b)
        probe_client_end(p, b);
    probe_clients_end(p);
    probe_destroy(p);
}

static void settle(struct probe *p)
{
    (void)p;
    probe_sleep(PROBE_SECOND / 10);
}

/* ---- over the budget ---- */

static void enroll_one(struct probe *p)
{
    take_three(p);
    CHECK_RULE("KMT-292", IS(enroll(first, &told, &told.handle), STATUS_SUCCESS) && told.handle);
    settle(p);
    CHECK_RULE("RES-046", told.calls == 0);
}

static UINT64 budget;

static void see_budget(struct probe *p)
{
    settle(p);
    budget = local_budget(&gpu);
}

static void keep_one(struct probe *p)
{
    CHECK(NT_SUCCESS(paged_evict(&gpu, pieces[0])) && NT_SUCCESS(paged_evict(&gpu, pieces[1])));
    see_budget(p);
}

static void dismiss_one(struct probe *p)
{
    (void)p;
    CHECK_RULE("KMT-295", IS(dismiss(told.handle, second), STATUS_INVALID_PARAMETER) &&
                              IS(dismiss((char *)told.handle + 1, first), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-294", IS(dismiss(told.handle, first), STATUS_SUCCESS));
    CHECK_RULE("KMT-295", IS(dismiss(told.handle, first), STATUS_INVALID_PARAMETER));
}

TEST(a_process_over_its_budget_is_told_once)
{
    struct probe *p = begin();
    struct probe_client *a = probe_client_run(p, enroll_one);
    struct probe_client *b = probe_client_run(p, take_two);

    probe_client_go_on(p, a, see_budget);
    CHECK(budget < 3 * PIECE && budget > PIECE);
    CHECK_RULE("RES-046", told.calls == 1 && told.context == &told);
    CHECK_RULE("RES-048", told.flags.Value == 4 && told.bytes == 3 * PIECE - budget);
    CHECK_RULE("KMT-292", told.context == &told && told.bytes == 3 * PIECE - budget);
    CHECK_RULE("RES-049", told.right_place);
    /* it is not told again before it is above by more */
    told.calls = 0;
    probe_client_go_on(p, a, see_budget);
    CHECK_RULE("RES-046", told.calls == 0);
    probe_client_go_on(p, a, keep_one);
    CHECK_RULE("RES-046", told.calls == 0 && budget >= 2 * PIECE);
    probe_client_go_on(p, b, give_two);
    /* nobody is told who has taken back what he registered */
    probe_client_go_on(p, a, dismiss_one);
    probe_client_go_on(p, b, take_two_again);
    probe_client_go_on(p, a, see_budget);
    CHECK_RULE("RES-046", told.calls == 0);
    CHECK_RULE("KMT-294", told.calls == 0);
    end(p, a, b);
}

static void enroll_two(struct probe *p)
{
    void *handle;

    take_three(p);
    CHECK_RULE("KMT-293", IS(enroll(NULL, NULL, &handle), STATUS_INVALID_PARAMETER));
    luid.LowPart++;
    CHECK_RULE("KMT-293", IS(enroll(first, NULL, &handle), STATUS_INVALID_PARAMETER));
    luid.LowPart--;
    luid.HighPart++;
    CHECK_RULE("KMT-293", IS(enroll(first, NULL, &handle), STATUS_INVALID_PARAMETER));
    luid.HighPart--;
    CHECK_RULE("KMT-293", IS(enroll(second, NULL, &handle), STATUS_SUCCESS));
    CHECK_RULE("KMT-293",
               IS(enroll(first, NULL, &told.handle), STATUS_SUCCESS) && told.handle != handle);
    settle(p);
}

TEST(callbacks_come_in_the_order_of_registration)
{
    struct probe *p = begin();
    struct probe_client *a = probe_client_run(p, enroll_two);
    struct probe_client *b = probe_client_run(p, take_two);

    probe_client_go_on(p, a, see_budget);
    CHECK_RULE("KMT-293", told.calls >= 2 && told.order[0] == 'b' && told.order[1] == 'a');
    end(p, a, b);
}

/* ---- from inside ---- */

static void evict_inside(void)
{
    uint64_t fence;

    told.act = NULL;
    CHECK_RULE("RES-049", NT_SUCCESS(paged_evict(&gpu, pieces[0])) &&
                              NT_SUCCESS(paged_evict(&gpu, pieces[1])));
    CHECK_RULE("RES-049", NT_SUCCESS(paged_make_resident(&gpu, pieces[1], &fence)));
}

static void dismiss_inside(void)
{
    told.act = NULL;
    CHECK_RULE("KMT-295", IS(dismiss(told.handle, first), STATUS_SUCCESS));
    CHECK_RULE("KMT-295", IS(dismiss(told.handle, first), STATUS_INVALID_PARAMETER));
}

static void destroy_inside(void)
{
    D3DKMT_DESTROYDEVICE destroy = {gpu.device};

    told.act = NULL;
    CHECK_RULE("RES-047", IS(D3DKMTDestroyDevice(&destroy), STATUS_SUCCESS));
}

static void nothing(struct probe *p)
{
    settle(p);
}

static unsigned called_with(void (*act)(void), bool again)
{
    struct probe *p = begin();
    struct probe_client *a = probe_client_run(p, enroll_one);
    struct probe_client *b;

    told.act = act;
    b = probe_client_run(p, take_two);
    probe_client_go_on(p, a, nothing);
    CHECK(told.calls >= 1 && told.inside == 0 && told.act == NULL);
    told.calls = 0;
    if (again) {
        probe_client_go_on(p, b, give_two);
        probe_client_go_on(p, a, nothing);
        probe_client_go_on(p, b, take_two_again);
        probe_client_go_on(p, a, nothing);
    }
    end(p, a, b);
    return told.calls;
}

TEST(a_callback_may_call)
{
    CHECK_RULE("RES-049", called_with(evict_inside, false) == 0);
    CHECK_RULE("KMT-295", called_with(dismiss_inside, true) == 0);
    CHECK_RULE("RES-047", called_with(destroy_inside, true) == 0);
}

/* ---- from beside ---- */

static uint64_t waited;

static void destroy_beside(struct probe *p)
{
    D3DKMT_DESTROYDEVICE destroy = {gpu.device};
    uint64_t now = sim_now();

    (void)p;
    CHECK(told.inside == 1);
    CHECK_RULE("RES-047", IS(D3DKMTDestroyDevice(&destroy), STATUS_SUCCESS) && told.inside == 0);
    waited = sim_now() - now;
    told.calls = 0;
}

static void dismiss_beside(struct probe *p)
{
    uint64_t now = sim_now();

    (void)p;
    CHECK(told.inside == 1);
    CHECK_RULE("KMT-294", IS(dismiss(told.handle, first), STATUS_SUCCESS) && told.inside == 0);
    waited = sim_now() - now;
    told.calls = 0;
}

static void beside(void (*act)(struct probe *p))
{
    struct probe *p = begin();
    struct probe_client *a = probe_client_run(p, enroll_one);
    struct probe_client *b;

    told.sleep = PROBE_SECOND;
    b = probe_client_run(p, take_two);
    probe_client_go_on(p, a, act);
    CHECK(waited > PROBE_SECOND / 2);
    probe_client_go_on(p, b, give_two);
    probe_client_go_on(p, b, take_two_again);
    probe_client_go_on(p, a, nothing);
    CHECK(told.calls == 0);
    end(p, a, b);
}

TEST(a_running_callback_is_waited_for)
{
    beside(destroy_beside);
    beside(dismiss_beside);
}

static void enroll_another(struct probe *p)
{
    void *handle;

    enroll_one(p);
    CHECK(IS(enroll(second, NULL, &handle), STATUS_SUCCESS));
    settle(p);
}

TEST(nobody_is_called_when_his_process_ends)
{
    struct probe *p = begin();
    struct probe_client *a = probe_client_run(p, enroll_another);
    struct probe_client *b;

    told.sleep = PROBE_SECOND;
    b = probe_client_run(p, take_two);
    CHECK(told.inside == 1);
    probe_client_end(p, a); /* after it has returned */
    CHECK_RULE("KMT-478", told.inside == 0 && told.calls == 1 && told.order[0] == 'a');
    end(p, NULL, b);
}

/* ---- periods ---- */

static void work_for(uint64_t ns)
{
    uint64_t until = sim_now() + ns;

    while (sim_now() < until) {
        CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
        probe_sleep(PROBE_SECOND);
    }
}

static void work_and_rest(struct probe *p)
{
    uint64_t start;

    take_three(p);
    CHECK(IS(enroll(first, NULL, &told.handle), STATUS_SUCCESS));
    start = sim_now();
    work_for(9 * PROBE_SECOND);
    CHECK_RULE("RES-048", told.calls == 0);
    work_for(2 * PROBE_SECOND);
    CHECK_RULE("RES-048", told.calls == 1 && told.flags.Value == 1 && told.bytes == 0 &&
                              told.time >= start + 10 * PROBE_SECOND);
    work_for(10 * PROBE_SECOND);
    CHECK_RULE("RES-048", told.calls == 2 && told.flags.Value == 1);
    probe_sleep(60 * PROBE_SECOND); /* the rest of a period with work, and nothing after it */
    CHECK_RULE("RES-048", told.calls == 3);
    CHECK(NT_SUCCESS(paged_evict(&gpu, pieces[0])));
    work_for(11 * PROBE_SECOND);
    CHECK_RULE("RES-048", told.calls == 4 && told.flags.Value == 2);
    work_for(10 * PROBE_SECOND);
    CHECK_RULE("RES-048", told.calls == 5 && told.flags.Value == 1 && !told.both);
}

TEST(what_ages_is_asked_for)
{
    struct probe *p = begin();
    struct probe_client *a = probe_client_run(p, work_and_rest);

    end(p, a, NULL);
}

static void refused_1x(struct probe *p)
{
    luid = port_adapter_luid(p->adapter[0]);
    (void)probe_gpu_begin(&gpu);
    CHECK_RULE("KMT-022", IS(enroll(first, NULL, &told.handle), STATUS_NOT_SUPPORTED));
}

TEST(there_are_none_with_a_driver_of_1x)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM1_3};
    struct probe *p = probe_create(&options);
    struct probe_client *a;

    probe_make_1x(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    a = probe_client_run(p, refused_1x);
    end(p, a, NULL);
}
