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
    static const enum nt_object_type types[] = {
        [NT_USER_PROCESS] = NT_OBJECT_PROCESS,
        [NT_USER_EVENT] = NT_OBJECT_EVENT,
        [NT_USER_SHARED_RESOURCE] = NT_OBJECT_SHARED_RESOURCE,
        [NT_USER_SHARED_SYNC] = NT_OBJECT_SHARED_SYNC,
    };
    struct nt_object *object;
    ACCESS_MASK access = 0;

    if (!handle || nt_handle_is_kernel(handle) || !nt_handle_object(handle, NT_OBJECT_ANY, &access))
        return STATUS_INVALID_HANDLE;
    object = nt_handle_object(handle, types[kind], NULL);
    if (!object)
        return STATUS_OBJECT_TYPE_MISMATCH;
    if ((access & wanted) != wanted)
        return STATUS_ACCESS_DENIED;
    nt_object_retain(object);
    *body = object->body;
    return STATUS_SUCCESS;
}

ACCESS_MASK nt_user_handle_access(HANDLE handle)
{
    ACCESS_MASK access = 0;

    return !nt_handle_is_kernel(handle) && nt_handle_object(handle, NT_OBJECT_ANY, &access) ? access
                                                                                            : 0;
}

void nt_user_handle_close(void *body)
{
    struct nt_object *object = nt_object_find(body);

    if (object)
        nt_object_release(object);
}
