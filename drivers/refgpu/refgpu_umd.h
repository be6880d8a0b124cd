/* SPDX-License-Identifier: MIT */
/*
 * The interface between user-mode code and the RefGPU miniport: private data of contexts,
 * allocations and submissions, the command streams, escapes. It uses only fixed-width integers;
 * usable from C and C++. docs/refgpu.md, "Client interface".
 *
 * One command encoding (refgpu_hw.h) serves both engines. On node 1 (copy, GPU virtual addresses)
 * the hardware reads the command buffer directly: build it in a CPU-visible allocation, map it,
 * submit its GPU virtual address. On node 0 (2D, physical) the same commands go through
 * D3DKMTRender, and every address operand is REFGPU_REF(index, offset): an element of the
 * submission's allocation list and a byte offset into it; the miniport checks and translates them.
 */
#ifndef REFGPU_UMD_H
#define REFGPU_UMD_H

#include "refgpu_hw.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REFGPU_NODE_2D 0u /* physical contexts: D3DKMTCreateContext, D3DKMTRender */
#define REFGPU_NODE_COPY \
    1u /* virtual contexts: D3DKMTCreateContextVirtual, D3DKMTSubmitCommand; paging */
#define REFGPU_NODES 2u
#define REFGPU_NODE_SCHEDULED \
    2u /* with the setting HardwareScheduling: hardware contexts, D3DKMTSubmitCommandToHwQueue */

#define REFGPU_SEGMENT_VRAM     1u
#define REFGPU_SEGMENT_APERTURE 2u

#define REFGPU_UMD_MAGIC   0x444D5552u /* "RUMD": first member of every private structure */
#define REFGPU_UMD_VERSION 1u

/* ---- D3DKMTQueryAdapterInfo(KMTQAITYPE_UMDRIVERPRIVATE): out ---- */

struct refgpu_adapter_info {
    uint32_t magic;          /* REFGPU_UMD_MAGIC, written by the miniport */
    uint32_t version;        /* REFGPU_UMD_VERSION */
    uint32_t device_version; /* REG_VERSION */
    uint32_t nodes;
    uint64_t vram_bytes;     /* size of segment 1 */
    uint64_t aperture_bytes; /* size of segment 2 */
    uint32_t remapped; /* 1: the device sees logical addresses that differ from physical ones */
    uint32_t reserved;
};

/* ---- creation of an allocation: per-allocation private data, in and out ---- */

struct refgpu_allocation_data {
    uint32_t magic;     /* REFGPU_UMD_MAGIC */
    uint32_t flags;     /* REFGPU_ALLOCATION_x */
    uint64_t bytes;     /* in: 1 .. 2^40; out: rounded up to 4 KiB */
    uint32_t alignment; /* in: 0 or a power of two up to 1 GiB; out: as used (at least 4 KiB) */
    uint32_t segments;  /* in: REFGPU_IN_x bits, first choice VRAM if named; 0: both */
    uint32_t priority;  /* in: 0 (normal) or a D3DDDI_ALLOCATIONPRIORITY value */
    uint32_t width, height, pitch; /* informative but for PRIMARY; 0: a plain buffer */
};

#define REFGPU_ALLOCATION_CPU_VISIBLE 0x0001u /* the CPU may lock it */
#define REFGPU_ALLOCATION_PHYSICAL    0x0002u /* node 0 may use it (AccessedPhysically) */
#define REFGPU_ALLOCATION_CACHED      0x0004u /* cached CPU mapping; needs CPU_VISIBLE */
/* if both are allowed, prefer the aperture to VRAM */
#define REFGPU_ALLOCATION_PREFER_SYSTEM 0x0008u
#define REFGPU_ALLOCATION_MAP_CPU \
    0x0010u /* MapApertureCpuVisible; needs PHYSICAL and the aperture */
#define REFGPU_ALLOCATION_NOTIFY    0x0020u /* ExplicitResidencyNotification; needs PHYSICAL */
#define REFGPU_ALLOCATION_PERMANENT 0x0040u /* PermanentSysMem; needs CPU_VISIBLE */
#define REFGPU_ALLOCATION_FROM_END  0x0080u /* FromEndOfSegment */
#define REFGPU_ALLOCATION_SHARED    0x0100u /* informative */
#define REFGPU_ALLOCATION_PRIMARY \
    0x0200u /* may be scanned out: width, height, pitch (of 64 bytes) and VRAM; implies PHYSICAL */
#define REFGPU_ALLOCATION_R5G6B5 0x0400u /* 16 bits a pixel; else 32, as all commands have them */
#define REFGPU_ALLOCATION_FLAGS  0x07FFu

#define REFGPU_IN_VRAM     0x1u
#define REFGPU_IN_APERTURE 0x2u

/* ---- creation of a context: private data, optional ---- */

struct refgpu_context_data {
    uint32_t magic;      /* REFGPU_UMD_MAGIC */
    uint32_t flags;      /* REFGPU_CONTEXT_x */
    uint64_t save_below; /* virtual contexts: the save area is mapped below this address; 0: anywhere */
};

#define REFGPU_CONTEXT_NO_SAVE_AREA         0x1u /* preempt at command boundaries only */
#define REFGPU_CONTEXT_EXECUTABLE_SAVE_AREA 0x2u /* mapped with Execute: for tests of protection */

/* ---- D3DKMTSubmitCommand: private data, optional ---- */

struct refgpu_submit_data {
    uint32_t magic; /* REFGPU_UMD_MAGIC */
    uint32_t flags; /* REFGPU_SUBMIT_x */
};

#define REFGPU_SUBMIT_REJECT \
    0x1u /* the miniport refuses the packet (STATUS_INVALID_PARAMETER): for tests */

/* ---- D3DKMTEscape(D3DKMT_ESCAPE_DRIVERPRIVATE) ---- */

struct refgpu_escape_header {
    uint32_t magic; /* in: REFGPU_UMD_MAGIC */
    uint32_t code;  /* in: REFGPU_ESCAPE_x */
};

#define REFGPU_ESCAPE_READ_LOG      1u /* struct refgpu_escape_log */
#define REFGPU_ESCAPE_COUNTERS      2u /* struct refgpu_escape_counters */
#define REFGPU_ESCAPE_ALLOCATION    3u /* struct refgpu_escape_allocation */
#define REFGPU_ESCAPE_READ_REGISTER 4u /* struct refgpu_escape_register; needs HardwareAccess */

#define REFGPU_ESCAPE_LOG_RECORDS 32u

struct refgpu_escape_log {
    struct refgpu_escape_header header;
    uint32_t first;   /* in: sequence number of the first record wanted; out: of records[0] */
    uint32_t count;   /* out: records returned */
    uint32_t written; /* out: total number of records written by the device */
    uint32_t reserved;
    struct refgpu_log_record records[REFGPU_ESCAPE_LOG_RECORDS];
};

struct refgpu_engine_counters {
    uint64_t entries, commands, bytes, busy_ns, walks, preempts;
    uint64_t submitted, faults; /* counted by the miniport */
    uint32_t completed_fence, reserved;
};

struct refgpu_escape_counters {
    struct refgpu_escape_header header;
    struct refgpu_engine_counters engine[REFGPU_NODES];
    uint64_t interrupts;      /* handled by the miniport */
    uint64_t residency_notes; /* NOTIFY_RESIDENCY operations seen */
    uint64_t aperture_maps, aperture_unmaps;
    uint64_t log_records_drained;
};

/* Where an allocation was when the miniport was last told (allocations with NOTIFY or MAP_CPU). */
struct refgpu_escape_allocation {
    struct refgpu_escape_header header;
    uint32_t allocation;  /* in: D3DKMT handle */
    uint32_t resident;    /* out: 1 after NOTIFY_RESIDENCY(Resident) */
    uint32_t segment;     /* out */
    uint32_t cpu_visible; /* out: 1 while the CPU address of its aperture mapping is known */
    uint64_t offset;      /* out: in the segment */
    uint64_t first_word;  /* out: first 8 bytes, read through that CPU address */
};

struct refgpu_escape_register {
    struct refgpu_escape_header header;
    uint32_t offset; /* in: multiple of 4, below REFGPU_REGISTER_BYTES */
    uint32_t value;  /* out */
};

/* ---- command building ---- */

/* An address operand of a command for D3DKMTRender. Offsets have 48 bits. */
#define REFGPU_REF(index, offset)        ((uint64_t)(index) << 48 | ((uint64_t)(offset)&0xFFFFFFFFFFFFull))
#define REFGPU_REF_INDEX(reference)      ((uint32_t)((reference) >> 48))
#define REFGPU_REF_OFFSET(reference)     ((reference)&0xFFFFFFFFFFFFull)
#define REFGPU_RENDER_MAX_COMMAND_DWORDS 64u /* longest command D3DKMTRender takes */

/* Appends commands to memory of the caller. Never writes past the end; `overflow` says that
 * something did not fit. */
struct refgpu_builder {
    uint32_t *words;
    uint32_t used, capacity; /* dwords */
    uint32_t overflow;
};

static inline void refgpu_builder_init(struct refgpu_builder *b, void *memory, uint32_t bytes)
{
    b->words = (uint32_t *)memory;
    b->used = 0;
    b->capacity = bytes / 4u;
    b->overflow = 0;
}

static inline uint32_t refgpu_builder_bytes(const struct refgpu_builder *b)
{
    return b->used * 4u;
}

/* Reserve room for a command of `dwords` and fill in its header; NULL: full. */
static inline uint32_t *refgpu_command(struct refgpu_builder *b, uint32_t opcode, uint32_t flags,
                                       uint32_t dwords)
{
    uint32_t *at;

    if (b->overflow || dwords > b->capacity - b->used) {
        b->overflow = 1;
        return (uint32_t *)0;
    }
    at = b->words + b->used;
    b->used += dwords;
    at[0] = REFGPU_CMD(opcode, flags, dwords);
    return at;
}

static inline void refgpu_put64(uint32_t *at, uint64_t value)
{
    at[0] = (uint32_t)value;
    at[1] = (uint32_t)(value >> 32);
}

static inline void refgpu_nop(struct refgpu_builder *b)
{
    (void)refgpu_command(b, REFGPU_OP_NOP, 0, 1);
}

/* flags: REFGPU_WRITE_x */
static inline void refgpu_write(struct refgpu_builder *b, uint64_t address, uint64_t value,
                                uint32_t flags)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_WRITE, flags, 5);

    if (c) {
        refgpu_put64(c + 1, address);
        refgpu_put64(c + 3, value);
    }
}

/* flags: REFGPU_WAIT_x */
static inline void refgpu_wait(struct refgpu_builder *b, uint64_t address, uint64_t value,
                               uint32_t flags)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_WAIT, flags, 5);

    if (c) {
        refgpu_put64(c + 1, address);
        refgpu_put64(c + 3, value);
    }
}

/* flags: 0 or REFGPU_HANG_PREEMPTIBLE */
static inline void refgpu_hang(struct refgpu_builder *b, uint32_t flags)
{
    (void)refgpu_command(b, REFGPU_OP_HANG, flags, 1);
}

static inline void refgpu_timestamp(struct refgpu_builder *b, uint64_t address)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_TIMESTAMP, 0, 3);

    if (c)
        refgpu_put64(c + 1, address);
}

static inline void refgpu_delay(struct refgpu_builder *b, uint32_t nanoseconds)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_DELAY, 0, 2);

    if (c)
        c[1] = nanoseconds;
}

static inline void refgpu_fill(struct refgpu_builder *b, uint64_t dst, uint64_t bytes,
                               uint32_t pattern)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_FILL, 0, 6);

    if (c) {
        refgpu_put64(c + 1, dst);
        refgpu_put64(c + 3, bytes);
        c[5] = pattern;
    }
}

/* width and height in 32-bit pixels, pitches in bytes, here and below */
static inline void refgpu_fill_rect(struct refgpu_builder *b, uint64_t dst, uint32_t dst_pitch,
                                    uint32_t width, uint32_t height, uint32_t pattern)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_FILL_RECT, 0, 7);

    if (c) {
        refgpu_put64(c + 1, dst);
        c[3] = dst_pitch;
        c[4] = width;
        c[5] = height;
        c[6] = pattern;
    }
}

static inline void refgpu_copy(struct refgpu_builder *b, uint64_t dst, uint64_t src, uint64_t bytes)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_COPY, 0, 7);

    if (c) {
        refgpu_put64(c + 1, dst);
        refgpu_put64(c + 3, src);
        refgpu_put64(c + 5, bytes);
    }
}

/* width in bytes */
static inline void refgpu_copy_rect(struct refgpu_builder *b, uint64_t dst, uint32_t dst_pitch,
                                    uint64_t src, uint32_t src_pitch, uint32_t width_bytes,
                                    uint32_t height)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_COPY_RECT, 0, 9);

    if (c) {
        refgpu_put64(c + 1, dst);
        c[3] = dst_pitch;
        refgpu_put64(c + 4, src);
        c[6] = src_pitch;
        c[7] = width_bytes;
        c[8] = height;
    }
}

static inline void refgpu_scale(struct refgpu_builder *b, uint64_t dst, uint32_t dst_pitch,
                                uint32_t dst_width, uint32_t dst_height, uint64_t src,
                                uint32_t src_pitch, uint32_t src_width, uint32_t src_height)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_SCALE, 0, 11);

    if (c) {
        refgpu_put64(c + 1, dst);
        c[3] = dst_pitch;
        c[4] = dst_width;
        c[5] = dst_height;
        refgpu_put64(c + 6, src);
        c[8] = src_pitch;
        c[9] = src_width;
        c[10] = src_height;
    }
}

/* alpha 0..255 multiplies the source; flags: 0 or REFGPU_BLEND_STRAIGHT */
static inline void refgpu_blend(struct refgpu_builder *b, uint64_t dst, uint32_t dst_pitch,
                                uint64_t src, uint32_t src_pitch, uint32_t width, uint32_t height,
                                uint32_t alpha, uint32_t flags)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_BLEND, flags, 10);

    if (c) {
        refgpu_put64(c + 1, dst);
        c[3] = dst_pitch;
        refgpu_put64(c + 4, src);
        c[6] = src_pitch;
        c[7] = width;
        c[8] = height;
        c[9] = alpha;
    }
}

/* coefficient: nine values in 1/256, row by row; flags: 0 or REFGPU_CONVOLVE_KEEP_ALPHA */
static inline void refgpu_convolve(struct refgpu_builder *b, uint64_t dst, uint32_t dst_pitch,
                                   uint64_t src, uint32_t src_pitch, uint32_t width,
                                   uint32_t height, const int16_t coefficient[9], uint32_t flags)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_CONVOLVE, flags, 14);
    uint32_t i;

    if (c) {
        refgpu_put64(c + 1, dst);
        c[3] = dst_pitch;
        refgpu_put64(c + 4, src);
        c[6] = src_pitch;
        c[7] = width;
        c[8] = height;
        for (i = 0; i < 9; i++)
            c[9 + i / 2] = i % 2 ? c[9 + i / 2] | (uint32_t)(uint16_t)coefficient[i] << 16
                                 : (uint32_t)(uint16_t)coefficient[i];
    }
}

/* Node 0: write `pattern` to `bytes` of raw bus addresses. */
static inline void refgpu_raw_write(struct refgpu_builder *b, uint64_t bus_address, uint32_t bytes,
                                    uint32_t pattern)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_RAW_ACCESS, REFGPU_RAW_WRITE, 8);

    if (c) {
        refgpu_put64(c + 1, bus_address);
        c[3] = bytes;
        c[4] = pattern;
        refgpu_put64(c + 5, 0);
        c[7] = 0;
    }
}

/* Node 0: read raw bus addresses into dst (REFGPU_REF). */
static inline void refgpu_raw_read(struct refgpu_builder *b, uint64_t bus_address, uint32_t bytes,
                                   uint64_t dst)
{
    uint32_t *c = refgpu_command(b, REFGPU_OP_RAW_ACCESS, 0, 8);

    if (c) {
        refgpu_put64(c + 1, bus_address);
        c[3] = bytes;
        c[4] = 0;
        refgpu_put64(c + 5, dst);
        c[7] = 0;
    }
}

#ifdef __cplusplus
}
#endif

#endif
