/* SPDX-License-Identifier: MIT */
/*
 * Configuration of the kernel services; set by the room that creates the machine.
 */
#ifndef DXGK_NT_CONFIG_H
#define DXGK_NT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct bus;
struct ram;

#define NT_DEFAULT_BOOT_TIME 133485408000000000u /* 1 January 2024 */

struct nt_config {
    struct ram *ram;
    struct bus *bus;
    /* Receives DbgPrint text, line by line; NULL: dropped. */
    void (*debug_print)(void *context, const char *line);
    void *debug_context;
    /* Finds a handler for a structured exception that a kernel service raises in its caller, and
     * continues there. Returns if there is none: bug check 0x1E (NT-002). NULL: there never is
     * one. */
    void (*raise)(void *context, NTSTATUS status);
    void *raise_context;
    /* Names an address inside a driver image ("a.sys!StartDevice+0x42"); false: not in one. NULL:
     * only the dynamic linker is asked. */
    bool (*symbolize)(uintptr_t pc, char *text, size_t bytes);
    /* Writes "submit.c:85" for an address in a driver; false: not known. NULL: it never is. */
    bool (*line)(uintptr_t pc, char *text, size_t bytes);
    /* Writes a frame of a stack, as reports have it, for an address that a call in a driver
     * returns to; false: not in one. NULL: there are no such frames. */
    bool (*frame)(uintptr_t pc, bool returns, char *text, size_t bytes);
    /* The innermost frames of drivers on the current stack, at most `most`. NULL: none are
     * known. */
    size_t (*frames)(uintptr_t *pc, size_t most);
    /* Finds routines of upper rooms that a PE driver may import, by name; they take precedence
     * over those here. NULL: none. */
    void *(*find)(const char *name);
    /* When a deadlock is reported, receives which thread waits for what, line by line; NULL:
     * dropped. */
    void (*waits)(void *context, const char *line);
    void *waits_context;
    /* DbgPrintEx levels that are printed, as bits; 0: all (NT-165). */
    uint32_t debug_mask;
    /* Bytes of freed pool that are quarantined to find writes after free (NT-026); 0: 256 KiB. */
    uint64_t quarantine_bytes;
    /* Bytes of pool beyond which the machine stops for a leak (NT-200); 0: 2 GiB. */
    uint64_t pool_limit;
    /* Percentage of resource requests that fail at random (NT-003); 0: only failures injected by
     * util_heap. */
    unsigned fail_percent;
    /* Detect any access past or after a pool block at once, at the cost of pages and mappings per
     * block (NT-025). */
    bool special_pool;
    /* Make paged pool inaccessible at DISPATCH_LEVEL and above (THREAD-005), at the same cost. */
    bool force_irql;
    /* Report lock order inversions (NT-059). */
    bool deadlock_detection;
    /* System time at power on, in 100 ns units since 1601; 0: NT_DEFAULT_BOOT_TIME. */
    uint64_t boot_time;
    /* Windows release reported by RtlGetVersion; 0: build 22621. */
    uint32_t os_build;
};

#endif
