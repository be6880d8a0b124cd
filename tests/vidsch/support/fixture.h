/* SPDX-License-Identifier: MIT */
/*
 * A machine for scheduler tests: simulated processors, a driver that does what the test says
 * (driver.c), a memory manager likewise (memory.c), and the scheduler between them. Node 0 takes
 * physical contexts, node 1 virtual ones and paging, unless the options say otherwise. A test body
 * runs on a client thread, with the scheduler started, and stopped after it.
 */
#ifndef DXGK_TESTS_VIDSCH_FIXTURE_H
#define DXGK_TESTS_VIDSCH_FIXTURE_H

#include "support/check_rule.h"

#include "sim/dpc.h"
#include "sim/event.h"
#include "sim/interrupt.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"

#define MS     1000000ull
#define SECOND 1000000000ull

/* ---- the driver ---- */

enum call_kind {
    CALL_CREATE_DEVICE,
    CALL_DESTROY_DEVICE,
    CALL_CREATE_CONTEXT,
    CALL_DESTROY_CONTEXT,
    CALL_RENDER,
    CALL_PATCH,
    CALL_SUBMIT,
    CALL_SUBMIT_VIRTUAL,
    CALL_PREEMPT,
    CALL_CANCEL,
    CALL_QUERY_FENCE,
    CALL_QUERY_GROUP,
    CALL_QUERY_ENGINE,
    CALL_RESET_ENGINE,
    CALL_RESET,
    CALL_RESTART,
    CALL_COLLECT,
    CALL_KINDS,
};

struct call { /* one DDI call, with its arguments as they were on entry */
    enum call_kind kind;
    uint64_t time;
    uint8_t irql;
    HANDLE handle;    /* first argument */
    uint32_t process; /* of the calling thread */
    union {
        struct {
            DXGKARG_CREATEDEVICE args;
            UINT flags;
            bool info_is_zero;
        } create_device;
        struct {
            DXGKARG_CREATECONTEXT args;
            uint8_t private_data[16];
            bool info_is_zero;
        } create_context;
        struct {
            DXGKARG_RENDER args;
            DXGK_ALLOCATIONLIST list[4];
            uint8_t private_byte;
        } render;
        struct {
            DXGKARG_PATCH args;
            DXGK_ALLOCATIONLIST list[4];
            D3DDDI_PATCHLOCATIONLIST patches[4];
        } patch;
        DXGKARG_SUBMITCOMMAND submit;
        struct {
            DXGKARG_SUBMITCOMMANDVIRTUAL args;
            uint8_t private_data[32];
            uint32_t in_flight;
        } submit_virtual;
        DXGKARG_PREEMPTCOMMAND preempt;
        DXGKARG_CANCELCOMMAND cancel;
        DXGKARG_QUERYDEPENDENTENGINEGROUP group;
        DXGKARG_RESETENGINE reset_engine;
        struct {
            UINT reason;
            SIZE_T bytes;
            bool is_zero;
        } collect;
    };
};

struct fixture;

struct fake_engine {
    struct sim_event event;
    struct fixture *fixture;
    uint32_t ordinal;
    uint32_t queue[64]; /* fences, oldest first */
    uint32_t count;
    uint32_t completed, submitted;
    bool hang;       /* completes nothing */
    bool stays_hung; /* also after DxgkDdiResetEngine */
    bool ignores_preemption;
    bool answers_inside;   /* notifies before PreemptCommand returns */
    bool completes_inside; /* notifies before SubmitCommand returns */
    uint64_t run_ns;       /* time of one packet */
};

#define MAX_CALLS         4096u
#define MAX_NOTIFICATIONS 64u

struct fake_driver {
    struct call calls[MAX_CALLS];
    uint32_t call_count;
    NTSTATUS status[CALL_KINDS];
    DXGK_CONTEXTINFO info[2];          /* of physical and virtual contexts */
    DXGK_DEVICEINFO device_info;       /* of a driver without contexts */
    DXGK_DEVICEINFO *last_device_info; /* where it was written; the host's */
    bool keep_handles;                 /* leave hDevice as it was on entry */
    uint64_t next_handle;
    struct fake_engine engine[4];
    struct sim_interrupt interrupt;
    struct sim_dpc dpc;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA notifications[MAX_NOTIFICATIONS];
    uint32_t notification_count;
    bool no_notify_dpc;   /* the DPC routine forgets DxgkCbNotifyDpc */
    bool writes_reserved; /* CollectDbgInfo: to the extension */
    bool overlapped;      /* a member of the scheduler class ran beside a level zero DDI */
    uint64_t group_mask;  /* QueryDependentEngineGroup; 0: leave as preset */
    uint32_t aborted; /* ResetEngine; UINT32_MAX: the oldest in the queue, else the last completed */
    uint32_t inside, most_inside;           /* members of the GPU scheduler class */
    uint32_t inside_zero, most_inside_zero; /* Render and CreateDevice */
    uint64_t stall_ns, block_ns;            /* how long those take, busy or waiting */
    /* Take part in a call: NULL, or what it returns. Called after the call was noted. */
    NTSTATUS (*on_render)(struct fixture *f, DXGKARG_RENDER *args);
    NTSTATUS (*on_patch)(struct fixture *f, const DXGKARG_PATCH *args);
    NTSTATUS (*on_create_context)(struct fixture *f, DXGKARG_CREATECONTEXT *args);
    NTSTATUS (*on_submit)(struct fixture *f, const DXGKARG_SUBMITCOMMAND *args);
    NTSTATUS (*on_submit_virtual)(struct fixture *f, const DXGKARG_SUBMITCOMMANDVIRTUAL *args);
    NTSTATUS (*on_query_fence)(struct fixture *f, DXGKARG_QUERYCURRENTFENCE *args);
    void (*on_reset)(struct fixture *f); /* ResetFromTimeout, before the engines are as new */
    NTSTATUS (*on_query_group)(struct fixture *f, DXGKARG_QUERYDEPENDENTENGINEGROUP *args);
};

void driver_table(DRIVER_INITIALIZATION_DATA *table);
void driver_init(struct fixture *f);
DXGKDDI_CREATEPROCESS driver_create_process;
/* Notify from the interrupt routine, soon; and at once, as through DxgkCbSynchronizeExecution. */
void driver_notify(struct fixture *f, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void driver_notify_now(struct fixture *f, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void driver_complete(struct fixture *f, UINT node,
                     UINT fence);              /* DMA_COMPLETED through driver_notify_now */
void driver_run(struct fixture *f, UINT node); /* an engine that hung goes on */
uint32_t calls_of(const struct fixture *f, enum call_kind kind);
const struct call *call_at(const struct fixture *f, enum call_kind kind,
                           uint32_t index); /* NULL: fewer */
const struct call *last_call(const struct fixture *f, enum call_kind kind);

/* ---- the memory manager ---- */

struct vidmm_process {
    struct nt_process *nt;
    HANDLE driver_handle;
};

struct vidmm_device {
    struct vidmm_process *process;
    void *owner;
    bool lost, missing; /* missing: vidmm_device_prepare says no */
    uint32_t asked;     /* times that vidmm_device_prepare was called */
};

struct vidmm_open {
    struct vidmm_device *device;
    struct vidmm_place place;
    bool physical, listed, offered, read_only;
    uint64_t bytes;
    D3DKMT_HANDLE handle;
};

struct vidmm {
    struct vidmm_process paging;
    uint32_t cleanups, restores, attached, detached, finished, prepared, opens_closed;
    uint32_t gone;
    NTSTATUS attach_status;
    unsigned restore_pages; /* paging buffers that vidmm_reset_restore submits and waits for */
    bool cleanup_pages;     /* vidmm_reset_cleanup builds one */
    uint64_t order;         /* counts what happens, to compare */
    uint64_t device_destroyed_at;
    struct ddi_adapter *ddi;
    uint32_t mapped, unmapped; /* vidmm_aperture_map, vidmm_aperture_unmap */
    struct vidmm_aperture_range last_mapped;
    /* WDDM 1.x */
    uint32_t room;     /* allocations that fit together; 0: all */
    uint64_t portions; /* vidmm_portion_prepare */
    uint32_t held;     /* portions that were prepared and not released */
    uint32_t kept;     /* allocations given to vidmm_portion_keep, likewise */
    uint32_t returned; /* vidmm_portion_returned for one in flight */
    D3DKMT_HANDLE last_kept;
};

/* An allocation opened by the device, on its residency list, in segment 1. */
struct vidmm_open *memory_open(struct fixture *f, struct vidsch_device *device, uint64_t physical);
void memory_close(struct fixture *f, struct vidmm_open *open);

/* ---- the machine ---- */

struct fixture_options {
    uint64_t seed;
    uint32_t nodes;        /* 0: 2 */
    uint32_t virtual_mask; /* nodes with virtual addressing; 0: 2 (node 1) */
    bool physical_paging;  /* on node 0 instead of node 1 */
    bool create_process;   /* the driver has DxgkDdiCreateProcess */
    uint32_t aperture_set;
    uint32_t depth; /* RequiredDmaQueueEntry; 0: 2 */
    uint32_t packet_cap;
    uint32_t version;   /* 0: WDDM 2.9 */
    bool single_engine; /* a driver without contexts and without preemption, one node */
    UINT max_slot;      /* MaxAllocationListSlotId */
    bool split;         /* SplitDmaBuffers */
    bool no_dma_patching;
    bool no_preemption, no_engine_reset, cancel_aware, compute_only, no_query_fence, wide_iommu,
        no_64bit_atomics, displays;
    struct vidsch_tdr_settings tdr; /* 0: defaults */
    struct vidsch_policy policy;
    void (*prepare)(struct fixture *f); /* before the scheduler starts */
    uint64_t fail_start;                /* which allocation of vidsch_start fails; 0: none */
};

struct fixture {
    struct fixture_options options;
    struct sim_machine *sim;
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    struct iommu_domain *domain;
    struct verify_log *log;
    struct ddi_adapter ddi;
    struct vidsch_config config;
    struct vidsch_node_info info[4];
    struct vidsch *vidsch;
    struct vidmm mm;
    struct nt_process *process;
    struct vidmm_process client;
    struct nt_process *other_process;
    struct vidmm_process other_client;
    struct fake_driver driver;
    char loss[4][1536]; /* the first lines that vidsch_config.loss got */
    unsigned losses;
    char waits[16384]; /* the lines of the last reports of who waits for what */
    void (*body)(struct fixture *f);
    bool finished;
    NTSTATUS start_status;
    struct verify_bugcheck bug; /* after the run */
    uint64_t leaked, mapped, pages_lost, blocks;
};

/* Run the body; afterwards `f` holds what there is to know, until fixture_close. The machine itself
 * is gone. */
struct fixture *fixture_run(const struct fixture_options *options, void (*body)(struct fixture *f));
void fixture_close(struct fixture *f);
/* The usual case: nothing leaks, no bug check, no error reported. */
void fixture_check(const struct fixture_options *options, void (*body)(struct fixture *f));
/* A bug check is expected, with this code and first parameter, for this rule. The macro counts
 * it as shown, also for a rule that is reported under another's number ("As X"). */
void fixture_expect_bugcheck(const struct fixture_options *options, void (*body)(struct fixture *f),
                             const char *rule, uint32_t code, uint64_t parameter);
#define FATAL_AS(shown, options, body, rule, code, parameter)          \
    do {                                                               \
        fixture_expect_bugcheck(options, body, rule, code, parameter); \
        check_rule_record(shown, __FILE__, __LINE__, __func__);        \
    } while (0)
#define FATAL(options, body, rule, code, parameter) \
    FATAL_AS(rule, options, body, rule, code, parameter)
/* The index-th DxgkDdiSubmitCommandVirtual, which there is. */
const DXGKARG_SUBMITCOMMANDVIRTUAL *sent_virtual(const struct fixture *f, uint32_t index);
/* CHECK that a call fails with the status, for the reason of this rule (NULL: none) and text. */
bool refused_for(const struct refusal *refusal, const char *rule, const char *text);
#define CHECK_REFUSED(call, status, rule, text)    \
    do {                                           \
        struct refusal refusal_;                   \
        NTSTATUS status_;                          \
                                                   \
        refusal_begin(&refusal_);                  \
        status_ = (call);                          \
        CHECK(status_ == (status));                \
        CHECK(refused_for(&refusal_, rule, text)); \
        refusal_end(&refusal_, #call, status_);    \
    } while (0)
/* A report of the rule with this text. */
bool reported(const struct fixture *f, const char *rule, const char *text);
/* Violations (and warnings) of one rule so far. */
uint64_t violations(const struct fixture *f, const char *rule);

/* ---- shorthands for bodies ---- */

/* Waits until all work of the device is done. */
void idle(struct vidsch_device *device);
struct vidsch_device *make_device(struct fixture *f);
struct vidsch_device *make_device_of(struct fixture *f, struct vidmm_process *process);
struct vidsch_context *make_context(struct vidsch_device *device, UINT node);
struct vidsch_sync *make_fence(struct vidsch_device *device, UINT64 value);
struct vidsch_sync *make_sync(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info);
NTSTATUS submit(struct vidsch_context *context, D3DGPU_VIRTUAL_ADDRESS va, UINT bytes);
NTSTATUS render(struct vidsch_context *context,
                UINT bytes); /* the driver copies `bytes` commands to the DMA buffer */
NTSTATUS wait_gpu(struct vidsch_context *context, struct vidsch_sync *sync, UINT64 value);
NTSTATUS signal_gpu(struct vidsch_context *context, struct vidsch_sync *sync, UINT64 value);
NTSTATUS signal_cpu(struct vidsch_sync *sync, UINT64 value);
NTSTATUS wait_cpu(struct vidsch_sync *sync, UINT64 value);
/* Let virtual time pass while others run. */
void pass(uint64_t ns);
/* One paging buffer with `bytes`, queued. */
uint64_t page(struct fixture *f, uint32_t bytes);
/* Run fn on another client thread of the same process (joined by `join`). */
struct sim_thread *spawn(struct fixture *f, void (*fn)(void *arg), void *arg);
struct sim_thread *spawn_in(struct nt_process *process, void (*fn)(void *arg), void *arg);
void join(struct sim_thread *thread);

/* TEST_WITH(fixture, name, .single_engine = true): what follows the name are the options. */
#define RIG_ARGUMENT_fixture       struct fixture *f
#define RIG_RUN_fixture(body, ...) fixture_check(&(struct fixture_options){__VA_ARGS__}, body)

#endif
