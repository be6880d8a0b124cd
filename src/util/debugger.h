/* SPDX-License-Identifier: MIT */
/*
 * Where a debugger stops. These functions do nothing: gdb/dxgkhost.py puts breakpoints on them, and
 * reads their arguments from the registers, so that the host needs no debug information
 * (docs/debugging.md). Their names and arguments are an interface with that script.
 */
#ifndef DXGK_UTIL_DEBUGGER_H
#define DXGK_UTIL_DEBUGGER_H

#include <stddef.h>
#include <stdint.h>

#define DEBUGGER_SEEN __attribute__((visibility("default")))
#define DEBUGGER_HOOK __attribute__((visibility("default"), noinline, used))

/* An entry of a driver: "DxgkDdiPatch", and the routine that it has registered. */
struct debugger_entry {
    const char *name;
    uintptr_t routine;
};

/* Virtual time, in ns, before which to stop; only a debugger writes it. UINT64_MAX: nowhere. */
extern DEBUGGER_SEEN const volatile uint64_t dxgk_debug_until;

/* The image file at `path` is mapped and bound; no code of the driver's has run. `base`: of an ELF
 * file what is added to its addresses, of a Windows image where its headers are. `entry`: a routine
 * of it; 0: it has none. */
DEBUGGER_HOOK void dxgk_debug_image(const char *path, uintptr_t base, uintptr_t entry);
/* It is about to be unmapped. */
DEBUGGER_HOOK void dxgk_debug_image_gone(uintptr_t base, uintptr_t entry);
/* A driver has registered; none of its entries was called. */
DEBUGGER_HOOK void dxgk_debug_entries(const struct debugger_entry *entries, size_t count);
/* A rule is broken, on the stack of what broke it: its id, the severity (enum verify_severity), and
 * what was seen. Before the report is made, and each time. */
DEBUGGER_HOOK void dxgk_debug_rule(const char *rule, unsigned severity, const char *seen);
/* A fault of a driver, which nothing of the driver handles; a report follows. `general`: the
 * registers where it happened by their numbers in instruction encodings (rax, rcx, rdx, rbx, rsp,
 * ...), and `pc`. NULL: it is overdue, and called this. */
DEBUGGER_HOOK void dxgk_debug_fault(const uint64_t *general, uintptr_t pc);
/* Virtual time is `now`, and passes dxgk_debug_until before the host looks again. */
DEBUGGER_HOOK void dxgk_debug_time(uint64_t now);
/* The host is about to carry out the instruction at `pc`, which it has found to begin with a
 * breakpoint: a debugger puts the byte that was there into *first. */
DEBUGGER_HOOK void dxgk_debug_code(uintptr_t pc, uint8_t *first);

#endif
