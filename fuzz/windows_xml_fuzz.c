/* SPDX-License-Identifier: MIT */
/* Hostile traces of Windows, as the XML of tracerpt. */
#include "windows_trace_look.h"
#include "wintrace/form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return wintrace_xml.is(data, size) ? look_at_bytes(data, size) : 0;
}
