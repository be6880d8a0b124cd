/* SPDX-License-Identifier: MIT */
/*
 * What a machine chooses for its kernel services; the room that makes the machine fills it in.
 */
#ifndef DXGK_NT_CONFIG_H
#define DXGK_NT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct bus;
struct ram;

struct nt_config {
    struct ram *ram;
    struct bus *bus;
    /* Receives DbgPrint text, a line at a time; NULL: dropped. */
    void (*debug_print)(void *context, const char *line);
    void *debug_context;
    /* Looks for a handler of a structured exception that a kernel service raises in its caller, and
     * goes there. Returns if there is none: bug check 0x1E (NT-002). NULL: there never is one. */
    void (*raise)(void *context, NTSTATUS status);
    void *raise_context;
    /* Name an address inside an image of a driver ("a.sys!StartDevice+0x42"); false: not in one.
     * NULL: only the dynamic linker is asked. */
    bool (*symbolize)(uintptr_t pc, char *text, size_t bytes);
    /* Routines of rooms above that a driver of a PE image may import, by name; they come before
     * those here. NULL: there are none. */
    void *(*find)(const char *name);
    /* Receives, when a deadlock is reported, who waits for what, a line at a time; NULL:
     * dropped. */
    void (*waits)(void *context, const char *line);
    void *waits_context;
    /* DbgPrintEx levels that are let through, as bits; 0: all (NT-165). */
    uint32_t debug_mask;
    /* Bytes of freed pool that are kept back to find writes after free (NT-026); 0: 256 KiB. */
    uint64_t quarantine_bytes;
    /* Percent of resource requests that fail, as chance decides (NT-003); 0: none but those of
     * util_heap. */
    unsigned fail_percent;
    /* Find each access past or after a pool block at once, at a cost of pages and mappings per
     * block (NT-025). */
    bool special_pool;
    /* Paged pool is not there at DISPATCH_LEVEL and above (THREAD-005), at the same cost. */
    bool force_irql;
    /* Report lock order inversions (NT-059). */
    bool deadlock_detection;
    /* System time at power on, 100 ns units since 1601; 0: 1 January 2024. */
    uint64_t boot_time;
    /* Windows release reported by RtlGetVersion; 0: build 22621. */
    uint32_t os_build;
};

#endif
