/* SPDX-License-Identifier: MIT */
/* A thread of a driver that reports vertical syncs without any delay between them (PRES-331). */
#ifndef DXGK_NT_PACE_H
#define DXGK_NT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

/* From now on a delay of the current thread that would be over at once lasts to the next of the
 * times from_ns + n * period_ns of virtual time. At any IRQL. */
void nt_pace(uint64_t from_ns, uint64_t period_ns);
/* True: *paced is to be used in place of this interval. */
bool nt_paced(const LARGE_INTEGER *interval, LARGE_INTEGER *paced);

#endif
