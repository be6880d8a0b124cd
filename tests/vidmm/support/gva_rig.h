/* SPDX-License-Identifier: MIT */
/*
 * A machine with one adapter for tests of address spaces: a driver that only knows paging
 * operations, a scheduler that carries paging buffers out at once (or when told to), and a GPU that
 * walks the page tables which came of it.
 *
 * The driver writes into the paging buffer a number per operation; the "GPU" executes the operation
 * of that number, which the driver keeps as a deep copy. Table entries are 8 bytes: page << 12 |
 * segment << 7 | flags (enum gva_entry).
 */
#ifndef DXGK_TESTS_VIDMM_GVA_RIG_H
#define DXGK_TESTS_VIDMM_GVA_RIG_H

#include "ddi/ddi.h"
#include "dxgkhost/page_tables.h"
#include "iommu/iommu.h"
#include "machine.h"
#include "ram/ram.h"
#include "sim/event.h"
#include "sim/wait.h"
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
#include "vidmm/check/table_format.h"
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

#define GVA_NO_ROOT          SIZE_MAX
#define GVA_VRAM_SEGMENT     1u
#define GVA_APERTURE_SEGMENT 2u
#define GVA_PAGE             4096u
#define GVA_MAX_OPS          65536u

enum gva_entry {
    GVA_VALID = 1,
    GVA_ZERO = 2,
    GVA_COHERENT = 4,
    GVA_READ_ONLY = 8,
    GVA_NO_EXECUTE = 16,
    GVA_LARGE = 32
};

struct gva_options {
    uint64_t seed;
    UINT version; /* 0: WDDM 2.9 */
    /* VirtualAddressBitCount 0: the default, 4 levels of 9 bits, 48 bits, GPU_PHYSICAL */
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    bool default_levels; /* set by gva_options_default */
    uint64_t vram_bytes;
    uint64_t internal_start, internal_end;
    bool no_gpu_mmu;
    bool sparse_addresses;
    bool large_vram;   /* in pages of 64 KB */
    bool hidden_vram;  /* not visible to the CPU */
    UINT buffer_bytes; /* of a paging buffer; 0: 4096 */
    bool whole_entries; /* tables have DXGK_PTEs of 16 bytes, as coskmd's; the GPU does not walk them */
    bool check_tables; /* compare page tables with what was asked for */
};

/* One operation as the driver got it. */
struct gva_op {
    DXGKARG_BUILDPAGINGBUFFER args;
    DXGK_PTE *entries; /* deep copy: NumPageTableEntries, or 1 if Repeat */
    void *data;        /* deep copy of private data */
    bool immediate;    /* pDmaBuffer was NULL */
    bool executed;
    uint64_t ticket_hint; /* tickets submitted before it was built */
};

/* What a table's memory holds, as far as the driver knows. */
struct gva_table {
    uint64_t key;
    UINT level;
    HANDLE process;
    bool initialised;
};

struct gva_gpu_space; /* TLB */

struct gva_rig {
    struct gva_options options;
    uint64_t fail_start; /* > 0: number of the allocation of vidmm_start_process and vidmm_start_tables that fails */
    struct rig_machine base;
    struct dxgk_table_format format; /* of its page tables */
    struct ddi_adapter ddi;
    struct vidmm *vidmm;
    struct nt_process *nt_process;
    struct vidmm_process *process;
    struct vidmm_device *mm_device;
    struct vidmm_paging_queue *queue;
    uint64_t progress; /* fence value of `queue` */

    /* driver */
    struct gva_op *ops;
    uint32_t op_count;
    uint32_t op_from;       /* where gva_ops_* look from: gva_mark */
    uint32_t calls[32];     /* DxgkDdiBuildPagingBuffer by operation */
    struct hash_map tables; /* place -> struct gva_table */
    uint32_t set_root_calls;
    DXGKARG_SETROOTPAGETABLE last_root;
    uint32_t root_size_calls;
    uint32_t create_process_calls, destroy_process_calls;
    DXGK_CREATEPROCESSFLAGS process_flags[8];
    void (*on_create_process)(struct gva_rig *rig, HANDLE host_process);
    void (*on_set_root)(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *args);
    void (*on_build)(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args);
    UINT root_round;   /* NumberOfPte is rounded up to a multiple of this */
    SIZE_T root_bytes; /* answer of GetRootPageTableSize; 0: what fits; GVA_NO_ROOT: 0 bytes */
    UINT root_short;   /* answer that many entries too few */
    uint32_t insufficient_every; /* answer INSUFFICIENT_DMA_BUFFER each n-th call */
    bool write_nothing;          /* leave pDmaBuffer alone: executed at once */

    /* scheduler */
    bool hold;      /* paging buffers wait for gva_release */
    uint32_t delay; /* > 0: the GPU takes up to that many ns for a paging buffer */
    struct sim_event gpu;
    uint64_t submitted, completed;
    struct vidmm_paging_buffer buffer[4];
    struct page_number buffer_frame[4];
    struct logical_page buffer_logical[4];
    bool buffer_busy[4];
    uint64_t buffer_ticket[4];
    struct sim_waitq done;
    uint32_t suspends, resumes;
    uint32_t early_resumes; /* while the GPU had paging buffers */

    /* GPU */
    struct hash_map tlb; /* root page ^ page: cached entry */
    bool sticky;         /* keep translations in the TLB */
    uint64_t faults;
};

extern struct gva_rig *gva_rig; /* the one of the running test */

void gva_options_default(struct gva_options *options);
/* Run `body` on a client thread of a machine with a started adapter, one process, device and paging
 * queue. */
void gva_run(const struct gva_options *options, void (*body)(struct gva_rig *rig));
/* The same, but the adapter is not started. */
void gva_run_bare(const struct gva_options *options, void (*body)(struct gva_rig *rig));
NTSTATUS gva_start(struct gva_rig *rig);
NTSTATUS gva_open_client(struct gva_rig *rig);
void gva_close_client(struct gva_rig *rig);
void gva_stop(struct gva_rig *rig);

/* TEST_WITH(gva, name, options->no_gpu_mmu = true): what follows the name changes the default options. gva_bare: the adapter is
 * not started. */
#define RIG_ARGUMENT_gva            struct gva_rig *rig
#define RIG_RUN_gva(body, ...)      GVA_RUN_WITH(gva_run, body, ##__VA_ARGS__)
#define RIG_ARGUMENT_gva_bare       struct gva_rig *rig
#define RIG_RUN_gva_bare(body, ...) GVA_RUN_WITH(gva_run_bare, body, ##__VA_ARGS__)
#define GVA_RUN_WITH(run, body, ...) \
    struct gva_options options[1];   \
    gva_options_default(options);    \
    ((void)0, ##__VA_ARGS__);        \
    run(options, body)

/* Let everything queued be carried out. */
void gva_idle(struct gva_rig *rig);
/* Execute paging buffers that are held. */
void gva_release(struct gva_rig *rig);
void gva_execute_one(struct gva_rig *rig);

/* ---- operations ---- */
void gva_mark(struct gva_rig *rig);
/* The n-th operation of a kind since the mark; NULL: none. kind -1: any. */
const struct gva_op *gva_op_at(const struct gva_rig *rig, int kind, uint32_t n);
uint32_t gva_op_count(const struct gva_rig *rig, int kind);
/* Position since the mark of the n-th of a kind, UINT32_MAX: none. */
uint32_t gva_op_position(const struct gva_rig *rig, int kind, uint32_t n);

/* ---- the GPU ---- */
/* Walk from a root (table address as the driver got it). False: fault. */
bool gva_walk(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *root, uint64_t va,
              uint64_t *entry);
/* Through the TLB of the GPU. */
bool gva_access(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *root, uint64_t va,
                uint64_t *entry);
DXGKARG_SETROOTPAGETABLE gva_root(const struct vidmm_space *space);
void gva_gpu_execute(struct gva_rig *rig, struct gva_op *op);
/* Bytes at an address of the paging process. */
void *gva_paging_memory(struct gva_rig *rig, uint64_t va);
uint64_t gva_entry_page(uint64_t entry);
UINT gva_entry_segment(uint64_t entry);

/* ---- memory objects made by hand ---- */
struct gva_object {
    struct vidmm_allocation allocation;
    struct vidmm_open open;
    struct vidmm_run *runs;
    D3DKMT_HANDLE handle;
};
struct gva_object *gva_object_create(struct gva_rig *rig, struct vidmm_device *device,
                                     uint64_t pages);
/* Place it at these runs (copied), or nowhere; entries follow. */
void gva_object_place(struct gva_rig *rig, struct gva_object *object, const struct vidmm_run *runs,
                      uint32_t run_count);
void gva_object_place_at(struct gva_rig *rig, struct gva_object *object, UINT segment,
                         uint64_t first);
/* A new one of the rig's device, in VRAM from page `first` on. */
struct gva_object *gva_object_resident(struct gva_rig *rig, uint64_t pages, uint64_t first);
void gva_object_destroy(struct gva_rig *rig, struct gva_object *object);

/* ---- requests ---- */
D3DDDI_MAPGPUVIRTUALADDRESS gva_map_args(const struct gva_object *object, uint64_t pages);
NTSTATUS gva_map(struct gva_rig *rig, D3DDDI_MAPGPUVIRTUALADDRESS *args);
/* the address */
uint64_t gva_map_simple(struct gva_rig *rig, const struct gva_object *object, uint64_t pages);
NTSTATUS gva_map_at(struct gva_rig *rig, const struct gva_object *object, uint64_t base,
                    uint64_t pages);
NTSTATUS gva_free(struct gva_rig *rig, uint64_t base, uint64_t pages);
/* Bytes of VRAM that page tables and their like hold. */
uint64_t gva_pinned(const struct gva_rig *rig);
bool gva_valid(struct gva_rig *rig);
NTSTATUS gva_reserve(struct gva_rig *rig, uint64_t pages,
                     D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE type, uint64_t *base);
/* What the GPU finds at an address of the client: GVA_FAULT or the entry. Everything queued is
 * carried out first. */
#define GVA_FAULT UINT64_MAX
uint64_t gva_look(struct gva_rig *rig, uint64_t va);

#endif
