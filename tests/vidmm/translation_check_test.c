/* SPDX-License-Identifier: MIT */
/* Uses of translations that a TLB kept: which are too late, and which are not yet. The device model is this test. */
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/check/table_check.h"
#include "vidmm/space/table_asked.h"

#include "bus/device_record.h"

#define GB (1ull << 30)

static void checked(struct gva_options *options)
{
    options->check_tables = true;
}

static uint64_t count(const struct gva_rig *rig, const char *rule)
{
    return verify_rule_count(rig->base.log, rule);
}

/* The device has used a translation of the address that the tables do not have. */
static void use(struct gva_rig *rig, uint64_t va)
{
    const struct dxgk_stale_translation stale = {
        .engine = 1,
        .command = 7,
        .root = table_address(rig->process->space->root).SegmentOffset,
        .address = va,
        .kept = 0x1001};

    rig->base.device->on_stale(rig->base.device->stale_context, &stale);
}

/* The last flush of the client's space. */
static struct table_call *last_flush(const struct gva_rig *rig)
{
    struct flushes_asked *flushes = rig->process->space->flushes;

    CHECK(flushes && flushes->count > 0);
    return &flushes->last[(flushes->count - 1) % FLUSHES_KEPT];
}

/* A mapping of 8 pages that was freed, beside one that keeps the leaf table. */
static struct gva_object *freed(struct gva_rig *rig)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + 64 * 4096, 8, 8)));
    gva_idle(rig);
    CHECK(gva_free(rig, GB, 8) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(last_flush(rig)->address <= GB &&
          GB + 8 * 4096 <= last_flush(rig)->address + last_flush(rig)->bytes);
    return object;
}

TEST_WITH(gva, a_use_after_the_flush_is_told_once, checked(options))
{
    struct gva_object *object = freed(rig);

    use(rig, GB + 3 * 4096 + 16);
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 1);
    use(rig, GB + 3 * 4096);
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 1);
    use(rig, GB + 4 * 4096); /* another page */
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 2);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    CHECK(gva_free(rig, GB, 8) == STATUS_SUCCESS);
    gva_idle(rig);
    use(rig, GB + 3 * 4096); /* since another update */
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 3);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, until_the_flush_has_completed_it_is_right, checked(options))
{
    struct gva_object *object = freed(rig);
    struct table_call *flush = last_flush(rig), kept = *flush;

    flush->ticket = rig->vidmm->last_ticket + 1; /* not submitted yet */
    use(rig, GB);
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 0);
    flush->ticket = kept.ticket;
    flush->number = 1; /* before the update */
    use(rig, GB);
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 0);
    flush->number = kept.number;
    flush->address = GB + 4096; /* not of this page */
    flush->bytes = 6 * 4096;
    use(rig, GB);
    use(rig, GB + 7 * 4096);
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 0);
    use(rig, GB + 4096);
    use(rig, GB + 6 * 4096);
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 2);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, roots_and_tables_that_are_no_more_are_passed_over, checked(options))
{
    struct dxgk_stale_translation stale = {.root = 0x123000, .address = GB};
    struct gva_object *object = freed(rig);

    rig->base.device->on_stale(rig->base.device->stale_context, &stale);
    use(rig, 1ull << 62);
    vidmm_tables_lost(rig->vidmm); /* a reset is under way */
    use(rig, GB);
    rig->vidmm->mmu->watch.lost = false;
    CHECK_RULE("GPUVA-263", count(rig, "GPUVA-263") == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, without_the_option_nobody_listens)
{
    CHECK(!rig->base.device->on_stale);
}

/* ---- flushes without effect ---- */

static void touch(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (args->Operation == DXGK_OPERATION_FLUSH_TLB)
        rig->base.device->touches++;
}

TEST_WITH(gva, a_register_is_enough_for_a_flush, checked(options),
          options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    gva_idle(rig);
    rig->write_nothing = true;
    rig->on_build = touch;
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x2000);
    gva_idle(rig);
    CHECK_RULE("GPUVA-262",
               gva_op_count(rig, DXGK_OPERATION_FLUSH_TLB) > 0 && count(rig, "GPUVA-262") == 0);
    rig->on_build = NULL;
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    gva_idle(rig);
    CHECK_RULE("GPUVA-262", count(rig, "GPUVA-262") == 1);
    rig->write_nothing = false;
    gva_object_destroy(rig, object);
}

/* ---- the walk of a device that describes no format ---- */

static struct dxgk_walk found; /* what the device finds */

static bool walk(void *device, uint64_t root, uint64_t address, struct dxgk_walk *to)
{
    (void)device;
    (void)root;
    (void)address;
    *to = found;
    return true;
}

static const struct dxgk_device_mmu walks = {.size = sizeof(walks), .walk = walk};

static uint64_t told(struct gva_rig *rig, uint64_t va)
{
    uint64_t before = count(rig, "GPUVA-264");

    vidmm_check_address(rig->process, va);
    return count(rig, "GPUVA-264") - before;
}

TEST_WITH(gva, a_walk_ends_where_it_was_asked_to, checked(options),
          options->mmu.ZeroInPteSupported = 1)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t base = 0, va = GB + 3 * 4096 + 0x123;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, GB, 8)));
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &base)));
    gva_idle(rig);
    rig->vidmm->config.table_format = NULL;
    rig->base.device->mmu = &walks;
    found = (struct dxgk_walk){.valid = true, .segment = 1, .offset = 0x1003123};
    CHECK_RULE("GPUVA-264", told(rig, va) == 0);
    found.offset = 0x1003122;
    CHECK_RULE("GPUVA-264", told(rig, va) == 1);
    found.offset = 0x1004123;
    CHECK_RULE("GPUVA-264", told(rig, va) == 1);
    found = (struct dxgk_walk){.valid = true, .segment = 2, .offset = 0x1003123};
    CHECK_RULE("GPUVA-264", told(rig, va) == 1);
    found = (struct dxgk_walk){.valid = true, .zero = true};
    CHECK_RULE("GPUVA-264", told(rig, va) == 1 && told(rig, base) == 0 && told(rig, 3 * GB) == 1);
    found = (struct dxgk_walk){.valid = false};
    CHECK_RULE("GPUVA-264", told(rig, va) == 1 && told(rig, base) == 1 && told(rig, 3 * GB) == 0);
    CHECK_RULE("GPUVA-264", told(rig, UINT64_MAX) == 0);
    rig->base.device->mmu = NULL;
    CHECK_RULE("GPUVA-264", told(rig, va) == 0);
    CHECK(gva_free(rig, base, 16) == STATUS_SUCCESS);
    gva_object_destroy(rig, object);
}
