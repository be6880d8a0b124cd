/* SPDX-License-Identifier: MIT */
#include "sim/point.h"

/*
 * What the compiler calls at the entry and exit of each function of a driver built with
 * -finstrument-functions: points at which a machine under stress may preempt (THREAD-074). In other
 * machines they do nothing.
 *
 * The C library has empty versions; a driver binds to these, since the host's symbols come first.
 */

#define HOOK __attribute__((visibility("default"), no_instrument_function))

HOOK void __cyg_profile_func_enter(void *function, void *caller); // NOLINT: the compiler's name
HOOK void __cyg_profile_func_exit(void *function, void *caller);  // NOLINT

HOOK void __cyg_profile_func_enter(void *function, void *caller) // NOLINT
{
    (void)function;
    (void)caller;
    sim_stress_point();
}

HOOK void __cyg_profile_func_exit(void *function, void *caller) // NOLINT
{
    (void)function;
    (void)caller;
    sim_stress_point();
}
