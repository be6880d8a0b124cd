/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocateAdl and DxgkCbFreeAdl: forms by flags and mode, what the device reaches through a list, its life. */
#include "port/support/object_calls.h"

typedef DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT creation;

static const DXGK_PHYSICAL_MEMORY_TYPE types[] = {
    DXGK_PHYSICAL_MEMORY_TYPE_MDL, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY,
    DXGK_PHYSICAL_MEMORY_TYPE_SECTION, DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE};

/* ---- arguments ---- */

TEST_WITH(memory, offsets_and_sizes_are_checked, &memory_isolated)
{
    creation args = make_object(p, 4 * PAGE);
    static const struct {
        uint64_t offset, size;
        const char *rule, *clause;
    } cases[] = {
        {0x800, PAGE, "PHYS-161", "PHYS-161/a"},
        {1, PAGE, "PHYS-161", "PHYS-161/a"},
        {4095, PAGE, "PHYS-161", "PHYS-161/a"},
        {0, 0x1800, "PHYS-161", "PHYS-161/b"},
        {0, 1, "PHYS-161", "PHYS-161/b"},
        {0, 4097, "PHYS-161", "PHYS-161/b"},
        {0, 0, "PHYS-162", "PHYS-162/a"},
        {4 * PAGE, PAGE, "PHYS-162", "PHYS-162/b"},
        {3 * PAGE, 2 * PAGE, "PHYS-162", "PHYS-162/b"},
        {0, 5 * PAGE, "PHYS-162", "PHYS-162/b"},
        {(uint64_t)0 - PAGE, 2 * PAGE, "PHYS-162", "PHYS-162/c"},
        {PAGE, (uint64_t)0 - PAGE, "PHYS-162", "PHYS-162/c"},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = probe_rule(p, cases[i].rule);
        DXGK_ADL *adl;

        CHECK_RULE(cases[i].clause, IS(take_adl(p, args.hAdapterMemoryObject, cases[i].offset,
                                                cases[i].size, ADL_ANY, &adl),
                                       STATUS_INVALID_PARAMETER) &&
                                        adl == NULL && probe_rule(p, cases[i].rule) == before + 1);
    }
    for (uint64_t first = 0; first < 4; first++)
        for (uint64_t count = 1; count <= 4 - first; count++) {
            DXGK_ADL *adl = make_adl_at(p, args.hAdapterMemoryObject, first * PAGE, count * PAGE, 0);

            CHECK_RULE("PHYS-162/b", adl != NULL);
            CHECK_RULE("PHYS-163", adl->PageCount == count);
            free_adl(p, args.hAdapterMemoryObject, adl);
        }
    for (UINT bit = 2; bit < 32; bit++) {
        DXGK_ADL *adl;

        CHECK_RULE("PHYS-171", IS(take_adl(p, args.hAdapterMemoryObject, 0, PAGE, 1u << bit, &adl),
                                  STATUS_INVALID_PARAMETER) &&
                                   adl == NULL && probe_rule(p, "PHYS-171") == bit - 1);
    }
    destroy_object(p, &args);
}

/* ---- forms ---- */

/* Which form a list has, by type and flags. */
static void check_forms(struct probe *p)
{
    bool logical = memory_mode(p) == IOMMU_REMAP;

    for (unsigned t = 0; t < 4; t++) {
        creation args = make_object_of(p, types[t], 5 * PAGE);
        bool run = types[t] == DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY ||
                   types[t] == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE;
        NTSTATUS required = run ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
        HANDLE opened = args.hAdapterMemoryObject;
        DXGK_ADL *adl = make_adl(p, opened, 5 * PAGE);

        CHECK_RULE("PHYS-163", adl->PageCount == 5);
        CHECK_RULE("PHYS-169", adl->Flags.Value == 0);
        for (unsigned i = 1; i < 5; i++)
            CHECK_RULE("PHYS-169", !(run || logical) || adl->Pages[i] == adl->Pages[0] + i);
        free_adl(p, opened, adl);
        adl = make_adl_at(p, opened, 0, 5 * PAGE, ADL_PREFER);
        if (logical)
            CHECK_RULE("PHYS-168/a", adl->Flags.Value == 1);
        else
            CHECK_RULE("PHYS-168/b", adl->Flags.Value == run);
        CHECK_RULE("PHYS-163", adl->PageCount == 5);
        free_adl(p, opened, adl);
        for (UINT flags = ADL_REQUIRE; flags <= (ADL_REQUIRE | ADL_PREFER); flags += ADL_PREFER) {
            NTSTATUS status = take_adl(p, opened, 0, 5 * PAGE, flags, &adl);
            const char *rule = flags == ADL_REQUIRE ? run ? "PHYS-167/a" : "PHYS-167/b" : "PHYS-170";

            CHECK_RULE(rule, IS(status, required) && (run ? adl->Flags.Value == 1 : adl == NULL));
            if (run)
                free_adl(p, opened, adl);
        }
        destroy_object(p, &args);
    }
    CHECK_RULE("PHYS-167/b", probe_rule(p, "PHYS-167") == 4);
}

TEST_WITH(memory, forms, &memory_physical)
{
    check_forms(p);
}
TEST_ALSO(memory, forms, isolated, &memory_isolated)
TEST_ALSO(memory, forms, logical, &memory_logical)

TEST_WITH(memory, consecutive_pages_may_be_told_as_such, &memory_physical)
{
    creation args;
    DXGK_ADL *adl;

    physical_memory_set_scatter(port_physical_memory(p->port), false);
    args = make_object(p, 5 * PAGE);
    adl = make_adl_at(p, args.hAdapterMemoryObject, 0, 5 * PAGE, ADL_PREFER);
    CHECK_RULE("PHYS-168/b", adl->Flags.Contiguous);
    free_adl(p, args.hAdapterMemoryObject, adl);
    adl = make_adl(p, args.hAdapterMemoryObject, 5 * PAGE);
    CHECK_RULE("PHYS-169", !adl->Flags.Contiguous && adl->Pages[4] == adl->Pages[0] + 4);
    free_adl(p, args.hAdapterMemoryObject, adl);
    destroy_object(p, &args);
}
TEST_ALSO(memory, consecutive_pages_may_be_told_as_such, isolated, &memory_isolated)

TEST_WITH(memory, both_forms_list_the_same_pages, &memory_isolated)
{
    creation args = make_object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 6 * PAGE);
    DXGK_ADL *run = make_adl_at(p, args.hAdapterMemoryObject, 2 * PAGE, 3 * PAGE, ADL_REQUIRE);
    DXGK_ADL *list = make_adl_at(p, args.hAdapterMemoryObject, 2 * PAGE, 3 * PAGE, ADL_ANY);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, 0, 6 * PAGE);
    char *bytes = view_bytes(&view);

    CHECK_RULE("PHYS-164/c", (void *)&run->Pages == (void *)&run->BasePageNumber);
    CHECK_RULE("PHYS-164/d", run->Flags.Value == 1 && list->Flags.Value == 0);
    CHECK_RULE("PHYS-166", sizeof(DXGK_PAGE_NUMBER) == sizeof(PFN_NUMBER) &&
                               sizeof(DXGK_PAGE_NUMBER) == sizeof(void *));
    for (unsigned i = 0; i < 3; i++) {
        bytes[(2 + i) * PAGE] = (char)('a' + i);
        CHECK_RULE("PHYS-164/a", run->BasePageNumber + i == page_of(bytes + (2 + i) * PAGE));
        CHECK_RULE("PHYS-164/b", list->Pages[i] == page_of(bytes + (2 + i) * PAGE));
        /* As numbers: the address is that times PAGE_SIZE. */
        CHECK_RULE("PHYS-165", device_byte(p, list->Pages[i], 0) == (char)('a' + i) &&
                                   device_byte(p, run->BasePageNumber + i, 0) == (char)('a' + i) &&
                                   (LONGLONG)(list->Pages[i] * PAGE_SIZE) ==
                                       MmGetPhysicalAddress(bytes + (2 + i) * PAGE).QuadPart);
    }
    end_view(p, &view);
    free_adl(p, args.hAdapterMemoryObject, run);
    free_adl(p, args.hAdapterMemoryObject, list);
    destroy_object(p, &args);
}

/* ---- bytes ---- */

/* The same driver in each mode: what it does with the list is the same. */
static void bytes_in_order(struct probe *p)
{
    for (unsigned t = 0; t < 3; t++) {
        creation args = make_object_of(p, types[t], 6 * PAGE);
        DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, PAGE,
                                                       4 * PAGE);
        char *bytes = view_bytes(&view);
        bool differs = false;

        for (unsigned i = 0; i < 4; i++)
            bytes[i * PAGE] = (char)('a' + i);
        for (UINT flags = 0; flags <= ADL_PREFER; flags += ADL_PREFER) {
            DXGK_ADL *adl = make_adl_at(p, args.hAdapterMemoryObject, PAGE, 4 * PAGE, flags);

            for (unsigned i = 0; i < 4; i++) {
                uint64_t page = adl_page(adl, i);

                differs |= page != page_of(bytes + i * PAGE);
                CHECK_RULE("PHYS-160", device_byte(p, page, 0) == (char)('a' + i) &&
                                           device_writes(p, page, 1, (char)(flags + i)) &&
                                           bytes[i * PAGE + 1] == (char)(flags + i));
                CHECK_RULE("PHYS-145", device_byte(p, page, 0) == bytes[i * PAGE] &&
                                           device_writes(p, page, 4095, (char)('p' + i)) &&
                                           bytes[i * PAGE + 4095] == (char)('p' + i));
                CHECK_RULE("PHYS-179/a", device_byte(p, page, 0) == bytes[i * PAGE]);
            }
            free_adl(p, args.hAdapterMemoryObject, adl);
        }
        CHECK_RULE("PHYS-179/b", types[t] == DXGK_PHYSICAL_MEMORY_TYPE_SECTION ||
                                     differs == (memory_mode(p) == IOMMU_REMAP));
        end_view(p, &view);
        destroy_object(p, &args);
    }
    CHECK_RULE("PHYS-160", probe_reports(p, VERIFY_WARNING) == 0);
}

TEST_WITH(memory, bytes, &memory_physical)
{
    bytes_in_order(p);
}
TEST_ALSO(memory, bytes, isolated, &memory_isolated)
TEST_ALSO(memory, bytes, logical, &memory_logical)

/* ---- locks ---- */

/* The frame behind a device page. */
static struct page_number frame_of(struct probe *p, uint64_t page)
{
    struct phys_addr physical = {0};

    CHECK(iommu_translate(port_adapter_domain(p->adapter[0]), (struct logical_addr){page * PAGE},
                          IOMMU_WRITE, &physical));
    return (struct page_number){physical.value / PAGE};
}

TEST_WITH(memory, pages_are_locked_once_for_each_list, &memory_logical)
{
    for (unsigned t = 0; t < 3; t++) {
        creation args = make_object_of(p, types[t], 3 * PAGE);
        HANDLE opened = args.hAdapterMemoryObject;
        DXGK_ADL *a = make_adl_at(p, opened, 0, 2 * PAGE, ADL_ANY),
                 *b = make_adl_at(p, opened, PAGE, 2 * PAGE, ADL_ANY);
        struct page_number shared = frame_of(p, a->Pages[1]), first = frame_of(p, a->Pages[0]);
        uint64_t old = a->Pages[1];

        CHECK_RULE("PHYS-177/a",
                   ram_page_locks(p->ram, shared) == 2 && ram_page_locks(p->ram, first) == 1);
        CHECK_RULE("PHYS-172/a", ram_page_locks(p->ram, first) > 0);
        CHECK_RULE("PHYS-175", ram_page_locks(p->ram, first) > 0 && probe_rule(p, "PHYS-175") == 0);
        CHECK_RULE("PHYS-177/b",
                   b->Pages[0] != old && frame_of(p, b->Pages[0]).value == shared.value);
        CHECK(device_writes(p, old, 7, 's'));
        CHECK_RULE("PHYS-177/b", device_byte(p, b->Pages[0], 7) == 's');
        free_adl(p, opened, a);
        CHECK_RULE("PHYS-180/b",
                   ram_page_locks(p->ram, shared) == 1 && ram_page_locks(p->ram, first) == 0);
        CHECK_RULE("PHYS-177/c", device_byte(p, b->Pages[0], 7) == 's' &&
                                     frame_of(p, b->Pages[0]).value == shared.value);
        CHECK_RULE("PHYS-180/a", !device_reaches(p, old));
        free_adl(p, opened, b);
        CHECK_RULE("PHYS-180/b", ram_page_locks(p->ram, shared) == 0);
        destroy_object(p, &args);
    }
}

/* Their frames change when nothing holds them, and only then. */
TEST_WITH(memory, sections_stay_while_there_is_a_list, &memory_isolated)
{
    creation args = make_object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 8 * PAGE);
    HANDLE opened = args.hAdapterMemoryObject;
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, 0, 8 * PAGE);
    char *bytes = view_bytes(&view);
    DXGK_ADL *half, *all;
    uint64_t page[4];

    for (unsigned i = 0; i < 8; i++)
        bytes[i * PAGE + 9] = (char)('0' + i);
    half = make_adl(p, opened, 4 * PAGE);
    for (unsigned i = 0; i < 4; i++)
        page[i] = half->Pages[i];
    all = make_adl(p, opened, 8 * PAGE);
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("PHYS-172/b", device_byte(p, all->Pages[i], 9) == (char)('0' + i) &&
                                     (i >= 4 || all->Pages[i] == page[i]));
    free_adl(p, opened, all);
    {
        creation rest = make_object(p, ram_free_pages(p->ram) * PAGE); /* want of memory */

        for (unsigned i = 0; i < 4; i++)
            CHECK_RULE("PHYS-172/c", half->Pages[i] == page[i] &&
                                         device_byte(p, page[i], 9) == (char)('0' + i) &&
                                         page_of(bytes + i * PAGE) == page[i]);
        destroy_object(p, &rest);
    }
    free_adl(p, opened, half);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_RULE("PHYS-172/d", bytes[i * PAGE + 9] == (char)('0' + i));
        CHECK_RULE("PHYS-172/d", i >= 4 || !device_reaches(p, page[i]));
    }
    end_view(p, &view);
    destroy_object(p, &args);
}

/* ---- the driver's hands off ---- */

TEST_WITH(memory, changed_lists_are_not_believed, &memory_isolated)
{
    creation args = make_object(p, 4 * PAGE);
    HANDLE opened = args.hAdapterMemoryObject;
    uint64_t mapped = memory_now(p).mapped;

    for (unsigned change = 0; change < 6; change++) {
        DXGK_ADL *adl = make_adl(p, opened, 4 * PAGE);
        DXGK_PAGE_NUMBER *pages = (DXGK_PAGE_NUMBER *)(uintptr_t)adl->Pages, last = pages[3];

        if (change == 0)
            pages[0] = 12345;
        else if (change == 1)
            pages[3] ^= 1;
        else if (change == 2)
            adl->PageCount = 3;
        else if (change == 3)
            adl->Flags.Contiguous = 1;
        else if (change == 4)
            adl->Pages = &last;
        free_adl(p, opened, adl);
        CHECK_RULE("PHYS-178/a", probe_rule(p, "PHYS-178") == (change < 5 ? change + 1 : 5));
        CHECK_RULE("PHYS-178/b", memory_now(p).mapped == mapped && !device_reaches(p, last));
    }
    destroy_object(p, &args);
}

TEST_WITH(memory, a_list_is_freed_with_its_own_object, &memory_isolated)
{
    creation a = make_object(p, PAGE), b = make_object(p, PAGE);
    DXGK_ADL *adl = make_adl(p, a.hAdapterMemoryObject, PAGE);
    uint64_t page = adl->Pages[0];

    free_adl(p, b.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-180/c", probe_rule(p, "PHYS-180") == 1 && device_reaches(p, page));
    free_adl(p, a.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-180/a", probe_reports(p, VERIFY_WARNING) == 1 && !device_reaches(p, page));
    free_adl(p, a.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-180/d", probe_rule(p, "PHYS-017") == 1);
    destroy_object(p, &a);
    destroy_object(p, &b);
}

/* ---- device memory ---- */

static uint64_t peer_bar(const struct probe *p)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *ranges =
        p->state[1].device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    return (uint64_t)ranges[1].u.Memory.Start.QuadPart;
}

TEST(lists_of_device_memory)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++) {
        const struct probe_options two = {.adapters = 2, .port = {.iommu = mode}};
        struct probe *p = probe_started(&two);
        creation args = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE, 4 * PAGE);
        DXGKARGCB_MAP_PHYSICAL_MEMORY view;
        DXGK_ADL *adl;
        char *bytes;

        args.IOSpace.BaseAddress = at_byte(peer_bar(p));
        CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
        adl = make_adl_at(p, args.hAdapterMemoryObject, PAGE, 2 * PAGE, ADL_ANY);
        for (unsigned i = 0; i < 2 && mode != IOMMU_REMAP; i++)
            CHECK_RULE("PHYS-174/a", adl->Pages[i] == peer_bar(p) / PAGE + 1 + i);
        if (mode == IOMMU_REMAP)
            CHECK_RULE("PHYS-174/b", adl->Pages[0] != peer_bar(p) / PAGE + 1 &&
                                         adl->Pages[1] == adl->Pages[0] + 1);
        view = make_view(p, args.hPhysicalMemoryObject, 0, 4 * PAGE);
        bytes = view_bytes(&view);
        for (unsigned i = 0; i < 2; i++)
            CHECK_RULE("PHYS-174/c", device_writes(p, adl->Pages[i], 3, (char)('x' + i)) &&
                                         bytes[(1 + i) * PAGE + 3] == (char)('x' + i));
        end_view(p, &view);
        free_adl(p, args.hAdapterMemoryObject, adl);
        destroy_object(p, &args);
        CHECK_RULE("PHYS-174/c", probe_reports(p, VERIFY_WARNING) == 0);
        probe_destroy(p);
    }
}

/* Nobody answers to itself. */
TEST_WITH(memory, lists_of_its_own_memory, &memory_isolated)
{
    creation args = make_object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE, PAGE);
    DXGK_ADL *adl = make_adl(p, args.hAdapterMemoryObject, PAGE);

    CHECK_RULE("PHYS-174/d", !device_writes(p, adl->Pages[0], 0, 'o') &&
                                 !device_reaches(p, adl->Pages[0]) &&
                                 probe_rule(p, "IOMMU-072") == 2);
    free_adl(p, args.hAdapterMemoryObject, adl);
    destroy_object(p, &args);
}
TEST_ALSO(memory, lists_of_its_own_memory, physical, &memory_physical)
TEST_ALSO(memory, lists_of_its_own_memory, logical, &memory_logical)

/* ---- want ---- */

TEST_WITH(memory, sections_that_find_no_pages, &memory_isolated)
{
    uint64_t room = ram_free_pages(p->ram);
    creation args = make_object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_SECTION, (room + 1) * PAGE);
    struct memory_state before = memory_now(p);
    DXGK_ADL *adl;

    CHECK_RULE("PHYS-176/a",
               IS(take_adl(p, args.hAdapterMemoryObject, 0, (room + 1) * PAGE, ADL_ANY, &adl),
                  STATUS_NO_MEMORY) &&
                   adl == NULL);
    CHECK_RULE("PHYS-176/c", memory_same(p, before) && probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("PHYS-176/a",
               IS(try_adl(p, args.hAdapterMemoryObject, 0, room * PAGE, ADL_ANY), STATUS_SUCCESS));
    CHECK_RULE("PHYS-176/c", memory_same(p, before)); /* no lock is left: all frames are free */
    destroy_object(p, &args);
}

/* The device sees 4 MiB of logical addresses, and RAM above them. */
static struct probe *start_narrow(void)
{
    struct probe *p = probe_create(&memory_logical);

    p->memory.HighestVisibleAddress.QuadPart = 4 * MIB - 1;
    CHECK(NT_SUCCESS(probe_start(p)) && memory_mode(p) == IOMMU_REMAP);
    return p;
}

static void place_above_reach(struct probe *p)
{
    creation args = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 8 * MIB);
    struct memory_state before;
    struct page_number first;
    DXGK_ADL *adl;

    args.ContiguousMemory.LowestAcceptableAddress = at_byte(32 * MIB);
    CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
    before = memory_now(p);
    adl = make_adl(p, args.hAdapterMemoryObject, PAGE);
    first = frame_of(p, adl->Pages[0]);
    free_adl(p, args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-176/b", IS(take_adl(p, args.hAdapterMemoryObject, 0, 5 * MIB, ADL_ANY, &adl),
                                STATUS_INSUFFICIENT_RESOURCES) &&
                                 adl == NULL);
    CHECK_RULE("PHYS-176/c", memory_same(p, before) && ram_page_locks(p->ram, first) == 0 &&
                                 probe_reports(p, VERIFY_WARNING) == 0);
    adl = make_adl(p, args.hAdapterMemoryObject, 2 * MIB);
    for (unsigned i = 0; i < 2 * MIB / PAGE; i++) {
        CHECK_RULE("PHYS-121/a", frame_of(p, adl->Pages[i]).value >= 32 * MIB / PAGE);
        CHECK_RULE("PHYS-121/b", adl->Pages[i] * PAGE < 4 * MIB);
    }
    free_adl(p, args.hAdapterMemoryObject, adl);
    destroy_object(p, &args);
}

static void place_pages_above_reach(struct probe *p)
{
    creation args = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, 8 * PAGE);
    DXGK_ADL *adl;

    args.Mdl.LowAddress = at_byte(40 * MIB);
    CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
    adl = make_adl(p, args.hAdapterMemoryObject, 8 * PAGE);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_RULE("PHYS-121/a", frame_of(p, adl->Pages[i]).value >= 40 * MIB / PAGE);
        CHECK_RULE("PHYS-121/b", adl->Pages[i] * PAGE < 4 * MIB);
    }
    free_adl(p, args.hAdapterMemoryObject, adl);
    destroy_object(p, &args);
}

TEST(logical_addresses_have_a_limit_of_their_own)
{
    probe_end(start_narrow(), place_above_reach);
    probe_end(start_narrow(), place_pages_above_reach);
}
