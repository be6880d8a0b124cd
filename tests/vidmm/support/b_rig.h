/* SPDX-License-Identifier: MIT */
/*
 * A machine with one adapter for tests of address spaces: a driver that only knows paging
 * operations, a scheduler that carries paging buffers out at once (or when told to), and a GPU that
 * walks the page tables which came of it.
 *
 * The driver writes into the paging buffer a number per operation; the "GPU" executes the operation
 * of that number, which the driver keeps as a deep copy. Table entries are 8 bytes: page << 12 |
 * segment << 7 | flags (enum b_entry).
 */
#ifndef DXGK_TESTS_VIDMM_B_RIG_H
#define DXGK_TESTS_VIDMM_B_RIG_H

#include "support/check_rule.h"

#include "sim/sim.h"
#include "util/hash.h"
#include "vidmm/address_space.h"
#include "vidmm/vidmm_private.h"

#define B_VRAM_SEGMENT     1u
#define B_APERTURE_SEGMENT 2u
#define B_PAGE             4096u
#define B_MAX_OPS          65536u

enum b_entry {
    B_VALID = 1,
    B_ZERO = 2,
    B_COHERENT = 4,
    B_READ_ONLY = 8,
    B_NO_EXECUTE = 16,
    B_LARGE = 32
};

struct b_options {
    uint64_t seed;
    UINT version; /* 0: WDDM 2.9 */
    /* VirtualAddressBitCount 0: the default, 4 levels of 9 bits, 48 bits, GPU_PHYSICAL */
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    bool default_levels; /* set by b_options_default */
    uint64_t vram_bytes;
    uint64_t internal_start, internal_end;
    bool no_gpu_mmu;
    UINT buffer_bytes; /* of a paging buffer; 0: 4096 */
};

/* One operation as the driver got it. */
struct b_op {
    DXGKARG_BUILDPAGINGBUFFER args;
    DXGK_PTE *entries; /* deep copy: NumPageTableEntries, or 1 if Repeat */
    void *data;        /* deep copy of private data */
    bool immediate;    /* pDmaBuffer was NULL */
    bool executed;
    uint64_t ticket_hint; /* tickets submitted before it was built */
};

/* What a table's memory holds, as far as the driver knows. */
struct b_table {
    uint64_t key;
    UINT level;
    HANDLE process;
    bool initialised;
};

struct b_gpu_space; /* TLB */

struct b_rig {
    struct b_options options;
    uint64_t fail_start; /* > 0: number of the allocation of vidmm_start_process that fails */
    struct sim_machine *machine;
    struct verify_log *log;
    struct ram *ram;
    struct bus *bus;
    struct bus_device *device;
    struct iommu_domain *domain;
    struct nt *nt;
    struct ddi_adapter ddi;
    struct vidmm *vidmm;
    struct nt_process *nt_process;
    struct vidmm_process *process;
    struct vidmm_device *mm_device;
    struct vidmm_paging_queue *queue;
    uint64_t progress; /* fence value of `queue` */

    /* driver */
    struct b_op *ops;
    uint32_t op_count;
    uint32_t op_from;       /* where b_ops_* look from: b_mark */
    uint32_t calls[32];     /* DxgkDdiBuildPagingBuffer by operation */
    struct hash_map tables; /* place -> struct b_table */
    uint32_t set_root_calls;
    DXGKARG_SETROOTPAGETABLE last_root;
    uint32_t root_size_calls;
    uint32_t create_process_calls, destroy_process_calls;
    DXGK_CREATEPROCESSFLAGS process_flags[8];
    void (*on_create_process)(struct b_rig *rig, HANDLE host_process);
    void (*on_set_root)(struct b_rig *rig, const DXGKARG_SETROOTPAGETABLE *args);
    void (*on_build)(struct b_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args);
    UINT root_round;             /* NumberOfPte is rounded up to a multiple of this */
    SIZE_T root_bytes;           /* answer of GetRootPageTableSize; 0: what fits */
    UINT root_short;             /* answer that many entries too few */
    uint32_t insufficient_every; /* answer INSUFFICIENT_DMA_BUFFER each n-th call */
    bool write_nothing;          /* leave pDmaBuffer alone: executed at once */

    /* scheduler */
    bool hold;      /* paging buffers wait for b_release */
    uint32_t delay; /* > 0: the GPU takes up to that many ns for a paging buffer */
    struct sim_event gpu;
    uint64_t submitted, completed;
    struct vidmm_paging_buffer buffer[4];
    struct page_number buffer_frame[4], buffer_logical[4];
    bool buffer_busy[4];
    uint64_t buffer_ticket[4];
    struct sim_waitq done;
    uint32_t suspends, resumes;

    /* GPU */
    struct hash_map tlb; /* root page ^ page: cached entry */
    bool sticky;         /* keep translations in the TLB */
    uint64_t faults;
};

extern struct b_rig *b_rig; /* the one of the running test */

void b_options_default(struct b_options *options);
/* Run `body` on a client thread of a machine with a started adapter, one process, device and paging
 * queue. */
void b_run(const struct b_options *options, void (*body)(struct b_rig *rig));
/* The same, but the adapter is not started. */
void b_run_bare(const struct b_options *options, void (*body)(struct b_rig *rig));
NTSTATUS b_start(struct b_rig *rig);
NTSTATUS b_open_client(struct b_rig *rig);
void b_close_client(struct b_rig *rig);
void b_stop(struct b_rig *rig);

/* A cmocka test `name` whose body runs in the rig, with options changed by `set` (a function, or
 * b_options_default). */
#define B_TEST_WITH(name, set)                  \
    static void name##_body(struct b_rig *rig); \
    static void name(void **state)              \
    {                                           \
        struct b_options options;               \
                                                \
        (void)state;                            \
        b_options_default(&options);            \
        set(&options);                          \
        b_run(&options, name##_body);           \
    }                                           \
    static void name##_body(struct b_rig *rig)
#define B_TEST(name) B_TEST_WITH(name, b_options_default)

/* Let everything queued be carried out. */
void b_idle(struct b_rig *rig);
/* Execute paging buffers that are held. */
void b_release(struct b_rig *rig);
void b_execute_one(struct b_rig *rig);

/* ---- operations ---- */
void b_mark(struct b_rig *rig);
/* The n-th operation of a kind since the mark; NULL: none. kind -1: any. */
const struct b_op *b_op_at(const struct b_rig *rig, int kind, uint32_t n);
uint32_t b_op_count(const struct b_rig *rig, int kind);
/* Position since the mark of the n-th of a kind, UINT32_MAX: none. */
uint32_t b_op_position(const struct b_rig *rig, int kind, uint32_t n);

/* ---- the GPU ---- */
/* Walk from a root (table address as the driver got it). False: fault. */
bool b_walk(struct b_rig *rig, const DXGKARG_SETROOTPAGETABLE *root, uint64_t va, uint64_t *entry);
/* Through the TLB of the GPU. */
bool b_access(struct b_rig *rig, const DXGKARG_SETROOTPAGETABLE *root, uint64_t va, uint64_t *entry);
DXGKARG_SETROOTPAGETABLE b_root(const struct vidmm_space *space);
void b_gpu_execute(struct b_rig *rig, struct b_op *op);
/* Bytes at an address of the paging process. */
void *b_paging_memory(struct b_rig *rig, uint64_t va);
uint64_t b_entry_page(uint64_t entry);
UINT b_entry_segment(uint64_t entry);

/* ---- memory objects made by hand ---- */
struct b_object {
    struct vidmm_allocation allocation;
    struct vidmm_open open;
    struct vidmm_run *runs;
    D3DKMT_HANDLE handle;
};
struct b_object *b_object_create(struct b_rig *rig, struct vidmm_device *device, uint64_t pages);
/* Place it at these runs (copied), or nowhere; entries follow. */
void b_object_place(struct b_rig *rig, struct b_object *object, const struct vidmm_run *runs,
                    uint32_t run_count);
void b_object_place_at(struct b_rig *rig, struct b_object *object, UINT segment, uint64_t first);
void b_object_destroy(struct b_rig *rig, struct b_object *object);

/* ---- requests ---- */
D3DDDI_MAPGPUVIRTUALADDRESS b_map_args(const struct b_object *object, uint64_t pages);
NTSTATUS b_map(struct b_rig *rig, D3DDDI_MAPGPUVIRTUALADDRESS *args);
/* the address */
uint64_t b_map_simple(struct b_rig *rig, const struct b_object *object, uint64_t pages);
NTSTATUS b_free(struct b_rig *rig, uint64_t base, uint64_t pages);
bool b_valid(struct b_rig *rig);
NTSTATUS b_reserve(struct b_rig *rig, uint64_t pages, D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE type,
                   uint64_t *base);
/* What the GPU finds at an address of the client: B_FAULT or the entry. Everything queued is
 * carried out first. */
#define B_FAULT UINT64_MAX
uint64_t b_look(struct b_rig *rig, uint64_t va);

#endif
