/* SPDX-License-Identifier: MIT */
/* What the chronicle keeps of places and mappings. */
#include "support/gva_rig.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "vidmm/record/chronicle.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* The last event of a kind; it must be there. */
static const struct chronicle_event *last_of(const struct chronicle *chronicle,
                                             enum chronicle_kind kind)
{
    for (size_t i = chronicle->count; i-- > 0;)
        if (chronicle->events[i].kind == kind)
            return &chronicle->events[i];
    CHECK(false);
    return NULL;
}

TEST_WITH(mm, who_is_evicted_for_whom_is_kept)
{
    struct chronicle *chronicle = &rig->vidmm->chronicle;
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE first = mm_vram(c, 10), second = mm_vram(c, 10), small;
    const struct chronicle_event *event;
    uint64_t victim;

    CHECK(chronicle->count == 0);
    chronicle->on = true;
    OK(mm_resident(c, first));
    event = last_of(chronicle, CHRONICLE_PLACED);
    CHECK(event->segment == mm_allocation(c, first)->segment && event->pages == 10 << 8 &&
          event->first == mm_allocation(c, first)->runs->first &&
          event->allocation == mm_allocation(c, first)->number.of_all);
    victim = event->allocation;
    OK(mm_evict(c, first, 1));
    OK(mm_resident(c, second));
    event = last_of(chronicle, CHRONICLE_LEFT);
    CHECK(event->allocation == victim && event->why == ABSENCE_ROOM &&
          event->room_for == mm_allocation(c, second)->number.of_all);
    small = mm_vram(c, 1);
    OK(mm_resident(c, small));
    victim = mm_allocation(c, small)->number.of_all;
    OK(mm_destroy(c, small, 0));
    mm_idle(rig);
    event = last_of(chronicle, CHRONICLE_LEFT);
    CHECK(event->allocation == victim && event->why == CHRONICLE_DESTROYED && event->room_for == 0);
}

/* Also if it only makes way for a more important member of its list. */
TEST_WITH(mm, who_makes_way_for_whom_is_kept)
{
    struct chronicle *chronicle = &rig->vidmm->chronicle;
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = mm_with_priority(c, MM_SET_BOTH, 12, 0x50000000u);
    D3DKMT_HANDLE high = mm_with_priority(c, MM_SET_BOTH, 12, 0xA0000000u);
    const struct chronicle_event *event;

    chronicle->on = true;
    OK(mm_resident(c, low));
    mm_idle(rig);
    OK(mm_resident(c, high));
    mm_idle(rig);
    event = last_of(chronicle, CHRONICLE_LEFT);
    CHECK(event->allocation == mm_allocation(c, low)->number.of_all &&
          event->why == ABSENCE_DEMOTED && event->room_for == mm_allocation(c, high)->number.of_all);
}

TEST_WITH(gva, mappings_and_tables_are_kept)
{
    struct chronicle *chronicle = &rig->vidmm->chronicle;
    struct gva_object *object;
    const struct chronicle_event *event;
    uint64_t tables = rig->vidmm->mmu->tables, made = 0, va;

    chronicle->on = true;
    object = gva_object_resident(rig, 4, 0);
    va = gva_map_simple(rig, object, 4);
    (void)gva_look(rig, va);
    event = last_of(chronicle, CHRONICLE_MAPPED);
    CHECK(event->first == va >> 12 && event->pages == 4 && event->offset == 0 &&
          event->process == chronicle_process(rig->process));
    for (size_t i = 0; i < chronicle->count; i++)
        made += chronicle->events[i].kind == CHRONICLE_TABLE && chronicle->events[i].pages > 0;
    CHECK(made > 0 && made == rig->vidmm->mmu->tables - tables);
    OK(gva_free(rig, va, 4));
    event = last_of(chronicle, CHRONICLE_UNMAPPED);
    CHECK(event->first == va >> 12 && event->pages == 4 && event->why == MAPPING_FREED);
    gva_object_destroy(rig, object);
}
