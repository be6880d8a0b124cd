/* SPDX-License-Identifier: MIT */
/* The machine that is entered: every function of the API that touches one enters it, and leaves it
 * again. */
#ifndef DXGK_HOST_ENTER_H
#define DXGK_HOST_ENTER_H

#include <stdbool.h>

/* The machine that is entered; NULL: none. */
struct dxgk_machine *host_current(void);

/* The machine being made, which is entered, is the one that host_current finds. */
void host_enter_claim(struct dxgk_machine *machine);

/* Around every function of the API that touches the machine. False if the caller is inside already
 * (a client, a log callback); then nothing is to be left. */
bool host_enter(struct dxgk_machine *machine);
void host_leave(bool entered);

#endif
