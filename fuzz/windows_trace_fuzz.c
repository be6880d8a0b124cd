/* SPDX-License-Identifier: MIT */
/* Hostile traces of Windows, as files of Event Tracing for Windows. */
#include "windows_trace_look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return look_at_bytes(data, size);
}
