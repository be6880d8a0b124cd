/* SPDX-License-Identifier: MIT */
/* Calls about GPU virtual addresses: map, reserve, free. */
#include "gpu_memory_fuzz.h"

uint64_t fuzz_first_page(void)
{
    const struct fuzz_shape *s = &fuzz_run->shape;

    return s->levels == 2 ? 1ull << s->bits : 16;
}

uint64_t fuzz_end_page(void)
{
    const struct fuzz_shape *s = &fuzz_run->shape;

    return 1ull << (s->bits + s->middle_bits * (s->levels - 2) + s->root_bits);
}

/* Often near each other, or at the borders of tables. */
static uint64_t some_page(void)
{
    const unsigned how = fuzz_byte();
    const uint64_t small = fuzz_number(how & 1 ? 2 : 1);

    switch (how >> 1 & 7) {
    case 0:
        return fuzz_end_page() - small;
    case 1:
        return fuzz_first_page() + small;
    case 2:
        return (1ull << fuzz_run->shape.bits) * (1 + (small & 7)) - (small >> 3 & 15);
    case 3:
        return fuzz_me()->ranges
                   ? fuzz_me()->range[small % fuzz_me()->ranges].first + (fuzz_byte() & 31)
                   : small;
    case 4:
        return fuzz_end_page() / 2 + small;
    default:
        return fuzz_first_page() + small % 512 * 16;
    }
}

static uint64_t some_driver_protection(void)
{
    static const uint64_t some[] = {0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0x55,
                                    D3DGPU_UNIQUE_DRIVER_PROTECTION | 1,
                                    D3DGPU_UNIQUE_DRIVER_PROTECTION | 2};

    return some[fuzz_byte() % 8];
}

/* Requests through another queue are not in order with those of this one. */
static void use_queue(unsigned number)
{
    if (fuzz_me()->last_queue != number)
        fuzz_drain();
    fuzz_me()->last_queue = number;
}

/* ---- map ---- */

struct map {
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    struct fuzz_allocation *a;
    struct fuzz_piece piece;
};

static void choose_place(struct map *m, uint64_t unit)
{
    const unsigned how = fuzz_byte();

    if (how & 1)
        m->args.BaseAddress = some_page() / unit * unit * PAGE + ((how & 0xF0) == 0xF0 ? 0x800 : 0);
    if (how & 2)
        m->args.MinimumAddress = some_page() / unit * unit * PAGE;
    if (how & 4)
        m->args.MaximumAddress = m->args.MinimumAddress +
                                 (some_page() % 512 + 1) / unit * unit * PAGE;
}

static void choose_map(struct map *m, struct fuzz_device *d, unsigned number)
{
    const unsigned how = fuzz_byte();

    memset(m, 0, sizeof(*m));
    m->args.hPagingQueue = d->queue;
    m->args.SizeInPages = fuzz_byte() % 40 + ((how & 0xE0) == 0xE0 ? 0 : 1);
    choose_place(m, 1);
    m->args.DriverProtection = some_driver_protection();
    m->args.Protection.Write = how & 1;
    m->args.Protection.Execute = (how & 2) != 0;
    if ((how & 12) == 4)
        m->args.Protection.Value = 0, m->args.Protection.NoAccess = 1;
    else if ((how & 28) == 8)
        m->args.Protection.Value = 0, m->args.Protection.Zero = 1;
    else
        m->a = fuzz_some_allocation(number);
    if (!m->a)
        return;
    m->args.hAllocation = m->a->open[fuzz_my_number()][number].handle;
    m->args.OffsetInPages = fuzz_byte() % m->a->pages;
    if (m->args.OffsetInPages + m->args.SizeInPages > m->a->pages && how & 16)
        m->args.SizeInPages = m->a->pages - m->args.OffsetInPages;
}

static bool inside_space(uint64_t first, uint64_t pages)
{
    return first >= fuzz_first_page() && first <= fuzz_end_page() &&
           pages <= fuzz_end_page() - first;
}

/* May the new piece take the place of what the range has there? */
static bool may_overlay(const struct fuzz_range *range, const struct map *m)
{
    if (m->piece.first < range->first ||
        m->piece.first + m->piece.pages > range->first + range->pages)
        return false;
    return range->reservation || m->piece.state == STATE_PAGES;
}

/* The first range that the request touches. */
static struct fuzz_range *touched(const struct map *m)
{
    struct fuzz_process *me = fuzz_me();

    for (unsigned i = 0; i < me->ranges; i++)
        if (me->range[i].first < m->piece.first + m->piece.pages &&
            m->piece.first < me->range[i].first + me->range[i].pages)
            return &me->range[i];
    return NULL;
}

static bool bad_limits(uint64_t low, uint64_t high, uint64_t pages, uint64_t unit)
{
    const uint64_t end = fuzz_end_page() * PAGE;

    if (low % (unit * PAGE) || high % (unit * PAGE))
        return true;
    return high && low + pages * PAGE > (high > end ? end : high);
}

/* Without regard to what is there. */
static NTSTATUS expected_by_itself(const struct map *m)
{
    const D3DDDI_MAPGPUVIRTUALADDRESS *args = &m->args;

    if (!args->SizeInPages || (args->hAllocation == 0) == (m->piece.state == STATE_PAGES))
        return STATUS_INVALID_PARAMETER;
    if (args->BaseAddress
            ? args->BaseAddress % PAGE || !inside_space(m->piece.first, m->piece.pages)
            : bad_limits(args->MinimumAddress, args->MaximumAddress, args->SizeInPages, 1))
        return STATUS_INVALID_PARAMETER;
    if (m->piece.state == STATE_ZERO && !fuzz_run->shape.zero)
        return STATUS_NOT_SUPPORTED;
    if (m->a && (args->OffsetInPages + args->SizeInPages > m->a->pages ||
                 fuzz_conflict(m->piece.allocation, m->piece.offset, m->piece.pages,
                               args->DriverProtection)))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static void take(const struct map *m, struct fuzz_range *under)
{
    struct fuzz_range fresh = {.first = m->piece.first,
                               .pages = m->piece.pages,
                               .owned = m->piece.state == STATE_PAGES,
                               .initial = m->piece.state == STATE_ZERO ? STATE_ZERO : STATE_INVALID,
                               .driver = m->piece.driver};

    if (!under)
        under = fuzz_range_add(fuzz_me(), &fresh);
    MUST(fuzz_paint(under, &m->piece));
}

static void check_place(const struct map *m)
{
    const uint64_t page = m->args.VirtualAddress / PAGE;

    MUST(m->args.VirtualAddress % PAGE == 0 && inside_space(page, m->args.SizeInPages));
    if (m->args.BaseAddress) {
        MUST(m->args.VirtualAddress == m->args.BaseAddress);
        return;
    }
    MUST(!fuzz_taken(fuzz_me(), page, m->args.SizeInPages));
    MUST(m->args.VirtualAddress >= m->args.MinimumAddress);
    MUST(!m->args.MaximumAddress ||
         m->args.VirtualAddress + m->args.SizeInPages * PAGE <= m->args.MaximumAddress);
}

/* A mapping with a unique driver protection counts for the host until what replaces it is carried out
 * (GPUVA-101), and for the model no longer: then it is asked again. */
static NTSTATUS map(struct map *m, NTSTATUS expected)
{
    NTSTATUS status = D3DKMTMapGpuVirtualAddress(&m->args);

    if (status != STATUS_INVALID_PARAMETER || !NT_SUCCESS(expected) || !m->a || !fuzz_run->busy)
        return status;
    fuzz_drain();
    return D3DKMTMapGpuVirtualAddress(&m->args);
}

void fuzz_map(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_range *under = NULL;
    struct map m;
    NTSTATUS status, expected;

    if (!d)
        return;
    choose_map(&m, d, number);
    use_queue(number);
    if (d->lost)
        return;
    m.piece = (struct fuzz_piece){.first = m.args.BaseAddress / PAGE,
                                  .pages = m.args.SizeInPages,
                                  .state = m.args.Protection.Zero       ? STATE_ZERO
                                           : m.args.Protection.NoAccess ? STATE_INVALID
                                                                        : STATE_PAGES,
                                  .offset = m.args.OffsetInPages,
                                  .write = m.args.Protection.Write,
                                  .execute = m.args.Protection.Execute,
                                  .driver = m.args.DriverProtection};
    if (m.a)
        m.piece.allocation = (unsigned)(m.a - fuzz_run->allocation);
    if (m.args.DriverProtection || m.args.BaseAddress)
        fuzz_drain(); /* what is replaced soon still counts */
    if (d->lost)
        return;
    expected = expected_by_itself(&m);
    if (NT_SUCCESS(expected) && m.args.BaseAddress) {
        under = touched(&m);
        if (under && (!may_overlay(under, &m) || !fuzz_has_room(under)))
            expected = STATUS_INVALID_PARAMETER;
        if (under && may_overlay(under, &m) && !fuzz_has_room(under))
            return;
    }
    if (!under && fuzz_full(fuzz_me()))
        return;
    status = map(&m, expected);
    if (d->lost)
        return;
    fuzz_trace(
        "  device %u, %llu pages at 0x%llx, allocation %d page %llu: 0x%x, 0x%llx, fence %llu",
        number, (unsigned long long)m.args.SizeInPages, (unsigned long long)m.args.BaseAddress,
        m.a ? (int)m.piece.allocation : -1, (unsigned long long)m.args.OffsetInPages,
        (unsigned)status, (unsigned long long)m.args.VirtualAddress,
        (unsigned long long)m.args.PagingFenceValue);
    fuzz_run->busy = true;
    if (!NT_SUCCESS(status)) {
        /* Something of the host's own may be at that address, or there is no room for tables. */
        MUST(status == expected || fuzz_device_gone(d, status) ||
             (fuzz_shortage(status) && (NT_SUCCESS(expected) || fuzz_run->excused)) ||
             (m.args.BaseAddress && !under && fuzz_host_has(m.piece.first, m.piece.pages)));
        return;
    }
    MUST(NT_SUCCESS(expected) && m.args.PagingFenceValue >= (status == STATUS_PENDING));
    check_place(&m);
    m.piece.first = m.args.VirtualAddress / PAGE;
    if (m.args.PagingFenceValue > d->queued)
        d->queued = m.args.PagingFenceValue;
    take(&m, under);
}

/* ---- reserve ---- */

static NTSTATUS expected_of(const D3DDDI_RESERVEGPUVIRTUALADDRESS *args,
                            const struct fuzz_range *range)
{
    const bool fixed = args->BaseAddress != 0;

    if (!args->Size ||
        (fixed ? args->BaseAddress % 65536 || !inside_space(range->first, range->pages)
               : bad_limits(args->MinimumAddress, args->MaximumAddress, range->pages, 16)))
        return STATUS_INVALID_PARAMETER;
    if (range->initial == STATE_ZERO && !fuzz_run->shape.zero)
        return STATUS_NOT_SUPPORTED;
    return fixed && fuzz_taken(fuzz_me(), range->first, range->pages) ? STATUS_INVALID_PARAMETER
                                                                      : STATUS_SUCCESS;
}

void fuzz_reserve(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    const unsigned how = fuzz_byte();
    D3DDDI_RESERVEGPUVIRTUALADDRESS args;
    struct map m;
    struct fuzz_range range;
    NTSTATUS status, expected;

    if (!d || fuzz_full(fuzz_me()))
        return;
    memset(&m, 0, sizeof(m));
    memset(&args, 0, sizeof(args));
    choose_place(&m, 16);
    if (how & 1) {
        args.hPagingQueue = d->queue;
        use_queue(number);
    } else {
        args.hAdapter = fuzz_me()->adapter;
    }
    args.BaseAddress = m.args.BaseAddress;
    args.MinimumAddress = m.args.MinimumAddress;
    args.MaximumAddress = m.args.MaximumAddress;
    args.Size = (fuzz_byte() % 20 + ((how & 0xF0) != 0xF0)) * 65536ull;
    args.ReservationType = (D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE)((how >> 1 & 7) % 3);
    args.DriverProtection = how & 16 ? 0x55 : 0;
    range = (struct fuzz_range){.first = args.BaseAddress / PAGE,
                                .pages = args.Size / PAGE,
                                .reservation = true,
                                .driver = args.DriverProtection};
    range.no_commit = args.ReservationType == D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT;
    range.initial = args.ReservationType == D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO ? STATE_ZERO
                                                                                 : STATE_INVALID;
    expected = expected_of(&args, &range);
    status = D3DKMTReserveGpuVirtualAddress(&args);
    fuzz_trace("  0x%llx bytes at 0x%llx, type %d: 0x%x, 0x%llx", (unsigned long long)args.Size,
               (unsigned long long)args.BaseAddress, (int)args.ReservationType, (unsigned)status,
               (unsigned long long)args.VirtualAddress);
    fuzz_run->busy = true;
    if (!NT_SUCCESS(status)) {
        MUST(status == expected || fuzz_device_gone(d, status) ||
             (fuzz_shortage(status) && (NT_SUCCESS(expected) || fuzz_run->excused)) ||
             (args.BaseAddress && fuzz_host_has(range.first, range.pages)));
        return;
    }
    MUST(NT_SUCCESS(expected));
    MUST(args.VirtualAddress % 65536 == 0 && (how & 1 || !args.PagingFenceValue));
    m.args.VirtualAddress = args.VirtualAddress;
    m.args.SizeInPages = range.pages;
    check_place(&m);
    if (how & 1 && args.PagingFenceValue > d->queued)
        d->queued = args.PagingFenceValue;
    range.first = args.VirtualAddress / PAGE;
    (void)fuzz_range_add(fuzz_me(), &range);
}

/* ---- free ---- */

void fuzz_free(void)
{
    struct fuzz_process *me = fuzz_me();
    const unsigned how = fuzz_byte();
    D3DKMT_FREEGPUVIRTUALADDRESS args;
    struct fuzz_range *range;
    bool whole;
    NTSTATUS status;

    if (!me->ranges || !me->adapter)
        return;
    range = &me->range[fuzz_byte() % me->ranges];
    memset(&args, 0, sizeof(args));
    args.hAdapter = me->adapter;
    args.BaseAddress = range->first * PAGE;
    args.Size = range->pages * PAGE;
    if ((how & 31) == 1)
        args.BaseAddress += PAGE;
    if ((how & 31) == 2)
        args.Size += how & 32 ? PAGE : 0x100;
    range = fuzz_range_at(me, args.BaseAddress / PAGE); /* it may be another one, and all of it */
    whole = range && range->first * PAGE == args.BaseAddress && range->pages * PAGE == args.Size;
    if (fuzz_run->working || fuzz_run->updating)
        fuzz_drain(); /* nothing that is queued uses it */
    status = D3DKMTFreeGpuVirtualAddress(&args);
    fuzz_trace("  0x%llx bytes at 0x%llx: 0x%x", (unsigned long long)args.Size,
               (unsigned long long)args.BaseAddress, (unsigned)status);
    fuzz_run->busy = true;
    MUST(NT_SUCCESS(status) == whole || (fuzz_run->excused && fuzz_shortage(status)));
    if (NT_SUCCESS(status))
        fuzz_range_remove(me, range);
}
