/* SPDX-License-Identifier: MIT */
/* For whoever must follow the current thread and processor of the machine with something real: x64
 * does with registers. */
#ifndef DXGK_SIM_SWITCH_H
#define DXGK_SIM_SWITCH_H

/* What sim_on_switch's handler is told. */
enum sim_switch {
    SIM_SWITCH_ENTER,   /* the host thread has entered the machine */
    SIM_SWITCH_CURRENT, /* another thread or processor is current from now on */
    SIM_SWITCH_LEAVE,   /* the host thread is about to leave the machine */
};

/* For what must follow the current thread and processor: registers of the real one. Called on any
 * stack, at any level; must not block or use floating point. NULL: nobody. */
void sim_on_switch(void (*handler)(enum sim_switch what));
/* Something about the current thread has changed that the handlers may want to know. */
void sim_notify_switch(void);

#endif
