/* SPDX-License-Identifier: MIT */
/* For rooms that must switch something of the real processor along with the machine's current
 * thread and processor: x64 does so with registers. */
#ifndef DXGK_SIM_SWITCH_H
#define DXGK_SIM_SWITCH_H

/* What the handler of sim_on_switch is called for. */
enum sim_switch {
    SIM_SWITCH_ENTER,   /* the host thread has entered the machine */
    SIM_SWITCH_CURRENT, /* another thread or processor is current from now on */
    SIM_SWITCH_LEAVE,   /* the host thread is about to leave the machine */
};

/* Sets a handler that is called when the current thread or processor changes. It runs on any stack,
 * at any level; it must not block or use floating point. NULL: no handler. */
void sim_on_switch(void (*handler)(enum sim_switch what));
/* Call the handlers because something about the current thread has changed. */
void sim_notify_switch(void);

#endif
