/* SPDX-License-Identifier: MIT */
/* Ranges of processes: a tree by address, and a list of those that are accessible now. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "nt/mm/user_range.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "nt/base/state.h"
#include "sim/fault.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "util/map.h"
#include "util/span_tree.h"

struct nt_user_range {
    struct span_node span;            /* by page of the host's address space */
    struct list of_process;           /* in the process's list */
    struct list open;                 /* in nt_user_ranges.open, or not in a list */
    const struct nt_process *process; /* NULL: it has ended */
    enum nt_user_access access;
    const char *rule;
    char what[96];
};

struct nt_user_ranges {
    struct span_tree tree;
    struct list open;
};

static struct nt_user_range *range_at(const void *address)
{
    struct nt *nt = nt_state();
    struct span_node *span = nt ? span_at(&nt->user_ranges->tree, (uintptr_t)address / PAGE_BYTES)
                                : NULL;

    return span ? CONTAINER(span, struct nt_user_range, span) : NULL;
}

static bool protect(const struct nt_user_range *range, int protection)
{
    return util_protect((void *)(uintptr_t)(range->span.first * PAGE_BYTES),
                        range->span.pages * PAGE_BYTES, protection) == 0;
}

static bool is_open(const struct nt_user_range *range)
{
    return !list_empty(&range->open);
}

/* One that is not open. */
static bool open_range(struct nt_user_range *range)
{
    if (range->access == NT_USER_TRAPPED ||
        !protect(range, range->access == NT_USER_WRITE ? PROT_READ | PROT_WRITE : PROT_READ))
        return false;
    list_push_back(&nt_state()->user_ranges->open, &range->open);
    return true;
}

static void close_range(struct nt_user_range *range)
{
    (void)protect(range, PROT_NONE);
    list_remove(&range->open);
}

static bool is_current(const struct nt_user_range *range)
{
    return range->process == nt_process_current();
}

/* ---- what follows the current process ---- */

/* Called in a signal handler: nothing here allocates or takes a lock. */
bool nt_user_range_touched(const void *address)
{
    struct nt_user_range *range = range_at(address);

    return range && is_current(range) && !is_open(range) && open_range(range);
}

static void process_changed(void)
{
    struct list *open = &nt_state()->user_ranges->open;

    while (!list_empty(open))
        close_range(CONTAINER(open->next, struct nt_user_range, open));
}

static bool init(struct nt *nt)
{
    list_init(&nt->user_ranges->open);
    sim_on_process(process_changed, nt_user_range_denies);
    return true;
}

static void destroy(struct nt_user_range *range)
{
    struct nt *nt = nt_state();

    list_remove(&range->open);
    list_remove(&range->of_process);
    span_remove(&nt->user_ranges->tree, &range->span);
    util_free(range);
}

static void finish(struct nt *nt)
{
    struct span_node *span;

    sim_on_process(NULL, NULL);
    while ((span = span_first(&nt->user_ranges->tree)) != NULL)
        destroy(CONTAINER(span, struct nt_user_range, span));
}

const struct nt_component nt_user_range_component = {
    .slot = offsetof(struct nt, user_ranges),
    .bytes = sizeof(struct nt_user_ranges),
    .init = init,
    .finish = finish,
};

/* Ranges that are left have no process, until their creators remove them. */
void nt_user_range_orphan_all(struct nt_process *process)
{
    struct list *node;

    while ((node = list_pop_front(&process->user_ranges)) != NULL) {
        struct nt_user_range *range = CONTAINER(node, struct nt_user_range, of_process);

        close_range(range);
        range->process = NULL;
    }
}

/* ---- for those who make user mappings ---- */

bool nt_user_range_add(struct nt_process *process, void *base, uint64_t bytes,
                       enum nt_user_access access, const char *rule, const char *what)
{
    struct nt_user_range *range = util_zalloc(1, sizeof(*range));

    if (!range)
        return false;
    range->span.first = (uintptr_t)base / PAGE_BYTES;
    range->span.pages = (align_up((uintptr_t)base + bytes, PAGE_BYTES) / PAGE_BYTES) -
                        range->span.first;
    range->process = process;
    range->access = access;
    range->rule = rule;
    snprintf(range->what, sizeof(range->what), "%s", what);
    if (!protect(range, PROT_NONE)) {
        util_free(range);
        return false;
    }
    list_init(&range->open);
    list_push_back(&process->user_ranges, &range->of_process);
    span_insert(&nt_state()->user_ranges->tree, &range->span);
    return true;
}

void nt_user_range_remove(const void *base)
{
    struct nt_user_range *range = range_at(base);

    if (!range)
        return;
    (void)protect(range, PROT_NONE);
    destroy(range);
}

bool nt_user_range_admit(const void *base)
{
    struct nt_user_range *range = range_at(base);

    return !range || is_open(range) || open_range(range);
}

void nt_user_range_shut(const void *base)
{
    struct nt_user_range *range = range_at(base);

    if (range)
        close_range(range);
}

/* ---- questions ---- */

bool nt_user_range_holds(const void *address)
{
    return range_at(address) != NULL;
}

bool nt_user_range_denies(const void *address)
{
    const struct nt_user_range *range = range_at(address);

    return range && !is_current(range);
}

const char *nt_user_range_describe(const void *address, char *text, size_t bytes)
{
    const struct nt_user_range *range = range_at(address);

    if (!range)
        return NULL;
    snprintf(text, bytes, "%s of %s while %s is current", range->what,
             range->process ? range->process->name : "a process that has ended",
             nt_process_current()->name);
    return range->rule;
}
