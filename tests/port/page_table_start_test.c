/* SPDX-License-Identifier: MIT */
/* What a start asks about page tables, and makes of the answers before the first client comes. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- the queries ---- */

static uint64_t order_of(const struct probe *p, DXGK_QUERYADAPTERINFOTYPE type, size_t n)
{
    const struct probe_call *call = probe_query(p, type, n);

    CHECK(call != NULL);
    return call->order;
}

TEST_WITH(probe, levels_are_asked_upwards_between_nodes_and_segments)
{
    size_t levels = probe_queries(p, DXGKQAITYPE_PAGETABLELEVELDESC);
    uint64_t last = order_of(p, DXGKQAITYPE_GPUMMUCAPS, 0);

    CHECK_RULE("GPUVA-009/a", order_of(p, DXGKQAITYPE_PHYSICALADAPTERCAPS, 0) < last && levels == 4);
    for (size_t i = 0; i < levels; i++) {
        const struct probe_call *call = probe_query(p, DXGKQAITYPE_PAGETABLELEVELDESC, i);
        DXGK_QUERYPAGETABLELEVELDESCIN level;

        memcpy(&level, call->query_input, sizeof(level));
        CHECK_RULE("GPUVA-009/a", call->order > last && level.LevelIndex == i);
        last = call->order;
    }
    CHECK_RULE("GPUVA-009/a", last < probe_nth(p, PROBE_GetNodeMetadata, 0)->order &&
                                  last < order_of(p, DXGKQAITYPE_QUERYSEGMENT4, 0) &&
                                  last < probe_nth(p, PROBE_CreateProcess, 0)->order);
}

TEST_WITH(probe, segments_are_asked_behind_page_tables_and_nodes)
{
    uint64_t segments = order_of(p, DXGKQAITYPE_QUERYSEGMENT4, 0);

    CHECK_RULE("SEG-014", segments > order_of(p, DXGKQAITYPE_GPUMMUCAPS, 0) &&
                              segments > probe_nth(p, PROBE_GetNodeMetadata,
                                                   probe_count(p, PROBE_GetNodeMetadata) - 1)
                                             ->order);
}

static void use_device(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("GPUVA-009/b", NT_SUCCESS(probe_gpu_allocate(&gpu, 1u << 20, &allocation)));
    CHECK_RULE("GPUVA-009/b", NT_SUCCESS(probe_gpu_submit(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(answers_about_page_tables_are_kept)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    memset(&p->mmu, 0xFF, sizeof(p->mmu));
    memset(p->level, 0xFF, sizeof(p->level));
    client = probe_client_run(p, use_device);
    probe_client_end(p, client);
    CHECK_RULE("GPUVA-009/b", probe_queries(p, DXGKQAITYPE_GPUMMUCAPS) == 1 &&
                                  probe_queries(p, DXGKQAITYPE_PAGETABLELEVELDESC) == 4);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(a_start_fails_with_the_status_of_a_query_about_page_tables)
{
    static const DXGK_QUERYADAPTERINFOTYPE types[] = {DXGKQAITYPE_GPUMMUCAPS,
                                                      DXGKQAITYPE_PAGETABLELEVELDESC};

    for (size_t i = 0; i < 2; i++) {
        struct probe *p = probe_create(NULL);

        p->query_status[types[i]] = STATUS_NO_MEMORY;
        CHECK_RULE("GPUVA-009/c", IS(probe_start(p), STATUS_NO_MEMORY) &&
                                      probe_queries(p, types[i]) == 1 &&
                                      probe_count(p, PROBE_CreateProcess) == 0);
        probe_destroy(p);
    }
}
