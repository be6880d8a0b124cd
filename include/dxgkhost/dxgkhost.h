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
 *
 * What changes a machine or lets it run (load_registry, add_device, add_device_model, load_driver, inspect, run,
 * create_secure_vm, shutdown, destroy) fails with DXGK_ERROR, and destroy does nothing, where it is called
 *   - from inside a machine: by a client, a hook of the configuration, a device model or a driver;
 *   - while another host thread is in one of these functions of that machine;
 *   - in a child that fork made of the process that created the machine.
 * A machine can be looked at (statistics, violations, ...) from inside, too; beside another host thread there is nothing to
 * see. dxgk_client_* do nothing outside of client threads, nor in hooks.
 *
 * fork: a child has no machine. It may create its own, must not return from a client function in which it was forked, and
 * ends by _exit or exec. Faults of code in the process are handled, by SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP, while
 * there are machines; the handlers of before come back with the end of the last.
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
struct dxgk_recorder;
struct dxgk_patch_format;
struct dxgk_table_format;
struct dxgk_violation;
struct dxgk_frame;

enum dxgk_iommu { DXGK_IOMMU_OFF, DXGK_IOMMU_ISOLATION, DXGK_IOMMU_REMAP };

/* The setting IOMMUFlags (IOMMU-034 to IOMMU-038): what isolation of an adapter includes. Each of
 * the first three has an effect only together with those before it; DXGK_IOMMU_ISOLATION sets all
 * three. */
enum dxgk_iommu_flags {
    DXGK_IOMMU_DOMAIN = 0x01,
    DXGK_IOMMU_MAPPINGS = 0x02, /* memory that the device may use is mapped in the domain */
    /* and the device is attached to the domain, so it is confined to it */
    DXGK_IOMMU_ATTACH = 0x04,
    DXGK_IOMMU_BYPASS_CAP = 0x08,    /* also for a driver without IoMmuSecureModeSupported */
    DXGK_IOMMU_ALLOW_FAILURE = 0x10, /* if isolation fails, the adapter starts without it */
};

/* Where the documentation leaves a choice: as Windows was seen to choose (docs/windows-evidence.md
 * says on which version), or as this host decided before, which depends on less. */
enum dxgk_windows { DXGK_WINDOWS_OBSERVED, DXGK_WINDOWS_DOCUMENTED };

/* Where code comes from; "": not known. */
struct dxgk_source {
    char function[256];
    char inlined[256]; /* the innermost of the functions that were inlined there */
    char line[512];    /* "path:line" */
};

struct dxgk_machine_config {
    uint32_t size;         /* of this structure; set by dxgk_machine_config_init */
    uint64_t seed;         /* default 1 */
    uint64_t ram_bytes;    /* default 16 GiB; 64 MiB .. 1 TiB */
    unsigned processors;   /* default 4; 1..64 */
    enum dxgk_iommu iommu; /* default OFF */
    uint32_t iommu_flags;  /* IOMMUFlags; default 0 */
    /* There is an IOMMU, which is not used at first. Implied by all values but DXGK_IOMMU_OFF, by
     * iommu_flags and by shared_address_space. */
    bool iommu_present;
    bool shared_address_space; /* the IoMmu model: devices share address spaces of processes, by PASID (IOMMU-102, in outline) */
    bool remapping_opt_out; /* drivers are installed without DmaRemappingCompatible = 3 (IOMMU-028) */
    /* a device's access to RAM that nothing holds for DMA is no violation (IOMMU-075) */
    bool dma_unjudged;
    bool trace; /* record the event stream */
    /* record what happens as events of Windows' provider Microsoft-Windows-DxgKrnl, too */
    bool trace_dxgkrnl;
    bool strict; /* every violation of severity error stops the machine */
    /* preempt at intervals that the seed chooses, also at function boundaries of drivers built with
     * -finstrument-functions */
    bool stress;
    /* paged pool is inaccessible at DISPATCH_LEVEL and above: an access stops the machine (bug
     * check 0xD1) */
    bool force_irql;
    /* call DxgkDdiSubmitCommandVirtual at DISPATCH_LEVEL; else at PASSIVE_LEVEL, as Windows was seen
     * to do (THREAD-042) */
    bool raised_submit;
    /* VidPNs say with STATUS_GRAPHICS_MODE_NOT_PINNED that a mode set has no pinned mode; else with
     * STATUS_SUCCESS (VIDPN-066) */
    bool tell_unpinned;
    /* What firmware has lit on the POST device, in X8R8G8B8 (PRES-002): pixels, and bytes of a line;
     * width 0: 1024 x 768. Sides of at most 16384. */
    struct {
        uint32_t width, height, pitch;
    } firmware_screen;
    bool no_displays; /* display-only drivers are refused, no firmware has lit a screen (DISP-001) */
    bool last_screen; /* in a bug check the driver of the POST device gives a screen, which tells its code (PRES-042) */
    bool split_dma_buffers; /* WDDM 1.x: cut each DMA buffer at every SplitOffset, as memory pressure may (PATCH-132) */
    bool driver_fences; /* drivers of WDDM 2.2 and later signal the paging fence themselves (GPUVA-242, GPUVA-243) */
    /* separate pages for each pool block and all that DDIs are lent, so that an access beyond it or
     * after its free is detected at once */
    bool special_pool;
    /* bytes of pool that drivers may hold before the machine is stopped for a leak (NT-200); default
     * 0: 2 GiB */
    uint64_t pool_limit;
    /* processor time of the host thread that a driver, or a callback of a device model, may take
     * without reaching the host; ten times as much wall time, if it sleeps; default 10000; 0: no
     * limit */
    uint64_t watchdog_ms;
    /* virtual time that one run, or one call that works on the machine, may take; default: an hour;
     * UINT64_MAX: no limit */
    uint64_t time_limit_ns;
    /* Start a Windows image (.sys) although the host lacks routines that it imports: each call of
     * one is reported. */
    bool stub_missing;
    uint64_t fail_allocation; /* fail the n-th internal allocation after creation; 0: none */
    /* Receives messages, one line each ("driver said: ...", "adapter refused: ..."); may be
     * NULL. */
    void (*log)(void *context, const char *line);
    void *log_context;
    struct dxgk_depot *depot; /* may be NULL */
    /* Receives, with log_context, a line for each page fault, engine reset and adapter reset, when
     * it happens, which says why (dxgk_machine_loss). NULL: these lines go to `log`. */
    void (*loss)(void *context, const char *line);
    struct dxgk_recorder *recorder; /* may be NULL */
    /* Receives, with log_context, each violation when it happens; those that are merged with one
     * that was reported before are not. It runs in the middle of things, on any simulated thread:
     * it must not call the machine, nor block. May be NULL. */
    void (*violation)(void *context, const struct dxgk_violation *violation);
    /* Stack of each client thread; default 1 MiB; 256 KiB .. 1 GiB. Pages are taken when they are
     * touched. */
    uint64_t client_stack_bytes;
    enum dxgk_windows windows; /* default OBSERVED */
    /* Keep a chronicle of GPU memory and address spaces, for dxgk_machine_write_report. It takes
     * 100 bytes for each change of a place or a mapping. */
    bool chronicle;
    /* Compare page tables with what the driver was asked to write, after each paging submission that
     * has completed, and what TLBs keep with page tables (docs/page-tables.md). */
    bool check_page_tables;
    /* Their format; NULL: as the device model says. It must outlive the machine. */
    const struct dxgk_table_format *page_table_format;
    /* Do not look at DMA buffers before and after DxgkDdiPatch (docs/patching.md). */
    bool unchecked_patches;
    /* How the driver writes addresses into DMA buffers; NULL: as the device model says, if it does.
     * It must outlive the machine. */
    const struct dxgk_patch_format *patch_format;
    /* Call DxgkDdiPatch with no locations where nothing has moved since DxgkDdiRender, which must have
     * written these addresses already (PATCH-141). */
    bool test_prepatching;
    /* Keep a journal of submissions, for dxgk_machine_write_report. It takes at most 3 MiB an
     * adapter. */
    bool journal;
    /* Find accesses of the driver's memory that nothing orders (THREAD-080, docs/races.md). */
    bool races;
    /* Receives, with log_context, each frame when it is complete. It runs in the middle of things: it
     * may look at the machine, and no more. NULL: pictures are not taken of frames. */
    void (*frame)(void *context, const struct dxgk_frame *frame);
    /* Record which code of drivers runs (dxgkhost/fuzz.h). */
    bool coverage;
    /* Fills in, with source_context, where the byte at `offset` of a Windows image comes from that
     * has no lines itself. It is called in the middle of a report, must not call the machine, and
     * should answer within some seconds. NULL: nobody knows. */
    void (*source)(void *context, const char *image, uint64_t offset, struct dxgk_source *source);
    void *source_context;
};

/* Call a function at a virtual time, which is not before that of now; it runs as those of the
 * configuration do. Not called: the machine ended before. False: out of memory, or the machine is
 * not the caller's. */
DXGK_API bool dxgk_machine_at(struct dxgk_machine *machine, uint64_t ns, void (*fn)(void *context),
                              void *context);

/*
 * A depot keeps the memory files of one machine for the next one: their pages are set to zero,
 * which is cheaper than new ones. It makes the start of a machine cheaper and changes nothing else:
 * what a machine does never depends on earlier machines. A depot is used by one host thread at a
 * time, and outlives the machines that were created with it.
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
    DXGK_INTERRUPTED, /* dxgk_machine_interrupt was called */
};

/* Fill in a configuration with its defaults. */
DXGK_API void dxgk_machine_config_init(struct dxgk_machine_config *config);
/* Build a machine. NULL: *error says why, in one line. */
DXGK_API struct dxgk_machine *dxgk_machine_create(const struct dxgk_machine_config *config,
                                                  char *error, size_t error_bytes);
/* End a machine, and free what belongs to it. */
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
 * PREEMPT-006); and HwSchMode there: 2 lets drivers enable hardware scheduling, 1 does not (LIFE-122). */
DXGK_API enum dxgk_result dxgk_machine_load_registry(struct dxgk_machine *machine, const char *path,
                                                     char *error, size_t error_bytes);

/* Plug in a device: a model from a shared object, or one that is linked in. Options are
 * "key=value". The path "null" is no file but the built-in device without behaviour: BAR 0 and
 * BAR 2 are plain memory of `vram` (64 MiB) and `registers` (64 KiB) bytes, 0 for none; further
 * options are vendor, device, subsystem-vendor, subsystem, revision, class, messages, dma-bits, and
 * outputs: so many have the EDID of their monitor in BAR 2, 1024 bytes each. */
DXGK_API enum dxgk_result dxgk_machine_add_device(struct dxgk_machine *machine, const char *path,
                                                  const char *const *options, size_t count,
                                                  char *error, size_t error_bytes);
DXGK_API enum dxgk_result dxgk_machine_add_device_model(struct dxgk_machine *machine,
                                                        const struct dxgk_device_model *model,
                                                        const char *const *options, size_t count,
                                                        char *error, size_t error_bytes);

/* A monitor on an output of a device (counted from 0 in the order in which they were added, outputs
 * as its model counts them) from a virtual time on, or none: `edid` NULL. The device model shows it
 * to the driver (PRES-322). Before the driver is loaded, a model with outputs has a monitor on its
 * first one unless it has one, or none, by this call (PRES-323). Unless `force` the bytes must be whole: header,
 * sums, and the number of extensions. On failure *error says why. */
struct dxgk_monitor {
    unsigned device, output;
    const uint8_t *edid; /* copied */
    size_t bytes;
    bool force;
    uint64_t virtual_ns; /* in the past: at once */
};
DXGK_API enum dxgk_result dxgk_machine_set_monitor(struct dxgk_machine *machine,
                                                   const struct dxgk_monitor *monitor, char *error,
                                                   size_t error_bytes);
/* The EDID of a monitor with these modes, the first preferred: "1024x768@60,1920x1080@59.94"; to be
 * freed with free. NULL: *error says why. */
DXGK_API uint8_t *dxgk_edid_of_modes(const char *modes, size_t *bytes, char *error,
                                     size_t error_bytes);

/* Load a miniport, run DriverEntry, and start an adapter for each device that has no driver yet. On failure *error names
 * what refused it: the first rule whose finding did, with the value seen, or the driver's call that failed, with its status; all
 * findings are violations of the machine. */
DXGK_API enum dxgk_result dxgk_machine_load_driver(struct dxgk_machine *machine, const char *path,
                                                   char *error, size_t error_bytes);

/* Load a miniport as dxgk_machine_load_driver does, with stub_missing, and describe it in lines of
 * text: sections and imports of its file, the entry points that it registers, its capabilities,
 * segments and page-table levels, and the reasons to refuse it. Without a device no adapter is
 * started. */
DXGK_API enum dxgk_result dxgk_machine_inspect(struct dxgk_machine *machine, const char *path,
                                               void (*line)(void *context, const char *line),
                                               void *context, char *error, size_t error_bytes);

/* Run fn(argument) as a client thread of a new process, until it returns (and other threads it started have ended). */
DXGK_API enum dxgk_result dxgk_machine_run(struct dxgk_machine *machine, const char *process,
                                           void (*fn)(void *argument), void *argument);
/* Called by a client: create one more thread in the same process, or a thread of a new process.
 * False: out of memory. */
DXGK_API bool dxgk_client_thread(const char *name, void (*fn)(void *argument), void *argument);
DXGK_API bool dxgk_client_process(const char *process, void (*fn)(void *argument), void *argument);
/* Called by a client: let virtual time pass; read it. */
DXGK_API void dxgk_client_sleep(uint64_t ns);
DXGK_API uint64_t dxgk_client_time(void);
/* Called by a client: memory of its process in the machine's RAM, zeroed and page aligned, which
 * D3DKMTCreateAllocation(2) takes as pSystemMem. NULL: none is left. It goes with the process.
 * Freeing fails (false) for any other address, and while an allocation is made of it. */
DXGK_API void *dxgk_client_allocate(size_t bytes);
DXGK_API bool dxgk_client_free(void *memory);

/* Called by a client: the machine goes to sleep and wakes. Each adapter is set to the device power
 * state D0 (0) to D3 (3), for the given reason (ignored for D0): clients' work is held back, video
 * memory that is not preserved moves to system memory, and the driver is called (LIFE-152,
 * LIFE-154). Returns when all adapters are done. If one fails, *error names it and says why: it
 * stays in its old state, or it is in D0 but its video memory content was not restored. Any D3DKMT
 * call that needs the driver powers its adapter up again by itself. */
enum dxgk_power_action {
    DXGK_POWER_SLEEP,
    DXGK_POWER_HIBERNATE,
    DXGK_POWER_SHUTDOWN,
    DXGK_POWER_IDLE,
    DXGK_POWER_HYBRID_SLEEP /* sleep, for which memory is emptied as for hibernation */
};
DXGK_API enum dxgk_result dxgk_client_set_power(unsigned state, enum dxgk_power_action action,
                                                char *error, size_t error_bytes);
/* Called by a client: the deepest power state of any adapter, 0 to 3. */
DXGK_API unsigned dxgk_client_power(void);

/* Creates a secure virtual machine on the adapters: switches isolation on where it is off
 * (IOMMU-042). Fails without an IOMMU, and for drivers without IoMmuSecureModeSupported unless
 * iommu_flags allow them; then *error says why. */
DXGK_API enum dxgk_result dxgk_machine_create_secure_vm(struct dxgk_machine *machine, char *error,
                                                        size_t error_bytes);

/* The path of the device interface of an adapter (from 0 in the order of their start) in the class
 * GUID_DISPLAY_DEVICE_ARRIVAL, where clients of Windows would find it: for
 * D3DKMTOpenAdapterFromDeviceName. False: there are not so many adapters; *path is empty. */
DXGK_API bool dxgk_machine_device_interface(struct dxgk_machine *machine, unsigned adapter,
                                            char *path, size_t path_bytes);

/* Ends what the machine does at its next point: dxgk_machine_run and the like return
 * DXGK_INTERRUPTED, dxgk_machine_waits says what threads waited for, and the shutdown calls no
 * driver. Signal handlers and other host threads may call it while the machine exists. */
DXGK_API void dxgk_machine_interrupt(struct dxgk_machine *machine);

/* Stop and remove adapters, unload drivers, check for leaks. Further calls do nothing. */
DXGK_API enum dxgk_result dxgk_machine_shutdown(struct dxgk_machine *machine);

/* What a machine has done so far; the caller sets `size`. */
struct dxgk_statistics {
    uint32_t size;
    uint64_t virtual_ns, submissions /* paging not included */, paging_submissions, patches,
        page_table_updates, bytes_paged_in, bytes_paged_out;
    uint64_t iommu_maps, iommu_faults, interrupts, ddi_calls, evictions, preemptions, engine_resets,
        adapter_resets;
    uint64_t violations, warnings, leaks, allocations_requested, trace_records;
    bool bugcheck;
    uint32_t bugcheck_code;
    uint64_t bugcheck_parameter[4];
    /* Errors of clients, for which no driver answers; `violations`, `warnings` do not include
     * them. */
    uint64_t client_errors;
    bool bugcheck_client;     /* a client asked for the bug check */
    uint64_t table_evictions; /* page tables; not among `evictions` */
};
DXGK_API void dxgk_machine_statistics(const struct dxgk_machine *machine,
                                      struct dxgk_statistics *statistics);

/* Rules that were broken: how many there are, and one of them, by its index. Several breaches of one
 * rule at one place are one, with their count. False: there are not so many. The strings are valid
 * until the machine is destroyed. */
struct dxgk_violation {
    /* `severity`: "note", "warning", "error" or "bug check", with "client " before it if a client
     * did it */
    const char *rule, *severity, *seen, *where, *thread;
    uint64_t virtual_ns, count;
    /* Stack frames of the driver, innermost first, one per line; "": unknown. A frame is
     * "driver.so!submit+0x42", and " (PATH:LINE)" where the image has debug information: of the call, where
     * it is a call that is in progress. */
    const char *stack;
    bool refuses; /* it refused an adapter, or an object that was to be made */
    bool undoing; /* it came up while a refused start was undone: no cause of the refusal */
    bool client;  /* a client did it, not a driver */
};
DXGK_API size_t dxgk_machine_violations(const struct dxgk_machine *machine);
DXGK_API bool dxgk_machine_violation(const struct dxgk_machine *machine, size_t index,
                                     struct dxgk_violation *violation);

/* A call of a client (D3DKMT*) or of a driver (DxgkCb*) that failed, and why. */
struct dxgk_refusal {
    const char *call;   /* "D3DKMTRender" */
    const char *status; /* "STATUS_INVALID_PARAMETER"; "": it has no name */
    uint32_t code;      /* the status as a number */
    const char *reason; /* a sentence with the values that were seen */
    const char *rule;   /* the rule of docs/spec that says so; "": none */
    const char *thread;
    uint64_t virtual_ns;
};

/* The last 64 failed calls, without those made while a refused start was undone: how many there are, and the last but `back` of them. False: there is
 * none. The strings are valid until 64 more calls have failed, or the machine is destroyed. */
DXGK_API size_t dxgk_machine_refusals(const struct dxgk_machine *machine);
DXGK_API bool dxgk_machine_refusal(const struct dxgk_machine *machine, size_t back,
                                   struct dxgk_refusal *refusal);
/* Called by a client: the last of its thread's own calls that failed, as far as it is among those.
 * False: there is none. */
DXGK_API bool dxgk_client_last_refusal(struct dxgk_refusal *refusal);

/* Why work of the GPU was lost (TDR-083): a fault, or a reset of an engine or of an adapter. */
struct dxgk_loss {
    /* One line: adapter, what happened, node, engine, fence, context, process, address; what is or
     * was mapped there, and what took it away; preemption; the walk of the page tables. Client
     * calls that fail for the loss of their device have it as their reason, as far as it fits. */
    const char *line;
    uint64_t virtual_ns;
};

/* The last 32 losses: how many there are, and the last but `back` of them. False: there is none.
 * The string is valid until 32 more were lost, or the machine is destroyed. */
DXGK_API size_t dxgk_machine_losses(const struct dxgk_machine *machine);
DXGK_API bool dxgk_machine_loss(const struct dxgk_machine *machine, size_t back,
                                struct dxgk_loss *loss);

/* What threads wait for: after a deadlock (THREAD-072, THREAD-073), an interruption, or the end of
 * the time limit, lines that say what each thread waited for, what it held, and where in the driver it was; who could
 * signal what the clients waited for; which packets were in flight. NULL: there was none. Valid
 * until the machine is destroyed. */
DXGK_API const char *dxgk_machine_waits(const struct dxgk_machine *machine);

/* Read bytes of simulated RAM, like a debugger on the machine. False: outside RAM. */
DXGK_API bool dxgk_machine_read_physical(const struct dxgk_machine *machine, uint64_t address,
                                         void *to, size_t bytes);

/* The current state of a page of simulated RAM. */
struct dxgk_page {
    const char *owner; /* "pool", "pages for MDLs", "free"; as in the report of memory */
    const char *cache; /* "cached", "non-cached" or "write-combined": of all mappings of the page */
    uint32_t locks;    /* number of locks that keep it from being reused or moved */
    uint32_t iommu_maps; /* number of IOMMU domain entries that map it */
};

/* The state of the page that contains the byte. False: outside RAM. */
DXGK_API bool dxgk_machine_page(const struct dxgk_machine *machine, uint64_t address,
                                struct dxgk_page *page);

/* The current physical memory: owners, fragmentation, IOMMU domains and what drivers hold, as text;
 * or a picture of it by owner, as SVG. False: out of memory, or writing failed. */
enum dxgk_memory_form { DXGK_MEMORY_TEXT, DXGK_MEMORY_SVG };
DXGK_API bool dxgk_machine_write_memory(const struct dxgk_machine *machine,
                                        enum dxgk_memory_form form, FILE *out);

/* How many adapters have started, and have not been stopped. */
DXGK_API unsigned dxgk_machine_adapters(const struct dxgk_machine *machine);

/* What happened to the memory of an adapter (numbered from 0 in the order of their devices), as text
 * or SVG: what each process had mapped, from when to when; which allocations were in each segment,
 * and why they left. Of its submissions, as text only: when each was where, and how it ended. False:
 * no such adapter, it was not started, no chronicle or no journal was kept, out of memory, or
 * writing failed. */
enum dxgk_report { DXGK_REPORT_GPUVA, DXGK_REPORT_RESIDENCY, DXGK_REPORT_SUBMISSIONS };
DXGK_API bool dxgk_machine_write_report(const struct dxgk_machine *machine, unsigned adapter,
                                        enum dxgk_report report, enum dxgk_memory_form form,
                                        FILE *out);
/* Whether an adapter has such a report; false: *error says why not. */
DXGK_API bool dxgk_machine_has_report(const struct dxgk_machine *machine, unsigned adapter,
                                      enum dxgk_report report, char *error, size_t error_bytes);

/* What a check of all page tables found; each wrong entry is a violation, too. */
struct dxgk_table_check {
    uint64_t entries;  /* that were compared */
    uint64_t wrong;    /* of these */
    uint64_t pending;  /* not compared: an update that was asked for has not completed */
    uint64_t tables;   /* that were visited */
    uint64_t hidden;   /* of these, in memory that the CPU does not see: not compared */
    uint64_t adapters; /* whose tables were checked */
};
/* Compares all page tables of all adapters with what their drivers were asked to write; the machine
 * was configured with check_page_tables. From outside, or from a client thread. False: nothing was
 * compared: no format is known, or no adapter runs that has page tables. */
DXGK_API bool dxgk_machine_check_page_tables(struct dxgk_machine *machine,
                                             struct dxgk_table_check *check);
/* A format of page tables that is built in ("cosgpu"); NULL: there is none of that name. */
DXGK_API const struct dxgk_table_format *dxgk_table_format(const char *name);
/* Whether the members of a format of page tables make sense together; else `error` says what does not. Whether
 * they are those of a driver's tables shows when its adapter starts. */
DXGK_API bool dxgk_table_format_check(const struct dxgk_table_format *format, char *error,
                                      size_t error_bytes);
/* A format of what drivers write into DMA buffers that is built in ("coskmd", "roskmd",
 * "roskmd-vc4"); NULL: there is none of that name. */
DXGK_API const struct dxgk_patch_format *dxgk_patch_format(const char *name);

/* Writes the event stream as Chrome/Perfetto JSON. False: no trace was recorded, or writing
 * failed. */
DXGK_API bool dxgk_machine_write_trace(const struct dxgk_machine *machine, FILE *out);
/* Writes the event stream as a small picture (SVG): when nodes, engines, contexts, clients and processors were at
 * work, and when the first rules were broken. At most some 300 KB, whatever the length of the run.
 * False also: out of memory. */
DXGK_API bool dxgk_machine_write_timeline(const struct dxgk_machine *machine, FILE *out);

/* Forms of a trace of Windows' provider Microsoft-Windows-DxgKrnl: a file of Event Tracing for
 * Windows, or what Windows' tracerpt makes of one. */
enum dxgk_windows_trace { DXGK_TRACE_ETL, DXGK_TRACE_CSV, DXGK_TRACE_XML };
/* The form of a file by the end of its name: .etl, .csv or .xml. False: it has none of these. */
DXGK_API bool dxgk_windows_trace_form(const char *path, enum dxgk_windows_trace *form);
/* Writes what was recorded with trace_dxgkrnl. False: nothing was, or writing failed. */
DXGK_API bool dxgk_machine_write_dxgkrnl(const struct dxgk_machine *machine,
                                         enum dxgk_windows_trace form, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
