/* SPDX-License-Identifier: MIT */
/* Questions about the object behind a handle: its type, and its name. */
#include <string.h>

#include <ntifs.h>

#include "nt/base/export.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"

/* The text lies behind the fixed part, with a terminating zero. */
static NTSTATUS lay_out(UNICODE_STRING *string, ULONG fixed, ULONG chars, ULONG length,
                        ULONG *needed)
{
    *needed = fixed + (ULONG)((chars + 1) * sizeof(WCHAR));
    if (!string || length < *needed)
        return STATUS_INFO_LENGTH_MISMATCH;
    memset(string, 0, *needed);
    string->Buffer = (WCHAR *)(void *)((char *)string + fixed);
    string->Length = (USHORT)(chars * sizeof(WCHAR));
    string->MaximumLength = (USHORT)((chars + 1) * sizeof(WCHAR));
    return STATUS_SUCCESS;
}

static NTSTATUS query_type(const struct nt_object *object, void *information, ULONG length,
                           ULONG *needed)
{
    const char *name = nt_object_type_name(object->type);
    UNICODE_STRING *string = information;
    NTSTATUS status = lay_out(string, sizeof(PUBLIC_OBJECT_TYPE_INFORMATION), (ULONG)strlen(name),
                              length, needed);

    for (size_t i = 0; NT_SUCCESS(status) && name[i]; i++)
        string->Buffer[i] = (WCHAR)name[i];
    return status;
}

/* An object without a name has an empty string. */
static NTSTATUS query_name(const struct nt_object *object, void *information, ULONG length,
                           ULONG *needed)
{
    UNICODE_STRING *string = information;
    NTSTATUS status;

    if (!object->name) {
        *needed = sizeof(*string);
        if (!string || length < *needed)
            return STATUS_INFO_LENGTH_MISMATCH;
        memset(string, 0, sizeof(*string));
        return STATUS_SUCCESS;
    }
    status = lay_out(string, sizeof(*string), object->name_chars, length, needed);
    if (NT_SUCCESS(status))
        memcpy(string->Buffer, object->name, object->name_chars * sizeof(WCHAR));
    return status;
}

NT_EXPORT NTSTATUS NTAPI ZwQueryObject(HANDLE Handle,
                                       OBJECT_INFORMATION_CLASS ObjectInformationClass,
                                       PVOID ObjectInformation, ULONG ObjectInformationLength,
                                       PULONG ReturnLength)
{
    const struct nt_object *object;
    ULONG needed = 0;
    NTSTATUS status;

    NT_ENTER();
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    object = nt_handle_object(Handle, NT_OBJECT_ANY, NULL);
    if (!object)
        return STATUS_INVALID_HANDLE;
    if (ObjectInformationClass == ObjectTypeInformation)
        status = query_type(object, ObjectInformation, ObjectInformationLength, &needed);
    else if (ObjectInformationClass == ObjectNameInformation)
        status = query_name(object, ObjectInformation, ObjectInformationLength, &needed);
    else
        return STATUS_NOT_IMPLEMENTED;
    if (ReturnLength)
        *ReturnLength = needed;
    return status;
}
