/* SPDX-License-Identifier: MIT */
/*
 * Embedding dxgkhost: build a simulated machine, load a device model and a miniport driver, run client programs on it.
 *
 *     struct dxgk_machine_config config;
 *     dxgk_machine_config_init(&config);
 *     config.iommu = DXGK_IOMMU_REMAP;
 *     struct dxgk_machine *machine = dxgk_machine_create(&config, error, sizeof(error));
 *     dxgk_machine_add_device(machine, "build/devices/refgpu.so", ...);
 *     dxgk_machine_load_driver(machine, "build/drivers/refgpu.so", ...);   // DriverEntry, AddDevice, StartDevice
 *     dxgk_machine_run(machine, "client", client, argument);               // client calls D3DKMT*, on a simulated thread
 *     dxgk_machine_shutdown(machine);                                      // StopDevice, RemoveDevice, Unload, leak checks
 *     dxgk_machine_statistics(machine, &statistics);                       // and dxgk_machine_violation for each broken rule
 *     dxgk_machine_destroy(machine);
 *
 * A machine is used by one host thread at a time; several machines may live in one process, one host thread each. Client
 * functions run as fibers of the machine: D3DKMT* calls are legal only there. The library never prints and never exits.
 */
#ifndef DXGKHOST_DXGKHOST_H
#define DXGKHOST_DXGKHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DXGK_API __attribute__((visibility("default")))
#else
#define DXGK_API
#endif

struct dxgk_machine;
struct dxgk_device_model;
struct dxgk_depot;

enum dxgk_iommu { DXGK_IOMMU_OFF, DXGK_IOMMU_ISOLATION, DXGK_IOMMU_REMAP };

/* The setting IOMMUFlags (IOMMU-034 to IOMMU-038): what isolation of an adapter consists of. Each of the first three has an effect
 * only with those before it; all three are what DXGK_IOMMU_ISOLATION asks for. */
enum dxgk_iommu_flags {
    DXGK_IOMMU_DOMAIN = 0x01,
    DXGK_IOMMU_MAPPINGS = 0x02,      /* what the device may use is mapped there */
    DXGK_IOMMU_ATTACH = 0x04,        /* and the device is confined to it */
    DXGK_IOMMU_BYPASS_CAP = 0x08,    /* also for a driver without IoMmuSecureModeSupported */
    DXGK_IOMMU_ALLOW_FAILURE = 0x10, /* if isolation fails, the adapter starts without it */
};

struct dxgk_machine_config {
    uint32_t size;         /* of this structure; set by dxgk_machine_config_init */
    uint64_t seed;         /* default 1 */
    uint64_t ram_bytes;    /* default 16 GiB; 64 MiB .. 1 TiB */
    unsigned processors;   /* default 4; 1..64 */
    enum dxgk_iommu iommu; /* default OFF */
    uint32_t iommu_flags;  /* IOMMUFlags; default 0 */
    /* There is an IOMMU that nothing uses at first. Implied by all but DXGK_IOMMU_OFF, by iommu_flags and by shared_address_space. */
    bool iommu_present;
    bool shared_address_space; /* the IoMmu model: devices share address spaces of processes, by PASID (IOMMU-102, in outline) */
    bool remapping_opt_out; /* drivers are installed without DmaRemappingCompatible = 3 (IOMMU-028) */
    bool dma_unjudged; /* accesses of a device to RAM that nobody holds for it are no violations (IOMMU-075) */
    bool trace;  /* keep the event stream */
    bool strict; /* every violation of severity error stops the machine */
    bool stress; /* preempt at a grain that the seed chooses, also at function boundaries of drivers built with -finstrument-functions */
    bool force_irql; /* paged pool is not there at DISPATCH_LEVEL and above: an access stops the machine (bug check 0xD1) */
    bool split_dma_buffers; /* WDDM 1.x: cut each DMA buffer at every SplitOffset, as memory pressure may (PATCH-132) */
    bool special_pool; /* pages of its own for each pool block, so that an access beyond it or after its free is found at once */
    uint64_t watchdog_ms; /* host time a driver may run without reaching the host; default 10000; 0: none */
    uint64_t time_limit_ns; /* virtual time a run may take; default: none (UINT64_MAX) */
    /* Start a Windows image (.sys) although the host lacks routines that it imports: each one that it calls is reported. */
    bool stub_missing;
    uint64_t fail_allocation; /* fail the n-th internal allocation after creation; 0: none */
    /* A line of news ("driver said: ...", "adapter refused: ..."); may be NULL. */
    void (*log)(void *context, const char *line);
    void *log_context;
    struct dxgk_depot *depot; /* may be NULL */
};

/*
 * What one machine leaves for the next one: memory files with their pages, which are set to zero and cost less than new ones.
 * It makes the start of a machine cheaper and changes nothing else: what a machine does never depends on what went before. A
 * depot belongs to one host thread at a time, and outlives the machines that were created with it.
 */
DXGK_API struct dxgk_depot *dxgk_depot_create(void); /* NULL: out of memory */
DXGK_API void dxgk_depot_destroy(struct dxgk_depot *depot);

enum dxgk_result {
    DXGK_OK,
    DXGK_ERROR, /* refused or failed; the error text says why */
    DXGK_OUT_OF_MEMORY,
    DXGK_DRIVER_STOPPED, /* a driver fault or a simulated bug check stopped the machine */
    DXGK_DEADLOCK,       /* every thread waits for something that cannot happen */
    DXGK_TIME_UP,
};

DXGK_API void dxgk_machine_config_init(struct dxgk_machine_config *config);
/* NULL: *error says why, in one line. */
DXGK_API struct dxgk_machine *dxgk_machine_create(const struct dxgk_machine_config *config,
                                                  char *error, size_t error_bytes);
DXGK_API void dxgk_machine_destroy(struct dxgk_machine *machine);

/* Severity of a rule before a driver is loaded (LIFE-004): 0 note, 1 warning, 2 error, 3 bug check. False: no such rule. */
DXGK_API bool dxgk_machine_set_severity(struct dxgk_machine *machine, const char *rule,
                                        int severity);

/* Keys and values of the registry from a text file, before a driver is loaded:
 *     [\Registry\Machine\System\CurrentControlSet\Services\mygpu]
 *     "RenderOnly"=4:01000000
 * A key in brackets, then its values: name, type number, bytes in hexadecimal.
 * The host itself follows, when an adapter starts, the numbers (type 4) TdrLevel, TdrDelay, TdrDdiDelay, TdrLimitCount,
 * TdrLimitTime and TdrDebugMode below ...\Control\GraphicsDrivers, and EnablePreemption in its key Scheduler (TDR-008 to TDR-015,
 * PREEMPT-006). */
DXGK_API enum dxgk_result dxgk_machine_load_registry(struct dxgk_machine *machine, const char *path,
                                                     char *error, size_t error_bytes);

/* Plug in a device: a model from a shared object, or one that is linked in. Options are "key=value". */
DXGK_API enum dxgk_result dxgk_machine_add_device(struct dxgk_machine *machine, const char *path,
                                                  const char *const *options, size_t count,
                                                  char *error, size_t error_bytes);
DXGK_API enum dxgk_result dxgk_machine_add_device_model(struct dxgk_machine *machine,
                                                        const struct dxgk_device_model *model,
                                                        const char *const *options, size_t count,
                                                        char *error, size_t error_bytes);

/* Load a miniport, run DriverEntry, and start an adapter for each device that has no driver yet. On failure *error names the rule
 * that refused the adapter and the value it saw. */
DXGK_API enum dxgk_result dxgk_machine_load_driver(struct dxgk_machine *machine, const char *path,
                                                   char *error, size_t error_bytes);

/* Load a miniport as dxgk_machine_load_driver does, with stub_missing, and tell in lines what it is: sections and imports of its
 * file, the entry points that it registers, its capabilities, segments and page-table levels, and what refuses it. Without a
 * device no adapter is started. */
DXGK_API enum dxgk_result dxgk_machine_inspect(struct dxgk_machine *machine, const char *path,
                                               void (*line)(void *context, const char *line),
                                               void *context, char *error, size_t error_bytes);

/* Run fn(argument) as a client thread of a new process, until it returns (and other threads it started have ended). */
DXGK_API enum dxgk_result dxgk_machine_run(struct dxgk_machine *machine, const char *process,
                                           void (*fn)(void *argument), void *argument);
/* From a client: one more thread in the same process, or a thread of a new process. False: out of memory. */
DXGK_API bool dxgk_client_thread(const char *name, void (*fn)(void *argument), void *argument);
DXGK_API bool dxgk_client_process(const char *process, void (*fn)(void *argument), void *argument);
/* From a client: let virtual time pass; read it. */
DXGK_API void dxgk_client_sleep(uint64_t ns);
DXGK_API uint64_t dxgk_client_time(void);

/* From a client: the machine goes to sleep and wakes. Each adapter is brought to the device power state D0 (0) to D3 (3), for the
 * reason given, which means nothing for D0: clients' work is held back, video memory that is not preserved moves to system memory,
 * and the driver is called (LIFE-152, LIFE-154). Returns when every adapter was told. If that fails for one, *error names it and
 * says why: it stays as it was, or is in D0 and what it had in video memory did not come back. Any D3DKMT call that needs the driver powers its adapter up again by itself. */
enum dxgk_power_action {
    DXGK_POWER_SLEEP,
    DXGK_POWER_HIBERNATE,
    DXGK_POWER_SHUTDOWN,
    DXGK_POWER_IDLE
};
DXGK_API enum dxgk_result dxgk_client_set_power(unsigned state, enum dxgk_power_action action,
                                                char *error, size_t error_bytes);
/* From a client: 0 to 3, of the adapter that is the deepest asleep. */
DXGK_API unsigned dxgk_client_power(void);

/* A secure virtual machine is made on the adapters: isolation is switched on where it is not (IOMMU-042). Fails without an IOMMU,
 * and for drivers without IoMmuSecureModeSupported unless iommu_flags say otherwise; then *error says why. */
DXGK_API enum dxgk_result dxgk_machine_create_secure_vm(struct dxgk_machine *machine, char *error,
                                                        size_t error_bytes);

/* Stop and remove adapters, unload drivers, check for leaks. Idempotent. */
DXGK_API enum dxgk_result dxgk_machine_shutdown(struct dxgk_machine *machine);

struct dxgk_statistics {
    uint32_t size;
    uint64_t virtual_ns, submissions /* without paging */, paging_submissions, patches,
        page_table_updates, bytes_paged_in, bytes_paged_out;
    uint64_t iommu_maps, iommu_faults, interrupts, ddi_calls, evictions, preemptions, engine_resets,
        adapter_resets;
    uint64_t violations, warnings, leaks, allocations_requested, trace_records;
    bool bugcheck;
    uint32_t bugcheck_code;
    uint64_t bugcheck_parameter[4];
};
DXGK_API void dxgk_machine_statistics(const struct dxgk_machine *machine,
                                      struct dxgk_statistics *statistics);

struct dxgk_violation {
    const char *rule, *severity, *seen, *where, *thread;
    uint64_t virtual_ns, count;
    const char *stack; /* frames of the driver, innermost first, one a line; "": unknown */
};
DXGK_API size_t dxgk_machine_violations(const struct dxgk_machine *machine);
DXGK_API bool dxgk_machine_violation(const struct dxgk_machine *machine, size_t index,
                                     struct dxgk_violation *violation);

/* After a deadlock (THREAD-072, THREAD-073): lines that tell who waited for what, held what, and where in the driver. NULL: there
 * was none. Valid until the machine is destroyed. */
DXGK_API const char *dxgk_machine_waits(const struct dxgk_machine *machine);

/* Bytes of simulated RAM, as a debugger on the machine would read them. False: outside RAM. */
DXGK_API bool dxgk_machine_read_physical(const struct dxgk_machine *machine, uint64_t address,
                                         void *to, size_t bytes);

/* What a page of simulated RAM is at this moment. */
struct dxgk_page {
    const char *owner; /* "pool", "pages for MDLs", "free"; as in the report of memory */
    const char *cache; /* "cached", "non-cached" or "write-combined": of all mappings of the page */
    uint32_t locks;    /* that keep it from being reused or moved */
    uint32_t iommu_maps; /* entries of IOMMU domains that lead to it */
};

/* The page that holds the byte. False: outside RAM. */
DXGK_API bool dxgk_machine_page(const struct dxgk_machine *machine, uint64_t address,
                                struct dxgk_page *page);

/* Physical memory as it is now: owners, fragmentation, IOMMU domains and what drivers hold, as text; or a picture of it by
 * owner, as SVG. False: out of memory, or writing failed. */
enum dxgk_memory_form { DXGK_MEMORY_TEXT, DXGK_MEMORY_SVG };
DXGK_API bool dxgk_machine_write_memory(const struct dxgk_machine *machine,
                                        enum dxgk_memory_form form, FILE *out);

/* Chrome/Perfetto JSON of the event stream. False: no trace was kept, or writing failed. */
DXGK_API bool dxgk_machine_write_trace(const struct dxgk_machine *machine, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
