/* SPDX-License-Identifier: MIT */
/*
 * Names of places in drivers, for reports: deterministic, unlike addresses.
 */
#ifndef DXGK_NT_CALLER_H
#define DXGK_NT_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "refgpu.so!StartDevice+0x42" or "refgpu.so+0x1234", from an address in an image. */
void nt_caller_name(const void *caller, char *name, size_t bytes);
/* The same, of an address that may be outside of drivers: false, then. */
bool nt_caller_in_driver(uintptr_t pc, char *name, size_t bytes);
/* Where in a driver what runs on the current processor came from; false: from no driver. */
bool nt_caller_place(char *text, size_t bytes);

#endif
