/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/monitor.h"
#include "ddi/entries_display.h"
#include "modes/colorimetry.h"
#include "modes/edid.h"
#include "modes/link_info.h"
#include "modes/modes.h"
#include "modes/panel.h"
#include "modes/set_calls.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define MONITOR_READER "the driver, through the monitor interface,"

/* ---- the descriptor ---- */

enum answer { BLOCK_THERE, NO_DESCRIPTOR, NO_MORE };

/* DISP-065 to DISP-068 */
static enum answer judge(NTSTATUS status, ULONG length, unsigned n)
{
    if (NT_SUCCESS(status) && length > EDID_BLOCK) {
        VIOLATION("DISP-064", "DescriptorLength came back as %u, from %u", (unsigned)length,
                  EDID_BLOCK);
        return BLOCK_THERE;
    }
    if (NT_SUCCESS(status))
        return length == EDID_BLOCK ? BLOCK_THERE : n ? NO_MORE : NO_DESCRIPTOR;
    if (status == STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED ||
        status == STATUS_MONITOR_NO_DESCRIPTOR)
        return NO_DESCRIPTOR;
    if (status == STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA && n)
        return NO_MORE;
    WARNING("DISP-068", "DxgkDdiQueryDeviceDescriptor returned %s for block %u",
            nt_status_text(status).text, n);
    return n ? NO_MORE : NO_DESCRIPTOR;
}

static enum answer read_block(struct modes *modes, UINT target, unsigned n, uint8_t *block)
{
    DXGK_DEVICE_DESCRIPTOR descriptor = {.DescriptorOffset = n * EDID_BLOCK,
                                         .DescriptorLength = EDID_BLOCK,
                                         .DescriptorBuffer = block};
    enum answer answer;
    NTSTATUS status;

    memset(block, 0, EDID_BLOCK);
    status = ddi_query_device_descriptor(modes->ddi, target, &descriptor);
    answer = judge(status, descriptor.DescriptorLength, n);
    if (answer != BLOCK_THERE || edid_block_valid(block, n == 0))
        return answer;
    WARNING("DISP-069", "block %u of the descriptor of target 0x%x has %s", n, target,
            n == 0 && edid_block_valid(block, false) ? "no header of a base block"
                                                     : "a sum that is not 0");
    return n ? NO_MORE : NO_DESCRIPTOR;
}

/* DISP-061, DISP-062: the base block is read twice. */
static bool read_base(struct modes *modes, UINT target, uint8_t *block)
{
    uint8_t first[EDID_BLOCK];

    if (read_block(modes, target, 0, first) != BLOCK_THERE)
        return false;
    if (read_block(modes, target, 0, block) != BLOCK_THERE)
        return false;
    if (memcmp(first, block, EDID_BLOCK) != 0)
        WARNING("DISP-062", "two reads of the base block of target 0x%x differ", target);
    return true;
}

/* The descriptor becomes the monitor's, which drivers can read. */
static NTSTATUS keep_descriptor(struct monitor *monitor, uint8_t *edid, unsigned blocks)
{
    if (!ddi_guarded_init(&monitor->shown, (size_t)blocks * EDID_BLOCK,
                          "the blocks of the descriptors of a monitor")) {
        util_free(edid);
        return STATUS_NO_MEMORY;
    }
    memcpy(monitor->shown.data, edid, (size_t)blocks * EDID_BLOCK);
    monitor->edid = edid;
    monitor->blocks = blocks;
    return STATUS_SUCCESS;
}

/* DISP-072: it was given at the start. */
static NTSTATUS copy_descriptor(struct monitor *monitor)
{
    const struct modes_panel *panel = monitor->target->panel;
    uint8_t *edid;

    if (!panel->edid)
        return STATUS_SUCCESS;
    edid = util_alloc((size_t)panel->blocks * EDID_BLOCK);
    if (!edid)
        return STATUS_NO_MEMORY;
    memcpy(edid, panel->edid, (size_t)panel->blocks * EDID_BLOCK);
    return keep_descriptor(monitor, edid, panel->blocks);
}

static NTSTATUS read_descriptor(struct modes *modes, struct monitor *monitor)
{
    const UINT target = monitor->target->id;
    uint8_t base[EDID_BLOCK], *edid;
    unsigned blocks = 1, all;

    if (monitor->target->panel)
        return copy_descriptor(monitor);
    if (!read_base(modes, target, base))
        return STATUS_SUCCESS;
    all = 1 + edid_extensions(base);
    edid = util_zalloc(all, EDID_BLOCK);
    if (!edid)
        return STATUS_NO_MEMORY;
    memcpy(edid, base, EDID_BLOCK);
    while (blocks < all &&
           read_block(modes, target, blocks, edid + (size_t)blocks * EDID_BLOCK) == BLOCK_THERE)
        blocks++;
    return keep_descriptor(monitor, edid, blocks);
}

/* ---- the container ---- */

/* A GUID made of these bytes, always the same. */
static void name_guid(const void *bytes, size_t count, GUID *guid)
{
    uint64_t half[2] = {UINT64_C(0xCBF29CE484222325), UINT64_C(0x84222325CBF29CE4)};
    const uint8_t *at = bytes;

    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < 2; k++)
            half[k] = (half[k] ^ (at[i] + k)) * UINT64_C(0x100000001B3);
    memcpy(guid, half, sizeof(*guid));
    guid->Data3 = (USHORT)((guid->Data3 & 0x0FFF) | 0x5000); /* version 5, by name */
    guid->Data4[0] = (UCHAR)((guid->Data4[0] & 0x3F) | 0x80);
}

/* DISP-073, DISP-074 */
static void ask_container(struct modes *modes, struct monitor *monitor)
{
    struct {
        uint8_t product[10];
        UINT child;
    } name;
    DXGK_CHILD_CONTAINER_ID asked, *mine = &monitor->container;
    GUID port;
    NTSTATUS status;

    memset(&name, 0, sizeof(name));
    memset(mine, 0, sizeof(*mine));
    name.child = monitor->target->id;
    if (monitor->edid) {
        memcpy(name.product, monitor->edid + 8, 8);
        memcpy(&mine->EldInfo.ManufacturerName, monitor->edid + 8, 2);
        memcpy(&mine->EldInfo.ProductCode, monitor->edid + 10, 2);
    }
    name_guid(&name, sizeof(name), &mine->ContainerId);
    name_guid(&name.child, sizeof(name.child), &port);
    memcpy(&mine->EldInfo.PortId, &port, sizeof(mine->EldInfo.PortId));
    if (!ddi_has(modes->ddi, DxgkDdiGetChildContainerId))
        return;
    asked = *mine;
    status = ddi_get_child_container_id(modes->ddi, monitor->target->id, &asked);
    if (NT_SUCCESS(status))
        *mine = asked;
    else if (memcmp(&asked.ContainerId, &mine->ContainerId, sizeof(GUID)) != 0 ||
             asked.EldInfo.PortId != mine->EldInfo.PortId ||
             asked.EldInfo.ManufacturerName != mine->EldInfo.ManufacturerName ||
             asked.EldInfo.ProductCode != mine->EldInfo.ProductCode)
        WARNING("DISP-074", "DxgkDdiGetChildContainerId changed the structure and returned %s",
                nt_status_text(status).text);
}

/* ---- modes ---- */

static NTSTATUS recommend(struct modes *modes, struct monitor *monitor)
{
    DXGKARG_RECOMMENDMONITORMODES args = {
        .VideoPresentTargetId = monitor->target->id,
        .pMonitorSourceModeSetInterface = &modes_monitor_set_interface};
    struct modes_scope scope;
    const struct modes_hand *hand;
    NTSTATUS status;

    if (!ddi_has(modes->ddi, DxgkDdiRecommendMonitorModes))
        return STATUS_SUCCESS;
    modes_scope_begin(&scope, modes, "DxgkDdiRecommendMonitorModes", MODES_MONITOR, NULL);
    hand = modes_hand_out(&scope, HAND_MONITOR_SET, monitor->set);
    if (!hand) {
        modes_scope_end(&scope);
        return STATUS_NO_MEMORY;
    }
    args.hMonitorSourceModeSet = (D3DKMDT_HMONITORSOURCEMODESET)hand->handle;
    status = ddi_recommend_monitor_modes(modes->ddi, &args);
    if (!NT_SUCCESS(status))
        WARNING("DISP-111", "DxgkDdiRecommendMonitorModes returned %s for target 0x%x",
                nt_status_text(status).text, monitor->target->id);
    modes_scope_end(&scope);
    return STATUS_SUCCESS;
}

/* DISP-078: the mode of the panel, which no descriptor can name, and nothing more is asked. */
static NTSTATUS add_native(struct monitor *monitor)
{
    union mode mode;

    for (UINT i = 0; i < monitor->set->count; i++)
        monitor->set->mode[i].monitor.Preference = D3DKMDT_MP_NOTPREFERRED;
    memset(&mode, 0, sizeof(mode));
    mode.monitor.Id = monitor->set->next_id++;
    mode.monitor.VideoSignalInfo = monitor->target->panel->native;
    mode.monitor.ColorBasis = D3DKMDT_CB_SRGB;
    mode.monitor.ColorCoeffDynamicRanges.FirstChannel = 8;
    mode.monitor.ColorCoeffDynamicRanges.SecondChannel = 8;
    mode.monitor.ColorCoeffDynamicRanges.ThirdChannel = 8;
    mode.monitor.Origin = D3DKMDT_MCO_DRIVER;
    mode.monitor.Preference = D3DKMDT_MP_PREFERRED;
    return mode_set_append(monitor->set, &mode) ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS make_modes(struct modes *modes, struct monitor *monitor)
{
    const struct modes_panel *panel = monitor->target->panel;

    monitor->set = mode_set_create(MODE_MONITOR, monitor->target->id);
    if (!monitor->set)
        return STATUS_NO_MEMORY;
    if (monitor->edid ? !edid_modes(monitor->edid, monitor->blocks, monitor->set)
                      : !edid_default_modes(monitor->set))
        return STATUS_NO_MEMORY;
    return panel && panel->has_native ? add_native(monitor) : recommend(modes, monitor);
}

const D3DKMDT_MONITOR_SOURCE_MODE *monitor_preferred(const struct monitor *monitor)
{
    for (UINT i = 0; i < monitor->set->count; i++)
        if (monitor->set->mode[i].monitor.Preference == D3DKMDT_MP_PREFERRED)
            return &monitor->set->mode[i].monitor;
    return monitor->set->count ? &monitor->set->mode[0].monitor : NULL;
}

/* ---- arrival and departure ---- */

void monitor_check_lent(const struct monitor *monitor)
{
    const size_t bytes = (size_t)monitor->blocks * EDID_BLOCK;
    size_t at = 0;

    ddi_guarded_check(&monitor->shown, MONITOR_READER);
    while (at < bytes && monitor->shown.data[at] == monitor->edid[at])
        at++;
    if (at == bytes)
        return;
    VIOLATION("DISP-149",
              "the descriptor of the monitor on target 0x%x was written to: byte %zu "
              "is now 0x%02x",
              monitor->target->id, at, monitor->shown.data[at]);
    memcpy(monitor->shown.data, monitor->edid, bytes);
}

static void destroy(struct monitor *monitor)
{
    if (!monitor)
        return;
    if (monitor->edid)
        monitor_check_lent(monitor);
    mode_set_destroy(monitor->set);
    util_free(monitor->edid);
    ddi_guarded_finish(&monitor->shown);
    ddi_guarded_check(&monitor->further_modes, MONITOR_READER);
    ddi_guarded_finish(&monitor->further_modes);
    util_free(monitor);
}

static NTSTATUS create(struct modes *modes, struct modes_target *target, struct monitor **created)
{
    struct monitor *monitor = util_zalloc(1, sizeof(*monitor));
    NTSTATUS status = monitor ? STATUS_SUCCESS : STATUS_NO_MEMORY;

    if (!monitor)
        return status;
    monitor->target = target;
    status = read_descriptor(modes, monitor);
    if (NT_SUCCESS(status)) {
        ask_container(modes, monitor);
        colorimetry_settle(modes, monitor);
        status = make_modes(modes, monitor);
    }
    if (NT_SUCCESS(status))
        link_info_ask(modes, monitor);
    *created = monitor;
    if (NT_SUCCESS(status))
        return status;
    destroy(monitor);
    return status;
}

static void begin_scope(struct modes *modes, struct monitor *monitor)
{
    modes_scope_begin(&monitor->scope, modes, MONITOR_READER, 0, NULL);
}

/* DISP-046: degrees, or quarter turns. */
UINT monitor_angle(UINT target, UINT said)
{
    if (said <= 3)
        return said * 90;
    if (said == 90 || said == 180)
        return said;
    WARNING("DISP-046", "Rotation.Angle of child 0x%x is %u", target, said);
    return 0;
}

/* DISP-033: how is it turned? */
static void ask_angle(const struct modes *modes, struct modes_target *target)
{
    DXGK_CHILD_STATUS status = {.Type = StatusRotation, .ChildUid = target->id};

    target->angle = 0;
    if (!target->turns || modes->connections.used ||
        !NT_SUCCESS(ddi_query_child_status(modes->ddi, &status, TRUE)))
        return;
    if (status.Type != StatusRotation || status.ChildUid != target->id) {
        VIOLATION("DISP-040", "DxgkDdiQueryChildStatus changed Type or ChildUid of child 0x%x",
                  target->id);
        return;
    }
    target->angle = monitor_angle(target->id, status.Rotation.Angle);
}

static uint64_t mark(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* VIDPN-151: the size that was shown belongs to a monitor of this descriptor and preferred mode. */
static void recognize(struct modes_target *target)
{
    const struct monitor *monitor = target->monitor;
    const D3DKMDT_MONITOR_SOURCE_MODE *preferred = monitor_preferred(monitor);
    uint64_t now = UINT64_C(0xCBF29CE484222325);

    if (monitor->blocks)
        now = mark(now, monitor->edid, (size_t)monitor->blocks * EDID_BLOCK);
    if (preferred) {
        now = mark(now, &preferred->VideoSignalInfo.ActiveSize, sizeof(D3DKMDT_2DREGION));
        now = mark(now, &preferred->VideoSignalInfo.TotalSize, sizeof(D3DKMDT_2DREGION));
    }
    if (now != target->last_of)
        target->last = (D3DKMDT_2DREGION){0, 0};
    target->last_of = now;
}

/* Of the device (DISP-157). */
static bool is_part(const struct modes_target *target)
{
    return target->technology == D3DKMDT_VOT_INTERNAL || target->panel;
}

NTSTATUS monitor_arrive(struct modes *modes, struct modes_target *target)
{
    struct monitor *monitor;
    NTSTATUS status = create(modes, target, &monitor);

    if (!NT_SUCCESS(status))
        return status;
    ask_angle(modes, target);
    monitor->arrival = ++modes->arrivals;
    modes->changes++;
    begin_scope(modes, monitor);
    target->monitor = monitor;
    recognize(target);
    if (is_part(target) && modes->panels.came)
        modes->panels.came(modes->panels.context, target->id);
    return status;
}

void monitor_depart(struct modes_target *target)
{
    struct monitor *monitor = target->monitor;
    const struct modes *modes;

    target->monitor = NULL;
    target->off = target->asleep = false; /* DISP-151: of that monitor */
    vidpn_destroy(target->kept);
    target->kept = NULL;
    if (!monitor)
        return;
    modes = monitor->scope.modes;
    if (is_part(target) && modes->panels.went)
        modes->panels.went(modes->panels.context, target->id);
    modes_scope_end(&monitor->scope);
    destroy(monitor);
}

static bool is_size(const D3DKMDT_2DREGION *a, const D3DKMDT_2DREGION *b)
{
    return a->cx == b->cx && a->cy == b->cy;
}

static bool differ(const struct monitor *a, const struct monitor *b)
{
    const D3DKMDT_MONITOR_SOURCE_MODE *p = monitor_preferred(a), *q = monitor_preferred(b);

    if (a->blocks != b->blocks ||
        (a->blocks && memcmp(a->edid, b->edid, (size_t)a->blocks * EDID_BLOCK) != 0))
        return true;
    return !p != !q ||
           (p && (!is_size(&p->VideoSignalInfo.ActiveSize, &q->VideoSignalInfo.ActiveSize) ||
                  !is_size(&p->VideoSignalInfo.TotalSize, &q->VideoSignalInfo.TotalSize)));
}

NTSTATUS monitor_look_again(struct modes *modes, struct modes_target *target, bool *changed)
{
    struct monitor *before = target->monitor, *now;
    NTSTATUS status = create(modes, target, &now);

    *changed = false;
    if (!NT_SUCCESS(status))
        return status;
    *changed = differ(before, now);
    now->arrival = before->arrival;
    modes->changes++;
    modes_scope_end(&before->scope);
    begin_scope(modes, now);
    target->monitor = now;
    destroy(before);
    recognize(target);
    return status;
}
