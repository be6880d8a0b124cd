/* SPDX-License-Identifier: MIT */
/*
 * The power management framework (PoFx), as a driver uses it for its device's components (NT-181).
 *
 * registered: all components active -> started: one without a reference becomes idle, and active
 * again with the first reference; the driver's callbacks hear of both, one change of a component at
 * a time. Components stay in F0 and the device in D0: nothing asks the machine to save power.
 */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/image.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/io/device_object.h"
#include "nt/ke/driver_call.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "sim/order.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct component {
    uint32_t references;
    bool active;   /* the condition that the driver was told */
    bool changing; /* told idle, and PoFxCompleteIdleCondition is owed */
};

struct device {
    struct nt_resource resource;
    PPO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK active;
    PPO_FX_COMPONENT_IDLE_CONDITION_CALLBACK idle;
    PVOID context;
    bool started;
    ULONG count;
    struct component components[];
};

const struct nt_component nt_power_framework_component = NT_MAP_COMPONENT(power_devices);

static void reclaim(struct nt_resource *resource)
{
    struct device *device = CONTAINER(resource, struct device, resource);

    hash_remove(nt_state()->power_devices, (uintptr_t)device);
    util_free(device);
}

static const struct nt_resource_class device_class = {
    .rule = "NT-181",
    .noun = "device of the power management framework",
    .reclaim = reclaim,
};

static struct device *find(POHANDLE handle, const char *routine)
{
    struct device *device = hash_get(nt_state()->power_devices, (uintptr_t)handle);

    if (!device)
        VIOLATION("NT-181", "%s of a handle that PoFxRegisterDevice did not return", routine);
    return device;
}

static struct component *find_component(POHANDLE handle, ULONG index, struct device **device,
                                        const char *routine)
{
    nt_level(NT_DISPATCH, "NT-181", NT_NO_CODE, routine);
    *device = find(handle, routine);
    if (!*device)
        return NULL;
    if (index < (*device)->count)
        return &(*device)->components[index];
    VIOLATION("NT-181", "%s of component %u, the device has %u", routine, index, (*device)->count);
    return NULL;
}

/* Whether this registration is still there: a callback may have ended it. */
static bool is_registered(const struct device *device, uint64_t serial)
{
    const struct device *found = hash_get(nt_state()->power_devices, (uintptr_t)device);

    return found && found->resource.serial == serial;
}

/* Tell the driver conditions until what it was told is what the references say. */
static void settle(struct device *device, ULONG index)
{
    struct component *component = &device->components[index];
    uint64_t serial = device->resource.serial;

    sim_order_exchange(component);
    while (is_registered(device, serial) && device->started && !component->changing &&
           component->active != (component->references != 0)) {
        struct nt_callback callback;

        component->active = !component->active;
        component->changing = !component->active && device->idle;
        nt_callback_enter(&callback, device->resource.image, "a callback for a component");
        if (component->active && device->active)
            device->active(device->context, index);
        else if (!component->active && device->idle)
            device->idle(device->context, index);
        nt_callback_leave(&callback);
        sim_order_release(component); /* to those whom another thread's call serves, too */
    }
    sim_order_acquire(component);
}

static bool states_valid(const PO_FX_COMPONENT_V1 *component)
{
    if (component->IdleStateCount == 0 || !component->IdleStates ||
        component->DeepestWakeableIdleState >= component->IdleStateCount)
        return false;
    return true;
}

/* What is kept of either version; false: it is not valid. */
static bool read_device(const PO_FX_DEVICE_V1 *from, struct device *to)
{
    const PO_FX_DEVICE_V2 *second = (const void *)from;

    if (from->Version == PO_FX_VERSION_V1) {
        to->count = from->ComponentCount;
        to->active = from->ComponentActiveConditionCallback;
        to->idle = from->ComponentIdleConditionCallback;
        to->context = from->DeviceContext;
    } else if (from->Version == PO_FX_VERSION_V2) {
        to->count = second->ComponentCount;
        to->active = second->ComponentActiveConditionCallback;
        to->idle = second->ComponentIdleConditionCallback;
        to->context = second->DeviceContext;
    } else {
        return false;
    }
    if (to->count == 0)
        return false;
    for (ULONG i = 0; i < to->count; i++) {
        PO_FX_COMPONENT_V1 component = {0};

        if (from->Version == PO_FX_VERSION_V1) {
            component = from->Components[i];
        } else {
            component.IdleStateCount = second->Components[i].IdleStateCount;
            component.IdleStates = second->Components[i].IdleStates;
            component.DeepestWakeableIdleState = second->Components[i].DeepestWakeableIdleState;
        }
        if (!states_valid(&component))
            return false;
    }
    return true;
}

NT_EXPORT NTSTATUS NTAPI PoFxRegisterDevice(PDEVICE_OBJECT Pdo, PPO_FX_DEVICE_V1 Device,
                                            POHANDLE *Handle)
{
    struct device read = {0}, *device;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-181", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!Pdo || !Device || !Handle || !nt_device_object_known(Pdo) || !read_device(Device, &read))
        return STATUS_INVALID_PARAMETER;
    device = util_zalloc(1, sizeof(*device) + (size_t)read.count * sizeof(device->components[0]));
    if (!device)
        return STATUS_INSUFFICIENT_RESOURCES;
    *device = read;
    for (ULONG i = 0; i < device->count; i++)
        device->components[i].active = true;
    if (!hash_put(nt_state()->power_devices, (uintptr_t)device, device)) {
        util_free(device);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    nt_resource_track(&device->resource, &device_class, NT_CALLER());
    *Handle = (POHANDLE)(void *)device;
    return STATUS_SUCCESS;
}

NT_EXPORT VOID NTAPI PoFxUnregisterDevice(POHANDLE Handle)
{
    struct device *device;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-181", NT_NO_CODE, __func__))
        return;
    device = find(Handle, __func__);
    if (device)
        nt_resource_reclaim(&device->resource);
}

NT_EXPORT VOID NTAPI PoFxStartDevicePowerManagement(POHANDLE Handle)
{
    struct device *device;
    uint64_t serial;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-181", NT_NO_CODE, __func__))
        return;
    device = find(Handle, __func__);
    if (!device)
        return;
    device->started = true;
    serial = device->resource.serial;
    for (ULONG i = 0; is_registered(device, serial) && i < device->count; i++)
        settle(device, i);
}

NT_EXPORT VOID NTAPI PoFxActivateComponent(POHANDLE Handle, ULONG Component, ULONG Flags)
{
    struct component *component;
    struct device *device;

    NT_ENTER();
    (void)Flags;
    component = find_component(Handle, Component, &device, __func__);
    if (!component)
        return;
    component->references++;
    settle(device, Component);
}

NT_EXPORT VOID NTAPI PoFxIdleComponent(POHANDLE Handle, ULONG Component, ULONG Flags)
{
    struct component *component;
    struct device *device;

    NT_ENTER();
    (void)Flags;
    component = find_component(Handle, Component, &device, __func__);
    if (!component)
        return;
    if (component->references == 0) {
        VIOLATION("NT-181", "%s of component %u, which has no reference", __func__, Component);
        return;
    }
    component->references--;
    settle(device, Component);
}

NT_EXPORT VOID NTAPI PoFxCompleteIdleCondition(POHANDLE Handle, ULONG Component)
{
    struct component *component;
    struct device *device;

    NT_ENTER();
    component = find_component(Handle, Component, &device, __func__);
    if (!component)
        return;
    if (!component->changing) {
        VIOLATION("NT-181", "%s of component %u, which no idle condition was told", __func__,
                  Component);
        return;
    }
    component->changing = false;
    settle(device, Component);
}

/* ---- what concerns F states, D states and waiting times that the machine does not have ---- */

NT_EXPORT VOID NTAPI PoFxCompleteIdleState(POHANDLE Handle, ULONG Component)
{
    struct device *device;

    NT_ENTER();
    if (find_component(Handle, Component, &device, __func__))
        VIOLATION("NT-181", "%s of component %u, which is to leave no state", __func__, Component);
}

NT_EXPORT VOID NTAPI PoFxCompleteDevicePowerNotRequired(POHANDLE Handle)
{
    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-181", NT_NO_CODE, __func__);
    if (find(Handle, __func__))
        VIOLATION("NT-181", "%s, and the device is required", __func__);
}

NT_EXPORT VOID NTAPI PoFxReportDevicePoweredOn(POHANDLE Handle)
{
    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-181", NT_NO_CODE, __func__);
    find(Handle, __func__);
}

NT_EXPORT VOID NTAPI PoFxSetComponentLatency(POHANDLE Handle, ULONG Component, ULONGLONG Latency)
{
    struct device *device;

    NT_ENTER();
    (void)Latency;
    find_component(Handle, Component, &device, __func__);
}

NT_EXPORT VOID NTAPI PoFxSetComponentResidency(POHANDLE Handle, ULONG Component, ULONGLONG Residency)
{
    struct device *device;

    NT_ENTER();
    (void)Residency;
    find_component(Handle, Component, &device, __func__);
}

NT_EXPORT VOID NTAPI PoFxSetDeviceIdleTimeout(POHANDLE Handle, ULONGLONG IdleTimeout)
{
    NT_ENTER();
    (void)IdleTimeout;
    nt_level(NT_DISPATCH, "NT-181", NT_NO_CODE, __func__);
    find(Handle, __func__);
}
