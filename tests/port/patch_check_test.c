/* SPDX-License-Identifier: MIT */
/* The check of DxgkDdiPatch on a started adapter of WDDM 1.x: a driver that patches as the test says, with one mistake each. */
#include "bus/device_record.h"
#include "dxgkhost/patches.h"
#include "port/record/machine.h"
#include "port/support/portions.h"

#include <string.h>

#define COMMANDS  256u
#define LOCATIONS 3u

/* Locations 0 to 2 are of elements 1 to 3, 8 bytes each. */
static const UINT place[LOCATIONS] = {16, 64, 128}, offset[LOCATIONS] = {0x100, 0, 0x40};

static const struct dxgk_patch_format plain = {
    .name = "plain", .encodings = 1, .encoding = {{.bytes = 8}}};

/* The driver: what it adds and does beside, and then changes. */
static struct {
    uint64_t base, add[LOCATIONS];
    bool left[LOCATIONS]; /* out */
    unsigned left_at;     /* the n-th Patch leaves out all; 0: none does */
    unsigned bytes;       /* of an address; 0: 8 */
    void (*then)(const DXGKARG_PATCH *args, uint8_t *buffer);
    void (*submitted)(const DXGKARG_SUBMITCOMMAND *args, uint8_t *buffer);
    void (*later)(uint8_t *buffer);
    uint8_t *buffer; /* that was patched last */
    const struct dxgk_patch_format *format;
    bool unchecked;
} driver;

static void patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
    uint8_t *buffer = args->pDmaBuffer;

    portions_note_patch(p, call);
    if (args->Flags.Paging)
        return;
    driver.buffer = buffer;
    for (UINT i = args->PatchLocationListSubmissionStart;
         i < args->PatchLocationListSubmissionStart + args->PatchLocationListSubmissionLength; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l = &args->pPatchLocationList[i];
        const DXGK_ALLOCATIONLIST *element = &args->pAllocationList[l->AllocationIndex];
        uint64_t value = (uint64_t)element->PhysicalAddress.QuadPart + l->AllocationOffset +
                         driver.base + driver.add[i % LOCATIONS];

        if (!driver.left[i % LOCATIONS] && portions.patch_count != driver.left_at)
            memcpy(buffer + l->PatchOffset, &value, driver.bytes ? driver.bytes : 8);
    }
    if (driver.then)
        driver.then(args, buffer);
}

static void submit(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging && driver.submitted)
        driver.submitted(args, driver.buffer);
}

static void dpc(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    if (driver.later && driver.buffer)
        driver.later(driver.buffer);
}

static void prepare(struct probe *p)
{
    p->before[PROBE_Patch] = patch;
    p->before[PROBE_SubmitCommand] = submit;
    p->before[PROBE_DpcRoutine] = dpc;
    p->segment[0].BaseAddress.QuadPart = 0x180000000; /* so that addresses have upper bits */
    p->port->config.patch_format = driver.format;
    p->port->config.check_patches = !driver.unchecked;
}

static void set_location(struct portions_gpu *g, unsigned i, UINT element)
{
    portions_element(g, i, 0, element, 0);
    g->context.pPatchLocationList[i].PatchOffset = place[i];
    g->context.pPatchLocationList[i].AllocationOffset = offset[i];
}

static void render_once(struct probe *p)
{
    struct portions_gpu g;

    (void)p;
    portions_open(&g);
    for (unsigned i = 0; i < LOCATIONS; i++)
        portions_allocate(&g, i, PORTIONS_MIB);
    memset(g.context.pCommandBuffer, 0, COMMANDS);
    for (unsigned i = 0; i < LOCATIONS; i++)
        set_location(&g, i, i + 1);
    CHECK(portions_render(&g, COMMANDS, LOCATIONS) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK(portions.patch_count == 1);
    portions_close(&g);
}

/* One submission of the driver as it is set; then it is forgotten. */
static struct probe *run(void (*body)(struct probe *p))
{
    struct probe *p;

    portions_prepare = prepare;
    p = portions_begin(false, true);
    probe_client_end(p, probe_client_run(p, body));
    memset(&driver, 0, sizeof(driver));
    return p;
}

static void end(struct probe *p)
{
    probe_clients_end(p);
    probe_destroy(p);
}

static bool nothing_said(const struct probe *p)
{
    return probe_rule(p, "PATCH-159") == 0 && probe_rule(p, "PATCH-162") == 0 &&
           probe_rule(p, "PATCH-163") == 0 && probe_rule(p, "PATCH-164") == 0;
}

/* ---- addresses ---- */

TEST(what_is_right_is_not_spoken_of)
{
    static const struct dxgk_patch_format *const formats[] = {NULL, &plain};

    for (size_t i = 0; i < 2; i++) {
        struct probe *p;

        driver.format = formats[i];
        p = run(render_once);
        CHECK_RULE("PATCH-164", nothing_said(p));
        end(p);
    }
}

/* Location 1 is wrong by `add`. */
static struct probe *wrong_by(uint64_t add)
{
    driver.format = &plain;
    driver.add[1] = add;
    return run(render_once);
}

TEST(an_address_that_is_off_is_named)
{
    static const struct {
        int64_t add;
        const char *said;
    } cases[] = {{1, "it is 0x1 byte too high"},
                 {4, "it is 0x4 bytes too high"},
                 {-4, "it is 0x4 bytes too low"},
                 {0xFFFF, "it is 0xffff bytes too high"},
                 {0x10000, "it is 0x10000 bytes too high"},
                 {-0x10000, "it is 0x10000 bytes too low"},
                 {0x10001, "it is the address of no allocation of the list"},
                 {-0x10001, "it is the address of no allocation of the list"},
                 {(int64_t)1 << 32, "it is the address of no allocation of the list"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = wrong_by((uint64_t)cases[i].add);

        CHECK_RULE("PATCH-164", probe_rule(p, "PATCH-164") == 1 &&
                                    probe_said(p, "PATCH-164", cases[i].said) &&
                                    probe_said(p, "PATCH-164", "patch location 1 (at 0x40 ") &&
                                    probe_said(p, "PATCH-164", "element 2, offset 0x0") &&
                                    probe_record(p, "PATCH-164")->severity == VERIFY_ERROR);
        CHECK(probe_rule(p, "PATCH-162") == 0);
        end(p);
    }
}

static void swap_elements(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    uint64_t value = (uint64_t)args->pAllocationList[3].PhysicalAddress.QuadPart + offset[0];

    memcpy(buffer + place[0], &value, 8);
}

TEST(the_address_of_another_allocation_is_named)
{
    struct probe *p;

    driver.format = &plain;
    driver.then = swap_elements;
    p = run(render_once);
    CHECK_RULE("PATCH-164", probe_rule(p, "PATCH-164") == 1 &&
                                probe_said(p, "PATCH-164", "patch location 0 (at 0x10 ") &&
                                probe_said(p, "PATCH-164", "that is the address of allocation 0x") &&
                                probe_said(p, "PATCH-164", ", element 3"));
    end(p);
}

TEST(a_location_that_is_not_written_is_named)
{
    struct probe *p;

    driver.format = &plain;
    driver.left[2] = true;
    p = run(render_once);
    CHECK_RULE("PATCH-164", probe_rule(p, "PATCH-164") == 1 &&
                                probe_said(p, "PATCH-164", "patch location 2 (at 0x80 ") &&
                                probe_said(p, "PATCH-164", "DxgkDdiPatch has not written it"));
    end(p);
    driver.left[2] = true; /* of the value of a format that is not known, nothing */
    p = run(render_once);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
}

/* ---- encodings ---- */

TEST(a_base_of_the_drivers_own_is_learned)
{
    static const struct dxgk_patch_format own = {.encodings = 1,
                                                 .encoding = {{.bytes = 8, .own_base = true}}};
    struct probe *p;

    driver.format = &own;
    driver.base = 0x4000000000;
    p = run(render_once);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
    driver.format = &own;
    driver.base = 0x4000000000;
    driver.add[2] = 4;
    p = run(render_once);
    CHECK_RULE("PATCH-164", probe_rule(p, "PATCH-164") == 1 &&
                                probe_said(p, "PATCH-164", "patch location 2 ") &&
                                probe_said(p, "PATCH-164", "0x4 bytes too high"));
    end(p);
}

TEST(a_base_that_is_told_is_added)
{
    static const struct dxgk_patch_format based = {.encodings = 1,
                                                   .encoding = {{.bytes = 8, .base = 0x1000}}};
    struct probe *p;

    driver.format = &based;
    driver.base = 0x1000;
    p = run(render_once);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
    driver.format = &based;
    driver.base = 0;
    p = run(render_once);
    CHECK_RULE("PATCH-164", probe_rule(p, "PATCH-164") == 3 &&
                                probe_said(p, "PATCH-164", "0x1000 bytes too low"));
    end(p);
}

/* (address >> 4) << 8 in bits 8 to 31 of 4 bytes, over a byte of something else. */
static void pack(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    for (UINT i = 0; i < LOCATIONS; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l = &args->pPatchLocationList[i];
        const uint64_t address =
            (uint64_t)args->pAllocationList[l->AllocationIndex].PhysicalAddress.QuadPart +
            l->AllocationOffset;
        const uint32_t value = (uint32_t)(address >> 4 << 8);

        memcpy(buffer + l->PatchOffset, &value, 4);
    }
}

static void pack_and_spoil(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    pack(args, buffer);
    buffer[place[1]] = 1; /* bits that are not of the address */
}

TEST(bits_and_shifts_are_as_the_format_says)
{
    static const struct dxgk_patch_format packed = {
        .encodings = 1, .encoding = {{.bytes = 4, .right = 4, .left = 8, .mask = 0xFFFFFF00}}};
    struct probe *p;

    for (unsigned i = 0; i < LOCATIONS; i++)
        driver.left[i] = true;
    driver.format = &packed;
    driver.then = pack;
    p = run(render_once);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
    for (unsigned i = 0; i < LOCATIONS; i++)
        driver.left[i] = true;
    driver.format = &packed;
    driver.then = pack_and_spoil;
    p = run(render_once);
    CHECK_RULE("PATCH-162", probe_rule(p, "PATCH-162") == 1 && probe_rule(p, "PATCH-164") == 0 &&
                                probe_said(p, "PATCH-162", "changed 1 byte at 0x40 "));
    end(p);
}

static void with_drivers(struct probe *p)
{
    struct portions_gpu g;

    (void)p;
    portions_open(&g);
    for (unsigned i = 0; i < LOCATIONS; i++)
        portions_allocate(&g, i, PORTIONS_MIB);
    memset(g.context.pCommandBuffer, 0, COMMANDS);
    for (unsigned i = 0; i < LOCATIONS; i++) {
        set_location(&g, i, i + 1);
        g.context.pPatchLocationList[i].DriverId = 0x10 + i;
        g.context.pPatchLocationList[i].SlotId = i & 3u;
    }
    CHECK(portions_render(&g, COMMANDS, LOCATIONS) == STATUS_SUCCESS);
    portions_finish(&g);
    portions_close(&g);
}

TEST(the_first_encoding_that_fits_counts)
{
    static const struct dxgk_patch_format several = {
        .encodings = 4,
        .encoding = {{.driver = 0x11, .driver_mask = 0xFF, .bytes = 0}, /* not written */
                     {.slot = 2, .slot_mask = 3, .bytes = 8, .any_value = true},
                     {.driver = 0x10, .driver_mask = 0xF0, .bytes = 8},
                     {.bytes = 4}}};
    struct probe *p;

    driver.format = &several;
    driver.left[1] = true;
    driver.add[2] = 0x123;
    p = run(with_drivers);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
    driver.format = &several; /* what is not to be written was */
    driver.add[0] = 4;
    p = run(with_drivers);
    CHECK_RULE("PATCH-162",
               probe_rule(p, "PATCH-162") == 1 &&
                   probe_said(p, "PATCH-162", " at 0x40 of the DMA buffer") == 0 &&
                   probe_said(p, "PATCH-162", "the nearest patch location is 1, at 0x40"));
    CHECK_RULE("PATCH-164",
               probe_rule(p, "PATCH-164") == 1 && probe_said(p, "PATCH-164", "patch location 0 "));
    end(p);
}

TEST(a_driver_id_can_be_part_of_the_offset)
{
    static const struct dxgk_patch_format wide = {.encodings = 1,
                                                  .encoding = {{.bytes = 8, .driver_shift = 32}}};
    struct probe *p;

    driver.format = &wide;
    for (unsigned i = 0; i < LOCATIONS; i++)
        driver.add[i] = (uint64_t)(0x10 + i) << 32;
    p = run(with_drivers);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
    driver.format = &wide;
    p = run(with_drivers);
    CHECK_RULE("PATCH-164", probe_rule(p, "PATCH-164") == 3);
    end(p);
}

static void into_nothing(struct probe *p)
{
    struct portions_gpu g;

    (void)p;
    portions_open(&g);
    memset(g.context.pCommandBuffer, 0, COMMANDS);
    for (unsigned i = 0; i < LOCATIONS; i++) {
        set_location(&g, i, 0);
        g.context.pPatchLocationList[i].AllocationOffset = 0;
    }
    CHECK(portions_render(&g, COMMANDS, LOCATIONS) == STATUS_SUCCESS);
    portions_finish(&g);
    portions_close(&g);
}

TEST(what_stands_for_no_allocation_is_checked_where_it_is_known)
{
    static const struct dxgk_patch_format absent = {
        .encodings = 1, .encoding = {{.bytes = 8, .has_absent = true, .absent = 0x55}}};
    struct probe *p;

    driver.format = &absent;
    driver.base = 0x55;
    p = run(into_nothing);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
    driver.format = &absent;
    driver.base = 0x54;
    p = run(into_nothing);
    CHECK_RULE("PATCH-164",
               probe_rule(p, "PATCH-164") == 3 && probe_said(p, "PATCH-164", "where 0x55 belongs"));
    end(p);
    driver.format = &plain;
    driver.base = 0x54;
    p = run(into_nothing);
    CHECK_RULE("PATCH-164", nothing_said(p));
    end(p);
}

static const struct dxgk_patch_format *told; /* by the device model */

static void prepare_told(struct probe *p)
{
    prepare(p);
    p->device[0]->patch_format = told;
}

TEST(what_a_device_model_tells_is_used_if_it_can_be)
{
    static const struct dxgk_patch_format broken = {.encodings = 1, .encoding = {{.bytes = 9}}};

    for (unsigned is_broken = 0; is_broken < 2; is_broken++) {
        struct probe *p;

        told = is_broken ? &broken : &plain;
        driver.add[1] = 4;
        portions_prepare = prepare_told;
        p = portions_begin(false, true);
        probe_client_end(p, probe_client_run(p, render_once));
        memset(&driver, 0, sizeof(driver));
        CHECK_RULE("PATCH-164",
                   probe_said(p, "PATCH-164",
                              "what the device model tells of patch locations is not "
                              "used: ") == (is_broken == 1) &&
                       probe_said(p, "PATCH-164", "it is 0x4 bytes too high") == (is_broken == 0) &&
                       probe_rule(p, "PATCH-164") == 1);
        end(p);
    }
}

/* ---- other bytes ---- */

static UINT spoiled;

static void spoil(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    (void)args;
    buffer[spoiled] ^= 0xA5;
}

static struct probe *spoiling(UINT at, const struct dxgk_patch_format *format)
{
    spoiled = at;
    driver.format = format;
    driver.then = spoil;
    return run(render_once);
}

TEST(bytes_beside_a_location_are_named)
{
    static const UINT places[] = {0, 15, 24, 63, 72, 127, 136, COMMANDS - 1};
    char text[64];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct probe *p = spoiling(places[i], &plain);

        snprintf(text, sizeof(text), "changed 1 byte at 0x%x of the DMA buffer", places[i]);
        CHECK_RULE("PATCH-162", probe_rule(p, "PATCH-162") == 1 &&
                                    probe_said(p, "PATCH-162", text) &&
                                    probe_record(p, "PATCH-162")->severity == VERIFY_ERROR);
        end(p);
        p = spoiling(places[i], NULL);
        CHECK_RULE("PATCH-162", probe_rule(p, "PATCH-162") == 1 &&
                                    probe_said(p, "PATCH-162", text) &&
                                    probe_record(p, "PATCH-162")->severity == VERIFY_WARNING);
        end(p);
    }
}

TEST(the_bytes_of_a_location_are_the_drivers)
{
    static const struct dxgk_patch_format four = {.encodings = 1,
                                                  .encoding = {{.bytes = 4, .any_value = true}}};
    static const UINT inside[] = {16, 23, 128, 135};

    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        struct probe *p = spoiling(inside[i], NULL);

        CHECK_RULE("PATCH-162", nothing_said(p));
        end(p);
    }
    for (UINT at = 3; at <= 4; at++) {
        struct probe *p;

        driver.bytes = 4;
        p = spoiling(place[1] + at, &four);
        CHECK_RULE("PATCH-162", probe_rule(p, "PATCH-162") == (at == 4));
        end(p);
    }
}

static UINT fence_at, fence_change; /* the bits of the fence id that are wrong */

static void write_fence(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    UINT fence = args->SubmissionFenceId ^ fence_change;

    CHECK(args->SubmissionFenceId == 2); /* so that the changes are known */

    memcpy(buffer + fence_at, &fence, sizeof(fence));
}

static struct probe *fence_written(UINT at, UINT change)
{
    fence_at = at;
    fence_change = change;
    driver.format = &plain;
    driver.then = write_fence;
    return run(render_once);
}

TEST(the_fence_id_may_stand_anywhere)
{
    static const UINT places[] = {0, 33, 252};
    static const UINT changes[] = {0, 1, 3, 0x100, 0x10000, 0x1000000, 0x80000000};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        for (size_t k = 0; k < sizeof(changes) / sizeof(changes[0]); k++) {
            struct probe *p = fence_written(places[i], changes[k]);

            CHECK_RULE("PATCH-162", probe_rule(p, "PATCH-162") == (changes[k] != 0));
            end(p);
        }
}

static void change_the_list(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    D3DDDI_PATCHLOCATIONLIST *list = (D3DDDI_PATCHLOCATIONLIST *)(uintptr_t)args->pPatchLocationList;

    (void)buffer;
    list[0].AllocationIndex = 5;
    list[1].AllocationIndex = ~0u;
    list[2].PatchOffset = ~0u;
}

TEST(a_driver_that_writes_to_its_list_gets_what_it_deserves)
{
    struct probe *p;

    driver.format = &plain;
    driver.then = change_the_list;
    p = run(render_once);
    CHECK_RULE("PATCH-162", probe_rule(p, "PATCH-162") == 1 && probe_rule(p, "PATCH-164") == 0);
    end(p);
}

static void into_the_other_portion(const DXGKARG_PATCH *args, uint8_t *buffer)
{
    if (args->PatchLocationListSubmissionStart)
        buffer[0] ^= 0xA5;
}

static void render_cut(struct probe *p)
{
    struct portions_gpu g;

    (void)p;
    portions_open_with_four(&g);
    memset(g.context.pCommandBuffer, 0, 64);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    g.context.pPatchLocationList[1].PatchOffset = 8;
    portions_element(&g, 2, 0, 3, 32); /* 6 + 5 + 7 are more than 16 */
    portions_element(&g, 3, 1, 0, 32);
    g.context.pPatchLocationList[3].PatchOffset = 40;
    CHECK(portions_render(&g, 64, 4) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK(portions.patch_count == 2);
    portions_close(&g);
}

TEST(a_location_of_another_portion_is_not_the_packets)
{
    struct probe *p;

    driver.format = &plain;
    p = run(render_cut);
    CHECK_RULE("PATCH-162", nothing_said(p));
    end(p);
    driver.format = &plain;
    driver.then = into_the_other_portion;
    p = run(render_cut);
    CHECK_RULE(
        "PATCH-162",
        probe_rule(p, "PATCH-162") == 1 &&
            probe_said(p, "PATCH-162", ", whose portion is 0x20 to 0x40, changed 1 byte at 0x0 "));
    end(p);
}

TEST(nothing_is_looked_at_where_it_is_not_asked_for)
{
    struct probe *p;

    driver.unchecked = true;
    p = spoiling(0, &plain);
    CHECK_RULE("PATCH-162", nothing_said(p));
    end(p);
}

/* ---- later ---- */

static void write_in_submit(const DXGKARG_SUBMITCOMMAND *args, uint8_t *buffer)
{
    (void)args;
    buffer[spoiled] ^= 0xA5;
}

static void fence_in_submit(const DXGKARG_SUBMITCOMMAND *args, uint8_t *buffer)
{
    memcpy(buffer + 32, &args->SubmissionFenceId, 4);
}

static void write_later(uint8_t *buffer)
{
    buffer[spoiled] = 0xA5;
}

TEST(what_is_written_in_submit_command_is_named)
{
    struct probe *p;

    spoiled = 40;
    driver.submitted = write_in_submit;
    p = run(render_once);
    CHECK_RULE("PATCH-159", probe_rule(p, "PATCH-159") == 1 &&
                                probe_said(p, "PATCH-159",
                                           "by DxgkDdiSubmitCommand: 1 byte at 0x28, "
                                           "from 0x0 to 0xa5") &&
                                probe_record(p, "PATCH-159")->severity == VERIFY_WARNING);
    end(p);
    spoiled = place[1]; /* Microsoft's render-only sample writes such locations there */
    driver.submitted = write_in_submit;
    p = run(render_once);
    CHECK_RULE("PATCH-159", nothing_said(p));
    end(p);
    spoiled = place[1]; /* but not those that it writes in Patch */
    driver.format = &plain;
    driver.submitted = write_in_submit;
    p = run(render_once);
    CHECK_RULE("PATCH-159",
               probe_rule(p, "PATCH-159") == 1 && probe_said(p, "PATCH-159", "1 byte at 0x40"));
    end(p);
    driver.submitted = fence_in_submit;
    p = run(render_once);
    CHECK_RULE("PATCH-159", nothing_said(p));
    end(p);
}

TEST(what_is_written_while_the_gpu_reads_is_named)
{
    struct probe *p;

    spoiled = COMMANDS - 1;
    driver.later = write_later;
    p = run(render_once);
    CHECK_RULE("PATCH-159",
               probe_rule(p, "PATCH-159") == 1 &&
                   probe_said(p, "PATCH-159", "after DxgkDdiSubmitCommand: 1 byte at 0xff"));
    end(p);
}

/* ---- allocations that have moved ---- */

static uint64_t seen; /* by Render: the address of element 1 */
static uint8_t shifted;

static void look(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RENDER *args = (const DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    seen = args->pAllocationList[1].SegmentId
               ? (uint64_t)args->pAllocationList[1].PhysicalAddress.QuadPart
               : 0;
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    for (UINT i = 0; i < args->PatchLocationListInSize; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l = &args->pPatchLocationListIn[i];
        uint64_t value = (uint64_t)args->pAllocationList[l->AllocationIndex].PhysicalAddress.QuadPart +
                         l->AllocationOffset;

        value >>= shifted;
        memcpy((uint8_t *)args->pDmaBuffer + l->PatchOffset, &value, 8);
        args[0].pPatchLocationListOut[i] = *l;
    }
    ((DXGKARG_RENDER *)(uintptr_t)call->arg[1])->pDmaBuffer = (uint8_t *)args->pDmaBuffer +
                                                              args->CommandLength;
    ((DXGKARG_RENDER *)(uintptr_t)call->arg[1])->pPatchLocationListOut +=
        args->PatchLocationListInSize;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    (void)p;
}

static void moving(struct probe *p)
{
    struct portions_gpu g;

    p->before[PROBE_Render] = look;
    portions_open_with_four(&g);
    memset(g.context.pCommandBuffer, 0, COMMANDS);
    set_location(&g, 0, 1);
    CHECK(portions_render(&g, COMMANDS, 1) == STATUS_SUCCESS);
    portions_finish(&g);
    for (unsigned i = 0; i < 2; i++) /* 5 + 7 take the place of the 6 */
        set_location(&g, i, i + 2);
    CHECK(portions_render(&g, COMMANDS, 2) == STATUS_SUCCESS);
    set_location(&g, 0, 1);
    CHECK(portions_render(&g, COMMANDS, 1) == STATUS_SUCCESS);
    CHECK(seen == portions_address(0, 1));
    portions_finish(&g);
    CHECK(portions.patch_count == 3 && portions_address(2, 1) != seen);
    portions_close(&g);
}

TEST(an_address_from_before_is_named)
{
    static const uint8_t shifts[] = {0, 8, 12, 16};

    for (size_t i = 0; i < sizeof(shifts); i++) {
        struct probe *p;

        shifted = shifts[i];
        driver.left_at = 3;
        p = run(moving);
        CHECK_RULE("PATCH-163",
                   probe_rule(p, "PATCH-163") == 1 &&
                       probe_said(p, "PATCH-163", "left out patch location 0 (at 0x10 ") &&
                       probe_said(p, "PATCH-163", "element 1, offset 0x100") &&
                       probe_record(p, "PATCH-163")->severity == VERIFY_ERROR);
        end(p);
        if (shifted)
            continue;
        p = run(moving);
        CHECK_RULE("PATCH-163", probe_rule(p, "PATCH-163") == 0);
        end(p);
        driver.left_at = 3;
        driver.format = &plain; /* the same words where the format is known */
        p = run(moving);
        CHECK_RULE("PATCH-163", probe_rule(p, "PATCH-163") == 1 && probe_rule(p, "PATCH-164") == 0);
        end(p);
    }
    shifted = 0;
}
