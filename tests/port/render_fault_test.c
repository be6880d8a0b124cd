/* SPDX-License-Identifier: MIT */
/* A client that takes the memory away which DxgkDdiRender reads in place. */
#include "port/support/portions.h"

#include <string.h>
#include <sys/mman.h>

#include <dxgk_seh.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

enum place { COMMANDS, LOCATIONS };

static struct portions_gpu gpu;
static struct {
    volatile enum place place;
    volatile bool guarded;
    volatile unsigned handled;
    volatile NTSTATUS code;
    volatile ULONG_PTR write, address;
    volatile uintptr_t wanted; /* address that the driver reads */
    NTSTATUS client;           /* what the client got */
} seen;

static LONG look(const EXCEPTION_POINTERS *pointers)
{
    seen.code = pointers->ExceptionRecord->ExceptionCode;
    seen.write = pointers->ExceptionRecord->ExceptionInformation[0];
    seen.address = pointers->ExceptionRecord->ExceptionInformation[1];
    return EXCEPTION_EXECUTE_HANDLER;
}

static void read_from_client(const DXGKARG_RENDER *args)
{
    const volatile uint8_t *from = seen.place == COMMANDS
                                       ? args->pCommand
                                       : (const volatile void *)args->pPatchLocationListIn;

    seen.wanted = (uintptr_t)from;
    *(volatile uint8_t *)args->pDmaBuffer = *from;
}

static void render(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (!seen.guarded) {
        read_from_client(args);
    } else {
        DXGK_TRY
        {
            read_from_client(args);
        }
        DXGK_EXCEPT(look(GetExceptionInformation()))
        {
            seen.handled++;
            call->result = (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
        }
    }
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
}

static void *place(void)
{
    return seen.place == COMMANDS ? gpu.context.pCommandBuffer
                                  : (void *)gpu.context.pPatchLocationList;
}

/* Render while the client has no access to its own first page there. */
static void render_without(struct probe *p)
{
    (void)p;
    CHECK(mprotect(place(), 4096, PROT_NONE) == 0);
    seen.client = portions_render(&gpu, 64, 1);
    CHECK(mprotect(place(), 4096, PROT_READ | PROT_WRITE) == 0);
}

static void take_away(struct probe *p)
{
    portions_open(&gpu);
    portions_element(&gpu, 0, 0, 0, 0);
    render_without(p);
    CHECK_RULE("PATCH-062", seen.handled == 1 && IS(seen.code, STATUS_ACCESS_VIOLATION) &&
                                seen.write == 0 && seen.address == seen.wanted &&
                                seen.wanted == (uintptr_t)place());
    CHECK_RULE("PATCH-062", IS(seen.client, STATUS_INVALID_PARAMETER) &&
                                probe_count(p, PROBE_SubmitCommand) == 0 &&
                                portions_state(&gpu) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("PATCH-062", IS(portions_render(&gpu, 64, 1), STATUS_SUCCESS) && seen.handled == 1);
    portions_finish(&gpu);
    CHECK(probe_count(p, PROBE_SubmitCommand) == 1);
    portions_close(&gpu);
}

static struct probe *begin(enum place where, bool guarded)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);

    memset((void *)&seen, 0, sizeof(seen));
    seen.place = where;
    seen.guarded = guarded;
    p->before[PROBE_Render] = render;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    return p;
}

TEST(render_may_catch_a_fault_at_client_memory)
{
    for (enum place where = COMMANDS; where <= LOCATIONS; where++) {
        struct probe *p = begin(where, true);
        struct probe_client *client = probe_client_run(p, take_away);

        CHECK_RULE("PATCH-062", probe_reports(p, VERIFY_ERROR) == 0);
        portions_end(p, client);
    }
}

static void leave_unguarded(struct probe *p)
{
    portions_open(&gpu);
    portions_element(&gpu, 0, 0, 0, 0);
    render_without(p);
}

TEST(a_fault_that_render_does_not_catch_is_the_driver_s)
{
    for (enum place where = COMMANDS; where <= LOCATIONS; where++) {
        struct probe *p = begin(where, false);
        struct probe_client *client = probe_client_run(p, leave_unguarded);
        const struct verify_record *record = probe_record(p, "NT-002");

        CHECK_RULE("PATCH-062", IS(seen.client, STATUS_DEVICE_REMOVED) &&
                                    probe_count(p, PROBE_SubmitCommand) == 0);
        CHECK_RULE("PATCH-062", verify_bugcheck_state(p->log)->happened && record &&
                                    strstr(record->where, "DxgkDdiRender"));
        CHECK_RULE("PATCH-062", probe_nth(p, PROBE_Render, 0)->left == UINT64_MAX &&
                                    p->calls == probe_nth(p, PROBE_Render, 0)->order + 2 &&
                                    probe_count(p, PROBE_CollectDbgInfo) == 1);
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}
