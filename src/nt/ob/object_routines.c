/* SPDX-License-Identifier: MIT */
/* Objects and handles as drivers use them: the Ob routines, and ZwClose. */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/nt_report.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "verify/verify.h"

#define INVALID_KERNEL_HANDLE 0x93u

struct _OBJECT_TYPE {
    enum nt_object_type type;
    const char *name;
};

static struct _OBJECT_TYPE thread_type = {NT_OBJECT_THREAD, "Thread"};
static struct _OBJECT_TYPE process_type = {NT_OBJECT_PROCESS, "Process"};
static struct _OBJECT_TYPE event_type = {NT_OBJECT_EVENT, "Event"};
static struct _OBJECT_TYPE semaphore_type = {NT_OBJECT_SEMAPHORE, "Semaphore"};
static struct _OBJECT_TYPE file_type = {NT_OBJECT_FILE, "File"};
static struct _OBJECT_TYPE section_type = {NT_OBJECT_SECTION, "Section"};
static POBJECT_TYPE thread_type_variable = &thread_type;
static POBJECT_TYPE process_type_variable = &process_type;
static POBJECT_TYPE event_type_variable = &event_type;
static POBJECT_TYPE semaphore_type_variable = &semaphore_type;
static POBJECT_TYPE file_type_variable = &file_type;
static POBJECT_TYPE section_type_variable = &section_type;

/* Drivers see these as imported variables, which contain pointers. */
NT_EXPORT POBJECT_TYPE *PsThreadType = &thread_type_variable;
NT_EXPORT POBJECT_TYPE *PsProcessType = &process_type_variable;
NT_EXPORT POBJECT_TYPE *ExEventObjectType = &event_type_variable;
NT_EXPORT POBJECT_TYPE *ExSemaphoreObjectType = &semaphore_type_variable;
NT_EXPORT POBJECT_TYPE *IoFileObjectType = &file_type_variable;
NT_EXPORT POBJECT_TYPE *MmSectionObjectType = &section_type_variable;

static NTSTATUS close_handle(HANDLE handle, const char *routine)
{
    if (nt_handle_close(handle))
        return STATUS_SUCCESS;
    if (nt_handle_is_kernel(handle))
        verify_fatal("NT-106", INVALID_KERNEL_HANDLE, (uintptr_t)handle, 0, 0, 0,
                     "%s of a kernel handle that is not valid", routine);
    return STATUS_INVALID_HANDLE;
}

NT_EXPORT NTSTATUS NTAPI ZwClose(HANDLE Handle)
{
    NT_ENTER();
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    return close_handle(Handle, __func__);
}

NT_EXPORT NTSTATUS NTAPI ObCloseHandle(HANDLE Handle, KPROCESSOR_MODE PreviousMode)
{
    NT_ENTER();
    (void)PreviousMode;
    if (!nt_level(NT_PASSIVE, "NT-106", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    return close_handle(Handle, __func__);
}

static NTSTATUS check_handle(HANDLE handle, KPROCESSOR_MODE mode, const char *routine)
{
    bool kernel = nt_handle_is_kernel(handle);
    uint32_t code = 0;
    const char *what = NULL;

    if (!handle) {
        code = 0xF5;
        what = "a NULL handle";
    } else if (!nt_handle_object(handle, NT_OBJECT_ANY, NULL)) {
        code = 0x3C;
        what = "a handle that is not valid";
    } else if (!kernel && mode == KernelMode) {
        NT_VERIFIER("NT-104", 0xF6, (uintptr_t)handle, 0, 0,
                    "%s of a user-mode handle with KernelMode access", routine);
    } else if (kernel && mode == UserMode) {
        if (nt_process_current() != nt_process_system())
            return STATUS_INVALID_HANDLE;
        NT_VERIFIER("NT-104", 0xF7, (uintptr_t)handle, 0, 0,
                    "%s of a kernel handle with UserMode access in the system process", routine);
    }
    if (!what)
        return STATUS_SUCCESS;
    NT_VERIFIER("NT-104", code, (uintptr_t)handle, 0, 0, "%s of %s", routine, what);
    return STATUS_INVALID_HANDLE;
}

static NTSTATUS reference(HANDLE handle, ACCESS_MASK wanted, POBJECT_TYPE type, KPROCESSOR_MODE mode,
                          PVOID *body, POBJECT_HANDLE_INFORMATION information, const char *routine)
{
    struct nt_object *object;
    ACCESS_MASK access;
    NTSTATUS status;

    if (!nt_level(NT_PASSIVE, "NT-103", NT_NO_CODE, routine) || !body)
        return STATUS_INVALID_PARAMETER;
    *body = NULL;
    if (handle == ZwCurrentThread()) {
        nt_object_retain(nt_object_find(nt_thread()));
        *body = nt_thread();
        return STATUS_SUCCESS;
    }
    status = check_handle(handle, mode, routine);
    if (!NT_SUCCESS(status))
        return status;
    object = nt_handle_object(handle, NT_OBJECT_ANY, &access);
    if (type && type->type != object->type)
        return STATUS_OBJECT_TYPE_MISMATCH;
    if (mode == UserMode && (wanted & ~access) != 0)
        return STATUS_ACCESS_DENIED;
    if (information) {
        information->HandleAttributes = 0;
        information->GrantedAccess = access;
    }
    nt_object_retain(object);
    *body = object->body;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ObReferenceObjectByHandle(HANDLE Handle, ACCESS_MASK DesiredAccess,
                                                   POBJECT_TYPE ObjectType,
                                                   KPROCESSOR_MODE AccessMode, PVOID *Object,
                                                   POBJECT_HANDLE_INFORMATION HandleInformation)
{
    NT_ENTER();
    return reference(Handle, DesiredAccess, ObjectType, AccessMode, Object, HandleInformation,
                     __func__);
}

NT_EXPORT NTSTATUS NTAPI ObReferenceObjectByHandleWithTag(
    HANDLE Handle, ACCESS_MASK DesiredAccess, POBJECT_TYPE ObjectType, KPROCESSOR_MODE AccessMode,
    ULONG Tag, PVOID *Object, POBJECT_HANDLE_INFORMATION HandleInformation)
{
    NT_ENTER();
    (void)Tag;
    return reference(Handle, DesiredAccess, ObjectType, AccessMode, Object, HandleInformation,
                     __func__);
}

/* The object of a driver's pointer; an unknown one is reported. */
static struct nt_object *check_pointer(void *body, const char *routine)
{
    struct nt_object *object = nt_object_find(body);

    nt_level(NT_DISPATCH, "NT-105", NT_NO_CODE, routine);
    /* Device and driver objects are not counted. */
    if (!object && nt_object_is_uncounted(body))
        return NULL;
    if (!object || (object->references == 0 && !object->destroy))
        NT_VERIFIER("NT-105", 0x3F, (uintptr_t)body, 0, 0,
                    "%s of something that is no object, or none any more", routine);
    return object;
}

static LONG_PTR reference_pointer(void *body, const char *routine)
{
    struct nt_object *object = check_pointer(body, routine);

    if (!object)
        return 0;
    nt_object_retain(object);
    return (LONG_PTR)object->references + object->handles;
}

static LONG_PTR dereference_pointer(void *body, const char *routine)
{
    struct nt_object *object = check_pointer(body, routine);
    LONG_PTR left;

    if (!object)
        return 0;
    if (object->references <= object->host_references) {
        NT_VERIFIER("NT-105", 0x3F, (uintptr_t)body, 0, 0,
                    "%s of an object that has no reference left to give back", routine);
        return 0;
    }
    left = (LONG_PTR)object->references + object->handles - 1;
    nt_object_release(object);
    return left;
}

NT_EXPORT LONG_PTR NTAPI ObfReferenceObject(PVOID Object)
{
    NT_ENTER();
    return reference_pointer(Object, __func__);
}

NT_EXPORT LONG_PTR NTAPI ObfReferenceObjectWithTag(PVOID Object, ULONG Tag)
{
    NT_ENTER();
    (void)Tag;
    return reference_pointer(Object, __func__);
}

NT_EXPORT LONG_PTR NTAPI ObfDereferenceObject(PVOID Object)
{
    NT_ENTER();
    return dereference_pointer(Object, __func__);
}

NT_EXPORT LONG_PTR NTAPI ObfDereferenceObjectWithTag(PVOID Object, ULONG Tag)
{
    NT_ENTER();
    (void)Tag;
    return dereference_pointer(Object, __func__);
}

NT_EXPORT VOID NTAPI ObDereferenceObjectDeferDelete(PVOID Object)
{
    NT_ENTER();
    dereference_pointer(Object, __func__);
}

NT_EXPORT VOID NTAPI ObDereferenceObjectDeferDeleteWithTag(PVOID Object, ULONG Tag)
{
    NT_ENTER();
    (void)Tag;
    dereference_pointer(Object, __func__);
}

NT_EXPORT NTSTATUS NTAPI ObReferenceObjectByPointer(PVOID Object, ACCESS_MASK DesiredAccess,
                                                    POBJECT_TYPE ObjectType,
                                                    KPROCESSOR_MODE AccessMode)
{
    struct nt_object *object;

    NT_ENTER();
    (void)DesiredAccess;
    (void)AccessMode;
    object = check_pointer(Object, __func__);
    if (!object)
        return STATUS_INVALID_PARAMETER;
    if (ObjectType && ObjectType->type != object->type)
        return STATUS_OBJECT_TYPE_MISMATCH;
    nt_object_retain(object);
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ObOpenObjectByPointer(PVOID Object, ULONG HandleAttributes,
                                               PACCESS_STATE PassedAccessState,
                                               ACCESS_MASK DesiredAccess, POBJECT_TYPE ObjectType,
                                               KPROCESSOR_MODE AccessMode, PHANDLE Handle)
{
    struct nt_object *object;
    HANDLE handle;

    NT_ENTER();
    (void)PassedAccessState;
    (void)AccessMode;
    if (!nt_level(NT_PASSIVE, "NT-103", NT_NO_CODE, __func__) || !Handle)
        return STATUS_INVALID_PARAMETER;
    object = check_pointer(Object, __func__);
    if (!object)
        return STATUS_INVALID_PARAMETER;
    if (ObjectType && ObjectType->type != object->type)
        return STATUS_OBJECT_TYPE_MISMATCH;
    handle = nt_handle_create(object, DesiredAccess, HandleAttributes & OBJ_KERNEL_HANDLE,
                              NT_CALLER());
    if (!handle)
        return STATUS_INSUFFICIENT_RESOURCES;
    *Handle = handle;
    return STATUS_SUCCESS;
}
