/* SPDX-License-Identifier: MIT */
/*
 * NT handles. Kernel handles have the high bits set and work in every process; other handles work
 * only in their process.
 */
#ifndef DXGK_NT_HANDLE_H
#define DXGK_NT_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/ob/object.h"

struct nt_process;

/* Create a handle that keeps the object alive; a kernel handle, or one of the current process.
 * NULL: out of memory. */
HANDLE nt_handle_create(struct nt_object *object, ACCESS_MASK access, bool kernel,
                        const void *caller);
/* The object of a handle that is valid in the current process; NULL: the handle is invalid, or of
 * another type. */
struct nt_object *nt_handle_object(HANDLE handle, enum nt_object_type type, ACCESS_MASK *access);
bool nt_handle_is_kernel(HANDLE handle);
/* Whether the attributes ask for a kernel handle; always true in the system process. If they do
 * not, that is reported as a warning. */
bool nt_handle_kernel_wanted(const OBJECT_ATTRIBUTES *attributes, const char *rule,
                             const char *routine);
/* False: the handle is invalid. */
bool nt_handle_close(HANDLE handle);
void nt_handle_close_process(struct nt_process *process);
/* The event of a handle of that process, whatever process is current; NULL: none. Takes no
 * reference; any level up to DISPATCH. */
void *nt_handle_event(const struct nt_process *process, HANDLE handle);

#endif
