/* SPDX-License-Identifier: MIT */
/*
 * What is told of a machine whose run ends before its clients do: the waits inside drivers (nt),
 * the clients' threads, then synchronization objects and packets in flight (vidsch).
 */
#include "host/waits.h"
#include "host/machine_record.h"
#include "nt/ke/deadlock.h"
#include "nt/ke/wait_report.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "sim/thread.h"
#include "verify/verify.h"
#include "vidsch/wait_report.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 48u /* return addresses that are examined */

/* The call of the client that the thread is in, such as "D3DKMTRender"; NULL: none is known. */
static const char *call_of(struct sim_thread *thread)
{
    uintptr_t pc[DEPTH];
    size_t count = sim_thread_stack(thread, pc, DEPTH);
    Dl_info info;

    for (size_t i = 0; i < count; i++)
        if (dladdr((void *)pc[i], &info) && info.dli_sname && // NOLINT
            (strncmp(info.dli_sname, "D3DKMT", 6) == 0 ||
             strncmp(info.dli_sname, "dxgk_client_", 12) == 0))
            return info.dli_sname;
    return NULL;
}

/* Each client thread, in a line; the first of them, in `chief`. */
static void tell_clients(char *chief, size_t bytes)
{
    for (struct sim_thread *thread = sim_thread_after(NULL); thread;
         thread = sim_thread_after(thread)) {
        const char *call, *state;

        if (sim_thread_kind(thread) != SIM_THREAD_CLIENT || sim_thread_ended(thread))
            continue;
        call = call_of(thread);
        state = sim_thread_blocked(thread) ? "waits" : "runs";
        nt_wait_report_line("client thread %s %s%s%s", sim_thread_name(thread), state,
                            call ? " in " : "", call ? call : "");
        if (!chief[0])
            snprintf(chief, bytes, "client thread %s, which %s%s%s", sim_thread_name(thread), state,
                     call ? " in " : "", call ? call : "");
    }
}

void host_waits_tell(const struct dxgk_machine *machine, enum sim_outcome outcome, uint64_t limit_ns)
{
    char chief[128] = "";

    if (machine->sim->stopped ||
        (outcome != SIM_DEADLOCK && outcome != SIM_INTERRUPTED && outcome != SIM_TIME_UP))
        return;
    if (outcome == SIM_DEADLOCK)
        nt_deadlock_report();
    else
        nt_deadlock_describe();
    tell_clients(chief, sizeof(chief));
    vidsch_wait_report();
    if (outcome == SIM_TIME_UP)
        WARNING("NT-194",
                "the limit of %.9g s of virtual time was reached at %.6f s; still running: %s",
                (double)limit_ns / 1e9, (double)sim_now() / 1e9,
                chief[0] ? chief : "no client, but a call of the host into the driver");
}
