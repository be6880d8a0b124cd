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

/* ---- what is made of them ---- */

/* What came, in order: P the system process, D a device for it, C a context of the system, U an update of page tables, R a root; small
 * letters: those of clients. */
static char came[64];
static size_t comings;
static HANDLE system_process, system_context;

static void note(char what)
{
    if (comings < sizeof(came) - 1)
        came[comings++] = what;
}

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    note(args->Flags.SystemProcess ? 'P' : 'p');
    if (args->Flags.SystemProcess)
        system_process = args->hKmdProcess;
}

static void note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (const DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1];

    (void)p;
    note(args->Flags.SystemDevice ? 'D' : 'd');
    if (args->Flags.SystemDevice)
        CHECK_RULE("GPUVA-222", system_process && args->hKmdProcess == system_process);
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    note(args->Flags.SystemContext ? 'C' : 'c');
    if (args->Flags.SystemContext)
        system_context = args->hContext;
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    CHECK_RULE("PAGE-020", system_context && args->hSystemContext == system_context);
    if (args->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE && came[comings - 1] != 'U')
        note('U'); /* one for all that follow each other */
}

static void note_root(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    note('R');
}

TEST(the_paging_process_is_ready_before_any_client)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    memset(came, 0, sizeof(came));
    comings = 0;
    system_process = system_context = NULL;
    p->after[PROBE_CreateProcess] = note_process;
    p->after[PROBE_CreateDevice] = note_device;
    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    p->before[PROBE_SetRootPageTable] = note_root;
    probe_clients_begin(p);
    CHECK_RULE("GPUVA-222", NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, use_device);
    probe_client_end(p, client);
    CHECK_RULE("GPUVA-222", strncmp(came, "PDDCUR", 6) == 0 && strcspn(came, "pdc") > 6);
    CHECK(strchr(came, 'd') != NULL);
    probe_clients_end(p);
    probe_destroy(p);
}
