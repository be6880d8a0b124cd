/* SPDX-License-Identifier: MIT */
/* Page tables that leave video memory and come back on a started adapter: what the driver is asked to do, when, and what the tables say. */
#include "port/record/adapter_record.h"
#include "port/support/paged.h"
#include "port/support/va_shadow.h"
#include "util/extent.h"
#include "vidmm/record/vidmm_record.h"

#include <string.h>

#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define FLUSH  DXGK_OPERATION_FLUSH_TLB
#define PIECE  (64ull << 10)
#define PAGES  16u
#define LEAVES 3u
#define LEAF   (2 * PAGED_MIB) /* what a table of level 0 covers */
#define BASE   (1024 * PAGED_MIB)

static const DXGK_PAGETABLEUPDATEMODE modes[] = {DXGK_PAGETABLEUPDATE_CPU_VIRTUAL,
                                                 DXGK_PAGETABLEUPDATE_GPU_VIRTUAL,
                                                 DXGK_PAGETABLEUPDATE_GPU_PHYSICAL};

/* ---- what the driver sees ---- */

enum seen_kind { SEEN_UPDATE, SEEN_FLUSH, SEEN_ROOT, SEEN_SUBMIT, SEEN_EVICTED };

static struct {
    enum seen_kind kind;
    uint64_t time;
    DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE update;
    DXGK_PTE entry;
    DXGK_BUILDPAGINGBUFFER_FLUSHTLB flush;
    HANDLE context;
} seen[8192];
static unsigned seen_count;

static HANDLE process_of[4]; /* the driver's, of client processes in order */
static unsigned processes;

static void note(enum seen_kind kind, const struct probe_call *call)
{
    if (seen_count == sizeof(seen) / sizeof(seen[0]))
        fail_msg("too many operations");
    memset(&seen[seen_count], 0, sizeof(seen[0]));
    seen[seen_count].kind = kind;
    seen[seen_count++].time = call->time;
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (args->Operation == UPDATE) {
        note(SEEN_UPDATE, call);
        seen[seen_count - 1].update = args->UpdatePageTable;
        seen[seen_count - 1].entry = args->UpdatePageTable.pPageTableEntries[0];
    } else if (args->Operation == FLUSH) {
        note(SEEN_FLUSH, call);
        seen[seen_count - 1].flush = args->FlushTlb;
    } else if (args->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
               args->TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM) {
        note(SEEN_EVICTED, call);
    }
}

static void note_root(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETROOTPAGETABLE *args = (const DXGKARG_SETROOTPAGETABLE *)(uintptr_t)call->arg[1];

    (void)p;
    note(SEEN_ROOT, call);
    seen[seen_count - 1].context = args->hContext;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    note(SEEN_SUBMIT, call);
    seen[seen_count - 1].context = args->hContext;
}

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemProcess)
        process_of[processes++] = args->hKmdProcess;
}

static UINT segments; /* for what is created from now on */
static UINT priority; /* of the same; 0: the default */
static bool contiguous;

static void in_segments(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++)
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = segments;
    for (UINT i = 0; i < args->NumAllocations && contiguous; i++)
        args->pAllocationInfo[i].FlagsWddm2.AccessedPhysically = 1;
    for (UINT i = 0; i < args->NumAllocations && priority; i++)
        args->pAllocationInfo[i].AllocationPriority = priority;
}

static struct probe *created(DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = probe_create(NULL);

    seen_count = processes = 0;
    contiguous = false;
    segments = 1;
    priority = 0;
    va_shadow_begin(p);
    va_shadow.operation = note_operation;
    p->after[PROBE_SetRootPageTable] = note_root;
    p->after[PROBE_SubmitCommandVirtual] = note_submission;
    p->after[PROBE_CreateProcess] = note_process;
    p->after[PROBE_CreateAllocation] = in_segments;
    p->mmu.PageTableUpdateMode = mode;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static bool is_update_of(unsigned i, HANDLE process)
{
    return seen[i].kind == SEEN_UPDATE && seen[i].update.hProcess == process;
}

static bool is_notice(unsigned i, HANDLE process)
{
    return is_update_of(i, process) && seen[i].update.Flags.NotifyEviction;
}

/* Tables of the process that have been begun. */
static unsigned begun(unsigned from, unsigned to, HANDLE process)
{
    unsigned count = 0;

    for (unsigned i = from; i < to; i++)
        count += is_update_of(i, process) && seen[i].update.Flags.InitialUpdate;
    return count;
}

static unsigned notices(unsigned from, HANDLE process)
{
    unsigned count = 0;

    for (unsigned i = from; i < seen_count; i++)
        count += is_notice(i, process);
    return count;
}

/* The first from `from` on; seen_count: there is none. */
static unsigned first_of(enum seen_kind kind, HANDLE context, unsigned from)
{
    unsigned i = from;

    while (i < seen_count && !(seen[i].kind == kind && seen[i].context == context))
        i++;
    return i;
}

static unsigned first_notice(unsigned from, HANDLE process)
{
    while (from < seen_count && !is_notice(from, process))
        from++;
    return from;
}

/* ---- clients ---- */

static struct probe_gpu one, two;
static D3DKMT_HANDLE mapped;
static struct va_shadow_context *context;
static unsigned tables;   /* of the first client */
static unsigned evicting; /* operations before the second client begins to want memory */

static void map_pages(uint64_t base)
{
    CHECK(paged_map(&one, mapped, base, 0, PAGES) == base);
}

/* Some pages in each of some leaves; and they are used. */
static void use(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    context = &va_shadow.context[va_shadow.contexts - 1];
    CHECK(NT_SUCCESS(probe_gpu_allocate(&one, PAGES * PAGED_PAGE, &mapped)));
    for (unsigned i = 0; i < LEAVES; i++)
        map_pages(BASE + i * LEAF);
    CHECK(NT_SUCCESS(probe_gpu_submit(&one)) && NT_SUCCESS(probe_gpu_wait_idle(&one)));
    tables = begun(0, seen_count, process_of[0]);
    CHECK(tables >= LEAVES + 3);
}

static void submit(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_submit(&one)) && NT_SUCCESS(probe_gpu_wait_idle(&one)));
}

static D3DKMT_HANDLE filling[512];
static unsigned fillings;

/* As much as fits beside what stays for good. */
static void fill_by(uint64_t bytes)
{
    D3DDDI_MAKERESIDENT args;
    NTSTATUS status;

    for (;;) {
        CHECK(fillings < 512 && NT_SUCCESS(paged_create(&two, bytes, &filling[fillings])));
        memset(&args, 0, sizeof(args));
        args.hPagingQueue = two.queue;
        args.NumAllocations = 1;
        args.AllocationList = &filling[fillings++];
        args.Flags.CantTrimFurther = 1;
        status = D3DKMTMakeResident(&args);
        if (!NT_SUCCESS(status))
            break;
        if (status == STATUS_PENDING)
            CHECK(NT_SUCCESS(paged_wait(&two, args.PagingFenceValue)));
    }
    CHECK(status == STATUS_NO_MEMORY);
}

static void fill_rest(struct probe *p)
{
    (void)p;
    fill_by(PIECE);
    fill_by(PAGED_PAGE);
}

static void fill(struct probe *p)
{
    evicting = seen_count;
    fillings = 0;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
    fill_rest(p);
}

static uint64_t free_bytes(const struct probe *p)
{
    return p->adapter[0]->managers.vidmm->segment[1].free.free_units * PAGED_PAGE;
}

/* Nobody has to go yet. */
static void fill_most(struct probe *p)
{
    fillings = 0;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
    while (free_bytes(p) > 2 * PIECE)
        CHECK(fillings < 512 && NT_SUCCESS(probe_gpu_allocate(&two, PIECE, &filling[fillings++])));
}

/* Not a page is free. */
static void fill_up(struct probe *p)
{
    fill_most(p);
    while (free_bytes(p) > 0)
        CHECK(fillings < 512 &&
              NT_SUCCESS(probe_gpu_allocate(&two, PAGED_PAGE, &filling[fillings++])));
}

static bool maps(uint64_t base)
{
    for (unsigned i = 0; i < PAGES; i++)
        if (!va_shadow_walk(context, base + i * PAGED_PAGE).Valid)
            return false;
    return true;
}

static void end(struct probe *p, struct probe_client *a, struct probe_client *b)
{
    if (b)
        probe_client_end(p, b);
    probe_client_end(p, a);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- out ---- */

/* The latest update of the entry above that leads to the addresses was before the notice, and made it invalid. */
static bool nothing_led_there(unsigned notice)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *of = &seen[notice].update;
    const uint64_t span = 4096ull << (9 * (of->PageTableLevel + 1));

    for (unsigned i = notice; i-- > 0;) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &seen[i].update;

        if (is_update_of(i, of->hProcess) && u->PageTableLevel == of->PageTableLevel + 1 &&
            u->FirstPteVirtualAddress <= of->FirstPteVirtualAddress &&
            of->FirstPteVirtualAddress < u->FirstPteVirtualAddress + u->NumPageTableEntries * span)
            return !seen[i].entry.Valid && !u->Flags.NotifyEviction && u->NumPageTableEntries == 1;
    }
    return of->PageTableLevel == 3;
}

static bool flushed_after(unsigned notice, uint64_t address)
{
    const bool root = seen[notice].update.PageTableLevel == 3;

    for (unsigned i = evicting; i < seen_count; i++)
        if (seen[i].kind == SEEN_FLUSH && seen[i].flush.hProcess == process_of[0] &&
            ((!root && i > notice && seen[i].flush.StartVirtualAddress <= address &&
              address < seen[i].flush.EndVirtualAddress) ||
             (seen[i].flush.StartVirtualAddress == 0 && seen[i].flush.EndVirtualAddress == 0)))
            return true;
    return false;
}

static void look_at_notices(struct probe *p)
{
    unsigned levels[4] = {0};

    (void)p;
    for (unsigned i = evicting; i < seen_count; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &seen[i].update;

        if (seen[i].kind == SEEN_UPDATE)
            CHECK_RULE("GPUVA-167", !u->Flags.NotifyEviction || u->hProcess == process_of[0]);
        if (!is_notice(i, process_of[0]))
            continue;
        levels[u->PageTableLevel]++;
        CHECK_RULE("GPUVA-168", u->Flags.Repeat && !u->Flags.InitialUpdate && u->StartIndex == 0 &&
                                    u->NumPageTableEntries == 512 && seen[i].entry.Flags == 0 &&
                                    !u->hAllocation);
        CHECK_RULE("GPUVA-166", nothing_led_there(i));
        CHECK_RULE("GPUVA-166", flushed_after(i, u->FirstPteVirtualAddress));
    }
    CHECK_RULE("GPUVA-167",
               levels[0] >= LEAVES && levels[1] >= 1 && levels[2] >= 1 && levels[3] == 1);
    CHECK_RULE("PAGE-068/b", notices(evicting, process_of[0]) == tables);
}

/* ---- back ---- */

/* Offsets of tables that have been begun since, and what was asked of others. */
static void look_at_return(unsigned from)
{
    const unsigned run = first_of(SEEN_SUBMIT, context->handle, from),
                   root = first_of(SEEN_ROOT, context->handle, from);
    for (unsigned i = from; i < run; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &seen[i].update;

        if (!is_update_of(i, process_of[0]))
            continue;
        CHECK_RULE("GPUVA-168", u->Flags.InitialUpdate || begun(from, i, process_of[0]) > 0);
        if (u->Flags.InitialUpdate)
            CHECK_RULE("GPUVA-168", u->Flags.Repeat && !seen[i].entry.Valid && u->StartIndex == 0 &&
                                        u->NumPageTableEntries == 512);
    }
    CHECK_RULE("GPUVA-168", begun(from, run, process_of[0]) == tables);
    CHECK_RULE("GPUVA-166", run < seen_count && root < run);
    CHECK_RULE("GPUVA-166", first_of(SEEN_ROOT, context->handle, root + 1) > run);
    for (unsigned i = root; i < run; i++)
        CHECK_RULE("GPUVA-166", !is_update_of(i, process_of[0]));
}

/* `from`: segments of what the tables lead to. */
static void out_and_back(DXGK_PAGETABLEUPDATEMODE mode, UINT from)
{
    struct probe *p = created(mode);
    struct probe_client *a, *b;
    unsigned mark;

    segments = from;
    a = probe_client_run(p, use);
    segments = 1;
    b = probe_client_run(p, fill);
    mark = seen_count;

    look_at_notices(p);
    /* memory of lower priority went first */
    CHECK_RULE("RES-053", (from == 1) == (first_of(SEEN_EVICTED, NULL, evicting) <
                                          first_notice(evicting, process_of[0])));
    for (unsigned i = 0; i < LEAVES; i++)
        CHECK(!maps(BASE + i * LEAF)); /* as the shadow has what was written last */
    /* nothing of it ran since */
    CHECK_RULE("GPUVA-166", first_of(SEEN_SUBMIT, context->handle, evicting) == seen_count);
    probe_client_go_on(p, a, submit);
    look_at_return(mark);
    for (unsigned i = 0; i < LEAVES; i++)
        CHECK_RULE("GPUVA-168", maps(BASE + i * LEAF));
    /* once more: they are there */
    mark = seen_count;
    probe_client_go_on(p, a, submit);
    CHECK_RULE("GPUVA-168", first_of(SEEN_ROOT, context->handle, mark) == seen_count);
    for (unsigned i = mark; i < seen_count; i++)
        CHECK_RULE("GPUVA-168", !is_update_of(i, process_of[0]));
    end(p, a, b);
}

TEST(tables_of_who_is_idle_leave_and_come_back)
{
    for (size_t i = 0; i < 3; i++) {
        out_and_back(modes[i], 1);
        out_and_back(modes[i], 2); /* of the system: nothing else of the client leaves */
    }
}

/* ---- who keeps its tables ---- */

#define PACKET_NS (PROBE_SECOND / 20)
#define PACKETS   40u

static void submit_some(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < PACKETS; i++)
        CHECK(NT_SUCCESS(probe_gpu_submit(&one)));
}

static void wait_idle(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&one)));
}

/* All that it wants has to be there at once. */
static void fill_and_run(struct probe *p)
{
    fill_rest(p);
    CHECK(NT_SUCCESS(probe_gpu_submit(&two)) && NT_SUCCESS(probe_gpu_wait_idle(&two)));
}

/* What has been given to the GPU has ended before a table leaves; the rest waits until all are back. */
static void look_at_turns(void)
{
    uint64_t busy_until = 0, turns = 0, submissions = 0;
    bool away = false;

    for (unsigned i = evicting; i < seen_count; i++) {
        if (seen[i].kind == SEEN_SUBMIT && seen[i].context == context->handle) {
            CHECK_RULE("GPUVA-166", !away);
            submissions++;
            busy_until = (seen[i].time > busy_until ? seen[i].time : busy_until) + PACKET_NS;
        } else if (is_notice(i, process_of[0])) {
            CHECK_RULE("GPUVA-166", seen[i].time >= busy_until);
            turns += !away;
            away = true;
        } else if (seen[i].kind == SEEN_ROOT && seen[i].context == context->handle) {
            away = false;
        }
    }
    CHECK_RULE("GPUVA-166", turns >= 1 && submissions == PACKETS);
}

TEST(who_executes_keeps_its_tables)
{
    for (size_t i = 0; i < 3; i++) {
        struct probe *p = created(modes[i]);
        struct probe_client *a = probe_client_run(p, use), *b = probe_client_run(p, fill_most);

        CHECK(notices(0, process_of[0]) == 0);
        evicting = seen_count;
        probe_device_packet_ns = PACKET_NS;
        probe_client_go_on(p, a, submit_some);
        probe_client_go_on(p, b, fill_and_run);
        probe_client_go_on(p, a, wait_idle);
        look_at_turns();
        probe_device_packet_ns = 1000;
        probe_client_go_on(p, a, submit);
        for (unsigned leaf = 0; leaf < LEAVES; leaf++)
            CHECK_RULE("GPUVA-166", maps(BASE + leaf * LEAF));
        end(p, a, b);
    }
}

/* ---- what changes meanwhile ---- */

#define NEAR (32 * PAGED_PAGE)

/* Nothing of it is an operation: the tables are not there. */
static void change(struct probe *p)
{
    unsigned mark = seen_count;

    (void)p;
    map_pages(BASE + NEAR);
    CHECK(NT_SUCCESS(paged_unmap(&one, BASE + LEAF, PAGES * PAGED_PAGE)));
    probe_sleep(PROBE_SECOND / 10);
    for (; mark < seen_count; mark++)
        CHECK_RULE("GPUVA-168", !is_update_of(mark, process_of[0]) &&
                                    !(seen[mark].kind == SEEN_FLUSH &&
                                      seen[mark].flush.hProcess == process_of[0]));
}

static D3DKMT_HANDLE other_context;

static void begin_context(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL args = {.hDevice = one.device, .NodeOrdinal = 1};

    (void)p;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&args)));
    other_context = args.hContext;
}

static void submit_to_other(struct probe *p)
{
    struct probe_gpu other = one;

    (void)p;
    other.context = other_context;
    CHECK(NT_SUCCESS(probe_gpu_submit(&other)) && NT_SUCCESS(probe_gpu_wait_idle(&other)));
}

static void change_meanwhile(DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = created(mode);
    struct probe_client *a = probe_client_run(p, use), *b = probe_client_run(p, fill);
    const struct va_shadow_context *new;
    unsigned mark;

    CHECK(notices(evicting, process_of[0]) == tables);
    probe_client_go_on(p, a, change);
    mark = seen_count;
    probe_client_go_on(p, a, begin_context);
    new = &va_shadow.context[va_shadow.contexts - 1];
    CHECK_RULE("GPUVA-158", first_of(SEEN_ROOT, new->handle, mark) == seen_count);
    probe_client_go_on(p, a, submit_to_other);
    /* both hear of it, before the first submission of the new one */
    CHECK_RULE("GPUVA-158",
               first_of(SEEN_ROOT, new->handle, mark) < first_of(SEEN_SUBMIT, new->handle, mark));
    CHECK_RULE("GPUVA-166", first_of(SEEN_ROOT, context->handle, mark) <
                                first_of(SEEN_SUBMIT, new->handle, mark));
    CHECK(new->root == context->root);
    CHECK_RULE("GPUVA-168",
               maps(BASE) && maps(BASE + NEAR) && !maps(BASE + LEAF) && maps(BASE + 2 * LEAF));
    end(p, a, b);
}

TEST(what_changes_meanwhile_is_there_afterwards)
{
    for (size_t i = 0; i < 3; i++)
        change_meanwhile(modes[i]);
}

/* ---- where they are ---- */

/* Each table is begun before anything else is written to it, and before an entry leads to it. */
static void look_at_places(unsigned from)
{
    uint64_t place[64];
    unsigned count = 0;

    for (unsigned i = from; i < seen_count; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &seen[i].update;
        const uint64_t at = u->PageTableAddress.GpuPhysical.SegmentOffset;
        bool known = false, led = false;

        if (!is_update_of(i, process_of[0]))
            continue;
        for (unsigned k = 0; k < count; k++) {
            known |= place[k] == at;
            led |= place[k] >> 12 == seen[i].entry.PageTableAddress;
        }
        CHECK_RULE("PAGE-068/b", known != (u->Flags.InitialUpdate != 0));
        CHECK_RULE("GPUVA-168",
                   u->PageTableLevel == 0 || !seen[i].entry.Valid || seen[i].entry.Zero || led);
        if (!known)
            place[count++] = at;
    }
    CHECK_RULE("GPUVA-168", count == tables);
}

TEST(tables_that_return_are_begun_anew)
{
    struct probe *p = created(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
    struct probe_client *a = probe_client_run(p, use), *b = probe_client_run(p, fill);
    const uint64_t pinned = p->adapter[0]->managers.vidmm->segment[1].pinned_bytes;
    const unsigned mark = seen_count;

    /* all that was not pinned belongs to the second client, but for its own tables */
    CHECK_RULE("GPUVA-167",
               p->adapter[0]->managers.vidmm->segment[1].mapped_bytes == 16 * PAGED_MIB &&
                   pinned < 4 * PAGED_MIB);
    probe_client_go_on(p, a, submit);
    look_at_places(mark);
    end(p, a, b);
}

/* ---- moves ---- */

#define BETWEEN 6u
#define BIG     (10 * PAGED_MIB)

static D3DKMT_HANDLE between[BETWEEN];
static unsigned next_leaf;

static void begin_one(struct probe *p)
{
    use(p);
    next_leaf = LEAVES;
}

/* A table of the lowest level. */
static void next_table(struct probe *p)
{
    (void)p;
    map_pages(BASE + next_leaf++ * LEAF);
}

static void begin_two(struct probe *p)
{
    (void)p;
    fillings = 0;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
}

static void take_between(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&two, 2 * PAGED_MIB - PIECE, &between[fillings++])));
}

/* Tables lie in what becomes free. */
static void take_big(struct probe *p)
{
    D3DKMT_DESTROYALLOCATION2 destroy = {
        .hDevice = two.device, .phAllocationList = between, .AllocationCount = BETWEEN};
    D3DKMT_HANDLE big;

    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&destroy)));
    probe_sleep(PROBE_SECOND / 10);
    CHECK(free_bytes(p) > BIG &&
          extent_largest(&p->adapter[0]->managers.vidmm->segment[1].free) < BIG / PAGED_PAGE);
    evicting = seen_count;
    contiguous = true;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&two, BIG, &big)));
    contiguous = false;
}

/* The driver hears that it leaves its place; then it is begun at another, and the entry above leads there. */
static void look_at_moves(const struct probe *p)
{
    unsigned moved = 0;

    for (unsigned i = evicting; i < seen_count; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &seen[i].update;
        unsigned step = 0;

        if (!is_notice(i, process_of[0]))
            continue;
        moved++;
        CHECK_RULE("GPUVA-166", nothing_led_there(i) && flushed_after(i, u->FirstPteVirtualAddress));
        for (unsigned k = i + 1; k < seen_count; k++) {
            const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *v = &seen[k].update;

            if (!is_update_of(k, process_of[0]))
                continue;
            if (step == 0 && v->PageTableLevel == u->PageTableLevel &&
                v->FirstPteVirtualAddress == u->FirstPteVirtualAddress && v->Flags.InitialUpdate) {
                if (p->mmu.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL)
                    CHECK_RULE("GPUVA-166", v->PageTableAddress.GpuPhysical.SegmentOffset !=
                                                u->PageTableAddress.GpuPhysical.SegmentOffset);
                step = 1;
            } else if (step == 1 && v->PageTableLevel == u->PageTableLevel + 1 &&
                       v->FirstPteVirtualAddress == u->FirstPteVirtualAddress &&
                       seen[k].entry.Valid) {
                step = 2;
            }
        }
        CHECK_RULE("GPUVA-166", step == 2);
    }
    CHECK_RULE("GPUVA-166", moved >= 3 && moved <= BETWEEN);
}

TEST(tables_in_the_way_of_a_hole_move)
{
    for (size_t i = 0; i < 3; i++) {
        struct probe *p = created(modes[i]);
        struct probe_client *a = probe_client_run(p, begin_one), *b = probe_client_run(p, begin_two);
        uint64_t root;

        for (unsigned n = 0; n < BETWEEN; n++) {
            probe_client_go_on(p, b, take_between);
            probe_client_go_on(p, a, next_table);
        }
        root = context->root;
        probe_client_go_on(p, b, take_big);
        look_at_moves(p);
        for (unsigned leaf = 0; leaf < LEAVES + BETWEEN; leaf++)
            CHECK_RULE("GPUVA-166", maps(BASE + leaf * LEAF)); /* at once */
        probe_client_go_on(p, a, submit);
        CHECK(context->root == root);
        end(p, a, b);
    }
}

/* ---- priority ---- */

#define PRIORITY ((UINT)D3DDDI_ALLOCATIONPRIORITY_MAXIMUM) /* of tables */

TEST(an_allocation_of_the_priority_of_tables_goes_before_them)
{
    for (UINT above = 0; above < 2; above++) {
        struct probe *p = created(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
        struct probe_client *a, *b;
        unsigned evicted, notice;

        priority = PRIORITY + above;
        a = probe_client_run(p, use);
        priority = 0;
        b = probe_client_run(p, fill);
        evicted = first_of(SEEN_EVICTED, NULL, evicting);
        notice = first_notice(evicting, process_of[0]);
        CHECK(evicted < seen_count && notice < seen_count);
        CHECK_RULE("RES-053", (evicted < notice) == (above == 0));
        end(p, a, b);
    }
}

static struct probe_gpu three;

static void take_elsewhere(struct probe *p)
{
    const bool lower = priority < PRIORITY;
    D3DKMT_HANDLE allocation;

    (void)p;
    evicting = seen_count;
    segments = 3;
    CHECK(NT_SUCCESS(probe_gpu_begin(&three)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&three, 2 * PAGED_PAGE, &allocation)));
    CHECK_RULE("RES-054", paged_residency(&three, allocation) ==
                              (lower ? D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY
                                     : D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY));
}

/* What can go elsewhere does not evict tables whose priority is higher. */
TEST(what_has_another_place_leaves_tables_alone)
{
    for (UINT below = 0; below < 2; below++) {
        struct probe *p = created(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
        struct probe_client *a, *b, *c;

        segments = 2;
        a = probe_client_run(p, use);
        segments = 1;
        priority = PRIORITY + 1;
        b = probe_client_run(p, fill_up);
        CHECK(notices(0, process_of[0]) == 0);
        priority = PRIORITY - below;
        c = probe_client_run(p, take_elsewhere);
        CHECK_RULE("RES-054", (notices(evicting, process_of[0]) == 0) == (below == 1));
        probe_client_end(p, c);
        end(p, a, b);
    }
}
