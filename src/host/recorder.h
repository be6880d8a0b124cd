/* SPDX-License-Identifier: MIT */
/* What a machine leaves behind for other processes: see struct dxgk_recorder of dxgkhost.h. */
#ifndef DXGK_HOST_RECORDER_H
#define DXGK_HOST_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "dxgkhost/recorder.h"

struct sim_machine;
struct trace_sink;
struct wintrace_sink;
struct util_arena;
struct verify_log;

#define RECORDER_DOING_BYTES 256u
#define RECORDER_PLACE_BYTES 160u
#define RECORDER_STACK_BYTES 4096u

/* Lies at the start of the arena. The machine's process writes; any other only reads, and trusts no
 * pointer. */
struct dxgk_recorder {
    struct util_arena *arena;
    size_t mark;         /* where the records of the machine begin */
    bool in_use;         /* by a machine that has not been destroyed */
    bool in_driver_file; /* the dynamic linker, and constructors and destructors of a driver */
    const struct sim_machine *sim;
    const struct verify_log *log;
    const struct trace_sink *trace;            /* NULL: not recorded */
    const struct wintrace_sink *windows_trace; /* NULL: not recorded */
    char doing[RECORDER_DOING_BYTES];
    struct dxgk_ending ending;
    char place[RECORDER_PLACE_BYTES], stack[RECORDER_STACK_BYTES]; /* of `ending` */
};

/* Forget an earlier machine. False: another machine uses the recorder. */
bool host_recorder_begin(struct dxgk_recorder *recorder);
void host_recorder_end(struct dxgk_recorder *recorder);
/* Say what the host is about to do, for the report of a process that ends in the middle of it.
 * Nothing happens without a recorder (NULL). */
void host_recorder_doing(struct dxgk_recorder *recorder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Around what runs code of a driver's file while no call into the driver is in progress. */
void host_recorder_driver_file(struct dxgk_recorder *recorder, bool in_progress);

#endif
