/* SPDX-License-Identifier: MIT */
/* What a loss of power or a reset does to what is resident on a started adapter, and what comes back, in which order. */
#include "port/support/paged.h"
#include "port/support/portions.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, s) ((NTSTATUS)(status) == (s))
#define MOVE_OUT      DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM
#define MOVE_IN       DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL

static struct probe_gpu gpu;
static D3DKMT_HANDLE live, offered;
static HANDLE live_driver, offered_driver;
static POWER_ACTION action;
static bool hybrid;
static POWER_ACTION told_action;

static void note_action(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->arg[2] != PowerDeviceD0)
        told_action = (POWER_ACTION)call->arg[3];
}

static void off(struct probe *p)
{
    if (hybrid) {
        CHECK(IS(port_adapter_hybrid_sleep(p->adapter[0], PowerDeviceD3), STATUS_SUCCESS));
        return;
    }
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, action), STATUS_SUCCESS));
}

static void on(struct probe *p)
{
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

static struct probe *created(void)
{
    struct probe *p = probe_create(NULL);

    paged_watch(p);
    paged.segments = 1;
    action = PowerActionSleep;
    probe_clients_begin(p);
    return p;
}

static void finish(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static uint64_t order_of_last(const struct probe *p, enum probe_ddi ddi)
{
    return probe_nth(p, ddi, probe_count(p, ddi) - 1)->order;
}

static NTSTATUS offer(D3DKMT_HANDLE allocation)
{
    D3DKMT_OFFERALLOCATIONS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.HandleList = &allocation;
    args.NumAllocations = 1;
    args.Priority = D3DKMT_OFFER_PRIORITY_HIGH;
    args.Flags.OfferImmediately = 1;
    return D3DKMTOfferAllocations(&args);
}

static bool reclaim_finds_content(D3DKMT_HANDLE allocation)
{
    D3DKMT_RECLAIMALLOCATIONS args;
    BOOL discarded = 7;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.HandleList = &allocation;
    args.pDiscarded = &discarded;
    args.NumAllocations = 1;
    CHECK(IS(D3DKMTReclaimAllocations(&args), STATUS_SUCCESS));
    return !discarded;
}

/* ---- what is copied ---- */

static void offer_one_of_two(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &live)));
    live_driver = paged.allocation;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 2 * PAGED_MIB, &offered)));
    offered_driver = paged.allocation;
    CHECK(IS(offer(offered), STATUS_SUCCESS));
}

static void reclaim_after(struct probe *p)
{
    (void)p;
    CHECK_RULE("RES-079", !reclaim_finds_content(offered));
    CHECK_RULE("RES-079", reclaim_finds_content(offered)); /* it is new now */
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
}

TEST(only_what_is_needed_is_copied)
{
    struct probe *p = created();
    struct probe_client *client;
    unsigned mark;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, offer_one_of_two);
    mark = paged.count;
    CHECK(probe_run(p, off) == SIM_DONE);
    CHECK_RULE("RES-079", paged_moves(live_driver, MOVE_OUT, mark) == 1 &&
                              paged_moves(offered_driver, MOVE_OUT, mark) == 0 &&
                              paged_count(DXGK_OPERATION_VIRTUAL_TRANSFER, mark) == 1);
    CHECK(probe_run(p, on) == SIM_DONE);
    mark = paged.count;
    probe_client_go_on(p, client, reclaim_after);
    CHECK_RULE("RES-079", paged_moves(live_driver, MOVE_IN, mark) == 1 &&
                              paged_moves(offered_driver, MOVE_IN, mark) == 0);
    CHECK_RULE("RES-079", paged_count(DXGK_OPERATION_VIRTUAL_FILL, mark) == 1);
    finish(p, client);
}

/* ---- segments that keep what they have ---- */

static struct portions_gpu old;

static void render_once(struct probe *p)
{
    (void)p;
    portions_element(&old, 0, 0, 1, 0);
    CHECK(IS(portions_render(&old, 64, 1), STATUS_SUCCESS));
    portions_finish(&old);
}

static void open_and_render(struct probe *p)
{
    portions_open(&old);
    portions_allocate(&old, 0, PAGED_MIB);
    render_once(p);
}

/* Operations of a sleep, a wake and the next use, and whether the place is the same. */
static SIZE_T end; /* of what the firmware uses */

static unsigned operations_of(POWER_ACTION how, UINT flags, bool *same)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);
    struct probe_client *client;
    uint64_t where;
    unsigned mark;

    paged_watch(p);
    paged.segments = 1;
    action = how;
    p->segment[0].Flags.Value |= flags;
    p->segment[0].SystemMemoryEndAddress = end;
    p->before[PROBE_SetPowerState] = note_action;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, open_and_render);
    where = portions_address(portions.patch_count - 1, 1);
    mark = paged.count;
    CHECK(probe_run(p, off) == SIM_DONE);
    CHECK(probe_run(p, on) == SIM_DONE);
    probe_client_go_on(p, client, render_once);
    *same = portions_address(portions.patch_count - 1, 1) == where;
    mark = paged.count - mark;
    finish(p, client);
    return mark;
}

TEST(a_preserved_segment_is_left_alone)
{
    const DXGK_SEGMENTFLAGS standby = {.PreservedDuringStandby = 1},
                            both = {.PreservedDuringStandby = 1, .PreservedDuringHibernate = 1};
    bool same;

    CHECK_RULE("RES-080", operations_of(PowerActionSleep, standby.Value, &same) == 0 && same);
    CHECK_RULE("RES-080", operations_of(PowerActionHibernate, both.Value, &same) == 0 && same);
    CHECK_RULE("RES-080", operations_of(PowerActionHibernate, standby.Value, &same) == 2);
    CHECK_RULE("RES-080", operations_of(PowerActionSleep, 0, &same) == 2);
}

TEST(hybrid_sleep_empties_memory_as_hibernation_does)
{
    const DXGK_SEGMENTFLAGS standby = {.PreservedDuringStandby = 1},
                            both = {.PreservedDuringStandby = 1, .PreservedDuringHibernate = 1},
                            part = {.PreservedDuringStandby = 1,
                                    .PartiallyPreservedDuringHibernate = 1};
    bool same;

    hybrid = true;
    CHECK_RULE("RES-081", operations_of(PowerActionSleep, standby.Value, &same) == 2);
    CHECK_RULE("RES-081", told_action == PowerActionSleep);
    CHECK_RULE("RES-081", operations_of(PowerActionSleep, both.Value, &same) == 0 && same);
    end = (15u << 20) - 1;
    CHECK_RULE("RES-081", operations_of(PowerActionSleep, part.Value, &same) == 0 && same);
    end = 0xFFF;
    CHECK_RULE("RES-081", operations_of(PowerActionSleep, part.Value, &same) == 2);
    end = 0;
    CHECK_RULE("RES-081", operations_of(PowerActionSleep, 0, &same) == 2);
    hybrid = false;
    CHECK_RULE("RES-081", operations_of(PowerActionSleep, standby.Value, &same) == 0);
}

/* ---- the order in which all comes back ---- */

static bool is_at_once(const struct paged_op *op)
{
    return !op->args.pDmaBuffer;
}

static bool is_in(const struct paged_op *op)
{
    return op->args.Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
           op->args.TransferVirtual.TransferDirection == MOVE_IN;
}

static bool is_clients(const struct paged_op *op)
{
    return op->args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE &&
           op->args.UpdatePageTable.hProcess == paged.process;
}

static void use_mapped(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &live)));
    CHECK(paged_map(&gpu, live, 1024 * PAGED_MIB, 0, 16) != 0);
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
}

static void submit(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
}

TEST(tables_come_back_before_content_and_content_before_work)
{
    struct probe *p = created();
    struct probe_client *client;
    unsigned mark, first, last = 0, tables, in;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, use_mapped);
    CHECK(probe_run(p, off) == SIM_DONE);
    mark = paged.count;
    CHECK(probe_run(p, on) == SIM_DONE);
    probe_client_go_on(p, client, submit);
    first = paged_where(is_at_once, mark);
    for (unsigned i = first; i < paged.count; i++)
        if (is_at_once(&paged.op[i]))
            last = i;
    tables = paged_where(is_clients, mark);
    in = paged_where(is_in, mark);
    CHECK_RULE("RES-082", first == mark && last < tables && tables < in && in < paged.count);
    CHECK_RULE("RES-082", paged.op[first].order > order_of_last(p, PROBE_SetPowerState));
    CHECK_RULE("RES-082", paged.op[in].order < order_of_last(p, PROBE_SubmitCommandVirtual));
    finish(p, client);
}

/* ---- page tables are not for eviction ---- */

static uint64_t table_page[2048]; /* of the paging process's tables of level 0 */
static unsigned table_pages, overlaps, at_once;

/* Entries that name pages of tables, among those through which content is moved. */
static void look_for_tables(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &args->UpdatePageTable;

    (void)p;
    if (args->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || u->hProcess != paged.system_process)
        return;
    at_once += !args->pDmaBuffer;
    for (UINT i = 0; i < (u->Flags.Repeat ? 1 : u->NumPageTableEntries); i++) {
        const DXGK_PTE *entry = &u->pPageTableEntries[i];

        if (u->PageTableLevel == 1 && entry->Valid && table_pages < 2048)
            table_page[table_pages++] = entry->PageTableAddress;
        for (unsigned t = 0;
             u->PageTableLevel == 0 && entry->Valid && entry->Segment == 1 && t < table_pages; t++)
            overlaps += entry->PageAddress == table_page[t];
    }
}

static void press(struct probe *p)
{
    D3DKMT_HANDLE h;
    unsigned count = 0;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    paged.segments = 1;
    while (NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &h)))
        count++;
    CHECK(count >= 12 && count < 16);
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
}

TEST(pressure_does_not_move_the_tables_of_paging)
{
    struct probe *p = created();
    struct probe_client *client;

    table_pages = overlaps = at_once = 0;
    p->after[PROBE_BuildPagingBuffer] = look_for_tables;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(table_pages == 512);
    at_once = 0;
    client = probe_client_run(p, press);
    CHECK_RULE("RES-083", at_once == 0 && overlaps == 0 && table_pages == 512);
    CHECK(probe_run(p, off) == SIM_DONE);
    CHECK_RULE("RES-083", at_once == 0);
    CHECK(probe_run(p, on) == SIM_DONE);
    CHECK_RULE("RES-083", at_once > 512);
    finish(p, client);
}

/* ---- views of the processor ---- */

static volatile UINT32 *view;
static volatile UINT32 *bar;
static uint64_t place;

static void note_place(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (args->Operation == DXGK_OPERATION_VIRTUAL_FILL)
        for (unsigned i = paged.count; i-- > 0;)
            if (paged.op[i].args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE &&
                paged.op[i].args.UpdatePageTable.hProcess == paged.system_process &&
                paged.op[i].entry.Valid && paged.op[i].entry.Segment == 1) {
                place = paged.op[i].entry.PageAddress * PAGED_PAGE;
                return;
            }
}

static void write_memory(struct probe *p, UINT32 value)
{
    (void)p;
    bar[place / sizeof(*bar)] = value;
}

static void lock_it(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &live)));
    view = paged_lock(&gpu, live);
    CHECK(view != NULL);
    write_memory(p, 0x11);
    CHECK(*view == 0x11); /* it shows the memory of the device */
    view[1] = 0x77;
}

static bool lost_with_power;

/* Memory of the device that is about to lose its power. */
static void scribble(struct probe *p, struct probe_call *call)
{
    UINT32 before;

    if (call->arg[2] == PowerDeviceD0)
        return;
    before = *view;
    write_memory(p, before + 1);
    lost_with_power = *view != before;
}

static void look_again(struct probe *p)
{
    (void)p;
    *view = 0x22;
    CHECK_RULE("RES-084", *view == 0x22 && NT_SUCCESS(paged_unlock(&gpu, live)));
}

static void map_bar(struct probe *p, struct probe_call *call)
{
    PVOID mapped;

    (void)call;
    CHECK(
        NT_SUCCESS(p->state[0].dxgk.DxgkCbMapMemory(p->state[0].dxgk.DeviceHandle, probe_bar(p, 1),
                                                    16 << 20, FALSE, FALSE, MmNonCached, &mapped)));
    bar = mapped;
}

static void unmap_bar(struct probe *p, struct probe_call *call)
{
    (void)call;
    (void)p->state[0].dxgk.DxgkCbUnmapMemory(p->state[0].dxgk.DeviceHandle, (PVOID)(uintptr_t)bar);
}

TEST(a_view_does_not_stay_on_memory_without_power)
{
    struct probe *p = created();
    struct probe_client *client;

    p->after[PROBE_StartDevice] = map_bar;
    p->before[PROBE_StopDevice] = unmap_bar;
    p->after[PROBE_BuildPagingBuffer] = note_place;
    p->before[PROBE_SetPowerState] = scribble;
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, lock_it);
    lost_with_power = true;
    CHECK(probe_run(p, off) == SIM_DONE);
    CHECK_RULE("RES-084", !lost_with_power);
    CHECK(probe_run(p, on) == SIM_DONE);
    probe_client_go_on(p, client, look_again);
    finish(p, client);
}

/* ---- DXGK_EXCLUDE_EVICT_ALL ---- */

static struct {
    bool begun, ended;
    uint64_t order, ended_at;
    bool passive;
} excluded;
static uint64_t request_done;

static VOID NTAPI wipe(PVOID context, PVOID argument, NTSTATUS status)
{
    struct probe *p = argument;

    (void)context;
    CHECK(IS(status, STATUS_SUCCESS));
    excluded.order = p->calls;
    excluded.passive = sim_irql() == SIM_IRQL_PASSIVE;
    excluded.begun = true;
    probe_sleep(PROBE_SECOND / 10);
    excluded.ended = true;
    excluded.ended_at = sim_now();
}

static void exclude(struct probe *p)
{
    CHECK(IS(p->state[0].dxgk.DxgkCbExcludeAdapterAccess(p->state[0].dxgk.DeviceHandle,
                                                         DXGK_EXCLUDE_EVICT_ALL, wipe, p),
             STATUS_SUCCESS));
    while (!excluded.begun)
        probe_sleep(PROBE_SECOND / 1000);
}

static void take_live(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &live)));
    live_driver = paged.allocation;
}

static void ask_meanwhile(struct probe *p)
{
    CHECK(excluded.begun && !excluded.ended);
    submit(p);
    request_done = sim_now();
}

TEST(memory_is_empty_while_the_driver_has_it)
{
    struct probe *p = created();
    struct probe_client *client;
    unsigned mark;

    memset(&excluded, 0, sizeof(excluded));
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, take_live);
    mark = paged.count;
    CHECK(probe_run(p, exclude) == SIM_DONE);
    CHECK_RULE("RES-088", excluded.passive && paged_moves(live_driver, MOVE_OUT, mark) == 1 &&
                              paged.op[paged.count - 1].order < excluded.order);
    probe_client_go_on(p, client, ask_meanwhile);
    CHECK_RULE("RES-088", excluded.ended && request_done >= excluded.ended_at);
    CHECK_RULE("RES-088", paged_moves(live_driver, MOVE_IN, mark) == 1);
    finish(p, client);
}

/* ---- an engine reset that hits paging ---- */

static void end_the_hang(struct probe *p, struct probe_call *call)
{
    PULONG registers = p->state[0].registers;

    (void)call;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    probe_device_packet_ns = 1000;
}

static D3DKMT_DEVICEEXECUTION_STATE state(void)
{
    D3DKMT_GETDEVICESTATE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(NT_SUCCESS(D3DKMTGetDeviceState(&args)));
    return args.ExecutionState;
}

static void page_in_that_hangs(struct probe *p)
{
    uint64_t fence;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(paged_create(&gpu, PAGED_MIB, &live)));
    probe_device_packet_ns = 1000 * PROBE_SECOND;
    CHECK(IS(paged_make_resident(&gpu, live, &fence), STATUS_PENDING));
    probe_sleep(20 * PROBE_SECOND);
    CHECK_RULE("RES-087", state() != D3DKMT_DEVICEEXECUTION_ACTIVE);
    /* the system's device goes on paging, for a new one */
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("RES-087", NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &live)));
    submit(p);
}

TEST(an_engine_reset_in_paging_grows)
{
    struct probe *p = created();
    struct probe_client *client;
    size_t devices;

    p->before[PROBE_ResetEngine] = end_the_hang;
    p->before[PROBE_ResetFromTimeout] = end_the_hang;
    CHECK(NT_SUCCESS(probe_start(p)));
    devices = probe_count(p, PROBE_CreateDevice);
    client = probe_client_run(p, page_in_that_hangs);
    CHECK_RULE("RES-087", probe_count(p, PROBE_ResetEngine) == 1 &&
                              probe_count(p, PROBE_ResetFromTimeout) == 1 &&
                              probe_nth(p, PROBE_ResetEngine, 0)->order <
                                  probe_nth(p, PROBE_ResetFromTimeout, 0)->order);
    CHECK_RULE("RES-087", probe_count(p, PROBE_CreateDevice) == devices + 2); /* no system device */
    finish(p, client);
}
