/* SPDX-License-Identifier: MIT */
/*
 * Objects with reference counts, and handles to them.
 *
 * A pointer that a driver holds is the address of an object's body; it is looked up before use. A
 * handle is an entry of one table, with the access that was granted. Kernel handles have all high
 * bits set, handles of a process do not; both are multiples of four. An object lives until neither
 * a pointer reference nor a handle is left (NT-105).
 */
#include <stdio.h>

#include "nt/nt_private.h"

#define KERNEL_HANDLE_BITS    0xFFFFFFFC00000000u
#define INVALID_KERNEL_HANDLE 0x93u
#define HANDLE_ENTRY          1u /* the one type in the handle table */

struct handle_entry {
    struct nt_resource resource;
    struct nt_object *object;
    struct nt_process *process; /* NULL: kernel handle */
    ACCESS_MASK access;
    uint32_t value;
};

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

/* As a driver sees an imported variable: a pointer to it. */
NT_EXPORT POBJECT_TYPE *PsThreadType = &thread_type_variable;
NT_EXPORT POBJECT_TYPE *PsProcessType = &process_type_variable;
NT_EXPORT POBJECT_TYPE *ExEventObjectType = &event_type_variable;
NT_EXPORT POBJECT_TYPE *ExSemaphoreObjectType = &semaphore_type_variable;
NT_EXPORT POBJECT_TYPE *IoFileObjectType = &file_type_variable;
NT_EXPORT POBJECT_TYPE *MmSectionObjectType = &section_type_variable;

/* ---- objects ---- */

bool nt_object_init(struct nt_object *object, enum nt_object_type type, void *body,
                    void (*destroy)(struct nt_object *object))
{
    object->type = type;
    object->references = 1;
    object->handles = 0;
    object->body = body;
    object->destroy = destroy;
    return hash_put(&nt_state()->objects, (uintptr_t)body, object);
}

struct nt_object *nt_object_find(const void *body)
{
    return body ? hash_get(&nt_state()->objects, (uintptr_t)body) : NULL;
}

static void destroy_if_unused(struct nt_object *object)
{
    if (object->references != 0 || object->handles != 0)
        return;
    hash_remove(&nt_state()->objects, (uintptr_t)object->body);
    if (object->destroy)
        object->destroy(object);
}

void nt_object_retain(struct nt_object *object)
{
    object->references++;
}

void nt_object_release(struct nt_object *object)
{
    object->references--;
    destroy_if_unused(object);
}

static void describe_handle(const struct nt_resource *resource, char *text, size_t bytes);
static void reclaim_handle(struct nt_resource *resource);

static const struct nt_resource_class handle_class = {
    .rule = "NT-109",
    .noun = "open kernel handle",
    .describe = describe_handle,
    .reclaim = reclaim_handle,
};

/* ---- handles ---- */

HANDLE nt_handle_create(struct nt_object *object, ACCESS_MASK access, bool kernel,
                        const void *caller)
{
    struct nt *nt = nt_state();
    struct handle_entry *entry = util_zalloc(1, sizeof(*entry));
    uint64_t value;

    if (!entry)
        return NULL;
    entry->object = object;
    entry->access = access;
    entry->process = kernel ? NULL : nt_process_current();
    entry->value = handle_create(&nt->handles, HANDLE_ENTRY, entry);
    if (entry->value == 0) {
        util_free(entry);
        return NULL;
    }
    object->handles++;
    nt_resource_track(&entry->resource, &handle_class, caller);
    value = (uint64_t)entry->value << 2 | (kernel ? KERNEL_HANDLE_BITS : 0);
    return (HANDLE)(uintptr_t)value;
}

bool nt_handle_is_kernel(HANDLE handle)
{
    return ((uintptr_t)handle & KERNEL_HANDLE_BITS) == KERNEL_HANDLE_BITS;
}

static struct handle_entry *find_entry(HANDLE handle)
{
    uint64_t value = (uintptr_t)handle;
    struct handle_entry *entry;
    bool kernel = nt_handle_is_kernel(handle);

    if (kernel)
        value &= ~KERNEL_HANDLE_BITS;
    if (value % 4 != 0 || value >> 34 != 0)
        return NULL;
    entry = handle_lookup(&nt_state()->handles, (uint32_t)(value >> 2), HANDLE_ENTRY);
    if (!entry || kernel != (entry->process == NULL))
        return NULL;
    return kernel || entry->process == nt_process_current() ? entry : NULL;
}

static void close_entry(struct handle_entry *entry)
{
    struct nt_object *object = entry->object;

    handle_remove(&nt_state()->handles, entry->value, HANDLE_ENTRY);
    nt_resource_untrack(&entry->resource);
    util_free(entry);
    object->handles--;
    destroy_if_unused(object);
}

struct nt_object *nt_handle_object(HANDLE handle, enum nt_object_type type, ACCESS_MASK *access)
{
    struct handle_entry *entry = find_entry(handle);

    if (!entry || (type != NT_OBJECT_ANY && entry->object->type != type))
        return NULL;
    if (access)
        *access = entry->access;
    return entry->object;
}

void *nt_process_event(const struct nt_process *process, HANDLE handle)
{
    uint64_t value = (uintptr_t)handle;
    const struct handle_entry *entry;

    if (nt_handle_is_kernel(handle) || value % 4 != 0 || value >> 34 != 0)
        return NULL;
    entry = handle_lookup(&nt_state()->handles, (uint32_t)(value >> 2), HANDLE_ENTRY);
    if (!entry || entry->process != process || entry->object->type != NT_OBJECT_EVENT)
        return NULL;
    return entry->object->body;
}

void nt_handle_close(HANDLE handle)
{
    close_entry(find_entry(handle));
}

bool nt_handle_kernel_wanted(const OBJECT_ATTRIBUTES *attributes, const char *rule,
                             const char *routine)
{
    if (nt_process_current() == nt_process_system() ||
        (attributes && attributes->Attributes & OBJ_KERNEL_HANDLE))
        return true;
    WARNING(rule, "%s in a client's process without OBJ_KERNEL_HANDLE", routine);
    return false;
}

bool nt_zw_level(const char *routine)
{
    return nt_level(NT_PASSIVE, "NT-145", 0xE6, routine);
}

void nt_handles_close_process(struct nt_process *process)
{
    struct nt *nt = nt_state();
    uint32_t cursor = 0, handle;
    uint8_t type;
    struct handle_entry *entry;

    while ((entry = handle_next(&nt->handles, &cursor, &handle, &type)) != NULL) {
        if (entry->process == process)
            close_entry(entry);
    }
}

static const char *type_name(enum nt_object_type type)
{
    static const char *const name[] = {
        [NT_OBJECT_ANY] = "object",          [NT_OBJECT_THREAD] = "thread",
        [NT_OBJECT_PROCESS] = "process",     [NT_OBJECT_EVENT] = "event",
        [NT_OBJECT_SEMAPHORE] = "semaphore", [NT_OBJECT_FILE] = "file",
        [NT_OBJECT_KEY] = "registry key",    [NT_OBJECT_SECTION] = "section",
    };

    return name[type];
}

static void describe_handle(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct handle_entry *entry = CONTAINER(resource, struct handle_entry, resource);

    snprintf(text, bytes, " of a %s", type_name(entry->object->type));
}

static void reclaim_handle(struct nt_resource *resource)
{
    close_entry(CONTAINER(resource, struct handle_entry, resource));
}

/* ---- routines ---- */

static NTSTATUS close_handle(HANDLE handle, const char *routine)
{
    struct handle_entry *entry = find_entry(handle);

    if (entry) {
        close_entry(entry);
        return STATUS_SUCCESS;
    }
    if (nt_handle_is_kernel(handle))
        verify_fatal("NT-106", INVALID_KERNEL_HANDLE, (uintptr_t)handle, 0, 0, 0,
                     "%s of a kernel handle that is not valid", routine);
    return STATUS_INVALID_HANDLE;
}

NT_EXPORT NTSTATUS NTAPI ZwClose(HANDLE Handle)
{
    NT_ENTER();
    if (!nt_zw_level(__func__))
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
    } else if (!find_entry(handle)) {
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
    struct handle_entry *entry;
    NTSTATUS status;

    if (!nt_level(NT_PASSIVE, "NT-103", NT_NO_CODE, routine) || !body)
        return STATUS_INVALID_PARAMETER;
    *body = NULL;
    if (handle == ZwCurrentThread()) {
        nt_object_retain(&nt_thread()->object);
        *body = nt_thread();
        return STATUS_SUCCESS;
    }
    status = check_handle(handle, mode, routine);
    if (!NT_SUCCESS(status))
        return status;
    entry = find_entry(handle);
    if (type && type->type != entry->object->type)
        return STATUS_OBJECT_TYPE_MISMATCH;
    if (mode == UserMode && (wanted & ~entry->access) != 0)
        return STATUS_ACCESS_DENIED;
    if (information) {
        information->HandleAttributes = 0;
        information->GrantedAccess = entry->access;
    }
    nt_object_retain(entry->object);
    *body = entry->object->body;
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
    /* Device and driver objects stay without a count. */
    if (!object && nt_state()->device_objects.count != 0 && nt_device_object_known(body))
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
