/* SPDX-License-Identifier: MIT */
/*
 * The probe: a machine with a miniport inside the test program and a device model for it. The driver answers well by default
 * (a small render adapter with GpuMmu), records every call, and can be told to answer differently:
 *
 *     struct probe *p = probe_create(NULL);
 *     p->caps.SchedulingCaps.PreemptionAware = 1;            answers of queries: plain data, before the start
 *     p->table.DxgkDdiPatch = NULL;                          entry points
 *     p->after[PROBE_StartDevice] = hook;                    one entry: before its default answer, or after it
 *     CHECK_RULE("...", probe_start(p) == STATUS_...);       DriverEntry, AddDevice, StartDevice and so on
 *     ... probe_run(p, body) ...                             on a thread of the system process
 *     probe_stop(p);
 *     probe_destroy(p);
 *
 * One probe at a time: the driver has no other way to find it.
 */
#ifndef DXGK_TESTS_PROBE_H
#define DXGK_TESTS_PROBE_H

#include "port/adapter.h"
#include "port/callbacks/etw.h"
#include "port/driver.h"
#include "port/port.h"
#include "port/record/adapter_info.h"
#include "port/record/port_config.h"
#include "port/running/domain.h"
#include "port/running/isolate.h"
#include "port/running/power.h"
#include "port/running/query_interface.h"
#include "port/support/probe_ddis.h"
#include "sim/sim.h"
#include "support/check_rule.h"

#include <ntddk.h>
#include <dispmprt.h>
#include <d3dkmthk.h>

/* clang-format off */
enum probe_ddi {
#define PROBE_ENUM(name, arguments) PROBE_##name,
    PROBE_DDIS(PROBE_ENUM)
#undef PROBE_ENUM
    PROBE_DDI_COUNT
};
/* clang-format on */

#define PROBE_MAX_ADAPTERS  4u
#define PROBE_MAX_NODES     64u
#define PROBE_WORKING_NODES 8u /* the device model executes on this many */
#define PROBE_SECOND        1000000000ull

struct probe;

struct probe_call {
    enum probe_ddi ddi;
    const char *name; /* "StartDevice" */
    uint64_t order;   /* of all calls, from 0 */
    uint64_t left;    /* order of the first call after its return; UINT64_MAX: it did not return */
    uint64_t time;
    uint8_t irql;
    uint16_t processor;
    const struct sim_thread *thread;
    const struct nt_process *process;
    uint64_t arg[7]; /* values and pointers; beyond `args` zero */
    unsigned args;
    uint64_t result; /* NTSTATUS, BOOLEAN or a size */
    bool answered;   /* set by a hook before: the default answer is skipped */
    bool marked;     /* for hooks */
    /* Of QueryAdapterInfo, copied when it was called: */
    DXGK_QUERYADAPTERINFOTYPE query_type;
    DXGKARG_QUERYADAPTERINFO query;
    uint8_t query_input[16];
};

typedef void probe_hook(struct probe *p, struct probe_call *call);

/* The driver's own idea of an adapter. */
struct probe_adapter {
    PVOID context; /* MiniportDeviceContext: a number, no pointer */
    PDEVICE_OBJECT pdo;
    bool started;
    DXGKRNL_INTERFACE dxgk;
    DXGK_START_INFO info;
    PDXGK_START_INFO info_address; /* as passed */
    PDXGKRNL_INTERFACE interface_address;
    DXGK_DEVICE_INFO device;
    PULONG registers;
    ULONG reported[PROBE_WORKING_NODES]; /* last fence told to the host */
    ULONG submitted[PROBE_WORKING_NODES];
    ULONG preempting[PROBE_WORKING_NODES];
};

struct probe_options {
    UINT version;         /* of the driver's interface; 0: WDDM 2.9 */
    unsigned processors;  /* 0: 2 */
    uint64_t seed;        /* 0: 1 */
    uint64_t ram_bytes;   /* 0: 64 MiB */
    unsigned adapters;    /* devices to start; 0: 1 */
    uint64_t watchdog_ms; /* host time; 0: none */
    uint64_t pool_limit;  /* NT-200 */
    bool strict, force_irql, special_pool;
    const char *const *
        device; /* options of the device model, NULL-terminated: "messages=2", "vram=...", "dma_bits=40", "ports=32", "class=0x030000" */
    struct port_config port; /* ram and bus are filled in */
};

struct probe {
    struct probe_options options;
    struct sim_machine *sim;
    struct verify_log *log;
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    struct nt_image *image;
    struct port *port;
    struct port_driver *driver;
    struct bus_device *device[PROBE_MAX_ADAPTERS];
    struct port_adapter *adapter[PROBE_MAX_ADAPTERS]; /* started ones */
    unsigned devices, adapters;
    uint64_t blocks; /* of the machine's heap before anything else */

    /* the driver */
    DRIVER_INITIALIZATION_DATA table;
    probe_hook *before[PROBE_DDI_COUNT], *after[PROBE_DDI_COUNT];
    NTSTATUS(*driver_entry)
    (struct probe *p, PDRIVER_OBJECT object,
     PUNICODE_STRING path); /* NULL: DxgkInitialize, status passed on */
    struct probe_adapter state[PROBE_MAX_ADAPTERS];
    unsigned added;
    struct probe_call **call;
    size_t calls, capacity;
    void *user; /* the test's */
    /* for engines of this mask, in the interrupt routine, in place of DMA_COMPLETED and the like */
    unsigned reported_by_test;
    void (*report)(struct probe *p, unsigned engine);
    uint64_t fail_allocation; /* the host's n-th of the next probe_run fails; 0: none */
    bool fail_onward;         /* and all after it */

    /* answers */
    DXGK_DRIVERCAPS caps;
    DXGK_PHYSICALADAPTERCAPS physical; /* DxgkPhysicalAdapterHandle is filled in */
    DXGK_SEGMENTDESCRIPTOR4 segment[33];
    UINT segments;
    UINT banks; /* of every segment of a 1.x driver */
    SIZE_T *bank_table;
    DXGK_MEMORYRANGE bad_range[8];
    UINT paging_segment, paging_bytes, paging_private_bytes;
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[8];
    DXGKARG_GETNODEMETADATA node[PROBE_MAX_NODES + 1];
    DXGK_WDDMVERSION device_wddm;
    DXGK_PHYSICAL_MEMORY_CAPS memory;
    DXGK_IOMMU_CAPS iommu;
    SIZE_T save_bytes;
    DXGK_PHYSICAL_MEMORY_RANGE reserved[4];
    UINT reserved_ranges;
    UINT components;
    DXGK_POWER_RUNTIME_COMPONENT component[8];
    UINT history_bits;
    DXGK_DEVICE_TYPE_CAPS type;
    DXGK_CHILD_DESCRIPTOR child[4];
    ULONG children, sources;
    NTSTATUS query_status[64]; /* by query type; 0: answered */
};

extern struct probe *probe; /* the one there is */

/* options may be NULL. The machine is there, and entered; nothing of the driver has run. */
struct probe *probe_create(const struct probe_options *options);
/* Stops what still runs, without looking at the outcome. Unless a bug check was in between, the test
 * fails if rooms of the host leave memory behind. */
void probe_destroy(struct probe *p);
/* Turn the answers and entry points into those of a compute-only driver that is accepted. */
void probe_make_compute_only(struct probe *p);
/* Turn the answers into those of a driver without GPU virtual addressing; for the versions below WDDM 2.0, or for a driver that
 * claims one of them (its WDDMVersion is cleared). */
void probe_make_1x(struct probe *p);
/* Entry points of displays and other things that a render-only driver may also have. */
void probe_add_display_entries(struct probe *p);
/* Report `count` power components, with what that takes. */
void probe_use_components(struct probe *p, UINT count);
void probe_set_entry(struct probe *p, enum probe_ddi ddi, bool present);

/* DriverEntry and the start of every adapter; the first failing status. */
NTSTATUS probe_start(struct probe *p);
/* The parts. */
NTSTATUS probe_load(struct probe *p);
NTSTATUS probe_add(struct probe *p, unsigned device);
void probe_remove(struct probe *p, unsigned adapter);
/* Removes adapters, unloads. How many things the driver left behind. */
uint64_t probe_stop(struct probe *p);
/* Whether what the host keeps of memory, of allocations and of packets holds together; before each probe_stop and each end of
 * a client, too. On a thread of the machine. */
void probe_validate(const struct probe *p);
/* body(p) on a thread of the system process, until it returns; SIM_STOPPED: a bug check came between. */
enum sim_outcome probe_run(struct probe *p, void (*body)(struct probe *p));
/* A whole life, which succeeds: create and start; run the body, and destroy. */
struct probe *probe_started(const struct probe_options *options);
void probe_end(struct probe *p, void (*body)(struct probe *p));

#define RIG_ARGUMENT_probe  struct probe *p
#define RIG_RUN_probe(body) probe_end(probe_started(NULL), body)

/* On a client thread of a new process; several at once may be started from a body. */
struct nt_process *probe_process(struct probe *p, const char *name);
struct sim_thread *probe_thread(struct probe *p, struct nt_process *process, const char *name,
                                void (*body)(struct probe *p));
/* Sleep on the current thread. */
void probe_sleep(uint64_t ns);

/* ---- what was recorded ---- */
size_t probe_count(const struct probe *p, enum probe_ddi ddi);
const struct probe_call *probe_nth(const struct probe *p, enum probe_ddi ddi,
                                   size_t n); /* fails the test if there is none */
/* The n-th query of one type. */
const struct probe_call *probe_query(const struct probe *p, DXGK_QUERYADAPTERINFOTYPE type,
                                     size_t n); /* NULL: none */
size_t probe_queries(const struct probe *p, DXGK_QUERYADAPTERINFOTYPE type);
void probe_forget(struct probe *p);                           /* all calls so far */
uint64_t probe_rule(const struct probe *p, const char *rule); /* reports of it */
/* Some report of the rule whose text holds `part`. */
/* The last callback or call of a client that failed, with its reason. NULL: none did. */
extern const char *probe_refused_call, *probe_refused_rule, *probe_refused_text;
bool probe_said(const struct probe *p, const char *rule, const char *part);
const struct verify_record *probe_record(const struct probe *p, const char *rule);
struct probe_adapter *probe_adapter_of(struct probe *p, uint64_t context);
/* Reports of at least this severity. */
size_t probe_reports(const struct probe *p, enum verify_severity at_least);

/* ---- the device ---- */
extern const struct dxgk_device_model probe_device_model;
/* Raise a message as the device does, without any cause in its registers; bit `cause` of its status otherwise. */
void probe_device_raise(unsigned device, uint32_t message);
void probe_device_cause(unsigned device, uint32_t causes, uint32_t message);
/* Bus-master access; the IOMMU's answer. */
bool probe_device_dma(unsigned device, uint64_t address, void *bytes, size_t count, bool write);
/* The same in the address space of a process. */
bool probe_device_pasid(unsigned device, uint32_t pasid, uint64_t address, void *bytes,
                        size_t count, bool write);
/* Who makes the accesses that follow: an engine of the device, and one of its commands. */
void probe_device_source(unsigned device, unsigned engine, uint64_t command);
/* An engine begins this work, or is rid of it. */
struct dxgk_device_work;
void probe_device_work(unsigned device, const struct dxgk_device_work *work);
/* Those of a test that failed are none of the next one's. */
void probe_device_forget(void);
/* How long a packet takes (default 1000 ns). */
extern uint64_t probe_device_packet_ns;
/* Called when a packet is at its end, before the device tells of it: what it does may be done then. NULL: nothing. */
extern void (*probe_device_done)(unsigned device, unsigned node, uint32_t fence);

/* Registers. */
#define PROBE_REG_ID              0x00u
#define PROBE_REG_STATUS          0x04u /* read clears */
#define PROBE_REG_ENABLE          0x08u
#define PROBE_REG_RESET           0x0Cu
#define PROBE_REG_SCRATCH         0x10u
#define PROBE_REG_SUBMIT(node)    (0x100u + 16u * (node))
#define PROBE_REG_COMPLETED(node) (0x104u + 16u * (node))
#define PROBE_REG_PREEMPT(node)   (0x108u + 16u * (node))
#define PROBE_ID                  0x424F5250u
#define PROBE_CAUSE_TEST          0x80000000u

/* ---- what many tests do ---- */

/* For before[]: the DDI fails with STATUS_UNSUCCESSFUL. */
void probe_fail_call(struct probe *p, struct probe_call *call);
/* body(p) on a client thread of the process, from another thread; waits for its end. */
void probe_run_in(struct probe *p, struct nt_process *process, void (*body)(struct probe *p));
void probe_restart(struct probe *p);
/* A call of DxgkDdiQueryAdapterInfo that changes nothing. */
void probe_ask_driver(struct probe *p);
/* Where the index-th BAR of the first adapter is, as the driver was told. */
PHYSICAL_ADDRESS probe_bar(const struct probe *p, unsigned index);
/* DxgkCbIsFeatureEnabled, DxgkCbQueryFeatureSupport. */
bool probe_feature_enabled(struct probe *p, DXGK_FEATURE_ID feature, NTSTATUS *status);
bool probe_feature_supported(struct probe *p, DXGK_FEATURE_ID feature, UINT driver,
                             NTSTATUS *status);

#endif
