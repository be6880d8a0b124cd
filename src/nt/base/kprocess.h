/* SPDX-License-Identifier: MIT */
/*
 * A simulated process: owner of client threads and of client handles. Process 0 is the system's.
 * process.c makes them.
 */
#ifndef DXGK_NT_KPROCESS_H
#define DXGK_NT_KPROCESS_H

#include <stdint.h>

#include <ntddk.h>

#include "sim/mutex.h"
#include "util/handle.h"
#include "util/list.h"

struct nt_object;

struct nt_process {
    DISPATCHER_HEADER header; /* a PEPROCESS points here */
    struct nt_object *object; /* private to nt */
    uint32_t id;              /* number in order of creation; 0: system */
    char name[32];
    /* client handles (not NT handles), whose types the rooms that serve clients define */
    struct handle_table handles;
    struct list user_ranges; /* user_range.c */
    struct list link;        /* process.c */
    /* THREAD-016: held by the one thread of the process that is inside level 0 and level 1 DDIs. */
    struct sim_mutex driver_entry;
    /* Owned, set and cleared by the room that serves the process's clients. NULL: no client yet. */
    void *client;
    uint32_t threads;
    uint32_t helpers; /* of these: the host's, which call the client back */
};

#endif
