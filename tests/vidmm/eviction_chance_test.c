/* SPDX-License-Identifier: MIT */
/* Requests in random order: no content is lost over it. */
#include "sim/machine.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* Many small requests in random order against a model that only knows contents. */
static void random_body(struct mm_rig *rig)
{
    enum { COUNT = 24 };
    D3DKMT_HANDLE h[2][COUNT];
    uint32_t counts[2][COUNT] = {{0}};
    bool written[2][COUNT] = {{false}};

    OK(mm_client_open(rig, 1, 1));
    for (unsigned d = 0; d < 2; d++) {
        for (unsigned i = 0; i < COUNT; i++) {
            struct mm_private p = mm_private_default(1 + sim_random(3),
                                                     PAGE_BYTES * (uint64_t)(1 + sim_random(500)));

            p.priority = 0x28000000 + sim_random(4) * 0x28000000;
            if (sim_random(3) == 0)
                p.flags |= 0x8000;
            if (sim_random(4) == 0)
                p.alignment = 65536;
            h[d][i] = mm_create_ok(&rig->client[d], p);
        }
    }
    for (unsigned step = 0; step < 600; step++) {
        unsigned d = sim_random(2);
        unsigned i = sim_random(COUNT);
        struct mm_client *c = &rig->client[d];
        struct vidmm_allocation *a = mm_allocation(c, h[d][i]);

        switch (sim_random(6)) {
        case 0:
        case 1:
        case 2:
            counts[d][i] += NT_SUCCESS(
                mm_make_resident(c, &h[d][i], 1, sim_random(2), &(uint64_t){0}));
            break;
        case 3:
            if (counts[d][i]) {
                OK(mm_evict(c, h[d][i], sim_random(4)));
                counts[d][i]--;
            }
            break;
        case 4:
            mm_submit(c);
            if (mm_dispatch(c) && a->ready && counts[d][i]) {
                mm_write_content(rig, a,
                                 (uint8_t)(d * COUNT + i)); /* the GPU writes what is on its list */
                written[d][i] = true;
            }
            mm_finish(c);
            break;
        default:
            mm_idle(rig);
            break;
        }
        CHECK(mm_open(c, h[d][i])->residency_count == counts[d][i]);
        if (step % 16 == 0)
            CHECK(vidmm_validate(rig->vidmm));
    }
    mm_idle(rig);
    for (unsigned d = 0; d < 2; d++) {
        CHECK(rig->client[d].error == 0);
        for (unsigned i = 0; i < COUNT; i++) {
            if (written[d][i])
                CHECK(mm_check_content(rig, mm_allocation(&rig->client[d], h[d][i]),
                                       (uint8_t)(d * COUNT + i)));
        }
    }
    CHECK(rig->faults == 0);
}

TEST(random_requests_keep_contents)
{
    const uint64_t seeds = getenv("DXGK_LONG") ? 200 : 6;
    struct mm_options o;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        mm_options_default(&o);
        o.seed = seed;
        o.iommu = seed % 3 == 0 ? IOMMU_ISOLATION : IOMMU_REMAP;
        o.aperture_bytes = 8 * MM_MB;
        o.vram_bytes = 8 * MM_MB;
        o.move_paging = seed % 2;
        mm_run(&o, random_body);
    }
}
