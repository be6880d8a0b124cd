/* SPDX-License-Identifier: MIT */
/*
 * What a driver sees as synchronization, told to the detector of races (race/race.h) of the current
 * machine, if it has one: objects by their address. Each costs a load and a branch where there is
 * none.
 */
#ifndef DXGK_SIM_ORDER_H
#define DXGK_SIM_ORDER_H

#include "race/race.h"
#include "sim/machine.h"

/* What is done so far is known to whoever acquires the object later. */
static inline void sim_order_release(const volatile void *object)
{
    if (sim_current->races)
        race_release(sim_current->races, object);
}

static inline void sim_order_acquire(const volatile void *object)
{
    if (sim_current->races)
        race_acquire(sim_current->races, object);
}

/* Both: an interlocked operation. */
static inline void sim_order_exchange(const volatile void *object)
{
    sim_order_acquire(object);
    sim_order_release(object);
}

/* The object is new, or was taken over. */
static inline void sim_order_forget(const volatile void *object)
{
    if (sim_current->races)
        race_forget(sim_current->races, object);
}

/* Acquire what nobody acquires a second time. */
static inline void sim_order_take(const volatile void *object)
{
    sim_order_acquire(object);
    sim_order_forget(object);
}

/* All processors stand still. */
static inline void sim_order_barrier(void)
{
    if (sim_current->races)
        race_barrier(sim_current->races);
}

/* An event that runs on behalf of what has released the object: until the event ends. */
static inline void sim_order_carry(const volatile void *object)
{
    if (sim_current->races)
        (void)race_carry(sim_current->races, object);
}

/* A device was told something, by a write to one of its registers; what it raises later knows. */
static inline void sim_order_tell_device(void)
{
    sim_order_release(&sim_current->races);
}

/* What the host keeps of a driver is under locks of the host. A call into the driver knows what the
 * calls knew that have ended, or have called back, before it began; one that calls back itself,
 * what those knew that have ended. */
static inline void sim_order_tell_host(void)
{
    sim_order_release(sim_current);
}

static inline void sim_order_ask_host(void)
{
    sim_order_acquire(sim_current);
}

/* Before a callback. */
static inline void sim_order_tell_host_midway(void)
{
    sim_order_release(&sim_current->call);
}

static inline void sim_order_ask_host_of_all(void)
{
    sim_order_acquire(sim_current);
    sim_order_acquire(&sim_current->call);
}

/* The current thread begins something new, which is not in order with what it did before. */
void sim_order_restart(void);

#endif
