/* SPDX-License-Identifier: MIT */
/* DxgkCbUnblockUEFIFrameBufferRanges: the host never blocks any. */
#include "port/support/display.h"
#include "support/test.h"

static NTSTATUS inside;

static NTSTATUS unblock(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;

    return dxgk->DxgkCbUnblockUEFIFrameBufferRanges(dxgk->DeviceHandle, NULL);
}

static void in_start(struct probe *p, struct probe_call *call)
{
    (void)call;
    inside = unblock(p);
}

static NTSTATUS in_commit_status;

static void in_commit(struct probe *p, struct probe_call *call)
{
    (void)call;
    in_commit_status = unblock(p);
}

static void outside(struct probe *p)
{
    CHECK_RULE("PRES-041", unblock(p) == STATUS_INVALID_PARAMETER &&
                               in_commit_status == STATUS_INVALID_PARAMETER);
}

TEST(it_may_be_called_in_a_start)
{
    struct probe *p = display_create(NULL);

    inside = STATUS_UNSUCCESSFUL;
    p->after[PROBE_StartDevice] = in_start;
    p->after[PROBE_CommitVidPn] = in_commit;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("PRES-041", inside == STATUS_SUCCESS && probe_rule(p, "LIFE-059") == 0);
    probe_end(p, outside);
}
