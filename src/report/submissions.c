/* SPDX-License-Identifier: MIT */
#include "report/submissions.h"

#include <inttypes.h>
#include <stdlib.h>

#include <d3dkmddi.h>

#include "nt/base/status_name.h"
#include "report/stages.h"
#include "vidsch/journal.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"

static const char *const kinds[] = {
    [PACKET_RENDER] = "render", [PACKET_VIRTUAL] = "submit",   [PACKET_HW] = "hw queue",
    [PACKET_LEAVE] = "switch",  [PACKET_PAGING] = "paging",    [PACKET_WAIT] = "wait",
    [PACKET_SIGNAL] = "signal", [PACKET_UPDATE] = "va update",
};

static const char *const ends[] = {
    [JOURNAL_COMPLETED] = "completed",
    [JOURNAL_FAULTED] = "faulted",
    [JOURNAL_REFUSED] = "refused by the driver",
    [JOURNAL_ABORTED] = "aborted by a reset",
    [JOURNAL_CANCELED] = "canceled, its device was lost",
    [JOURNAL_DROPPED] = "dropped, it could not be placed or patched",
};

static const char *const preempt_reasons[] = {
    [PREEMPT_NONE] = "nothing",
    [PREEMPT_PRIORITY] = "another context",
    [PREEMPT_PAGING] = "paging",
    [PREEMPT_TIMEOUT] = "the oldest packet runs too long",
    [PREEMPT_DEPENDENT] = "the reset of another node",
};

static const char *const causes[] = {
    [RECOVER_NONE] = "nothing",
    [RECOVER_TIMEOUT] = "a timeout",
    [RECOVER_PAGE_FAULT] = "a page fault",
    [RECOVER_DRIVER] = "a hang that the driver reported",
    [RECOVER_FORCED] = "the request of a client",
};

/* ---- one packet ---- */

/* Since the packet began, in microseconds. */
static void write_time(uint64_t begun, uint64_t time, FILE *out)
{
    if (time)
        fprintf(out, " %9.1f", (double)(time - begun) / 1e3);
    else
        fputs("         -", out);
}

static const char *interrupt_name(int32_t type)
{
    switch (type) {
    case DXGK_INTERRUPT_DMA_COMPLETED:
        return "COMPLETED";
    case DXGK_INTERRUPT_DMA_PREEMPTED:
        return "PREEMPTED";
    case DXGK_INTERRUPT_DMA_FAULTED:
        return "FAULTED";
    case DXGK_INTERRUPT_DMA_PAGE_FAULTED:
        return "PAGE_FAULTED";
    case DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED:
        return "SIGNALED";
    default:
        return "-";
    }
}

static void write_end(const struct journal_packet *packet, FILE *out)
{
    fprintf(out, "  %s", packet->ended ? ends[packet->end] : "not ended");
    if (packet->status)
        fprintf(out, " with %s", nt_status_text(packet->status).text);
    if (packet->submissions > 1)
        fprintf(out, ", submitted %u times", packet->submissions);
    if (packet->preemptions)
        fprintf(out, ", preempted %u time%s", packet->preemptions,
                packet->preemptions == 1 ? "" : "s");
    if (packet->resets)
        fprintf(out, ", returned by %u reset%s", packet->resets, packet->resets == 1 ? "" : "s");
    fputc('\n', out);
}

static void write_packet(const struct journal_packet *packet, FILE *out)
{
    const uint64_t begun = stages_begin(packet);

    fprintf(out, "%7u %13.4f %-9s %4u %4u %4u %7" PRIu64 " %8u %7u %5u %5u", packet->number,
            (double)begun / 1e6, kinds[packet->kind], packet->node, packet->context,
            packet->process, packet->fence, packet->bytes, packet->private_bytes,
            packet->allocations, packet->patches);
    write_time(begun, packet->queued, out);
    write_time(begun, packet->patched, out);
    write_time(begun, packet->submitted, out);
    write_time(begun, packet->started, out);
    write_time(begun, packet->interrupted, out);
    write_time(begun, packet->dpc, out);
    write_time(begun, packet->ended, out);
    fprintf(out, " %-12s", packet->interrupted ? interrupt_name(packet->interrupt) : "-");
    write_end(packet, out);
}

/* ---- what happened to nodes ---- */

static void write_event(const struct journal_event *event, FILE *out)
{
    const uint64_t *value = event->value;

    fprintf(out, "      - %13.4f ", (double)event->time / 1e6);
    switch (event->kind) {
    case JOURNAL_RETURNED:
        fprintf(out, "node %u: packet %" PRIu64 ", fence %" PRIu64 ", %s\n", event->node, value[0],
                value[1], value[2] ? "comes back after the reset" : "was preempted");
        break;
    case JOURNAL_PREEMPT:
        fprintf(out, "node %u: preemption %" PRIu64 " is asked for: %s\n", event->node, value[0],
                preempt_reasons[value[1]]);
        break;
    case JOURNAL_PREEMPTED:
        fprintf(out,
                "node %u: preemption %" PRIu64 " is answered: completed up to fence %" PRIu64
                ", %" PRIu64 " packet%s preempted\n",
                event->node, value[0], value[1], value[2], value[2] == 1 ? "" : "s");
        break;
    case JOURNAL_PREEMPT_CLOSED:
        fprintf(out, "node %u: preemption %" PRIu64 " ends without an answer, by a reset\n",
                event->node, value[0]);
        break;
    case JOURNAL_SUSPEND:
        fprintf(out, "node %u: hardware context %" PRIu64 " is to be suspended, fence %" PRIu64 "\n",
                event->node, value[0], value[1]);
        break;
    case JOURNAL_RECOVERY:
        fprintf(out, "node %u: TDR: it is to be reset, because of %s\n", event->node,
                causes[value[0]]);
        break;
    case JOURNAL_ENGINE_RESET:
        fprintf(out,
                "node %u: engine reset: fence %" PRIu64 " was aborted, %" PRIu64
                " was the last completed one, the engine %s\n",
                event->node, value[0], value[1], value[2] ? "responded" : "did not respond");
        break;
    case JOURNAL_HW_RESET:
        fprintf(out, "node %u: engine reset of a hardware-scheduled node: %s %" PRIu64 "\n",
                event->node, value[0] ? "blamed is context" : "no context was blamed:", value[0]);
        break;
    case JOURNAL_ADAPTER_RESET:
        fprintf(out, "TDR: adapter reset, because of %s: all that is in flight is aborted\n",
                causes[value[0]]);
        break;
    default:
        fprintf(out, "the adapter works again\n");
        break;
    }
}

/* Those before that time, from *next on. */
static void write_events(const struct journal *journal, uint64_t before, size_t *next, FILE *out)
{
    const struct journal_event *event;

    while ((event = journal_event_at(journal, *next)) != NULL && event->time < before) {
        write_event(event, out);
        ++*next;
    }
}

/* ---- all of it ---- */

static void write_list(const struct journal *journal, FILE *out)
{
    const uint32_t first = journal->last < JOURNAL_PACKETS ? 1 : journal->last - JOURNAL_PACKETS + 1;
    size_t next = 0;

    fprintf(out, "%7s %13s %-9s %4s %4s %4s %7s %8s %7s %5s %5s %9s %9s %9s %9s %9s %9s %9s %s\n",
            "packet", "at (ms)", "kind", "node", "ctx", "proc", "fence", "bytes", "private",
            "alloc", "patch", "queued us", "Patch", "Submit", "start", "interrupt", "DPC", "end",
            "interrupt");
    for (uint32_t number = first; number <= journal->last; number++) {
        const struct journal_packet *packet = journal_packet(journal, number);

        if (!packet)
            continue;
        write_events(journal, packet->queued, &next, out);
        write_packet(packet, out);
    }
    write_events(journal, UINT64_MAX, &next, out);
}

bool report_submissions_text(const struct journal *journal, const char *name, FILE *out)
{
    fprintf(out, "submissions, %s: %" PRIu64 " packets; engine 0 of each node\n", name,
            journal->packets);
    if (journal->dropped || journal_events_dropped(journal))
        fprintf(out,
                "  the first are not kept: %" PRIu64 " packets, %" PRIu64
                " events of nodes; what follows is of the rest\n",
                journal->dropped, journal_events_dropped(journal));
    if (journal->lost)
        fprintf(out, "  %" PRIu64 " packets and events are missing: no memory was left for them\n",
                journal->lost);
    if (journal->packets == 0)
        return !ferror(out);
    write_list(journal, out);
    return stages_write(journal, out) && !ferror(out);
}
