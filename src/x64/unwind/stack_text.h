/* SPDX-License-Identifier: MIT */
/* The stack of a driver as text, for reports. */
#ifndef DXGK_X64_STACK_TEXT_H
#define DXGK_X64_STACK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_fault;

/* Names a frame; `returns`: the address is one that a call returns to. False: not in a driver. */
typedef bool x64_frame_name(uintptr_t pc, bool returns, char *text, size_t bytes);

/* Lists the frames of drivers on the current stack, innermost first, one per line, with names from
 * `name`; frames that are not in a driver are left out. Starts at the fault, or if that is
 * NULL, at the caller. PE and ELF frames may be mixed. False: there is none. */
bool x64_describe_stack(const struct sim_fault *fault, x64_frame_name *name, char *text,
                        size_t bytes);

/* The same on any stack, [low, high), of the thread that runs. */
bool x64_describe_stack_of(const struct sim_fault *fault, uintptr_t low, uintptr_t high,
                           x64_frame_name *name, char *text, size_t bytes);

/* The innermost frames of drivers on the current stack, as the addresses that calls return to; `is`
 * tells an address in a driver. Returns how many there are, at most `most`. */
size_t x64_driver_frames(bool (*is)(uintptr_t pc), uintptr_t *pc, size_t most);

/* The call of a driver that was in progress: its return address, and where the routine begins that
 * was called (0: not known). */
struct x64_host_call {
    uintptr_t caller, routine;
};
/* The same for a fault in the host: through the frames of the host to the first one of a driver.
 * False: there is none, or it cannot be found. */
bool x64_find_host_call(const struct sim_fault *fault,
                        bool (*name)(uintptr_t pc, char *text, size_t bytes),
                        struct x64_host_call *call);

#endif
