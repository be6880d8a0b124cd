/* SPDX-License-Identifier: MIT */
/*
 * The functions of the three mode set interfaces, which are alike but for their types and statuses:
 * of source mode sets, target mode sets (VIDPN-062 to VIDPN-093) and the source mode sets of
 * monitors (DISP-132 to DISP-142). `out` receives a pointer to a structure.
 */
#ifndef DXGK_MODES_SET_CALLS_H
#define DXGK_MODES_SET_CALLS_H

#include "modes/interface_call.h"
#include "modes/mode_set.h"

NTSTATUS set_count(enum mode_kind kind, const void *handle, SIZE_T *count, uintptr_t caller);
NTSTATUS set_first(enum mode_kind kind, const void *handle, const void **out, uintptr_t caller);
NTSTATUS set_next(enum mode_kind kind, const void *handle, const void *mode, const void **out,
                  uintptr_t caller);
/* The pinned mode; of a monitor, the preferred one. */
NTSTATUS set_chosen(enum mode_kind kind, const void *handle, const void **out, uintptr_t caller);
NTSTATUS set_release(enum mode_kind kind, const void *handle, const void *mode, uintptr_t caller);
NTSTATUS set_create(enum mode_kind kind, const void *handle, void **out, uintptr_t caller);
NTSTATUS set_add(enum mode_kind kind, const void *handle, void *mode, uintptr_t caller);
NTSTATUS set_pin(enum mode_kind kind, const void *handle, UINT id, uintptr_t caller);

extern const DXGK_VIDPNSOURCEMODESET_INTERFACE modes_source_set_interface;
extern const DXGK_VIDPNTARGETMODESET_INTERFACE modes_target_set_interface;
extern const DXGK_MONITORSOURCEMODESET_INTERFACE modes_monitor_set_interface;

#endif
