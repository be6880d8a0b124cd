/* SPDX-License-Identifier: MIT */
/* Registry services by handle: ZwOpenKey and related routines. */
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/nt_report.h"
#include "nt/cm/registry_key.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/address_query.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "util/address.h"
#include "util/list.h"

/* ---- arguments ---- */

static void check_pointer(const void *pointer, const char *routine)
{
    if (pointer && nt_address_is_user(pointer))
        NT_VERIFIER("NT-145", 0xE3, (uintptr_t)pointer, 0, 0, "%s with a user-mode pointer",
                    routine);
}

static bool check_name(const UNICODE_STRING *name, const char *routine)
{
    check_pointer(name, routine);
    if (name && name->Length % sizeof(WCHAR) == 0 && name->Length <= name->MaximumLength &&
        (name->Buffer || name->Length == 0)) {
        check_pointer(name->Buffer, routine);
        return true;
    }
    NT_VERIFIER("NT-145", 0xE4, (uintptr_t)name, 0, 0, "%s with a malformed UNICODE_STRING",
                routine);
    return false;
}

/* Maps generic access rights to specific ones. */
ACCESS_MASK reg_map_access(ACCESS_MASK access)
{
    if (access & (GENERIC_ALL | MAXIMUM_ALLOWED))
        access |= KEY_ALL_ACCESS;
    if (access & GENERIC_READ)
        access |= KEY_READ;
    if (access & GENERIC_WRITE)
        access |= KEY_WRITE;
    return access & KEY_ALL_ACCESS;
}

/* The key of a handle that grants the access. */
static NTSTATUS key_of(HANDLE handle, ACCESS_MASK wanted, struct reg_key **key, const char *routine)
{
    struct nt_object *object;
    ACCESS_MASK access;

    if (!nt_level_zw(routine))
        return STATUS_INVALID_DEVICE_REQUEST;
    object = nt_handle_object(handle, NT_OBJECT_ANY, &access);
    if (!object)
        return STATUS_INVALID_HANDLE;
    if (object->type != NT_OBJECT_KEY)
        return STATUS_OBJECT_TYPE_MISMATCH;
    *key = CONTAINER(object, struct reg_key, object);
    if ((*key)->deleted)
        return STATUS_KEY_DELETED;
    return access & wanted || wanted == 0 ? STATUS_SUCCESS : STATUS_ACCESS_DENIED;
}

/* ---- opening ---- */

struct opening {
    bool create, temporary, created;
};

static NTSTATUS find_key(const OBJECT_ATTRIBUTES *attributes, struct opening *opening,
                         struct reg_key **key, const char *routine)
{
    const UNICODE_STRING *name = attributes->ObjectName;
    bool ignore_case = attributes->Attributes & OBJ_CASE_INSENSITIVE;
    struct reg_key *base;
    NTSTATUS status;

    if (!check_name(name, routine))
        return STATUS_OBJECT_NAME_INVALID;
    if (!attributes->RootDirectory) {
        if (name->Length == 0 || name->Buffer[0] != '\\')
            return STATUS_OBJECT_PATH_SYNTAX_BAD;
        *key = reg_path(name->Buffer, name->Length / sizeof(WCHAR), ignore_case, opening->create,
                        opening->temporary, &opening->created);
    } else {
        status = key_of(attributes->RootDirectory, 0, &base, routine);
        if (!NT_SUCCESS(status))
            return status;
        if (name->Length && name->Buffer[0] == '\\')
            return STATUS_OBJECT_PATH_SYNTAX_BAD;
        *key = reg_walk(base, name->Buffer, name->Length / sizeof(WCHAR), ignore_case,
                        opening->create, opening->temporary, &opening->created);
    }
    if (*key)
        return STATUS_SUCCESS;
    return opening->create ? STATUS_INSUFFICIENT_RESOURCES : STATUS_OBJECT_NAME_NOT_FOUND;
}

static NTSTATUS open_key(PHANDLE handle, ACCESS_MASK access, const OBJECT_ATTRIBUTES *attributes,
                         struct opening *opening, const char *routine, const void *caller)
{
    struct reg_key *key = NULL;
    NTSTATUS status;
    HANDLE opened;

    if (!nt_level_zw(routine))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!handle || !attributes || attributes->Length != sizeof(*attributes))
        return STATUS_INVALID_PARAMETER;
    check_pointer(handle, routine);
    check_pointer(attributes, routine);
    status = find_key(attributes, opening, &key, routine);
    if (!NT_SUCCESS(status))
        return status;
    opened = nt_handle_create(&key->object, reg_map_access(access),
                              nt_handle_kernel_wanted(attributes, "NT-141", routine), caller);
    if (!opened)
        return STATUS_INSUFFICIENT_RESOURCES;
    *handle = opened;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
                                   POBJECT_ATTRIBUTES ObjectAttributes)
{
    struct opening opening = {.create = false};

    NT_ENTER();
    return open_key(KeyHandle, DesiredAccess, ObjectAttributes, &opening, __func__, NT_CALLER());
}

NT_EXPORT NTSTATUS NTAPI ZwCreateKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
                                     POBJECT_ATTRIBUTES ObjectAttributes, ULONG TitleIndex,
                                     PUNICODE_STRING Class, ULONG CreateOptions, PULONG Disposition)
{
    struct opening opening = {.create = true, .temporary = CreateOptions & REG_OPTION_VOLATILE};
    NTSTATUS status;

    NT_ENTER();
    (void)TitleIndex;
    (void)Class;
    status = open_key(KeyHandle, DesiredAccess, ObjectAttributes, &opening, __func__, NT_CALLER());
    if (NT_SUCCESS(status) && Disposition)
        *Disposition = opening.created ? REG_CREATED_NEW_KEY : REG_OPENED_EXISTING_KEY;
    return status;
}

NT_EXPORT NTSTATUS NTAPI ZwDeleteKey(HANDLE KeyHandle)
{
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    status = key_of(KeyHandle, DELETE, &key, __func__);
    if (!NT_SUCCESS(status))
        return status;
    if (!list_empty(&key->children) || !key->parent)
        return STATUS_CANNOT_DELETE;
    reg_delete_key(key);
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ZwFlushKey(HANDLE KeyHandle)
{
    struct reg_key *key;

    NT_ENTER();
    return key_of(KeyHandle, 0, &key, __func__);
}

/* ---- results: a fixed part, then variable parts that may be cut ---- */

struct answer {
    uint8_t *buffer;
    ULONG room;
    ULONG fixed; /* bytes that must fit */
    ULONG total; /* bytes of the whole answer */
};

/* Copy a variable part as far as it fits. */
static void put_part(const struct answer *answer, ULONG offset, const void *data, ULONG bytes)
{
    if (offset >= answer->room)
        return;
    memcpy(answer->buffer + offset, data,
           bytes < answer->room - offset ? bytes : answer->room - offset);
}

static NTSTATUS answer_status(const struct answer *answer, PULONG result_length)
{
    *result_length = answer->total;
    if (answer->room < answer->fixed)
        return STATUS_BUFFER_TOO_SMALL;
    return answer->room < answer->total ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;
}

/* ---- values ---- */

static NTSTATUS answer_basic(struct answer *answer, const struct reg_value *value, PULONG length)
{
    KEY_VALUE_BASIC_INFORMATION *out = (void *)answer->buffer;
    ULONG name_bytes = value->name.length * (ULONG)sizeof(WCHAR);
    NTSTATUS status;

    answer->fixed = offsetof(KEY_VALUE_BASIC_INFORMATION, Name);
    answer->total = answer->fixed + name_bytes;
    status = answer_status(answer, length);
    if (status == STATUS_BUFFER_TOO_SMALL)
        return status;
    out->TitleIndex = 0;
    out->Type = value->type;
    out->NameLength = name_bytes;
    put_part(answer, answer->fixed, value->name.text, name_bytes);
    return status;
}

static NTSTATUS answer_full(struct answer *answer, const struct reg_value *value, ULONG align,
                            PULONG length)
{
    KEY_VALUE_FULL_INFORMATION *out = (void *)answer->buffer;
    ULONG name_bytes = value->name.length * (ULONG)sizeof(WCHAR);
    ULONG data_offset;
    NTSTATUS status;

    answer->fixed = offsetof(KEY_VALUE_FULL_INFORMATION, Name);
    data_offset = (ULONG)align_up(answer->fixed + name_bytes, align);
    answer->total = data_offset + value->bytes;
    status = answer_status(answer, length);
    if (status == STATUS_BUFFER_TOO_SMALL)
        return status;
    out->TitleIndex = 0;
    out->Type = value->type;
    out->DataOffset = data_offset;
    out->DataLength = value->bytes;
    out->NameLength = name_bytes;
    put_part(answer, answer->fixed, value->name.text, name_bytes);
    put_part(answer, data_offset, value->data, value->bytes);
    return status;
}

static NTSTATUS answer_partial(struct answer *answer, const struct reg_value *value, PULONG length)
{
    KEY_VALUE_PARTIAL_INFORMATION *out = (void *)answer->buffer;
    NTSTATUS status;

    answer->fixed = offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data);
    answer->total = answer->fixed + value->bytes;
    status = answer_status(answer, length);
    if (status == STATUS_BUFFER_TOO_SMALL)
        return status;
    out->TitleIndex = 0;
    out->Type = value->type;
    out->DataLength = value->bytes;
    put_part(answer, answer->fixed, value->data, value->bytes);
    return status;
}

static NTSTATUS answer_partial_aligned(struct answer *answer, const struct reg_value *value,
                                       PULONG length)
{
    KEY_VALUE_PARTIAL_INFORMATION_ALIGN64 *out = (void *)answer->buffer;
    NTSTATUS status;

    answer->fixed = offsetof(KEY_VALUE_PARTIAL_INFORMATION_ALIGN64, Data);
    answer->total = answer->fixed + value->bytes;
    status = answer_status(answer, length);
    if (status == STATUS_BUFFER_TOO_SMALL)
        return status;
    out->Type = value->type;
    out->DataLength = value->bytes;
    put_part(answer, answer->fixed, value->data, value->bytes);
    return status;
}

static NTSTATUS answer_value(struct answer *answer, const struct reg_value *value,
                             KEY_VALUE_INFORMATION_CLASS class, PULONG length)
{
    switch (class) {
    case KeyValueBasicInformation:
        return answer_basic(answer, value, length);
    case KeyValueFullInformation:
        return answer_full(answer, value, sizeof(ULONG), length);
    case KeyValueFullInformationAlign64:
        return answer_full(answer, value, sizeof(ULONG64), length);
    case KeyValuePartialInformation:
        return answer_partial(answer, value, length);
    default:
        return answer_partial_aligned(answer, value, length);
    }
}

/* Check that the class is known, and the alignment that some classes require (NT-143). */
static NTSTATUS check_class(KEY_VALUE_INFORMATION_CLASS class, const void *buffer)
{
    if ((unsigned)class > KeyValuePartialInformationAlign64)
        return STATUS_INVALID_PARAMETER;
    if (class >= KeyValueFullInformationAlign64 && (uintptr_t)buffer % 8 != 0)
        return STATUS_DATATYPE_MISALIGNMENT;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                                         KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                                         PVOID KeyValueInformation, ULONG Length,
                                         PULONG ResultLength)
{
    struct answer answer = {.buffer = KeyValueInformation, .room = KeyValueInformation ? Length : 0};
    struct reg_value *value;
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    status = key_of(KeyHandle, KEY_QUERY_VALUE, &key, __func__);
    if (NT_SUCCESS(status))
        status = check_class(KeyValueInformationClass, KeyValueInformation);
    if (!NT_SUCCESS(status))
        return status;
    if (!ResultLength || !check_name(ValueName, __func__))
        return STATUS_INVALID_PARAMETER;
    value = reg_find_value(key, ValueName->Buffer, ValueName->Length / sizeof(WCHAR));
    if (!value)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return answer_value(&answer, value, KeyValueInformationClass, ResultLength);
}

NT_EXPORT NTSTATUS NTAPI ZwEnumerateValueKey(HANDLE KeyHandle, ULONG Index,
                                             KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
                                             PVOID KeyValueInformation, ULONG Length,
                                             PULONG ResultLength)
{
    struct answer answer = {.buffer = KeyValueInformation, .room = KeyValueInformation ? Length : 0};
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    status = key_of(KeyHandle, KEY_QUERY_VALUE, &key, __func__);
    if (NT_SUCCESS(status))
        status = check_class(KeyValueInformationClass, KeyValueInformation);
    if (!NT_SUCCESS(status) || !ResultLength)
        return NT_SUCCESS(status) ? STATUS_INVALID_PARAMETER : status;
    LIST_FOR(node, &key->values) {
        if (Index-- == 0)
            return answer_value(&answer, CONTAINER(node, struct reg_value, link),
                                KeyValueInformationClass, ResultLength);
    }
    return STATUS_NO_MORE_ENTRIES;
}

NT_EXPORT NTSTATUS NTAPI ZwSetValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
                                       ULONG TitleIndex, ULONG Type, PVOID Data, ULONG DataSize)
{
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    (void)TitleIndex;
    status = key_of(KeyHandle, KEY_SET_VALUE, &key, __func__);
    if (!NT_SUCCESS(status))
        return status;
    if (!check_name(ValueName, __func__) || (!Data && DataSize))
        return STATUS_INVALID_PARAMETER;
    check_pointer(Data, __func__);
    return reg_set_value(key, ValueName->Buffer, ValueName->Length / sizeof(WCHAR), Type, Data,
                         DataSize)
               ? STATUS_SUCCESS
               : STATUS_INSUFFICIENT_RESOURCES;
}

NT_EXPORT NTSTATUS NTAPI ZwDeleteValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName)
{
    struct reg_value *value;
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    status = key_of(KeyHandle, KEY_SET_VALUE, &key, __func__);
    if (!NT_SUCCESS(status))
        return status;
    if (!check_name(ValueName, __func__))
        return STATUS_INVALID_PARAMETER;
    value = reg_find_value(key, ValueName->Buffer, ValueName->Length / sizeof(WCHAR));
    if (!value)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    reg_delete_value(value);
    return STATUS_SUCCESS;
}

/* ---- keys ---- */

static NTSTATUS answer_key_name(struct answer *answer, const struct reg_key *key, PULONG length)
{
    KEY_BASIC_INFORMATION *out = (void *)answer->buffer;
    ULONG name_bytes = key->name.length * (ULONG)sizeof(WCHAR);
    NTSTATUS status;

    answer->fixed = offsetof(KEY_BASIC_INFORMATION, Name);
    answer->total = answer->fixed + name_bytes;
    status = answer_status(answer, length);
    if (status == STATUS_BUFFER_TOO_SMALL)
        return status;
    out->LastWriteTime.QuadPart = (LONGLONG)key->written;
    out->TitleIndex = 0;
    out->NameLength = name_bytes;
    put_part(answer, answer->fixed, key->name.text, name_bytes);
    return status;
}

static void keep_larger(PULONG largest, ULONG value)
{
    if (value > *largest)
        *largest = value;
}

static NTSTATUS answer_key_counts(struct answer *answer, const struct reg_key *key, PULONG length)
{
    KEY_FULL_INFORMATION *out = (void *)answer->buffer;
    NTSTATUS status;

    answer->fixed = offsetof(KEY_FULL_INFORMATION, Class);
    answer->total = answer->fixed;
    status = answer_status(answer, length);
    if (status == STATUS_BUFFER_TOO_SMALL)
        return status;
    memset(out, 0, answer->fixed);
    out->LastWriteTime.QuadPart = (LONGLONG)key->written;
    out->ClassOffset = 0xFFFFFFFFu;
    LIST_FOR(node, &key->children) {
        out->SubKeys++;
        keep_larger(&out->MaxNameLen,
                    CONTAINER(node, struct reg_key, link)->name.length * (ULONG)sizeof(WCHAR));
    }
    LIST_FOR(node, &key->values) {
        const struct reg_value *value = CONTAINER(node, struct reg_value, link);

        out->Values++;
        keep_larger(&out->MaxValueNameLen, value->name.length * (ULONG)sizeof(WCHAR));
        keep_larger(&out->MaxValueDataLen, value->bytes);
    }
    return status;
}

static NTSTATUS answer_key(struct answer *answer, const struct reg_key *key,
                           KEY_INFORMATION_CLASS class, PULONG length)
{
    if (class == KeyBasicInformation)
        return answer_key_name(answer, key, length);
    if (class == KeyFullInformation)
        return answer_key_counts(answer, key, length);
    return STATUS_INVALID_PARAMETER;
}

NT_EXPORT NTSTATUS NTAPI ZwQueryKey(HANDLE KeyHandle, KEY_INFORMATION_CLASS KeyInformationClass,
                                    PVOID KeyInformation, ULONG Length, PULONG ResultLength)
{
    struct answer answer = {.buffer = KeyInformation, .room = KeyInformation ? Length : 0};
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    status = key_of(KeyHandle, KEY_QUERY_VALUE, &key, __func__);
    if (!NT_SUCCESS(status) || !ResultLength)
        return NT_SUCCESS(status) ? STATUS_INVALID_PARAMETER : status;
    return answer_key(&answer, key, KeyInformationClass, ResultLength);
}

NT_EXPORT NTSTATUS NTAPI ZwEnumerateKey(HANDLE KeyHandle, ULONG Index,
                                        KEY_INFORMATION_CLASS KeyInformationClass,
                                        PVOID KeyInformation, ULONG Length, PULONG ResultLength)
{
    struct answer answer = {.buffer = KeyInformation, .room = KeyInformation ? Length : 0};
    struct reg_key *key;
    NTSTATUS status;

    NT_ENTER();
    status = key_of(KeyHandle, KEY_ENUMERATE_SUB_KEYS, &key, __func__);
    if (!NT_SUCCESS(status) || !ResultLength)
        return NT_SUCCESS(status) ? STATUS_INVALID_PARAMETER : status;
    LIST_FOR(node, &key->children) {
        if (Index-- == 0)
            return answer_key(&answer, CONTAINER(node, struct reg_key, link), KeyInformationClass,
                              ResultLength);
    }
    return STATUS_NO_MORE_ENTRIES;
}
