/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses that belong to one process, in an address space that all share: only while it
 * is current can they be touched, by whatever code runs then (PHYS-195).
 *
 * The protection follows the current process as a translation buffer does. A range allows nothing
 * until it is touched while its process is current; the fault opens it, and a switch to another
 * process closes what is open. So a switch costs what was touched since the last one, and nothing
 * where there is nothing; a range costs one node of a tree.
 *
 * Who changes the process of the current thread calls sim_notify_switch.
 */
#ifndef DXGK_NT_USER_RANGE_H
#define DXGK_NT_USER_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_process;

enum nt_user_access {
    NT_USER_TRAPPED, /* its pages never allow anything: device registers, which somebody emulates */
    NT_USER_READ,
    NT_USER_WRITE,
};

/* Whole pages from `base`, which are mapped, become the process's. `rule` and `what` ("a view of
 * BAR 2") are for reports; `rule` is a string literal, `what` is copied. False: out of memory, and
 * the pages are as they were. */
bool nt_user_range_add(struct nt_process *process, void *base, uint64_t bytes,
                       enum nt_user_access access, const char *rule, const char *what);
/* The range that begins there ends, if there is one. Its pages allow nothing then. */
void nt_user_range_remove(const void *base);
/* For the host's own work on a range, whoever is current: its pages allow what they can, and
 * nothing again. Nothing may reach a point in between. False: it stays as it was. Without a range
 * there, nothing happens. */
bool nt_user_range_admit(const void *base);
void nt_user_range_shut(const void *base);
/* A byte of a range of some process. */
bool nt_user_range_holds(const void *address);
/* A byte of a range of another process than the current one. */
bool nt_user_range_denies(const void *address);
/* An access there faulted; true: it is allowed now. In a signal handler. */
bool nt_user_range_touched(const void *address);
/* The process ends: its ranges belong to nobody, until whoever made them takes them away. */
void nt_user_range_orphan_all(struct nt_process *process);
/* Of a byte that is denied: the rule, and "a view of BAR 2 of client 1 while System is current". */
const char *nt_user_range_describe(const void *address, char *text, size_t bytes);

#endif
