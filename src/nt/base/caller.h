/* SPDX-License-Identifier: MIT */
/*
 * Names of places in drivers, for reports: unlike addresses, they are the same in each run.
 */
#ifndef DXGK_NT_CALLER_H
#define DXGK_NT_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "refgpu.so!StartDevice+0x42" or "refgpu.so+0x1234", from an address in an image. */
void nt_caller_name(const void *caller, char *name, size_t bytes);
/* The same for an address that may be outside of drivers; then returns false. */
bool nt_caller_in_driver(uintptr_t pc, char *name, size_t bytes);
/* Frames of a driver as a stack in reports, for verify_set_stack: addresses that calls return to,
 * innermost first, up to a 0 or `most`. False: none is known, and `text` is empty. */
bool nt_caller_stack(const uintptr_t *pc, size_t most, char *text, size_t bytes);
/* The place in a driver that the code on the current processor was called from; false: none. */
bool nt_caller_place(char *text, size_t bytes);

#endif
