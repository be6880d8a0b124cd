/* SPDX-License-Identifier: MIT */
/* What D3DKMTSubmitCommand and D3DKMTRender check before anything is queued, and private data of both sizes. */
#include "host/support/refgpu_client.h"

static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;

    return dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
           strstr(refusal.reason, part);
}

static D3DKMT_SUBMITCOMMAND submission(const struct gpu *g)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = g->copy;
    return args;
}

/* Commands that write the value, in memory that both sides reach. */
struct scene {
    struct gpu g;
    struct memory commands, target;
    UINT bytes;
};

static NTSTATUS scene_begin(struct scene *s)
{
    struct refgpu_builder b;
    NTSTATUS status = gpu_begin(&s->g);

    if (NT_SUCCESS(status))
        status = gpu_memory(&s->g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                            &s->commands);
    if (NT_SUCCESS(status))
        status = gpu_memory(&s->g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                            &s->target);
    if (!NT_SUCCESS(status))
        return status;
    refgpu_builder_init(&b, s->commands.cpu, 4096);
    refgpu_write(&b, s->target.va, 0x66, REFGPU_WRITE_64);
    s->bytes = refgpu_builder_bytes(&b);
    return status;
}

static D3DKMT_SUBMITCOMMAND write_of(const struct scene *s)
{
    D3DKMT_SUBMITCOMMAND args = submission(&s->g);

    args.Commands = s->commands.va;
    args.CommandLength = s->bytes;
    return args;
}

/* The submission is refused, and the next one is carried out. */
static bool only_refused(struct scene *s, const D3DKMT_SUBMITCOMMAND *bad, NTSTATUS status)
{
    D3DKMT_SUBMITCOMMAND good = write_of(s);
    struct dxgk_refusal refusal;
    volatile uint64_t *value = s->target.cpu;
    bool refused;

    if (gpu_wait_idle(&s->g) != STATUS_SUCCESS)
        return false;
    *value = 0;
    refused = D3DKMTSubmitCommand(bad) == status && dxgk_client_last_refusal(&refusal);
    if (gpu_wait_idle(&s->g) != STATUS_SUCCESS || *value)
        return false;
    return refused && D3DKMTSubmitCommand(&good) == STATUS_SUCCESS &&
           gpu_wait_idle(&s->g) == STATUS_SUCCESS && *value == 0x66;
}

TEST_WITH(client, a_submission_checks_its_flags_and_numbers)
{
    D3DKMT_SUBMITCOMMAND args;
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    args = write_of(&s);
    args.Flags.NoKmdAccess = 1;
    SHOW(c, "KMT-320", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args = write_of(&s);
    args.Flags.Reserved = 1;
    SHOW(c, "KMT-320", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args = write_of(&s);
    args.Flags.PresentRedirected = 1;
    SHOW(c, "KMT-320", only_refused(&s, &args, STATUS_NOT_SUPPORTED));
    args = write_of(&s);
    args.BroadcastContextCount = 0;
    SHOW(c, "KMT-315", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.BroadcastContextCount = D3DDDI_MAX_BROADCAST_CONTEXT + 1;
    TRY(c, D3DKMTSubmitCommand(&args) == STATUS_INVALID_PARAMETER &&
               because("", "65 contexts, at most 64 are possible"));
    for (unsigned i = 0; i < D3DDDI_MAX_BROADCAST_CONTEXT; i++)
        args.BroadcastContext[i] = s.g.copy;
    args.BroadcastContextCount = D3DDDI_MAX_BROADCAST_CONTEXT; /* so many may be */
    TRY(c, D3DKMTSubmitCommand(&args) == STATUS_INVALID_PARAMETER &&
               because("KMT-316", "contexts 0 and 1 of the list are the same"));
    args = write_of(&s);
    args.NumHistoryBuffers = 1;
    SHOW(c, "KMT-323", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args = write_of(&s);
    args.HistoryBufferArray = &s.g.copy;
    SHOW(c, "KMT-323", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args = write_of(&s);
    args.Commands = ~(UINT64)0;
    args.CommandLength = 2;
    SHOW(c, "KMT-317", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args = write_of(&s);
    args.BroadcastContext[0] = s.g.device;
    TRY(c, only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.BroadcastContext[0] = s.g.copy;
    args.BroadcastContext[1] = s.g.device;
    args.BroadcastContextCount = 2;
    TRY(c, only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.BroadcastContext[1] = s.g.render;
    SHOW(c, "KMT-316", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, written_primaries_are_on_the_residency_list)
{
    D3DKMT_SUBMITCOMMAND args;
    struct memory evicted;
    struct scene s;
    struct gpu other;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&s.g, 4096, 0, 0, &evicted) == STATUS_SUCCESS);
    args = write_of(&s);
    args.NumPrimaries = D3DDDI_MAX_WRITTEN_PRIMARIES + 1;
    SHOW(c, "KMT-321", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.NumPrimaries = D3DDDI_MAX_WRITTEN_PRIMARIES;
    for (unsigned i = 0; i < D3DDDI_MAX_WRITTEN_PRIMARIES; i++)
        args.WrittenPrimaries[i] = s.target.handle;
    TRY(c, D3DKMTSubmitCommand(&args) == STATUS_SUCCESS);
    args.WrittenPrimaries[D3DDDI_MAX_WRITTEN_PRIMARIES - 1] = evicted.handle;
    SHOW(c, "KMT-322", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    TRY(c, D3DKMTSubmitCommand(&args) == STATUS_INVALID_PARAMETER &&
               because("KMT-321", "primary 15, handle 0x"));
    args.NumPrimaries = 1;
    args.WrittenPrimaries[0] = s.g.copy;
    SHOW(c, "KMT-322", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    /* of another device */
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&other, 4096, 0, 0, &evicted) == STATUS_SUCCESS &&
               gpu_make_resident(&other, evicted.handle) == STATUS_SUCCESS);
    args.WrittenPrimaries[0] = evicted.handle;
    SHOW(c, "KMT-321", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    TRY(c, gpu_end(&other) == STATUS_SUCCESS);
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, private_data_of_a_submission_can_be_read)
{
    static uint8_t data[2048];
    D3DKMT_SUBMITCOMMAND args;
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    args = write_of(&s);
    args.PrivateDriverDataSize = 16; /* at NULL */
    SHOW(c, "KMT-006", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.pPrivateDriverData = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.PrivateDriverDataSize = 2000;
    SHOW(c, "KMT-007", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = (16u << 20) + 1;
    SHOW(c, "KMT-012",
         D3DKMTSubmitCommand(&args) == STATUS_INVALID_PARAMETER &&
             because("KMT-012", "at most 16777216 are possible"));
    args.PrivateDriverDataSize = sizeof(data); /* more than the driver wants */
    SHOW(c, "SUBMIT-111", only_refused(&s, &args, STATUS_INVALID_PARAMETER));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

/* ---- renders ---- */

TEST_WITH(client, a_render_checks_its_flags_and_contexts)
{
    D3DKMT_RENDER args;
    D3DKMT_CREATECONTEXT further;
    struct refgpu_builder b;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&args, 0, sizeof(args));
    args.hContext = g.render;
    refgpu_builder_init(&b, g.lists.pCommandBuffer, g.lists.CommandBufferSize);
    refgpu_nop(&b);
    args.CommandLength = refgpu_builder_bytes(&b);
    args.PrivateDriverDataSize = 4;
    SHOW(c, "KMT-307",
         D3DKMTRender(&args) == STATUS_INVALID_PARAMETER && because("KMT-307", "4 bytes"));
    args.PrivateDriverDataSize = 0;
    args.pPrivateDriverData = &b;
    SHOW(c, "KMT-307",
         D3DKMTRender(&args) == STATUS_INVALID_PARAMETER && because("KMT-307", "0 bytes"));
    args.pPrivateDriverData = NULL;
    args.Flags.Reserved = 1;
    SHOW(c, "KMT-009",
         D3DKMTRender(&args) == STATUS_INVALID_PARAMETER && because("KMT-307", "0 bytes"));
    args.Flags.Reserved = 0;
    args.BroadcastContextCount = D3DDDI_MAX_BROADCAST_CONTEXT + 1;
    TRY(c, D3DKMTRender(&args) == STATUS_INVALID_PARAMETER &&
               because("", "65 contexts, at most 64 are possible"));
    args.BroadcastContextCount = D3DDDI_MAX_BROADCAST_CONTEXT;
    TRY(c, D3DKMTRender(&args) == STATUS_INVALID_PARAMETER &&
               because("KMT-026", "handle 0x0 is not that of a context"));
    args.BroadcastContextCount = 0;
    args.hContext = g.device;
    SHOW(c, "KMT-301", D3DKMTRender(&args) == STATUS_INVALID_PARAMETER);
    args.hContext = 0x7777;
    SHOW(c, "KMT-301", D3DKMTRender(&args) == STATUS_INVALID_PARAMETER);
    args.hContext = g.render;
    /* a further context, which must be one of physical addresses */
    memset(&further, 0, sizeof(further));
    further.hDevice = g.device;
    further.NodeOrdinal = REFGPU_NODE_2D;
    TRY(c, D3DKMTCreateContext(&further) == STATUS_SUCCESS);
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = g.copy;
    SHOW(c, "KMT-308", D3DKMTRender(&args) == STATUS_INVALID_PARAMETER);
    args.BroadcastContext[0] = g.render;
    SHOW(c, "KMT-308", D3DKMTRender(&args) == STATUS_INVALID_PARAMETER);
    args.BroadcastContext[0] = further.hContext;
    SHOW(c, "KMT-308", D3DKMTRender(&args) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
