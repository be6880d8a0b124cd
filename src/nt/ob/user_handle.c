/* SPDX-License-Identifier: MIT */
/*
 * Handles that clients pass. ObReferenceObjectByHandle would report bad ones as a driver's mistake
 * (NT-104).
 */
#include "nt/ob/user_handle.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"

NTSTATUS nt_user_handle_open(HANDLE handle, enum nt_user_object kind, ACCESS_MASK wanted,
                             void **body)
{
    enum nt_object_type type = kind == NT_USER_PROCESS ? NT_OBJECT_PROCESS : NT_OBJECT_EVENT;
    struct nt_object *object;
    ACCESS_MASK access = 0;

    if (!handle || nt_handle_is_kernel(handle) || !nt_handle_object(handle, NT_OBJECT_ANY, &access))
        return STATUS_INVALID_HANDLE;
    object = nt_handle_object(handle, type, NULL);
    if (!object)
        return STATUS_OBJECT_TYPE_MISMATCH;
    if ((access & wanted) != wanted)
        return STATUS_ACCESS_DENIED;
    nt_object_retain(object);
    *body = object->body;
    return STATUS_SUCCESS;
}

void nt_user_handle_close(void *body)
{
    struct nt_object *object = nt_object_find(body);

    if (object)
        nt_object_release(object);
}
