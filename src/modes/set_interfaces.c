/* SPDX-License-Identifier: MIT */
/* The tables of the mode set interfaces, whose functions differ by their types alone. */
#include "modes/set_calls.h"

/* `set`, `mode`: types; the rest of the functions of each table is alike. */
#define FUNCTIONS(kind, prefix, set, mode)                                                      \
    static NTSTATUS NTAPI prefix##_count(set handle, SIZE_T *const count)                       \
    {                                                                                           \
        return set_count(kind, handle, count, MODES_CALLER);                                    \
    }                                                                                           \
    static NTSTATUS NTAPI prefix##_first(set handle, const mode **out)                          \
    {                                                                                           \
        return set_first(kind, handle, (const void **)out, MODES_CALLER);                       \
    }                                                                                           \
    static NTSTATUS NTAPI prefix##_next(set handle, const mode *const before, const mode **out) \
    {                                                                                           \
        return set_next(kind, handle, before, (const void **)out, MODES_CALLER);                \
    }                                                                                           \
    static NTSTATUS NTAPI prefix##_chosen(set handle, const mode **out)                         \
    {                                                                                           \
        return set_chosen(kind, handle, (const void **)out, MODES_CALLER);                      \
    }                                                                                           \
    static NTSTATUS NTAPI prefix##_release(set handle, const mode *const given)                 \
    {                                                                                           \
        return set_release(kind, handle, given, MODES_CALLER);                                  \
    }                                                                                           \
    static NTSTATUS NTAPI prefix##_create(set handle, mode **out)                               \
    {                                                                                           \
        return set_create(kind, handle, (void **)out, MODES_CALLER);                            \
    }                                                                                           \
    static NTSTATUS NTAPI prefix##_add(set handle, mode *const added)                           \
    {                                                                                           \
        return set_add(kind, handle, added, MODES_CALLER);                                      \
    }

FUNCTIONS(MODE_SOURCE, source, D3DKMDT_HVIDPNSOURCEMODESET, D3DKMDT_VIDPN_SOURCE_MODE)
FUNCTIONS(MODE_TARGET, target, D3DKMDT_HVIDPNTARGETMODESET, D3DKMDT_VIDPN_TARGET_MODE)
FUNCTIONS(MODE_MONITOR, monitor, D3DKMDT_HMONITORSOURCEMODESET, D3DKMDT_MONITOR_SOURCE_MODE)

static NTSTATUS NTAPI source_pin(D3DKMDT_HVIDPNSOURCEMODESET handle,
                                 const D3DKMDT_VIDEO_PRESENT_SOURCE_MODE_ID id)
{
    return set_pin(MODE_SOURCE, handle, id, MODES_CALLER);
}

static NTSTATUS NTAPI target_pin(D3DKMDT_HVIDPNTARGETMODESET handle,
                                 const D3DKMDT_VIDEO_PRESENT_TARGET_MODE_ID id)
{
    return set_pin(MODE_TARGET, handle, id, MODES_CALLER);
}

const DXGK_VIDPNSOURCEMODESET_INTERFACE modes_source_set_interface = {
    .pfnGetNumModes = source_count,
    .pfnAcquireFirstModeInfo = source_first,
    .pfnAcquireNextModeInfo = source_next,
    .pfnAcquirePinnedModeInfo = source_chosen,
    .pfnReleaseModeInfo = source_release,
    .pfnCreateNewModeInfo = source_create,
    .pfnAddMode = source_add,
    .pfnPinMode = source_pin,
};

const DXGK_VIDPNTARGETMODESET_INTERFACE modes_target_set_interface = {
    .pfnGetNumModes = target_count,
    .pfnAcquireFirstModeInfo = target_first,
    .pfnAcquireNextModeInfo = target_next,
    .pfnAcquirePinnedModeInfo = target_chosen,
    .pfnReleaseModeInfo = target_release,
    .pfnCreateNewModeInfo = target_create,
    .pfnAddMode = target_add,
    .pfnPinMode = target_pin,
};

const DXGK_MONITORSOURCEMODESET_INTERFACE modes_monitor_set_interface = {
    .pfnGetNumModes = monitor_count,
    .pfnAcquirePreferredModeInfo = monitor_chosen,
    .pfnAcquireFirstModeInfo = monitor_first,
    .pfnAcquireNextModeInfo = monitor_next,
    .pfnCreateNewModeInfo = monitor_create,
    .pfnAddMode = monitor_add,
    .pfnReleaseModeInfo = monitor_release,
};
