/* SPDX-License-Identifier: MIT */
/*
 * Address ranges that belong to one process, in the address space that all share: code can access
 * them only while that process is current (PHYS-195).
 *
 * The protection follows the current process like a TLB. A range is inaccessible until it is
 * accessed while its process is current; the fault makes it accessible, and a switch to another
 * process makes all such ranges inaccessible again. So a switch costs only for the ranges accessed
 * since the last one; each range costs one node of a tree.
 *
 * Code that changes the process of the current thread must call sim_notify_switch.
 */
#ifndef DXGK_NT_USER_RANGE_H
#define DXGK_NT_USER_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_process;

enum nt_user_access {
    NT_USER_TRAPPED, /* its pages are never accessible: device registers, which are emulated */
    NT_USER_READ,
    NT_USER_WRITE,
};

/* Make whole mapped pages from `base` on a range of the process. `rule` and `what` ("a view of BAR
 * 2") are for reports; `rule` is a string literal, `what` is copied. False: out of memory, and the
 * pages are unchanged. */
bool nt_user_range_add(struct nt_process *process, void *base, uint64_t bytes,
                       enum nt_user_access access, const char *rule, const char *what);
/* Remove the range that begins there, if any. Its pages are then inaccessible. */
void nt_user_range_remove(const void *base);
/* For the host's own access to a range, whatever process is current: make its pages accessible; and
 * inaccessible again. No point may be reached in between. False: unchanged. Does nothing if there
 * is no range. */
bool nt_user_range_admit(const void *base);
void nt_user_range_shut(const void *base);
/* Whether the byte is in a range of any process. */
bool nt_user_range_holds(const void *address);
/* Whether the byte is in a range of a process other than the current one. */
bool nt_user_range_denies(const void *address);
/* An access there faulted; true: it is accessible now. Called in a signal handler. */
bool nt_user_range_touched(const void *address);
/* The process ends: its ranges have no process, until their creators remove them. */
void nt_user_range_orphan_all(struct nt_process *process);
/* For a denied byte: the rule, and text such as "a view of BAR 2 of client 1 while System is
 * current". */
const char *nt_user_range_describe(const void *address, char *text, size_t bytes);

#endif
