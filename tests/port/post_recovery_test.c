/* SPDX-License-Identifier: MIT */
/* The frame buffer of the firmware, for a driver that is started again after a lost present. */
#include "port/running/post.h"
#include "port/support/presents.h"
#include "support/test.h"

static struct {
    unsigned calls;
    bool silent; /* it does not ask */
    NTSTATUS status;
    DXGK_DISPLAY_INFORMATION info;
    DXGK_DISPLAY_OWNERSHIP_FLAGS flags;
} asked;

static void acquire(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;

    (void)call;
    asked.calls++;
    if (!asked.silent)
        asked.status = dxgk->DxgkCbAcquirePostDisplayOwnership2(dxgk->DeviceHandle, &asked.info,
                                                                &asked.flags);
}

static void lose(struct probe *p)
{
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){3, 3, 4, 4}, 0x998877));
    CHECK(screens_settle(display_screens(p), 0));
}

static void recovers(struct probe *p)
{
    const DXGK_DISPLAY_INFORMATION first = asked.info;

    CHECK(screens_settle(display_screens(p), 0) && asked.calls == 1 &&
          asked.flags.Value == FrameBufferStateInitializedByFirmware);
    lose(p);
    CHECK_RULE("PRES-019/b", asked.calls == 2 && asked.status == STATUS_SUCCESS &&
                                 asked.flags.Value == FrameBufferStateUnknown &&
                                 memcmp(&asked.info, &first, sizeof(first)) == 0);
    CHECK(port_display_scanout(p->adapter[0], 0).pixels);
    asked.silent = true;
    lose(p);
    CHECK_RULE("PRES-019/b", asked.calls == 3 && !port_display_scanout(p->adapter[0], 0).pixels);
}

TEST(its_content_is_unknown)
{
    struct probe *p = display_create(NULL);

    memset(&asked, 0, sizeof(asked));
    p->after[PROBE_StartDevice] = acquire;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, recovers);
}
