/* SPDX-License-Identifier: MIT */
/* Tasks and their vector clocks, and the marks through which clocks get from one to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race/record.h"

#define MAX_TASKS     8192u
#define MAX_STRANGERS 65536u
#define DISPATCH      2u

/* ---- clocks ---- */

static bool reach(struct race_clock *clock, uint32_t count)
{
    uint32_t *time;

    if (count <= clock->count)
        return true;
    count = (count + 15u) & ~15u;
    time = realloc(clock->time, count * sizeof(*time));
    if (!time)
        return false;
    memset(time + clock->count, 0, (count - clock->count) * sizeof(*time));
    clock->time = time;
    clock->count = count;
    return true;
}

static void join(struct race_clock *to, const struct race_clock *from)
{
    if (!reach(to, from->count))
        return;
    for (uint32_t i = 0; i < from->count; i++)
        if (from->time[i] > to->time[i])
            to->time[i] = from->time[i];
}

static void free_mark(void *value)
{
    struct race_mark *mark = value;

    free(mark->clock.time);
    free(mark);
}

/* ---- tasks ---- */

struct race *race_create(unsigned processors)
{
    struct race *race = calloc(1, sizeof(*race));

    if (race) {
        race->processors = processors;
        race->carrier.carrier = true;
    }
    return race;
}

void race_destroy(struct race *race)
{
    if (!race)
        return;
    for (uint32_t i = 0; i < race->tasks; i++) {
        free(race->task[i]->knows.time);
        free(race->task[i]);
    }
    for (unsigned i = 0; i < RACE_PROCESSORS; i++)
        for (unsigned level = 0; level < RACE_LEVELS; level++)
            free(race->level[i][level].time);
    free(race->carrier.knows.time);
    race_table_finish(&race->marks, free_mark);
    race_shadow_finish(race);
    race_calls_finish(race);
    free(race->task);
    free(race);
}

static bool make_room(struct race *race)
{
    uint32_t room = race->room ? race->room * 2 : 64;
    struct race_task **task;

    if (race->tasks < race->room)
        return true;
    task = realloc(race->task, room * sizeof(struct race_task *));
    if (!task)
        return false;
    race->task = task;
    race->room = room;
    return true;
}

/* A task that has ended, if there are too many. */
static struct race_task *used_again(struct race *race)
{
    struct race_task *task = race->first_ended;

    if (!task || (race->ended <= RACE_ENDED && race->tasks < MAX_TASKS))
        return NULL;
    race->first_ended = task->next_ended;
    race->ended--;
    return task;
}

/* It knows nothing, and what its number did before is over. */
static void begin_anew(struct race_task *task, const char *name)
{
    uint32_t time = task->knows.time[task->number] + 1;

    memset(task->knows.time, 0, task->knows.count * sizeof(*task->knows.time));
    task->knows.time[task->number] = time;
    task->place = task->beyond = 0;
    task->next_ended = NULL;
    snprintf(task->name, sizeof(task->name), "%s", name);
}

/* A task that knows nothing; NULL: out of memory. */
static struct race_task *take_task(struct race *race, const char *name)
{
    struct race_task *task = used_again(race);

    if (!task) {
        if (race->tasks >= MAX_TASKS || !make_room(race))
            return NULL;
        task = calloc(1, sizeof(*task));
        if (!task)
            return NULL;
        task->number = (uint16_t)race->tasks;
        race->task[race->tasks++] = task;
    }
    if (!reach(&task->knows, task->number + 1u))
        return NULL;
    begin_anew(task, name);
    return task;
}

struct race_task *race_task_create(struct race *race, const char *name)
{
    struct race_task *task = take_task(race, name);

    if (task && race->current) {
        join(&task->knows, &race->current->knows);
        if (!race->current->carrier)
            race->current->knows.time[race->current->number]++;
    }
    return task;
}

/* Its accesses are still compared. */
void race_task_end(struct race *race, struct race_task *task)
{
    if (!task)
        return;
    if (race->first_ended)
        race->last_ended->next_ended = task;
    else
        race->first_ended = task;
    race->last_ended = task;
    race->ended++;
}

struct race_task *race_task_restart(struct race *race, struct race_task *task)
{
    struct race_task **oldest = &race->left[race->lefts % RACE_LEFT];
    struct race_task *next = *oldest;
    char name[sizeof(task->name)];

    memcpy(name, task->name, sizeof(name));
    if (next)
        begin_anew(next, name);
    else
        next = take_task(race, name);
    if (!next) {
        begin_anew(task, name);
        return task;
    }
    *oldest = task;
    race->lefts++;
    if (race->current == task)
        race->current = next;
    return next;
}

struct race_task *race_switch(struct race *race, struct race_task *task)
{
    struct race_task *before = race->current;

    race->current = task;
    return before;
}

const void *race_outer(const struct race *race)
{
    return race->current ? race->current->outer : NULL;
}

struct race_task *race_begin(struct race *race, unsigned processor, uint8_t irql, const void *outer)
{
    struct race_task *before = race_switch(race, NULL);
    struct race_task **task = &race->dpc[processor][irql % RACE_LEVELS];
    char name[32];

    if (!*task) {
        if (irql == DISPATCH)
            snprintf(name, sizeof(name), "DPC");
        else
            snprintf(name, sizeof(name), "interrupt");
        *task = race_task_create(race, name);
    }
    race->current = *task;
    if (*task) {
        (*task)->place = (*task)->beyond = 0;
        (*task)->outer = outer;
        join(&(*task)->knows, &race->level[processor][irql % RACE_LEVELS]);
    }
    return before;
}

static void release_to(struct race *race, struct race_clock *clock)
{
    struct race_task *task = race->current;

    join(clock, &task->knows);
    if (!task->carrier)
        task->knows.time[task->number]++;
}

void race_end(struct race *race, unsigned processor, uint8_t irql, struct race_task *before)
{
    if (race->current)
        release_to(race, &race->level[processor][irql % RACE_LEVELS]);
    race->current = before;
}

/* ---- marks ---- */

static struct race_mark *find_mark(const struct race *race, const volatile void *object)
{
    return race_table_get(&race->marks, (uintptr_t)object);
}

static struct race_mark *mark_of(struct race *race, const volatile void *object)
{
    void **place = race_table_put(&race->marks, (uintptr_t)object);
    struct race_mark *mark;

    if (!place || *place)
        return place ? *place : NULL;
    mark = *place = calloc(1, sizeof(*mark));
    if (mark) {
        struct race_page *page = race_page_of(race, (uintptr_t)object);

        mark->object = (uintptr_t)object;
        mark->next = page ? page->marks : NULL;
        if (page)
            page->marks = mark;
    }
    return mark;
}

bool race_carries(struct race *race, const volatile void *address)
{
    if (race_watches(race, address) || find_mark(race, address))
        return true;
    return race->strangers < MAX_STRANGERS && ++race->strangers;
}

void race_release(struct race *race, const volatile void *object)
{
    struct race_mark *mark = race->current ? mark_of(race, object) : NULL;

    if (mark)
        release_to(race, &mark->clock);
}

void race_acquire(struct race *race, const volatile void *object)
{
    const struct race_mark *mark = find_mark(race, object);

    if (mark && race->current)
        join(&race->current->knows, &mark->clock);
}

void race_relay(struct race *race, const volatile void *from, const volatile void *to)
{
    const struct race_mark *mark = find_mark(race, from);
    struct race_mark *other = mark ? mark_of(race, to) : NULL;

    if (other)
        join(&other->clock, &mark->clock);
}

void race_forget(struct race *race, const volatile void *object)
{
    struct race_mark *mark = find_mark(race, object);

    if (mark && mark->clock.count)
        memset(mark->clock.time, 0, mark->clock.count * sizeof(*mark->clock.time));
}

struct race_task *race_carry(struct race *race, const volatile void *object)
{
    const struct race_mark *mark = find_mark(race, object);

    if (race->carrier.knows.count)
        memset(race->carrier.knows.time, 0,
               race->carrier.knows.count * sizeof(*race->carrier.knows.time));
    if (mark)
        join(&race->carrier.knows, &mark->clock);
    return race_switch(race, &race->carrier);
}

/* ---- levels ---- */

void race_raise(struct race *race, unsigned processor, uint8_t from, uint8_t to)
{
    for (unsigned level = from < DISPATCH ? DISPATCH : from + 1u;
         race->current && level <= to && level < RACE_LEVELS; level++)
        join(&race->current->knows, &race->level[processor][level]);
}

void race_lower(struct race *race, unsigned processor, uint8_t from, uint8_t to)
{
    for (unsigned level = to < DISPATCH ? DISPATCH : to + 1u;
         race->current && level <= from && level < RACE_LEVELS; level++)
        release_to(race, &race->level[processor][level]);
}

void race_barrier(struct race *race)
{
    for (uint32_t i = 0; i < race->tasks; i++) {
        struct race_task *task = race->task[i];

        if (race_knows(task, task->number))
            task->barrier = task->knows.time[task->number]++;
    }
}

void race_acquire_dpcs(struct race *race)
{
    for (unsigned i = 0; race->current && i < race->processors; i++)
        join(&race->current->knows, &race->level[i][DISPATCH]);
}
