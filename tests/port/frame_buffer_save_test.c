/* SPDX-License-Identifier: MIT */
/* The section for saving the frame buffer: its size, pins of both versions, and pointers. */
#include "port/support/object_calls.h"

#define SAVED (32 * PAGE)

static NTSTATUS pin(struct probe *p, UINT index, uint64_t bytes, PMDL *mdl)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE args = {
        .PhysicalAdapterIndex = index, .CommitSize = bytes, .pMdl = NONE};
    NTSTATUS status = DXGK.DxgkCbPinFrameBufferForSave(DXGK.DeviceHandle, &args);

    *mdl = args.pMdl;
    return status;
}

static NTSTATUS pin2(struct probe *p, UINT index, uint64_t bytes, UINT flags, DXGK_ADL **adl)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE2 args = {
        .PhysicalAdapterIndex = index, .CommitSize = bytes, .pAdl = NONE};
    NTSTATUS status;

    args.Flags.Value = flags;
    status = DXGK.DxgkCbPinFrameBufferForSave2(DXGK.DeviceHandle, &args);
    *adl = args.pAdl;
    return status;
}

static NTSTATUS unpin(struct probe *p, UINT index)
{
    DXGKARGCB_UNPINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index};

    return DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &args);
}

static NTSTATUS map(struct probe *p, UINT index, uint64_t offset, uint64_t bytes,
                    DXGKARGCB_MAPFRAMEBUFFERPOINTER *args)
{
    *args = (DXGKARGCB_MAPFRAMEBUFFERPOINTER){
        .PhysicalAdapterIndex = index, .Size = bytes, .Offset = offset, .pBaseAddress = NONE};
    return DXGK.DxgkCbMapFrameBufferPointer(DXGK.DeviceHandle, args);
}

static NTSTATUS unmap(struct probe *p, UINT index, PVOID base)
{
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER args = {.PhysicalAdapterIndex = index, .pBaseAddress = base};

    return DXGK.DxgkCbUnmapFrameBufferPointer(DXGK.DeviceHandle, &args);
}

static char *pointer_of(const DXGKARGCB_MAPFRAMEBUFFERPOINTER *args)
{
    return (char *)args->pBaseAddress + args->Offset;
}

static void set_saved(const DXGKARGCB_MAPFRAMEBUFFERPOINTER *args, uint64_t at, char byte)
{
    char *bytes = pointer_of(args);

    bytes[at] = byte;
}

/* A probe whose driver saves so much. */
static struct probe *saving(const struct probe_options *options, uint64_t bytes)
{
    struct probe *p = probe_create(options);

    p->save_bytes = bytes;
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

#define RIG_ARGUMENT_saving          struct probe *p
#define RIG_RUN_saving(body, option) probe_end(saving(option, SAVED), body)

/* ---- the section ---- */

TEST(a_section_takes_commit_and_no_pages)
{
    struct probe *p = saving(&memory_isolated, 0);
    struct memory_state without = memory_now(p), with;

    probe_destroy(p);
    p = saving(&memory_isolated, 8 * MIB);
    with = memory_now(p);
    CHECK_RULE("PHYS-090/a", with.commit == without.commit + 8 * MIB);
    CHECK_RULE("PHYS-090/b", with.pages == without.pages);
    probe_destroy(p);
}

static void pin_up_to(struct probe *p)
{
    uint64_t most = p->save_bytes;
    PMDL mdl;

    CHECK_RULE("PHYS-087/b", IS(pin(p, 0, most + PAGE, &mdl), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-087/b",
               IS(pin(p, 0, most, &mdl), STATUS_SUCCESS) && MmGetMdlByteCount(mdl) == most);
    CHECK(IS(unpin(p, 0), STATUS_SUCCESS));
}

static void nothing_to_pin(struct probe *p)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    DXGK_ADL *adl;
    PMDL mdl;

    CHECK_RULE("PHYS-087/a", IS(pin(p, 0, PAGE, &mdl), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-094/b", IS(pin(p, 0, PAGE, &mdl), STATUS_INVALID_PARAMETER) && !mdl &&
                                 IS(pin2(p, 0, PAGE, 0, &adl), STATUS_INVALID_PARAMETER) && !adl &&
                                 IS(map(p, 0, 0, PAGE, &view), STATUS_INVALID_PARAMETER) &&
                                 IS(unpin(p, 0), STATUS_INVALID_PARAMETER) &&
                                 IS(unmap(p, 0, NONE), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-094") == 6);
}

TEST(the_driver_says_how_much)
{
    probe_end(saving(&memory_isolated, 0), nothing_to_pin);
    probe_end(saving(&memory_isolated, PAGE), pin_up_to);
    probe_end(saving(&memory_isolated, MIB), pin_up_to);
}

static void pin_two(struct probe *p)
{
    PMDL mdl;

    CHECK_RULE("PHYS-088/a", IS(pin(p, 0, 3 * PAGE, &mdl), STATUS_INVALID_PARAMETER) &&
                                 IS(pin(p, 0, 2 * PAGE, &mdl), STATUS_SUCCESS) &&
                                 IS(unpin(p, 0), STATUS_SUCCESS));
}

TEST(sizes_that_are_no_pages)
{
    const struct probe_options strict = {.strict = true, .port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = saving(&memory_isolated, 5000);
    const char *rule = probe_rule(p, "PHYS-088") ? "PHYS-088" : "CAPS-118";

    CHECK_RULE("PHYS-088/a",
               probe_rule(p, rule) == 1 && probe_record(p, rule)->severity == VERIFY_WARNING);
    probe_end(p, pin_two);
    p = probe_create(&strict);
    p->save_bytes = 5000;
    CHECK_RULE("PHYS-088/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR));
    probe_destroy(p);
}

static NTSTATUS start_with_limit(uint64_t limit, uint64_t bytes)
{
    struct probe *p = probe_create(&memory_isolated);
    NTSTATUS status;

    p->save_bytes = bytes;
    physical_memory_set_commit_limit(port_physical_memory(p->port), limit);
    status = probe_start(p);
    probe_destroy(p);
    return status;
}

TEST(commit_that_cannot_be_taken)
{
    struct probe *p = saving(&memory_isolated, 0);
    uint64_t used = memory_now(p).commit;

    probe_destroy(p);
    CHECK_RULE("PHYS-091",
               IS(start_with_limit(used + 8 * MIB - 1, 8 * MIB), STATUS_COMMITMENT_LIMIT) &&
                   IS(start_with_limit(used + 8 * MIB, 8 * MIB), STATUS_SUCCESS));
}

/* ---- pins ---- */

TEST_WITH(saving, a_pin_gives_pages, &memory_isolated)
{
    struct memory_state before = memory_now(p);
    PMDL mdl;
    PFN_NUMBER last;

    CHECK_RULE("PHYS-092/a", IS(pin(p, 0, 20 * PAGE, &mdl), STATUS_SUCCESS) &&
                                 MmGetMdlByteCount(mdl) == 20 * PAGE &&
                                 MmGetMdlByteOffset(mdl) == 0 &&
                                 ram_free_pages(p->ram) == before.pages - 20);
    for (unsigned i = 0; i < 20; i++) {
        PFN_NUMBER page = MmGetMdlPfnArray(mdl)[i];

        CHECK_RULE("PHYS-092/b", ram_page_locks(p->ram, (struct page_number){page}) == 1);
        CHECK_RULE("PHYS-092/c",
                   device_writes(p, page, 5, (char)i) && device_byte(p, page, 5) == (char)i);
    }
    last = MmGetMdlPfnArray(mdl)[19];
    CHECK_RULE("PHYS-100/a", IS(unpin(p, 0), STATUS_SUCCESS) && memory_same(p, before) &&
                                 !device_reaches(p, last));
    CHECK_RULE("PHYS-100/c",
               IS(unpin(p, 0), STATUS_INVALID_PARAMETER) && probe_rule(p, "PHYS-100") == 1);
    CHECK_RULE("PHYS-100/c",
               IS(unpin(p, 1), STATUS_INVALID_PARAMETER) && probe_rule(p, "PHYS-094") == 1);
}

TEST_WITH(saving, a_pin_of_the_second_version, &memory_isolated)
{
    bool logical = memory_mode(p) == IOMMU_REMAP;
    struct memory_state before = memory_now(p);
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    uint64_t last;
    DXGK_ADL *adl;

    for (UINT bit = 1; bit < 32; bit++)
        CHECK_RULE("PHYS-099/c", IS(pin2(p, 0, PAGE, 1u << bit, &adl), STATUS_INVALID_PARAMETER) &&
                                     !adl && probe_rule(p, "PHYS-099") == bit);
    CHECK_RULE("PHYS-098/a",
               IS(pin2(p, 0, 5 * PAGE, 0, &adl), STATUS_SUCCESS) && adl->PageCount == 5);
    CHECK_RULE("PHYS-099/b", adl->Flags.Value == 0);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("PHYS-098/a", device_writes(p, adl->Pages[i], 0, (char)('a' + i)));
    last = adl->Pages[4];
    CHECK_RULE("PHYS-100/b", IS(unpin(p, 0), STATUS_SUCCESS) && memory_same(p, before) &&
                                 !device_reaches(p, last));
    CHECK(IS(map(p, 0, 0, SAVED, &view), STATUS_SUCCESS));
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("PHYS-098/b", pointer_of(&view)[i * PAGE] == (char)('a' + i));
    CHECK_RULE("PHYS-101/b", pointer_of(&view)[5 * PAGE] == 0 && pointer_of(&view)[1] == 0 &&
                                 pointer_of(&view)[SAVED - 1] == 0);
    CHECK_RULE("PHYS-099/a",
               IS(pin2(p, 0, 5 * PAGE, 1, &adl), STATUS_SUCCESS) && adl->Flags.Value == logical);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("PHYS-101/a", device_byte(p, adl_page(adl, i), 0) == (char)('a' + i));
    CHECK(IS(unpin(p, 0), STATUS_SUCCESS) && IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
}
TEST_ALSO(saving, a_pin_of_the_second_version, logical, &memory_logical)

/* The same of both versions. */
static NTSTATUS pin_as(struct probe *p, unsigned version, UINT index, uint64_t bytes)
{
    DXGK_ADL *adl;
    PMDL mdl;

    return version == 1 ? pin(p, index, bytes, &mdl) : pin2(p, index, bytes, 0, &adl);
}

TEST_WITH(saving, sizes_and_indices_of_pins, &memory_isolated)
{
    static const uint64_t bad[] = {100, 1, 4095, 4097, SAVED + PAGE, SAVED + 1, UINT64_MAX - 4095};

    for (unsigned version = 1; version <= 2; version++) {
        for (unsigned i = 0; i < 7; i++)
            CHECK_RULE("PHYS-093/b", IS(pin_as(p, version, 0, bad[i]), STATUS_INVALID_PARAMETER) &&
                                         probe_rule(p, "PHYS-093") == 7 * (version - 1) + i + 1);
        CHECK_RULE("PHYS-094/a",
                   IS(pin_as(p, version, 1, PAGE), STATUS_INVALID_PARAMETER) &&
                       IS(pin_as(p, version, 0x80000000, PAGE), STATUS_INVALID_PARAMETER) &&
                       probe_rule(p, "PHYS-094") == 3 * version - 1);
        CHECK_RULE("PHYS-094/c", IS(pin_as(p, version, 0, 0), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "PHYS-094") == 3 * version);
        CHECK_RULE("PHYS-093/a", IS(pin_as(p, version, 0, SAVED), STATUS_SUCCESS));
        CHECK(IS(unpin(p, 0), STATUS_SUCCESS));
        CHECK_RULE("PHYS-093/a", IS(pin_as(p, version, 0, PAGE), STATUS_SUCCESS));
        for (unsigned other = 1; other <= 2; other++)
            CHECK_RULE("PHYS-095", IS(pin_as(p, other, 0, PAGE), STATUS_INVALID_PARAMETER) &&
                                       probe_rule(p, "PHYS-095") == 2 * (version - 1) + other);
        CHECK(IS(unpin(p, 0), STATUS_SUCCESS));
    }
    CHECK_RULE("PHYS-095",
               IS(pin_as(p, 1, 0, PAGE), STATUS_SUCCESS) && probe_rule(p, "PHYS-095") == 4);
    CHECK(IS(unpin(p, 0), STATUS_SUCCESS));
}

static void pin_without_room(struct probe *p)
{
    struct memory_state before = memory_now(p);
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    uint64_t room = before.pages;

    for (unsigned version = 1; version <= 2; version++) {
        CHECK_RULE("PHYS-096/a", IS(pin_as(p, version, 0, (room + 1) * PAGE), STATUS_NO_MEMORY) &&
                                     memory_same(p, before) &&
                                     probe_reports(p, VERIFY_WARNING) == 0);
        CHECK_RULE("PHYS-096/a", IS(pin_as(p, version, 0, room * PAGE), STATUS_SUCCESS));
        CHECK(IS(unpin(p, 0), STATUS_SUCCESS));
    }
    for (unsigned i = 0; i < 3; i++) { /* piece by piece instead */
        CHECK_RULE("PHYS-096/b", IS(map(p, 0, i * PAGE, PAGE, &view), STATUS_SUCCESS));
        set_saved(&view, 0, (char)('p' + i));
        CHECK(IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
    }
    CHECK(IS(map(p, 0, 0, 3 * PAGE, &view), STATUS_SUCCESS));
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("PHYS-096/b", pointer_of(&view)[i * PAGE] == (char)('p' + i));
    CHECK(IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
}

TEST(a_pin_that_finds_no_pages)
{
    probe_end(saving(&memory_isolated, 65 * MIB), pin_without_room);
}

/* ---- pointers ---- */

TEST_WITH(saving, pointers_need_no_pin, &memory_isolated)
{
    struct memory_state before = memory_now(p);
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view, other;
    PMDL mdl;

    CHECK_RULE("PHYS-102/a", IS(map(p, 0, 3 * PAGE, PAGE, &view), STATUS_SUCCESS));
    CHECK_RULE("PHYS-102/b",
               memory_now(p).mapped == before.mapped && memory_now(p).pages == before.pages);
    set_saved(&view, 9, 's');
    CHECK(IS(pin(p, 0, 20 * PAGE, &mdl), STATUS_SUCCESS));
    CHECK_RULE("PHYS-102/a", device_byte(p, MmGetMdlPfnArray(mdl)[3], 9) == 's');
    CHECK(device_writes(p, MmGetMdlPfnArray(mdl)[3], 10, 'd'));
    CHECK_RULE("PHYS-102/a", pointer_of(&view)[10] == 'd');
    CHECK(IS(unpin(p, 0), STATUS_SUCCESS));
    CHECK_RULE("PHYS-105/c", IS(map(p, 0, 2 * PAGE, 3 * PAGE, &other), STATUS_SUCCESS) &&
                                 other.pBaseAddress != view.pBaseAddress &&
                                 pointer_of(&other)[PAGE + 9] == 's' &&
                                 pointer_of(&view)[10] == 'd');
    CHECK(IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
    CHECK_RULE("PHYS-105/c", pointer_of(&other)[PAGE + 9] == 's');
    CHECK(IS(unmap(p, 0, other.pBaseAddress), STATUS_SUCCESS) && memory_same(p, before));
}

TEST_WITH(saving, pointers_begin_on_64_kib, &memory_isolated)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER whole, view;

    CHECK(IS(map(p, 0, 0, SAVED, &whole), STATUS_SUCCESS) && whole.Offset == 0);
    for (unsigned i = 0; i < SAVED / PAGE; i++)
        set_saved(&whole, i * PAGE, (char)i);
    for (unsigned i = 0; i < SAVED / PAGE; i++) {
        CHECK_RULE("PHYS-104", IS(map(p, 0, i * PAGE, PAGE, &view), STATUS_SUCCESS) &&
                                   view.Offset == i * PAGE % 0x10000 && view.Size == PAGE &&
                                   pointer_of(&view)[0] == (char)i);
        CHECK(IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
    }
    CHECK(IS(unmap(p, 0, whole.pBaseAddress), STATUS_SUCCESS));
}

TEST_WITH(saving, ranges_of_pointers, &memory_isolated)
{
    static const struct {
        uint64_t offset, bytes;
        const char *rule, *clause;
    } bad[] = {
        {100, PAGE, "PHYS-103", "PHYS-103/a"},
        {1, PAGE, "PHYS-103", "PHYS-103/a"},
        {4095, PAGE, "PHYS-103", "PHYS-103/a"},
        {0, 100, "PHYS-103", "PHYS-103/b"},
        {0, 4097, "PHYS-103", "PHYS-103/b"},
        {0, 0, "PHYS-094", "PHYS-094/d"},
        {SAVED, PAGE, "PHYS-105", "PHYS-105/a"},
        {SAVED - PAGE, 2 * PAGE, "PHYS-105", "PHYS-105/a"},
        {0, SAVED + PAGE, "PHYS-105", "PHYS-105/a"},
        {(uint64_t)0 - PAGE, 2 * PAGE, "PHYS-105", "PHYS-105/b"},
        {PAGE, (uint64_t)0 - PAGE, "PHYS-105", "PHYS-105/b"},
    };
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t before = probe_rule(p, bad[i].rule);

        CHECK_RULE(bad[i].clause,
                   IS(map(p, 0, bad[i].offset, bad[i].bytes, &view), STATUS_INVALID_PARAMETER) &&
                       view.pBaseAddress == NULL && probe_rule(p, bad[i].rule) == before + 1);
    }
    CHECK_RULE("PHYS-094/d", IS(map(p, 1, 0, PAGE, &view), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-094") == 2);
    CHECK_RULE("PHYS-105/a", IS(map(p, 0, SAVED - PAGE, PAGE, &view), STATUS_SUCCESS));
    CHECK(IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
}

TEST_WITH(saving, pointers_end_by_their_base, &memory_isolated)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, PAGE);
    DXGKARGCB_MAP_PHYSICAL_MEMORY alien = make_view(p, object.hPhysicalMemoryObject, 0, PAGE);

    CHECK(IS(map(p, 0, 3 * PAGE, PAGE, &view), STATUS_SUCCESS));
    CHECK_RULE("PHYS-107/b", IS(unmap(p, 0, pointer_of(&view)), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-107") == 1 && writable(pointer_of(&view)));
    CHECK_RULE("PHYS-107/b", IS(unmap(p, 0, NULL), STATUS_INVALID_PARAMETER) &&
                                 IS(unmap(p, 0, alien.pMappedAddress), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-107") == 3 && writable(alien.pMappedAddress));
    CHECK_RULE("PHYS-107/c", IS(unmap(p, 1, view.pBaseAddress), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-094") == 1 && writable(pointer_of(&view)));
    CHECK_RULE("PHYS-107/a",
               IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS) && !readable(pointer_of(&view)));
    CHECK_RULE("PHYS-107/a", IS(unmap(p, 0, view.pBaseAddress), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-107") == 4);
    end_view(p, &alien);
    destroy_object(p, &object);
}

/* Each adapter has a section of its own. */
TEST(pointers_of_another_adapter)
{
    const struct probe_options two = {.adapters = 2, .port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = saving(&two, SAVED);
    const DXGKRNL_INTERFACE *other = &p->state[1].dxgk;
    DXGKARGCB_MAPFRAMEBUFFERPOINTER own = {.Size = PAGE}, alien = {.Size = PAGE};
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER undo;

    CHECK(IS(map(p, 0, 0, PAGE, &own), STATUS_SUCCESS));
    CHECK(IS(other->DxgkCbMapFrameBufferPointer(other->DeviceHandle, &alien), STATUS_SUCCESS));
    CHECK_RULE("PHYS-107/d", IS(unmap(p, 0, alien.pBaseAddress), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-107") == 1 && writable(pointer_of(&alien)));
    set_saved(&alien, 0, 'o');
    CHECK_RULE("PHYS-090/c", pointer_of(&own)[0] == 0);
    undo = (DXGKARGCB_UNMAPFRAMEBUFFERPOINTER){.pBaseAddress = alien.pBaseAddress};
    CHECK(IS(other->DxgkCbUnmapFrameBufferPointer(other->DeviceHandle, &undo), STATUS_SUCCESS));
    CHECK(IS(unmap(p, 0, own.pBaseAddress), STATUS_SUCCESS));
    probe_destroy(p);
}

TEST_WITH(saving, a_pointer_may_fail, &memory_isolated)
{
    NTSTATUS status = STATUS_UNSUCCESSFUL;
    unsigned failures = 0;

    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        struct memory_state before = memory_now(p);
        DXGKARGCB_MAPFRAMEBUFFERPOINTER view;

        p->sim->heap.fail_at = p->sim->heap.requests + n;
        status = map(p, 0, PAGE, PAGE, &view);
        p->sim->heap.fail_at = 0;
        if (NT_SUCCESS(status)) {
            CHECK(IS(unmap(p, 0, view.pBaseAddress), STATUS_SUCCESS));
            break;
        }
        failures++;
        CHECK_RULE("PHYS-106", IS(status, STATUS_INSUFFICIENT_RESOURCES) &&
                                   memory_same(p, before) && probe_reports(p, VERIFY_WARNING) == 0);
    }
    CHECK(failures >= 3);
}

/* ---- across power states, and left behind ---- */

static PMDL kept;
static DXGKARGCB_MAPFRAMEBUFFERPOINTER kept_view;

static void over_power(struct probe *p, struct probe_call *call)
{
    if ((DEVICE_POWER_STATE)call->arg[2] == PowerDeviceD3) {
        CHECK(IS(pin(p, 0, 2 * PAGE, &kept), STATUS_SUCCESS));
        CHECK(IS(map(p, 0, 0, PAGE, &kept_view), STATUS_SUCCESS));
        set_saved(&kept_view, 4, 'w');
    } else {
        CHECK_RULE("PHYS-109/a", device_byte(p, MmGetMdlPfnArray(kept)[0], 4) == 'w' &&
                                     pointer_of(&kept_view)[4] == 'w');
        CHECK_RULE("PHYS-109/a", IS(unpin(p, 0), STATUS_SUCCESS) &&
                                     IS(unmap(p, 0, kept_view.pBaseAddress), STATUS_SUCCESS));
    }
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
}

static void keep_both(struct probe *p)
{
    CHECK(IS(pin(p, 0, PAGE, &kept), STATUS_SUCCESS));
    CHECK(IS(map(p, 0, 0, PAGE, &kept_view), STATUS_SUCCESS));
}

TEST(pins_outlive_power_states_but_no_stop)
{
    struct probe *p = saving(&memory_isolated, SAVED);

    p->before[PROBE_SetPowerState] = over_power;
    CHECK(probe_run(p, sleep_and_wake) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("PHYS-109/a", probe_rule(p, "PHYS-022") == 0 && probe_reports(p, VERIFY_ERROR) == 0);
    probe_destroy(p);
    p = saving(&memory_isolated, SAVED);
    CHECK(probe_run(p, keep_both) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("PHYS-109/b", probe_rule(p, "PHYS-022") == 2);
    probe_destroy(p);
}
