/* SPDX-License-Identifier: MIT */
/*
 * NT handles. Kernel handles have the high bits set and work in every process, those of a process
 * do not.
 */
#ifndef DXGK_NT_HANDLE_H
#define DXGK_NT_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/ob/object.h"

struct nt_process;

/* A handle that keeps the object; kernel handle, or one of the current process. NULL: out of
 * memory. */
HANDLE nt_handle_create(struct nt_object *object, ACCESS_MASK access, bool kernel,
                        const void *caller);
/* The object of a handle that is good in the current process; NULL: it is not, or is of another
 * type. */
struct nt_object *nt_handle_object(HANDLE handle, enum nt_object_type type, ACCESS_MASK *access);
bool nt_handle_is_kernel(HANDLE handle);
/* Do the attributes, in the current process, ask for a kernel handle? If not, that is noted. */
bool nt_handle_kernel_wanted(const OBJECT_ATTRIBUTES *attributes, const char *rule,
                             const char *routine);
/* False: the handle is not good. */
bool nt_handle_close(HANDLE handle);
void nt_handle_close_process(struct nt_process *process);
/* The event behind a handle of that process, whoever asks; NULL: none. Without a reference; any
 * level up to DISPATCH. */
void *nt_handle_event(const struct nt_process *process, HANDLE handle);

#endif
