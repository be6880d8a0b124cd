/* SPDX-License-Identifier: MIT */
/* For test drivers: a number of the service key, by which a test chooses what the driver does. */
#ifndef DXGK_TESTS_SERVICE_VALUE_H
#define DXGK_TESTS_SERVICE_VALUE_H

#include <ntddk.h>

/* 0: there is no such value. */
static __inline ULONG ServiceValue(PUNICODE_STRING RegistryPath, PCWSTR Name)
{
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR bytes[sizeof(KEY_VALUE_PARTIAL_INFORMATION) + sizeof(ULONG)];
    } answer;
    OBJECT_ATTRIBUTES attributes;
    UNICODE_STRING name;
    ULONG bytes = 0, value = 0;
    HANDLE key;

    InitializeObjectAttributes(&attributes, RegistryPath, OBJ_KERNEL_HANDLE, NULL, NULL);
    if (!NT_SUCCESS(ZwOpenKey(&key, KEY_READ, &attributes)))
        return 0;
    RtlInitUnicodeString(&name, Name);
    if (NT_SUCCESS(ZwQueryValueKey(key, &name, KeyValuePartialInformation, &answer, sizeof(answer),
                                   &bytes)))
        RtlCopyMemory(&value, answer.info.Data, sizeof(value));
    ZwClose(key);
    return value;
}

#endif
