/* SPDX-License-Identifier: MIT */
/*
 * Device objects found by name, and the file objects of opened ones. Only objects named by an upper
 * room can be found (nt_device_object_name); a driver's own device objects do not exist.
 */
#include "nt/base/export.h"
#include "nt/base/resource.h"
#include "nt/io/device_object.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ob/object.h"
#include "sim/fault.h"
#include "util/alloc.h"
#include "util/list.h"

#define LONGEST_DEVICE_NAME 64u /* characters; no name in the machine has as many */
#define FILE_OBJECT_BYTES   ((CSHORT)sizeof(FILE_OBJECT))

/* What IoGetDeviceObjectPointer returned to a driver, until the driver releases the last
 * reference. */
struct device_file {
    FILE_OBJECT body;
    struct nt_object object;
    struct nt_resource resource;
};

static void destroy_file(struct nt_object *object)
{
    struct device_file *file = CONTAINER(object, struct device_file, object);

    nt_resource_untrack(&file->resource);
    util_free(file);
}

static void reclaim(struct nt_resource *resource)
{
    struct device_file *file = CONTAINER(resource, struct device_file, resource);

    nt_object_forget(&file->object);
    util_free(file);
}

static const struct nt_resource_class file_class = {
    .rule = "NT-170",
    .noun = "reference to a file object",
    .reclaim = reclaim,
};

static struct device_file *open_device(PDEVICE_OBJECT device, const void *caller)
{
    struct device_file *file = util_zalloc(1, sizeof(*file));

    if (!file)
        return NULL;
    file->body.Type = IO_TYPE_FILE;
    file->body.Size = FILE_OBJECT_BYTES;
    file->body.DeviceObject = device;
    if (!nt_object_init(&file->object, NT_OBJECT_FILE, &file->body, destroy_file)) {
        util_free(file);
        return NULL;
    }
    nt_resource_track(&file->resource, &file_class, caller);
    return file;
}

/* Convert the driver's name to ASCII; false: unreadable, malformed, or too long or not ASCII, so
 * that nothing here can have it. */
static bool read_name(const UNICODE_STRING *from, char *name)
{
    WCHAR text[LONGEST_DEVICE_NAME];
    UNICODE_STRING string;
    size_t length;

    if (!sim_copy_checked(&string, from, sizeof(string)))
        return false;
    length = string.Length / sizeof(WCHAR);
    if (string.Length % sizeof(WCHAR) != 0 || length == 0 || length >= LONGEST_DEVICE_NAME ||
        !sim_copy_checked(text, string.Buffer, string.Length))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == 0 || text[i] > 0x7E)
            return false;
        name[i] = (char)text[i];
    }
    name[length] = '\0';
    return true;
}

NT_EXPORT NTSTATUS NTAPI IoGetDeviceObjectPointer(PUNICODE_STRING ObjectName,
                                                  ACCESS_MASK DesiredAccess,
                                                  PFILE_OBJECT *FileObject,
                                                  PDEVICE_OBJECT *DeviceObject)
{
    struct device_file *file;
    PDEVICE_OBJECT device;
    char name[LONGEST_DEVICE_NAME];

    NT_ENTER();
    (void)DesiredAccess;
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!ObjectName || !FileObject || !DeviceObject)
        return STATUS_INVALID_PARAMETER;
    device = read_name(ObjectName, name) ? nt_device_object_named(name) : NULL;
    if (!device)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    file = open_device(device, NT_CALLER());
    if (!file)
        return STATUS_INSUFFICIENT_RESOURCES;
    *FileObject = &file->body;
    *DeviceObject = device;
    return STATUS_SUCCESS;
}

NT_EXPORT PDEVICE_OBJECT NTAPI IoGetRelatedDeviceObject(PFILE_OBJECT FileObject)
{
    const struct nt_object *object;

    NT_ENTER();
    object = nt_object_find(FileObject);
    return object && object->type == NT_OBJECT_FILE ? FileObject->DeviceObject : NULL;
}
