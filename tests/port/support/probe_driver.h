/* SPDX-License-Identifier: MIT */
/* Between the parts of the probe. */
#ifndef DXGK_TESTS_PROBE_DRIVER_H
#define DXGK_TESTS_PROBE_DRIVER_H

#include <ntddk.h>

NTSTATUS NTAPI probe_driver_entry(PDRIVER_OBJECT object, PUNICODE_STRING path);
/* Handles of the driver count from the start again. */
void probe_driver_begin(void);

#endif
