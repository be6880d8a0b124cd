/* SPDX-License-Identifier: MIT */
/* Who has addresses that were asked for, and which unique driver protections pages are bound to. */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "support/gva_gate.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#define GB   (1ull << 30)
#define PAGE (GB >> 12)

static bool at(const struct gva_rig *rig, uint64_t first, uint64_t pages, struct va_neighbour *out)
{
    *out = (struct va_neighbour){.pages = 0x77};
    return va_neighbour_at(rig->process->space, first, pages, out);
}

/* Bytes of what is mapped on one page of a range. */
static uint64_t bytes_at(const struct gva_rig *rig, uint64_t page)
{
    struct va_neighbour taken;

    CHECK(at(rig, page, 1, &taken));
    CHECK(taken.first == PAGE && taken.pages == 16 && taken.kind == RANGE_RESERVATION);
    return taken.bytes;
}

TEST_WITH(gva, the_first_range_in_the_way_is_found)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct va_neighbour taken;
    uint64_t base = GB;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + 4 * 4096, 0, 2)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + 16 * 4096, 0, 1)));
    gva_idle(rig);
    CHECK(!at(rig, PAGE - 2, 2, &taken) && taken.pages == 0x77);
    CHECK(at(rig, PAGE - 2, 3, &taken) && taken.first == PAGE && taken.pages == 16);
    CHECK(taken.kind == RANGE_RESERVATION && taken.bytes == 0);
    CHECK(at(rig, PAGE + 15, 100, &taken) && taken.first == PAGE && taken.bytes == 0);
    CHECK(at(rig, PAGE + 16, 1, &taken) && taken.first == PAGE + 16 && taken.pages == 1);
    CHECK(taken.kind == RANGE_MAP && taken.bytes == 8 * 4096);
    CHECK(!at(rig, PAGE + 17, 1, &taken));
    CHECK(bytes_at(rig, PAGE + 3) == 0 && bytes_at(rig, PAGE + 4) == 8 * 4096);
    CHECK(bytes_at(rig, PAGE + 5) == 8 * 4096 && bytes_at(rig, PAGE + 6) == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_mapping_that_waits_is_in_the_way)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t base = GB;
    struct gva_gate gate;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    gva_gate_close(rig, &gate);
    CHECK(gva_map_part(rig, object, GB + 2 * 4096, 0, 1) == STATUS_PENDING);
    CHECK(gva_map_part(rig, object, GB + 8 * 4096, 0, 2) == STATUS_PENDING);
    CHECK(bytes_at(rig, PAGE + 2) == 8 * 4096 && bytes_at(rig, PAGE + 3) == 0);
    CHECK(bytes_at(rig, PAGE + 7) == 0 && bytes_at(rig, PAGE + 8) == 8 * 4096);
    CHECK(bytes_at(rig, PAGE + 9) == 8 * 4096 && bytes_at(rig, PAGE + 10) == 0);
    gva_gate_open(rig, &gate);
    gva_object_destroy(rig, object);
}

static bool described(enum range_kind kind, uint64_t bytes, const char *text)
{
    const struct va_neighbour neighbour = {.kind = kind, .first = 0x123, .pages = 2, .bytes = bytes};

    return strcmp(va_neighbour_describe(&neighbour).text, text) == 0;
}

TEST(a_range_in_the_way_is_named_after_its_owner)
{
    CHECK(described(RANGE_MAP, 12345,
                    "a mapping of the client, 0x123000 to 0x124fff (there, an allocation of 12345 "
                    "bytes)"));
    CHECK(described(RANGE_MAP, 0, "a mapping of the client, 0x123000 to 0x124fff"));
    CHECK(described(RANGE_RESERVATION, 0, "a reservation of the client, 0x123000 to 0x124fff"));
    CHECK(described(RANGE_DRIVER, 0, "a reservation of the driver, 0x123000 to 0x124fff"));
    CHECK(described(RANGE_CONTEXT, 0, "a mapping of a context allocation, 0x123000 to 0x124fff"));
    CHECK(described(RANGE_INTERNAL, 0, "a mapping of the host's own, 0x123000 to 0x124fff"));
}

/* ---- unique driver protections ---- */

#define UNIQUE (D3DGPU_UNIQUE_DRIVER_PROTECTION | 0x50)

static void map_protected(struct gva_rig *rig, const struct gva_object *object, uint64_t offset,
                          uint64_t pages, uint64_t protection)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);

    args.OffsetInPages = offset;
    args.DriverProtection = protection;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
}

static bool bound(const struct gva_object *object, uint64_t page, uint64_t protection,
                  uint64_t pages)
{
    uint64_t held = 0;

    return space_driver_protection(&object->allocation, page, &held) == protection && held == pages;
}

TEST_WITH(gva, unique_protections_hold_for_their_pages)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);

    CHECK(bound(object, 0, 0, 64) && bound(object, 63, 0, 1));
    map_protected(rig, object, 0, 4, 0x99); /* not unique: binds nobody */
    map_protected(rig, object, 40, 1, UNIQUE | 3);
    map_protected(rig, object, 16, 8, UNIQUE | 1);
    map_protected(rig, object, 32, 4, UNIQUE | 2);
    gva_idle(rig);
    CHECK(bound(object, 0, 0, 16) && bound(object, 15, 0, 1));
    CHECK(bound(object, 16, UNIQUE | 1, 8) && bound(object, 23, UNIQUE | 1, 1));
    CHECK(bound(object, 24, 0, 8) && bound(object, 31, 0, 1));
    CHECK(bound(object, 32, UNIQUE | 2, 4) && bound(object, 35, UNIQUE | 2, 1));
    CHECK(bound(object, 36, 0, 4) && bound(object, 41, 0, 23) && bound(object, 63, 0, 1));
    gva_object_destroy(rig, object);
}

/* ---- mappings in several spaces ---- */

static void no_progress(void *context, uint64_t value)
{
    (void)context;
    (void)value;
}

TEST_WITH(gva, an_allocation_that_moves_is_followed_in_each_process)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process = NULL;
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    struct vidmm_open open = {.allocation = &object->allocation};
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);
    uint64_t va = gva_map_simple(rig, object, 8), entry, again;
    uint32_t flushes[2] = {0};
    DXGKARG_SETROOTPAGETABLE root;

    CHECK(nt && NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(NT_SUCCESS(vidmm_device_create(process, NULL, nt, &device)));
    CHECK(NT_SUCCESS(vidmm_paging_queue_create(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL,
                                               no_progress, NULL, &queue)));
    open.device = device;
    args.hAllocation = handle_create(&nt->handles, DDI_CLIENT_ALLOCATION, &open);
    CHECK(NT_SUCCESS(vidmm_map_gpu_va(queue, &args)));
    again = gva_map_simple(rig, object, 8);
    gva_idle(rig);
    gva_mark(rig);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000);
    for (uint32_t i = 0; i < gva_op_count(rig, DXGK_OPERATION_FLUSH_TLB); i++)
        flushes[gva_op_at(rig, DXGK_OPERATION_FLUSH_TLB, i)->args.FlushTlb.hProcess ==
                process->driver_handle]++;
    CHECK(flushes[0] > 0 && flushes[1] > 0);
    root = gva_root(process->space);
    CHECK(gva_entry_page(gva_look(rig, va)) == 0x2000);
    CHECK(gva_entry_page(gva_look(rig, again + 7 * 4096)) == 0x2007);
    CHECK(gva_walk(rig, &root, args.VirtualAddress, &entry) && gva_entry_page(entry) == 0x2000);
    gva_object_destroy(rig, object);
    CHECK(!gva_walk(rig, &root, args.VirtualAddress, &entry));
    vidmm_device_destroy(device);
    vidmm_process_close(process);
    nt_process_destroy(nt);
}
