/* SPDX-License-Identifier: MIT */
#include "wintrace/support/story.h"
#include "support/check_rule.h"
#include "util/rng.h"

#include <string.h>

#define ADAPTER 0xA0000u
#define DEVICE  0xD0000u
#define CONTEXT(k) \
    (0xC0000u +    \
     0x100u *      \
         (k)) /* 0 and 1: the client's; 2: of requests; 3: of another process; 4: of paging, on node 1 */
#define ALLOCATION(k) (0xB0000u + 0x100u * (k))
#define OBJECT(k)     (0xE0000u + 0x100u * (k))
#define QUEUE         0xF0000u
#define BUFFER(k)     (0x70000u + 0x100u * (k))
#define OTHER_PROCESS 99u
#define SYSTEM        4u
#define CLIENTS       2u
#define ALLOCATIONS   3u
#define STEPS         24u
#define SEGMENTS      2u

struct teller {
    struct story *story;
    struct rng rng, others; /* of the story, and of what others do meanwhile */
    const struct story_world *world;
    uint64_t submission, request, fence[2], paging_fence, flip, frame;
    uint64_t sequence[4], paging; /* of contexts; submissions of the paging node */
};

static void tell(struct teller *t, uint32_t process, uint16_t id, uint8_t version,
                 const uint64_t *value, unsigned values)
{
    struct story_event *event = &t->story->event[t->story->events++];

    CHECK(t->story->events < STORY_EVENTS && values <= STORY_VALUES);
    *event = (struct story_event){id, version, process, process + 1, {0}, values};
    memcpy(event->value, value, values * sizeof(*value));
}

#define TELL(t, process, id, version, ...)                         \
    tell(t, process, id, version, (const uint64_t[]){__VA_ARGS__}, \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t handle(const struct teller *t, uint64_t of)
{
    return t->world->handles + of;
}

static uint32_t client(const struct teller *t)
{
    return t->world->process;
}

/* ---- packets ---- */

static void queue(struct teller *t, unsigned context, uint64_t type, uint64_t size)
{
    TELL(t, client(t), 178, 1, handle(t, CONTEXT(context)), type, t->sequence[context], size, 2, 0,
         0, handle(t, BUFFER(context)), handle(t, 0x1000), 0);
}

static void submit(struct teller *t, unsigned context, uint64_t sequence)
{
    TELL(t, SYSTEM, 175, 1, handle(t, CONTEXT(context)), handle(t, 0x1000), 0, t->submission,
         sequence, handle(t, BUFFER(context)), 0);
}

static void report(struct teller *t, unsigned context, uint64_t id, uint64_t sequence,
                   uint64_t interrupt)
{
    TELL(t, SYSTEM, 177, 1, handle(t, CONTEXT(context)), 0, id, sequence, interrupt, 0, 0, 0, 0);
}

static void retire(struct teller *t, unsigned context, uint64_t id, uint64_t sequence,
                   bool preempted)
{
    TELL(t, SYSTEM, 176, 0, handle(t, CONTEXT(context)), 0, id, sequence, preempted);
}

static void leave(struct teller *t, unsigned context, uint64_t type, uint64_t sequence)
{
    TELL(t, SYSTEM, 180, 1, handle(t, CONTEXT(context)), type, sequence, 0, 0, handle(t, 0x1000));
}

static void other_packet(struct teller *t)
{
    if (!t->world->others || rng_below(&t->others, 2))
        return;
    submit(t, 3, t->sequence[3]);
    report(t, 3, t->submission, t->sequence[3], 1);
    retire(t, 3, t->submission++, t->sequence[3]++, false);
}

/* A packet of a context from queue to queue. */
static void work(struct teller *t, unsigned context)
{
    uint64_t sequence = t->sequence[context], id;

    queue(t, context, 0, 64 + rng_below(&t->rng, 64));
    other_packet(t);
    id = t->submission;
    submit(t, context, sequence);
    t->submission++;
    report(t, context, id, sequence, 1);
    retire(t, context, id, sequence, false);
    leave(t, context, 0, sequence);
    t->sequence[context]++;
}

/* Two packets of a context are in flight when another one needs the node. */
static void preempt(struct teller *t, unsigned context)
{
    uint64_t sequence = t->sequence[context], id = t->submission;

    for (unsigned i = 0; i < 2; i++) {
        queue(t, context, 0, 64);
        submit(t, context, t->sequence[context]++);
        t->submission++;
    }
    TELL(t, SYSTEM, 175, 1, handle(t, CONTEXT(2)), 0, 3, t->request, 0, 0, 0);
    report(t, context, id, sequence, 2);
    report(t, context, id + 1, sequence + 1, 2);
    TELL(t, SYSTEM, 177, 1, handle(t, CONTEXT(2)), 3, t->request, 0, 1, 0, 0, 0, 0);
    t->request++;
    retire(t, context, id, sequence, true);
    retire(t, context, id + 1, sequence + 1, true);
    work(t, 1 - context);
    for (unsigned i = 0; i < 2; i++) {
        id = t->submission++;
        TELL(t, SYSTEM, 175, 1, handle(t, CONTEXT(context)), handle(t, 0x1000), 0, id, sequence + i,
             handle(t, BUFFER(context)), 0);
        report(t, context, id, sequence + i, 1);
        retire(t, context, id, sequence + i, false);
        leave(t, context, 0, sequence + i);
    }
}

/* One context signals, the other waits. */
static void synchronize(struct teller *t, unsigned context)
{
    unsigned object = (unsigned)rng_below(&t->rng, 2), waiter = 1 - context;
    uint64_t value = ++t->fence[object], sequence = t->sequence[waiter]++;

    TELL(t, client(t), 244, 1, handle(t, CONTEXT(waiter)), sequence, 0, handle(t, OBJECT(object)),
         value, handle(t, 0x2000));
    TELL(t, client(t), 245, 2, handle(t, CONTEXT(context)), t->sequence[context], 0, 1,
         handle(t, OBJECT(object)), value, handle(t, 0x2000));
    leave(t, context, 1, t->sequence[context]++);
    leave(t, waiter, 4, sequence);
}

/* ---- memory, display ---- */

static void make_resident(struct teller *t)
{
    uint64_t which = rng_below(&t->rng, ALLOCATIONS), allocation = handle(t, ALLOCATION(which));
    bool pending = rng_below(&t->rng, 2);
    uint64_t segment = 1 + rng_below(&t->rng, 2), size = UINT64_C(4096) << which;

    t->paging_fence += pending;
    TELL(t, client(t), 338, 0, handle(t, QUEUE), handle(t, OBJECT(2)), 1, 0);
    TELL(t, client(t), 339, 0, pending ? 0x103u : 0u, 0, pending ? t->paging_fence : 0u);
    if (!pending)
        return;
    TELL(t, client(t), 322, 1, handle(t, DEVICE), handle(t, QUEUE), handle(t, 0x3000),
         t->paging_fence, 2, allocation, 0);
    TELL(t, SYSTEM, 324, 0, handle(t, QUEUE), handle(t, 0x3000), t->paging_fence);
    TELL(t, SYSTEM, 307, 0, handle(t, ADAPTER), handle(t, BUFFER(9)), 0, allocation, 0, size, 0,
         segment, 0x10000 + t->world->handles);
    TELL(t, SYSTEM, 310, 0, handle(t, ADAPTER), handle(t, BUFFER(9)), 0, allocation, 1,
         0x4000 + t->world->handles, 0, 0x10000, 0x20000);
    if (rng_below(&t->rng, 2))
        TELL(t, SYSTEM, 306, 0, handle(t, ADAPTER), handle(t, BUFFER(9)), 0, allocation, 0, size,
             t->world->system_segment, segment, 0x1000, 0x2000, 0, 1, 0, 0);
    TELL(t, SYSTEM, 178, 1, handle(t, CONTEXT(4)), 2, t->paging, 64, 0, 0, 0, handle(t, BUFFER(9)),
         handle(t, 0x1000), 0);
    TELL(t, SYSTEM, 175, 1, handle(t, CONTEXT(4)), handle(t, 0x1000), 2, t->paging, t->paging,
         handle(t, BUFFER(9)), 0);
    TELL(t, SYSTEM, 177, 1, handle(t, CONTEXT(4)), 2, t->paging, t->paging, 1, 0, 0, 0, 0);
    t->paging++;
    TELL(t, SYSTEM, 325, 0, handle(t, QUEUE), handle(t, 0x3000), t->paging_fence,
         10 + t->world->numbers);
}

static void flip(struct teller *t)
{
    uint64_t allocation = ALLOCATION(rng_below(&t->rng, 2));

    TELL(t, SYSTEM, 116, 0, handle(t, ADAPTER), 0, t->flip, handle(t, allocation),
         0x1000 + t->world->handles, 1, t->flip, 1, 4);
    TELL(t, 0, 17, 0, handle(t, ADAPTER), 1, 0x1000 + t->world->handles, 0, t->frame,
         7 * t->world->numbers, 0, 0, t->flip);
    t->frame++;
    t->flip++;
}

/* ---- the whole ---- */

static void begin(struct teller *t)
{
    TELL(t, client(t), 27, 0, client(t), handle(t, ADAPTER), 1, handle(t, DEVICE), 0, 0);
    for (unsigned i = 0; i < CLIENTS; i++)
        TELL(t, client(t), 30, 0, handle(t, DEVICE), 0, 1, 0, 0, 0, 0, 0, 0, handle(t, CONTEXT(i)),
             0, 0);
    for (unsigned i = 0; i < 4; i++)
        TELL(t, SYSTEM, 23, 0, handle(t, ADAPTER), handle(t, CONTEXT(i)), 0, 1, 1, 1);
    TELL(t, SYSTEM, 23, 0, handle(t, ADAPTER), handle(t, CONTEXT(4)), 1, 1, 1, 1);
    for (unsigned i = 1; i <= SEGMENTS; i++)
        TELL(t, SYSTEM, 78, 0, i, handle(t, ADAPTER), 0, 0, 1 << 20, 0, 0, 0, 0);
    if (t->world->others)
        TELL(t, OTHER_PROCESS, 178, 1, handle(t, CONTEXT(3)), 0, t->sequence[3], 64, 2, 0, 0, 0, 0,
             0);
    work(t, 0); /* so that each lane begins with a packet of its own */
    work(t, 1);
}

void story_make(struct story *story, uint64_t seed, const struct story_world *world)
{
    uint64_t n = world->numbers;
    struct teller t = {story,
                       {seed},
                       {seed},
                       world,
                       100 + n,
                       7 + 3 * n,
                       {n, 2 * n},
                       20 + n,
                       5 + n,
                       9 + n,
                       {11 + n, 30 + 2 * n, 0, 500},
                       40 + n};

    story->events = 0;
    begin(&t);
    preempt(&t, 0);
    synchronize(&t, 0);
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned context = (unsigned)rng_below(&t.rng, CLIENTS);

        switch (rng_below(&t.rng, 6)) {
        case 0:
            preempt(&t, context);
            break;
        case 1:
            synchronize(&t, context);
            break;
        case 2:
            make_resident(&t);
            break;
        case 3:
            flip(&t);
            break;
        default:
            work(&t, context);
            break;
        }
    }
    for (unsigned i = 0; i < 4; i++) { /* some of each in every story */
        make_resident(&t);
        flip(&t);
        synchronize(&t, i % 2);
        work(&t, i % 2);
    }
}

void story_record(const struct story *story, struct recording *r)
{
    recording_begin(r);
    for (size_t i = 0; i < story->events; i++) {
        r->process = story->event[i].process;
        r->thread = story->event[i].thread;
        recording_event(r, story->event[i].id, story->event[i].version, story->event[i].value,
                        story->event[i].values);
        r->now += 9; /* us */
    }
}

/* ---- changes ---- */

static unsigned field_of(const struct story_event *event, const char *field)
{
    const struct wintrace_kind *kind = wintrace_kind_find(event->id, event->version);
    unsigned i = 0;

    CHECK(kind);
    while (i < kind->fields && strcmp(kind->field[i].name, field) != 0)
        i++;
    CHECK(i < event->values);
    return i;
}

uint64_t story_get(const struct story *story, size_t event, const char *field)
{
    return story->event[event].value[field_of(&story->event[event], field)];
}

size_t story_find(const struct story *story, uint16_t id, const char *field, uint64_t value,
                  unsigned n)
{
    size_t i = 0;

    for (; i < story->events; i++)
        if (story->event[i].id == id && (!field || story_get(story, i, field) == value) && n-- == 0)
            break;
    CHECK(i < story->events);
    return i;
}

void story_set(struct story *story, size_t event, const char *field, uint64_t value)
{
    story->event[event].value[field_of(&story->event[event], field)] = value;
}

void story_drop(struct story *story, size_t event)
{
    story->events--;
    memmove(&story->event[event], &story->event[event + 1],
            (story->events - event) * sizeof(story->event[0]));
}

void story_swap(struct story *story, size_t a, size_t b)
{
    struct story_event kept = story->event[a];

    story->event[a] = story->event[b];
    story->event[b] = kept;
}
