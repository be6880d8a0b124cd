/* SPDX-License-Identifier: MIT */
/*
 * Device objects that upper rooms have registered: properties, registry keys, names.
 */
#ifndef DXGK_NT_DEVICE_OBJECT_H
#define DXGK_NT_DEVICE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus_device;

/* What IoGetDeviceProperty and IoOpenDeviceRegistryKey return about an adapter (NT-149). */
struct nt_device_info {
    struct bus_device *device;
    uint32_t instance; /* number of the adapter, from 0 */
    uint32_t bus, slot, function;
};

/* Register the physical device object of an adapter (a DEVICE_OBJECT of the upper room); or driver
 * objects and other objects that IoAllocateWorkItem also accepts (NT-100). False: out of memory. */
bool nt_device_object_register_physical(void *object, const struct nt_device_info *info);
bool nt_device_object_register(void *object);
void nt_device_object_unregister(void *object);
/* Let IoGetDeviceObjectPointer find a device object by this name, ignoring case (NT-170); registers
 * it if necessary. `name` is kept, not copied. False: out of memory. */
bool nt_device_object_name(void *object, const char *name);

/* True for any pointer, until an upper room has registered an object. */
bool nt_device_object_known(const void *object);
/* Whether it really is registered. */
bool nt_device_object_registered(const void *object);
/* The path of an interface of the device for clients, without the class GUID at its end:
 * "\\\\?\\PCI#VEN_...#0000#". False: no physical device object. */
bool nt_device_object_path(const void *object, char *text, size_t bytes);
/* The device behind a physical device object; NULL: it is none. */
struct bus_device *nt_device_object_device(const void *object);
/* The device object of this name; NULL: none. */
void *nt_device_object_named(const char *name);

#endif
