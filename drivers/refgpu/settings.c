/* SPDX-License-Identifier: MIT */
/* What the driver's service key says. */
#include "driver.h"

struct refgpu_settings refgpu_settings = {.update_mode = DXGK_PAGETABLEUPDATE_GPU_PHYSICAL};

/* The value of a REG_DWORD; `missing` if there is none. */
static ULONG read_value(HANDLE key, PCWSTR name, ULONG missing)
{
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR bytes[sizeof(KEY_VALUE_PARTIAL_INFORMATION) + sizeof(ULONG)];
    } answer;
    UNICODE_STRING value_name;
    ULONG bytes = 0, value;

    RtlInitUnicodeString(&value_name, name);
    if (!NT_SUCCESS(ZwQueryValueKey(key, &value_name, KeyValuePartialInformation, &answer,
                                    sizeof answer, &bytes)) ||
        answer.info.Type != REG_DWORD || answer.info.DataLength != sizeof value)
        return missing;
    RtlCopyMemory(&value, answer.info.Data, sizeof value);
    return value;
}

void refgpu_read_settings(PUNICODE_STRING registry_path)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;
    ULONG value;

    refgpu_settings.update_mode = DXGK_PAGETABLEUPDATE_GPU_PHYSICAL;
    refgpu_settings.common_buffers = FALSE;
    refgpu_settings.signals_fences = FALSE;
    refgpu_settings.hardware_scheduling = 0;
    InitializeObjectAttributes(&attributes, registry_path, OBJ_KERNEL_HANDLE | OBJ_CASE_INSENSITIVE,
                               NULL, NULL);
    if (!NT_SUCCESS(ZwOpenKey(&key, KEY_READ, &attributes)))
        return;
    value = read_value(key, L"PageTableUpdateMode", DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
    if (value <= DXGK_PAGETABLEUPDATE_GPU_PHYSICAL)
        refgpu_settings.update_mode = (DXGK_PAGETABLEUPDATEMODE)value;
    refgpu_settings.common_buffers = read_value(key, L"CommonBuffers", 0) != 0;
    refgpu_settings.signals_fences = read_value(key, L"SignalMonitoredFence", 0) != 0;
    refgpu_settings.hardware_scheduling = read_value(key, L"HardwareScheduling", 0);
    ZwClose(key);
}
