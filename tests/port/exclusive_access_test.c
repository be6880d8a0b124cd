/* SPDX-License-Identifier: MIT */
/* The switch of a working adapter to isolation: when it is made, what stands still meanwhile, and what goes on afterwards. */
#include "bus/dma.h"
#include "nt/base/current.h"
#include "port/record/adapter_record.h"
#include "port/support/client.h"
#include "port/support/memory_calls.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define MS 1000000ull

static const struct probe_options present = {.port = {.iommu_present = true}};
static const struct probe_options isolated = {.port = {.iommu = IOMMU_ISOLATION}};

static NTSTATUS status[2];
static struct sim_thread *threads[2];

static void change_first(struct probe *p)
{
    status[0] = port_adapter_set_dma_mode(p->adapter[0], IOMMU_ISOLATION);
}

static void change_second(struct probe *p)
{
    status[1] = port_adapter_create_secure_vm(p->adapter[0]);
}

static void begin_thread(struct probe *p, unsigned i, void (*body)(struct probe *p))
{
    status[i] = STATUS_PENDING;
    threads[i] = probe_thread(p, nt_process_system(), "switch", body);
}

static void end_thread(unsigned i)
{
    while (!sim_thread_ended(threads[i]))
        probe_sleep(MS);
    sim_thread_release(threads[i]);
}

/* ---- once for each adapter ---- */

TEST(each_adapter_is_switched_once)
{
    struct probe_options two = isolated;
    struct probe *p;

    two.adapters = 2;
    p = probe_started(&two);
    CHECK_RULE("IOMMU-055", probe_count(p, PROBE_BeginExclusiveAccess) == 2 &&
                                probe_count(p, PROBE_EndExclusiveAccess) == 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct probe_call *begin = probe_nth(p, PROBE_BeginExclusiveAccess, i);
        const struct probe_call *end = probe_nth(p, PROBE_EndExclusiveAccess, i);

        CHECK_RULE("IOMMU-055", begin->arg[0] == (uint64_t)(uintptr_t)p->state[i].context &&
                                    end->arg[0] == begin->arg[0] && end->order == begin->order + 1);
        CHECK(port_adapter_dma_mode(p->adapter[i]) == IOMMU_ISOLATION);
    }
    probe_destroy(p);
}

static void both_ask(struct probe *p)
{
    bus_device_iommu(p->device[0])->change_ns = 10 * MS;
    begin_thread(p, 0, change_first);
    begin_thread(p, 1, change_second);
    end_thread(0);
    end_thread(1);
    bus_device_iommu(p->device[0])->change_ns = 0;
    CHECK(IS(status[0], STATUS_SUCCESS) && IS(status[1], STATUS_SUCCESS));
    CHECK_RULE("IOMMU-064/a", probe_count(p, PROBE_BeginExclusiveAccess) == 1 &&
                                  probe_count(p, PROBE_EndExclusiveAccess) == 1);
    CHECK_RULE("IOMMU-046", probe_rule(p, "IOMMU-046") == 0 &&
                                port_adapter_dma_mode(p->adapter[0]) == IOMMU_ISOLATION);
}

TEST(two_requests_are_one_switch)
{
    probe_end(probe_started(&present), both_ask);
}

/* ---- what was there before stays ---- */

static bool writes_at(uint64_t page)
{
    uint32_t word = 0x77;

    return probe_device_dma(0, page * PAGE_SIZE + 8, &word, sizeof(word), true);
}

static void memory_stays(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 3 * PAGE_SIZE,
                                                     DXGK_MEMORY_CACHING_TYPE_CACHED);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, 3 * PAGE_SIZE);
    DXGK_ADL *adl = make_adl(p, object.hAdapterMemoryObject, 3 * PAGE_SIZE);
    PFN_NUMBER listed[3];
    DXGK_PAGE_NUMBER described[3];

    memcpy(listed, MmGetMdlPfnArray(pages.pMdl), sizeof(listed));
    memcpy(described, adl->Pages, sizeof(described));
    CHECK(writes_at(listed[2]) && writes_at(described[2]));
    change_first(p);
    CHECK(IS(status[0], STATUS_SUCCESS));
    CHECK_RULE("IOMMU-004/a", memcmp(listed, MmGetMdlPfnArray(pages.pMdl), sizeof(listed)) == 0 &&
                                  memcmp(described, adl->Pages, sizeof(described)) == 0);
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-004/a", writes_at(listed[k]) && writes_at(described[k]));
    free_adl(p, object.hAdapterMemoryObject, adl);
    CHECK(!writes_at(described[2]) && writes_at(listed[2]));
    CHECK_RULE("IOMMU-005",
               IS(port_adapter_set_dma_mode(p->adapter[0], IOMMU_OFF), STATUS_NOT_SUPPORTED) &&
                   !writes_at(described[2]) && writes_at(listed[2]));
    destroy_object(p, &object);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK(!writes_at(listed[2]));
}

TEST(memory_from_before_the_switch_keeps_its_addresses)
{
    struct probe *p = probe_create(&present);

    p->iommu.DmaRemappingSupported = 0;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, memory_stays);
}

/* ---- the device in the window ---- */

static struct page_number scratch;

static void access_scratch(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    CHECK(writes_at(scratch.value));
}

static void access_inside(struct probe *p)
{
    probe_sleep(5 * MS); /* the switch takes longer */
    CHECK_RULE("IOMMU-059/b", probe_rule(p, "IOMMU-059") == 0);
    CHECK(writes_at(scratch.value));
    CHECK_RULE("IOMMU-059/a", probe_rule(p, "IOMMU-059") == 1);
}

static void begin_access(struct probe *p, struct probe_call *call)
{
    (void)call;
    bus_device_iommu(p->device[0])->change_ns = 20 * MS;
    begin_thread(p, 1, access_inside);
}

static void window_body(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, PAGE_SIZE, DXGK_MEMORY_CACHING_TYPE_CACHED);

    scratch.value = MmGetMdlPfnArray(pages.pMdl)[0];
    change_first(p);
    bus_device_iommu(p->device[0])->change_ns = 0;
    end_thread(1);
    CHECK(IS(status[0], STATUS_SUCCESS));
    CHECK_RULE("IOMMU-059/b", writes_at(scratch.value) && probe_rule(p, "IOMMU-059") == 1);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
}

/* Inside Begin and inside End the device may still, or again, be at work. */
TEST(the_window_is_between_the_two)
{
    struct probe *p = probe_create(&present);

    p->iommu.DmaRemappingSupported = 0;
    p->before[PROBE_BeginExclusiveAccess] = p->after[PROBE_EndExclusiveAccess] = access_scratch;
    p->after[PROBE_BeginExclusiveAccess] = begin_access;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, window_body);
}

/* ---- a switch under load ---- */

static struct {
    size_t window_begins, window_ends; /* orders */
    bool idle;
    unsigned completed; /* at the begin */
    bool done;
} load;

static void note_begin(struct probe *p, struct probe_call *call)
{
    load.window_begins = call->order;
    load.idle = true;
    for (unsigned node = 0; node < 2; node++)
        load.idle = load.idle && p->state[0].submitted[node] == p->state[0].reported[node];
    load.completed = p->state[0].reported[1];
    bus_device_iommu(p->device[0])->change_ns = 30 * MS;
}

static void note_end(struct probe *p, struct probe_call *call)
{
    load.window_ends = call->order;
    bus_device_iommu(p->device[0])->change_ns = 0;
}

static void submit_much(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    for (unsigned i = 0; i < 40; i++) {
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
        if (i % 8 == 0)
            CHECK(IS(probe_gpu_allocate(&gpu, 8192, &allocation), STATUS_SUCCESS));
    }
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    load.done = true;
}

static void switch_body(struct probe *p)
{
    probe_sleep(10 * MS);
    begin_thread(p, 0, change_first);
    end_thread(0);
}

TEST(a_switch_waits_for_work_and_holds_it_up)
{
    struct probe *p = probe_create(&present);
    struct probe_client *client;
    size_t before = 0, after = 0;

    memset(&load, 0, sizeof(load));
    p->before[PROBE_BeginExclusiveAccess] = note_begin;
    p->before[PROBE_EndExclusiveAccess] = note_end;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_device_packet_ns = 3 * MS;
    client = probe_client_start(p, submit_much);
    CHECK(probe_run(p, switch_body) == SIM_DONE);
    CHECK_RULE("IOMMU-057/a", load.idle && load.completed > 0);
    CHECK(IS(status[0], STATUS_SUCCESS) && port_adapter_dma_mode(p->adapter[0]) == IOMMU_ISOLATION);
    probe_client_wait(p, client);
    CHECK_RULE("IOMMU-058", load.window_ends == load.window_begins + 1);
    for (size_t i = 0; i < probe_count(p, PROBE_SubmitCommandVirtual); i++) {
        const size_t order = probe_nth(p, PROBE_SubmitCommandVirtual, i)->order;

        CHECK_RULE("IOMMU-057/b", order < load.window_begins || order > load.window_ends);
        before += order < load.window_begins;
        after += order > load.window_ends;
    }
    CHECK_RULE("IOMMU-057/b", before > 0 && after > 0 && load.done &&
                                  p->state[0].submitted[1] == p->state[0].reported[1]);
    CHECK_RULE("IOMMU-061/b", probe_count(p, PROBE_ResetEngine) == 0 &&
                                  probe_count(p, PROBE_ResetFromTimeout) == 0);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- when it is not made ---- */

static void reset_body(struct probe *p)
{
    CHECK(vidsch_force_reset(p->adapter[0]->managers.vidsch, true) == STATUS_SUCCESS);
    end_thread(0);
}

static void ask_in_reset(struct probe *p, struct probe_call *call)
{
    (void)call;
    begin_thread(p, 0, change_first);
    probe_sleep(20 * MS);
    CHECK_RULE("IOMMU-064/d", probe_count(p, PROBE_BeginExclusiveAccess) == 0);
}

TEST(not_during_a_reset)
{
    struct probe *p = probe_create(&present);

    p->before[PROBE_ResetFromTimeout] = ask_in_reset;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, reset_body) == SIM_DONE);
    CHECK_RULE("IOMMU-064/d", IS(status[0], STATUS_SUCCESS) &&
                                  probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order >
                                      probe_nth(p, PROBE_RestartFromTimeout, 0)->order);
    probe_destroy(p);
}

static void ask_from_beside(struct probe *p, struct probe_call *call)
{
    (void)call;
    p->adapter[0] = port_adapter_first(p->port);
    begin_thread(p, 0, change_first);
    probe_sleep(20 * MS); /* it has asked, and may wait */
}

static void ask_then(struct probe *p, enum probe_ddi ddi)
{
    p->before[ddi] = ask_from_beside;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_stop(p) == 0);
    CHECK(sim_thread_ended(threads[0]));
    sim_thread_release(threads[0]);
    CHECK_RULE("IOMMU-064/b", IS(status[0], STATUS_INVALID_DEVICE_STATE) &&
                                  probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    probe_destroy(p);
}

/* Also while the managers of memory and of work end. */
TEST(not_before_the_start_nor_after_the_stop)
{
    ask_then(probe_create(&present), PROBE_StartDevice);
    ask_then(probe_create(&present), PROBE_StopDevice);
    ask_then(probe_create(&present), PROBE_DestroyProcess);
}

static void remove_body(struct probe *p)
{
    begin_thread(p, 0, change_first);
    probe_sleep(20 * MS);
    CHECK(probe_count(p, PROBE_BeginExclusiveAccess) == 1);
    CHECK(probe_count(p, PROBE_EndExclusiveAccess) == 0);
    probe_remove(p, 0);
    CHECK(sim_thread_ended(threads[0]));
    sim_thread_release(threads[0]);
    CHECK_RULE("IOMMU-064/b", probe_nth(p, PROBE_EndExclusiveAccess, 0)->order <
                                  probe_nth(p, PROBE_StopDevice, 0)->order);
    CHECK_RULE("IOMMU-046", probe_rule(p, "IOMMU-046") == 0 && IS(status[0], STATUS_SUCCESS));
}

static void take_time(struct probe *p, struct probe_call *call)
{
    (void)call;
    bus_device_iommu(p->device[0])->change_ns = 100 * MS;
}

TEST(a_removal_waits_for_the_switch)
{
    struct probe *p = probe_create(&present);

    p->before[PROBE_BeginExclusiveAccess] = take_time;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, remove_body) == SIM_DONE);
    probe_destroy(p);
}

static void removal_under_load(struct probe *p)
{
    probe_sleep(10 * MS);
    begin_thread(p, 0, change_first);
    probe_sleep(MS);
    CHECK(probe_count(p, PROBE_BeginExclusiveAccess) == 0); /* it waits for the device */
    probe_remove(p, 0);
    CHECK_RULE("IOMMU-064/b", sim_thread_ended(threads[0]) && IS(status[0], STATUS_SUCCESS));
    sim_thread_release(threads[0]);
    CHECK_RULE("IOMMU-064/b", probe_nth(p, PROBE_EndExclusiveAccess, 0)->order <
                                  probe_nth(p, PROBE_StopDevice, 0)->order);
}

static void submit_and_leave(struct probe *p)
{
    struct probe_gpu gpu;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    for (unsigned i = 0; i < 8; i++)
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    load.done = true;
}

TEST(a_removal_waits_for_a_switch_that_waits_for_work)
{
    struct probe *p = probe_create(&present);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_device_packet_ns = 300 * MS;
    client = probe_client_run(p, submit_and_leave);
    CHECK(probe_run(p, removal_under_load) == SIM_DONE);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* A start that fails is not followed by a switch. */
TEST(not_after_a_failed_start)
{
    struct probe *p = probe_create(&isolated);

    p->before[PROBE_StartDevice] = probe_fail_call;
    CHECK(!NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-064/b", probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    probe_destroy(p);
}
