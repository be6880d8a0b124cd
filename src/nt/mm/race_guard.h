/* SPDX-License-Identifier: MIT */
/*
 * Accesses of Windows images, for the detector of races: nothing in an image tells the host of
 * them, so the pages that it watches are inaccessible, and each access traps.
 *
 *   the driver's own code   the trap is handled outside of the signal (x64/traps/race_trap): the
 *                           access is recorded, others may run; then the instruction faults again,
 *                           and passes
 *   all other code          passes
 *
 * To pass: the page is opened, one instruction runs, with the processor's trap flag set, and the
 * page is closed again. An instruction that touches several pages opens them one after another. A
 * page that takes more than its share of traps rests: it stays open for a while, and what happens
 * there meanwhile is not seen. One with a variable that gives order does not rest, or what that
 * guards would seem to race.
 */
#ifndef DXGK_NT_RACE_GUARD_H
#define DXGK_NT_RACE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* From now on pool of drivers is guarded: an image is there. */
void nt_race_guard_begin(void);
bool nt_race_guard_is_on(void);
/* Guard the whole pages that contain these bytes; they must be readable and writable, and no code,
 * though they may be executable: one where code runs is guarded no longer. Pages that are guarded
 * already are left as they are. */
void nt_race_guard_add(const void *address, uint64_t bytes, bool executable);
/* The pages go away, or belong to others. */
void nt_race_guard_forget(const void *address, uint64_t bytes);
/* Pages that have rested long enough are guarded again; called where the driver is entered. */
void nt_race_guard_wake(void);
/* Whether an access there traps. */
bool nt_race_guard_traps_at(uintptr_t address);
/* The same, of code of a driver. */
bool nt_race_guard_traps(uintptr_t address, uintptr_t pc);
/* A variable there gives order: its page does not rest. */
void nt_race_guard_keep(uintptr_t address);
/* The next fault of the instruction at pc passes. */
void nt_race_guard_pass(uintptr_t pc);

#endif
