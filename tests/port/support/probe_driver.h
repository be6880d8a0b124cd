/* SPDX-License-Identifier: MIT */
/* Between the parts of the probe. */
#ifndef DXGK_TESTS_PROBE_DRIVER_H
#define DXGK_TESTS_PROBE_DRIVER_H

#include <ntddk.h>

NTSTATUS NTAPI probe_driver_entry(PDRIVER_OBJECT object, PUNICODE_STRING path);

#endif
