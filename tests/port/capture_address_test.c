/* SPDX-License-Identifier: MIT */
/* Where a driver is told that an allocation for captured video lies. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FAR                (1ll << 36)

static struct portions_gpu gpu;
static UINT capture_flags[PORTIONS_MANY]; /* of what is created, in order */
static unsigned created;
static DXGKARGCB_GETCAPTUREADDRESS asked;
static NTSTATUS answer;

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = created == 3 ? 2 : 1;
    info->PreferredSegment.Value = 0;
    info->Flags.Value = 0;
    info->Flags.Capture = capture_flags[created++] & 1;
}

static void ask(struct probe *p, struct probe_call *call)
{
    answer = p->state[0].dxgk.DxgkCbGetCaptureAddress(&asked);
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static NTSTATUS address_of(D3DKMT_HANDLE allocation)
{
    D3DKMT_ESCAPE args;
    uint32_t data = 0;

    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter;
    args.pPrivateDriverData = &data;
    args.PrivateDriverDataSize = sizeof(data);
    memset(&asked, 0x5A, sizeof(asked));
    asked.hAllocation = allocation;
    answer = STATUS_PENDING;
    CHECK(IS(D3DKMTEscape(&args), STATUS_SUCCESS));
    return answer;
}

static bool is_at(D3DKMT_HANDLE allocation, UINT segment, uint64_t address)
{
    return IS(address_of(allocation), STATUS_SUCCESS) && asked.SegmentId == segment &&
           (uint64_t)asked.PhysicalAddress.QuadPart == address;
}

static bool refused(D3DKMT_HANDLE allocation, const char *rule)
{
    return IS(address_of(allocation), STATUS_INVALID_PARAMETER) &&
           strcmp(probe_refused_rule, rule) == 0 && asked.SegmentId == 0x5A5A5A5A;
}

static void prepare(struct probe *p)
{
    p->segment[0].BaseAddress.QuadPart = FAR;
    probe_set_entry(p, PROBE_Escape, true);
    p->before[PROBE_Escape] = ask;
    p->after[PROBE_CreateAllocation] = describe;
    memcpy(capture_flags, (const UINT[]){0, 1, 1, 1}, sizeof(capture_flags));
    created = 0;
}

static void body(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    for (unsigned i = 0; i < 4; i++) {
        portions_allocate(&gpu, i, (i + 1) * 8192);
        portions_element(&gpu, i, i, i + 1, 0);
    }
    CHECK_RULE("ALLOC-141", refused(gpu.allocation[1], "ALLOC-141"));
    CHECK(IS(portions_render(&gpu, 64, 4), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("ALLOC-140",
               is_at(gpu.allocation[1], 1, portions_address(0, 2)) && portions_address(0, 2) > FAR);
    CHECK_RULE("ALLOC-140", is_at(gpu.allocation[2], 1, portions_address(0, 3)) &&
                                portions_address(0, 3) != portions_address(0, 2));
    CHECK_RULE("ALLOC-140", is_at(gpu.allocation[3], 2, portions_address(0, 4)));
    CHECK_RULE("ALLOC-140", refused(gpu.allocation[0], "ALLOC-140") &&
                                strstr(probe_refused_text, "without the flag Capture"));
    CHECK_RULE("ALLOC-140", refused(0, "ALLOC-140") && refused(gpu.device, "ALLOC-140"));
    portions_close(&gpu);
}

TEST(the_driver_learns_where_it_lies)
{
    struct probe *p;

    portions_prepare = prepare;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, body));
}
