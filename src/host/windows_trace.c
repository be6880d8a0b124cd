/* SPDX-License-Identifier: MIT */
#include "host/windows_trace.h"
#include "nt/base/current.h"
#include "nt/base/nt_config.h"
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "wintrace/sink.h"
#include "wintrace/write.h"

#define THREAD_ID_STEP 8u /* as PsGetCurrentThreadId numbers threads */

static const enum wintrace_form forms[] = {
    [DXGK_TRACE_ETL] = WINTRACE_ETL, [DXGK_TRACE_CSV] = WINTRACE_CSV, [DXGK_TRACE_XML] = WINTRACE_XML};

/* An idle processor, which interrupts and DPCs may have, is of the system process and has no
 * thread. Nothing here makes a record of the thread: recording changes nothing in a run. */
static void where(struct wintrace_place *place)
{
    const struct sim_thread *thread = sim_current->thread;

    place->process = (uint32_t)(uintptr_t)nt_process_id(nt_process_current());
    place->thread = thread ? sim_thread_id(thread) * THREAD_ID_STEP : 0;
    place->processor = sim_current->processor;
}

struct wintrace_sink *host_windows_trace_create(unsigned processors, struct util_arena *arena)
{
    const struct wintrace_sink_config config = {
        .processors = processors, .start = NT_DEFAULT_BOOT_TIME, .where = where, .arena = arena};

    return wintrace_sink_create(&config);
}

bool host_windows_trace_write(const struct wintrace_sink *sink, enum dxgk_windows_trace form,
                              FILE *out)
{
    return sink && (size_t)form < sizeof(forms) / sizeof(forms[0]) &&
           wintrace_write(sink, forms[form], out);
}

bool dxgk_windows_trace_form(const char *path, enum dxgk_windows_trace *form)
{
    enum wintrace_form found;

    if (!path || !form || !wintrace_form_of(path, &found))
        return false;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i] == found)
            *form = (enum dxgk_windows_trace)i;
    return true;
}
