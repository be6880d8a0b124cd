/* SPDX-License-Identifier: MIT */
/*
 * The Blitter, a GPU of one engine that fills and copies memory. What its driver and its model agree on.
 *
 * BAR 0: registers of 32 bits. BAR 2: the video memory, as much as its size says. Through the aperture the engine sees pages of
 * system memory one after another that lie anywhere; until they are mapped its pages fault.
 *
 * A packet is an array of commands in system memory. Its bus address and length are written to DMA_LO, DMA_HI and DMA_BYTES;
 * writing its fence to SUBMIT queues it. Packets are executed in order. At the end of each one COMPLETED gets its fence and
 * cause FENCE is raised. A packet with a command that cannot be carried out ends there; FAULT_FENCE gets its fence, cause FAULT
 * is raised as well. Writing NOTIFY_IDLE raises cause IDLE as soon as the queue is empty. A cause interrupts (message 0) while
 * IRQ_ENABLE is not 0; reading IRQ_STATUS gives the causes and clears them.
 */
#ifndef BLITTER_HW_H
#define BLITTER_HW_H

#define BLITTER_PCI_VENDOR     0x1AF4
#define BLITTER_PCI_DEVICE     0xB117
#define BLITTER_ID             0x54494C42u /* "BLIT" */
#define BLITTER_REGISTER_BYTES 0x1000u
#define BLITTER_QUEUE          64u /* packets */

#define BLITTER_REG_ID 0x00
#define BLITTER_REG_RESET \
    0x04 /* write: drop all packets and causes; COMPLETED and the aperture stay */
#define BLITTER_REG_IRQ_STATUS  0x08
#define BLITTER_REG_IRQ_ENABLE  0x0C
#define BLITTER_REG_DMA_LO      0x10
#define BLITTER_REG_DMA_HI      0x14
#define BLITTER_REG_DMA_BYTES   0x18
#define BLITTER_REG_SUBMIT      0x1C
#define BLITTER_REG_COMPLETED   0x20 /* fence; writable */
#define BLITTER_REG_FAULT_FENCE 0x24
#define BLITTER_REG_NOTIFY_IDLE 0x28

#define BLITTER_IRQ_FENCE 0x1u
#define BLITTER_IRQ_FAULT 0x2u
#define BLITTER_IRQ_IDLE  0x4u

/* Commands of 32 bytes. */
#define BLITTER_OP_FILL 1u /* dst, bytes, pattern; whole dwords */
#define BLITTER_OP_COPY 2u /* dst, src, bytes */
#define BLITTER_OP_MAP \
    3u /* pages dst (a number) and on of the aperture show the bus from src on, for bytes; paging only */
#define BLITTER_OP_HIDE 4u /* all those pages show the one page at src; paging only */

struct blitter_command {
    unsigned int op;
    unsigned int bytes;
    unsigned long long dst;
    unsigned long long src;
    unsigned int pattern;
    unsigned int reserved;
};

/* An address: a byte of video memory from 0 on, of the aperture from here on, or of the bus if the highest bit is set. */
#define BLITTER_APERTURE       (1ull << 40)
#define BLITTER_APERTURE_PAGES 2048u
#define BLITTER_BUS            (1ull << 63)

/* ---- what clients and the driver agree on ---- */

#define BLITTER_MAGIC 0x31544C42u /* "BLT1" */

/* Private data of an allocation. */
struct blitter_allocation_data {
    unsigned int magic;
    unsigned int bytes;
};

/* In a client's command dst and src name an element of the allocation list and a byte in it. */
#define BLITTER_REF_INDEX(Ref)  ((unsigned int)((Ref) >> 32))
#define BLITTER_REF_OFFSET(Ref) ((unsigned int)(Ref))

#endif
