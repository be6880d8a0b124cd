/* SPDX-License-Identifier: MIT */
/* Memory of clients: it is copied in once and back once, with checks, and never read in place
 * (KMT-005). */
#ifndef DXGK_KMT_CLIENT_MEMORY_H
#define DXGK_KMT_CLIENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <ntddk.h>

#include "sim/fault.h"

#define KMT_MAX_PRIVATE_BYTES (16u << 20) /* KMT-012 */
#define KMT_MAX_ELEMENTS      1048576u

/* The reason for which a call that needs this memory fails: STATUS_INVALID_PARAMETER. `verb`:
 * "read", "written". */
NTSTATUS kmt_client_refuse(const void *user, size_t bytes, const char *verb);
/* Of private data that has no memory, or is too long. */
NTSTATUS kmt_client_refuse_private(const void *user, UINT bytes);

/* Copy client memory. `count` elements of `size` bytes into a new heap block (NULL if count is 0).
 * KMT-006, KMT-007, KMT-012. */
NTSTATUS kmt_client_copy_array(const void *user, UINT count, size_t size, void **copy);
NTSTATUS kmt_client_copy_private(const void *user, UINT bytes, void **copy);
static inline bool kmt_client_get(void *to, const void *user, size_t bytes)
{
    return bytes == 0 || (user && sim_copy_checked(to, user, bytes)) ||
           NT_SUCCESS(kmt_client_refuse(user, bytes, "read"));
}
static inline bool kmt_client_put(void *user, const void *from, size_t bytes)
{
    return bytes == 0 || (user && sim_copy_checked(user, from, bytes)) ||
           NT_SUCCESS(kmt_client_refuse(user, bytes, "written"));
}
/* Can the client's memory be written? (Before something that cannot be undone.) */
bool kmt_client_probe_write(void *user, size_t bytes);

#endif
