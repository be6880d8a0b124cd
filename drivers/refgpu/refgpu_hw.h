/* SPDX-License-Identifier: MIT */
/*
 * RefGPU hardware interface: PCI identity, registers, ring entries, commands, page-table entries.
 * The manual is docs/refgpu.md; the miniport, the device model and user-mode code use this header.
 * It has only numbers and layouts, and no types of any operating system.
 *
 * Three kinds of address appear here:
 *   bus address     what the device puts on PCI Express: a system physical address, or a logical
 *                   one behind an IOMMU
 *   device address  64-bit physical space of the device: VRAM, GART aperture, window onto the bus
 *   GPU virtual     48 bits, translated by the page tables of engine 1
 */
/* clang-format off: tables */
#ifndef REFGPU_HW_H
#define REFGPU_HW_H

#include <stdint.h>

/* ---- PCI function ---- */

#define REFGPU_PCI_VENDOR 0x1D58u
#define REFGPU_PCI_DEVICE 0x0001u
/* The subsystem id is the board variant: the number of bus address bits that are wired, 32..52. */
#define REFGPU_PCI_REVISION  0x01u
#define REFGPU_PCI_CLASS     0x038000u /* display controller, other */
#define REFGPU_PCI_CLASS_VGA 0x030000u /* with the "vga" option */

#define REFGPU_BAR_REGISTERS  0u
#define REFGPU_BAR_VRAM       2u
#define REFGPU_REGISTER_BYTES 0x10000u
#define REFGPU_ENGINES        2u
#define REFGPU_ENGINE_2D      0u /* device addresses */
#define REFGPU_ENGINE_COPY    1u /* GPU virtual addresses; paging */

/* ---- device address space ---- */

#define REFGPU_VRAM_BASE      0ull
#define REFGPU_GART_BASE      (1ull << 40) /* aperture: GART_PAGES pages of 4 KiB */
#define REFGPU_BUS_BASE       (1ull << 62) /* window onto the bus; privileged */
#define REFGPU_PAGE_SHIFT     12u
#define REFGPU_PAGE_BYTES     4096u
#define REFGPU_BIG_PAGE_BYTES 65536u
#define REFGPU_GART_MAX_PAGES 0x40000u /* 1 GiB */

/* ---- global registers: 32 bits; a _LO/_HI pair may be accessed as one 64-bit register ---- */

#define REFGPU_REG_ID            0x0000u /* RO REFGPU_ID */
#define REFGPU_REG_VERSION       0x0004u /* RO major << 16 | minor */
#define REFGPU_REG_VRAM_LO       0x0008u /* RO bytes of VRAM */
#define REFGPU_REG_VRAM_HI       0x000Cu
#define REFGPU_REG_SCRATCH       0x0010u /* RW */
#define REFGPU_REG_CONTROL       0x0014u /* WO REFGPU_CONTROL_x; reads 0 */
#define REFGPU_REG_TIME_LO       0x0018u /* RO nanoseconds since power on; reading LO latches HI */
#define REFGPU_REG_TIME_HI       0x001Cu
#define REFGPU_TIME_FREQUENCY    1000000000u /* of TIME, in Hz */
#define REFGPU_REG_IRQ_STATUS    0x0020u     /* RW1C REFGPU_IRQ_x */
#define REFGPU_REG_IRQ_ENABLE    0x0024u     /* RW */
#define REFGPU_REG_IRQ_ACK       0x0028u     /* RC: STATUS & ENABLE; clears what it returned */
#define REFGPU_REG_IRQ_COUNT     0x002Cu     /* RO messages sent */
#define REFGPU_REG_GART_TABLE_LO 0x0030u     /* RW VRAM offset of the GART table, 4 KiB aligned */
#define REFGPU_REG_GART_TABLE_HI 0x0034u
#define REFGPU_REG_GART_PAGES    0x0038u /* RW pages in the aperture; 0: no aperture */
#define REFGPU_REG_DMA_BITS      0x003Cu /* RO bus address bits */
#define REFGPU_REG_LOG_CONTROL   0x0040u /* RW log pages in use; 0: off. Writing restarts the log */
#define REFGPU_REG_LOG_COUNT     0x0044u /* RO records written since the log was (re)started */
#define REFGPU_REG_GART_LIMIT    0x0048u /* RO largest value GART_PAGES takes ("aperture" option) */
#define REFGPU_REG_FEATURES      0x004Cu /* RO REFGPU_FEATURE_x */
#define REFGPU_REG_LOG_PAGE      0x0080u /* RW 64 bits each: bus address of log page n */
#define REFGPU_LOG_PAGES         4u

#define REFGPU_ID      0x55504752u /* "RGPU" */
#define REFGPU_VERSION 0x00010000u

#define REFGPU_FEATURE_NO_EXECUTE 0x00000001u /* PTE_NO_EXECUTE counts ("no_execute" option) */

#define REFGPU_CONTROL_RESET     0x00000001u /* device to power-on values; VRAM keeps its bytes */
#define REFGPU_CONTROL_TLB_FLUSH 0x00000002u /* drop every TLB entry */

/* Causes, one bit per engine: REFGPU_IRQ_FENCE(0) is bit 0, REFGPU_IRQ_FENCE(1) bit 1, ... */
#define REFGPU_IRQ_FENCE(engine)      (0x00000001u << (engine)) /* an entry completed */
#define REFGPU_IRQ_PREEMPTED(engine)  (0x00000004u << (engine)) /* request answered */
#define REFGPU_IRQ_PAGE_FAULT(engine) (0x00000010u << (engine)) /* MMU or GART; halted */
#define REFGPU_IRQ_BUS_FAULT(engine)  (0x00000040u << (engine)) /* refused on the bus; halted */
#define REFGPU_IRQ_COMMAND(engine)    (0x00000100u << (engine)) /* malformed command; halted */
#define REFGPU_IRQ_SIGNAL(engine)     (0x00000400u << (engine)) /* WRITE with interrupt */
#define REFGPU_IRQ_ALL                0x00000FFFu

/* ---- engine registers ---- */

#define REFGPU_ENGINE_STRIDE         0x100u
#define REFGPU_REG_ENGINE(engine, r) (0x1000u + (engine)*REFGPU_ENGINE_STRIDE + (r))

#define REFGPU_ENG_CONTROL        0x00u /* RW REFGPU_ENG_CONTROL_x */
#define REFGPU_ENG_STATUS         0x04u /* RO REFGPU_ENG_STATUS_x */
#define REFGPU_ENG_RING_LO        0x08u /* RW bus address of the ring, 4 KiB aligned */
#define REFGPU_ENG_RING_HI        0x0Cu
#define REFGPU_ENG_RING_SIZE      0x10u /* RW number of entries: a power of two, 2..4096 */
#define REFGPU_ENG_HEAD           0x14u /* RO index of the entry in execution or next */
#define REFGPU_ENG_TAIL           0x18u /* RW doorbell: index after the last valid entry */
#define REFGPU_ENG_PREEMPT        0x1Cu /* WO request; the value comes back in PREEMPTED */
#define REFGPU_ENG_FENCE_LO       0x20u /* RW bus address of the fence block; 0: none */
#define REFGPU_ENG_FENCE_HI       0x24u
#define REFGPU_ENG_COMPLETED      0x28u /* RW fence id of the entry that completed last */
#define REFGPU_ENG_PREEMPTED      0x2Cu /* RO value of the preemption request answered last */
#define REFGPU_ENG_ABORTED        0x30u /* RO fence id in execution at the last reset */
#define REFGPU_ENG_CURRENT        0x34u /* RO fence id in execution; 0: idle */
#define REFGPU_ENG_OFFSET         0x38u /* RO byte offset of the command in execution */
#define REFGPU_ENG_FAULT_INFO     0x40u /* RO REFGPU_FAULT_x fields; valid while halted */
#define REFGPU_ENG_FAULT_FENCE    0x44u /* RO fence id of the halted entry */
#define REFGPU_ENG_FAULT_ADDR_LO  0x48u /* RO GPU virtual, device or bus address that failed */
#define REFGPU_ENG_FAULT_ADDR_HI  0x4Cu
#define REFGPU_ENG_STOP_FENCE     0x50u /* RO fence id of the interrupted entry; 0: none */
#define REFGPU_ENG_STOP_OFFSET    0x54u /* RO the `start` with which to resume it */
#define REFGPU_ENG_COUNT_ENTRIES  0x60u /* RO 64 bits: ring entries completed */
#define REFGPU_ENG_COUNT_COMMANDS 0x68u /* RO 64 bits: commands completed */
#define REFGPU_ENG_COUNT_BYTES    0x70u /* RO 64 bits: bytes read and written by commands */
#define REFGPU_ENG_COUNT_BUSY     0x78u /* RO 64 bits: nanoseconds with work */
#define REFGPU_ENG_COUNT_WALKS    0x80u /* RO 64 bits: TLB misses (engine 1) */
#define REFGPU_ENG_COUNT_PREEMPTS 0x88u /* RO 64 bits */

#define REFGPU_ENG_CONTROL_ENABLE 0x00000001u /* fetch from the ring */
#define REFGPU_ENG_CONTROL_RESET  0x00000002u /* WO: abort, forget the ring, disable */
#define REFGPU_ENG_CONTROL_SKIP   0x00000004u /* WO: drop the halted entry and continue */

#define REFGPU_ENG_STATUS_BUSY    0x00000001u /* an entry is in execution */
#define REFGPU_ENG_STATUS_HALTED  0x00000002u /* stopped by a fault or command error */
#define REFGPU_ENG_STATUS_WAITING 0x00000004u /* in a semaphore wait */
#define REFGPU_ENG_STATUS_HUNG    0x00000008u /* in a HANG command */
#define REFGPU_ENG_STATUS_PREEMPT 0x00000010u /* a preemption request is outstanding */

/* FAULT_INFO */
#define REFGPU_FAULT_CODE(info)  ((info)&0xFFu) /* REFGPU_PAGE_x or REFGPU_ERROR_x */
#define REFGPU_FAULT_KIND(info)  (((info) >> 8) & 0xFu)
#define REFGPU_FAULT_UNIT(info)  (((info) >> 12) & 0xFu)
#define REFGPU_FAULT_LEVEL(info) (((info) >> 16) & 0xFu) /* of the page table */
#define REFGPU_FAULT_WRITE       0x00100000u
#define REFGPU_FAULT_PRIVILEGED  0x00200000u /* the entry had ENTRY_PRIVILEGED */

#define REFGPU_FAULT_NONE    0u
#define REFGPU_FAULT_PAGE    1u
#define REFGPU_FAULT_BUS     2u
#define REFGPU_FAULT_COMMAND 3u

#define REFGPU_UNIT_DATA  0u /* operand of a command */
#define REFGPU_UNIT_FETCH 1u /* command fetch */
#define REFGPU_UNIT_RING  2u /* ring entry fetch */
#define REFGPU_UNIT_FENCE 3u /* fence block */
#define REFGPU_UNIT_SAVE  4u /* context save area */

#define REFGPU_PAGE_INVALID    1u /* entry not valid */
#define REFGPU_PAGE_READ_ONLY  2u /* write through a read-only entry */
#define REFGPU_PAGE_RANGE      3u /* outside 48 bits, VRAM, or the aperture */
#define REFGPU_PAGE_TABLE      4u /* a table, or the page an entry names, lies outside VRAM */
#define REFGPU_PAGE_GART       5u /* GART entry not valid */
#define REFGPU_PAGE_PRIVILEGE  6u /* bus window used without privilege */
#define REFGPU_PAGE_NO_EXECUTE 7u /* command fetch from a page with PTE_NO_EXECUTE */

#define REFGPU_ERROR_OPCODE    1u  /* unknown opcode */
#define REFGPU_ERROR_LENGTH    2u  /* wrong length, or beyond the end of the buffer */
#define REFGPU_ERROR_FLAGS     3u  /* flag bit that the command does not have */
#define REFGPU_ERROR_ALIGN     4u  /* address, size or pitch not aligned as required */
#define REFGPU_ERROR_RANGE     5u  /* operand runs past the end of the address space */
#define REFGPU_ERROR_PITCH     6u  /* pitch zero or smaller than a row */
#define REFGPU_ERROR_SIZE      7u  /* width, height or count zero or too large */
#define REFGPU_ERROR_PRIVILEGE 8u  /* needs an entry with ENTRY_PRIVILEGED */
#define REFGPU_ERROR_ENGINE    9u  /* command of the other engine */
#define REFGPU_ERROR_ENTRY     10u /* malformed ring entry or save area */

/* ---- fence block: written by DMA when an entry completes or a preemption is answered ---- */

struct refgpu_fence_block {
    uint32_t completed; /* as ENG_COMPLETED */
    uint32_t preempted; /* as ENG_PREEMPTED */
    uint64_t time;      /* of this write, nanoseconds */
};

/* ---- ring entries: 64 bytes, little endian ---- */

struct refgpu_ring_entry {
    uint64_t address; /* of the commands: engine 0: bus; engine 1: GPU virtual. 4-byte aligned */
    uint32_t bytes;   /* of commands, a multiple of 4; 0: nothing but the fence */
    uint32_t start;   /* offset of the first command to execute: 0 or STOP_OFFSET */
    uint32_t fence;   /* id to write when done; not 0 */
    uint32_t flags;   /* REFGPU_ENTRY_x */
    uint64_t root;    /* engine 1: VRAM offset of the level-3 table, 4 KiB aligned */
    uint64_t save;    /* engine 1: GPU virtual address of the save area; 0: none */
    uint32_t context; /* any number; appears in the log */
    uint32_t reserved[5]; /* 0 */
};

#define REFGPU_ENTRY_BYTES      64u
#define REFGPU_ENTRY_INTERRUPT  0x00000001u /* raise IRQ_FENCE when done */
#define REFGPU_ENTRY_PRIVILEGED 0x00000002u /* privileged commands allowed */
#define REFGPU_ENTRY_RESUME     0x00000004u /* engine 1: load the state from `save` */
#define REFGPU_ENTRY_FLAGS      0x00000007u

/* Context save area, written by engine 1 when it is preempted inside an entry that names one. */
struct refgpu_save_area {
    uint32_t magic;  /* REFGPU_SAVE_MAGIC while it holds state */
    uint32_t fence;  /* of the interrupted entry */
    uint32_t offset; /* of the interrupted command */
    uint32_t reserved;
    uint64_t progress; /* slices of that command already done */
    uint64_t time;     /* of the save */
};

#define REFGPU_SAVE_MAGIC 0x45564153u /* "SAVE" */
#define REFGPU_SAVE_BYTES 4096u

/* ---- page tables of engine 1: 4 levels of 512 entries of 8 bytes; level 3 is the root ---- */

#define REFGPU_VA_BITS           48u
#define REFGPU_LEVELS            4u
#define REFGPU_LEVEL_BITS        9u
#define REFGPU_TABLE_ENTRIES     512u
#define REFGPU_TABLE_BYTES       4096u
#define REFGPU_BIG_TABLE_ENTRIES 32u /* a leaf table of 64 KiB pages uses its first 32 entries */

#define REFGPU_PTE_VALID     (1ull << 0)
#define REFGPU_PTE_READ_ONLY (1ull << 1) /* leaf */
#define REFGPU_PTE_SYSTEM    (1ull << 2) /* leaf: the page number is of the bus, else of VRAM */
/* with VALID, any level: reads return 0, writes are ignored */
#define REFGPU_PTE_ZERO         (1ull << 3)
#define REFGPU_PTE_SNOOP        (1ull << 4) /* leaf: cache coherent access */
#define REFGPU_PTE_BIG          (1ull << 5) /* level 1: the leaf table has 64 KiB pages */
#define REFGPU_PTE_GART         (1ull << 6) /* leaf, 4 KiB: the page number is of the aperture */
#define REFGPU_PTE_NO_EXECUTE   (1ull << 7) /* leaf: no command fetch; with FEATURE_NO_EXECUTE */
#define REFGPU_PTE_ADDRESS_MASK 0x000FFFFFFFFFF000ull /* 40-bit page number */
#define REFGPU_PTE_TAG_SHIFT    52u                   /* bits 52..59: for software, ignored */
#define REFGPU_PTE_TAG_MASK     (0xFFull << REFGPU_PTE_TAG_SHIFT)

/* GART entry: 8 bytes each in the table at GART_TABLE. */
#define REFGPU_GART_VALID        (1ull << 0)
#define REFGPU_GART_SNOOP        (1ull << 4)
#define REFGPU_GART_ADDRESS_MASK 0x000FFFFFFFFFF000ull /* bus page */

/* ---- commands: dwords, little endian; 64-bit operands as low dword, high dword ---- */

#define REFGPU_CMD(opcode, flags, dwords) \
    ((uint32_t)(opcode) | (uint32_t)(flags) << 8 | (uint32_t)(dwords) << 16)
#define REFGPU_CMD_OPCODE(header) ((header)&0xFFu)
#define REFGPU_CMD_FLAGS(header)  (((header) >> 8) & 0xFFu)
#define REFGPU_CMD_DWORDS(header) ((header) >> 16) /* with the header: 1..REFGPU_CMD_MAX_DWORDS */
#define REFGPU_CMD_MAX_DWORDS     1024u

/*
 * Opcodes. E0, E1: on that engine only; P: privileged. Then the length in dwords, and operands as
 * dword index and name; 64-bit ones (address, value, dst, src, bytes of FILL and COPY) take two.
 *
 *   NOP                1..   ignored
 *   WRITE              5     1 address, 3 value
 *   WAIT               5     1 address, 3 value
 *   HANG               1
 *   TIMESTAMP          3     1 address: 64-bit nanoseconds
 *   DELAY              2     1 nanoseconds
 *   FILL               6     1 dst, 3 bytes, 5 pattern
 *   FILL_RECT          7     1 dst, 3 dst pitch, 4 width, 5 height, 6 pattern
 *   COPY               7     1 dst, 3 src, 5 bytes
 *   COPY_RECT          9     1 dst, 3 dst pitch, 4 src, 6 src pitch, 7 width in bytes, 8 height
 *   SCALE              11    1 dst, 3 dst pitch, 4 dst width, 5 dst height,
 *                            6 src, 8 src pitch, 9 src width, 10 src height
 *   BLEND              10    1 dst, 3 dst pitch, 4 src, 6 src pitch, 7 width, 8 height, 9 alpha
 *   CONVOLVE           14    1 dst, 3 dst pitch, 4 src, 6 src pitch, 7 width, 8 height,
 *                            9..13 nine signed 8.8 coefficients, two per dword, low half first
 *   RAW_ACCESS  E0     8     1 bus address, 3 bytes, 4 pattern, 5 dst (reads), 7 zero
 *   PTE_WRITE   E1 P   4+2n  1 device address of the first entry, 3 n, 4.. entries
 *   PTE_FILL    E1 P   8     1 device address of the first entry, 3 n, 4 value, 6 step
 *   GART_WRITE  E1 P   3+2n  1 first page, 2 n, 3.. entries
 *   GART_FILL   E1 P   7     1 first page, 2 n, 3 value, 5 step
 *   TLB_FLUSH   E1 P   7     1 root, 3 first address, 5 end (exclusive); both 0: the whole space
 */
#define REFGPU_OP_NOP        0x00u
#define REFGPU_OP_WRITE      0x01u
#define REFGPU_OP_WAIT       0x02u
#define REFGPU_OP_HANG       0x03u
#define REFGPU_OP_TIMESTAMP  0x04u
#define REFGPU_OP_DELAY      0x05u
#define REFGPU_OP_FILL       0x10u
#define REFGPU_OP_FILL_RECT  0x11u
#define REFGPU_OP_COPY       0x12u
#define REFGPU_OP_COPY_RECT  0x13u
#define REFGPU_OP_SCALE      0x14u
#define REFGPU_OP_BLEND      0x15u
#define REFGPU_OP_CONVOLVE   0x16u
#define REFGPU_OP_RAW_ACCESS 0x20u
#define REFGPU_OP_PTE_WRITE  0x40u
#define REFGPU_OP_PTE_FILL   0x41u
#define REFGPU_OP_GART_WRITE 0x42u
#define REFGPU_OP_GART_FILL  0x43u
#define REFGPU_OP_TLB_FLUSH  0x44u

#define REFGPU_FLAG_DST_DEVICE 0x01u /* engine 1, privileged: dst is a device address */
#define REFGPU_FLAG_SRC_DEVICE 0x02u /* engine 1, privileged: src is a device address */
/* WRITE */
#define REFGPU_PTE_VIRTUAL     0x10u /* the table is in the address space of the entry */
#define REFGPU_WRITE_64        0x10u /* 64-bit value; else the low 32 bits */
#define REFGPU_WRITE_ADD       0x20u /* add to the memory value instead of replacing it */
#define REFGPU_WRITE_INTERRUPT 0x40u /* raise IRQ_SIGNAL after the write */
/* WAIT: until memory <condition> value, unsigned */
#define REFGPU_WAIT_64    0x10u
#define REFGPU_WAIT_EQUAL 0x20u /* equal; else greater or equal */
/* HANG */
#define REFGPU_HANG_PREEMPTIBLE 0x10u /* a preemption request ends it */
/* BLEND */
#define REFGPU_BLEND_STRAIGHT 0x10u /* source is not premultiplied */
/* CONVOLVE */
#define REFGPU_CONVOLVE_KEEP_ALPHA 0x10u /* alpha is that of the source pixel */
/* RAW_ACCESS */
#define REFGPU_RAW_WRITE 0x10u /* write the pattern; else read and copy to dst */

#define REFGPU_MAX_PIXELS    16384u      /* width and height of pixel rectangles */
#define REFGPU_MAX_ROW_BYTES 0x01000000u /* width of COPY_RECT */
#define REFGPU_MAX_ROWS      0x00010000u /* height of COPY_RECT */
#define REFGPU_MAX_RAW_BYTES 4096u

/* ---- timing ---- */

#define REFGPU_TIME_START_NS   500u /* fetching and starting an entry */
#define REFGPU_TIME_END_NS     500u /* completing it: an empty entry takes 1 us */
#define REFGPU_TIME_COMMAND_NS 50u  /* any command */
#define REFGPU_BYTES_PER_NS    16u  /* read plus written */
#define REFGPU_SLICE_BYTES     65536u
#define REFGPU_POLL_FIRST_NS   1000u /* semaphore polling: doubles up to the last */
#define REFGPU_POLL_LAST_NS    128000u

/* ---- log records: 32 bytes, page by page through LOG_PAGE, wrapping around ---- */

struct refgpu_log_record {
    uint64_t time;     /* nanoseconds */
    uint32_t sequence; /* counts from 0 since the log was started */
    uint16_t type;     /* REFGPU_LOG_x */
    uint16_t engine;   /* REFGPU_LOG_DEVICE: no engine */
    uint64_t value;    /* fence id, or fence id | context << 32 */
    uint64_t address;  /* fault address or type-specific */
};

#define REFGPU_LOG_RECORD_BYTES 32u
#define REFGPU_LOG_PER_PAGE     (REFGPU_PAGE_BYTES / REFGPU_LOG_RECORD_BYTES)
#define REFGPU_LOG_DEVICE       0xFFFFu

#define REFGPU_LOG_STARTED      1u /* the log was started */
#define REFGPU_LOG_ENGINE_ON    2u
#define REFGPU_LOG_ENGINE_OFF   3u
#define REFGPU_LOG_ENGINE_RESET 4u /* value: aborted fence */
#define REFGPU_LOG_PREEMPTED    5u /* value: request, address: interrupted fence */
#define REFGPU_LOG_PAGE_FAULT   6u
#define REFGPU_LOG_BUS_FAULT    7u
#define REFGPU_LOG_COMMAND      8u /* address: command offset */
#define REFGPU_LOG_HANG         9u
#define REFGPU_LOG_SKIPPED      10u
#define REFGPU_LOG_RESUMED      11u

/* clang-format on */

#endif
