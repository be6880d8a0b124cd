/* SPDX-License-Identifier: MIT */
/* The record of a machine: the rooms it is made of, what was loaded into it, and what is counted of
 * it. Outside of this room it is opaque (dxgkhost.h). */
#ifndef DXGK_HOST_MACHINE_RECORD_H
#define DXGK_HOST_MACHINE_RECORD_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "dxgkhost/dxgkhost.h"
#include "host/losses.h"
#include "host/refusals.h"
#include "host/report.h"
#include "util/list.h"

struct dxgk_machine {
    struct dxgk_machine_config config;
    struct sim_machine *sim;
    struct verify_log *log;
    struct trace_sink *trace;
    struct wintrace_sink *windows_trace; /* NULL: not recorded */
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    struct port *port;
    struct kmt *kmt;
    struct list devices, drivers, modules, adapters, processes, moments, monitors;
    uint32_t live; /* processes that have not ended */
    struct host_totals totals;
    struct host_refusals refusals;
    struct host_losses losses;
    uint64_t leaks;
    uint64_t requests_at_creation;
    char *waits; /* lines of who waits for what, of a deadlock; malloc */
    bool shut_down;
    _Atomic bool busy; /* a host thread has entered it */
    pid_t owner;       /* the process that made it */
    unsigned hooks;    /* that run now, of the configuration */
    struct {
        void (*line)(void *context, const char *line); /* NULL: nobody asked */
        void *context;
    } inspect;
};

#endif
