/* SPDX-License-Identifier: MIT */
/* The display that firmware has lit: where it is, who gets it, and when. */
#include "port/record/machine.h"
#include "port/running/post.h"
#include "port/support/display.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define DXGK               (p->state[0].dxgk)
#define COLOUR             0x00204060u

static const char *const small_vram[] = {"vram=1048576", NULL};

/* What the driver was told in StartDevice, or when it asked for it elsewhere. */
static struct {
    unsigned calls;
    NTSTATUS status[8];
    DXGK_DISPLAY_INFORMATION info[8];
    DXGK_DISPLAY_OWNERSHIP_FLAGS flags[8];
    uint32_t pixel; /* the first, in StartDevice */
} asked;

static void ask(struct probe *p, uint64_t context, bool with_flags)
{
    const DXGKRNL_INTERFACE *dxgk = &probe_adapter_of(p, context)->dxgk;
    const unsigned n = asked.calls++ % 8;

    memset(&asked.info[n], 0x5A, sizeof(asked.info[n]));
    asked.info[n].TargetId = 7;
    asked.flags[n].Value = 0xFFFFFFFF;
    asked.status[n] = with_flags ? dxgk->DxgkCbAcquirePostDisplayOwnership2(
                                       dxgk->DeviceHandle, &asked.info[n], &asked.flags[n])
                                 : dxgk->DxgkCbAcquirePostDisplayOwnership(dxgk->DeviceHandle,
                                                                           &asked.info[n]);
}

static void ask_twice(struct probe *p, struct probe_call *call)
{
    ask(p, call->arg[0], false);
    ask(p, call->arg[0], true);
}

static struct probe *asking(const struct probe_options *options)
{
    struct probe *p = display_create(options);

    memset(&asked, 0, sizeof(asked));
    p->after[PROBE_StartDevice] = ask_twice;
    return p;
}

static bool is_info(const DXGK_DISPLAY_INFORMATION *info, UINT width, UINT height, UINT pitch,
                    D3DDDIFORMAT format, UINT target)
{
    return info->Width == width && info->Height == height && info->Pitch == pitch &&
           info->ColorFormat == format && info->TargetId == target && info->AcpiId == 0;
}

static bool same_info(const DXGK_DISPLAY_INFORMATION *a, const DXGK_DISPLAY_INFORMATION *b)
{
    return is_info(a, b->Width, b->Height, b->Pitch, b->ColorFormat, b->TargetId) &&
           a->PhysicAddress.QuadPart == b->PhysicAddress.QuadPart;
}

/* Nothing is lit here, or nobody knows what. */
static bool is_dark(unsigned n)
{
    return IS(asked.status[n], STATUS_SUCCESS) &&
           is_info(&asked.info[n], 0, 0, 0, D3DDDIFMT_UNKNOWN, D3DDDI_ID_UNINITIALIZED) &&
           asked.info[n].PhysicAddress.QuadPart == 0;
}

/* ---- what firmware has lit ---- */

static uint32_t first_pixel(const struct probe *p)
{
    uint32_t pixel;

    memcpy(&pixel, port_post_pixels(p->adapter[0]), sizeof(pixel));
    return pixel;
}

static void look_early(struct probe *p, struct probe_call *call)
{
    const struct port_adapter *adapter;

    (void)call;
    adapter = CONTAINER(p->port->adapter_list.next, struct port_adapter, link);
    asked.pixel = 0;
    for (UINT i = 0; i < 1024 * 768; i++) {
        uint32_t pixel;

        memcpy(&pixel, port_post_pixels(adapter) + (size_t)i * 4, sizeof(pixel));
        if (pixel != COLOUR)
            asked.pixel = 1;
    }
}

TEST(a_display_only_driver_gets_a_firmware_display)
{
    struct probe *p = asking(NULL);

    p->before[PROBE_AddDevice] = look_early;
    asked.pixel = 1;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-005", asked.pixel == 0);
    CHECK_RULE("PRES-003", is_info(&asked.info[0], 1024, 768, 4096, D3DDDIFMT_X8R8G8B8,
                                   D3DDDI_ID_UNINITIALIZED));
    CHECK_RULE("PRES-006", asked.calls == 2 && IS(asked.status[0], STATUS_SUCCESS) &&
                               IS(asked.status[1], STATUS_SUCCESS) &&
                               probe_rule(p, "PRES-007") == 0);
    CHECK_RULE("PRES-009/a", asked.info[0].ColorFormat == D3DDDIFMT_X8R8G8B8);
    CHECK_RULE("PRES-010/a",
               asked.info[0].TargetId == D3DDDI_ID_UNINITIALIZED && asked.info[0].AcpiId == 0);
    CHECK_RULE("PRES-011", asked.info[0].TargetId == D3DDDI_ID_UNINITIALIZED);
    CHECK_RULE("PRES-014", same_info(&asked.info[0], &asked.info[1]) && asked.info[0].Width > 0);
    CHECK_RULE("PRES-017",
               same_info(&asked.info[0], &asked.info[1]) && (asked.flags[1].Value & ~0xFu) == 0);
    CHECK_RULE("PRES-018/a", asked.flags[1].Value == FrameBufferStateInitializedByFirmware);
    CHECK_RULE("PRES-004", asked.info[0].PhysicAddress.QuadPart == probe_bar(p, 1).QuadPart &&
                               asked.info[0].PhysicAddress.QuadPart % 4096 == 0);
    display_end(p);
}

TEST(other_drivers_get_none)
{
    struct probe *p = probe_create(NULL);

    memset(&asked, 0, sizeof(asked));
    p->after[PROBE_StartDevice] = ask_twice;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-003", is_dark(0) && is_dark(1));
    CHECK_RULE("PRES-012", is_dark(0) && asked.flags[1].Value == FrameBufferStateUnknown);
    probe_destroy(p);
}

static void map_it(struct probe *p)
{
    PHYSICAL_ADDRESS at = asked.info[0].PhysicAddress;
    uint8_t *mapped;
    PVOID range = NULL;

    mapped = MmMapIoSpace(at, 4096, MmWriteCombined);
    CHECK(mapped);
    *(volatile uint32_t *)mapped = 0x00ABCDEF;
    CHECK_RULE("PRES-004", first_pixel(p) == 0x00ABCDEF);
    MmUnmapIoSpace(mapped, 4096);
    mapped = MmMapIoSpaceEx(at, (SIZE_T)4096 * 768, PAGE_READWRITE | PAGE_WRITECOMBINE);
    CHECK(mapped);
    *(volatile uint32_t *)mapped = 0x00123456;
    CHECK_RULE("PRES-004", first_pixel(p) == 0x00123456);
    MmUnmapIoSpace(mapped, (SIZE_T)4096 * 768);
    at.QuadPart += (LONGLONG)4096 * 767;
    CHECK(
        IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, at, 4096, FALSE, FALSE, MmWriteCombined, &range),
           STATUS_SUCCESS));
    *(volatile uint32_t *)range = 0x00654321;
    CHECK_RULE("PRES-004", *(const uint32_t *)(const void *)(port_post_pixels(p->adapter[0]) +
                                                             4096 * 767) == 0x00654321);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, range), STATUS_SUCCESS));
}

TEST(the_frame_buffer_can_be_mapped)
{
    const struct probe_options in_ram = {.device = small_vram};
    struct probe *p;

    for (unsigned ram = 0; ram < 2; ram++) {
        p = asking(ram ? &in_ram : NULL);
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("PRES-004", asked.info[0].PhysicAddress.QuadPart % 4096 == 0 &&
                                   (asked.info[0].PhysicAddress.QuadPart ==
                                    probe_bar(p, 1).QuadPart) == (ram == 0));
        CHECK(probe_run(p, map_it) == SIM_DONE);
        CHECK(probe_reports(p, VERIFY_WARNING) == /* it draws nothing there */
              probe_rule(p, "PRES-023") + probe_rule(p, "PRES-335"));
        display_end(p);
    }
}

static bool frame_buffer(const char *vram)
{
    const char *const options[] = {vram, NULL};
    struct probe *p = asking(&(struct probe_options){.device = options});
    const struct port_firmware_display display_of = {
        .width = 1024, .height = 1024, .pitch = 4096, .format = D3DDDIFMT_X8R8G8B8};
    bool in_bar;

    CHECK(IS(port_post_configure(p->port, p->device[0], &display_of), STATUS_SUCCESS));
    CHECK(IS(probe_start(p), STATUS_SUCCESS) && asked.info[0].Height == 1024);
    in_bar = asked.info[0].PhysicAddress.QuadPart == probe_bar(p, 1).QuadPart;
    display_end(p);
    return in_bar;
}

TEST(the_bar_is_used_that_is_just_large_enough)
{
    CHECK_RULE("PRES-004", frame_buffer("vram=4194304") && !frame_buffer("vram=2097152"));
}

TEST(a_vga_controller_is_a_post_device_whatever_its_driver)
{
    static const char *const vga[] = {"class=0x030000", NULL};
    struct probe *p = probe_create(&(struct probe_options){.device = vga});

    memset(&asked, 0, sizeof(asked));
    p->after[PROBE_StartDevice] = ask_twice;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-003", is_info(&asked.info[0], 1024, 768, 4096, D3DDDIFMT_X8R8G8B8,
                                   D3DDDI_ID_UNINITIALIZED));
    probe_destroy(p);
}

/* ---- as configured ---- */

static NTSTATUS configure(struct probe *p, unsigned device, UINT width, UINT height, UINT pitch,
                          D3DDDIFORMAT format)
{
    const struct port_firmware_display display_of = {
        .width = width, .height = height, .pitch = pitch, .format = format};

    return port_post_configure(p->port, p->device[device], &display_of);
}

TEST(the_firmware_display_is_as_configured)
{
    struct probe *p = asking(NULL);

    CHECK(IS(configure(p, 0, 800, 600, 3328, D3DDDIFMT_X8R8G8B8), STATUS_SUCCESS));
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-008", is_info(&asked.info[0], 800, 600, 3328, D3DDDIFMT_X8R8G8B8,
                                   D3DDDI_ID_UNINITIALIZED) &&
                               asked.info[0].PhysicAddress.QuadPart == probe_bar(p, 1).QuadPart);
    display_end(p);

    p = asking(NULL);
    CHECK(IS(configure(p, 0, 800, 600, 2400, D3DDDIFMT_R8G8B8), STATUS_SUCCESS));
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-009/b",
               is_info(&asked.info[0], 800, 600, 2400, D3DDDIFMT_R8G8B8, D3DDDI_ID_UNINITIALIZED));
    display_end(p);

    p = asking(NULL);
    CHECK_RULE(
        "PRES-009/a",
        IS(configure(p, 0, 800, 600, 1600, D3DDDIFMT_R5G6B5), STATUS_INVALID_PARAMETER) &&
            IS(configure(p, 0, 800, 600, 3199, D3DDDIFMT_X8R8G8B8), STATUS_INVALID_PARAMETER) &&
            IS(configure(p, 0, 800, 600, 3200, D3DDDIFMT_A8R8G8B8), STATUS_SUCCESS));
    probe_destroy(p);
}

TEST(one_adapter_is_the_post_device)
{
    const struct probe_options two = {.adapters = 2};
    struct probe *p = asking(&two);

    CHECK(IS(configure(p, 1, 800, 600, 3200, D3DDDIFMT_X8R8G8B8), STATUS_SUCCESS));
    CHECK_RULE("PRES-002",
               IS(configure(p, 0, 800, 600, 3200, D3DDDIFMT_X8R8G8B8), STATUS_INVALID_PARAMETER));
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-002", is_dark(0) && asked.info[2].Width == 800);
    display_end(p);

    p = asking(&two);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-002", asked.info[0].Width == 1024);
    CHECK_RULE("PRES-012", is_dark(2) && asked.calls == 4);
    CHECK_RULE("PRES-013/a", is_dark(2) && is_dark(3) && asked.flags[3].Value == 0);
    CHECK_RULE("PRES-002", IS(configure(p, 1, 800, 600, 3200, D3DDDIFMT_X8R8G8B8),
                              STATUS_INVALID_PARAMETER)); /* too late */
    display_end(p);
}

TEST(without_displays_there_is_none)
{
    const struct probe_options dark = {.port.no_displays = true};
    struct probe *p = probe_create(&dark);

    memset(&asked, 0, sizeof(asked));
    p->after[PROBE_StartDevice] = ask_twice;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-013/b", IS(asked.status[0], STATUS_UNSUCCESSFUL) && asked.info[0].Width == 0);
    CHECK_RULE("LIFE-073/a", IS(asked.status[0], STATUS_UNSUCCESSFUL) && asked.info[0].Width == 0 &&
                                 asked.info[0].TargetId == 0);
    CHECK_RULE("LIFE-073/b", IS(asked.status[1], STATUS_UNSUCCESSFUL) && asked.info[1].Width == 0 &&
                                 asked.flags[1].Value == 0);
    probe_destroy(p);
}

/* ---- the moment ---- */

static void ask_in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                          const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)args;
    (void)vidpn;
    ask(p, (uint64_t)(uintptr_t)p->state[0].context, true);
}

static void ask_from_a_thread(struct probe *p)
{
    ask(p, (uint64_t)(uintptr_t)p->state[0].context, false);
}

static struct nt_process *system_process;

static void start_slowly(struct probe *p, struct probe_call *call)
{
    (void)call;
    sim_thread_release(probe_thread(p, system_process, "other", ask_from_a_thread));
    probe_sleep(1000000);
}

static bool untouched(unsigned n)
{
    return IS(asked.status[n], STATUS_UNSUCCESSFUL) && asked.info[n].Width == 0x5A5A5A5A &&
           asked.info[n].TargetId == 7 && asked.flags[n].Value == 0xFFFFFFFF;
}

TEST(it_is_asked_for_at_the_start)
{
    struct probe *p = asking(NULL);

    display.in_commit = ask_in_commit;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-007", asked.calls == 3 && untouched(2) && probe_rule(p, "PRES-007") == 1);
    display_end(p);

    p = asking(NULL);
    system_process = probe_process(p, "other");
    p->after[PROBE_StartDevice] = start_slowly;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-007", asked.calls == 1 && untouched(0) && probe_rule(p, "PRES-007") == 1);
    display_end(p);
}

/* ---- power ---- */

static void ask_at_power(struct probe *p, struct probe_call *call)
{
    if ((UINT)call->arg[1] == DISPLAY_ADAPTER_HW_ID)
        ask(p, call->arg[0], true);
}

static void sleep_and_hibernate(struct probe *p)
{
    uint8_t *at = (uint8_t *)(uintptr_t)port_post_pixels(p->adapter[0]);

    memset(at, 0, 4);
    p->before[PROBE_SetPowerState] = ask_at_power;
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK_RULE("PRES-007", asked.calls == 3 && untouched(2));
    memset(at, 0x11, 4);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK_RULE("PRES-006", asked.calls == 4 && IS(asked.status[3], STATUS_SUCCESS));
    CHECK_RULE("PRES-021/b",
               same_info(&asked.info[3], &asked.info[0]) && first_pixel(p) == 0x11111111);
    CHECK_RULE("PRES-019/a", asked.flags[3].Value == FrameBufferStateUnknown);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionHibernate)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK_RULE("PRES-020", asked.calls == 6 && IS(asked.status[5], STATUS_SUCCESS) &&
                               asked.info[5].Width == 1024 && probe_rule(p, "PRES-007") == 2);
    CHECK_RULE("PRES-021/a", same_info(&asked.info[5], &asked.info[0]) && first_pixel(p) == COLOUR);
}

TEST(it_can_be_asked_for_again_after_a_sleep)
{
    struct probe *p = asking(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, sleep_and_hibernate) == SIM_DONE);
    display_end(p);
}

/* ---- a start that fails ---- */

static void fail_stale(struct probe *p, struct probe_call *call)
{
    if (p->user && probe_adapter_of(p, call->arg[0]) == &p->state[0])
        return;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_STALE_MODESET;
}

TEST(a_stale_mode_is_fatal_on_the_post_device)
{
    const struct probe_options two = {.adapters = 2};
    struct probe *p = display_create(NULL);
    const struct verify_bugcheck *bugcheck;

    p->after[PROBE_StartDevice] = fail_stale;
    (void)probe_start(p);
    bugcheck = verify_bugcheck_state(p->log);
    CHECK_RULE("PRES-024", bugcheck && bugcheck->happened && p->sim->stopped);
    CHECK_RULE("PRES-025/a", bugcheck && bugcheck->code == 0xB4 &&
                                 IS(bugcheck->parameter[0], STATUS_GRAPHICS_STALE_MODESET));
    probe_destroy(p);

    p = display_create(&two); /* the first is the POST device, and starts */
    p->user = p;
    p->after[PROBE_StartDevice] = fail_stale;
    CHECK_RULE("PRES-025/b", IS(probe_start(p), STATUS_GRAPHICS_STALE_MODESET) &&
                                 !p->sim->stopped && p->adapters == 1);
    display_end(p);
}

/* ---- whose it is ---- */

static void write_pixel(struct probe *p, struct probe_call *call)
{
    struct port_adapter *adapter = CONTAINER(p->port->adapter_list.next, struct port_adapter, link);

    (void)call;
    memset((uint8_t *)(uintptr_t)port_post_pixels(adapter), 0x33, 4);
}

static void live(struct probe *p)
{
    display_indicate(p, 0, false);
    display_indicate(p, 0, true);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK_RULE("PRES-016", first_pixel(p) == 0x33333333);
    CHECK_RULE("PRES-014", first_pixel(p) == 0x33333333);
}

TEST(the_host_does_not_draw_into_it)
{
    for (unsigned acquired = 0; acquired < 2; acquired++) {
        struct probe *p = asking(NULL);

        if (!acquired)
            p->after[PROBE_StartDevice] = NULL;
        p->before[PROBE_StartDevice] = write_pixel;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        probe_end(p, live);
    }
}

/* Only a driver that has taken it over shows its pictures there. */
TEST(it_is_scanned_out_for_whoever_has_acquired_it)
{
    for (unsigned acquired = 0; acquired < 2; acquired++) {
        struct probe *p = asking(NULL);
        struct port_scanout scanout;

        if (!acquired)
            p->after[PROBE_StartDevice] = NULL;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        scanout = port_display_scanout(p->adapter[0], 0);
        CHECK_RULE("PRES-312", (scanout.pixels != NULL) == acquired);
        CHECK_RULE("PRES-312", port_display_scanout(p->adapter[0], 1).pixels == NULL);
        display_end(p);
    }
}

/* ---- before the first picture ---- */

static void black_out(struct probe *p, struct probe_call *call)
{
    const struct port_adapter *adapter = CONTAINER(p->port->adapter_list.next, struct port_adapter,
                                                   link);

    (void)call;
    memset((uint8_t *)(uintptr_t)port_post_pixels(adapter), 0, adapter->post.bytes);
}

TEST(the_screen_is_black_before_the_first_picture)
{
    struct probe *p;

    for (unsigned black = 0; black < 2; black++) {
        p = display_create(NULL);
        display.connected[0] = false; /* no picture comes */
        if (black)
            p->before[PROBE_StartDevice] = black_out;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        (void)port_display_scanout(p->adapter[0], 0);
        (void)port_display_scanout(p->adapter[0], 0);
        CHECK_RULE("PRES-022", (probe_rule(p, "PRES-023") == 0) == black);
        CHECK_RULE("PRES-023", black || (probe_rule(p, "PRES-023") == 1 &&
                                         probe_said(p, "PRES-023", "0x204060") &&
                                         probe_record(p, "PRES-023")->severity == VERIFY_WARNING));
        display_end(p);
    }
    p = display_create(NULL); /* one has come */
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)port_display_scanout(p->adapter[0], 0);
    CHECK_RULE("PRES-023", probe_rule(p, "PRES-023") == 0);
    display_end(p);
}
