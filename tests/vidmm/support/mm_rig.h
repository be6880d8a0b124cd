/* SPDX-License-Identifier: MIT */
/*
 * A machine with one adapter for tests of allocations, residency and paging: a driver that says of
 * an allocation what its private data says, a GPU that carries out paging buffers (at once, or when
 * told to), and a scheduler whose client work is done when the test says so.
 *
 * The driver writes the number of an operation into the paging buffer and keeps a copy of it; the
 * GPU executes that copy on the bytes of the machine: VRAM, system memory through the IOMMU, the
 * aperture through its map.
 */
#ifndef DXGK_TESTS_VIDMM_MM_RIG_H
#define DXGK_TESTS_VIDMM_MM_RIG_H

#include "ddi/ddi.h"
#include "iommu/iommu.h"
#include "machine.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/allocation_info.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/allocation/handle_callbacks.h"
#include "vidmm/allocation/internal_allocation.h"
#include "vidmm/allocation/offer.h"
#include "vidmm/allocation/shared_backing.h"
#include "vidmm/content/aperture.h"
#include "vidmm/content/backing.h"
#include "vidmm/content/content.h"
#include "vidmm/context/context.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/context/fence_memory.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/process.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/context_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/reset.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/compact.h"
#include "vidmm/residency/cpu_access.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/demotion.h"
#include "vidmm/residency/departure.h"
#include "vidmm/residency/eviction.h"
#include "vidmm/residency/open_place.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/portion.h"
#include "vidmm/residency/promotion.h"
#include "vidmm/residency/readiness.h"
#include "vidmm/residency/relocate.h"
#include "vidmm/residency/repack.h"
#include "vidmm/residency/residency.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"
#include "vidmm/segment/segment_table.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/gpu_va.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/paging_process.h"
#include "vidmm/space/root_table.h"
#include "vidmm/space/scratch.h"
#include "vidmm/space/table_description.h"
#include "vidmm/space/va_context_map.h"
#include "vidmm/space/va_mapping.h"
#include "vidmm/space/va_neighbour.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"
#include "vidmm/vidmm.h"

#include <string.h>

#define MM_VRAM          1u
#define MM_APERTURE      2u
#define MM_SET_VRAM      1u
#define MM_SET_APERTURE  2u
#define MM_SET_BOTH      3u
#define MM_BASE          0x40000000u /* BaseAddress of VRAM */
#define MM_APERTURE_BASE 0x100000000u
#define MM_MB            (1u << 20)
#define MM_MAX_OPS       400000u
#define MM_MAX_EVENTS    4096u
#define MM_CLIENTS       6u

/* Private data of an allocation: what the driver is to answer. Zeroes mean the defaults of
 * mm_private. */
struct mm_private {
    uint64_t size, pitch_size;
    UINT alignment;
    UINT set, read_set, eviction_set;
    UINT preferred; /* DXGK_SEGMENTPREFERENCE.Value */
    UINT flags, flags2;
    UINT priority;
    UINT adapter_index;
    UINT renaming;
    bool null_handle, raw_priority, edit;
    UINT mark; /* written back by the driver in Open if edit */
};

struct mm_options {
    uint64_t seed;
    UINT version;          /* 0: WDDM 2.9 */
    uint64_t ram_bytes;    /* 0: 256 MB */
    enum iommu_mode iommu; /* default: REMAP (set by mm_options_default) */
    bool physical;         /* no GpuMmu */
    bool old_map;          /* no MapAperture2Supported */
    UINT buffer_bytes;     /* of a paging buffer; 0: 4096 */
    UINT private_bytes;
    uint64_t vram_bytes, aperture_bytes; /* 0: 16 MB, 64 MB */
    uint64_t aperture_commit_limit;
    /* Used from segment_count on if that is not 0; BAR address is added to CpuTranslatedAddress. */
    DXGK_SEGMENTDESCRIPTOR4 segment[40];
    UINT segment_count;
    UINT stride; /* 0: sizeof */
    UINT paging_segment;
    UINT table_segment; /* of page tables, except those of the paging process */
    bool compute_only;
    bool no_paging_buffer;
    const struct vidmm_bad_range *bad_range;
    UINT bad_range_count;
    bool move_paging;      /* MovePagingSupported */
    uint64_t features;     /* that the driver was told are enabled; bit n: DXGK_FEATURE_ID n */
    bool no_backing_entry; /* no DxgkDdiSetAllocationBackingStore */
};

/* One operation as the driver got it. */
struct mm_op {
    DXGKARG_BUILDPAGINGBUFFER args;
    DXGK_PTE *entries;
    uint64_t *pages; /* ADL or MDL pages */
    UINT page_count;
    bool executed, immediate;
    uint64_t ticket; /* submissions before it was built */
};

enum mm_event_kind { MM_CREATE, MM_BACKING, MM_OPEN, MM_CLOSE, MM_DESTROY, MM_BUILD, MM_SUBMIT };
struct mm_event {
    enum mm_event_kind kind;
    UINT count;
    UINT flags;
    HANDLE handle[8];
    HANDLE resource;
    HANDLE device;
    int operation;
    uint8_t irql;
    uint32_t process;
    void *backing; /* pBackingStore */
};

struct mm_rig;

/* A device of a client process, as the fake scheduler knows it. */
struct mm_client {
    struct mm_rig *rig;
    struct vidmm_process *process;
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    uint64_t fence; /* of the queue */
    uint32_t told;
    uint64_t queued;   /* packets given to it */
    uint64_t hardware; /* of them: on the hardware */
    uint64_t completed;
    struct sim_waitq changed;
    bool nudged;
    uint32_t resident_calls;
    D3DKMT_DEVICEEXECUTION_STATE error;
    bool suspended;
};

struct mm_rig {
    struct mm_options options;
    struct rig_machine base;
    struct ddi_adapter ddi;
    struct vidmm *vidmm;
    struct nt_process *nt_process[MM_CLIENTS];
    struct mm_client client[MM_CLIENTS];

    /* driver */
    struct mm_op *ops;
    uint32_t op_count, op_from;
    struct mm_event *events;
    uint32_t event_count, event_from;
    uintptr_t next_handle;
    NTSTATUS create_status, open_status, close_status, destroy_status, backing_status;
    bool null_open_handle, change_resource_data;
    HANDLE next_resource; /* left in hResource if not NULL */
    UINT command_bytes;   /* written per operation; 0: 32 */
    UINT private_advance;
    bool write_nothing;
    UINT passes; /* INSUFFICIENT that many times first */
    uint32_t insufficient_left;
    NTSTATUS(*on_build)
    (struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args); /* STATUS_PENDING: go on */
    void (*on_open)(struct mm_rig *rig, const DXGKARG_OPENALLOCATION *args);
    void (*on_destroy)(struct mm_rig *rig, const DXGKARG_DESTROYALLOCATION *args);
    uint32_t in_build, max_in_build;

    /* scheduler */
    bool hold;
    uint64_t submitted, completed;
    uint32_t empty_submits;
    struct vidmm_paging_buffer buffer[4];
    struct page_number buffer_first[4];
    bool buffer_busy[4];
    uint64_t buffer_ticket[4];
    struct sim_waitq done;
    uint32_t suspends, resumes;
    NTSTATUS get_status;
    bool gone;

    /* GPU */
    uint64_t *aperture; /* device page behind each aperture page */
    uint64_t faults;
};

extern struct mm_rig *mm_rig;

void mm_options_default(struct mm_options *options);
/* Physical paging, and an IOMMU that isolates. */
void mm_options_physical(struct mm_options *options);
/* Run `body` on a client thread of a machine with a started adapter and one client
 * (rig->client[0]). */
void mm_run(const struct mm_options *options, void (*body)(struct mm_rig *rig));
/* The same without starting the adapter. */
void mm_run_bare(const struct mm_options *options, void (*body)(struct mm_rig *rig));

/* TEST_WITH(mm, name, options->physical = true): what follows the name changes the default options. mm_bare: the adapter is not
 * started. */
#define RIG_ARGUMENT_mm            struct mm_rig *rig
#define RIG_RUN_mm(body, ...)      MM_RUN_WITH(mm_run, body, ##__VA_ARGS__)
#define RIG_ARGUMENT_mm_bare       struct mm_rig *rig
#define RIG_RUN_mm_bare(body, ...) MM_RUN_WITH(mm_run_bare, body, ##__VA_ARGS__)
#define MM_RUN_WITH(run, body, ...) \
    struct mm_options options[1];   \
    mm_options_default(options);    \
    ((void)0, ##__VA_ARGS__);       \
    run(options, body)
NTSTATUS mm_create_vidmm(struct mm_rig *rig);
NTSTATUS mm_start(struct mm_rig *rig);
void mm_stop(struct mm_rig *rig);
NTSTATUS mm_client_open(struct mm_rig *rig, unsigned client, unsigned process);
void mm_client_close(struct mm_rig *rig, unsigned client);

/* ---- the fake scheduler ---- */
/* Carry out paging buffers that are held, and until `n` more are submitted nothing else (0: all
 * there are). */
void mm_release(struct mm_rig *rig);
/* Wait until all jobs are done. */
void mm_idle(struct mm_rig *rig);
/* Queue a packet; ask vidmm whether it may go, and put all queued ones on the hardware if so;
 * finish all on the hardware. */
void mm_submit(struct mm_client *client);
bool mm_dispatch(struct mm_client *client);
void mm_finish(struct mm_client *client);
void mm_wait_fence(struct mm_client *client, uint64_t value);

/* ---- requests ---- */
struct mm_private mm_private_default(UINT set, uint64_t size);
/* One allocation; 0 and *status on failure. */
D3DKMT_HANDLE mm_create(struct mm_client *client, struct mm_private data, NTSTATUS *status);
D3DKMT_HANDLE mm_create_ok(struct mm_client *client, struct mm_private data);
NTSTATUS mm_make_resident(struct mm_client *client, const D3DKMT_HANDLE *list, UINT count,
                          UINT flags, uint64_t *fence);
/* MakeResident one, wait for its fence. */
NTSTATUS mm_resident(struct mm_client *client, D3DKMT_HANDLE handle);
NTSTATUS mm_evict(struct mm_client *client, D3DKMT_HANDLE handle, UINT flags);
NTSTATUS mm_destroy(struct mm_client *client, D3DKMT_HANDLE handle, UINT flags);
struct vidmm_open *mm_open(struct mm_client *client, D3DKMT_HANDLE handle);
struct vidmm_allocation *mm_allocation(struct mm_client *client, D3DKMT_HANDLE handle);
/* The bytes of an allocation where it is now, page by page. */
void mm_write_content(struct mm_rig *rig, const struct vidmm_allocation *allocation, uint8_t seed);
bool mm_check_content(struct mm_rig *rig, const struct vidmm_allocation *allocation, uint8_t seed);
uint8_t *mm_page(struct mm_rig *rig, const struct vidmm_allocation *allocation, uint64_t page);

/* ---- records ---- */
void mm_mark(struct mm_rig *rig);
/* The n-th operation of a kind since the mark; NULL: none. kind -1: any. */
const struct mm_op *mm_op_at(const struct mm_rig *rig, int kind, uint32_t n);
uint32_t mm_op_count(const struct mm_rig *rig, int kind);
uint32_t mm_op_position(const struct mm_rig *rig, int kind, uint32_t n);
const struct mm_event *mm_event_at(const struct mm_rig *rig, enum mm_event_kind kind, uint32_t n);
uint32_t mm_event_count(const struct mm_rig *rig, enum mm_event_kind kind);
uint32_t mm_event_position(const struct mm_rig *rig, enum mm_event_kind kind, uint32_t n);
uint64_t mm_violations(const struct mm_rig *rig, const char *rule);

/* ---- GPU (mm_gpu.c) ---- */
void mm_gpu_execute(struct mm_rig *rig, struct mm_op *op);
/* Host address of a byte of GPU physical memory; NULL: fault. */
uint8_t *mm_gpu_memory(struct mm_rig *rig, UINT segment, uint64_t offset);
extern const struct vidmm_scheduler mm_scheduler;
void mm_driver_init(struct mm_rig *rig);

#endif
