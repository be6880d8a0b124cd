/* SPDX-License-Identifier: MIT */
/* Pages of fence slots that fill and empty, and roots that grow. */
#include "nt/ps/process.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#define SPAN (512ull * 4096)

/* ---- slots of fences ---- */

TEST_WITH(gva, slots_fill_a_page_and_are_used_again)
{
    static struct vidmm_fence_slot slot[514];
    const struct vidmm_fence_slot *of_second = &slot[512];
    struct vidmm_fence_slot again;
    uint64_t free;

    for (unsigned i = 0; i < 513; i++) {
        CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot[i])));
        CHECK(*slot[i].kernel == 0);
        if (i > 0 && i < 512)
            CHECK(slot[i].kernel == slot[0].kernel + i &&
                  (const char *)slot[i].client == (const char *)slot[0].client + 8 * i &&
                  slot[i].va.value == slot[0].va.value + 8 * i);
    }
    CHECK(of_second->page != slot[0].page && of_second->va.value != slot[0].va.value + 4096 * 8);
    CHECK(gva_entry_page(gva_look(rig, of_second->va.value & ~4095ull)) !=
          gva_entry_page(gva_look(rig, slot[0].va.value)));
    CHECK_RULE("GPUVA-194", (gva_look(rig, slot[0].va.value) & (GVA_NO_EXECUTE | GVA_READ_ONLY)) ==
                                GVA_NO_EXECUTE);
    CHECK_RULE("GPUVA-195", gva_look(rig, slot[0].va.value) & GVA_COHERENT);
    *slot[100].kernel = 7;
    again = slot[100];
    vidmm_fence_slot_destroy(rig->process, &slot[100]);
    CHECK(!slot[100].page && !slot[100].kernel);
    vidmm_fence_slot_destroy(rig->process, &slot[100]); /* none: nothing */
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot[100])));
    CHECK(slot[100].kernel == again.kernel && slot[100].va.value == again.va.value);
    CHECK(*slot[100].kernel == 0);
    /* The second page is no longer needed while the first has room. */
    vidmm_fence_slot_destroy(rig->process, &slot[5]);
    free = ram_free_pages(rig->base.ram);
    again = *of_second;
    vidmm_fence_slot_destroy(rig->process, &slot[512]);
    gva_idle(rig);
    CHECK(ram_free_pages(rig->base.ram) > free && gva_look(rig, again.va.value) == GVA_FAULT);
    CHECK(gva_look(rig, slot[0].va.value) != GVA_FAULT);
    for (unsigned i = 0; i < 512; i++)
        vidmm_fence_slot_destroy(rig->process, &slot[i]);
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &again)));
    CHECK(again.kernel && *again.kernel == 0);
    vidmm_fence_slot_destroy(rig->process, &again);
}

TEST_WITH(gva, the_last_page_of_slots_is_kept)
{
    struct vidmm_fence_slot slot;
    uint32_t operations;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    gva_idle(rig);
    operations = rig->op_count;
    vidmm_fence_slot_destroy(rig->process, &slot);
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    gva_idle(rig);
    CHECK(rig->op_count == operations);
    vidmm_fence_slot_destroy(rig->process, &slot);
}

TEST_WITH(gva, a_process_frees_full_pages_of_slots)
{
    struct nt_process *nt = nt_process_create("other");
    uint64_t frames = ram_free_pages(rig->base.ram);
    struct vidmm_fence_slot slot;
    struct vidmm_process *process;

    CHECK(nt && NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    for (unsigned i = 0; i < 2 * 512 + 1; i++)
        CHECK(NT_SUCCESS(vidmm_fence_slot_create(process, &slot)));
    CHECK(frames - ram_free_pages(rig->base.ram) >= 3);
    vidmm_process_close(process);
    gva_idle(rig);
    CHECK(ram_free_pages(rig->base.ram) == frames);
    nt_process_destroy(nt);
}

/* ---- growing roots ---- */

static void two_levels(struct gva_options *options)
{
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = 40;
    options->level[1].PageTableIndexBitCount = 0;
    options->level[1].PageTableSizeInBytes = 0;
}

static uint32_t early;

static void expect_settled(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *args)
{
    (void)args;
    early += rig->completed != rig->submitted;
}

TEST_WITH(gva, a_root_grows_at_least_by_as_much_again, two_levels(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct vidmm_space *space = rig->process->space;
    struct vidmm_context context;

    CHECK(space->root->entries == 2);
    vidmm_context_init(&context, rig->mm_device, true, false);
    context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    CHECK(NT_SUCCESS(vidmm_context_attach(&context)));
    early = 0;
    rig->on_set_root = expect_settled;
    rig->delay = 1000;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, SPAN, 0, 1)) && space->root->entries == 2);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2 * SPAN, 0, 1)) && space->root->entries == 4);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 4 * SPAN - 4096, 0, 1)) && space->root->entries == 4);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 4 * SPAN, 0, 1)) && space->root->entries == 8);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 100 * SPAN, 0, 1)) && space->root->entries == 101);
    CHECK_RULE("GPUVA-164", rig->set_root_calls == 4 && early == 0);
    rig->on_set_root = NULL;
    rig->delay = 0;
    gva_idle(rig);
    CHECK(gva_entry_page(gva_look(rig, 4 * SPAN)) == 0x1000);
    vidmm_context_detach(&context);
    vidmm_context_finish(&context);
    gva_object_destroy(rig, object);
}
