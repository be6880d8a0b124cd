/* SPDX-License-Identifier: MIT */
/*
 * Callbacks for power settings (NT-182). The machine runs on mains power with its display on, and
 * this does not change: a driver hears it once, when it registers. Of other settings it hears
 * nothing.
 */
#include <string.h>

#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/items.h"
#include "nt/base/image.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/driver_call.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/io/device_object.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct registration {
    struct nt_resource resource;
    PPOWER_SETTING_CALLBACK callback;
    PVOID context;
    GUID setting;
};

const struct nt_component nt_power_setting_component = NT_MAP_COMPONENT(power_settings);

/* The settings whose value the machine knows, with that value. */
static const struct {
    GUID setting;
    ULONG value;
} settings[] = {
    /* GUID_ACDC_POWER_SOURCE: 0 is mains */
    {{0x5D3E9A59, 0xE9D5, 0x4B00, {0xA6, 0xBD, 0xFF, 0x34, 0xFF, 0x51, 0x65, 0x48}}, 0},
    /* GUID_MONITOR_POWER_ON, GUID_CONSOLE_DISPLAY_STATE, GUID_SESSION_DISPLAY_STATUS: on */
    {{0x02731015, 0x4510, 0x4526, {0x99, 0xE6, 0xE5, 0xA1, 0x7E, 0xBD, 0x1A, 0xEA}}, 1},
    {{0x6FE69556, 0x704A, 0x47A0, {0x8F, 0x24, 0xC2, 0x8D, 0x93, 0x6F, 0xDA, 0x47}}, 1},
    {{0x2B84C20E, 0xAD23, 0x4DDF, {0x93, 0xDB, 0x05, 0xFF, 0xBD, 0x7E, 0xFC, 0xA5}}, 1},
    /* GUID_LIDSWITCH_STATE_CHANGE: open */
    {{0xBA3E0F4D, 0xB817, 0x4094, {0xA2, 0xD1, 0xD5, 0x63, 0x79, 0xE6, 0xA0, 0xF3}}, 1},
    /* GUID_VIDEO_CURRENT_MONITOR_BRIGHTNESS: percent */
    {{0x8FFEE2C6, 0x2D01, 0x46BE, {0xAD, 0xB9, 0x39, 0x8A, 0xDD, 0xC5, 0xB4, 0xFF}}, 100},
    /* GUID_LOW_POWER_EPOCH: not entered */
    {{0xE1233993, 0xEAF9, 0x4C9B, {0xB6, 0x8D, 0xA3, 0x06, 0x1D, 0x69, 0xE3, 0x73}}, 0},
};

static void reclaim(struct nt_resource *resource)
{
    struct registration *registration = CONTAINER(resource, struct registration, resource);

    hash_remove(nt_state()->power_settings, (uintptr_t)registration);
    util_free(registration);
}

static const struct nt_resource_class registration_class = {
    .rule = "NT-182",
    .noun = "power-setting callback",
    .reclaim = reclaim,
};

/* The power manager calls at once with the current value. */
static void tell(const struct registration *registration)
{
    for (size_t i = 0; i < NT_ITEMS(settings); i++) {
        struct nt_callback callback;
        ULONG value = settings[i].value;

        if (!IsEqualGUID(&settings[i].setting, &registration->setting))
            continue;
        nt_callback_enter(&callback, registration->resource.image, "a power-setting callback");
        registration->callback(&settings[i].setting, &value, sizeof(value), registration->context);
        nt_callback_leave(&callback);
        return;
    }
}

NT_EXPORT NTSTATUS NTAPI PoRegisterPowerSettingCallback(PDEVICE_OBJECT DeviceObject,
                                                        LPCGUID SettingGuid,
                                                        PPOWER_SETTING_CALLBACK Callback,
                                                        PVOID Context, PVOID *Handle)
{
    struct registration *registration;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-182", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!SettingGuid || !Callback || (DeviceObject && !nt_device_object_known(DeviceObject)))
        return STATUS_INVALID_PARAMETER;
    registration = util_zalloc(1, sizeof(*registration));
    if (!registration)
        return STATUS_INSUFFICIENT_RESOURCES;
    registration->callback = Callback;
    registration->context = Context;
    registration->setting = *SettingGuid;
    if (!hash_put(nt_state()->power_settings, (uintptr_t)registration, registration)) {
        util_free(registration);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    nt_resource_track(&registration->resource, &registration_class, NT_CALLER());
    if (Handle)
        *Handle = registration;
    tell(registration);
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI PoUnregisterPowerSettingCallback(PVOID Handle)
{
    struct registration *registration;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-182", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    registration = hash_get(nt_state()->power_settings, (uintptr_t)Handle);
    if (!registration) {
        VIOLATION("NT-182", "%s of a handle that PoRegisterPowerSettingCallback did not return",
                  __func__);
        return STATUS_INVALID_PARAMETER;
    }
    nt_resource_reclaim(&registration->resource);
    return STATUS_SUCCESS;
}
