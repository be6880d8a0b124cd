/* SPDX-License-Identifier: MIT */
/*
 * A trace is walked twice. The first walk learns on which node each context runs: the provider says
 * so when a context is selected, made, or listed at the start of the recording; the context of
 * preemption requests is none of these, and has the node of the packets that were preempted for one
 * of them. The second walk follows each node and each context:
 *
 *     node      packets in flight, oldest first; packets that were preempted and wait for the next
 *               submission; the request in progress; the last ids
 *     context   the last number of its queue
 *
 * A recording begins in the middle of things: what is not known yet breaks no rule.
 */
#include "wintrace/check.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "wintrace/ids.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_IN_FLIGHT 2u
#define KEPT           64u /* packets of a node in flight, or preempted, that are followed */
#define NO_NODE        UINT32_MAX

enum rule {
    NODE_COUNTER,
    REQUEST_COUNTER,
    IN_FLIGHT,
    QUIET_REQUEST,
    ONE_REQUEST,
    REPORT_ORDER,
    REPORTED_FIRST,
    NEW_ID,
    OLD_ORDER,
    QUEUE_NUMBERS,
    RESIDENT_FENCE,
    FLUSH_BOUNDS,
    RULES,
};

#define SHOWN(rule_, about_, what_)                         \
    {                                                       \
        .rule = (rule_), .about = (about_), .what = (what_) \
    }

static const struct wintrace_finding rules[RULES] = {
    [NODE_COUNTER] = SHOWN("SUBMIT-039", "submissions",
                           "submissions of a node are numbered without gaps"),
    [REQUEST_COUNTER] = SHOWN("PREEMPT-011", "requests",
                              "preemption requests of a node count for themselves"),
    [IN_FLIGHT] = SHOWN("SUBMIT-015", "submissions", "at most two packets of a node are in flight"),
    [QUIET_REQUEST] = SHOWN("PREEMPT-012", "submissions",
                            "nothing is submitted to a node between request and answer"),
    [ONE_REQUEST] = SHOWN("PREEMPT-012", "requests", "a node has one preemption request at a time"),
    [REPORT_ORDER] = SHOWN("SUBMIT-018", "completions",
                           "packets of a node complete in the order of their submission"),
    [REPORTED_FIRST] = SHOWN("SUBMIT-047", "packets", "a packet retires after its interrupt"),
    [NEW_ID] = SHOWN("PREEMPT-022", "packets",
                     "a preempted packet is submitted again with a new number"),
    [OLD_ORDER] = SHOWN("PREEMPT-023", "packets", "preempted packets of a context keep their order"),
    [QUEUE_NUMBERS] = SHOWN(NULL, "packets", "packets of a context are numbered without gaps"),
    [RESIDENT_FENCE] = SHOWN(
        "RES-014", "calls",
        "MakeResident gives a fence value if it is pending, and none if it is done"),
    [FLUSH_BOUNDS] = SHOWN("GPUVA-218", "flushes", "a TLB flush names whole pages"),
};

struct packet {
    uint64_t id, context;
    uint32_t sequence; /* of its context's queue */
    bool reported;
};

struct packets {
    struct packet packet[KEPT];
    unsigned count;
};

struct node {
    struct packets flying, preempted;
    uint64_t last, last_request;
    bool known, request_known, requested;
};

struct context {
    uint32_t node; /* index; NO_NODE: not known */
    uint32_t sequence;
    bool known;
};

struct wintrace_check {
    const struct wintrace *trace;
    struct wintrace_finding finding[RULES];
    struct hash_map contexts; /* by handle: index in `context` and 1 */
    struct context *context;
    size_t context_count;
    struct hash_map nodes; /* by adapter and ordinal: index in `node` and 1 */
    struct node *node;
    size_t node_count;
    uint64_t without_node;
    bool no_memory;
};

/* ---- findings ---- */

static void look(struct wintrace_check *c, enum rule rule, const struct wintrace_event *event,
                 bool holds, const char *format, ...) __attribute__((format(printf, 5, 6)));
static void look(struct wintrace_check *c, enum rule rule, const struct wintrace_event *event,
                 bool holds, const char *format, ...)
{
    struct wintrace_finding *finding = &c->finding[rule];
    va_list arguments;

    finding->looked++;
    if (holds || finding->broken++)
        return;
    finding->time = event->time;
    va_start(arguments, format);
    vsnprintf(finding->first, sizeof(finding->first), format, arguments);
    va_end(arguments);
}

/* ---- contexts and nodes ---- */

static uint64_t get(const struct wintrace_check *c, const struct wintrace_event *event,
                    const char *field)
{
    uint64_t value;

    (void)wintrace_get(c->trace, event, field, &value);
    return value;
}

/* A new element of an array that has one for each entry of a map; NULL: out of memory. */
static void *one_more(struct wintrace_check *c, void **array, size_t *count, size_t element,
                      struct hash_map *map, uint64_t key)
{
    void *grown = util_realloc(*array, (*count + 1) * element);

    if (grown)
        *array = grown;
    if (!grown || !hash_put(map, key, (void *)(uintptr_t)(*count + 1))) {
        c->no_memory = true;
        return NULL;
    }
    memset((char *)grown + *count * element, 0, element);
    return (char *)grown + (*count)++ * element;
}

/* NULL: out of memory. */
static struct context *context_of(struct wintrace_check *c, uint64_t handle)
{
    size_t index = (uintptr_t)hash_get(&c->contexts, handle | 1);
    struct context *context;

    if (index)
        return &c->context[index - 1];
    context = one_more(c, (void **)&c->context, &c->context_count, sizeof(*c->context),
                       &c->contexts, handle | 1);
    if (context)
        context->node = NO_NODE;
    return context;
}

static uint32_t node_of(struct wintrace_check *c, uint64_t adapter, uint64_t ordinal)
{
    uint64_t key = (adapter << 8 ^ ordinal) | UINT64_C(1) << 63;
    size_t index = (uintptr_t)hash_get(&c->nodes, key);

    if (!index && one_more(c, (void **)&c->node, &c->node_count, sizeof(*c->node), &c->nodes, key))
        index = c->node_count;
    return index ? (uint32_t)(index - 1) : NO_NODE;
}

static void learn_node(struct wintrace_check *c, const struct wintrace_event *event)
{
    uint64_t adapter = get(c, event, "pDxgAdapter"); /* 0: the event does not name it */
    struct context *context = context_of(c, get(c, event, "hContext"));

    if (context && (context->node == NO_NODE || adapter))
        context->node = node_of(c, adapter, get(c, event, "NodeOrdinal"));
}

/* The context of requests has the node of what was preempted for one. */
static void learn_requests(struct wintrace_check *c)
{
    uint64_t asker = 0;

    for (size_t i = 0; i < c->trace->events && !c->no_memory; i++) {
        const struct wintrace_event *event = &c->trace->event[i];
        struct context *context, *preempted;

        if (event->kind->id == EVENT_DMA_START && get(c, event, "PacketType") == PACKET_PREEMPTION)
            asker = get(c, event, "hContext");
        if (event->kind->id != EVENT_DMA_REPORTED || !asker ||
            get(c, event, "InterruptType") != INTERRUPT_PREEMPTED)
            continue;
        preempted = context_of(c, get(c, event, "hContext"));
        context = preempted ? context_of(c, asker) : NULL; /* moves the array */
        preempted = context ? context_of(c, get(c, event, "hContext")) : NULL;
        if (preempted && context->node == NO_NODE)
            context->node = preempted->node;
        asker = 0;
    }
}

static void learn(struct wintrace_check *c)
{
    for (size_t i = 0; i < c->trace->events && !c->no_memory; i++) {
        uint16_t id = c->trace->event[i].kind->id;

        if (id == EVENT_SELECT_CONTEXT || id == EVENT_SELECT_CONTEXT_2 ||
            id == EVENT_CONTEXT_START || id == EVENT_CONTEXT_LISTED)
            learn_node(c, &c->trace->event[i]);
    }
    learn_requests(c);
}

/* The node of the event's context; NULL: not known. */
static struct node *node_at(struct wintrace_check *c, const struct wintrace_event *event)
{
    const struct context *context = context_of(c, get(c, event, "hContext"));

    if (context && context->node != NO_NODE)
        return &c->node[context->node];
    c->without_node++;
    return NULL;
}

/* ---- packets of a node ---- */

static void packets_add(struct packets *packets, struct packet packet)
{
    if (packets->count < KEPT)
        packets->packet[packets->count++] = packet;
}

/* The same for packets that were preempted: those of a context are in the order of its queue, also
 * where one was submitted again and preempted once more before another one's turn came. */
static void packets_return(struct packets *packets, struct packet packet)
{
    unsigned at = packets->count;

    if (packets->count == KEPT)
        return;
    for (unsigned i = packets->count; i-- > 0;)
        if (packets->packet[i].context == packet.context &&
            packets->packet[i].sequence > packet.sequence)
            at = i;
    memmove(&packets->packet[at + 1], &packets->packet[at],
            (packets->count - at) * sizeof(packets->packet[0]));
    packets->packet[at] = packet;
    packets->count++;
}

static void packets_remove(struct packets *packets, unsigned index)
{
    packets->count--;
    memmove(&packets->packet[index], &packets->packet[index + 1],
            (packets->count - index) * sizeof(packets->packet[0]));
}

/* Its index; the count: it is not there. */
static unsigned packets_find(const struct packets *packets, uint64_t context, uint64_t id)
{
    unsigned i = 0;

    while (i < packets->count &&
           (packets->packet[i].context != context || packets->packet[i].id != id))
        i++;
    return i;
}

static void submit_request(struct wintrace_check *c, const struct wintrace_event *event,
                           struct node *node, uint64_t id)
{
    if (node->request_known)
        look(c, REQUEST_COUNTER, event, id == node->last_request + 1,
             "request %" PRIu64 " follows %" PRIu64, id, node->last_request);
    look(c, ONE_REQUEST, event, !node->requested,
         "request %" PRIu64 " while %" PRIu64 " was not answered", id, node->last_request);
    node->last_request = id;
    node->request_known = node->requested = true;
}

/* A packet that was preempted before: with a new number, and not before one of the same context
 * that was preempted before it. */
static void resubmit(struct wintrace_check *c, const struct wintrace_event *event,
                     struct node *node, const struct packet *packet)
{
    for (unsigned i = 0; i < node->preempted.count; i++) {
        const struct packet *old = &node->preempted.packet[i];

        if (old->context != packet->context)
            continue;
        if (old->sequence == packet->sequence) {
            look(c, NEW_ID, event, packet->id > old->id,
                 "packet %" PRIu32 " of a context was %" PRIu64 " and is %" PRIu64,
                 packet->sequence, old->id, packet->id);
            look(c, OLD_ORDER, event, true, " ");
            packets_remove(&node->preempted, i);
        } else {
            look(c, OLD_ORDER, event, false,
                 "packet %" PRIu32 " comes before packet %" PRIu32 ", which was preempted",
                 packet->sequence, old->sequence);
        }
        return;
    }
}

static void dma_start(struct wintrace_check *c, const struct wintrace_event *event)
{
    struct node *node = node_at(c, event);
    struct packet packet = {.id = get(c, event, "uliSubmissionId"),
                            .context = get(c, event, "hContext"),
                            .sequence = (uint32_t)get(c, event, "ulQueueSubmitSequence")};

    if (!node)
        return;
    if (get(c, event, "PacketType") == PACKET_PREEMPTION) {
        submit_request(c, event, node, packet.id);
        return;
    }
    if (node->known)
        look(c, NODE_COUNTER, event, packet.id == node->last + 1,
             "submission %" PRIu64 " follows %" PRIu64, packet.id, node->last);
    look(c, QUIET_REQUEST, event, !node->requested,
         "submission %" PRIu64 " while request %" PRIu64 " was not answered", packet.id,
         node->last_request);
    resubmit(c, event, node, &packet);
    packets_add(&node->flying, packet);
    look(c, IN_FLIGHT, event, node->flying.count <= MOST_IN_FLIGHT,
         "with submission %" PRIu64 " %u packets are in flight", packet.id, node->flying.count);
    node->last = packet.id;
    node->known = true;
}

static void dma_reported(struct wintrace_check *c, const struct wintrace_event *event)
{
    struct node *node = node_at(c, event);
    uint64_t id = get(c, event, "uliCompletionId");
    unsigned index;

    if (!node)
        return;
    if (get(c, event, "PacketType") == PACKET_PREEMPTION) {
        node->requested = false;
        return;
    }
    index = packets_find(&node->flying, get(c, event, "hContext"), id);
    if (index == node->flying.count)
        return; /* from before the recording */
    if (get(c, event, "InterruptType") == INTERRUPT_PREEMPTED)
        packets_return(&node->preempted, node->flying.packet[index]);
    else
        look(c, REPORT_ORDER, event, index == 0,
             "packet %" PRIu64 " completes before packet %" PRIu64, id, node->flying.packet[0].id);
    packets_remove(&node->flying, index);
}

static void dma_stop(struct wintrace_check *c, const struct wintrace_event *event)
{
    struct node *node = node_at(c, event);
    uint64_t id = get(c, event, "uliCompletionId");
    unsigned index;

    if (!node)
        return;
    if (get(c, event, "PacketType") == PACKET_PREEMPTION) {
        node->requested = false; /* a reset may close it without an answer */
        return;
    }
    index = packets_find(&node->flying, get(c, event, "hContext"), id);
    if (get(c, event, "bPreempted") && index < node->flying.count) {
        packets_return(&node->preempted, node->flying.packet[index]); /* a reset took it off */
        packets_remove(&node->flying, index);
        return;
    }
    look(c, REPORTED_FIRST, event, index == node->flying.count,
         "packet %" PRIu64 " retires while it is in flight", id);
}

static void forget(struct packets *packets, uint64_t context, uint64_t sequence)
{
    for (unsigned i = 0; i < packets->count; i++) {
        if (packets->packet[i].context != context || packets->packet[i].sequence != sequence)
            continue;
        packets_remove(packets, i);
        return;
    }
}

/* A packet that a reset aborts has no interrupt, but its end in the queue says so. One that was
 * preempted may end without being submitted again. */
static void queue_stop(struct wintrace_check *c, const struct wintrace_event *event)
{
    const struct context *context = context_of(c, get(c, event, "hContext"));
    struct node *node;

    if (!context || context->node == NO_NODE)
        return; /* of a packet that needs no node */
    node = &c->node[context->node];
    forget(&node->preempted, get(c, event, "hContext"), get(c, event, "SubmitSequence"));
    if (get(c, event, "bTimeouted"))
        forget(&node->flying, get(c, event, "hContext"), get(c, event, "SubmitSequence"));
}

/* ---- contexts, residency ---- */

static void queue_packet(struct wintrace_check *c, const struct wintrace_event *event)
{
    struct context *context = context_of(c, get(c, event, "hContext"));
    uint32_t sequence = (uint32_t)get(c, event, "SubmitSequence");

    if (!context)
        return;
    if (context->known)
        look(c, QUEUE_NUMBERS, event, sequence == context->sequence + 1,
             "packet %" PRIu32 " follows %" PRIu32, sequence, context->sequence);
    context->sequence = sequence;
    context->known = true;
}

static void make_resident(struct wintrace_check *c, const struct wintrace_event *event)
{
    uint64_t status = get(c, event, "Status"), fence = get(c, event, "PagingFenceValue");

    if (status == 0 || status == STATUS_PENDING_VALUE)
        look(c, RESIDENT_FENCE, event, (status == 0) == (fence == 0),
             "status 0x%" PRIx64 " with fence value %" PRIu64, status, fence);
}

static void flush(struct wintrace_check *c, const struct wintrace_event *event)
{
    uint64_t start = get(c, event, "StartVirtualAddress"), end = get(c, event, "EndVirtualAddress");

    bool whole = start == 0 && end == 0; /* GPUVA-217: the whole address space */

    look(c, FLUSH_BOUNDS, event, start % 4096 == 0 && end % 4096 == 0 && (start < end || whole),
         "from 0x%" PRIx64 " to 0x%" PRIx64, start, end);
}

static void see(struct wintrace_check *c, const struct wintrace_event *event)
{
    switch (event->kind->id) {
    case EVENT_DMA_START:
        dma_start(c, event);
        break;
    case EVENT_DMA_REPORTED:
        dma_reported(c, event);
        break;
    case EVENT_DMA_STOP:
        dma_stop(c, event);
        break;
    case EVENT_QUEUE_STOP:
        queue_stop(c, event);
        break;
    case EVENT_QUEUE_START:
    case EVENT_QUEUE_WAIT:
    case EVENT_QUEUE_SIGNAL:
        queue_packet(c, event);
        break;
    case EVENT_MAKE_RESIDENT_STOP:
        make_resident(c, event);
        break;
    case EVENT_FLUSH_TLB:
        flush(c, event);
        break;
    default:
        break;
    }
}

/* ---- the whole ---- */

struct wintrace_check *wintrace_check_create(const struct wintrace *trace)
{
    struct wintrace_check *c = util_zalloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->trace = trace;
    memcpy(c->finding, rules, sizeof(rules));
    hash_init(&c->contexts);
    hash_init(&c->nodes);
    learn(c);
    for (size_t i = 0; i < trace->events && !c->no_memory; i++)
        see(c, &trace->event[i]);
    if (!c->no_memory)
        return c;
    wintrace_check_destroy(c);
    return NULL;
}

void wintrace_check_destroy(struct wintrace_check *c)
{
    if (!c)
        return;
    hash_finish(&c->contexts);
    hash_finish(&c->nodes);
    util_free(c->context);
    util_free(c->node);
    util_free(c);
}

struct wintrace_findings wintrace_check_findings(const struct wintrace_check *c)
{
    return (struct wintrace_findings){c->finding, RULES, c->without_node};
}
