/* SPDX-License-Identifier: MIT */
/* Context allocations of a driver on a started adapter: where their callbacks may be made, and what becomes of each. */
#include "port/support/context_calls.h"

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define G                  (&context_rig.gpu)
#define MB                 (1ull << 20)

static HANDLE item;
static D3DGPU_VIRTUAL_ADDRESS where;

static void begin_client(void)
{
    CHECK(IS(probe_gpu_begin(G), STATUS_SUCCESS));
}

static void end_client(void)
{
    CHECK(IS(probe_gpu_end(G), STATUS_SUCCESS));
}

static void make(struct probe *p)
{
    item = context_make(p);
}

static void unmake(struct probe *p)
{
    CHECK_RULE("CTXA-062", context_destroy(p, item) == STATUS_SUCCESS);
}

static void run(void (*body)(struct probe *p))
{
    context_rig_run(context_rig_create(NULL), body);
}

static uint64_t errors(const struct probe *p)
{
    return probe_reports(p, VERIFY_WARNING);
}

/* ---- addresses that are not free ---- */

static D3DGPU_VIRTUAL_ADDRESS reserved, mapped;

static void reserve_and_map(void)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve;
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    D3DKMT_HANDLE allocation = 0;

    memset(&reserve, 0, sizeof(reserve));
    reserve.hPagingQueue = G->queue;
    reserve.BaseAddress = 64 * MB;
    reserve.Size = 65536;
    CHECK(NT_SUCCESS(D3DKMTReserveGpuVirtualAddress(&reserve)));
    reserved = reserve.VirtualAddress;
    CHECK(NT_SUCCESS(probe_gpu_allocate(G, 8192, &allocation)));
    memset(&map, 0, sizeof(map));
    map.hPagingQueue = G->queue;
    map.BaseAddress = 128 * MB;
    map.hAllocation = allocation;
    map.SizeInPages = 2;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&map)));
    mapped = map.VirtualAddress;
}

static void map_where_things_are(struct probe *p)
{
    uint64_t before = errors(p);

    item = context_make(p);
    where = context_map_at(p, item, 256 * MB);
    CHECK_RULE("CTXA-046", where == 256 * MB);
    /* below, inside, at the last page: each is refused, and told */
    CHECK_RULE("CTXA-046", context_map_at(p, item, reserved - 4096) == 0 &&
                               context_map_at(p, item, reserved) == 0 &&
                               context_map_at(p, item, reserved + 65536 - 4096) == 0);
    CHECK_RULE(
        "CTXA-046",
        probe_said(p, "CTXA-046", "taken by a reservation of the client, 0x4000000 to 0x400ffff"));
    CHECK_RULE("CTXA-050", errors(p) == before && probe_rule(p, "CTXA-050") == 0);
    CHECK_RULE("CTXA-046", probe_record(p, "CTXA-046")->severity == VERIFY_NOTE);
    /* beside it is free */
    CHECK_RULE("CTXA-046", context_map_at(p, item, reserved - 8192) == reserved - 8192 &&
                               context_map_at(p, item, reserved + 65536) == reserved + 65536);
}

static void map_over_a_mapping(struct probe *p)
{
    CHECK_RULE("CTXA-046", context_map_at(p, item, mapped + 4096) == 0);
}

static void taken_body(struct probe *p)
{
    begin_client();
    reserve_and_map();
    context_rig_inside(0, map_where_things_are);
    context_rig_inside(0, unmake);
    CHECK(errors(p) == 0);
    end_client();
}

static void addresses_that_are_taken_are_an_outcome(void **state)
{
    (void)state;
    run(taken_body);
}

static void taken_mapping_body(struct probe *p)
{
    begin_client();
    reserve_and_map();
    context_rig_inside(0, make);
    context_rig_inside(0, map_over_a_mapping);
    CHECK_RULE("CTXA-046", probe_said(p, "CTXA-046",
                                      "taken by a mapping of the client, 0x8000000 to 0x8001fff "
                                      "(there, an allocation of 8192 bytes)"));
    context_rig_inside(0, unmake);
    end_client();
}

static void the_taker_may_be_a_mapping(void **state)
{
    (void)state;
    run(taken_mapping_body);
}

static D3DKMT_HANDLE map_client(uint64_t base, uint64_t bytes)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    D3DKMT_HANDLE allocation = 0;

    CHECK(NT_SUCCESS(probe_gpu_allocate(G, bytes, &allocation)));
    memset(&map, 0, sizeof(map));
    map.hPagingQueue = G->queue;
    map.BaseAddress = base;
    map.hAllocation = allocation;
    map.SizeInPages = bytes / 4096;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&map)));
    return allocation;
}

static void map_into_a_reservation(struct probe *p)
{
    CHECK_RULE("CTXA-046", context_map_at(p, item, reserved + 32768) == 0);
    CHECK_RULE("CTXA-046", probe_said(p, "CTXA-046",
                                      "taken by a reservation of the client, 0x4000000 to 0x400ffff "
                                      "(there, an allocation of 12288 bytes)"));
}

static void taken_inside_body(struct probe *p)
{
    (void)p;
    begin_client();
    reserve_and_map();
    (void)map_client(reserved, 8192);
    (void)map_client(reserved + 32768, 12288);
    context_rig_inside(0, make);
    context_rig_inside(0, map_into_a_reservation);
    context_rig_inside(0, unmake);
    end_client();
}

static void the_taker_is_what_lies_at_the_place(void **state)
{
    (void)state;
    run(taken_inside_body);
}

static void map_twice(struct probe *p)
{
    item = context_make(p);
    CHECK(context_map_at(p, item, 256 * MB) == 256 * MB);
    CHECK_RULE("CTXA-046", context_map_at(p, item, 256 * MB + 4096) == 0);
    CHECK_RULE("CTXA-046",
               probe_said(p, "CTXA-046",
                          "taken by a mapping of a context allocation, 0x10000000 to 0x10001fff"));
    CHECK(context_destroy(p, item) == STATUS_SUCCESS);
}

static void taken_context_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, map_twice);
    CHECK(errors(p) == 0);
    end_client();
}

static void the_taker_may_be_a_context_allocation(void **state)
{
    (void)state;
    run(taken_context_body);
}

/* ---- windows ---- */

static void windows(struct probe *p)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args;

    item = context_make(p);
    args = context_map_request(item);
    args.MinimumAddress = 64 * MB;
    args.MaximumAddress = 64 * MB + 8192;
    CHECK_RULE("CTXA-047", context_map(p, &args) == 64 * MB);
    CHECK_RULE("CTXA-047", context_map(p, &args) == 0 &&
                               probe_said(p, "CTXA-047",
                                          "no room for 2 pages between MinimumAddress 0x4000000 and "
                                          "MaximumAddress 0x4002000"));
    args.MinimumAddress = 80 * MB;
    args.MaximumAddress = 80 * MB + 4096; /* free, but smaller */
    CHECK_RULE("CTXA-047", context_map(p, &args) == 0 && probe_rule(p, "CTXA-047") == 2);
    CHECK_RULE("CTXA-050", errors(p) == 0);
}

static void bad_windows(struct probe *p)
{
    static const struct {
        uint64_t low, high;
        const char *said;
    } bad[] = {
        {64 * MB + 1, 128 * MB, "MinimumAddress 0x4000001, MaximumAddress 0x8000000: both must be"},
        {64 * MB, 128 * MB + 2048, "MinimumAddress 0x4000000, MaximumAddress 0x8000800: both must"},
        {64 * MB, 64 * MB, "MinimumAddress 0x4000000, MaximumAddress 0x4000000: the first must be"},
        {128 * MB, 64 * MB, "MinimumAddress 0x8000000, MaximumAddress 0x4000000: the first must be"},
    };
    static unsigned round;
    DXGKARGCB_MAPCONTEXTALLOCATION args = context_map_request(item);

    args.MinimumAddress = bad[round].low;
    args.MaximumAddress = bad[round].high;
    CHECK_RULE("CTXA-050", context_map(p, &args) == 0);
    CHECK_RULE("CTXA-050", probe_rule(p, "CTXA-050") == round + 1);
    if (round == 0) /* later ones merge into its record */
        CHECK_RULE("CTXA-050", probe_said(p, "CTXA-050", bad[0].said));
    round++;
    if (round == sizeof(bad) / sizeof(bad[0]))
        round = 0;
}

static void windows_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, windows);
    for (unsigned i = 0; i < 4; i++)
        context_rig_inside(0, bad_windows);
    CHECK_RULE("CTXA-050", probe_record(p, "CTXA-050")->severity == VERIFY_ERROR);
    context_rig_inside(0, unmake);
    end_client();
}

static void windows_without_room_and_bad_ones(void **state)
{
    (void)state;
    run(windows_body);
}

/* ---- malformed arguments ---- */

static const DXGKARGCB_MAPCONTEXTALLOCATION *malformed;
static const char *malformed_said;

static void map_malformed(struct probe *p)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args = *malformed;

    args.hAllocation = item;
    CHECK_RULE("CTXA-050", context_map(p, &args) == 0);
    CHECK_RULE("CTXA-050", probe_rule(p, "CTXA-050") == 1 &&
                               probe_said(p, "CTXA-050", malformed_said) &&
                               probe_record(p, "CTXA-050")->severity == VERIFY_ERROR);
}

static void malformed_body(struct probe *p)
{
    (void)p;
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, map_malformed);
    context_rig_inside(0, unmake);
    end_client();
}

static void malformed_arguments_say_what_is_wrong(void **state)
{
    static const struct {
        uint64_t base, offset, pages, protection;
        const char *said;
    } bad[] = {
        {0, 0, 0, 1, "SizeInPages is 0"},
        {0, 1, 2, 1, "OffsetInPages 1 and SizeInPages 2 pass the end"},
        {0, 0, 3, 1, "OffsetInPages 0 and SizeInPages 3 pass the end"},
        {0, 2, UINT64_MAX - 1, 1, "pass the end"},
        {0, 0, 1, 4, "Protection 0x4: a context allocation cannot be mapped with Zero"},
        {0, 0, 1, 8, "NoAccess"},
        {0, 0, 1, 16, "SystemUseOnly"},
        {0, 0, 1, 32, "a reserved bit"},
        {64 * MB + 2048, 0, 1, 1, "BaseAddress 0x4000800 is no multiple of 4096"},
        {2 * MB - 4096, 0, 1, 1, "outside the address space"},
        {UINT64_MAX - 4095, 0, 1, 1, "outside the address space"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        DXGKARGCB_MAPCONTEXTALLOCATION args;

        memset(&args, 0, sizeof(args));
        args.BaseAddress = bad[i].base;
        args.OffsetInPages = bad[i].offset;
        args.SizeInPages = bad[i].pages;
        args.Protection.Value = bad[i].protection;
        malformed = &args;
        malformed_said = bad[i].said;
        run(malformed_body);
    }
}

/* The first and the last place that there is, and one page further. */
static void map_at_the_edges(struct probe *p)
{
    uint64_t low = 4096ull << p->level[0].PageTableIndexBitCount;
    uint64_t end = 1ull << p->mmu.VirtualAddressBitCount;

    CHECK_RULE("CTXA-046", context_map_at(p, item, low) == low && probe_rule(p, "CTXA-046") == 0);
    CHECK_RULE("CTXA-046", context_map_at(p, item, end - 8192) == 0 &&
                               probe_said(p, "CTXA-046", "taken by a mapping of the host's own"));
    CHECK_RULE("CTXA-050", probe_rule(p, "CTXA-050") == 0);
    CHECK_RULE("CTXA-050",
               context_map_at(p, item, low - 4096) == 0 && probe_rule(p, "CTXA-050") == 1);
    CHECK_RULE("CTXA-050",
               context_map_at(p, item, end - 4096) == 0 && probe_rule(p, "CTXA-050") == 2);
}

static void edges_body(struct probe *p)
{
    (void)p;
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, map_at_the_edges);
    context_rig_inside(0, unmake);
    end_client();
}

static void the_edges_of_the_address_space(void **state)
{
    (void)state;
    run(edges_body);
}

/* ---- the end of one ---- */

static void destroy_and_map_again(struct probe *p)
{
    HANDLE next;

    CHECK(context_destroy(p, item) == STATUS_SUCCESS);
    next = context_make(p);
    CHECK_RULE("CTXA-064", context_map_at(p, next, 64 * MB) == 64 * MB);
    CHECK_RULE("CTXA-052", context_map_at(p, next, 72 * MB) == 72 * MB);
    item = next;
}

static void make_mapped(struct probe *p)
{
    item = context_make(p);
    CHECK(context_map_at(p, item, 64 * MB) == 64 * MB &&
          context_map_at(p, item, 72 * MB) == 72 * MB);
}

static void make_mapped_and_committed(struct probe *p)
{
    make_mapped(p);
    CHECK(context_update(p, item) == STATUS_SUCCESS);
}

static void freed_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make_mapped); /* never on the GPU */
    context_rig_inside(0, destroy_and_map_again);
    context_rig_inside(0, unmake);
    context_rig_inside(0, make_mapped_and_committed); /* resident, its context idle */
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_rig_inside(0, destroy_and_map_again);
    context_rig_inside(0, unmake);
    CHECK(errors(p) == 0);
    end_client();
}

static void addresses_are_free_at_once(void **state)
{
    (void)state;
    run(freed_body);
}

static void destroy_while_busy(struct probe *p)
{
    HANDLE next;

    CHECK(context_destroy(p, item) == STATUS_SUCCESS);
    next = context_make(p);
    CHECK_RULE("CTXA-064", context_map_at(p, next, 64 * MB) == 0 && probe_rule(p, "CTXA-046") == 1);
    item = next;
}

static void map_again(struct probe *p)
{
    CHECK_RULE("CTXA-064", context_map_at(p, item, 64 * MB) == 64 * MB);
}

static void busy_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make_mapped_and_committed);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(NT_SUCCESS(probe_gpu_submit(G)));
    probe_sleep(1000000);
    context_rig_inside(0, destroy_while_busy);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(G)));
    probe_sleep(1000000);
    context_rig_inside(0, map_again);
    context_rig_inside(0, unmake);
    CHECK(errors(p) == 0);
    end_client();
}

static void addresses_stay_while_the_context_runs(void **state)
{
    (void)state;
    run(busy_body);
}

/* What the GPU never had is free at once, whatever else of the context runs. */
static void make_and_destroy_while_busy(struct probe *p)
{
    make_mapped(p);
    destroy_and_map_again(p);
}

static void unused_body(struct probe *p)
{
    begin_client();
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(NT_SUCCESS(probe_gpu_submit(G)));
    probe_sleep(1000000);
    context_rig_inside(0, make_and_destroy_while_busy);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_rig_inside(0, unmake);
    CHECK(errors(p) == 0);
    end_client();
}

static void addresses_of_what_was_not_used_are_free(void **state)
{
    (void)state;
    run(unused_body);
}

/* Destroyed by another thread in the middle of an update: it stays until that is over. */
static struct probe_client *beside;

static void destroy_beside(struct probe *p)
{
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("CTXA-062", context_destroy(p, item) == STATUS_SUCCESS);
}

static void destroy_in_an_update(struct probe *p)
{
    probe_device_packet_ns = PROBE_SECOND / 10;
    beside = probe_client_start(p, destroy_beside);
    CHECK_RULE("CTXA-054", context_update(p, item) == STATUS_SUCCESS && beside->done);
    probe_device_packet_ns = 1000;
    CHECK_RULE("CTXA-063", context_destroy(p, item) == STATUS_INVALID_PARAMETER);
}

static void in_an_update_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, destroy_in_an_update);
    CHECK_RULE("CTXA-066", probe_rule(p, "CTXA-066") == 0);
    end_client();
}

static void run_beside(void (*body)(struct probe *p))
{
    struct probe *p = context_rig_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_client_end(p, beside);
    probe_clients_end(p);
    probe_destroy(p);
}

static void one_in_an_update_may_be_destroyed(void **state)
{
    (void)state;
    run_beside(in_an_update_body);
}

/* ---- where paging cannot be waited for ---- */

static void update_there(struct probe *p)
{
    CHECK_RULE("CTXA-054", context_update(p, item) == STATUS_SUCCESS);
}

static void update_refused(struct probe *p)
{
    CHECK_RULE("CTXA-060", context_update(p, item) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK_RULE("CTXA-060", probe_rule(p, "CTXA-060") == 1 &&
                               probe_said(p, "CTXA-060", "while DxgkDdiEscape has the driver"));
}

static void map_refused(struct probe *p)
{
    CHECK_RULE("CTXA-067", context_map_at(p, item, 256 * MB) == 0);
    CHECK_RULE("CTXA-067", probe_rule(p, "CTXA-067") == 1 &&
                               probe_said(p, "CTXA-067", "while DxgkDdiEscape has the driver"));
}

/* What takes no paging is done there: creation, a mapping of what has no memory yet, destruction. */
static void rest_works(struct probe *p)
{
    HANDLE other = context_make(p);

    CHECK_RULE("CTXA-067", context_map_at(p, other, 258 * MB) == 258 * MB);
    CHECK_RULE("CTXA-067",
               context_destroy(p, other) == STATUS_SUCCESS && probe_rule(p, "CTXA-067") == 1);
}

static void standstill_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, update_there);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_rig_inside(HARDWARE_ACCESS, update_refused);
    context_rig_inside(HARDWARE_ACCESS, map_refused);
    context_rig_inside(HARDWARE_ACCESS, rest_works);
    context_rig_inside(0, update_there); /* nothing is left of the refusals */
    context_rig_inside(0, map_again);
    context_rig_inside(HARDWARE_ACCESS, unmake); /* also of one that is in use */
    CHECK(errors(p) == 2 && sim_now() < PROBE_SECOND);
    end_client();
}

static void nothing_waits_for_paging_at_a_standstill(void **state)
{
    (void)state;
    run(standstill_body);
}

/* The same in other places where nobody else gets into the driver. */
static NTSTATUS elsewhere;
static unsigned asked;

static void update_in_set_power_state(struct probe *p, struct probe_call *call)
{
    (void)call;
    asked++;
    elsewhere = context_update(p, item);
}

static void update_asleep(struct probe *p)
{
    CHECK_RULE("CTXA-060", context_update(p, item) == STATUS_INVALID_DEVICE_REQUEST &&
                               probe_said(p, "CTXA-060", "while the adapter is not in D0"));
}

static void asleep_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, update_there);
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    context_rig_inside(NO_ADAPTER_SYNC, update_asleep);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK_RULE("CTXA-060", probe_rule(p, "CTXA-060") == 1);
    context_rig_inside(0, update_there);
    p->before[PROBE_SetPowerState] = update_in_set_power_state;
    asked = 0;
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("CTXA-060", asked >= 1 && IS(elsewhere, STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "CTXA-060") == 1 + asked);
    p->before[PROBE_SetPowerState] = NULL;
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    context_rig_inside(0, update_there);
    context_rig_inside(0, unmake);
    CHECK(sim_now() < 10 * PROBE_SECOND);
    end_client();
}

static void nothing_waits_for_paging_of_a_sleeping_adapter(void **state)
{
    (void)state;
    run(asleep_body);
}

static void NTAPI alone_routine(PVOID adapter, PVOID context, NTSTATUS status)
{
    (void)adapter;
    (void)context;
    (void)status;
    asked++;
    elsewhere = context_update(probe, item);
}

static void exclude(struct probe *p)
{
    asked = 0;
    CHECK(IS(p->state[0].dxgk.DxgkCbExcludeAdapterAccess(p->state[0].dxgk.DeviceHandle, 0,
                                                         alone_routine, NULL),
             STATUS_SUCCESS));
    probe_sleep(1000000); /* it has begun, and waits for this DDI to end */
    CHECK_RULE("CTXA-054", context_update(p, item) == STATUS_SUCCESS);
}

static void exclusion_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, update_there);
    asked = 0;
    context_rig_inside(0, exclude);
    while (!asked)
        probe_sleep(1000000);
    CHECK_RULE("CTXA-060", IS(elsewhere, STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_said(p, "CTXA-060", "while DxgkProtectedCallback has the"));
    context_rig_inside(0, update_there);
    context_rig_inside(0, unmake);
    CHECK(sim_now() < PROBE_SECOND);
    end_client();
}

static void nothing_waits_for_paging_in_an_exclusion(void **state)
{
    (void)state;
    run(exclusion_body);
}

/* A driver that is inside beside somebody who wants it for himself: it is let out first. */
static void ask_for_the_hardware(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_ESCAPE args;

    (void)p;
    memset(&adapters, 0, sizeof(adapters));
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    memset(&args, 0, sizeof(args));
    args.hAdapter = adapters.Adapters[0].hAdapter;
    args.Flags.HardwareAccess = 1;
    CHECK(IS(D3DKMTEscape(&args), STATUS_SUCCESS));
}

static void update_while_asked_for(struct probe *p)
{
    context_rig.calls = NULL;
    beside = probe_client_start(p, ask_for_the_hardware);
    probe_sleep(1000000);
    CHECK_RULE("CTXA-054", context_update(p, item) == STATUS_SUCCESS);
}

static void beside_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(0, update_while_asked_for);
    while (!beside->done)
        probe_sleep(1000000);
    CHECK(probe_count(p, PROBE_Escape) == 3);
    context_rig_inside(0, unmake);
    CHECK_RULE("CTXA-060", errors(p) == 0 && sim_now() < 10 * PROBE_SECOND);
    end_client();
}

static void an_update_ends_beside_one_who_wants_the_driver(void **state)
{
    struct probe *p = context_rig_create(NULL);
    struct probe_client *client;

    (void)state;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, beside_body);
    probe_client_end(p, client);
    probe_client_end(p, beside);
    probe_clients_end(p);
    probe_destroy(p);
}

/* The same, of one who empties video memory first. */
static void NTAPI evicted_routine(PVOID adapter, PVOID context, NTSTATUS status)
{
    (void)adapter;
    (void)context;
    asked++;
    elsewhere = status;
}

static void exclude_and_evict(struct probe *p)
{
    CHECK(IS(p->state[0].dxgk.DxgkCbExcludeAdapterAccess(
                 p->state[0].dxgk.DeviceHandle, DXGK_EXCLUDE_EVICT_ALL, evicted_routine, NULL),
             STATUS_SUCCESS));
    probe_sleep(1000000); /* it has begun, and waits for this DDI to end */
    CHECK_RULE("CTXA-054", context_update(p, item) == STATUS_SUCCESS);
}

static void evicted_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    asked = 0;
    context_rig_inside(0, exclude_and_evict);
    while (!asked)
        probe_sleep(1000000);
    CHECK_RULE("LIFE-109", IS(elsewhere, STATUS_SUCCESS));
    CHECK_RULE("LIFE-112", probe_rule(p, "LIFE-112") == 0 && sim_now() < PROBE_SECOND);
    context_rig_inside(0, update_there);
    context_rig_inside(0, unmake);
    CHECK(errors(p) == 0);
    end_client();
}

static void an_update_ends_beside_one_who_empties_video_memory(void **state)
{
    (void)state;
    run(evicted_body);
}

static void sleep_beside(struct probe *p)
{
    elsewhere = port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

static void update_while_power_goes(struct probe *p)
{
    context_rig.calls = NULL;
    beside = probe_client_start(p, sleep_beside);
    probe_sleep(10000000);
    CHECK_RULE("CTXA-054", context_update(p, item) == STATUS_SUCCESS);
    CHECK_RULE("THREAD-030", probe_count(p, PROBE_SetPowerState) == 0);
}

static void power_goes_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(NO_ADAPTER_SYNC, update_while_power_goes);
    while (!beside->done)
        probe_sleep(1000000);
    CHECK_RULE("THREAD-037", IS(elsewhere, STATUS_SUCCESS) && errors(p) == 0 &&
                                 probe_count(p, PROBE_SetPowerState) >= 1 &&
                                 sim_now() < PROBE_SECOND);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    context_rig_inside(0, update_there);
    context_rig_inside(0, unmake);
    end_client();
}

/* A driver that stays inside for good: told after a minute, and the adapter runs on. */
static void stay_while_power_goes(struct probe *p)
{
    context_rig.calls = NULL;
    beside = probe_client_start(p, sleep_beside);
    probe_sleep(70 * PROBE_SECOND);
}

static void power_stays_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    context_rig_inside(NO_ADAPTER_SYNC, stay_while_power_goes);
    CHECK_RULE("THREAD-037", beside->done && IS(elsewhere, STATUS_IO_TIMEOUT) &&
                                 probe_rule(p, "THREAD-037") == 1 &&
                                 probe_said(p, "THREAD-037", "DxgkDdiSetPowerState waited 60 s") &&
                                 probe_said(p, "THREAD-037", "DxgkDdiEscape"));
    CHECK_RULE("THREAD-030", probe_count(p, PROBE_SetPowerState) == 0);
    context_rig_inside(0, update_there);
    context_rig_inside(0, unmake);
    end_client();
}

static void an_update_ends_before_power_goes(void **state)
{
    (void)state;
    run_beside(power_goes_body);
    run_beside(power_stays_body);
}

/* ---- a reset meanwhile ---- */

static void end_the_hang(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    asked++;
    probe_device_packet_ns = 1000;
}

static void update_that_hangs(struct probe *p)
{
    probe_device_packet_ns = 5 * PROBE_SECOND / 2;
    CHECK_RULE("CTXA-061", context_update(p, item) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("CTXA-061", asked == 0 && probe_rule(p, "CTXA-061") == 1 &&
                               probe_record(p, "CTXA-061")->severity == VERIFY_NOTE);
    CHECK_RULE("CTXA-061", context_update(p, item) == STATUS_UNSUCCESSFUL && asked == 0);
    CHECK_RULE("CTXA-044", context_map_at(p, item, 64 * MB) == 0 &&
                               probe_said(p, "CTXA-044", "the adapter is reset"));
}

static void hang_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    asked = 0;
    context_rig_inside(0, update_that_hangs);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("CTXA-061", asked == 1 && probe_rule(p, "TDR-011") == 0);
    context_rig_inside(0, update_there);
    context_rig_inside(0, unmake);
    end_client();
}

static void a_reset_ends_the_wait_of_an_update(void **state)
{
    struct probe *p = context_rig_create(NULL);

    (void)state;
    p->before[PROBE_ResetFromTimeout] = end_the_hang;
    context_rig_run(p, hang_body);
    probe_device_packet_ns = 1000;
}

/* Inside the DDIs that paging itself needs. */
static NTSTATUS inside_status[4];
static bool inside_done;

static void callbacks_inside(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    (void)call;
    if (!item || inside_done)
        return;
    inside_done = true;
    inside_status[0] = context_update(p, item);
    inside_status[1] = context_create(p, &args);
    CHECK_RULE("CTXA-028", args.hAllocation == NULL);
    inside_status[2] = context_map_at(p, item, 64 * MB) ? STATUS_SUCCESS
                                                        : STATUS_INVALID_DEVICE_REQUEST;
    inside_status[3] = context_destroy(p, item);
}

static void inside_body(struct probe *p)
{
    begin_client();
    context_rig_inside(0, make);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    CHECK_RULE("CTXA-060", inside_done && IS(inside_status[0], STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "CTXA-060") == 1);
    for (unsigned i = 1; i < 4; i++)
        CHECK_RULE("CTXA-067", IS(inside_status[i], STATUS_INVALID_DEVICE_REQUEST));
    CHECK_RULE("CTXA-067", probe_rule(p, "CTXA-067") == 3);
    context_rig_inside(0, unmake);
    end_client();
    item = NULL;
}

static void callbacks_inside_the_ddis_of_paging_are_refused(void **state)
{
    struct probe *p = context_rig_create(NULL);

    (void)state;
    item = NULL;
    inside_done = false;
    p->before[PROBE_BuildPagingBuffer] = callbacks_inside;
    context_rig_run(p, inside_body);
}

/* ---- owners ---- */

static NTSTATUS owner_status[3];
static HANDLE kept;

/* A device allocation while the device is made; one of the context while the context goes. */
static void create_in_create_device(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    context_rig_note_device(p, call);
    if (!context_rig.device)
        return;
    args = context_request(p);
    args.hContext = NULL;
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    owner_status[0] = context_create(p, &args);
    item = args.hAllocation;
}

static void create_in_create_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *created = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    context_rig_note_context(p, call);
    if (created->Flags.SystemContext)
        return;
    args = context_request(p);
    owner_status[2] = context_create(p, &args);
    kept = args.hAllocation;
}

/* The driver's own, which has taken its place, is none of the host's. */
static void create_with_own_handle(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hContext = (HANDLE)(uintptr_t)0xC0FFEE000;
    CHECK_RULE("CTXA-009", context_create(p, &args) == STATUS_INVALID_PARAMETER &&
                               probe_rule(p, "CTXA-010") == 1);
}

static void create_in_destroy_context(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    (void)call;
    if (!item)
        return;
    owner_status[1] = context_create(p, &args);
    CHECK_RULE("CTXA-028", args.hAllocation == NULL);
    CHECK_RULE("CTXA-065", context_destroy(p, item) == STATUS_SUCCESS &&
                               context_destroy(p, kept) == STATUS_SUCCESS);
    item = NULL;
}

/* One more device, whose context is none of the latest one's. */
static void create_for_another_device(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    CHECK_RULE("CTXA-010", context_create(p, &args) == STATUS_INVALID_PARAMETER &&
                               args.hAllocation == NULL &&
                               probe_said(p, "CTXA-010", "of another device than hDevice"));
}

static void create_in_destroy_device(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    (void)call;
    if (asked++)
        return;
    args.hContext = NULL;
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    CHECK_RULE("CTXA-012", context_create(p, &args) == STATUS_INVALID_DEVICE_REQUEST &&
                               args.hAllocation == NULL &&
                               probe_said(p, "CTXA-012", "DxgkDdiDestroyDevice of the device"));
}

static void another_device_body(struct probe *p)
{
    D3DKMT_CREATEDEVICE device;
    D3DKMT_DESTROYDEVICE destroy;

    begin_client();
    memset(&device, 0, sizeof(device));
    device.hAdapter = G->adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&device)));
    context_rig_inside(0, create_for_another_device);
    asked = 0;
    p->before[PROBE_DestroyDevice] = create_in_destroy_device;
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = device.hDevice;
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&destroy)) && asked == 1);
    end_client();
}

static void a_device_has_its_own(void **state)
{
    (void)state;
    run(another_device_body);
}

static void owners_body(struct probe *p)
{
    begin_client();
    CHECK_RULE("CTXA-012", IS(owner_status[0], STATUS_SUCCESS) && item);
    CHECK_RULE("CTXA-009", IS(owner_status[2], STATUS_SUCCESS) && kept);
    context_rig_inside(0, create_with_own_handle);
    CHECK_RULE("CTXA-031", NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    end_client();
    CHECK_RULE("CTXA-012", IS(owner_status[1], STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "CTXA-012") == 1 &&
                               probe_said(p, "CTXA-012", "DxgkDdiDestroyContext"));
}

static void owners_while_they_are_made_and_go(void **state)
{
    struct probe *p = context_rig_create(NULL);

    (void)state;
    item = NULL;
    p->before[PROBE_CreateDevice] = create_in_create_device;
    p->before[PROBE_CreateContext] = create_in_create_context;
    p->before[PROBE_DestroyContext] = create_in_destroy_context;
    context_rig_run(p, owners_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_that_are_taken_are_an_outcome),
        cmocka_unit_test(the_taker_may_be_a_mapping),
        cmocka_unit_test(the_taker_is_what_lies_at_the_place),
        cmocka_unit_test(the_taker_may_be_a_context_allocation),
        cmocka_unit_test(windows_without_room_and_bad_ones),
        cmocka_unit_test(malformed_arguments_say_what_is_wrong),
        cmocka_unit_test(the_edges_of_the_address_space),
        cmocka_unit_test(addresses_are_free_at_once),
        cmocka_unit_test(addresses_stay_while_the_context_runs),
        cmocka_unit_test(addresses_of_what_was_not_used_are_free),
        cmocka_unit_test(one_in_an_update_may_be_destroyed),
        cmocka_unit_test(nothing_waits_for_paging_at_a_standstill),
        cmocka_unit_test(nothing_waits_for_paging_of_a_sleeping_adapter),
        cmocka_unit_test(nothing_waits_for_paging_in_an_exclusion),
        cmocka_unit_test(an_update_ends_beside_one_who_wants_the_driver),
        cmocka_unit_test(an_update_ends_beside_one_who_empties_video_memory),
        cmocka_unit_test(an_update_ends_before_power_goes),
        cmocka_unit_test(a_reset_ends_the_wait_of_an_update),
        cmocka_unit_test(callbacks_inside_the_ddis_of_paging_are_refused),
        cmocka_unit_test(a_device_has_its_own),
        cmocka_unit_test(owners_while_they_are_made_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
