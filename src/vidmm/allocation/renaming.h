/* SPDX-License-Identifier: MIT */
/*
 * WDDM 1.x: renaming. A lock with Discard of an allocation that may be in use gets another instance
 * of it, with a handle of its own; the driver sees one allocation in several places (ALLOC-121).
 */
#ifndef DXGK_VIDMM_RENAMING_H
#define DXGK_VIDMM_RENAMING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_device;
struct vidmm_open;

/* Does Discard mean anything for it? Not if it is shared, pinned, or a client's own memory. */
bool vidmm_open_renames(const struct vidmm_open *open);
/* Has a submission used a newer instance (ALLOC-122)? */
bool vidmm_open_retired(const struct vidmm_open *open);
/* May a lock name this instance? (CAPS-057, ALLOC-119) */
NTSTATUS vidmm_instance_check(const struct vidmm_open *open);
/* The instance for a lock with Discard of *handle, in its place: one that exists, or a new one. May
 * wait for the GPU. `unreferenced`: the client has none in its command buffer
 * (NoExistingReference). */
NTSTATUS vidmm_rename(struct vidmm_device *device, D3DKMT_HANDLE *handle, bool unreferenced);
/* The lock has failed: the client does not get the instance. */
void vidmm_rename_undo(struct vidmm_device *device, D3DKMT_HANDLE instance);

/* False: no allocation of the device has several instances, and the calls below change nothing. */
bool vidmm_device_renames(const struct vidmm_device *device);
/* A submission's references, in order: begin for each, then use for each, which is false for an
 * instance older than one used before; and keep for each once it is queued. Any thread, without the
 * lock; no sim point may pass from the first begin to the last use. */
void vidmm_instance_begin(const struct vidmm_open *open);
bool vidmm_instance_use(const struct vidmm_open *open);
void vidmm_instance_keep(const struct vidmm_open *open);

#endif
