/* SPDX-License-Identifier: MIT */
/*
 * The NPU, a processor of one engine that multiplies matrices of bytes. What its driver and its model agree on.
 *
 * It has registers of 32 bits in BAR 0, and no memory: all that it reads and writes lies in system memory. Commands name GPU virtual
 * addresses of 39 bits, which it translates by three levels of page tables, a page of 512 entries each. It keeps translations until it
 * is told to drop them.
 *
 * A packet is an array of commands. Its address, its length, the bus address of the root table and its flags are written to registers;
 * writing its fence to SUBMIT queues it. Packets run in order. At the end of each, the fence is written to the status page, and cause
 * FENCE is raised. A packet that cannot be carried out stops the engine: cause FAULT is raised, the FAULT registers say why, and nothing
 * runs until RESET. Writing NOTIFY_IDLE raises cause IDLE as soon as the queue is empty. A cause interrupts (message 0) while IRQ_ENABLE
 * is not 0; reading IRQ_STATUS gives the causes and clears them.
 */
#ifndef NPU_HW_H
#define NPU_HW_H

#define NPU_PCI_VENDOR     0x1AF4
#define NPU_PCI_DEVICE     0xA117
#define NPU_ID             0x3155504Eu /* "NPU1" */
#define NPU_REGISTER_BYTES 0x1000u
#define NPU_QUEUE          64u /* packets */

#define NPU_REG_ID          0x00
#define NPU_REG_RESET       0x04 /* write: drop packets, causes and translations */
#define NPU_REG_IRQ_STATUS  0x08
#define NPU_REG_IRQ_ENABLE  0x0C
#define NPU_REG_STATUS_LO   0x10 /* bus address of the status page */
#define NPU_REG_STATUS_HI   0x14
#define NPU_REG_ROOT_LO     0x18 /* of the next packet */
#define NPU_REG_ROOT_HI     0x1C
#define NPU_REG_DMA_LO      0x20
#define NPU_REG_DMA_HI      0x24
#define NPU_REG_DMA_BYTES   0x28
#define NPU_REG_DMA_FLAGS   0x2C
#define NPU_REG_SUBMIT      0x30
#define NPU_REG_NOTIFY_IDLE 0x34
#define NPU_REG_FAULT       0x38 /* NPU_FAULT_..., with the level of the table in bits 8 to 15 */
#define NPU_REG_FAULT_FENCE 0x3C
#define NPU_REG_FAULT_LO    0x40 /* the virtual address, or that on the bus */
#define NPU_REG_FAULT_HI    0x44

#define NPU_DMA_PRIVILEGED 0x1u /* commands may be of the kinds that only the driver gives */
#define NPU_DMA_PHYSICAL   0x2u /* the packet lies at a bus address */

#define NPU_IRQ_FENCE 0x1u
#define NPU_IRQ_FAULT 0x2u
#define NPU_IRQ_IDLE  0x4u

#define NPU_FAULT_COMMAND 1u /* no command, or one that this packet may not have */
#define NPU_FAULT_READ    2u /* nothing is mapped */
#define NPU_FAULT_WRITE   3u /* nothing is mapped, or for reading only */
#define NPU_FAULT_BUS     4u /* the bus refused the access */

/* What the engine writes. */
struct npu_status {
    unsigned int completed; /* fence */
    unsigned int reserved[15];
};

/* Commands of 48 bytes. */
#define NPU_OP_FILL 1u /* count bytes of dst become those of value; whole dwords */
#define NPU_OP_COPY 2u /* count bytes */
#define NPU_OP_MATMUL \
    3u /* dst[rows][cols], 32 bits, becomes a[rows][inner] * b[inner][cols], signed bytes */
#define NPU_OP_RELU \
    4u /* count bytes of dst become those of 32 bits of a, shifted right by value, from 0 to 127 */
/* Of packets with NPU_DMA_PRIVILEGED alone: */
#define NPU_OP_ENTRIES \
    5u /* count entries from dst on become a, a + b, a + 2 * b, ...; dst is of the bus if value is 1 */
#define NPU_OP_FLUSH 6u /* drop translations of the root table a from dst up to b; a is 0: of all */

struct npu_command {
    unsigned int op;
    unsigned int count;
    unsigned long long dst, a, b;
    unsigned int rows, inner, cols, value;
};

#define NPU_MOST_SIDE 1024u /* rows, inner and columns of a matrix */

/* Entries of page tables: the bus address of a page or of the next table, and these. */
#define NPU_ENTRY_VALID     0x1ull
#define NPU_ENTRY_ZERO      0x2ull /* reads as zero; writes are dropped */
#define NPU_ENTRY_READ_ONLY 0x4ull
#define NPU_ENTRY_ADDRESS   0x000FFFFFFFFFF000ull
#define NPU_LEVELS          3u
#define NPU_LEVEL_BITS      9u

/* ---- what clients and the driver agree on ---- */

#define NPU_MAGIC 0x3154504Eu /* "NPT1" */

/* Private data of an allocation. */
struct npu_allocation_data {
    unsigned int magic;
    unsigned int bytes;
};

/* Private data of an escape; what it asks for comes back in `value`. */
#define NPU_ESCAPE_COMPLETED 1u /* packets since the start */
#define NPU_ESCAPE_BYTES     2u /* of allocations that there are */

struct npu_escape {
    unsigned int magic;
    unsigned int what;
    unsigned long long value;
};

#endif
