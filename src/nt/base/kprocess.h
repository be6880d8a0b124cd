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
    uint32_t id;              /* small number in order of creation; 0: system */
    char name[32];
    struct handle_table
        handles; /* of the rooms that serve clients, who choose the types; not NT handles */
    struct list user_ranges; /* user_range.c */
    struct list link;        /* process.c */
    /* THREAD-016: one thread of a process inside level-zero and level-one DDIs. */
    struct sim_mutex driver_entry;
    /* Of the room that serves the process's clients; it is set and cleared there. NULL: no
     * client yet. */
    void *client;
    uint32_t threads;
};

#endif
