/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/running/post.h"
#include "bus/device.h"
#include "bus/memory.h"
#include "ddi/entries_display.h"
#include "port/record/adapter_record.h"
#include "ram/ram.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define DISPLAY_CLASS 0x030000u
#define COLOUR        0x00204060u /* PRES-005 */
#define WIDTH         1024u
#define HEIGHT        768u
#define PITCH         4096u
#define PAGE          4096u

/* What the last driver of a device left lit. */
struct port_left {
    const struct bus_device *device;
    struct port_post post;
};

static UINT bytes_per_pixel(D3DDDIFORMAT format)
{
    return format == D3DDDIFMT_R8G8B8 ? 3 : 4;
}

static bool is_there_already(const struct port *port)
{
    if (port->left)
        return true;
    LIST_FOR(node, &port->adapter_list)
        if (CONTAINER(node, struct port_adapter, link)->post.bytes)
            return true;
    return false;
}

NTSTATUS port_post_configure(struct port *port, const struct bus_device *device,
                             const struct port_firmware_display *display)
{
    if (port->firmware.width || is_there_already(port))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-002", "the machine has a POST device already");
    if (!display->width || !display->height ||
        (display->format != D3DDDIFMT_X8R8G8B8 && display->format != D3DDDIFMT_A8R8G8B8 &&
         display->format != D3DDDIFMT_R8G8B8) ||
        display->pitch / bytes_per_pixel(display->format) < display->width)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-009", "%u x %u in format %d with pitch %u",
                      display->width, display->height, (int)display->format, display->pitch);
    port->firmware = *display;
    port->firmware.device = device;
    return STATUS_SUCCESS;
}

/* PRES-002, PRES-003: one adapter of a machine is the POST device. */
static bool is_post_device(const struct port_adapter *adapter)
{
    const struct port *port = adapter->port;

    if (port->config.no_displays) /* LIFE-073 */
        return false;
    if (port->left)
        return port->left->device == adapter->device;
    if (port->firmware.device)
        return port->firmware.device == adapter->device;
    return (adapter->ddi.present_display_only ||
            bus_device_description(adapter->device)->class_code == DISPLAY_CLASS) &&
           !is_there_already(port);
}

/* PRES-004: the first prefetchable BAR that is large enough. */
static bool find_bar(struct port_adapter *adapter, uint64_t bytes)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);

    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        if (d->bar[i].kind != DXGK_BAR_MEMORY || d->bar[i].bytes < bytes)
            continue;
        adapter->post.boot.PhysicAddress.QuadPart =
            (LONGLONG)bus_device_bar(adapter->device, i).value;
        return true;
    }
    return false;
}

static bool find_ram(struct port_adapter *adapter, uint64_t bytes)
{
    const struct ram_request request = {.pages = (bytes + PAGE - 1) / PAGE,
                                        .owner = RAM_HOST,
                                        .cache = RAM_WRITE_COMBINED,
                                        .zero = true};

    if (!ram_take_contiguous(adapter->port->config.ram, &request, &adapter->post.frame))
        return false;
    adapter->post.frames = request.pages;
    adapter->post.boot.PhysicAddress.QuadPart = (LONGLONG)adapter->post.frame.value * (LONGLONG)PAGE;
    return true;
}

static bool is_in_ram(const struct port_post *post, uint64_t start, uint64_t bytes)
{
    const uint64_t base = post->frame.value * PAGE;

    return post->frames && start >= base && range_inside(start - base, bytes, post->frames * PAGE);
}

/* Does the range lie in the frame buffer in RAM, or in a BAR of the device? *at: its bytes; NULL:
 * registers. */
static bool find_in(const struct bus_device *device, struct ram *ram, const struct port_post *post,
                    uint64_t address, uint64_t bytes, uint8_t **at)
{
    const struct dxgk_device_description *d = bus_device_description(device);

    *at = NULL;
    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        const uint64_t base = bus_device_bar(device, i).value;

        if (d->bar[i].kind == DXGK_BAR_NONE || d->bar[i].kind == DXGK_BAR_PORTS || address < base ||
            !range_inside(address - base, bytes, d->bar[i].bytes))
            continue;
        if (d->bar[i].kind == DXGK_BAR_MEMORY)
            *at = (uint8_t *)bus_device_memory(device, i) + (address - base);
        return true;
    }
    if (!is_in_ram(post, address, bytes))
        return false;
    *at = ram_direct(ram, (struct phys_addr){address});
    return true;
}

static bool find_bytes(const struct port_adapter *adapter, uint64_t address, uint64_t bytes,
                       uint8_t **at)
{
    return find_in(adapter->device, adapter->port->config.ram, &adapter->post, address, bytes, at);
}

static uint8_t *pixels(const struct port_adapter *adapter)
{
    uint8_t *at = NULL;

    if (adapter->post.bytes)
        (void)find_bytes(adapter, (uint64_t)adapter->post.info.PhysicAddress.QuadPart,
                         adapter->post.bytes, &at);
    return at;
}

const uint8_t *port_post_pixels(const struct port_adapter *adapter)
{
    return pixels(adapter);
}

bool port_post_is_in_ram(const struct port_adapter *adapter, uint64_t start, uint64_t bytes)
{
    return is_in_ram(&adapter->post, start, bytes);
}

/* PRES-026 */
const uint8_t *port_post_left(const struct port *port, DXGK_DISPLAY_INFORMATION *info)
{
    uint8_t *at = NULL;

    if (!port->left || !port->left->post.known)
        return NULL;
    *info = port->left->post.info;
    (void)find_in(port->left->device, port->config.ram, &port->left->post,
                  (uint64_t)info->PhysicAddress.QuadPart, (uint64_t)info->Pitch * info->Height, &at);
    return at;
}

static void describe(struct port_adapter *adapter, const DXGK_DISPLAY_INFORMATION *info)
{
    adapter->post.info = *info;
    adapter->post.bytes = (uint64_t)info->Pitch * info->Height;
    adapter->post.known = true;
}

/* PRES-005: the picture of the firmware. */
static void boot(struct port_adapter *adapter)
{
    const DXGK_DISPLAY_INFORMATION *info = &adapter->post.boot;
    const uint32_t colour = COLOUR;
    const UINT pixel = bytes_per_pixel(info->ColorFormat);
    uint8_t *at;

    describe(adapter, info);
    at = pixels(adapter);
    for (UINT x = 0; at && x < info->Width; x++)
        memcpy(at + (uint64_t)x * pixel, &colour, pixel);
    for (UINT y = 1; at && y < info->Height; y++)
        memcpy(at + (uint64_t)y * info->Pitch, at, (uint64_t)info->Width * pixel);
}

NTSTATUS port_post_prepare(struct port_adapter *adapter)
{
    const struct port_firmware_display *firmware = &adapter->port->firmware;
    struct port_post *post = &adapter->post;
    const UINT height = firmware->width ? firmware->height : HEIGHT;
    const UINT pitch = firmware->width ? firmware->pitch : PITCH;
    const uint64_t bytes = (uint64_t)pitch * height;

    memset(post, 0, sizeof(*post));
    post->info.TargetId = D3DDDI_ID_UNINITIALIZED; /* PRES-010, PRES-013 */
    if (!is_post_device(adapter))
        return STATUS_SUCCESS;
    if (adapter->port->left) { /* PRES-010: as the driver before this one left it */
        *post = adapter->port->left->post;
        util_free(adapter->port->left);
        adapter->port->left = NULL;
        return STATUS_SUCCESS;
    }
    post->boot.Width = firmware->width ? firmware->width : WIDTH;
    post->boot.Height = height;
    post->boot.Pitch = pitch;
    post->boot.ColorFormat = firmware->width ? firmware->format : D3DDDIFMT_X8R8G8B8;
    post->boot.TargetId = D3DDDI_ID_UNINITIALIZED;
    if (!find_bar(adapter, bytes) && !find_ram(adapter, bytes))
        return STATUS_NO_MEMORY;
    post->state = FrameBufferStateInitializedByFirmware;
    boot(adapter);
    return STATUS_SUCCESS;
}

static void give_back(struct port *port, const struct port_post *post)
{
    if (post->frames)
        ram_give_contiguous(port->config.ram, post->frame, post->frames);
}

/* The next driver of the device finds what is lit. */
static bool leave(struct port_adapter *adapter)
{
    struct port_left *left = adapter->post.bytes && !adapter->power.unplugged
                                 ? util_zalloc(1, sizeof(*left))
                                 : NULL;

    if (!left)
        return false;
    left->device = adapter->device;
    left->post = adapter->post;
    adapter->port->left = left;
    return true;
}

void port_post_forget(struct port_adapter *adapter)
{
    if (!leave(adapter))
        give_back(adapter->port, &adapter->post);
    memset(&adapter->post, 0, sizeof(adapter->post));
}

void port_post_finish(struct port *port)
{
    if (port->left)
        give_back(port, &port->left->post);
    util_free(port->left);
    port->left = NULL;
}

void port_post_woke(struct port_adapter *adapter, bool hibernated)
{
    if (!adapter->post.bytes)
        return;
    adapter->post.state = FrameBufferStateUnknown; /* PRES-019 */
    if (hibernated)
        boot(adapter); /* PRES-021 */
}

void port_post_restarting(struct port_adapter *adapter)
{
    adapter->post.acquired = false;
    adapter->post.state = FrameBufferStateUnknown; /* PRES-019 */
}

void port_post_start_failed(const struct port_adapter *adapter, NTSTATUS status)
{
    if (status == STATUS_GRAPHICS_STALE_MODESET && adapter->post.bytes)
        verify_fatal("PRES-025", VIDEO_DRIVER_INIT_FAILURE, (uint32_t)status, 0, 0, 0,
                     "DxgkDdiStartDevice returned STATUS_GRAPHICS_STALE_MODESET on the POST device");
}

/* PRES-006, PRES-007 */
static bool is_moment(const struct port_adapter *adapter)
{
    const struct ddi_frame *ddi = ddi_current_ddi();

    return ddi && ddi->adapter == &adapter->ddi &&
           (ddi->entry == DDI_DxgkDdiStartDevice ||
            (ddi->entry == DDI_DxgkDdiSetPowerState && adapter->power.entering_d0));
}

NTSTATUS port_post_acquire(struct port_adapter *adapter, DXGK_DISPLAY_INFORMATION *info,
                           DXGK_DISPLAY_OWNERSHIP_FLAGS *flags)
{
    memset(info, 0, sizeof(*info));
    memset(flags, 0, sizeof(*flags));
    if (adapter->port->config.no_displays)
        return refuse(STATUS_UNSUCCESSFUL, "LIFE-073", "displays are off");
    if (!is_moment(adapter)) {
        VIOLATION("PRES-007", "the POST display was asked for outside DxgkDdiStartDevice and "
                              "DxgkDdiSetPowerState to D0");
        return refuse(STATUS_UNSUCCESSFUL, "PRES-007", "no DDI in which it may be asked for");
    }
    info->TargetId = D3DDDI_ID_UNINITIALIZED;
    flags->FrameBufferState = FrameBufferStateUnknown;
    if (!adapter->post.known) /* PRES-012, PRES-013 */
        return STATUS_SUCCESS;
    *info = adapter->post.info;
    flags->FrameBufferState = adapter->post.state & 0xF;
    adapter->post.acquired = true;
    return STATUS_SUCCESS;
}

/* ---- release ---- */

bool port_post_is_released(const struct port_adapter *adapter)
{
    return adapter->post.bytes && adapter->caps.driver.SupportNonVGA && !adapter->refused &&
           ddi_has(&adapter->ddi, DxgkDdiStopDeviceAndReleasePostDisplayOwnership) &&
           adapter->power.state == PowerDeviceD0 && !adapter->power.unplugged &&
           port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WIN8;
}

static bool is_child(const struct port_adapter *adapter, UINT uid)
{
    for (ULONG i = 0; i < adapter->children.count; i++)
        if (adapter->children.child[i].ChildUid == uid)
            return true;
    return false;
}

static bool is_format(D3DDDIFORMAT format)
{
    return format == D3DDDIFMT_X8R8G8B8 || format == D3DDDIFMT_A8R8G8B8;
}

/* PRES-036: is there another display to look at, and none here? */
static bool may_be_dark(const struct port_adapter *adapter)
{
    if (adapter->post.monitor)
        return false;
    LIST_FOR(node, &adapter->port->adapter_list) {
        const struct port_adapter *other = CONTAINER(node, struct port_adapter, link);

        if (other != adapter && other->displays && port_runs(other))
            return true;
    }
    return false;
}

/* As it was acquired, which Windows takes (PRES-035)? */
static bool is_as_acquired(const struct port_adapter *adapter, const DXGK_DISPLAY_INFORMATION *info)
{
    const DXGK_DISPLAY_INFORMATION *had = &adapter->post.info;

    return adapter->post.known && info->Width == had->Width && info->Height == had->Height &&
           info->Pitch == had->Pitch && info->ColorFormat == had->ColorFormat &&
           info->PhysicAddress.QuadPart == had->PhysicAddress.QuadPart;
}

/* PRES-034, PRES-035: can the next driver rely on it? */
static bool is_sound(const struct port_adapter *adapter, const DXGK_DISPLAY_INFORMATION *info)
{
    const uint64_t address = (uint64_t)info->PhysicAddress.QuadPart;
    uint8_t *at;

    if (info->TargetId != D3DDDI_ID_UNINITIALIZED && !is_child(adapter, info->TargetId)) {
        VIOLATION("PRES-035", "the released display is on target 0x%x, which is no child",
                  info->TargetId);
        return false;
    }
    if (is_as_acquired(adapter, info))
        return true;
    if (!info->Height)
        VIOLATION("PRES-035", "the released display has no lines");
    else if (info->Pitch / 4 < info->Width)
        VIOLATION("PRES-035", "the released display has %u pixels and a pitch of %u", info->Width,
                  info->Pitch);
    else if (!address || !find_bytes(adapter, address, (uint64_t)info->Pitch * info->Height, &at))
        VIOLATION(
            "PRES-035",
            "the released display is at 0x%llx, which is neither in a BAR of the adapter nor in the frame buffer that was acquired",
            (unsigned long long)address);
    else
        return true;
    return false;
}

/* PRES-034: what the next driver can show. */
static void check_mode(const struct port_adapter *adapter, const DXGK_DISPLAY_INFORMATION *info)
{
    const D3DKMDT_2DREGION mode = adapter->post.mode;

    if (is_as_acquired(adapter, info))
        return;
    if (!is_format(info->ColorFormat))
        VIOLATION("PRES-034", "the released display has the format %d", (int)info->ColorFormat);
    if ((info->Width != mode.cx || info->Height != mode.cy) &&
        (info->Width < 800 || info->Height < 600))
        VIOLATION("PRES-034", "the released display has %u x %u pixels, and had %u x %u",
                  info->Width, info->Height, mode.cx, mode.cy);
}

struct coloured {
    UINT x, y;
    uint32_t pixel;
};

static bool all_zero(const uint8_t *at, uint64_t bytes)
{
    return !bytes || (!at[0] && memcmp(at, at + 1, bytes - 1) == 0);
}

/* The first pixel that is not black. False: there is none. */
static bool find_colour(const struct port_adapter *adapter, struct coloured *found)
{
    const DXGK_DISPLAY_INFORMATION *info = &adapter->post.info;
    const uint8_t *at = pixels(adapter);
    const UINT bytes = bytes_per_pixel(info->ColorFormat);

    for (UINT y = 0; at && y < info->Height; y++) {
        const uint8_t *row = at + (uint64_t)y * info->Pitch;

        if (all_zero(row, (uint64_t)info->Width * bytes))
            continue;
        for (UINT x = 0; x < info->Width; x++) {
            uint32_t pixel = 0;

            memcpy(&pixel, row + (uint64_t)x * bytes, bytes);
            if (!(pixel & 0xFFFFFF))
                continue;
            *found = (struct coloured){x, y, pixel & 0xFFFFFF};
            return true;
        }
    }
    return false;
}

/* PRES-038 */
static void look_for_black(const struct port_adapter *adapter)
{
    struct coloured found;

    if (find_colour(adapter, &found))
        WARNING("PRES-038", "the pixel at %u, %u of the released display is 0x%06x, not black",
                found.x, found.y, found.pixel);
}

void port_post_look(struct port_adapter *adapter)
{
    struct coloured found;

    if (!adapter->post.known || adapter->post.told || !find_colour(adapter, &found))
        return;
    adapter->post.told = true;
    WARNING("PRES-023",
            "before a source is visible the pixel at %u, %u of the display is 0x%06x, not black",
            found.x, found.y, found.pixel);
}

void port_post_look_hidden(struct port_adapter *adapter)
{
    struct coloured found;

    if (adapter->post.told_hidden || !find_colour(adapter, &found))
        return;
    adapter->post.told_hidden = true;
    WARNING(
        "PRES-337",
        "after DxgkDdiSetVidPnSourceVisibility has made the source invisible, the pixel at %u, %u "
        "of the display is 0x%06x, not black",
        found.x, found.y, found.pixel);
}

static void take_over(struct port_adapter *adapter, const DXGK_DISPLAY_INFORMATION *info)
{
    check_mode(adapter, info);
    describe(adapter, info);
    adapter->post.state = FrameBufferStateInitializedByDriver;
    look_for_black(adapter);
}

bool port_post_release(struct port_adapter *adapter)
{
    const bool released = port_post_is_released(adapter);
    DXGK_DISPLAY_INFORMATION info;
    NTSTATUS status;

    adapter->post.acquired = false;
    if (released) {
        memset(&info, 0, sizeof(info));
        status = ddi_stop_device_and_release_post_display_ownership(&adapter->ddi,
                                                                    adapter->post.target, &info);
        if (NT_SUCCESS(status) && info.Width && is_sound(adapter, &info)) {
            take_over(adapter, &info);
            return true;
        }
        if (NT_SUCCESS(status) && !info.Width && !may_be_dark(adapter))
            VIOLATION("PRES-036", "the released display has a width of 0");
    }
    adapter->post.known = false; /* PRES-019, PRES-035, PRES-039 */
    adapter->post.state = FrameBufferStateUnknown;
    return released && NT_SUCCESS(status);
}
