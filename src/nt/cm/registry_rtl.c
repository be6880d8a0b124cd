/* SPDX-License-Identifier: MIT */
/* Registry services by path: RtlQueryRegistryValues and related routines. */
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/items.h"
#include "nt/cm/registry_key.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/pool.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "nt/rtl/rtl_string.h"
#include "util/list.h"
#include "verify/verify.h"

#define RTL_FLAGS                     (RTL_REGISTRY_HANDLE | RTL_REGISTRY_OPTIONAL)
#define KERNEL_SECURITY_CHECK_FAILURE 0x139u

static const char *const base_path[] = {
    [RTL_REGISTRY_ABSOLUTE] = "",
    [RTL_REGISTRY_SERVICES] = "\\Registry\\Machine\\System\\CurrentControlSet\\Services",
    [RTL_REGISTRY_CONTROL] = "\\Registry\\Machine\\System\\CurrentControlSet\\Control",
    [RTL_REGISTRY_WINDOWS_NT] = "\\Registry\\Machine\\Software\\Microsoft\\Windows NT\\CurrentVersion",
    [RTL_REGISTRY_DEVICEMAP] = "\\Registry\\Machine\\Hardware\\DeviceMap",
    [RTL_REGISTRY_USER] = "\\Registry\\User\\.Default",
};

/* The key that RelativeTo and Path name; if RelativeTo is a handle, Path is relative to its key. */
static NTSTATUS find_key(ULONG relative, PCWSTR path, bool create, struct reg_key **key)
{
    size_t length = path && !(relative & RTL_REGISTRY_HANDLE) ? nt_string_length(path) : 0;
    ULONG kind = relative & ~RTL_FLAGS;
    struct nt_object *object;

    if (relative & RTL_REGISTRY_HANDLE) {
        object = nt_handle_object((HANDLE)(uintptr_t)path, NT_OBJECT_KEY, NULL);
        if (!object)
            return STATUS_INVALID_HANDLE;
        *key = CONTAINER(object, struct reg_key, object);
        return (*key)->deleted ? STATUS_KEY_DELETED : STATUS_SUCCESS;
    }
    if (kind >= NT_ITEMS(base_path))
        return STATUS_INVALID_PARAMETER;
    if (kind == RTL_REGISTRY_ABSOLUTE) {
        *key = reg_path(path, length, true, create, false, NULL);
    } else {
        struct reg_key *base = reg_ascii_path(base_path[kind], create);

        *key = base ? reg_walk(base, path, length, true, create, false, NULL) : NULL;
    }
    if (*key)
        return STATUS_SUCCESS;
    return create ? STATUS_INSUFFICIENT_RESOURCES : STATUS_OBJECT_NAME_NOT_FOUND;
}

/* ---- queries ---- */

static bool is_text(ULONG type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

/* DIRECT: the value goes to EntryContext. Text fills a UNICODE_STRING, whose buffer may be
 * allocated; a number is stored as it is; anything else needs the size in the first LONG. */
static NTSTATUS store_text(PUNICODE_STRING string, const void *data, ULONG bytes, const void *caller)
{
    struct nt_block *block;

    if (!string->Buffer) {
        block = nt_pool_take(bytes ? bytes : sizeof(WCHAR), 0x67655251u /* "QReg" */, NT_POOL_PAGED,
                             false, caller);
        if (!block)
            return STATUS_NO_MEMORY;
        string->Buffer = (PWCH)(void *)block->address;
        string->MaximumLength = (USHORT)bytes;
    } else if (string->MaximumLength < bytes) {
        return STATUS_BUFFER_TOO_SMALL;
    }
    memcpy(string->Buffer, data, bytes);
    string->Length = (USHORT)(bytes >= sizeof(WCHAR) ? bytes - sizeof(WCHAR) : 0);
    return STATUS_SUCCESS;
}

static NTSTATUS store_direct(const RTL_QUERY_REGISTRY_TABLE *entry, ULONG type, const void *data,
                             ULONG bytes, const void *caller)
{
    LONG *sized = entry->EntryContext;

    if (!entry->EntryContext)
        return STATUS_INVALID_PARAMETER;
    if (is_text(type))
        return store_text(entry->EntryContext, data, bytes, caller);
    if (bytes <= sizeof(LONG)) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): checked by the caller */
        memcpy(entry->EntryContext, data, bytes);
        return STATUS_SUCCESS;
    }
    if (*sized < 0) {
        if ((ULONG) - *sized < bytes)
            return STATUS_BUFFER_TOO_SMALL;
        memcpy(sized, data, bytes);
        return STATUS_SUCCESS;
    }
    if ((ULONG)*sized < bytes + 2 * sizeof(LONG))
        return STATUS_BUFFER_TOO_SMALL;
    sized[0] = (LONG)bytes;
    sized[1] = (LONG)type;
    memcpy(sized + 2, data, bytes);
    return STATUS_SUCCESS;
}

/* DIRECT without TYPECHECK trusts the type of the value, which is allowed only in the system's own
 * hives (NT-147). */
static bool typecheck_wanted(const RTL_QUERY_REGISTRY_TABLE *entry, const struct reg_key *key,
                             const char *routine)
{
    const struct reg_key *service = reg_ascii_path(base_path[RTL_REGISTRY_SERVICES], false);
    const struct reg_key *top = key;
    bool of_driver = false;

    if (!(entry->Flags & RTL_QUERY_REGISTRY_DIRECT) || entry->Flags & RTL_QUERY_REGISTRY_TYPECHECK)
        return true;
    for (; top; top = top->parent)
        of_driver = of_driver || top == service;
    if (!of_driver) {
        WARNING("NT-147", "%s with DIRECT and without TYPECHECK", routine);
        return true;
    }
    verify_fatal("NT-147", KERNEL_SECURITY_CHECK_FAILURE, 0, 0, 0, 0,
                 "%s with DIRECT and without TYPECHECK on a driver's key", routine);
    return false;
}

static NTSTATUS check_type(const RTL_QUERY_REGISTRY_TABLE *entry, ULONG type)
{
    ULONG wanted = entry->DefaultType >> RTL_QUERY_REGISTRY_TYPECHECK_SHIFT;

    if (!(entry->Flags & RTL_QUERY_REGISTRY_TYPECHECK) ||
        !(entry->Flags & RTL_QUERY_REGISTRY_DIRECT))
        return STATUS_SUCCESS;
    return type == wanted ? STATUS_SUCCESS : STATUS_OBJECT_TYPE_MISMATCH;
}

static NTSTATUS deliver(const RTL_QUERY_REGISTRY_TABLE *entry, PVOID context, ULONG type,
                        void *data, ULONG bytes, const void *caller)
{
    NTSTATUS status;

    if (entry->Flags & RTL_QUERY_REGISTRY_DIRECT) {
        status = check_type(entry, type);
        return NT_SUCCESS(status) ? store_direct(entry, type, data, bytes, caller) : status;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): checked by the caller */
    status = entry->QueryRoutine(entry->Name, type, data, bytes, context, entry->EntryContext);
    return status == STATUS_BUFFER_TOO_SMALL ? STATUS_SUCCESS : status;
}

static NTSTATUS deliver_default(const RTL_QUERY_REGISTRY_TABLE *entry, PVOID context,
                                const void *caller)
{
    ULONG type = entry->DefaultType & ~(ULONG)RTL_QUERY_REGISTRY_TYPECHECK_MASK;
    ULONG bytes = entry->DefaultLength;
    RTL_QUERY_REGISTRY_TABLE unchecked = *entry;

    if (type == REG_NONE)
        return STATUS_SUCCESS;
    if (bytes == 0 && entry->DefaultData && is_text(type))
        bytes = (ULONG)((nt_string_length(entry->DefaultData) + 1) * sizeof(WCHAR));
    unchecked.Flags &= ~(ULONG)RTL_QUERY_REGISTRY_TYPECHECK;
    return deliver(&unchecked, context, type, entry->DefaultData, bytes, caller);
}

static NTSTATUS query_all(struct reg_key *key, const RTL_QUERY_REGISTRY_TABLE *entry, PVOID context)
{
    bool any = false;

    LIST_FOR(node, &key->values) {
        struct reg_value *value = CONTAINER(node, struct reg_value, link);
        WCHAR name[128];
        NTSTATUS status;
        size_t length = value->name.length < NT_ITEMS(name) ? value->name.length
                                                            : NT_ITEMS(name) - 1;

        any = true;
        memcpy(name, value->name.text, length * sizeof(WCHAR));
        name[length] = 0;
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): checked by the caller */
        status = entry->QueryRoutine(name, value->type, value->data, value->bytes, context,
                                     entry->EntryContext);
        if (!NT_SUCCESS(status))
            return status;
    }
    return any || !(entry->Flags & RTL_QUERY_REGISTRY_REQUIRED) ? STATUS_SUCCESS
                                                                : STATUS_OBJECT_NAME_NOT_FOUND;
}

static NTSTATUS query_one(struct reg_key *key, const RTL_QUERY_REGISTRY_TABLE *entry, PVOID context,
                          const char *routine, const void *caller)
{
    struct reg_value *value;
    NTSTATUS status;

    if (entry->Flags & RTL_QUERY_REGISTRY_DIRECT
            ? !entry->Name || entry->QueryRoutine || entry->Flags & RTL_QUERY_REGISTRY_NOVALUE
            : !entry->QueryRoutine)
        return STATUS_INVALID_PARAMETER;
    if (!typecheck_wanted(entry, key, routine))
        return STATUS_ACCESS_DENIED;
    if (entry->Flags & RTL_QUERY_REGISTRY_NOVALUE)
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): checked by the caller */
        return entry->QueryRoutine(NULL, REG_NONE, NULL, 0, context, entry->EntryContext);
    if (!entry->Name)
        return query_all(key, entry, context);
    value = reg_find_value(key, entry->Name, nt_string_length(entry->Name));
    if (!value)
        return entry->Flags & RTL_QUERY_REGISTRY_REQUIRED ? STATUS_OBJECT_NAME_NOT_FOUND
                                                          : deliver_default(entry, context, caller);
    status = deliver(entry, context, value->type, value->data, value->bytes, caller);
    if (NT_SUCCESS(status) && entry->Flags & RTL_QUERY_REGISTRY_DELETE)
        reg_delete_value(value);
    return status;
}

NT_EXPORT NTSTATUS NTAPI RtlQueryRegistryValues(ULONG RelativeTo, PCWSTR Path,
                                                PRTL_QUERY_REGISTRY_TABLE QueryTable, PVOID Context,
                                                PVOID Environment)
{
    const RTL_QUERY_REGISTRY_TABLE *entry = QueryTable;
    struct reg_key *top, *key;
    NTSTATUS status;

    NT_ENTER();
    (void)Environment;
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = find_key(RelativeTo, Path, false, &top);
    if (!NT_SUCCESS(status))
        return RelativeTo & RTL_REGISTRY_OPTIONAL ? STATUS_SUCCESS : status;
    key = top;
    for (; NT_SUCCESS(status) &&
           (entry->QueryRoutine || entry->Name ||
            entry->Flags & (RTL_QUERY_REGISTRY_SUBKEY | RTL_QUERY_REGISTRY_DIRECT));
         entry++) {
        if (entry->Flags & (RTL_QUERY_REGISTRY_TOPKEY | RTL_QUERY_REGISTRY_SUBKEY))
            key = top;
        if (entry->Flags & RTL_QUERY_REGISTRY_SUBKEY) {
            key = entry->Name ? reg_walk(top, entry->Name, nt_string_length(entry->Name), true,
                                         false, false, NULL)
                              : NULL;
            if (!key) {
                key = top;
                status = entry->Flags & RTL_QUERY_REGISTRY_REQUIRED ? STATUS_OBJECT_NAME_NOT_FOUND
                                                                    : STATUS_SUCCESS;
            }
            continue;
        }
        status = query_one(key, entry, Context, __func__, NT_CALLER());
    }
    return status;
}

/* ---- changes ---- */

NT_EXPORT NTSTATUS NTAPI RtlWriteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName,
                                               ULONG ValueType, PVOID ValueData, ULONG ValueLength)
{
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = find_key(RelativeTo, Path, true, &key);
    if (!NT_SUCCESS(status))
        return status;
    return reg_set_value(key, ValueName, nt_string_length(ValueName), ValueType, ValueData,
                         ValueLength)
               ? STATUS_SUCCESS
               : STATUS_INSUFFICIENT_RESOURCES;
}

NT_EXPORT NTSTATUS NTAPI RtlDeleteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName)
{
    struct reg_value *value;
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = find_key(RelativeTo, Path, false, &key);
    if (!NT_SUCCESS(status))
        return status;
    value = reg_find_value(key, ValueName, nt_string_length(ValueName));
    if (!value)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    reg_delete_value(value);
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI RtlCreateRegistryKey(ULONG RelativeTo, PWSTR Path)
{
    struct reg_key *key;

    NT_ENTER();
    return nt_level_zw(__func__) ? find_key(RelativeTo, Path, true, &key)
                                 : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT NTSTATUS NTAPI RtlCheckRegistryKey(ULONG RelativeTo, PWSTR Path)
{
    struct reg_key *key;

    NT_ENTER();
    return nt_level_zw(__func__) ? find_key(RelativeTo, Path, false, &key)
                                 : STATUS_INVALID_DEVICE_REQUEST;
}
