/* SPDX-License-Identifier: MIT */
/* The machine that is entered: every function of the API that touches one enters it, and leaves it
 * again. */
#ifndef DXGK_HOST_ENTER_H
#define DXGK_HOST_ENTER_H

#include <stdbool.h>

#include <stddef.h>

/* The machine that is entered; NULL: none. */
struct dxgk_machine *host_current(void);

/* The machine is this process's, and not that of children that it forks. */
void host_enter_own(struct dxgk_machine *machine);

/* Before and after a fork whose child stays inside the machine (snapshot.c). */
void host_enter_fork(bool begins);

/* The machine being made, which is entered, is the one that host_current finds. */
void host_enter_claim(struct dxgk_machine *machine);

/* Begins a function of the API that changes the machine or lets it run, to be ended by
 * host_leave(true). False: *error says why it is not for the caller: there is no machine, it is
 * that of the process which forked this one, another host thread uses it, or the caller is inside
 * it (a client, a hook, a device model, a driver), or inside another one. Nothing has changed
 * then. */
bool host_begin(struct dxgk_machine *machine, char *error, size_t error_bytes);
/* Whether the caller may look at the machine: from inside too, but not beside another host thread
 * that uses it. */
bool host_may_look(const struct dxgk_machine *machine);
/* For functions that may be called from inside: enters unless the caller is there. False if so;
 * then nothing is to be left. */
bool host_enter(struct dxgk_machine *machine);
void host_leave(bool entered);

#endif
