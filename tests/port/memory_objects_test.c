/* SPDX-License-Identifier: MIT */
/* DxgkCbCreatePhysicalMemoryObject: the four types, what each takes, and what it gets. */
#include "port/support/object_calls.h"

#define MDL_TYPE        DXGK_PHYSICAL_MEMORY_TYPE_MDL
#define CONTIGUOUS_TYPE DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY
#define SECTION_TYPE    DXGK_PHYSICAL_MEMORY_TYPE_SECTION
#define IO_TYPE         DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE

typedef DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT creation;

static const DXGK_PHYSICAL_MEMORY_TYPE every_type[] = {MDL_TYPE, CONTIGUOUS_TYPE, SECTION_TYPE,
                                                       IO_TYPE};

TEST_WITH(memory, four_types, &memory_isolated)
{
    static const int others[] = {4, 99, -1};
    struct memory_state before = memory_now(p);

    for (unsigned i = 0; i < 4; i++) {
        creation args = ask_object(p, every_type[i], 2 * PAGE);

        CHECK_RULE("PHYS-113/a",
                   (int)args.Type == (int)i && IS(take_object(p, &args), STATUS_SUCCESS));
        CHECK_RULE("PHYS-110",
                   args.hPhysicalMemoryObject != NULL && args.hPhysicalMemoryObject != NONE);
        CHECK_RULE("PHYS-111/a",
                   args.hAdapterMemoryObject != NULL && args.hAdapterMemoryObject != NONE &&
                       IS(try_adl(p, args.hAdapterMemoryObject, 0, PAGE, ADL_ANY), STATUS_SUCCESS));
        destroy_object(p, &args);
        CHECK_RULE("PHYS-137/a", memory_same(p, before));
        args = ask_object(p, every_type[i], 2 * PAGE);
        args.hAdapter = NULL;
        CHECK_RULE("PHYS-111/b", IS(take_object(p, &args), STATUS_SUCCESS) &&
                                     args.hPhysicalMemoryObject != NULL &&
                                     args.hAdapterMemoryObject == NULL);
        destroy_object(p, &args);
        CHECK_RULE("PHYS-137/a", memory_same(p, before));
    }
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    for (unsigned i = 0; i < 3; i++) {
        creation args = ask_object(p, MDL_TYPE, PAGE);

        args.Type = (DXGK_PHYSICAL_MEMORY_TYPE)others[i];
        CHECK_RULE("PHYS-113/b", IS(take_object(p, &args), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "PHYS-113") == i + 1 && memory_same(p, before));
    }
}

/* Whatever stands where other types have their part. */
TEST_WITH(memory, only_the_part_of_the_type_is_read, &memory_isolated)
{
    for (unsigned i = 0; i < 4; i++) {
        creation good = ask_object(p, every_type[i], PAGE), args = good;

        memset(&args.Mdl, 0xFF, sizeof(args.Mdl));
        memset(&args.Section, 0xFF, sizeof(args.Section));
        if (every_type[i] == MDL_TYPE)
            args.Mdl = good.Mdl;
        else if (every_type[i] == CONTIGUOUS_TYPE)
            args.ContiguousMemory = good.ContiguousMemory;
        else if (every_type[i] == SECTION_TYPE)
            args.Section = good.Section;
        else
            args.IOSpace = good.IOSpace;
        CHECK_RULE("PHYS-114",
                   IS(try_object(p, &args), STATUS_SUCCESS) && probe_reports(p, VERIFY_NOTE) == 0);
    }
}

TEST_WITH(memory, sizes_of_objects, &memory_isolated)
{
    for (unsigned i = 0; i < 4; i++) {
        creation args = ask_object(p, every_type[i], 0);
        HANDLE opened;

        CHECK_RULE("PHYS-115/a", IS(take_object(p, &args), STATUS_INVALID_PARAMETER));
        if (every_type[i] == IO_TYPE) {
            args = ask_object(p, IO_TYPE, 5000);
            CHECK_RULE("PHYS-115/c", IS(try_object(p, &args), STATUS_INVALID_PARAMETER));
            args.Size = 4095;
            CHECK_RULE("PHYS-115/c", IS(try_object(p, &args), STATUS_INVALID_PARAMETER));
            args.Size = 4096;
            CHECK_RULE("PHYS-115/c", IS(try_object(p, &args), STATUS_SUCCESS));
            continue;
        }
        args = make_object_of(p, every_type[i], 5000);
        opened = args.hAdapterMemoryObject;
        CHECK_RULE("PHYS-115/b",
                   IS(try_adl(p, opened, 0, 8192, ADL_ANY), STATUS_SUCCESS) &&
                       IS(try_adl(p, opened, 0, 12288, ADL_ANY), STATUS_INVALID_PARAMETER) &&
                       IS(try_adl(p, opened, 4096, 4096, ADL_ANY), STATUS_SUCCESS));
        destroy_object(p, &args);
    }
    CHECK_RULE("PHYS-115/ac", probe_rule(p, "PHYS-115") == 4 + 2);
}

TEST_WITH(memory, cache_types_of_objects, &memory_isolated)
{
    static const enum ram_cache expected[] = {RAM_NON_CACHED, RAM_CACHED, RAM_WRITE_COMBINED};

    for (unsigned i = 0; i < 4; i++)
        for (int type = 0; type < 4; type++) {
            creation args = ask_object(p, every_type[i], PAGE);
            NTSTATUS wanted = type < 3 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
            DXGKARGCB_MAP_PHYSICAL_MEMORY view;
            DXGK_ADL *adl;

            args.CacheType = (DXGK_MEMORY_CACHING_TYPE)type;
            if (every_type[i] == SECTION_TYPE && type == DXGK_MEMORY_CACHING_TYPE_NON_CACHED)
                wanted = STATUS_INVALID_PARAMETER;
            CHECK_RULE("PHYS-117/b", IS(take_object(p, &args), wanted));
            if (!NT_SUCCESS(wanted) || every_type[i] == IO_TYPE) {
                if (NT_SUCCESS(wanted))
                    destroy_object(p, &args);
                continue;
            }
            adl = make_adl(p, args.hAdapterMemoryObject, PAGE);
            view = make_view(p, args.hPhysicalMemoryObject, 0, PAGE);
            CHECK_RULE("PHYS-117/a", ram_page_cache(p->ram, (struct page_number){adl->Pages[0]}) ==
                                             expected[type] &&
                                         page_of(view_bytes(&view)) == adl->Pages[0]);
            end_view(p, &view);
            free_adl(p, args.hAdapterMemoryObject, adl);
            destroy_object(p, &args);
        }
    CHECK_RULE("PHYS-117/b", probe_rule(p, "PHYS-117") == 1);
}

/* ---- type MDL ---- */

static NTSTATUS try_mdl(struct probe *p, SIZE_T bytes, uint64_t low, uint64_t high, uint64_t skip,
                        ULONG flags)
{
    creation args = ask_object(p, MDL_TYPE, bytes);

    args.Mdl.LowAddress = at_byte(low);
    args.Mdl.HighAddress = at_byte(high);
    args.Mdl.SkipBytes = at_byte(skip);
    args.Mdl.Flags = flags;
    return try_object(p, &args);
}

TEST_WITH(memory, mdl_objects_obey_the_rules_of_pages, &memory_isolated)
{
    uint64_t low = free_frames(p, 64, 1, 0) * PAGE, top = UINT64_MAX;
    const struct {
        SIZE_T bytes;
        uint64_t low, high, skip;
        ULONG flags;
        NTSTATUS status;
        const char *rule; /* of the report; NULL: none */
    } cases[] = {
        {0xFFFFF001, 0, top, 0, 0, STATUS_INVALID_PARAMETER, "PHYS-065"},
        {0xFFFFF000, 0, top, 0, 0, STATUS_NO_MEMORY, NULL},
        {PAGE, low, low - 1, 0, 0, STATUS_INVALID_PARAMETER, "PHYS-060"},
        {PAGE, low, low + PAGE - 2, 0, 0, STATUS_NO_MEMORY, NULL},
        {PAGE, low, low + PAGE - 1, 0, 0, STATUS_SUCCESS, NULL},
        {2 * PAGE, low, low + PAGE - 1, 0, 0, STATUS_NO_MEMORY, NULL},
        {2 * PAGE, low, low + PAGE - 1, 4 * PAGE, 0, STATUS_SUCCESS, NULL},
        {PAGE, low, top, 100, 0, STATUS_INVALID_PARAMETER, "PHYS-062"},
        {PAGE, 0, 0, 0, 0, STATUS_SUCCESS, "PHYS-061"},
        {PAGE, 0, top, 0, 0x200, STATUS_INVALID_PARAMETER, "PHYS-067"},
        {PAGE, 0, top, 0, 0x9B, STATUS_SUCCESS, NULL},
        {8 * PAGE, low, low + 7 * PAGE, 0, 0x20, STATUS_NO_MEMORY, NULL},
        {8 * PAGE, low, low + 8 * PAGE - 1, 0, 0x20, STATUS_SUCCESS, NULL},
        {100 * 1024, 0, top, 64 * 1024, 0x20, STATUS_INVALID_PARAMETER, "PHYS-071"},
        {2 * MIB, 0, top, 2 * MIB, 0x40, STATUS_INVALID_PARAMETER, "PHYS-072"},
        {2 * MIB, 0, top, 2 * MIB, 0x60, STATUS_NO_MEMORY, NULL},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = cases[i].rule ? probe_rule(p, cases[i].rule) : 0;
        size_t all = probe_reports(p, VERIFY_NOTE);

        CHECK_RULE("PHYS-118/a", IS(try_mdl(p, cases[i].bytes, cases[i].low, cases[i].high,
                                            cases[i].skip, cases[i].flags),
                                    cases[i].status) &&
                                     (cases[i].rule ? probe_rule(p, cases[i].rule) == before + 1
                                                    : probe_reports(p, VERIFY_NOTE) == all));
    }
    CHECK_RULE("PHYS-119/b", IS(try_mdl(p, PAGE, 0, top, 0, 0x100), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-068") == 1);
}

TEST_WITH(memory, mdl_objects_lie_in_their_windows, &memory_isolated)
{
    uint64_t first = free_frames(p, 64, 1, 0);

    for (unsigned round = 0; round < 3; round++) {
        creation args = ask_object(p, MDL_TYPE, 8 * PAGE);
        DXGKARGCB_MAP_PHYSICAL_MEMORY view;
        DXGK_ADL *adl;

        args.Mdl.LowAddress = at_byte(first * PAGE);
        args.Mdl.HighAddress = at_byte((first + 2) * PAGE - 1);
        args.Mdl.SkipBytes = at_byte(4 * PAGE);
        args.Mdl.Flags = round == 1 ? MM_DONT_ZERO_ALLOCATION : 0;
        CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
        adl = make_adl(p, args.hAdapterMemoryObject, 8 * PAGE);
        view = make_view(p, args.hPhysicalMemoryObject, 0, 8 * PAGE);
        for (unsigned i = 0; i < 8; i++)
            CHECK_RULE("PHYS-118/b", (adl->Pages[i] - first) % 4 < 2 && adl->Pages[i] < first + 16);
        for (unsigned i = 0; i < 8 * PAGE; i++)
            CHECK_RULE("PHYS-118/c", (view_bytes(&view)[i] == 0) == (round != 1));
        memset(view_bytes(&view), 0x77, 8 * PAGE);
        end_view(p, &view);
        free_adl(p, args.hAdapterMemoryObject, adl);
        destroy_object(p, &args);
    }
}

TEST_WITH(memory, mdl_objects_are_complete, &memory_isolated)
{
    struct memory_state before = memory_now(p);
    creation args = ask_object(p, MDL_TYPE, (before.pages + 1) * PAGE);

    CHECK_RULE("PHYS-119/a", IS(take_object(p, &args), STATUS_NO_MEMORY) && memory_same(p, before));
    args = ask_object(p, MDL_TYPE, before.pages * PAGE);
    CHECK_RULE("PHYS-119/a",
               IS(take_object(p, &args), STATUS_SUCCESS) && ram_free_pages(p->ram) == 0);
    destroy_object(p, &args);
    CHECK_RULE("PHYS-119/a", memory_same(p, before) && probe_reports(p, VERIFY_WARNING) == 0);
}

/* ---- type CONTIGUOUS_MEMORY ---- */

static NTSTATUS try_contiguous(struct probe *p, SIZE_T bytes, uint64_t low, uint64_t high,
                               uint64_t multiple)
{
    creation args = ask_object(p, CONTIGUOUS_TYPE, bytes);

    args.ContiguousMemory.LowestAcceptableAddress = at_byte(low);
    args.ContiguousMemory.HighestAcceptableAddress = at_byte(high);
    args.ContiguousMemory.BoundaryAddressMultiple = at_byte(multiple);
    return try_object(p, &args);
}

TEST_WITH(memory, contiguous_objects_obey_the_rules_of_blocks, &memory_isolated)
{
    uint64_t low = free_frames(p, 8, 1, 0) * PAGE, top = UINT64_MAX;
    uint64_t line = (free_frames(p, 2, MIB / PAGE, 1) + 1) * PAGE;
    const struct {
        SIZE_T bytes;
        uint64_t low, high, multiple;
        NTSTATUS status;
        const char *rule;
    } cases[] = {
        {5000, low, low + 4999, 0, STATUS_SUCCESS, NULL},
        {5000, low + 1, low + 4999, 0, STATUS_NO_MEMORY, NULL},
        {5000, low, low + 4998, 0, STATUS_NO_MEMORY, NULL},
        {PAGE, low, low - 1, 0, STATUS_INVALID_PARAMETER, "PHYS-048"},
        {PAGE, 0, top, 0x18000, STATUS_INVALID_PARAMETER, "PHYS-049"},
        {PAGE, 0, top, 0x10000, STATUS_SUCCESS, NULL},
        {2 * PAGE, line - PAGE, line + PAGE - 1, 0, STATUS_SUCCESS, NULL},
        {2 * PAGE, line - PAGE, line + PAGE - 1, MIB, STATUS_NO_MEMORY, NULL},
        {0x10001, 0, top, 0x10000, STATUS_INVALID_PARAMETER, "PHYS-051"},
        {0x10000, 0, top, 0x10000, STATUS_SUCCESS, NULL},
        {ram_bytes(p->ram), 0, top, 0, STATUS_NO_MEMORY, NULL},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = cases[i].rule ? probe_rule(p, cases[i].rule) : 0;
        size_t all = probe_reports(p, VERIFY_NOTE);

        CHECK_RULE("PHYS-120/a", IS(try_contiguous(p, cases[i].bytes, cases[i].low, cases[i].high,
                                                   cases[i].multiple),
                                    cases[i].status) &&
                                     (cases[i].rule ? probe_rule(p, cases[i].rule) == before + 1
                                                    : probe_reports(p, VERIFY_NOTE) == all));
    }
}

TEST_WITH(memory, contiguous_objects_are_one_run, &memory_isolated)
{
    creation args = make_object_of(p, CONTIGUOUS_TYPE, 7 * PAGE);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, 0, 7 * PAGE);

    for (unsigned i = 0; i < 7; i++)
        CHECK_RULE("PHYS-120/b",
                   page_of(view_bytes(&view) + i * PAGE) == page_of(view_bytes(&view)) + i);
    CHECK_RULE("PHYS-120/b", view_bytes(&view)[0] != 0 && view_bytes(&view)[7 * PAGE - 1] != 0);
    end_view(p, &view);
    destroy_object(p, &args);
}

/* ---- type SECTION ---- */

TEST_WITH(memory, sections_take_commit_and_no_pages, &memory_isolated)
{
    struct memory_state before = memory_now(p), now;
    creation args = make_object_of(p, SECTION_TYPE, 4 * MIB);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view;
    DXGK_ADL *adl;

    now = memory_now(p);
    CHECK_RULE("PHYS-122/a", now.commit == before.commit + 4 * MIB);
    CHECK_RULE("PHYS-122/b", now.pages == before.pages);
    adl = make_adl(p, args.hAdapterMemoryObject, 3 * MIB);
    CHECK_RULE("PHYS-122/b", ram_free_pages(p->ram) == before.pages - 3 * MIB / PAGE);
    for (unsigned i = 0; i < 3 * MIB / PAGE; i++)
        CHECK_RULE("PHYS-122/b", ram_page_locks(p->ram, (struct page_number){adl->Pages[i]}) == 1);
    CHECK_RULE("PHYS-122/a", memory_now(p).commit == before.commit + 4 * MIB);
    free_adl(p, args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-122/b", ram_free_pages(p->ram) == before.pages);
    view = make_view(p, args.hPhysicalMemoryObject, 0, 64 * PAGE);
    for (unsigned i = 0; i < 64 * PAGE; i++)
        CHECK_RULE("PHYS-127", view_bytes(&view)[i] == 0);
    end_view(p, &view);
    destroy_object(p, &args);
    CHECK_RULE("PHYS-137/a", memory_same(p, before));
}

TEST_WITH(memory, sections_have_one_protection, &memory_isolated)
{
    static const ULONG good[] = {PAGE_READONLY, PAGE_READWRITE, PAGE_EXECUTE, PAGE_WRITECOPY};
    static const ULONG cache_bits[] = {0x200, 0x400}; /* PAGE_NOCACHE, PAGE_WRITECOMBINE */
    static const ULONG bad[] = {0, 0x1, 0x20, 0x40, 0x80, 0x100, 0x10000, 0x80000000};
    creation args = ask_object(p, SECTION_TYPE, PAGE);
    uint64_t reports = 0;

    for (unsigned i = 0; i < 4; i++) {
        args.Section.PageProtection = good[i];
        CHECK_RULE("PHYS-123/a", IS(try_object(p, &args), STATUS_SUCCESS) &&
                                     probe_rule(p, "PHYS-123") == reports);
        for (unsigned k = 0; k < 2; k++) {
            args.Section.PageProtection = good[i] | cache_bits[k];
            CHECK_RULE("PHYS-123/b", IS(try_object(p, &args), STATUS_INVALID_PAGE_PROTECTION) &&
                                         probe_rule(p, "PHYS-123") == ++reports);
        }
        for (unsigned k = 0; k < 4; k++) {
            args.Section.PageProtection = good[i] | good[k];
            if (i != k)
                CHECK_RULE("PHYS-123/b", IS(try_object(p, &args), STATUS_INVALID_PAGE_PROTECTION) &&
                                             probe_rule(p, "PHYS-123") == ++reports);
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        args.Section.PageProtection = bad[i];
        CHECK_RULE("PHYS-123/b", IS(try_object(p, &args), STATUS_INVALID_PAGE_PROTECTION) &&
                                     probe_rule(p, "PHYS-123") == ++reports);
    }
}

TEST_WITH(memory, sections_are_committed, &memory_isolated)
{
    static const struct {
        ULONG attributes;
        NTSTATUS status;
        unsigned reports;
        const char *clause;
    } cases[] = {
        {0, STATUS_SUCCESS, 0, "PHYS-124/a"},
        {SEC_COMMIT, STATUS_SUCCESS, 0, "PHYS-124/a"},
        {SEC_COMMIT | 0x40000000, STATUS_SUCCESS, 1, "PHYS-124/b"}, /* SEC_WRITECOMBINE */
        {0x40000000, STATUS_SUCCESS, 1, "PHYS-124/b"},
        {SEC_COMMIT | 0x10000000, STATUS_SUCCESS, 1, "PHYS-124/b"}, /* SEC_NOCACHE */
        {SEC_RESERVE, STATUS_INVALID_PARAMETER, 1, "PHYS-124/c"},
        {SEC_COMMIT | SEC_RESERVE, STATUS_INVALID_PARAMETER, 1, "PHYS-124/c"},
        {0x1000000, STATUS_INVALID_PARAMETER, 1, "PHYS-124/c"},  /* SEC_IMAGE */
        {0x80000000, STATUS_INVALID_PARAMETER, 1, "PHYS-124/c"}, /* SEC_LARGE_PAGES */
        {1, STATUS_INVALID_PARAMETER, 1, "PHYS-124/c"},
    };
    uint64_t reports = 0;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct memory_state before = memory_now(p);
        creation args = ask_object(p, SECTION_TYPE, 3 * PAGE);

        args.Section.AllocationAttributes = cases[i].attributes;
        CHECK_RULE(cases[i].clause, IS(take_object(p, &args), cases[i].status));
        reports += cases[i].reports;
        CHECK_RULE(cases[i].clause, probe_rule(p, "PHYS-124") == reports);
        if (!NT_SUCCESS(cases[i].status))
            continue;
        CHECK_RULE(cases[i].clause, memory_now(p).commit == before.commit + 3 * PAGE);
        {
            DXGK_ADL *adl = make_adl(p, args.hAdapterMemoryObject, PAGE);

            CHECK_RULE(cases[i].clause,
                       ram_page_cache(p->ram, (struct page_number){adl->Pages[0]}) == RAM_CACHED);
            free_adl(p, args.hAdapterMemoryObject, adl);
        }
        destroy_object(p, &args);
    }
}

static OBJECT_ATTRIBUTES attributes;
static ACCESS_MASK access_wanted;

static void create_with_attributes(struct probe *p)
{
    creation args = ask_object(p, SECTION_TYPE, PAGE);

    args.Section.ObjectAttributes = &attributes;
    args.Section.DesiredAccess = access_wanted;
    CHECK_RULE("PHYS-125/bc", IS(try_object(p, &args), STATUS_SUCCESS));
}

static void create_without_attributes(struct probe *p)
{
    creation args = ask_object(p, SECTION_TYPE, PAGE);

    CHECK_RULE("PHYS-125/a",
               IS(try_object(p, &args), STATUS_SUCCESS) && probe_reports(p, VERIFY_WARNING) == 0);
}

TEST_WITH(memory, attributes_in_a_process_want_kernel_handles, &memory_isolated)
{
    struct nt_process *process = probe_process(p, "client");
    creation args = ask_object(p, SECTION_TYPE, PAGE);

    create_without_attributes(p);
    probe_run_in(p, process, create_without_attributes);
    InitializeObjectAttributes(&attributes, NULL, 0, NULL, NULL);
    for (access_wanted = 1; access_wanted <= 0x10; access_wanted <<= 1)
        create_with_attributes(p); /* of a system thread */
    CHECK_RULE("PHYS-125/b", probe_rule(p, "PHYS-125") == 0);
    probe_run_in(p, process, create_with_attributes);
    CHECK_RULE("PHYS-125/c", probe_rule(p, "PHYS-125") == 1);
    attributes.Attributes = OBJ_KERNEL_HANDLE;
    probe_run_in(p, process, create_with_attributes);
    CHECK_RULE("PHYS-125/c", probe_rule(p, "PHYS-125") == 1);
    args.Section.ObjectAttributes = (POBJECT_ATTRIBUTES)(uintptr_t)0x10;
    CHECK_RULE("PHYS-125/d", IS(try_object(p, &args), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-125") == 2);
}

TEST_WITH(memory, sections_have_limits, &memory_isolated)
{
    struct physical_memory *memory = port_physical_memory(p->port);
    creation args = ask_object(p, SECTION_TYPE, (SIZE_T)1 << 60);
    uint64_t commit = physical_memory_commit(memory);

    CHECK_RULE("PHYS-126/a", IS(try_object(p, &args), STATUS_SECTION_TOO_BIG));
    args.Size = ((SIZE_T)1 << 44) + 1;
    CHECK_RULE("PHYS-126/a", IS(try_object(p, &args), STATUS_SECTION_TOO_BIG));
    args.Size = (SIZE_T)1 << 44;
    CHECK_RULE("PHYS-126/a", IS(try_object(p, &args), STATUS_COMMITMENT_LIMIT));
    physical_memory_set_commit_limit(memory, commit + 3 * MIB);
    args.Size = 3 * MIB + 1;
    CHECK_RULE("PHYS-126/b", IS(try_object(p, &args), STATUS_COMMITMENT_LIMIT) &&
                                 physical_memory_commit(memory) == commit);
    args.Size = 3 * MIB;
    CHECK_RULE("PHYS-126/b",
               IS(try_object(p, &args), STATUS_SUCCESS) && probe_reports(p, VERIFY_WARNING) == 0);
    args.Section.PageProtection = 0;
    CHECK_RULE("PHYS-126/c", IS(try_object(p, &args), STATUS_INVALID_PAGE_PROTECTION));
}

/* ---- type IO_SPACE ---- */

static NTSTATUS try_io(struct probe *p, SIZE_T bytes, uint64_t base)
{
    creation args = ask_object(p, IO_TYPE, bytes);

    args.IOSpace.BaseAddress = at_byte(base);
    return try_object(p, &args);
}

TEST_WITH(memory, io_space_is_wrapped, &memory_isolated)
{
    uint64_t bar = (uint64_t)probe_bar(p, 1).QuadPart;
    struct memory_state before = memory_now(p);
    creation args = make_object_of(p, IO_TYPE, 4 * PAGE);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, PAGE, PAGE);
    PVOID own = NULL;
    char *bytes;

    CHECK_RULE("PHYS-128/b",
               ram_free_pages(p->ram) == before.pages &&
                   physical_memory_commit(port_physical_memory(p->port)) == before.commit);
    bytes = view_bytes(&view);
    bytes[3] = 0x4C;
    end_view(p, &view);
    destroy_object(p, &args);
    CHECK_RULE("PHYS-137/b", memory_same(p, before));
    CHECK(IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 1), 2 * 4096, FALSE, FALSE,
                                  MmNonCached, &own),
             STATUS_SUCCESS));
    CHECK_RULE("PHYS-128/b", ((volatile char *)own)[PAGE + 3] == 0x4C);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, own), STATUS_SUCCESS));
    CHECK_RULE("PHYS-128/a", IS(try_io(p, PAGE, bar + 0x100), STATUS_INVALID_PARAMETER) &&
                                 IS(try_io(p, PAGE, bar + 1), STATUS_INVALID_PARAMETER) &&
                                 IS(try_io(p, PAGE, bar + 4095), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-128") == 3);
}

TEST_WITH(memory, io_space_is_no_ram, &memory_isolated)
{
    uint64_t end = ram_bytes(p->ram), last = UINT64_MAX - PAGE + 1;

    CHECK_RULE("PHYS-129/a",
               IS(try_io(p, 2 * PAGE, last), STATUS_INVALID_PARAMETER) &&
                   IS(try_io(p, UINT64_MAX - PAGE + 1, end), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "PHYS-129") == 2);
    CHECK_RULE("PHYS-129/b", IS(try_io(p, PAGE, end - PAGE), STATUS_INVALID_PARAMETER) &&
                                 IS(try_io(p, 2 * PAGE, end - PAGE), STATUS_INVALID_PARAMETER) &&
                                 IS(try_io(p, PAGE, 0), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-129") == 5);
    CHECK_RULE("PHYS-129/c", IS(try_io(p, PAGE, end), STATUS_SUCCESS) &&
                                 IS(try_io(p, PAGE, last - PAGE), STATUS_SUCCESS) &&
                                 probe_rule(p, "PHYS-129") == 5);
}

/* Of a second device, whose driver knows nothing of it. */
TEST(io_space_of_a_peer)
{
    const struct probe_options two = {.adapters = 2, .port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = probe_started(&two);
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *peer =
        p->state[1].device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    CHECK_RULE("PHYS-129/c",
               peer[1].u.Memory.Start.QuadPart != probe_bar(p, 1).QuadPart &&
                   IS(try_io(p, PAGE, (uint64_t)peer[1].u.Memory.Start.QuadPart), STATUS_SUCCESS));
    probe_destroy(p);
}
