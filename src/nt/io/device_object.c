/* SPDX-License-Identifier: MIT */
/*
 * Device objects registered by upper rooms: the properties of an adapter's physical device object,
 * and its registry keys.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "nt/io/device_object.h"
#include "bus/device.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/cm/registry_key.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "util/alloc.h"
#include "util/hash.h"

#define DISPLAY_CLASS "{4d36e968-e325-11ce-bfc1-08002be10318}"
#define COMPUTE_CLASS "{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}"
#define CLASS_COMPUTE 0x12u /* base class of the PCI class code: processing accelerator */

struct device_object {
    struct nt_device_info info;
    const char *name; /* "\\Device\\...", if it can be found by name; else NULL */
    bool physical;    /* a PDO; else a driver object or similar */
};

static struct device_object *find(const void *object)
{
    return object ? hash_get(nt_state()->device_objects, (uintptr_t)object) : NULL;
}

static bool add(void *object, const struct nt_device_info *info)
{
    struct nt *nt = nt_state();
    struct device_object *record = util_zalloc(1, sizeof(*record));

    if (!record)
        return false;
    if (info) {
        record->info = *info;
        record->physical = true;
    }
    if (!hash_put(nt->device_objects, (uintptr_t)object, record)) {
        util_free(record);
        return false;
    }
    return true;
}

bool nt_device_object_register(void *object)
{
    return find(object) || add(object, NULL);
}

bool nt_device_object_register_physical(void *object, const struct nt_device_info *info)
{
    nt_device_object_unregister(object);
    return add(object, info);
}

bool nt_device_object_name(void *object, const char *name)
{
    struct device_object *record;

    if (!nt_device_object_register(object))
        return false;
    record = find(object);
    record->name = name;
    return true;
}

void *nt_device_object_named(const char *name)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *record;

    while (hash_next(nt_state()->device_objects, &cursor, &key, &record)) {
        const struct device_object *object = record;

        if (object->name && strcasecmp(object->name, name) == 0)
            return (void *)(uintptr_t)key;
    }
    return NULL;
}

void nt_device_object_unregister(void *object)
{
    util_free(hash_remove(nt_state()->device_objects, (uintptr_t)object));
}

/* True for any pointer, until an upper room has registered an object. */
bool nt_device_object_known(const void *object)
{
    return object && (nt_state()->device_objects->count == 0 || find(object));
}

bool nt_device_object_registered(const void *object)
{
    return find(object) != NULL;
}

struct bus_device *nt_device_object_device(const void *object)
{
    const struct device_object *record = find(object);

    return record && record->physical ? record->info.device : NULL;
}

static bool init(struct nt *nt)
{
    hash_init(nt->device_objects);
    nt_object_set_uncounted(nt_device_object_registered);
    return true;
}

static void finish(struct nt *nt)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *record;

    while (hash_next(nt->device_objects, &cursor, &key, &record))
        util_free(record);
    hash_finish(nt->device_objects);
}

const struct nt_component nt_device_object_component = {
    .slot = offsetof(struct nt, device_objects),
    .bytes = sizeof(struct hash_map),
    .init = init,
    .finish = finish,
};

/* ---- properties ---- */

/* Text properties are built in ASCII and returned as UTF-16; a list ends with an empty string. */
struct text {
    char list[512];
    size_t length; /* including the terminators */
};

static void add_text(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_text(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text->list + text->length, sizeof(text->list) - text->length, format, arguments);
    va_end(arguments);
    text->length += strlen(text->list + text->length) + 1;
}

static void end_list(struct text *text)
{
    text->list[text->length++] = '\0';
}

static const char *class_guid(const struct dxgk_device_description *d)
{
    return d->class_code >> 16 == CLASS_COMPUTE ? COMPUTE_CLASS : DISPLAY_CLASS;
}

static unsigned subsystem(const struct dxgk_device_description *d)
{
    return (unsigned)d->subsystem << 16 | d->subsystem_vendor;
}

static bool text_property(const struct device_object *object, DEVICE_REGISTRY_PROPERTY property,
                          struct text *text)
{
    const struct nt_device_info *info = &object->info;
    const struct dxgk_device_description *d = bus_device_description(info->device);

    switch (property) {
    case DevicePropertyHardwareID:
        add_text(text, "PCI\\VEN_%04X&DEV_%04X&SUBSYS_%08X&REV_%02X", d->vendor, d->device,
                 subsystem(d), d->revision);
        add_text(text, "PCI\\VEN_%04X&DEV_%04X&SUBSYS_%08X", d->vendor, d->device, subsystem(d));
        add_text(text, "PCI\\VEN_%04X&DEV_%04X&CC_%06X", d->vendor, d->device,
                 d->class_code & 0xFFFFFF);
        end_list(text);
        return true;
    case DevicePropertyCompatibleIDs:
        add_text(text, "PCI\\VEN_%04X&DEV_%04X&REV_%02X", d->vendor, d->device, d->revision);
        add_text(text, "PCI\\VEN_%04X&DEV_%04X", d->vendor, d->device);
        add_text(text, "PCI\\CC_%06X", d->class_code & 0xFFFFFF);
        end_list(text);
        return true;
    case DevicePropertyClassGuid:
        add_text(text, "%s", class_guid(d));
        return true;
    case DevicePropertyDriverKeyName:
        add_text(text, "%s\\%04u", class_guid(d), info->instance);
        return true;
    case DevicePropertyLocationInformation:
        add_text(text, "PCI bus %u, device %u, function %u", info->bus, info->slot, info->function);
        return true;
    case DevicePropertyPhysicalDeviceObjectName:
        add_text(text, "\\Device\\NTPNP_PCI%04u", info->instance);
        return true;
    default:
        return false;
    }
}

static bool number_property(const struct nt_device_info *info, DEVICE_REGISTRY_PROPERTY property,
                            ULONG *number)
{
    switch (property) {
    case DevicePropertyBusNumber:
        *number = info->bus;
        return true;
    case DevicePropertyAddress:
        *number = info->slot << 16 | info->function;
        return true;
    case DevicePropertyLegacyBusType:
        *number = PCIBus;
        return true;
    default:
        return false;
    }
}

NT_EXPORT NTSTATUS NTAPI IoGetDeviceProperty(PDEVICE_OBJECT DeviceObject,
                                             DEVICE_REGISTRY_PROPERTY DeviceProperty,
                                             ULONG BufferLength, PVOID PropertyBuffer,
                                             PULONG ResultLength)
{
    struct device_object *object;
    struct text text = {.length = 0};
    ULONG number = 0, bytes;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-148", NT_NO_CODE, __func__) || !ResultLength)
        return STATUS_INVALID_DEVICE_REQUEST;
    *ResultLength = 0;
    object = find(DeviceObject);
    if (!object || !object->physical)
        return STATUS_INVALID_DEVICE_REQUEST;
    if ((unsigned)DeviceProperty > DevicePropertyContainerID)
        return STATUS_INVALID_PARAMETER_2;
    if (number_property(&object->info, DeviceProperty, &number))
        bytes = sizeof(number);
    else if (text_property(object, DeviceProperty, &text))
        bytes = (ULONG)(text.length * sizeof(WCHAR));
    else
        return STATUS_OBJECT_NAME_NOT_FOUND;
    *ResultLength = bytes;
    if (BufferLength < bytes || !PropertyBuffer)
        return STATUS_BUFFER_TOO_SMALL;
    if (text.length == 0)
        memcpy(PropertyBuffer, &number, sizeof(number));
    for (size_t i = 0; i < text.length; i++)
        ((WCHAR *)PropertyBuffer)[i] = (unsigned char)text.list[i];
    return STATUS_SUCCESS;
}

/* ---- registry keys ---- */

static struct reg_key *device_key(const struct device_object *object, ULONG type)
{
    const struct dxgk_device_description *d = bus_device_description(object->info.device);
    char path[256];

    if (type == PLUGPLAY_REGKEY_DEVICE)
        snprintf(path, sizeof(path),
                 "\\Registry\\Machine\\System\\CurrentControlSet\\Enum\\PCI\\"
                 "VEN_%04X&DEV_%04X&SUBSYS_%08X&REV_%02X\\%04u\\Device Parameters",
                 d->vendor, d->device, subsystem(d), d->revision, object->info.instance);
    else
        snprintf(path, sizeof(path),
                 "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\Class\\%s\\%04u",
                 class_guid(d), object->info.instance);
    return reg_ascii_path(path, true);
}

bool nt_device_object_path(const void *object, char *text, size_t bytes)
{
    const struct device_object *record = find(object);
    const struct dxgk_device_description *d;

    if (!record || !record->physical)
        return false;
    d = bus_device_description(record->info.device);
    snprintf(text, bytes, "\\\\?\\PCI#VEN_%04X&DEV_%04X&SUBSYS_%08X&REV_%02X#%04u#", d->vendor,
             d->device, subsystem(d), d->revision, record->info.instance);
    return true;
}

NT_EXPORT NTSTATUS NTAPI IoOpenDeviceRegistryKey(PDEVICE_OBJECT DeviceObject, ULONG DevInstKeyType,
                                                 ACCESS_MASK DesiredAccess, PHANDLE DeviceRegKey)
{
    ULONG type = DevInstKeyType & ~(ULONG)PLUGPLAY_REGKEY_CURRENT_HWPROFILE;
    struct device_object *object;
    struct reg_key *key;
    HANDLE handle;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-150", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    object = find(DeviceObject);
    if (!object || !object->physical || !DeviceRegKey ||
        (type != PLUGPLAY_REGKEY_DEVICE && type != PLUGPLAY_REGKEY_DRIVER))
        return STATUS_INVALID_PARAMETER;
    key = device_key(object, type);
    if (!key)
        return STATUS_INSUFFICIENT_RESOURCES;
    handle = nt_handle_create(&key->object, reg_map_access(DesiredAccess), true, NT_CALLER());
    if (!handle)
        return STATUS_INSUFFICIENT_RESOURCES;
    *DeviceRegKey = handle;
    return STATUS_SUCCESS;
}
