/* SPDX-License-Identifier: MIT */
/* What is asked of the driver, by a client, the user and the system. */
#include "hostile_display_fuzz.h"

#include "port/running/power.h"
#include "screens/pointer.h"
#include "screens/pointer_shape.h"
#include "screens/scanouts.h"
#include "sim/thread.h"
#include "sim/wait.h"

#define PRIMARIES 3u

static struct probe_gpu gpu;
static D3DKMT_HANDLE adapter, primary[PRIMARIES];

/* ---- pictures ---- */

static void draw(struct probe *p)
{
    const UINT x = rig_below(200) * 4, y = rig_below(200) * 4, source = rig_below(2);
    const RECT changed = {(LONG)x, (LONG)y, (LONG)x + 16, (LONG)y + 16};
    struct screens_image image = {.pixels = NULL};

    if (!display_screens(p) || !screens_draw(display_screens(p), source, &image))
        return;
    for (UINT k = y; k < y + 16 && k < image.height && x + 16 <= image.width; k++)
        memset(image.pixels + (SIZE_T)k * image.pitch + (SIZE_T)x * 4, (int)rig_byte(), 64);
    screens_drawn(display_screens(p), source, &changed);
}

static void settle(struct probe *p)
{
    if (display_screens(p))
        (void)screens_settle(display_screens(p), rig_below(2));
}

static void look(struct probe *p)
{
    (void)port_display_scanout(p->adapter[0], 0);
}

static void point(struct probe *p)
{
    static const uint32_t pixels[64 * 64];
    const struct pointer_shape shape = {.kind = (enum pointer_kind)(1 + rig_below(3)),
                                        .width = 8,
                                        .height = 8,
                                        .pitch = 32,
                                        .pixels = (uint8_t *)(uintptr_t)pixels};
    const struct screens_cursor cursor = {.source = rig_below(2),
                                          .x = (LONG)rig_below(200) * 8,
                                          .y = (LONG)rig_below(200) * 8,
                                          .visible = rig_below(4) != 0};
    char why[128];

    if (!display_screens(p))
        return;
    if (rig_below(2))
        (void)screens_set_pointer(display_screens(p), &shape, why, sizeof(why));
    screens_move_pointer(display_screens(p), &cursor);
}

/* ---- flips ---- */

static void create(unsigned i)
{
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.Flags.Primary = 1;
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    if (NT_SUCCESS(D3DKMTCreateAllocation2(&args)))
        primary[i] = info.hAllocation;
}

static void own(void)
{
    const D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    const UINT source = 0;
    const D3DKMT_SETVIDPNSOURCEOWNER args = {
        .hDevice = gpu.device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};

    (void)D3DKMTSetVidPnSourceOwner(&args);
}

static void flip(struct probe *p)
{
    const unsigned i = rig_below(PRIMARIES);
    D3DKMT_PRESENT args;

    (void)p;
    if (!gpu.device)
        return;
    if (!primary[i])
        create(i);
    if (rig_below(8) == 0)
        own();
    if (rig_below(8) == 0) {
        const D3DKMT_SETDISPLAYMODE mode = {.hDevice = gpu.device, .hPrimaryAllocation = primary[i]};

        (void)D3DKMTSetDisplayMode(&mode);
    }
    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context;
    args.hSource = primary[i];
    args.FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)rig_below(5);
    args.Flags.Flip = 1;
    (void)D3DKMTPresent(&args);
}

static void ask(struct probe *p)
{
    D3DKMT_GETDISPLAYMODELIST list = {.hAdapter = adapter};
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {.hAdapter = adapter, .hDevice = gpu.device};
    D3DKMT_GETSCANLINE line = {.hAdapter = adapter};
    D3DKMT_POLLDISPLAYCHILDREN poll = {.hAdapter = adapter, .SynchronousPolling = 1};

    (void)p;
    switch (rig_below(4)) {
    case 0:
        (void)D3DKMTGetDisplayModeList(&list);
        break;
    case 1:
        (void)D3DKMTWaitForVerticalBlankEvent(&wait);
        break;
    case 2:
        (void)D3DKMTGetScanLine(&line);
        break;
    default:
        (void)D3DKMTPollDisplayChildren(&poll);
    }
}

/* ---- the user and the system ---- */

static void change_mode(struct probe *p)
{
    static const UINT width[] = {1024, 800, 640, 1280}, height[] = {768, 600, 480, 720};
    const unsigned i = rig_below(4);

    (void)display_ask_mode(p, rig_below(2), width[i], height[i], rig_below(4));
}

static void turn_display(struct probe *p)
{
    (void)display_power(display_modes(p), DISPLAY_CHILD + rig_below(3), rig_below(2));
}

static void plug(struct probe *p)
{
    display_indicate(p, rig_below(3), rig_below(2));
}

static void sleep_and_wake(struct probe *p)
{
    (void)port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
    probe_sleep(1000000);
    (void)port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionSleep);
}

static void reset(struct probe *p)
{
    if (rig_below(4))
        return;
    if (display_screens(p))
        (void)screens_lose(display_screens(p));
    else
        (void)vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true);
}

static void tell(struct probe *p)
{
    (void)p;
    display_tell();
}

static void pass(struct probe *p)
{
    (void)p;
    probe_sleep(1000ull << rig_below(18)); /* to 0.13 s */
}

static void open_all(void)
{
    D3DKMT_ENUMADAPTERS adapters;

    memset(&gpu, 0, sizeof(gpu));
    memset(primary, 0, sizeof(primary));
    memset(&adapters, 0, sizeof(adapters));
    adapter = NT_SUCCESS(D3DKMTEnumAdapters(&adapters)) && adapters.NumAdapters
                  ? adapters.Adapters[0].hAdapter
                  : 0;
    if (!display_screens(rig.p) && !NT_SUCCESS(probe_gpu_begin(&gpu)))
        memset(&gpu, 0, sizeof(gpu));
}

static void close_all(void)
{
    const D3DKMT_DESTROYDEVICE destroy = {.hDevice = gpu.device};

    if (gpu.device)
        (void)D3DKMTDestroyDevice(&destroy);
}

/* ---- the system's part, on a thread of its own ---- */

static struct {
    struct sim_waitq asked, answered;
    void (*what)(struct probe *p); /* NULL: nothing is to be done */
    bool ends, runs;
} system_thread;

static void system_main(void *arg)
{
    while (!system_thread.ends) {
        if (system_thread.what)
            system_thread.what(arg);
        system_thread.what = NULL;
        sim_waitq_wake(&system_thread.answered, 1);
        if (!system_thread.ends)
            (void)sim_waitq_wait(&system_thread.asked, SIM_FOREVER);
    }
    system_thread.runs = false;
    sim_waitq_wake(&system_thread.answered, 1);
}

static bool begin_system(struct probe *p)
{
    struct sim_thread *thread;

    memset(&system_thread, 0, sizeof(system_thread));
    sim_waitq_init(&system_thread.asked);
    sim_waitq_init(&system_thread.answered);
    thread = sim_thread_create("system", SIM_THREAD_KERNEL, system_main, p);
    system_thread.runs = thread != NULL;
    if (thread)
        sim_thread_release(thread);
    return thread != NULL;
}

static void by_system(void (*what)(struct probe *p))
{
    system_thread.what = what;
    sim_waitq_wake(&system_thread.asked, 1);
    while (system_thread.what && !rig_stopped())
        (void)sim_waitq_wait(&system_thread.answered, SIM_FOREVER);
}

static void end_system(void)
{
    system_thread.ends = true;
    sim_waitq_wake(&system_thread.asked, 1);
    while (system_thread.runs && !rig_stopped())
        (void)sim_waitq_wait(&system_thread.answered, SIM_FOREVER);
}

void display_client(struct probe *p)
{
    static void (*const clients[])(struct probe * p) = {flip, flip, flip, ask, pass};
    static void (*const systems[])(struct probe * p) = {
        draw,  draw, settle,      tell,         tell, tell,  tell,
        point, plug, change_mode, turn_display, look, reset, sleep_and_wake};

    if (!begin_system(p))
        return;
    open_all();
    while (!rig_ended()) {
        fuzz_operations++;
        if (rig_below(4) == 0)
            clients[rig_byte() % (sizeof(clients) / sizeof(clients[0]))](p);
        else
            by_system(systems[rig_byte() % (sizeof(systems) / sizeof(systems[0]))]);
    }
    close_all();
    end_system();
}
