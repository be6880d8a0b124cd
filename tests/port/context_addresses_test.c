/* SPDX-License-Identifier: MIT */
/* Context allocations of a driver on a started adapter: the addresses at which they may be mapped, and how others are told. */
#include "port/support/context_client.h"

/* ---- addresses that are not free ---- */

static D3DGPU_VIRTUAL_ADDRESS where;

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
    uint64_t before = context_errors(p);

    context_item = context_make(p);
    where = context_map_at(p, context_item, 256 * MB);
    CHECK_RULE("CTXA-046", where == 256 * MB);
    /* below, inside, at the last page: each is refused, and told */
    CHECK_RULE("CTXA-046", context_map_at(p, context_item, reserved - 4096) == 0 &&
                               context_map_at(p, context_item, reserved) == 0 &&
                               context_map_at(p, context_item, reserved + 65536 - 4096) == 0);
    CHECK_RULE(
        "CTXA-046",
        probe_said(p, "CTXA-046", "taken by a reservation of the client, 0x4000000 to 0x400ffff"));
    CHECK_RULE("CTXA-050", context_errors(p) == before && probe_rule(p, "CTXA-050") == 0);
    CHECK_RULE("CTXA-046", probe_record(p, "CTXA-046")->severity == VERIFY_NOTE);
    /* beside it is free */
    CHECK_RULE("CTXA-046",
               context_map_at(p, context_item, reserved - 8192) == reserved - 8192 &&
                   context_map_at(p, context_item, reserved + 65536) == reserved + 65536);
}

static void map_over_a_mapping(struct probe *p)
{
    CHECK_RULE("CTXA-046", context_map_at(p, context_item, mapped + 4096) == 0);
}

TEST_WITH(context, addresses_that_are_taken_are_an_outcome)
{
    context_begin_client();
    reserve_and_map();
    context_rig_inside(0, map_where_things_are);
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

TEST_WITH(context, the_taker_may_be_a_mapping)
{
    context_begin_client();
    reserve_and_map();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, map_over_a_mapping);
    CHECK_RULE("CTXA-046", probe_said(p, "CTXA-046",
                                      "taken by a mapping of the client, 0x8000000 to 0x8001fff "
                                      "(there, an allocation of 8192 bytes)"));
    context_rig_inside(0, context_destroy_item);
    context_end_client();
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
    CHECK_RULE("CTXA-046", context_map_at(p, context_item, reserved + 32768) == 0);
    CHECK_RULE("CTXA-046", probe_said(p, "CTXA-046",
                                      "taken by a reservation of the client, 0x4000000 to 0x400ffff "
                                      "(there, an allocation of 12288 bytes)"));
}

TEST_WITH(context, the_taker_is_what_lies_at_the_place)
{
    (void)p;
    context_begin_client();
    reserve_and_map();
    (void)map_client(reserved, 8192);
    (void)map_client(reserved + 32768, 12288);
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, map_into_a_reservation);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

static void map_twice(struct probe *p)
{
    context_item = context_make(p);
    CHECK(context_map_at(p, context_item, 256 * MB) == 256 * MB);
    CHECK_RULE("CTXA-046", context_map_at(p, context_item, 256 * MB + 4096) == 0);
    CHECK_RULE("CTXA-046",
               probe_said(p, "CTXA-046",
                          "taken by a mapping of a context allocation, 0x10000000 to 0x10001fff"));
    CHECK(context_destroy(p, context_item) == STATUS_SUCCESS);
}

TEST_WITH(context, the_taker_may_be_a_context_allocation)
{
    context_begin_client();
    context_rig_inside(0, map_twice);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

/* ---- windows ---- */

static void windows(struct probe *p)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args;

    context_item = context_make(p);
    args = context_map_request(context_item);
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
    CHECK_RULE("CTXA-050", context_errors(p) == 0);
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
    DXGKARGCB_MAPCONTEXTALLOCATION args = context_map_request(context_item);

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

TEST_WITH(context, windows_without_room_and_bad_ones)
{
    context_begin_client();
    context_rig_inside(0, windows);
    for (unsigned i = 0; i < 4; i++)
        context_rig_inside(0, bad_windows);
    CHECK_RULE("CTXA-050", probe_record(p, "CTXA-050")->severity == VERIFY_ERROR);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

/* ---- malformed arguments ---- */

static const DXGKARGCB_MAPCONTEXTALLOCATION *malformed;
static const char *malformed_said;

static void map_malformed(struct probe *p)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args = *malformed;

    args.hAllocation = context_item;
    CHECK_RULE("CTXA-050", context_map(p, &args) == 0);
    CHECK_RULE("CTXA-050", probe_rule(p, "CTXA-050") == 1 &&
                               probe_said(p, "CTXA-050", malformed_said) &&
                               probe_record(p, "CTXA-050")->severity == VERIFY_ERROR);
}

static void malformed_body(struct probe *p)
{
    (void)p;
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, map_malformed);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(malformed_arguments_say_what_is_wrong)
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
        {65536 - 4096, 0, 1, 1, "outside the address space"},
        {UINT64_MAX - 4095, 0, 1, 1, "outside the address space"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        DXGKARGCB_MAPCONTEXTALLOCATION args;

        memset(&args, 0, sizeof(args));
        args.BaseAddress = bad[i].base;
        args.OffsetInPages = bad[i].offset;
        args.SizeInPages = bad[i].pages;
        args.Protection.Value = bad[i].protection;
        malformed = &args;
        malformed_said = bad[i].said;
        context_run(malformed_body);
    }
}

/* The first and the last place that there is, and one page further. */
static void map_at_the_edges(struct probe *p)
{
    uint64_t low = 65536;
    uint64_t end = 1ull << p->mmu.VirtualAddressBitCount;

    CHECK_RULE("CTXA-046",
               context_map_at(p, context_item, low) == low && probe_rule(p, "CTXA-046") == 0);
    CHECK_RULE("CTXA-046", context_map_at(p, context_item, end - 8192) == 0 &&
                               probe_said(p, "CTXA-046", "taken by a mapping of the host's own"));
    CHECK_RULE("CTXA-050", probe_rule(p, "CTXA-050") == 0);
    CHECK_RULE("CTXA-050",
               context_map_at(p, context_item, low - 4096) == 0 && probe_rule(p, "CTXA-050") == 1);
    CHECK_RULE("CTXA-050",
               context_map_at(p, context_item, end - 4096) == 0 && probe_rule(p, "CTXA-050") == 2);
}

TEST_WITH(context, the_edges_of_the_address_space)
{
    (void)p;
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, map_at_the_edges);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}
