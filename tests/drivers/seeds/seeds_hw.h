/* SPDX-License-Identifier: MIT */
/*
 * The device of the test driver "seeds": two engines in software that do what the addresses in their commands say, and nothing
 * to hide a wrong one. What the driver, the model and (second part) the workloads agree on.
 *
 * An engine takes packets of 32-byte commands. A packet is addressed by the device address of its first byte, or, with
 * SEEDS_PACKET_VIRTUAL, by a GPU virtual address under ROOT; then all its operands are virtual, too. Packets are executed in
 * order; at the end COMPLETED gets the fence. PREEMPT drops what is queued behind the packet that runs, and raises
 * SEEDS_IRQ_PREEMPTED when that one is done. A packet with a command that cannot be carried out ends there, with
 * SEEDS_IRQ_FAULT and its fence in FAULT_FENCE.
 */
#ifndef SEEDS_HW_H
#define SEEDS_HW_H

#define SEEDS_PCI_VENDOR     0x1AF4
#define SEEDS_PCI_DEVICE     0x5EED
#define SEEDS_ID             0x44454553u /* "SEED" */
#define SEEDS_REGISTER_BYTES 0x1000u
#define SEEDS_ENGINES        2u
#define SEEDS_QUEUE          64u /* packets of an engine */

#define SEEDS_REG_ID 0x00
#define SEEDS_REG_CONFIG \
    0x04 /* how the driver shall behave: SEEDS_CONFIG_..., an option of the run */
#define SEEDS_REG_RESET      0x08 /* write: drop all packets and causes; fences and the aperture stay */
#define SEEDS_REG_IRQ_STATUS 0x0C /* read: causes, cleared by it */
#define SEEDS_REG_IRQ_ENABLE 0x10
#define SEEDS_REG_SCRATCH    0x14
/* One access of the device by itself: address, direction to GO, then STATUS (1: done) and DATA. */
#define SEEDS_REG_PEEK_LO     0x20
#define SEEDS_REG_PEEK_HI     0x24
#define SEEDS_REG_PEEK_GO     0x28
#define SEEDS_REG_PEEK_STATUS 0x2C
#define SEEDS_REG_DATA_LO     0x30
#define SEEDS_REG_DATA_HI     0x34
#define SEEDS_REG_ROOT_LO     0x38
#define SEEDS_REG_ROOT_HI     0x3C

#define SEEDS_PEEK_READ    0u
#define SEEDS_PEEK_WRITE   1u
#define SEEDS_PEEK_VIRTUAL 2u /* or: under ROOT */

#define SEEDS_REG_ENGINE(Engine, Register) (0x100u + 0x40u * (Engine) + (Register))
#define SEEDS_ENG_DMA_LO                   0x00u
#define SEEDS_ENG_DMA_HI                   0x04u
#define SEEDS_ENG_BYTES                    0x08u
#define SEEDS_ENG_FLAGS                    0x0Cu
#define SEEDS_ENG_ROOT_LO                  0x10u
#define SEEDS_ENG_ROOT_HI                  0x14u
#define SEEDS_ENG_SUBMIT                   0x18u /* write: the fence; queues the packet */
#define SEEDS_ENG_COMPLETED                0x1Cu /* fence; writable */
#define SEEDS_ENG_FAULT_FENCE              0x20u
#define SEEDS_ENG_PREEMPT                  0x24u

#define SEEDS_PACKET_VIRTUAL 1u

#define SEEDS_IRQ(Engine, Cause) ((Cause) << (4u * (Engine)))
#define SEEDS_IRQ_FENCE          1u
#define SEEDS_IRQ_FAULT          2u
#define SEEDS_IRQ_PREEMPTED      4u

/* A device address: video memory from VRAM on, the aperture from APERTURE on, or the bus if the highest bit is set. */
#define SEEDS_VRAM           (1ull << 32)
#define SEEDS_APERTURE       (1ull << 40)
#define SEEDS_APERTURE_PAGES 2048u
#define SEEDS_BUS            (1ull << 63)

/* Page tables: three levels of 512 entries, anywhere. */
#define SEEDS_VA_BITS      39u
#define SEEDS_LEVELS       3u
#define SEEDS_LEVEL_BITS   9u
#define SEEDS_TABLE_BYTES  4096u
#define SEEDS_PTE_VALID    0x1ull
#define SEEDS_PTE_ZERO     0x2ull
#define SEEDS_PTE_READONLY 0x4ull
#define SEEDS_PTE_NOEXEC   0x8ull
#define SEEDS_PTE_ADDRESS  0x000FFFFFFFFFF000ull
#define SEEDS_PTE_BUS      (1ull << 52) /* the address is one of the bus */

/* SEEDS_REG_CONFIG */
#define SEEDS_CONFIG_MULTI           0x01u /* MultiEngineAware */
#define SEEDS_CONFIG_PREEMPT         0x02u /* PreemptionAware */
#define SEEDS_CONFIG_GPUMMU          0x04u /* node 1 has GPU virtual addresses */
#define SEEDS_CONFIG_APERTURE        0x08u /* DMA buffers in the aperture segment */
#define SEEDS_CONFIG_NOEXEC          0x10u /* the MMU knows NoExecute */
#define SEEDS_CONFIG_FAIL_PATCH      0x20u /* DxgkDdiPatch fails */
#define SEEDS_CONFIG_PAGING_APERTURE 0x40u /* paging buffers in the aperture segment */
#define SEEDS_CONFIG_CPU_TABLES      0x80u /* the CPU writes page tables, which are in system memory */
#define SEEDS_CONFIG_PRIVATE(C)      (((C) >> 8) & 0xFFu) /* bytes of private data, in units of 8 */
#define SEEDS_CONFIG_PRIVATE_STAYS \
    0x10000u /* paging operations leave the pointer to private data */
#define SEEDS_CONFIG_NO_DMA_PATCHING 0x20000u /* NoDmaPatching */
#define SEEDS_CONFIG_KEEP            0x40000u /* a slot is bound once for all commands that use it alike */

enum seeds_op {
    SEEDS_OP_FILL = 1, /* dst, bytes, pattern; whole dwords */
    SEEDS_OP_COPY = 2, /* dst, src, bytes */
    SEEDS_OP_MAP =
        3, /* pages dst (a number) and on of the aperture show the bus from src on, for bytes */
    SEEDS_OP_HIDE = 4,  /* all those pages show the one page at src */
    SEEDS_OP_DELAY = 5, /* bytes: nanoseconds */
    SEEDS_OP_PROBE = 6, /* dst: 1 and the dword at src, or 2 if src cannot be read */
    SEEDS_OP_TRY = 7,   /* dst: 1 if pattern could be written to src, or 2 */
    SEEDS_OP_WRITE = 8, /* dst: the 64 bits of src */
    SEEDS_OP_SERIES =
        9, /* dst, a device address in any packet: `bytes` times 64 bits, src and on in steps of pattern */
    SEEDS_OP_FETCH = 10, /* as PROBE, if src may be executed */
};

struct seeds_command {
    unsigned int op, bytes;
    unsigned long long dst, src;
    unsigned int pattern, reserved;
};

/* ---- what clients and the driver agree on ---- */

#define SEEDS_MAGIC 0x31444553u /* "SED1" */

#define SEEDS_IN_VRAM     1u /* bits of seeds_allocation_data.segments: segment id - 1 */
#define SEEDS_IN_APERTURE 2u

/* Private data of an allocation. While `tag` is not 0, the first 8 bytes of the allocation hold it, the client says. */
struct seeds_allocation_data {
    unsigned int magic, bytes, segments, reserved;
    unsigned long long tag;
};

/* In a client's command, dst and src are an element of the allocation list (from 0; 0 is the NULL element) and a byte in it. */
#define SEEDS_REF_INDEX(Ref)  ((unsigned int)((Ref) >> 32))
#define SEEDS_REF_OFFSET(Ref) ((unsigned int)(Ref))

/* Codes of escapes: one service, with the members of its argument structure in order in arg[]. */
enum seeds_code {
    SEEDS_INFO =
        1, /* out: interface version, config, VRAM bytes, bus address of BAR 0 and BAR 2, DeviceHandle,
            * exceptions?, elements moved, register routines? */
    SEEDS_RESULT = 2, /* in: index; out: passed, failed, four values; text: name, rule, sentence */
    SEEDS_SETTLE = 3, /* everything is idle: were all portions given? */
    SEEDS_KNOB = 4,   /* in: enum seeds_knob, value */
    SEEDS_ALLOCATE_CONTIGUOUS = 0x10,
    SEEDS_FREE_CONTIGUOUS,
    SEEDS_CREATE_OBJECT, /* with an adapter?, size, context, type, cache, 4 members of the union; out: 9, 10: handles */
    SEEDS_DESTROY_OBJECT,
    SEEDS_MAP_OBJECT,
    SEEDS_UNMAP_OBJECT,
    SEEDS_OPEN_OBJECT,
    SEEDS_CLOSE_OBJECT,
    SEEDS_ALLOCATE_ADL, /* out: 4: list, 5: pages, 6: flags, 7, 8: first and last page number */
    SEEDS_FREE_ADL,
    SEEDS_CPU_READ, /* address, width, or SEEDS_REGISTER; out: 2: value */
    SEEDS_CPU_WRITE,
    SEEDS_PHYSICAL,     /* address; out: 1: its physical address */
    SEEDS_PEEK,         /* device address; out: 1: value, 2: done? */
    SEEDS_POKE,         /* device address, value; out: 2: done? */
    SEEDS_VIRTUAL_PEEK, /* GPU virtual address in the context's space; out: 1: value, 2: done? */
    SEEDS_CREATE_CONTEXT_ALLOCATION =
        0x30, /* hDevice?, hContext?, size, alignment, segments, eviction, flags, kind, name; out: 9 */
    SEEDS_MAP_CONTEXT_ALLOCATION,
    SEEDS_UPDATE_CONTEXT_ALLOCATION,
    SEEDS_DESTROY_CONTEXT_ALLOCATION,
    SEEDS_INITIALISED, /* handle; out: 1: times, 2: segment, 3: address, 4: VirtualAddress, 5: GpuVirtualAddress */
    SEEDS_LAST_PROTECTION, /* GPU virtual page; out: 1: DriverProtection of its last update, 2: the entry */
    SEEDS_LAST_UPDATE, /* out: 1: bytes, 2: first word, 3: size of the allocation, 4: calls */
};

/* In place of a width: 32 bits by a register routine. */
#define SEEDS_REGISTER 0x104u

/* How the service is called. */
#define SEEDS_AT_APC        0x1u  /* at APC_LEVEL */
#define SEEDS_IN_SYSTEM     0x2u  /* by a thread of the system process */
#define SEEDS_NO_ARGUMENTS  0x4u  /* with a NULL pointer for them */
#define SEEDS_WRONG_ADAPTER 0x8u  /* with MiniportDeviceContext in place of DeviceHandle */
#define SEEDS_AT_DISPATCH   0x10u /* at DISPATCH_LEVEL */
#define SEEDS_UNASKED       0x20u /* access what may be missing; not without exceptions */

enum seeds_knob {
    SEEDS_EXPECT_NULL_RENDERING = 1, /* Render packets have the flag, or not */
    SEEDS_EXPECT_POWER_DOWN = 2,     /* enum seeds_power */
};

/* What paging is done for. */
enum seeds_power {
    SEEDS_POWER_STAYS = 0,
    SEEDS_POWER_GOES = 1, /* until SetPowerState has been called */
    SEEDS_POWER_ANY = 2,  /* nobody knows */
};

#define SEEDS_TEXT 256u

struct seeds_escape {
    unsigned int magic, code;
    int status;
    unsigned int how;
    unsigned long long arg[12];
    char text[SEEDS_TEXT];
};

#endif
