/* SPDX-License-Identifier: MIT */
/* D3DKMTRender and D3DKMTSubmitCommand: what the driver gets, and when the call returns. */
#include "port/support/portions.h"

#include <limits.h>
#include <string.h>

#define IS(call, wanted) ((NTSTATUS)(call) == (NTSTATUS)(wanted))
#define LASTS            (PROBE_SECOND / 10) /* a packet takes so long */

static DXGKARG_SUBMITCOMMANDVIRTUAL sent;
static struct {
    uint8_t commands[16];
    UINT bytes, allocations, locations;
} rendered;

static void note_virtual(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        sent = *args;
}

static void note_render(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RENDER *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    rendered.bytes = args->CommandLength;
    rendered.allocations = args->AllocationListSize;
    rendered.locations = args->PatchLocationListInSize;
    memcpy(rendered.commands, args->pCommand, sizeof(rendered.commands));
}

/* ---- D3DKMTSubmitCommand ---- */

static struct probe_gpu gpu;

static void submit_virtual(struct probe *p)
{
    static const struct {
        UINT64 address;
        UINT bytes;
    } rows[] = {{0x10000, 4}, {0x12344, 0x10000}, {0x7FFF0000, 1}};
    D3DKMT_SUBMITCOMMAND args;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    probe_device_packet_ns = LASTS;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t begun = sim_now();

        memset(&args, 0, sizeof(args));
        args.Commands = rows[i].address;
        args.CommandLength = rows[i].bytes;
        args.BroadcastContextCount = 1;
        args.BroadcastContext[0] = gpu.context;
        probe_forget(p);
        CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&args)) && sim_now() - begun < LASTS / 2);
        CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
        CHECK_RULE("KMT-314", sent.DmaBufferVirtualAddress == rows[i].address &&
                                  sent.DmaBufferSize == rows[i].bytes && sent.NodeOrdinal == 1 &&
                                  sent.DmaBufferUmdPrivateDataSize == 0);
        CHECK_RULE("KMT-314", probe_count(p, PROBE_SubmitCommandVirtual) == 1 &&
                                  probe_count(p, PROBE_Render) == 0 &&
                                  probe_count(p, PROBE_Patch) == 0);
    }
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(commands_at_an_address_are_queued)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    p->before[PROBE_SubmitCommandVirtual] = note_virtual;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, submit_virtual);
    probe_device_packet_ns = 1000;
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- D3DKMTRender ---- */

static struct portions_gpu physical;

static NTSTATUS render(UINT bytes, UINT allocations, UINT locations)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = physical.context.hContext;
    args.CommandLength = bytes;
    args.AllocationCount = allocations;
    args.PatchLocationCount = locations;
    return D3DKMTRender(&args);
}

static void render_body(struct probe *p)
{
    static const char commands[16] = "fifteen letters";
    const struct probe_call *call;
    uint64_t begun;

    portions_open(&physical);
    memcpy(physical.context.pCommandBuffer, commands, sizeof(commands));
    probe_device_packet_ns = LASTS;
    CHECK(NT_SUCCESS(render(64, 0, 0)));
    probe_forget(p);
    begun = sim_now();
    for (unsigned i = 1; i <= 3; i++) {
        memcpy(physical.context.pCommandBuffer, commands, sizeof(commands));
        CHECK_RULE("KMT-299", NT_SUCCESS(render(48, 0, 0)) && sim_now() - begun < LASTS / 2 &&
                                  probe_count(p, PROBE_Render) == i);
    }
    CHECK_RULE("KMT-299", rendered.bytes == 48 && memcmp(rendered.commands, commands, 16) == 0 &&
                              probe_count(p, PROBE_SubmitCommand) < 3);
    call = probe_nth(p, PROBE_Render, 0);
    CHECK_RULE("KMT-299", call->irql == PASSIVE_LEVEL);
    portions_finish(&physical);
    CHECK_RULE("KMT-299", probe_count(p, PROBE_SubmitCommand) >= 3 &&
                              probe_count(p, PROBE_Render) == 3 && sim_now() - begun > 2 * LASTS);
    probe_device_packet_ns = 1000;
    portions_close(&physical);
}

static void counts_body(struct probe *p)
{
    UINT allocations, locations;

    portions_open(&physical);
    allocations = physical.context.AllocationListSize;
    locations = physical.context.PatchLocationListSize;
    CHECK(allocations > 1 && locations > 1);
    memset(physical.context.pAllocationList, 0,
           allocations * sizeof(*physical.context.pAllocationList));
    memset(physical.context.pPatchLocationList, 0,
           locations * sizeof(*physical.context.pPatchLocationList));
    CHECK_RULE("KMT-302", NT_SUCCESS(render(64, allocations, locations)) &&
                              rendered.allocations == allocations &&
                              rendered.locations == locations);
    CHECK_RULE("KMT-302", NT_SUCCESS(render(64, allocations - 1, 1)) &&
                              rendered.allocations == allocations - 1 && rendered.locations == 1);
    probe_forget(p);
    CHECK_RULE("KMT-302", IS(render(64, allocations + 1, locations), STATUS_INVALID_PARAMETER) &&
                              probe_count(p, PROBE_Render) == 0);
    CHECK_RULE("KMT-302", IS(render(64, allocations, locations + 1), STATUS_INVALID_PARAMETER) &&
                              probe_count(p, PROBE_Render) == 0);
    CHECK_RULE("KMT-302", IS(render(64, UINT_MAX, UINT_MAX), STATUS_INVALID_PARAMETER) &&
                              probe_count(p, PROBE_Render) == 0);
    portions_finish(&physical);
    portions_close(&physical);
}

static NTSTATUS render_with(D3DKMT_RENDERFLAGS flags)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = physical.context.hContext;
    args.CommandLength = 64;
    args.Flags = flags;
    return D3DKMTRender(&args);
}

static void flags_body(struct probe *p)
{
    D3DKMT_RENDERFLAGS flags;

    portions_open(&physical);
    memset(&flags, 0, sizeof(flags));
    flags.PresentRedirected = 1;
    CHECK_RULE("KMT-306", IS(render_with(flags), STATUS_NOT_SUPPORTED));
    memset(&flags, 0, sizeof(flags));
    flags.RenderKmReadback = 1;
    CHECK_RULE("KMT-306",
               IS(render_with(flags), STATUS_NOT_SUPPORTED) && probe_count(p, PROBE_Render) == 0);
    memset(&flags, 0, sizeof(flags));
    flags.PresentRedirected = 0;
    CHECK_RULE("KMT-306", NT_SUCCESS(render_with(flags)) && probe_count(p, PROBE_Render) == 1);
    portions_finish(&physical);
    portions_close(&physical);
}

static void token_body(struct probe *p)
{
    D3DKMT_RENDER args;

    portions_open(&physical);
    memset(&args, 0, sizeof(args));
    args.hContext = physical.context.hContext;
    args.CommandLength = 64;
    args.PresentHistoryToken = 0x123456789ull;
    CHECK_RULE("KMT-306", NT_SUCCESS(D3DKMTRender(&args)) && probe_count(p, PROBE_Render) == 1);
    portions_finish(&physical);
    portions_close(&physical);
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);

    memset(&rendered, 0, sizeof(rendered));
    p->after[PROBE_Render] = note_render;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    portions_end(p, probe_client_run(p, body));
}

TEST(a_render_is_translated_and_queued)
{
    run(render_body);
}

TEST(lists_of_a_render_have_the_size_that_was_promised)
{
    run(counts_body);
}

TEST(a_render_for_a_display_is_refused)
{
    run(flags_body);
    run(token_body);
}
