/* SPDX-License-Identifier: MIT */
/*
 * The journal of an adapter's submissions: what became of each packet, and when; beside it what
 * happened to the nodes. It is kept only where a report was asked for. Its memory is bounded: the
 * oldest packets and events give way to new ones, and are counted.
 */
#ifndef DXGK_VIDSCH_JOURNAL_H
#define DXGK_VIDSCH_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JOURNAL_PACKETS = 16384, /* that are kept; a power of two */
    JOURNAL_EVENTS = 4096,
    JOURNAL_CHUNK = 256, /* packets for which memory is taken at a time */
};

/* How a packet ended. */
enum journal_end {
    JOURNAL_COMPLETED,
    JOURNAL_FAULTED,  /* the driver notified a fault */
    JOURNAL_REFUSED,  /* the driver's DxgkDdiSubmitCommandVirtual did not take it */
    JOURNAL_ABORTED,  /* by a reset, or on a lost device by the end of its hardware context */
    JOURNAL_CANCELED, /* it never reached the hardware: its device was lost */
    JOURNAL_DROPPED,  /* its allocations could not be placed, or DxgkDdiPatch failed */
};

/* Times are virtual ns; 0: it has not happened. */
struct journal_packet {
    uint32_t number; /* packet->flow; 0: none */
    uint8_t kind;    /* enum packet_kind */
    uint8_t end;     /* enum journal_end, if `ended` */
    uint16_t node;
    uint32_t context, process; /* number of the handle; id */
    uint64_t fence;            /* of the last submission; hardware queue: progress fence id */
    uint64_t place;            /* offset into its buffer, or GPU virtual address, of its commands */
    uint32_t bytes, private_bytes, allocations, patches;
    uint32_t submissions;         /* times it was given to the driver */
    uint32_t preemptions, resets; /* times it came back */
    int32_t interrupt;            /* DXGK_INTERRUPT_TYPE */
    int32_t status;               /* of a fault */
    uint64_t rendered;            /* DxgkDdiRender was called */
    uint64_t queued, patched, submitted, started, interrupted;
    uint64_t dpc, ended;
};

enum journal_event_kind {
    JOURNAL_RETURNED,       /* a packet came back: number, fence, by a reset? */
    JOURNAL_PREEMPT,        /* asked for: id, enum preempt_reason */
    JOURNAL_PREEMPTED,      /* answered: id, LastCompletedFenceId, packets that came back */
    JOURNAL_PREEMPT_CLOSED, /* a reset closed the request: id */
    JOURNAL_SUSPEND,        /* of a hardware context: its number, fence */
    JOURNAL_RECOVERY,       /* of a node is wanted: enum recover_cause */
    JOURNAL_ENGINE_RESET,   /* LastAbortedFenceId, completed before, responsive? */
    JOURNAL_HW_RESET,       /* of a hardware-scheduled node: number of the context that is blamed */
    JOURNAL_ADAPTER_RESET,  /* enum recover_cause */
    JOURNAL_ADAPTER_AGAIN,  /* it is over: clients may submit */
};

struct journal_event {
    uint64_t time;
    uint8_t kind;
    uint16_t node;
    uint64_t value[3];
};

struct journal {
    struct journal_packet *chunk[JOURNAL_PACKETS / JOURNAL_CHUNK];
    struct journal_event *events; /* NULL: none yet */
    char (*node_name)[48];
    uint32_t nodes;
    uint32_t last;        /* the highest number of a packet */
    uint64_t packets;     /* that were noted, also those that gave way */
    uint64_t event_count; /* as well */
    uint64_t lost;        /* packets and events for which there was no memory */
    uint64_t dropped;     /* packets that gave way to others */
    uint64_t dpc;         /* since when DxgkCbNotifyDpc is being served; 0: it is not */
};

/* NULL: out of memory. The memory is not the machine's, in whose heap an injected failure must meet
 * the same allocations with and without a journal. */
struct journal *journal_create(uint32_t nodes);
void journal_destroy(struct journal *journal);
/* A new packet; the one 16,384 numbers before gives way. NULL: out of memory. */
struct journal_packet *journal_begin(struct journal *journal, uint32_t number);
/* NULL: it is not kept. */
struct journal_packet *journal_packet(const struct journal *journal, uint32_t number);
void journal_event(struct journal *journal, const struct journal_event *event);
/* The i-th event that is kept, from 0, oldest first. NULL: there are no more. */
const struct journal_event *journal_event_at(const struct journal *journal, size_t i);
/* How many events gave way. */
uint64_t journal_events_dropped(const struct journal *journal);

#endif
