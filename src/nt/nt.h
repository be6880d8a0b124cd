/* SPDX-License-Identifier: MIT */
/*
 * Kernel services: the routines that a driver imports from ntoskrnl and hal, under their own names,
 * as real services over simulated processors and levels. This header is for the rooms above;
 * drivers see include/wdk.
 */
#ifndef DXGK_NT_H
#define DXGK_NT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ntddk.h>

#include "bus/bus.h"
#include "ram/ram.h"
#include "sim/mutex.h"
#include "sim/thread.h"
#include "util/handle.h"

struct nt;
struct nt_object;

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
    /* Name an address inside an image of a driver ("a.sys!StartDevice+0x42"); false: not in one. NULL: only the dynamic
     * linker is asked. */
    bool (*symbolize)(uintptr_t pc, char *text, size_t bytes);
    /* Routines of rooms above that a driver of a PE image may import, by name; they come before those
     * here. NULL: there are none. */
    void *(*find)(const char *name);
    /* Receives, when a deadlock is reported, who waits for what, a line at a time; NULL: dropped. */
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

/* State of the kernel services of the machine that is entered. NULL: out of memory. */
struct nt *nt_create(const struct nt_config *config);
void nt_destroy(struct nt *nt);

/* A kernel routine or variable by the name that a driver imports, as a driver of a PE image sees it
 * (ms_abi); NULL: unknown. */
void *nt_routine_find(const char *name);

/* Types of client handles (D3DKMT_HANDLE values in nt_process.handles). The objects are kmt's own, which stand for those of the
 * room named. */
enum nt_client_handle {
    NT_CLIENT_ADAPTER = 1,  /* kmt */
    NT_CLIENT_DEVICE,       /* struct vidsch_device */
    NT_CLIENT_CONTEXT,      /* struct vidsch_context */
    NT_CLIENT_RESOURCE,     /* struct vidmm_resource_open */
    NT_CLIENT_ALLOCATION,   /* struct vidmm_open */
    NT_CLIENT_SYNC,         /* struct vidsch_sync */
    NT_CLIENT_PAGING_QUEUE, /* struct vidmm_paging_queue */
    NT_CLIENT_HW_QUEUE,
    NT_CLIENT_KEYED_MUTEX,
};

/* A simulated process: owner of client threads and of client (D3DKMT) handles. Process 0 is the
 * system's. */
struct nt_process {
    DISPATCHER_HEADER header; /* a PEPROCESS points here */
    struct nt_object *object; /* private */
    uint32_t id;              /* small number in order of creation; 0: system */
    char name[32];
    struct handle_table handles; /* D3DKMT handles, enum nt_client_handle */
    struct list user_ranges;     /* private */
    struct list link;
    struct sim_mutex
        driver_entry; /* THREAD-016: one thread of a process inside level-zero and level-one DDIs */
    void *kmt;        /* the client interface's own data */
    uint32_t threads;
};

struct nt_process *nt_process_create(const char *name);
void nt_process_destroy(struct nt_process *process);
struct nt_process *nt_process_current(
    void); /* of the current thread; the system process for kernel threads and idle processors */
struct nt_process *nt_process_system(void);
/* A client thread in a process. */
struct sim_thread *nt_client_thread_create(struct nt_process *process, const char *name,
                                           sim_entry entry, void *arg);

/* NT handles that a client gives. A bad one counts against the client, not against a driver: statuses only. */
enum nt_user_object { NT_USER_PROCESS, NT_USER_EVENT };
/* The object behind a handle of the calling process, with a reference. STATUS_INVALID_HANDLE,
 * STATUS_OBJECT_TYPE_MISMATCH, STATUS_ACCESS_DENIED (KMT-020). */
NTSTATUS nt_user_handle_open(HANDLE handle, enum nt_user_object kind, ACCESS_MASK wanted,
                             void **body);
/* Gives the reference back. */
void nt_user_handle_close(void *body);
/* The event behind a handle of that process, whoever asks; NULL: none. Without a reference; any level up to DISPATCH. */
void *nt_process_event(const struct nt_process *process, HANDLE handle);

/* An MDL that a service of the host gives a driver, over pages the service holds: the driver may map
 * it and unmap it, and nothing else (PHYS-075). The list is copied. False: out of memory. */
bool nt_mdl_lend(PMDL mdl, const struct page_number *pages, uint32_t count);
/* The service ends it: a mapping left goes. True if that was one into a process (PHYS-076). */
bool nt_mdl_take_back(PMDL mdl);

/* Owner of what a driver image allocates, for leak reports by driver: pool, threads, timers,
 * handles, mappings, MDLs. Kernel services attribute to the image of the current call
 * (nt_image_enter; nested). */
struct nt_image;
struct nt_image *nt_image_create(const char *name);
void nt_image_destroy(struct nt_image *image);
/* Set the image on whose behalf the current thread runs; returns the previous one. */
struct nt_image *nt_image_enter(struct nt_image *image);
/* Unloading begins: allocating from now on is 0xC4/0x61 (NT-027). */
void nt_image_unloading(struct nt_image *image);
/* Wait until the image's threads, I/O work items and deferred calls are done (what keeps a driver
 * loaded), at most `ns` of virtual time. False: something still runs. PASSIVE. */
bool nt_image_drain(struct nt_image *image, uint64_t ns);
/* Report (as violations of the NT rules) and reclaim what the image left behind; returns how many
 * things. After unload. */
uint64_t nt_image_leak_check(struct nt_image *image);

/* What a call into a driver must leave as it found it (THREAD-006 to THREAD-008). */
struct nt_call_state {
    uint8_t irql;
    uint32_t spin_locks;     /* held by the current processor */
    int32_t apc_disable;     /* critical and guarded regions entered by the thread and not left */
    uint32_t sleeping_locks; /* mutexes, fast mutexes, push locks, ERESOURCEs owned by the thread */
    uint32_t floating_saves; /* KeSaveFloatingPointState without restore */
    uint32_t raises;         /* private */
};
void nt_call_state(struct nt_call_state *state);
/* Address of the spin lock taken last by the current processor, or NULL. */
const void *nt_call_last_spin_lock(void);
/* Compare with the state before a call of `routine`, report differences and undo them (level, spin
 * locks). */
void nt_call_check(const struct nt_call_state *before, const char *routine);

/* What IoGetDeviceProperty and IoOpenDeviceRegistryKey tell of an adapter (NT-149). */
struct nt_device_info {
    struct bus_device *device;
    const char *service; /* name of the driver's service key; copied */
    uint32_t instance;   /* number of the adapter, from 0 */
    uint32_t bus, slot, function;
};

/* The physical device object of an adapter (a DEVICE_OBJECT of the room above), and driver objects
 * and the like, which IoAllocateWorkItem accepts too (NT-100). False: out of memory. */
bool nt_pdo_register(void *object, const struct nt_device_info *info);
bool nt_device_object_register(void *object);
/* An exception in the driver that runs: goes to its innermost block of <dxgk_seh.h>; returns if there is none that it may reach
 * from here. Any IRQL. */
void nt_try_raise(const EXCEPTION_RECORD *exception);

/* A device object (registered if it is not yet) that IoGetDeviceObjectPointer finds by this name, in whatever case (NT-170).
 * `name` is kept, not copied. False: out of memory. */
bool nt_device_name(void *object, const char *name);
void nt_device_object_unregister(void *object);

/* An MDL of the host's (MDL_INTERNAL, as nobody else sets it) that drivers were shown and may have mapped: its memory goes away now. */
void nt_mdl_gone(PMDL mdl);

/* The registry, for settings and results: ASCII paths from \Registry on, any case. Keys are made as
 * needed; name NULL: only the key. False: out of memory. */
bool nt_registry_set(const char *path, const char *name, uint32_t type, const void *data,
                     uint32_t bytes);
/* The bytes of a value, valid until it changes; NULL: there is none. */
const void *nt_registry_get(const char *path, const char *name, uint32_t *type, uint32_t *bytes);
/* As text; registry_file.c has the format. False: a bad line, out of memory, or an error of the
 * file. */
bool nt_registry_load(FILE *in);
bool nt_registry_save(FILE *out);

/* Nothing can happen any more and somebody still waits: report it, with who waits for what and the drivers' stacks
 * (THREAD-072). Between runs. */
void nt_deadlock_report(void);
/* Where in a driver what runs on the current processor came from; false: from no driver. */
bool nt_driver_place(char *text, size_t bytes);
/* Only hand out who waits for what, for a report of the caller's. */
void nt_waits_describe(void);

/* Run the bug check callbacks of drivers, each once; what carries out a bug check calls it. */
void nt_bugcheck_callbacks_run(void);
/* Hand out debug text that ends without a line break. */
void nt_debug_flush(void);

/* Set the system time as a user would (100 ns units since 1601): absolute time-outs follow,
 * interrupt time does not. */
void nt_set_system_time(uint64_t time);

/* "refgpu.so!StartDevice+0x42" or "refgpu.so+0x1234", from an address in an image; deterministic. */
void nt_caller_name(const void *caller, char *name, size_t bytes);

/* ---- what code does without calling a service ---- */

/* The clocks as the last clock tick left them, in their Windows units. */
struct nt_clock {
    uint64_t interrupt_time, system_time; /* 100 ns; since power on, since 1601 */
    uint64_t ticks;
};
void nt_clock(struct nt_clock *clock);
/* The performance counter at this moment, at 10 MHz. */
uint64_t nt_performance_counter(void);
/* The Windows build that is reported to drivers. */
uint32_t nt_build(void);

/* The KTHREAD of the current thread, and of a processor that idles. A thread that has called no
 * service yet has none, and counts as the idle one; when it gets one, sim_notify_switch is called.
 * */
void *nt_kthread(void);
void *nt_idle_kthread(unsigned processor);

/* A write to the task priority register, which is how inlined KeRaiseIrql and KeLowerIrql set the
 * level (NT-075, NT-076). `irql` at most HIGH_LEVEL. Lowering delivers what became deliverable. */
void nt_write_level(uint8_t irql);

/* Statistics of the pool, for reports. */
struct nt_pool_statistics {
    uint64_t live_blocks, live_bytes, peak_bytes, allocations;
};
void nt_pool_statistics(struct nt_pool_statistics *statistics);
/* What a driver's fault at the address is: 0xCD past a block of special pool, 0xCC after its free,
 * 0 neither. */
uint32_t nt_pool_fault(const void *address);
/* An address in paged pool, in a machine where that is not there at raised levels. */
bool nt_paged_fault(const void *address);

/* Is it an address of the simulated kernel (pool, views, BARs, kernel stacks), not of a client? */
bool nt_is_kernel_address(const void *address);

/* What memory at the address is cached as, by whatever mapping it is reached: RAM as its page was
 * allocated (PHYS-025), device memory as it was mapped. False: no simulated memory. */
bool nt_cache_of(const void *address, enum ram_cache *cache);
/* The page attribute that a type stands for. */
enum ram_cache nt_cache_type(MEMORY_CACHING_TYPE type);

/* Status names: "STATUS_NO_MEMORY"; NULL for an unknown value. */
const char *nt_status_name(NTSTATUS status);

/* What an IRQL of the machine is called. */
const char *nt_irql_name(uint8_t irql);

#endif
