/* SPDX-License-Identifier: MIT */
/*
 * A display driver, display-only or full, that answers whatever it likes: outputs, monitors, EDIDs;
 * calls of the VidPN and monitor interfaces in any order, with any handle and structure; statuses;
 * presents that end never, twice, late, or as failed; vertical syncs of any target with any address;
 * monitors that come and go; pointers; the frame buffer that it hands on. Above it, clients draw,
 * flip, change modes, plug, move the pointer, sleep, reset and stop, and do nothing wrong.
 *
 * Whatever it does, the run ends in bounded virtual and processor time: with a bug check, or with
 * all memory returned and every call answered.
 */
#include "hostile_display_fuzz.h"

#include "nt/base/current.h"
#include "sim/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- what is wrong ---- */

static bool started;

bool display_goes_wrong(void)
{
    return rig.at < rig.end && rig_byte() >= (started ? 200 : 248);
}

NTSTATUS display_any_status(void)
{
    static const NTSTATUS known[] = {STATUS_SUCCESS,
                                     STATUS_PENDING,
                                     STATUS_NO_MEMORY,
                                     STATUS_INVALID_PARAMETER,
                                     STATUS_UNSUCCESSFUL,
                                     STATUS_NOT_SUPPORTED,
                                     STATUS_NOT_IMPLEMENTED,
                                     STATUS_DEVICE_BUSY,
                                     STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED,
                                     STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA,
                                     STATUS_MONITOR_NO_DESCRIPTOR,
                                     STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED,
                                     STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY,
                                     STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET,
                                     STATUS_GRAPHICS_STALE_MODESET,
                                     STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY};
    const unsigned which = rig_byte();

    return which < 240 ? known[which % (sizeof(known) / sizeof(known[0]))] : (NTSTATUS)rig_number(4);
}

uint64_t display_changed(uint64_t value, unsigned bytes)
{
    switch (rig_below(5)) {
    case 0:
        return value + 1 + rig_below(8);
    case 1:
        return value - 1 - rig_below(8);
    case 2:
        return rig_byte();
    case 3:
        return 0;
    default:
        return rig_number(bytes);
    }
}

void display_spoil(void *structure, size_t bytes)
{
    const unsigned width = rig_below(4) ? 4 : 8;
    const size_t at = (size_t)rig_byte() * 4 % bytes / width * width;
    uint64_t value = 0;

    if (at + width > bytes)
        return;
    memcpy(&value, (uint8_t *)structure + at, width);
    value = display_changed(value, width);
    memcpy((uint8_t *)structure + at, &value, width);
    rig_trace("    word at %zu becomes 0x%llx", at, (unsigned long long)value);
}

UINT display_any_target(void)
{
    const unsigned which = rig_byte();

    return which < 240 ? DISPLAY_CHILD + which % 4 : (UINT)display_changed(DISPLAY_CHILD, 4);
}

/* ---- a run ---- */

static struct probe *create(void)
{
    static const UINT versions[] = {0, 0, DXGKDDI_INTERFACE_VERSION_WIN8,
                                    DXGKDDI_INTERFACE_VERSION_WDDM1_3,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_0};
    const unsigned a = rig_byte(), b = rig_byte();
    const bool is_full = a & 1;
    struct probe_options options = {.seed = 1 + rig_byte(), .watchdog_ms = 20000};
    struct probe *p;

    options.ram_bytes = 64u << 20;
    options.strict = a & 2;
    options.port.tell_unpinned = a & 4;
    options.port.present_pitch = a & 8 ? 64 : 0;
    options.port.present_unpaced = a & 16;
    if (!is_full)
        options.version = versions[b % (sizeof(versions) / sizeof(versions[0]))];
    p = is_full ? full_display_create(&options) : display_create(&options);
    display.outputs = 1 + (b >> 4) % 3;
    display.sources = display.outputs > 1 && b & 0x40 ? 2 : 1;
    p->caps.SupportSmoothRotation = a & 32 ? TRUE : FALSE;
    p->caps.PointerCaps.Value = a & 64 ? 7 : 0;
    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = a & 64 ? 64 : 0;
    p->caps.FlipCaps.FlipOnVSyncMmIo = is_full && a & 128 ? TRUE : FALSE;
    display_driver(p, is_full);
    return p;
}

static bool is_done(void *arg)
{
    return ((struct probe_client *)arg)->done;
}

static void run_client(struct probe *p)
{
    struct probe_client *client = probe_client_start(p, display_client);
    const enum sim_outcome outcome = sim_run(is_done, client, sim_now() + 3600 * PROBE_SECOND);

    MUST(outcome == SIM_DONE || outcome == SIM_STOPPED);
    probe_client_end(p, client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    NTSTATUS status;

    memset(&rig, 0, sizeof(rig));
    rig.at = data;
    rig.end = data + size;
    started = false;
    display_calls_begin();
    rig.p = create();
    probe_clients_begin(rig.p);
    status = probe_start(rig.p);
    rig_trace("  started: 0x%x, with %u bytes to go", (unsigned)status,
              (unsigned)(rig.end - rig.at));
    started = true;
    if (NT_SUCCESS(status) && !rig_stopped())
        run_client(rig.p);
    if (getenv("FUZZ_TRACE"))
        rig_tell();
    rig_trace("  %s, with %u bytes to go", rig_stopped() ? "bug check" : "stops",
              (unsigned)(rig.end - rig.at));
    rig.at = rig.end;
    probe_clients_end(rig.p);
    if (!rig_stopped())
        (void)probe_stop(rig.p);
    probe_destroy(rig.p);
    rig.p = NULL;
    return 0;
}
