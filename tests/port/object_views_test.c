/* SPDX-License-Identifier: MIT */
/* DxgkCbMapPhysicalMemory and DxgkCbUnmapPhysicalMemory: which part is mapped, with which rights, for whom, until when. */
#include "port/support/object_calls.h"

typedef DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT creation;
typedef DXGKARGCB_MAP_PHYSICAL_MEMORY mapping;

static const DXGK_PHYSICAL_MEMORY_TYPE types[] = {
    DXGK_PHYSICAL_MEMORY_TYPE_MDL, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY,
    DXGK_PHYSICAL_MEMORY_TYPE_SECTION, DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE};

static NTSTATUS try_view(struct probe *p, HANDLE object, uint64_t offset, uint64_t bytes,
                         DXGK_ACCESS_MODE mode)
{
    mapping view = ask_view(object, offset, bytes);
    NTSTATUS status;

    view.AccessMode = mode;
    status = DXGK.DxgkCbMapPhysicalMemory(&view);
    CHECK(NT_SUCCESS(status) == (view.pMappedAddress != NULL));
    if (NT_SUCCESS(status))
        end_view(p, &view);
    return status;
}

/* ---- which part ---- */

TEST_WITH(memory, offsets_and_sizes_come_back_as_mapped, &memory_physical)
{
    static const struct {
        uint64_t offset, bytes;
    } asked[] = {{0, 1},         {0, 4096},    {0, 4097},       {0x10, 0xFF0}, {0x10, 0xFF1},
                 {0x1010, 0x20}, {0xFFF, 2},   {0x13010, 8},    {0x10000, 1},  {0xFFFF, 1},
                 {0xFFFF, 2},    {0x23FFF, 1}, {0x12345, 0x345}};

    for (unsigned t = 0; t < 4; t++) {
        creation args = make_object_of(p, types[t], 40 * PAGE);
        mapping whole = make_view(p, args.hPhysicalMemoryObject, 0, 40 * PAGE);
        uint64_t unit = types[t] == DXGK_PHYSICAL_MEMORY_TYPE_SECTION ? 0x10000 : 0x1000;

        CHECK_RULE("PHYS-146", whole.Offset == 0 && whole.Size == 40 * PAGE);
        for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
            mapping view = make_view(p, args.hPhysicalMemoryObject, asked[i].offset, asked[i].bytes);
            const char *rule = unit == 0x1000 ? "PHYS-147/a" : "PHYS-147/b";
            char *all = view_bytes(&whole), *part = view_bytes(&view);

            CHECK_RULE(rule, view.Offset == asked[i].offset % unit &&
                                 (uintptr_t)view.pMappedAddress % PAGE == 0);
            CHECK_RULE("PHYS-147/c",
                       view.Size == (view.Offset + asked[i].bytes + 4095) / 4096 * 4096);
            CHECK_RULE("PHYS-146", view.Offset + asked[i].bytes <= view.Size);
            all[asked[i].offset] = (char)(i + 1);
            CHECK_RULE("PHYS-146", part[0] == (char)(i + 1));
            part[asked[i].bytes - 1] = (char)(i + 2);
            CHECK_RULE("PHYS-146", all[asked[i].offset + asked[i].bytes - 1] == (char)(i + 2));
            end_view(p, &view);
        }
        end_view(p, &whole);
        destroy_object(p, &args);
    }
    CHECK_RULE("PHYS-156", probe_reports(p, VERIFY_WARNING) == 0);
}

TEST_WITH(memory, ranges_outside_the_object, &memory_physical)
{
    static const struct {
        uint64_t offset, bytes;
        const char *clause;
    } bad[] = {{0, 0, "PHYS-148/a"},
               {4096, 0, "PHYS-148/a"},
               {8192, 1, "PHYS-148/b"},
               {8191, 2, "PHYS-148/b"},
               {0, 8193, "PHYS-148/b"},
               {UINT64_MAX, 2, "PHYS-148/c"},
               {4096, UINT64_MAX - 4095, "PHYS-148/c"},
               {1, UINT64_MAX, "PHYS-148/c"}};

    for (unsigned t = 0; t < 4; t++) {
        creation args = make_object_of(p, types[t], 8192);
        HANDLE object = args.hPhysicalMemoryObject;

        for (unsigned i = 0; i < 8; i++)
            CHECK_RULE(bad[i].clause, IS(try_view(p, object, bad[i].offset, bad[i].bytes,
                                                  DXGK_ACCESS_MODE_KERNEL_MODE),
                                         STATUS_INVALID_PARAMETER) &&
                                          probe_rule(p, "PHYS-148") == 8 * t + i + 1);
        CHECK_RULE(
            "PHYS-148/b",
            IS(try_view(p, object, 8191, 1, DXGK_ACCESS_MODE_KERNEL_MODE), STATUS_SUCCESS) &&
                IS(try_view(p, object, 0, 8192, DXGK_ACCESS_MODE_KERNEL_MODE), STATUS_SUCCESS));
        destroy_object(p, &args);
    }
}

/* ---- for whom ---- */

static HANDLE shared_object;
static mapping kernel_view;

static void look_from_a_client(struct probe *p)
{
    char *bytes = view_bytes(&kernel_view);

    (void)p;
    CHECK_RULE("PHYS-149/a", readable(bytes) && bytes[0] == 'k');
    bytes[1] = 'c';
}

static void try_user_mode_of_io_space(struct probe *p)
{
    CHECK_RULE("PHYS-150", IS(try_view(p, shared_object, 0, PAGE, DXGK_ACCESS_MODE_USER_MODE),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "PHYS-150") == 1);
}

static void try_user_mode(struct probe *p)
{
    CHECK_RULE("PHYS-150",
               IS(try_view(p, shared_object, 0, PAGE, DXGK_ACCESS_MODE_USER_MODE), STATUS_SUCCESS));
}

TEST_WITH(memory, access_modes, &memory_physical)
{
    static const int others[] = {2, 3, -1};
    struct nt_process *process = probe_process(p, "client");

    for (unsigned t = 0; t < 4; t++) {
        creation args = make_object_of(p, types[t], PAGE);

        shared_object = args.hPhysicalMemoryObject;
        for (unsigned i = 0; i < 3; i++)
            CHECK_RULE("PHYS-149/b",
                       IS(try_view(p, shared_object, 0, PAGE, (DXGK_ACCESS_MODE)others[i]),
                          STATUS_INVALID_PARAMETER) &&
                           probe_rule(p, "PHYS-149") == 3 * t + i + 1);
        kernel_view = make_view(p, shared_object, 0, PAGE);
        set_byte(&kernel_view, 0, 'k');
        probe_run_in(p, process, look_from_a_client);
        CHECK_RULE("PHYS-149/a", view_bytes(&kernel_view)[1] == 'c');
        end_view(p, &kernel_view);
        probe_run_in(p, process,
                     types[t] == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE ? try_user_mode_of_io_space
                                                                    : try_user_mode);
        CHECK_RULE("PHYS-150", IS(try_view(p, shared_object, 0, PAGE, DXGK_ACCESS_MODE_KERNEL_MODE),
                                  STATUS_SUCCESS));
        destroy_object(p, &args);
    }
}

/* ---- rights ---- */

TEST_WITH(memory, rights_follow_the_protection, &memory_isolated)
{
    static const struct {
        ULONG protection;
        bool writable;
        const char *clause;
    } cases[] = {{PAGE_READONLY, false, "PHYS-152/a"},
                 {PAGE_EXECUTE, false, "PHYS-152/a"},
                 {PAGE_READWRITE, true, "PHYS-152/c"},
                 {PAGE_WRITECOPY, true, "PHYS-152/b"}};

    for (unsigned i = 0; i < 4; i++) {
        creation args = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 2 * PAGE);
        mapping view, other;
        DXGK_ADL *adl;

        args.Section.PageProtection = cases[i].protection;
        CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
        view = make_view(p, args.hPhysicalMemoryObject, 0, 2 * PAGE);
        other = make_view(p, args.hPhysicalMemoryObject, 0, 2 * PAGE);
        CHECK_RULE(cases[i].clause, readable(view_bytes(&view)) &&
                                        writable(view_bytes(&view) + PAGE) == cases[i].writable &&
                                        writable(view_bytes(&view)) == cases[i].writable);
        adl = make_adl(p, args.hAdapterMemoryObject, 2 * PAGE); /* the pages move */
        CHECK(device_writes(p, adl->Pages[0], 0, 'd'));
        CHECK_RULE(cases[i].clause, readable(view_bytes(&view)) &&
                                        writable(view_bytes(&view) + PAGE) == cases[i].writable);
        CHECK_RULE("PHYS-152/c", view_bytes(&other)[0] == 'd');
        free_adl(p, args.hAdapterMemoryObject, adl);
        end_view(p, &view);
        end_view(p, &other);
        destroy_object(p, &args);
    }
    for (unsigned t = 0; t < 4; t++) {
        creation args = make_object_of(p, types[t], PAGE);
        mapping view = make_view(p, args.hPhysicalMemoryObject, 0, PAGE);

        CHECK_RULE("PHYS-152/c", readable(view_bytes(&view)) && writable(view_bytes(&view)));
        end_view(p, &view);
        destroy_object(p, &args);
    }
}

TEST_WITH(memory, write_copy_views_keep_their_bytes, &memory_isolated)
{
    creation args = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 2 * PAGE);
    mapping writer, other;
    DXGK_ADL *adl;

    args.Section.PageProtection = PAGE_WRITECOPY;
    CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
    writer = make_view(p, args.hPhysicalMemoryObject, 0, 2 * PAGE);
    other = make_view(p, args.hPhysicalMemoryObject, 0, 2 * PAGE);
    set_byte(&writer, 0, 'w');
    CHECK_RULE("PHYS-152/b", view_bytes(&other)[0] == 0);
    adl = make_adl(p, args.hAdapterMemoryObject, 2 * PAGE);
    CHECK_RULE("PHYS-152/b", device_byte(p, adl->Pages[0], 0) == 0);
    CHECK(device_writes(p, adl->Pages[0], 0, 'd') && device_writes(p, adl->Pages[1], 0, 'e'));
    CHECK_RULE("PHYS-152/b", view_bytes(&writer)[0] == 'w' && view_bytes(&other)[0] == 'd' &&
                                 view_bytes(&writer)[PAGE] == 'e');
    free_adl(p, args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-152/b", view_bytes(&writer)[0] == 'w' && view_bytes(&other)[0] == 'd');
    end_view(p, &writer);
    end_view(p, &other);
    destroy_object(p, &args);
}

/* ---- many views ---- */

TEST_WITH(memory, views_of_one_object, &memory_physical)
{
    for (unsigned t = 0; t < 4; t++) {
        creation args = make_object_of(p, types[t], 40 * PAGE);
        mapping whole = make_view(p, args.hPhysicalMemoryObject, 0, 40 * PAGE),
                part = make_view(p, args.hPhysicalMemoryObject, 0x12345, 3),
                again = make_view(p, args.hPhysicalMemoryObject, 0x12345, 3);

        CHECK_RULE("PHYS-153", whole.pMappedAddress != part.pMappedAddress &&
                                   part.pMappedAddress != again.pMappedAddress);
        set_byte(&whole, 0x12345, 'x');
        CHECK_RULE("PHYS-153", view_bytes(&part)[0] == 'x' && view_bytes(&again)[0] == 'x');
        set_byte(&again, 2, 'y');
        CHECK_RULE("PHYS-153", view_bytes(&whole)[0x12347] == 'y' && view_bytes(&part)[2] == 'y');
        end_view(p, &part);
        CHECK_RULE("PHYS-153", !readable(view_bytes(&part)) && view_bytes(&again)[0] == 'x' &&
                                   view_bytes(&whole)[0x12345] == 'x');
        end_view(p, &whole);
        CHECK_RULE("PHYS-153", !readable(view_bytes(&whole)) && view_bytes(&again)[2] == 'y');
        end_view(p, &again);
        destroy_object(p, &args);
    }
    CHECK_RULE("PHYS-156", probe_reports(p, VERIFY_WARNING) == 0);
}

/* ---- the end ---- */

TEST_WITH(memory, views_end_by_base_and_size, &memory_physical)
{
    creation args = make_object(p, 4 * PAGE), other = make_object(p, PAGE);
    HANDLE object = args.hPhysicalMemoryObject;
    mapping view = make_view(p, object, 0x10, 3 * PAGE);
    char *bytes = view_bytes(&view);

    CHECK(view.Size == 4 * PAGE);
    end_view_as(p, object, (char *)view.pMappedAddress + PAGE, view.Size);
    end_view_as(p, object, bytes, view.Size);
    end_view_as(p, object, NULL, view.Size);
    end_view_as(p, other.hPhysicalMemoryObject, view.pMappedAddress, view.Size);
    CHECK_RULE("PHYS-157/a", probe_rule(p, "PHYS-157") == 4 && writable(bytes));
    end_view_as(p, object, view.pMappedAddress, 3 * PAGE); /* as asked for, not as mapped */
    CHECK_RULE("PHYS-157/b",
               probe_rule(p, "PHYS-157") == 5 && !readable(bytes) && !readable(bytes + 3 * PAGE));
    end_view(p, &view);
    CHECK_RULE("PHYS-157/a", probe_rule(p, "PHYS-157") == 6);
    view = make_view(p, object, 0, PAGE);
    end_view_as(p, object, view.pMappedAddress, PAGE + 1);
    CHECK_RULE("PHYS-157/b", probe_rule(p, "PHYS-157") == 7 && !readable(view.pMappedAddress));
    view = make_view(p, object, 0, PAGE);
    end_view(p, &view);
    CHECK_RULE("PHYS-157/b", probe_rule(p, "PHYS-157") == 7);
    CHECK_RULE("PHYS-156", probe_reports(p, VERIFY_WARNING) == 7 && !readable(view.pMappedAddress));
    destroy_object(p, &args);
    destroy_object(p, &other);
}

/* ---- levels ---- */

static void touch_raised(struct probe *p, DXGK_PHYSICAL_MEMORY_TYPE type)
{
    creation args = make_object_of(p, type, PAGE);
    mapping view = make_view(p, args.hPhysicalMemoryObject, 0, PAGE);
    KIRQL level;

    KeRaiseIrql(DISPATCH_LEVEL, &level);
    set_byte(&view, 0, 1);
    KeLowerIrql(level);
    end_view(p, &view);
    destroy_object(p, &args);
}

TEST_WITH(memory, nonpaged_views_at_any_level, &memory_physical)
{
    touch_raised(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL);
    touch_raised(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY);
    touch_raised(p, DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE);
    CHECK_RULE("PHYS-154/b", probe_reports(p, VERIFY_WARNING) == 0);
}
