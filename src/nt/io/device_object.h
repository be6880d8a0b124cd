/* SPDX-License-Identifier: MIT */
/*
 * Device objects that the rooms above made known: properties, registry keys, names.
 */
#ifndef DXGK_NT_DEVICE_OBJECT_H
#define DXGK_NT_DEVICE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

struct bus_device;

/* What IoGetDeviceProperty and IoOpenDeviceRegistryKey tell of an adapter (NT-149). */
struct nt_device_info {
    struct bus_device *device;
    const char *service; /* name of the driver's service key; copied */
    uint32_t instance;   /* number of the adapter, from 0 */
    uint32_t bus, slot, function;
};

/* The physical device object of an adapter (a DEVICE_OBJECT of the room above), and driver objects
 * and the like, which IoAllocateWorkItem accepts too (NT-100). False: out of memory. */
bool nt_device_object_register_physical(void *object, const struct nt_device_info *info);
bool nt_device_object_register(void *object);
void nt_device_object_unregister(void *object);
/* A device object (registered if it is not yet) that IoGetDeviceObjectPointer finds by this
 * name, in whatever case (NT-170). `name` is kept, not copied. False: out of memory. */
bool nt_device_object_name(void *object, const char *name);

/* Before any room has made such objects known, each pointer is taken for one. */
bool nt_device_object_known(const void *object);
/* Is it registered, really? */
bool nt_device_object_registered(const void *object);
/* The device object of this name; NULL: none. */
void *nt_device_object_named(const char *name);

#endif
