/* SPDX-License-Identifier: MIT */
/* The model against the host's records, and against what the GPU finds in its page tables. */
#include "gpu_memory_fuzz.h"

#include "nt/ps/process.h"
#include "util/list.h"
#include "vidmm/check/table_check.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/va_bind.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"
#include "vidmm/vidmm.h"

/* ---- violations ---- */

void fuzz_check_records(void)
{
    const struct verify_log *log = fuzz_run->probe->log;

    for (; fuzz_run->records < verify_records(log); fuzz_run->records++) {
        const struct verify_record *r = verify_record_at(log, fuzz_run->records);

        if (r->severity < VERIFY_ERROR || r->client)
            continue;
        fprintf(stderr, "%s: %s (%s)\n", r->rule, r->seen, r->where);
        MUST(r->client);
    }
}

void fuzz_trace(const char *format, ...)
{
    static int wanted = -1;
    va_list arguments;

    if (wanted < 0)
        wanted = getenv("FUZZ_TRACE") != NULL;
    if (!wanted)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* ---- the host's record ---- */

static struct vidmm *vidmm_now(void)
{
    return fuzz_run->probe->adapters
               ? vidmm_of_adapter(port_adapter_ddi(fuzz_run->probe->adapter[0]))
               : NULL;
}

static void dump_allocations(void)
{
    const struct vidmm *vidmm = fuzz_run->probe ? vidmm_now() : NULL;

    if (!vidmm)
        return;
    LIST_FOR(node, &vidmm->allocations) {
        const struct vidmm_allocation *a = CONTAINER(node, struct vidmm_allocation, link);

        fprintf(stderr,
                "host allocation %u: %llu pages in segment %u from %llu, %u runs; resident %d, ready "
                "%d, refs %u, pins %u, users %u, locks %u, internal %d, physical %d, offered %d\n",
                a->number.of_all, (unsigned long long)a->pages, a->segment,
                a->run_count ? (unsigned long long)a->runs[0].first : 0, a->run_count, a->resident,
                a->ready, a->device_references, a->pins, a->users, a->view.lock_count, a->internal,
                a->accessed_physically, a->offer.in_force);
    }
}

void fuzz_dump(void)
{
    const struct verify_log *log = fuzz_run->probe ? fuzz_run->probe->log : NULL;

    fprintf(stderr, "operation %u, process %u, failing allocation %llu\n", fuzz_run->operations,
            fuzz_run->turn, (unsigned long long)fuzz_fail_at);
    dump_allocations();
    for (unsigned i = 0; fuzz_run->turn < PROCESSES && i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++) {
            const struct fuzz_device *d = &fuzz_run->process[i].device[k];

            if (d->live)
                fprintf(
                    stderr,
                    "device %u of process %u%s: queue %llu of %llu, fence %llu of %llu, packet %llu "
                    "of %llu\n",
                    k, i, d->lost ? ", lost" : "", (unsigned long long)*d->queue_value,
                    (unsigned long long)d->queued, (unsigned long long)*d->fence_value,
                    (unsigned long long)d->signals, (unsigned long long)d->done,
                    (unsigned long long)d->given);
        }
    if (probe_refused_call)
        fprintf(stderr, "last refusal: %s: %s %s\n", probe_refused_call, probe_refused_rule,
                probe_refused_text);
    for (size_t i = 0; log && i < verify_records(log) && i < 40; i++) {
        const struct verify_record *r = verify_record_at(log, i);

        if (r->severity >= VERIFY_WARNING)
            fprintf(stderr, "record %s: %s (%s)\n", r->rule, r->seen, r->where);
    }
}

static struct vidmm_space *space_of(const struct fuzz_process *process)
{
    struct vidmm *vidmm = vidmm_now();

    if (!vidmm)
        return NULL;
    LIST_FOR(node, &vidmm->processes) {
        struct vidmm_process *p = CONTAINER(node, struct vidmm_process, link);

        if (p->nt == process->client->nt && p->space)
            return p->space;
    }
    return NULL;
}

static bool is_clients(const struct va_range *range)
{
    return range->kind == RANGE_MAP || range->kind == RANGE_RESERVATION;
}

bool fuzz_host_has(uint64_t first, uint64_t pages)
{
    const struct vidmm_space *space = space_of(fuzz_me());

    if (!space)
        return false;
    for (struct va_range *r = range_from(space, first); r && r->span.first < first + pages;
         r = range_next(r))
        if (!is_clients(r))
            return true;
    return false;
}

static const struct vidmm_allocation *host_allocation(const struct vidmm_space *space,
                                                      unsigned allocation)
{
    for (unsigned k = 0; k < DEVICES; k++) {
        const D3DKMT_HANDLE handle =
            fuzz_run->allocation[allocation].open[fuzz_my_number()][k].handle;

        if (handle)
            return va_find_allocation(space->process, handle);
    }
    return NULL;
}

bool fuzz_host_ready(unsigned allocation)
{
    const struct vidmm_space *space = space_of(fuzz_me());
    const struct vidmm_allocation *host = space ? host_allocation(space, allocation) : NULL;

    return host && host->ready;
}

static void compare_stretch(void *arg, struct va_range *range, struct va_piece *piece,
                            uint64_t first, uint64_t end)
{
    const struct fuzz_range *mine = arg;
    const enum entry_state state = piece ? piece->state : range->initial;

    while (first < end) {
        const struct fuzz_piece *p = fuzz_piece_at(mine, first);
        const uint64_t stop = p && p->first + p->pages < end ? p->first + p->pages : end;

        MUST(p && (state == ENTRY_PAGES) == (p->state == STATE_PAGES) &&
             (state == ENTRY_ZERO) == (p->state == STATE_ZERO));
        if (state == ENTRY_PAGES) {
            const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Value = piece->protection};

            MUST(piece->allocation == host_allocation(range->space, p->allocation));
            MUST(piece->offset + (first - piece->span.first) == p->offset + (first - p->first));
            MUST(protection.Write == p->write && protection.Execute == p->execute);
            MUST(piece->driver_protection == p->driver);
        }
        first = stop;
    }
}

static void compare_record(struct fuzz_process *me, struct vidmm_space *space)
{
    unsigned at = 0;

    for (struct va_range *r = range_from(space, 0); r; r = range_next(r)) {
        const struct fuzz_range *mine = &me->range[at];

        if (!is_clients(r)) {
            MUST(!fuzz_taken(me, r->span.first, r->span.pages));
            continue;
        }
        MUST(at < me->ranges && mine->first == r->span.first && mine->pages == r->span.pages);
        MUST(mine->reservation == (r->kind == RANGE_RESERVATION) && mine->no_commit == r->no_commit);
        MUST(list_empty(&r->jobs));
        range_each_stretch(r, r->span.first, r->span.first + r->span.pages, compare_stretch,
                           &me->range[at]);
        at++;
    }
    MUST(at == me->ranges);
}

/* ---- what the GPU finds ---- */

bool fuzz_is_offered(const struct fuzz_allocation *a)
{
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++)
            if (a->open[i][k].offered)
                return true;
    return false;
}

static void check_page(HANDLE context, const struct fuzz_piece *piece, uint64_t page)
{
    const struct fuzz_translation t = fuzz_gpu_walk(context, page * PAGE);
    const struct fuzz_allocation *a = &fuzz_run->allocation[piece->allocation];
    const uint64_t at = piece->offset + (page - piece->first);
    const struct fuzz_word *word;
    uint64_t value;

    if (piece->state == STATE_ZERO) {
        MUST(t.valid && t.zero);
        return;
    }
    if (piece->state == STATE_INVALID) {
        MUST(!t.valid);
        return;
    }
    if (!t.valid || fuzz_is_offered(a))
        return;
    word = &a->word[at];
    MUST(!t.zero && t.read_only == !piece->write);
    MUST(!fuzz_run->shape.no_execute || t.no_execute == !piece->execute);
    MUST(fuzz_gpu_touch(t.segment, t.offset, &value, 8, false));
    if (word->known && value != word->value)
        fprintf(stderr, "page 0x%llx (page %llu of allocation %u) has 0x%llx, not 0x%llx\n",
                (unsigned long long)page, (unsigned long long)at, piece->allocation,
                (unsigned long long)value, (unsigned long long)word->value);
    MUST(!word->known || value == word->value);
}

static void check_tables(const struct fuzz_process *me)
{
    HANDLE context = NULL;

    for (unsigned k = 0; k < DEVICES && !context; k++)
        if (me->device[k].live && !me->device[k].lost)
            context = me->device[k].own_context;
    for (unsigned i = 0; context && i < me->ranges; i++)
        for (unsigned k = 0; k < me->range[i].count; k++) {
            const struct fuzz_piece *p = &me->range[i].piece[k];

            check_page(context, p, p->first);
            check_page(context, p, p->first + p->pages - 1);
            check_page(context, p, p->first + p->pages / 2);
        }
}

/* ---- all ---- */

void fuzz_check_all(void)
{
    struct fuzz_process *me = fuzz_me();
    struct vidmm_space *space;

    fuzz_drain();
    fuzz_check_records();
    if (fuzz_run->removed)
        return;
    probe_validate(fuzz_run->probe);
    space = space_of(me);
    if (space && me->adapter) {
        compare_record(me, space);
        check_tables(me);
    }
}
