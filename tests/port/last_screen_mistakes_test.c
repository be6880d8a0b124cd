/* SPDX-License-Identifier: MIT */
/* A driver that does more than draw on the screen of a bug check. */
#include "port/running/post.h"
#include "port/support/display.h"
#include "support/test.h"

#include <ntifs.h>
#include <string.h>

enum mistake { NONE, WAITS, ALLOCATES, READS_PAGED, STARTS_DMA };

static enum mistake mistake;
static bool in_write;
static void *paged;
static unsigned enables, writes;

static void make_mistake(void)
{
    LARGE_INTEGER soon = {.QuadPart = -10};
    uint8_t byte;
    KEVENT event;

    switch (mistake) {
    case WAITS:
        KeInitializeEvent(&event, NotificationEvent, FALSE);
        (void)KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &soon);
        break;
    case ALLOCATES:
        (void)ExAllocatePoolWithTag(NonPagedPoolNx, 64, 0x54657374);
        break;
    case READS_PAGED:
        byte = *(volatile uint8_t *)paged;
        (void)byte;
        break;
    case STARTS_DMA:
        (void)probe_device_dma(0, 0x5000, &byte, 1, false);
        break;
    default:
        break;
    }
}

static void enable(struct probe *p, struct probe_call *call)
{
    (void)p;
    enables++;
    *(UINT *)(uintptr_t)call->arg[3] = 1024;
    *(UINT *)(uintptr_t)call->arg[4] = 768;
    *(D3DDDIFORMAT *)(uintptr_t)call->arg[5] = D3DDDIFMT_A8R8G8B8;
    call->answered = true;
    if (!in_write)
        make_mistake();
}

static void write_block(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    if (in_write && writes == 3)
        make_mistake();
    writes++;
}

static void stop_inside(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    KeBugCheckEx(0xDEADBEEF, 1, 2, 3, 4);
}

static void stops(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    p->before[PROBE_CommitVidPn] = stop_inside;
    (void)display_ask_mode(p, 0, 800, 600, 0);
}

static void acquire(struct probe *p, struct probe_call *call)
{
    DXGK_DISPLAY_INFORMATION info;

    (void)call;
    CHECK(p->state[0].dxgk.DxgkCbAcquirePostDisplayOwnership(p->state[0].dxgk.DeviceHandle,
                                                             &info) == STATUS_SUCCESS);
    paged = ExAllocatePoolWithTag(PagedPool, 4096, 0x54657374);
}

static void run(enum mistake made, bool writing)
{
    const struct probe_options options = {.force_irql = true, .port = {.reset_device = true}};
    struct probe *p = display_create(&options);
    const char *const name = writing ? "DxgkDdiSystemDisplayWrite" : "DxgkDdiSystemDisplayEnable";

    mistake = made;
    in_write = writing;
    enables = writes = 0;
    probe_set_entry(p, PROBE_SystemDisplayEnable, true);
    probe_set_entry(p, PROBE_SystemDisplayWrite, true);
    p->after[PROBE_StartDevice] = acquire;
    p->before[PROBE_SystemDisplayEnable] = enable;
    p->before[PROBE_SystemDisplayWrite] = write_block;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK(probe_run(p, stops) == SIM_STOPPED && enables == 1);
    CHECK_RULE("PRES-051",
               probe_rule(p, "PRES-051") == (made != NONE) &&
                   (made == NONE || (probe_said(p, "PRES-051", name) &&
                                     probe_record(p, "PRES-051")->severity == VERIFY_ERROR)));
    probe_destroy(p);
}

TEST(it_is_to_draw_with_the_processor_alone)
{
    run(NONE, false);
    for (int made = WAITS; made <= STARTS_DMA; made++) {
        run((enum mistake)made, false);
        run((enum mistake)made, true);
    }
}
