/* SPDX-License-Identifier: MIT */
/*
 * The recorder of a machine:
 *
 *     arena | recorder | sim_machine, log of broken rules, sink of events: anew with each machine
 *
 * These records are where the machine keeps them anyhow; recording costs nothing but their place.
 * Another process reads them through its own mapping of the arena. All pointers in them lead into
 * the arena or to literals of the host, which a process that forked the writer has, too.
 */
#include "host/recorder.h"
#include "dxgkhost/recorder.h"
#include "host/report.h"
#include "host/windows_trace.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "util/arena.h"
#include "verify/verify.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A long trace takes about ten bytes an event. Only address space is taken at first. */
#define ARENA_BYTES ((size_t)64 << 30)

struct dxgk_recorder *dxgk_recorder_create(void)
{
    struct util_arena *arena = util_arena_create(ARENA_BYTES);
    struct dxgk_recorder *recorder;

    if (!arena)
        return NULL;
    recorder = util_arena_alloc(arena, sizeof(*recorder));
    recorder->arena = arena;
    recorder->mark = util_arena_mark(arena);
    return recorder;
}

void dxgk_recorder_destroy(struct dxgk_recorder *recorder)
{
    if (recorder)
        util_arena_destroy(recorder->arena);
}

/* ---- the writer ---- */

bool host_recorder_begin(struct dxgk_recorder *recorder)
{
    if (recorder->in_use)
        return false;
    recorder->sim = NULL;
    recorder->log = NULL;
    recorder->trace = NULL;
    recorder->windows_trace = NULL;
    recorder->doing[0] = '\0';
    recorder->in_driver_file = false;
    recorder->in_use = true;
    util_arena_reset(recorder->arena, recorder->mark);
    return true;
}

void host_recorder_end(struct dxgk_recorder *recorder)
{
    recorder->in_use = false;
}

void host_recorder_doing(struct dxgk_recorder *recorder, const char *format, ...)
{
    va_list arguments;

    if (!recorder)
        return;
    va_start(arguments, format);
    vsnprintf(recorder->doing, sizeof(recorder->doing), format, arguments);
    va_end(arguments);
}

void host_recorder_driver_file(struct dxgk_recorder *recorder, bool in_progress)
{
    if (recorder)
        recorder->in_driver_file = in_progress;
}

/* ---- the reader ---- */

/* Copy a string if the pointer leads to one: writing to a pipe fails where reading would fault. */
static void copy_text(char *to, size_t bytes, const char *from)
{
    size_t length = 0;
    int ends[2];

    to[0] = '\0';
    if (!from || pipe2(ends, O_CLOEXEC) != 0)
        return;
    while (length + 1 < bytes && write(ends[1], from + length, 1) == 1 &&
           read(ends[0], to + length, 1) == 1 && to[length])
        length++;
    to[length] = '\0';
    close(ends[0]);
    close(ends[1]);
}

bool dxgk_recorder_place(const struct dxgk_recorder *recorder, struct dxgk_place *place)
{
    const struct sim_machine *sim = recorder->sim;

    memset(place, 0, sizeof(*place));
    snprintf(place->doing, sizeof(place->doing), "%.*s", (int)sizeof(recorder->doing) - 1,
             recorder->doing);
    place->in_driver = recorder->in_driver_file;
    if (!util_arena_has(recorder->arena, sim, sizeof(*sim)))
        return false;
    copy_text(place->call, sizeof(place->call), sim->call);
    memcpy(place->thread, sim->thread_name, sizeof(place->thread));
    place->thread[sizeof(place->thread) - 1] = '\0';
    place->processor = sim->processor;
    place->irql = sim->irql;
    place->virtual_ns = sim->now;
    place->steps = sim->points + sim->now;
    place->submissions = sim->submissions;
    place->in_driver |= sim->inside != 0;
    place->stopped = sim->stopped;
    return true;
}

bool dxgk_recorder_ending(const struct dxgk_recorder *recorder, struct dxgk_ending *ending)
{
    *ending = recorder->ending;
    ending->place = recorder->place;
    ending->stack = recorder->stack;
    return ending->signal || ending->exited;
}

size_t dxgk_recorder_violations(const struct dxgk_recorder *recorder)
{
    return recorder->log ? verify_records(recorder->log) : 0;
}

bool dxgk_recorder_violation(const struct dxgk_recorder *recorder, size_t index,
                             struct dxgk_violation *violation)
{
    const struct verify_record *record = recorder->log ? verify_record_at(recorder->log, index)
                                                       : NULL;

    if (!record || !util_arena_has(recorder->arena, record, sizeof(*record)))
        return false;
    *violation = host_report_violation(record);
    return true;
}

bool dxgk_recorder_write_trace(const struct dxgk_recorder *recorder, FILE *out)
{
    return recorder->trace && trace_write_json(recorder->trace, out);
}

bool dxgk_recorder_write_timeline(const struct dxgk_recorder *recorder, FILE *out)
{
    return recorder->trace && host_report_timeline(recorder->trace, recorder->log, out);
}

bool dxgk_recorder_write_dxgkrnl(const struct dxgk_recorder *recorder, enum dxgk_windows_trace form,
                                 FILE *out)
{
    return host_windows_trace_write(recorder->windows_trace, form, out);
}
