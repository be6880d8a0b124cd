/* SPDX-License-Identifier: MIT */
/* A WDDM 1.x client whose DMA buffers are cut; scene.h says how it is used. */
#include "scene.h"

struct scene scene_make(struct fixture *f)
{
    struct scene s = {.client = make_client(f)};

    reference(&s.client, 0, NULL, false);
    for (UINT i = 0; i < SCENE_MANY; i++) {
        s.open[i] = memory_open(f, s.client.device, 0x10000u * (i + 1));
        s.open[i]->listed = false; /* no client ever asks for it */
        reference(&s.client, i + 1, s.open[i], true);
    }
    return s;
}

void scene_end(struct fixture *f, struct scene *s)
{
    idle(s->client.device);
    vidsch_device_destroy(s->client.device);
    for (UINT i = 0; i < SCENE_MANY; i++)
        memory_close(f, s->open[i]);
    CHECK(f->mm.held == 0 && f->mm.kept == 0);
}

void scene_element(struct scene *s, UINT i, UINT slot, UINT allocation, UINT split, UINT patch)
{
    D3DDDI_PATCHLOCATIONLIST *e = &s->client.lists.patches[i];

    *e = (D3DDDI_PATCHLOCATIONLIST){.AllocationIndex = allocation,
                                    .DriverId = 0xD0 + i,
                                    .SplitOffset = split,
                                    .PatchOffset = patch};
    e->SlotId = slot & 0xFFFFFFu;
}

NTSTATUS scene_render(struct scene *s, UINT bytes, UINT elements)
{
    return render_lists(&s->client, bytes, SCENE_MANY + 1, elements);
}

const DXGKARG_PATCH *scene_patched(const struct fixture *f, uint32_t n)
{
    CHECK(call_at(f, CALL_PATCH, n) != NULL);
    return &call_at(f, CALL_PATCH, n)->patch.args;
}

const DXGKARG_SUBMITCOMMAND *scene_sent(const struct fixture *f, uint32_t n)
{
    CHECK(call_at(f, CALL_SUBMIT, n) != NULL);
    return &call_at(f, CALL_SUBMIT, n)->submit;
}

bool scene_window_is(const struct fixture *f, uint32_t n, UINT start, UINT end)
{
    return scene_patched(f, n)->DmaBufferSubmissionStartOffset == start &&
           scene_patched(f, n)->DmaBufferSubmissionEndOffset == end &&
           scene_sent(f, n)->DmaBufferSubmissionStartOffset == start &&
           scene_sent(f, n)->DmaBufferSubmissionEndOffset == end;
}

bool scene_elements_are(const struct fixture *f, uint32_t n, UINT first, UINT count)
{
    return scene_patched(f, n)->PatchLocationListSubmissionStart == first &&
           scene_patched(f, n)->PatchLocationListSubmissionLength == count;
}

void scene_bind_over_the_split(struct scene *s, struct fixture *f)
{
    scene_element(s, 0, 1, 1, 0, 0);
    scene_element(s, 1, 2, 2, 0, 4);
    scene_element(s, 2, 2, 3, 32, 32);
    f->mm.room = 2;
}

bool scene_is_of(const struct fixture *f, uint32_t n, const struct scene *s)
{
    return scene_sent(f, n)->hContext == s->client.context->mm.driver_handle;
}

struct scene scene_beside(struct scene *s, UINT node)
{
    struct scene other = *s;

    other.client.context = make_context(s->client.device, node);
    vidsch_context_lists(other.client.context, &other.client.lists);
    for (UINT i = 0; i <= SCENE_MANY; i++)
        other.client.lists.allocations[i] = s->client.lists.allocations[i];
    return other;
}

void scene_answer_preemption(struct fixture *f, UINT id, UINT completed)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    data.DmaPreempted.PreemptionFenceId = id;
    data.DmaPreempted.LastCompletedFenceId = completed;
    f->driver.engine[0].count = 0;
    f->driver.engine[0].completed = completed;
    driver_notify_now(f, &data);
}
