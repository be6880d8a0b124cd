/* SPDX-License-Identifier: MIT */
/* What a driver asks about monitors: DISP-122 to DISP-131, DISP-143 to DISP-149. */
#include <string.h>

#include "modes/monitor.h"
#include "modes/edid.h"
#include "modes/interface_call.h"
#include "modes/modes.h"
#include "modes/set_calls.h"
#include "verify/verify.h"

#define NAME(function) "DXGK_MONITOR_INTERFACE." function

/* ---- ranges and descriptors: sets without changes ---- */

struct item_kind {
    enum hand_kind hand;
    NTSTATUS bad_set, bad_item;
    size_t bytes;
    unsigned (*count)(const struct monitor *monitor);
    void (*fill)(const struct monitor *monitor, unsigned n, void *item);
};

static unsigned count_ranges(const struct monitor *monitor)
{
    D3DKMDT_MONITOR_FREQUENCY_RANGE range;
    unsigned count = 0;

    while (monitor->edid && edid_range(monitor->edid, count, &range))
        count++;
    return count;
}

static void fill_range(const struct monitor *monitor, unsigned n, void *item)
{
    (void)edid_range(monitor->edid, n, item);
}

static unsigned count_descriptors(const struct monitor *monitor)
{
    return monitor->blocks;
}

/* DISP-149 */
static void fill_descriptor(const struct monitor *monitor, unsigned n, void *item)
{
    const uint8_t *block = monitor->shown.data + (size_t)n * EDID_BLOCK;
    D3DKMDT_MONITOR_DESCRIPTOR *descriptor = item;

    memset(descriptor, 0, sizeof(*descriptor));
    descriptor->Id = n;
    descriptor->Type = n == 0             ? D3DKMDT_MDT_VESA_EDID_V1_BASEBLOCK
                       : block[0] == 0xF0 ? D3DKMDT_MDT_VESA_EDID_V1_BLOCKMAP
                                          : D3DKMDT_MDT_OTHER;
    descriptor->DataSize = EDID_BLOCK;
    descriptor->pData = monitor->shown.data + (size_t)n * EDID_BLOCK;
    descriptor->Origin = D3DKMDT_MCO_MONITORDESCRIPTOR;
}

static const struct item_kind of_range = {HAND_RANGE_SET,
                                          STATUS_GRAPHICS_INVALID_MONITOR_FREQUENCYRANGESET,
                                          STATUS_GRAPHICS_INVALID_MONITOR_FREQUENCYRANGE,
                                          sizeof(D3DKMDT_MONITOR_FREQUENCY_RANGE),
                                          count_ranges,
                                          fill_range};
static const struct item_kind of_descriptor = {HAND_DESCRIPTOR_SET,
                                               STATUS_GRAPHICS_INVALID_MONITORDESCRIPTORSET,
                                               STATUS_GRAPHICS_INVALID_MONITORDESCRIPTOR,
                                               sizeof(D3DKMDT_MONITOR_DESCRIPTOR),
                                               count_descriptors,
                                               fill_descriptor};

static NTSTATUS item_count(const struct item_kind *kind, const void *handle, SIZE_T *count,
                           const char *name, uintptr_t caller)
{
    struct interface_call call;
    const struct modes_hand *hand;
    NTSTATUS status = interface_begin(&call, name, caller, "DISP-124");

    if (!NT_SUCCESS(status))
        return status;
    INTERFACE_CLEAR(count);
    status = interface_need(count, "the count");
    hand = NT_SUCCESS(status) ? modes_hand_find(handle, kind->hand, kind->bad_set) : NULL;
    if (hand) {
        const SIZE_T items = kind->count(hand->object);

        status = INTERFACE_GIVE(count, items);
    } else if (NT_SUCCESS(status)) {
        status = kind->bad_set;
    }
    return interface_end(&call, status);
}

static NTSTATUS give_item(const struct item_kind *kind, struct modes_hand *hand, unsigned n,
                          const char *name, const void **out)
{
    union {
        D3DKMDT_MONITOR_FREQUENCY_RANGE range;
        D3DKMDT_MONITOR_DESCRIPTOR descriptor;
    } item;
    struct modes_lent *lent;
    const void *data;
    NTSTATUS status;

    if (n >= kind->count(hand->object))
        return n ? STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET : STATUS_GRAPHICS_DATASET_IS_EMPTY;
    kind->fill(hand->object, n, &item);
    lent = modes_lend(hand, &item, kind->bytes, name, false);
    if (!lent)
        return STATUS_NO_MEMORY;
    lent->key = n;
    data = lent->data;
    status = INTERFACE_GIVE(out, data);
    lent->live = NT_SUCCESS(status);
    return status;
}

/* `before` is NULL for the first. */
static NTSTATUS item_acquire(const struct item_kind *kind, const void *handle, bool first,
                             const void *before, const void **out, const char *name,
                             uintptr_t caller)
{
    struct interface_call call;
    const struct modes_lent *lent;
    struct modes_hand *hand;
    NTSTATUS status = interface_begin(&call, name, caller, "DISP-124");

    if (!NT_SUCCESS(status))
        return status;
    INTERFACE_CLEAR(out);
    status = interface_need((const void *)out, "the output");
    hand = NT_SUCCESS(status) ? modes_hand_find(handle, kind->hand, kind->bad_set) : NULL;
    if (!hand)
        return interface_end(&call, NT_SUCCESS(status) ? kind->bad_set : status);
    lent = first ? NULL : modes_lent_find(hand, before);
    if (!first && !lent)
        status = refuse(kind->bad_item, "DISP-144",
                        "the structure at %p was not acquired from this set, or was released",
                        before);
    else
        status = give_item(kind, hand, lent ? lent->key + 1 : 0, name, out);
    return interface_end(&call, status);
}

static NTSTATUS item_release(const struct item_kind *kind, const void *handle, const void *item,
                             const char *name, uintptr_t caller)
{
    struct interface_call call;
    struct modes_hand *hand;
    struct modes_lent *lent;
    NTSTATUS status = interface_begin(&call, name, caller, "DISP-124");

    if (!NT_SUCCESS(status))
        return status;
    hand = modes_hand_find(handle, kind->hand, kind->bad_set);
    lent = hand ? modes_lent_find(hand, item) : NULL;
    if (!hand)
        status = kind->bad_set;
    else if (!lent)
        status = refuse(kind->bad_item, "DISP-145",
                        "the structure at %p is none that this set has handed out", item);
    if (lent) {
        modes_lent_end(lent);
        monitor_check_lent(hand->object);
        modes_scope_purge(hand->scope);
    }
    return interface_end(&call, status);
}

#define ITEM_FUNCTIONS(kind, set, item, table, things, thing)                                  \
    static NTSTATUS NTAPI kind##_count(set handle, SIZE_T *const count)                        \
    {                                                                                          \
        return item_count(&of_##kind, handle, count, table ".pfnGetNum" things, MODES_CALLER); \
    }                                                                                          \
    static NTSTATUS NTAPI kind##_first(set handle, const item **out)                           \
    {                                                                                          \
        return item_acquire(&of_##kind, handle, true, NULL, (const void **)out,                \
                            table ".pfnAcquireFirst" thing "Info", MODES_CALLER);              \
    }                                                                                          \
    static NTSTATUS NTAPI kind##_next(set handle, const item *const before, const item **out)  \
    {                                                                                          \
        return item_acquire(&of_##kind, handle, false, before, (const void **)out,             \
                            table ".pfnAcquireNext" thing "Info", MODES_CALLER);               \
    }                                                                                          \
    static NTSTATUS NTAPI kind##_release(set handle, const item *const given)                  \
    {                                                                                          \
        return item_release(&of_##kind, handle, given, table ".pfnRelease" thing "Info",       \
                            MODES_CALLER);                                                     \
    }

ITEM_FUNCTIONS(range, D3DKMDT_HMONITORFREQUENCYRANGESET, D3DKMDT_MONITOR_FREQUENCY_RANGE,
               "DXGK_MONITORFREQUENCYRANGESET_INTERFACE", "FrequencyRanges", "FrequencyRange")
ITEM_FUNCTIONS(descriptor, D3DKMDT_HMONITORDESCRIPTORSET, D3DKMDT_MONITOR_DESCRIPTOR,
               "DXGK_MONITORDESCRIPTORSET_INTERFACE", "Descriptors", "Descriptor")

static const DXGK_MONITORFREQUENCYRANGESET_INTERFACE range_interface = {
    .pfnGetNumFrequencyRanges = range_count,
    .pfnAcquireFirstFrequencyRangeInfo = range_first,
    .pfnAcquireNextFrequencyRangeInfo = range_next,
    .pfnReleaseFrequencyRangeInfo = range_release,
};

static const DXGK_MONITORDESCRIPTORSET_INTERFACE descriptor_interface = {
    .pfnGetNumDescriptors = descriptor_count,
    .pfnAcquireFirstDescriptorInfo = descriptor_first,
    .pfnAcquireNextDescriptorInfo = descriptor_next,
    .pfnReleaseDescriptorInfo = descriptor_release,
};

/* ---- a monitor's sets ---- */

static NTSTATUS find_monitor(HANDLE adapter, UINT id, struct monitor **monitor)
{
    const struct modes *modes = modes_find(adapter);
    const struct modes_target *target = modes ? modes_target(modes, id) : NULL;

    if (!modes)
        return refuse(STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER, "DISP-125",
                      "%p is no DeviceHandle of an adapter with outputs", adapter);
    if (!target)
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET, "DISP-125",
                      "target 0x%x is no video output of the adapter", id);
    *monitor = target->monitor;
    return *monitor ? STATUS_SUCCESS
                    : refuse(STATUS_GRAPHICS_MONITOR_NOT_CONNECTED, "DISP-125",
                             "no monitor is on target 0x%x", id);
}

/* `object`: NULL for the monitor itself. */
static NTSTATUS give_set(HANDLE adapter, UINT target, enum hand_kind kind, const void *table,
                         void **set, const void **interface, const char *name, uintptr_t caller)
{
    struct interface_call call;
    struct monitor *monitor;
    struct modes_hand *hand;
    void *handle;
    NTSTATUS status = interface_begin(&call, name, caller, "DISP-124");

    if (!NT_SUCCESS(status))
        return status;
    INTERFACE_CLEAR(set);
    INTERFACE_CLEAR(interface);
    status = interface_need((const void *)set, "the output of the handle");
    if (NT_SUCCESS(status))
        status = interface_need((const void *)interface, "the output of the interface");
    if (NT_SUCCESS(status))
        status = find_monitor(adapter, target, &monitor);
    if (!NT_SUCCESS(status))
        return interface_end(&call, status);
    hand = modes_hand_out(&monitor->scope, kind,
                          kind == HAND_MONITOR_SET ? (void *)monitor->set : monitor);
    if (!hand)
        return interface_end(&call, STATUS_NO_MEMORY);
    handle = (void *)hand->handle;
    status = INTERFACE_GIVE(set, handle);
    if (NT_SUCCESS(status))
        status = INTERFACE_GIVE(interface, table);
    if (NT_SUCCESS(status) && kind == HAND_MONITOR_SET) {
        hand->acquired++;
        hand->by = name;
    }
    return interface_end(&call, status);
}

static NTSTATUS NTAPI acquire_modes(HANDLE adapter, const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                    D3DKMDT_HMONITORSOURCEMODESET *set,
                                    const DXGK_MONITORSOURCEMODESET_INTERFACE **interface)
{
    return give_set(adapter, target, HAND_MONITOR_SET, &modes_monitor_set_interface, (void **)set,
                    (const void **)interface, NAME("pfnAcquireMonitorSourceModeSet"), MODES_CALLER);
}

static NTSTATUS NTAPI get_ranges(HANDLE adapter, const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                 D3DKMDT_HMONITORFREQUENCYRANGESET *set,
                                 const DXGK_MONITORFREQUENCYRANGESET_INTERFACE **interface)
{
    return give_set(adapter, target, HAND_RANGE_SET, &range_interface, (void **)set,
                    (const void **)interface, NAME("pfnGetMonitorFrequencyRangeSet"), MODES_CALLER);
}

static NTSTATUS NTAPI get_descriptors(HANDLE adapter, const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                      D3DKMDT_HMONITORDESCRIPTORSET *set,
                                      const DXGK_MONITORDESCRIPTORSET_INTERFACE **interface)
{
    return give_set(adapter, target, HAND_DESCRIPTOR_SET, &descriptor_interface, (void **)set,
                    (const void **)interface, NAME("pfnGetMonitorDescriptorSet"), MODES_CALLER);
}

static NTSTATUS release_set(HANDLE adapter, const void *set)
{
    struct modes_hand *hand;

    if (!modes_find(adapter))
        return refuse(STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER, "DISP-126",
                      "%p is no DeviceHandle of an adapter with outputs", adapter);
    hand = modes_hand_find(set, HAND_MONITOR_SET, STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    if (!hand)
        return STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET;
    if (!hand->acquired)
        return refuse(STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET, "DISP-126",
                      "the set was not acquired");
    if (--hand->acquired)
        return STATUS_SUCCESS;
    modes_hand_end(hand);
    modes_scope_purge(hand->scope);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI release_modes(HANDLE adapter, D3DKMDT_HMONITORSOURCEMODESET set)
{
    struct interface_call call;
    NTSTATUS status = interface_begin(&call, NAME("pfnReleaseMonitorSourceModeSet"), MODES_CALLER,
                                      "DISP-124");

    return NT_SUCCESS(status) ? interface_end(&call, release_set(adapter, set)) : status;
}

/* ---- further modes ---- */

/* DISP-130: the list of a monitor that is no CRT and no TV is empty; analog ones have one mode. */
static bool is_analog(const struct modes_target *target)
{
    switch ((int)target->technology) {
    case D3DKMDT_VOT_HD15:
    case D3DKMDT_VOT_SVIDEO:
    case D3DKMDT_VOT_COMPOSITE_VIDEO:
    case D3DKMDT_VOT_COMPONENT_VIDEO:
        return true;
    default:
        return false;
    }
}

/* 640 x 480 at 60 Hz. Each member is one less than what it says, the clock in units of 10 kHz. */
static const DXGK_TARGETMODE_DETAIL_TIMING further_mode = {
    .VideoStandard = D3DKMDT_VSS_VESA_DMT,
    .TimingId = 4,
    .DetailTiming = {.PixelClock = 2517,
                     .AspectRatio = DIDDT1_AspectRatio_4x3,
                     .HorizontalActivePixels = 639,
                     .HorizontalBlankPixels = 159,
                     .HorizontalFrontPorch = 15,
                     .HorizontalSyncPolarity = DIDDT1_Sync_Negative,
                     .HorizontalSyncWidth = 95,
                     .VerticalActiveLines = 479,
                     .VerticalBlankLines = 44,
                     .VerticalFrontPorch = 9,
                     .VerticalSyncPolarity = DIDDT1_Sync_Negative,
                     .VerticalSyncWidth = 1},
};

/* The driver's copy; NULL: out of memory. */
static DXGK_TARGETMODE_DETAIL_TIMING *further_modes(struct monitor *monitor)
{
    struct ddi_guarded *copy = &monitor->further_modes;

    if (!copy->data && !ddi_guarded_init(copy, sizeof(further_mode), "the additional modes"))
        return NULL;
    if (!monitor->further)
        memcpy(copy->data, &further_mode, sizeof(further_mode));
    return (void *)copy->data;
}

static NTSTATUS NTAPI get_further(HANDLE adapter, const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                  UINT *count, DXGK_TARGETMODE_DETAIL_TIMING **modes)
{
    struct interface_call call;
    struct monitor *monitor;
    NTSTATUS status = interface_begin(&call, NAME("pfnGetAdditionalMonitorModeSet"), MODES_CALLER,
                                      "DISP-124");

    if (!NT_SUCCESS(status))
        return status;
    INTERFACE_CLEAR(count);
    INTERFACE_CLEAR(modes);
    status = interface_need(count, "the count");
    if (NT_SUCCESS(status))
        status = interface_need((const void *)modes, "the output");
    if (NT_SUCCESS(status))
        status = find_monitor(adapter, target, &monitor);
    if (NT_SUCCESS(status) && is_analog(monitor->target)) {
        const DXGK_TARGETMODE_DETAIL_TIMING *list = further_modes(monitor);
        const UINT one = 1;

        status = list ? INTERFACE_GIVE(count, one) : STATUS_NO_MEMORY;
        if (NT_SUCCESS(status))
            status = interface_give((void *)modes, &list, sizeof(list));
        monitor->further += NT_SUCCESS(status);
    }
    return interface_end(&call, status);
}

static NTSTATUS take_further(HANDLE adapter, UINT id, const DXGK_TARGETMODE_DETAIL_TIMING *modes)
{
    const struct modes *owner = modes_find(adapter);
    const struct modes_target *target = owner ? modes_target(owner, id) : NULL;

    if (!owner)
        return refuse(STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER, "DISP-131",
                      "%p is no DeviceHandle of an adapter with outputs", adapter);
    if (!modes)
        return STATUS_SUCCESS;
    if (!target || !target->monitor || !target->monitor->further ||
        modes != (const void *)target->monitor->further_modes.data)
        return refuse(STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET, "DISP-131",
                      "the array at %p was not handed out for target 0x%x, or was released",
                      (const void *)modes, id);
    ddi_guarded_check(&target->monitor->further_modes, "the driver");
    target->monitor->further--;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI release_further(HANDLE adapter, const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                      const DXGK_TARGETMODE_DETAIL_TIMING *const modes)
{
    struct interface_call call;
    NTSTATUS status = interface_begin(&call, NAME("pfnReleaseAdditionalMonitorModeSet"),
                                      MODES_CALLER, "DISP-124");

    return NT_SUCCESS(status) ? interface_end(&call, take_further(adapter, target, modes)) : status;
}

#define MONITOR_FUNCTIONS                                                                          \
    .pfnAcquireMonitorSourceModeSet = acquire_modes,                                               \
    .pfnReleaseMonitorSourceModeSet = release_modes, .pfnGetMonitorFrequencyRangeSet = get_ranges, \
    .pfnGetMonitorDescriptorSet = get_descriptors

static const DXGK_MONITOR_INTERFACE interface_1 = {.Version = DXGK_MONITOR_INTERFACE_VERSION_V1,
                                                   MONITOR_FUNCTIONS};
static const DXGK_MONITOR_INTERFACE_V2 interface_2 = {
    .Version = DXGK_MONITOR_INTERFACE_VERSION_V2,
    MONITOR_FUNCTIONS,
    .pfnGetAdditionalMonitorModeSet = get_further,
    .pfnReleaseAdditionalMonitorModeSet = release_further};

static NTSTATUS query(HANDLE adapter, DXGK_MONITOR_INTERFACE_VERSION version,
                      const DXGK_MONITOR_INTERFACE **interface)
{
    const struct modes *modes = modes_find(adapter);
    const void *table = &interface_1;
    NTSTATUS status = interface_need((const void *)interface, "ppMonitorInterface");

    if (!NT_SUCCESS(status))
        return status;
    if (!modes)
        return refuse(STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER, "DISP-123",
                      "%p is no DeviceHandle of an adapter with outputs", adapter);
    if (version == DXGK_MONITOR_INTERFACE_VERSION_V2 &&
        modes->version >= DXGKDDI_INTERFACE_VERSION_WIN7)
        table = &interface_2;
    else if (version != DXGK_MONITOR_INTERFACE_VERSION_V1)
        return refuse(STATUS_NOT_SUPPORTED, "DISP-123", "version %d of the monitor interface",
                      (int)version);
    return interface_give((void *)interface, &table, sizeof(table));
}

NTSTATUS NTAPI modes_query_monitor_interface(HANDLE adapter,
                                             const DXGK_MONITOR_INTERFACE_VERSION version,
                                             const DXGK_MONITOR_INTERFACE **interface)
{
    struct interface_call call;
    NTSTATUS status = interface_begin(&call, "DxgkCbQueryMonitorInterface", MODES_CALLER,
                                      "DISP-124");

    if (!NT_SUCCESS(status))
        return status;
    INTERFACE_CLEAR(interface);
    return interface_end(&call, query(adapter, version, interface));
}
