/* SPDX-License-Identifier: MIT */
/* What is said of an address, to the letter: its owner, what waits for it, what was there before, and each step of the walk. */
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "support/gva_gate.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/space/address_text.h"

#include <stdarg.h>

#define SPAN (512ull * 4096)
#define GB   (1ull << 30)

static bool is(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool is(const char *text, const char *format, ...)
{
    char expected[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(expected, sizeof(expected), format, arguments);
    va_end(arguments);
    if (strcmp(text, expected) == 0)
        return true;
    printf("    '%s' is not: %s\n", expected, text);
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(end);

    if (strlen(text) >= length && strcmp(text + strlen(text) - length, end) == 0)
        return true;
    printf("    '%s' does not end: %s\n", end, text);
    return false;
}

static struct vidmm_address_text look(const struct gva_rig *rig, uint64_t va)
{
    struct vidmm_address_text text;

    vidmm_address_text(rig->process, va, &text);
    return text;
}

/* "allocation 0x.. (number .., 0x8000 bytes) at 0x.. to 0x.." */
static const char *named(const struct gva_object *object, uint64_t va, uint64_t pages)
{
    static char text[256];

    snprintf(text, sizeof(text), "allocation 0x%x (number %llu, 0x%llx bytes) at 0x%llx to 0x%llx",
             list_empty(&object->allocation.opens) ? 0 : object->handle,
             (unsigned long long)object->allocation.number.of_client,
             (unsigned long long)object->allocation.bytes, (unsigned long long)va,
             (unsigned long long)(va + pages * 4096 - 1));
    return text;
}

static NTSTATUS map_nothing(struct gva_rig *rig, uint64_t base, uint64_t pages, bool zero)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, pages);

    args.BaseAddress = base;
    args.Protection.Zero = zero;
    args.Protection.NoAccess = !zero;
    return gva_map(rig, &args);
}

/* ---- the owner ---- */

TEST_WITH(gva, a_resident_mapping_says_where_and_how)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 2);

    args.BaseAddress = GB + 4096;
    args.OffsetInPages = 3;
    args.Protection.Write = 0;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    args.BaseAddress = 2 * GB;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    gva_idle(rig);
    CHECK_RULE("TDR-083", is(look(rig, GB + 4096).owner,
                             "%s is mapped there, resident in segment 1, without Write",
                             named(object, GB + 4096, 2)));
    CHECK_RULE("TDR-083", is(look(rig, 2 * GB + 8191).owner,
                             "%s is mapped there, resident in segment 1", named(object, 2 * GB, 2)));
    CHECK_RULE("TDR-083",
               is(look(rig, GB + 3 * 4096).owner,
                  "nothing was ever mapped there; below it is a mapping of the client, 0x40001000 to "
                  "0x40002fff (there, an allocation of 32768 bytes); above it is a mapping of the "
                  "client, 0x80000000 to 0x80001fff (there, an allocation of 32768 bytes)"));
    CHECK_RULE("TDR-083",
               is(look(rig, GB + 4095).owner,
                  "nothing was ever mapped there; above it is a mapping of the client, 0x40001000 to "
                  "0x40002fff (there, an allocation of 32768 bytes)"));
    CHECK_RULE("TDR-083",
               is(look(rig, 3 * GB).owner,
                  "nothing was ever mapped there; below it is a mapping of the client, 0x80000000 to "
                  "0x80001fff (there, an allocation of 32768 bytes)"));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_listed_allocation_is_only_not_resident)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    object->allocation.device_references = 1;
    CHECK_RULE("TDR-083",
               is(look(rig, GB).owner, "%s is mapped there, but not resident: never made resident",
                  named(object, GB, 8)));
    object->allocation.device_references = 0;
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, pages_without_an_allocation_say_what_they_are)
{
    uint64_t va = 0;
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &va)));
    CHECK(NT_SUCCESS(map_nothing(rig, va + 4096, 1, true)));
    CHECK(NT_SUCCESS(map_nothing(rig, va + 8192, 1, false)));
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    gva_idle(rig);
    CHECK_RULE("TDR-083",
               is(look(rig, va).owner, "the range is reserved, and nothing is mapped there"));
    CHECK_RULE("TDR-083", is(look(rig, va + 4096).owner, "the range is mapped as Zero"));
    CHECK(ends_with(look(rig, va + 4096).walk, "] Zero"));
    CHECK_RULE("TDR-083", is(look(rig, va + 8192).owner, "the range is mapped as without access"));
    CHECK(ends_with(look(rig, va + 8192).walk, "] invalid"));
    CHECK_RULE("TDR-083", is(look(rig, slot.va.value).owner, "memory of the host is mapped there"));
    CHECK(strstr(look(rig, slot.va.value).walk, "] page, system memory 0x"));
    vidmm_fence_slot_destroy(rig->process, &slot);
}

/* Each process has its own handle of an allocation. */
TEST_WITH(gva, an_allocation_has_the_handle_of_the_process)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process = NULL;
    struct vidmm_device *device;
    struct vidmm_open foreign = {.allocation = &object->allocation, .handle = 0x77};

    CHECK(nt && NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(NT_SUCCESS(vidmm_device_create(process, NULL, nt, &device)));
    foreign.device = device;
    list_push_back(&object->allocation.opens, &foreign.link);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    CHECK_RULE("TDR-083", strncmp(look(rig, GB).owner, "allocation 0x0 (number ", 23) == 0);
    list_push_back(&object->allocation.opens, &object->open.link);
    CHECK_RULE("TDR-083", is(look(rig, GB).owner, "%s is mapped there, resident in segment 1",
                             named(object, GB, 8)));
    CHECK(NT_SUCCESS(gva_free(rig, GB, 8)));
    gva_idle(rig);
    CHECK_RULE("TDR-083", strstr(look(rig, GB).owner, named(object, GB, 8)));
    list_remove(&object->open.link);
    list_remove(&foreign.link);
    gva_object_destroy(rig, object);
    vidmm_device_destroy(device);
    vidmm_process_close(process);
    nt_process_destroy(nt);
}

/* ---- what waits ---- */

TEST_WITH(gva, a_mapping_that_waits_is_told)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    const char *both = "a mapping waits in its paging queue; the range is reserved, and nothing is "
                       "mapped there";
    const char *none = "the range is reserved, and nothing is mapped there";
    uint64_t va = 0;
    struct gva_gate gate;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &va)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, va + 10 * 4096, 0, 1)));
    gva_idle(rig);
    gva_gate_close(rig, &gate);
    CHECK(gva_map_part(rig, object, va + 2 * 4096, 0, 2) == STATUS_PENDING);
    CHECK(gva_map_part(rig, object, va + 10 * 4096, 5, 1) == STATUS_PENDING);
    CHECK_RULE("TDR-083", is(look(rig, va + 1 * 4096).owner, "%s", none));
    CHECK_RULE("TDR-083", is(look(rig, va + 2 * 4096).owner, "%s", both));
    CHECK_RULE("TDR-083", is(look(rig, va + 3 * 4096).owner, "%s", both));
    CHECK_RULE("TDR-083", is(look(rig, va + 4 * 4096).owner, "%s", none));
    CHECK_RULE("TDR-083", is(look(rig, va + 10 * 4096).owner,
                             "%s is mapped there, resident in segment 1; a mapping "
                             "waits in its paging queue",
                             named(object, va + 10 * 4096, 1)));
    gva_gate_open(rig, &gate);
    CHECK_RULE("TDR-083",
               is(look(rig, va + 3 * 4096).owner, "%s is mapped there, resident in segment 1",
                  named(object, va + 2 * 4096, 2)));
    gva_object_destroy(rig, object);
}

/* ---- what was there ---- */

TEST_WITH(gva, an_ended_mapping_says_how_and_when)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct gva_object *other = gva_object_resident(rig, 4, 0x2000);
    uint64_t va = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &va)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, va, 0, 4)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    CHECK(NT_SUCCESS(map_nothing(rig, va + 4096, 1, false)));
    gva_idle(rig);
    CHECK_RULE("TDR-083",
               strstr(look(rig, va + 4096).owner,
                      "the range is mapped as without access; last there was allocation "));
    CHECK_RULE("TDR-083",
               strstr(look(rig, va + 4096).owner, ", until it was unmapped or mapped over "));
    CHECK(NT_SUCCESS(gva_free(rig, GB, 8)));
    {
        uint64_t freed = sim_now();

        gva_idle(rig);
        sim_stall(2500000);
        CHECK_RULE("TDR-083", is(look(rig, GB + 7 * 4096).owner,
                                 "last there was %s, until its range was freed %.3f ms before; "
                                 "below it is a reservation of the client, 0x10000 to 0x1ffff",
                                 named(object, GB, 8), (double)(sim_now() - freed) / 1e6));
        CHECK(sim_now() - freed >= 2500000 && sim_now() - freed < 3000000);
    }
    CHECK(is(look(rig, GB + 8 * 4096).owner, "nothing was ever mapped there; below it is a "
                                             "reservation of the client, 0x10000 to 0x1ffff"));
    CHECK(NT_SUCCESS(gva_map_part(rig, other, va + 8 * 4096, 0, 4)));
    gva_idle(rig);
    gva_object_destroy(rig, other);
    CHECK_RULE("TDR-083",
               strstr(look(rig, va + 9 * 4096).owner,
                      "the range is reserved, and nothing is mapped there; last there was "));
    CHECK_RULE("TDR-083", strstr(look(rig, va + 9 * 4096).owner, ", until it was destroyed "));
    gva_object_destroy(rig, object);
}

/* ---- the walk ---- */

TEST_WITH(gva, each_level_of_a_walk_is_told)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    const struct page_table *table[4];
    uint64_t va = 5 * (GB << 9) + 7 * GB + 9 * SPAN + 11 * 4096;

    CHECK(NT_SUCCESS(gva_map_part(rig, object, va, 0, 1)));
    gva_idle(rig);
    table[3] = rig->process->space->root;
    table[2] = table[3]->child[5];
    table[1] = table[2]->child[7];
    table[0] = table[1]->child[9];
    CHECK_RULE(
        "TDR-083",
        is(look(rig, va + 4095).walk,
           "root table at segment 1 offset 0x%llx; level 3 [5] table at segment 1 offset 0x%llx; "
           "level 2 [7] table at segment 1 offset 0x%llx; level 1 [9] table at segment 1 offset "
           "0x%llx; level 0 [11] page, segment 1 offset 0x1000000",
           (unsigned long long)table[3]->place.run.first << 12,
           (unsigned long long)table[2]->place.run.first << 12,
           (unsigned long long)table[1]->place.run.first << 12,
           (unsigned long long)table[0]->place.run.first << 12));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_page_of_any_run_is_found)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    const struct vidmm_run runs[2] = {{.segment = 1, .first = 0x1000, .pages = 3},
                                      {.segment = 1, .first = 0x2000, .pages = 5}};
    const struct logical_page logical[3] = {{0x777}, {0x123}, {0x456}};
    struct gva_object *system = gva_object_create(rig, rig->mm_device, 3);
    const struct vidmm_run in_system = {.segment = 0, .first = 0x3000, .pages = 3};
    struct page_number frames[3] = {{1}, {2}, {3}};

    gva_object_place(rig, object, runs, 2);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    CHECK(ends_with(look(rig, GB).walk, "[0] page, segment 1 offset 0x1000000"));
    CHECK(ends_with(look(rig, GB + 2 * 4096).walk, "[2] page, segment 1 offset 0x1002000"));
    CHECK(ends_with(look(rig, GB + 3 * 4096).walk, "[3] page, segment 1 offset 0x2000000"));
    CHECK(ends_with(look(rig, GB + 7 * 4096).walk, "[7] page, segment 1 offset 0x2004000"));
    system->allocation.logical = (struct logical_page *)logical;
    system->allocation.backing = frames;
    gva_object_place(rig, system, &in_system, 1);
    CHECK(NT_SUCCESS(gva_map_part(rig, system, 2 * GB, 1, 2)));
    gva_idle(rig);
    CHECK(ends_with(look(rig, 2 * GB).walk, "[0] page, system memory 0x123000"));
    CHECK(ends_with(look(rig, 2 * GB + 4096).walk, "[1] page, system memory 0x456000"));
    CHECK(gva_entry_page(gva_look(rig, 2 * GB)) == 0x123);
    CHECK(gva_entry_page(gva_look(rig, 2 * GB + 4096)) == 0x456);
    gva_object_destroy(rig, system);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, an_entry_that_is_about_to_go_says_so)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct gva_gate gate;

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2 * GB, 0, 8)));
    gva_idle(rig);
    object->allocation.resident = false;
    CHECK_RULE("TDR-083", ends_with(look(rig, 2 * GB).walk, "[0] valid, about to be invalidated"));
    object->allocation.resident = true;
    gva_gate_close(rig, &gate);
    CHECK(NT_SUCCESS(gva_free(rig, GB, 8)));
    CHECK_RULE("TDR-083", ends_with(look(rig, GB).walk, "[0] valid, about to be invalidated"));
    gva_gate_open(rig, &gate);
    CHECK_RULE("TDR-083", !strstr(look(rig, GB).walk, "valid, about"));
    CHECK(ends_with(look(rig, GB).walk, "invalid"));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, the_walk_ends_with_the_address_space)
{
    const uint64_t end = rig->process->space->mmu->geometry.end << 12;
    struct page_table *root = rig->process->space->root;

    CHECK(end == 1ull << 48);
    CHECK_RULE("TDR-083", is(look(rig, end).walk, "the address is outside the address space"));
    CHECK_RULE("TDR-083", ends_with(look(rig, end - 1).walk, "; level 3 [511] invalid"));
    rig->process->space->root = NULL;
    CHECK_RULE("TDR-083", is(look(rig, GB).walk, "there is no root table"));
    rig->process->space->root = root;
}

static void two_levels(struct gva_options *options)
{
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = 40;
    options->level[1].PageTableIndexBitCount = 0;
    options->level[1].PageTableSizeInBytes = 0;
}

TEST_WITH(gva, a_short_root_ends_the_walk, two_levels(options))
{
    const struct page_table *root = rig->process->space->root;
    const unsigned long long at = (unsigned long long)root->place.run.first << 12;

    CHECK_RULE("TDR-083",
               is(look(rig, root->entries * SPAN).walk,
                  "root table at segment 1 offset 0x%llx; level 1 [%u] beyond its %u entries", at,
                  root->entries, root->entries));
    CHECK_RULE("TDR-083", is(look(rig, root->entries * SPAN - 1).walk,
                             "root table at segment 1 offset 0x%llx; level 1 [%u] invalid", at,
                             root->entries - 1));
}

static void no_mmu(struct gva_options *options)
{
    options->no_gpu_mmu = true;
}

TEST_WITH(gva, without_an_address_space_nothing_is_said, no_mmu(options))
{
    struct vidmm_address_text text = {.owner = "x", .walk = "y"};

    vidmm_address_text(rig->process, GB, &text);
    CHECK(is(text.owner, "%s", "") && is(text.walk, "%s", ""));
}
