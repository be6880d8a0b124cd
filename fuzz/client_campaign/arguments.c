/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include <d3dkmthk.h>

#include "../../drivers/refgpu/refgpu_umd.h"

#define PAGE 4096u

static bool one_in(struct arguments *a, uint32_t n)
{
    return rng_below(a->rng, n) == 0;
}

static uint64_t odd_number(struct rng *rng)
{
    static const uint64_t odd[] = {0,          1,          2,           3,          7,
                                   8,          63,         64,          65,         4095,
                                   4096,       4097,       65535,       65536,      0x7FFFFFFF,
                                   0x80000000, 0xFFFFFFFF, 0x100000000, 1ull << 47, 1ull << 62,
                                   1ull << 63, ~0ull - 1,  ~0ull};

    return rng_below(rng, 4) ? odd[rng_below(rng, sizeof(odd) / sizeof(odd[0]))] : rng_next(rng);
}

bool arguments_init(struct arguments *a, struct rng *rng, struct pool *pool,
                    const struct pool *others)
{
    memset(a, 0, sizeof(*a));
    a->rng = rng;
    a->pool = pool;
    a->others = others;
    a->scratch = mmap(NULL, SCRATCH + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (a->scratch == MAP_FAILED)
        return false;
    return mprotect(a->scratch + SCRATCH, PAGE, PROT_NONE) == 0;
}

void arguments_finish(struct arguments *a)
{
    munmap(a->scratch, SCRATCH + PAGE);
}

/* ---- handles ---- */

enum handle_kind handle_kind_of(const char *member)
{
    static const struct {
        const char *part;
        enum handle_kind kind;
    } known[] = {{"adapter", HANDLE_ADAPTER},   {"device", HANDLE_DEVICE},
                 {"hwqueue", HANDLE_HW_QUEUE},  {"pagingqueue", HANDLE_PAGING_QUEUE},
                 {"mutex", HANDLE_MUTEX},       {"context", HANDLE_CONTEXT},
                 {"global", HANDLE_SHARED},     {"shared", HANDLE_SHARED},
                 {"alloc", HANDLE_ALLOCATION},  {"primar", HANDLE_ALLOCATION},
                 {"resource", HANDLE_RESOURCE}, {"sync", HANDLE_SYNC},
                 {"fence", HANDLE_SYNC},        {"object", HANDLE_SYNC},
                 {"source", HANDLE_ALLOCATION}, {"destination", HANDLE_ALLOCATION}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasestr(member, known[i].part))
            return known[i].kind;
    return HANDLE_OTHER;
}

void pool_put(struct pool *pool, struct rng *rng, enum handle_kind kind, uint32_t handle)
{
    uint32_t *slot = &pool->handle[kind][0];

    while (slot < &pool->handle[kind][POOL - 1] && *slot)
        slot++;
    if (*slot)
        slot = &pool->handle[kind][rng_below(rng, POOL)];
    *slot = handle;
}

/* A live one is likely among the first few. 0: there is none. */
static uint32_t pick(const struct pool *pool, struct rng *rng, enum handle_kind kind)
{
    uint32_t filled = 0;

    while (filled < POOL && pool->handle[kind][filled])
        filled++;
    if (filled > 4 && rng_below(rng, 3))
        filled = 4;
    return filled ? pool->handle[kind][rng_below(rng, filled)] : 0;
}

static uint32_t handle_for(struct arguments *a, const char *member)
{
    enum handle_kind kind = handle_kind_of(member);

    if (one_in(a, a->wild)) {
        if (one_in(a, 3))
            return (uint32_t)odd_number(a->rng);
        if (one_in(a, 2))
            return pick(a->others, a->rng, kind);
        kind = (enum handle_kind)rng_below(a->rng, HANDLE_KINDS);
    }
    if (kind == HANDLE_RESOURCE && !one_in(a, 8))
        return 0;
    if (kind == HANDLE_OTHER)
        kind = (enum handle_kind)rng_below(a->rng, HANDLE_KINDS);
    return pick(a->pool, a->rng, kind);
}

/* ---- memory ---- */

/* Memory of so many bytes, zeroed; the last bytes of the room now and then. */
static uint8_t *take(struct arguments *a, uint32_t bytes)
{
    uint8_t *at;

    bytes = (bytes + 15) & ~15u;
    if (a->used + bytes > SCRATCH - PAGE)
        return NULL;
    at = a->scratch + a->used;
    a->used += bytes;
    memset(at, 0, bytes);
    return at;
}

static uintptr_t bad_pointer(struct arguments *a)
{
    switch (rng_below(a->rng, 7)) {
    case 0:
        return 0;
    case 1:
        return 1 + rng_below(a->rng, 0xFFFF);
    case 2:
        return (uintptr_t)0xFFFF800000000000;
    case 3:
        return (uintptr_t)rng_next(a->rng);
    case 4: /* short of the inaccessible page, or in it */
        return (uintptr_t)a->scratch + SCRATCH - rng_below(a->rng, 64) +
               (one_in(a, 4) ? PAGE / 2 : 0);
    case 5:
        return (uintptr_t)a->scratch + 1 + 2 * rng_below(a->rng, 100);
    default:
        return (uintptr_t)a->pool->memory[rng_below(a->rng, POOL)];
    }
}

static void fill_structure(struct arguments *a, const struct structure *s, uint8_t *at,
                           uint32_t depth);

/* Private data that the reference GPU takes. */
static void private_data(struct arguments *a, uint8_t *to)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC};

    data.flags = one_in(a, 2) ? REFGPU_ALLOCATION_CPU_VISIBLE : rng_below(a->rng, 16);
    data.bytes = one_in(a, 10) ? odd_number(a->rng) : 4096u << rng_below(a->rng, 6);
    data.segments = one_in(a, 2) ? 0 : rng_below(a->rng, 8);
    memcpy(to, &data, sizeof(data));
}

/* Whether drivers, or the reference GPU's, take private data there. */
static bool takes_private(const struct structure *s)
{
    return strstr(s->name, "ALLOCATION") || strstr(s->name, "ESCAPE");
}

/* A client that names no function of its own would end itself by it. */
static void called_back(void)
{
}

static uintptr_t pointer_for(struct arguments *a, const struct structure *s, const struct member *m,
                             uint32_t depth)
{
    const uint32_t count = 4;
    uint8_t *at;

    if (strcmp(m->name, "Callback") == 0)
        return one_in(a, 10) ? 0 : (uintptr_t)called_back;
    if (one_in(a, a->wild) || depth > 3)
        return bad_pointer(a);
    if (one_in(a, 10) || (strcasestr(m->name, "private") && !takes_private(s)) ||
        (strcasestr(m->name, "resources") && !one_in(a, 4)))
        return 0;
    at = take(a, m->of == -1 ? 512 : count * m->size + 64);
    if (!at)
        return 0;
    for (uint32_t i = 0; i < count && m->of == -2; i++) {
        uint32_t handle = handle_for(a, m->name);

        memcpy(at + i * m->size, &handle, sizeof(handle));
    }
    for (uint32_t i = 0; i < count && m->of >= 0; i++)
        fill_structure(a, structure_at(m->of), at + i * m->size, depth + 1);
    if (m->of == -1 && strcasestr(m->name, "private") && !one_in(a, 4))
        private_data(a, at);
    else if (m->of == -1 && one_in(a, 3))
        for (uint32_t i = 0; i < 64; i++)
            at[i] = (uint8_t)rng_next(a->rng);
    return (uintptr_t)at;
}

/* ---- members ---- */

/* What a number is likely to be for, by the name of its member. */
static uint64_t value_for(struct arguments *a, const struct structure *s, const struct member *m)
{
    static const uint64_t usual[] = {0, 0, 0, 1, 1, 2, 4, 16, 4096, 65536};

    if (one_in(a, a->wild))
        return odd_number(a->rng);
    if (strcasestr(m->name, "private") && strcasestr(m->name, "size"))
        return takes_private(s) ? sizeof(struct refgpu_allocation_data) : 0;
    if (strcasestr(m->name, "primar") || strcasestr(m->name, "history") ||
        strcasestr(m->name, "index"))
        return 0;
    if (strcmp(m->name, "Size") == 0)
        return 65536u << rng_below(a->rng, 3);
    if (strcasestr(m->name, "num") || strcasestr(m->name, "count"))
        return one_in(a, 3) ? rng_below(a->rng, 4) : 1;
    if (strcasestr(m->name, "reserved") || strcasestr(m->name, "protection"))
        return 0;
    if (strcasestr(m->name, "ordinal") || strcasestr(m->name, "affinity"))
        return rng_below(a->rng, 2);
    if (strcasestr(m->name, "pages"))
        return 1u << rng_below(a->rng, 5);
    if (strcasestr(m->name, "length"))
        return 4 * rng_below(a->rng, 16);
    return usual[rng_below(a->rng, sizeof(usual) / sizeof(usual[0]))];
}

/* Where the client asks for no address in particular, the host chooses. */
static uint64_t address_for(struct arguments *a, const struct member *m)
{
    bool choice = strcasestr(m->name, "base") || strcasestr(m->name, "minimum") ||
                  strcasestr(m->name, "maximum");

    if (choice && !one_in(a, 8))
        return 0;
    return a->pool->address[rng_below(a->rng, one_in(a, 4) ? POOL : 3)] +
           (one_in(a, a->wild) ? odd_number(a->rng) : 0);
}

static void fill_member(struct arguments *a, const struct structure *s, const struct member *m,
                        uint8_t *at, uint32_t depth)
{
    uint64_t value = 0;

    switch (m->kind) {
    case MEMBER_HANDLE32:
        value = handle_for(a, m->name);
        break;
    case MEMBER_HANDLE64:
        value = one_in(a, a->wild) ? odd_number(a->rng)
                : one_in(a, 2)     ? a->pool->nt[rng_below(a->rng, POOL)]
                                   : 0;
        break;
    case MEMBER_ENUM:
        value = one_in(a, a->wild) ? odd_number(a->rng)
                                   : (uint64_t)constant_of(m->of, (uint32_t)rng_next(a->rng));
        break;
    case MEMBER_ADDRESS:
        value = address_for(a, m);
        break;
    case MEMBER_POINTER:
        value = pointer_for(a, s, m, depth);
        memcpy(at + m->offset, &value, sizeof(value));
        return;
    case MEMBER_STRUCTURE:
        fill_structure(a, structure_at(m->of), at + m->offset, depth + 1);
        return;
    default:
        value = value_for(a, s, m);
        break;
    }
    memcpy(at + m->offset, &value, m->size < sizeof(value) ? m->size : sizeof(value));
}

static void fill_structure(struct arguments *a, const struct structure *s, uint8_t *at,
                           uint32_t depth)
{
    if (a->pieces < PIECES) {
        a->piece[a->pieces].structure = s;
        a->piece[a->pieces++].at = at;
    }
    if (s->bits) { /* flags */
        uint64_t some = rng_next(a->rng), fewer = some & rng_next(a->rng);
        uint32_t flags = one_in(a, 5) ? (uint32_t)fewer & s->bits : 0;

        if (one_in(a, a->wild))
            flags = (uint32_t)rng_next(a->rng);
        memcpy(at, &flags, s->size < sizeof(flags) ? s->size : sizeof(flags));
        return;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const struct member *m = member_at(s, i);

        if (m->kind == MEMBER_HANDLE32 ||
            !one_in(a, 6)) /* else 0, or what a member of the same union left */
            fill_member(a, s, m, at, depth);
    }
}

/* ---- calls ---- */

/* What would wait for ever, end the machine, or only be refused, happens rarely. */
static void tame(struct arguments *a, const struct call *call, uint8_t *at)
{
    if (strcmp(call->name, "D3DKMTEscape") == 0 && !one_in(a, 2000)) {
        D3DKMT_ESCAPE *escape = (D3DKMT_ESCAPE *)at;

        escape->Type = D3DKMT_ESCAPE_DRIVERPRIVATE;
    }
    if (strstr(call->name, "AcquireKeyedMutex") && !one_in(a, 500)) {
        static LARGE_INTEGER at_once;
        D3DKMT_ACQUIREKEYEDMUTEX *acquire = (D3DKMT_ACQUIREKEYEDMUTEX *)at;

        acquire->pTimeout = &at_once;
    }
    if (strcmp(call->name, "D3DKMTWaitForSynchronizationObjectFromCpu") == 0 && !one_in(a, 500)) {
        static const UINT64 passed[8];
        D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU *wait =
            (D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU *)at;

        wait->FenceValueArray = passed;
        wait->ObjectCount = rng_below(a->rng, 5);
    }
}

void *arguments_fill(struct arguments *a, const struct call *call)
{
    uint8_t *at;

    a->used = a->pieces = 0;
    a->wild = one_in(a, 2) ? 100000 : 15;
    if (call->structure < 0) {
        uint64_t *words = (uint64_t *)take(a, 64);
        uint32_t *handles = (uint32_t *)take(a, 64);

        for (uint32_t i = 0; i < 8; i++) {
            words[i] = one_in(a, 3) ? odd_number(a->rng) : handle_for(a, "");
            handles[i] = handle_for(a, "");
        }
        if (!one_in(a, 4)) {
            words[0] = rng_below(a->rng, 4);
            words[1] = (uintptr_t)handles;
            words[2] = 0;
        }
        return words;
    }
    if (one_in(a, 200))
        return (void *)bad_pointer(a);
    at = take(a, structure_at(call->structure)->size);
    if (!at)
        return NULL;
    fill_structure(a, structure_at(call->structure), at, 0);
    tame(a, call, at);
    return at;
}

static void keep_member(struct arguments *a, const struct member *m, const uint8_t *at)
{
    uint64_t value = 0;

    memcpy(&value, at + m->offset, m->kind == MEMBER_POINTER ? 8 : m->size < 8 ? m->size : 8);
    if (!value)
        return;
    if (m->kind == MEMBER_HANDLE32)
        pool_put(a->pool, a->rng, handle_kind_of(m->name), (uint32_t)value);
    else if (m->kind == MEMBER_HANDLE64)
        a->pool->nt[rng_below(a->rng, POOL)] = value;
    else if (m->kind == MEMBER_ADDRESS)
        a->pool->address[rng_below(a->rng, POOL)] = value;
    else if (m->kind == MEMBER_POINTER && m->of == -1)
        a->pool->memory[rng_below(a->rng, POOL)] = (void *)(uintptr_t)value;
}

void arguments_keep(struct arguments *a, const struct call *call)
{
    bool gives = strstr(call->name, "Create") || strstr(call->name, "Open") ||
                 strstr(call->name, "Map") || strstr(call->name, "Reserve") ||
                 strstr(call->name, "Share") || strstr(call->name, "Lock") ||
                 strstr(call->name, "Register") || strstr(call->name, "Enum");

    for (uint32_t i = 0; gives && i < a->pieces; i++)
        for (uint32_t k = 0; k < a->piece[i].structure->count; k++)
            keep_member(a, member_at(a->piece[i].structure, k), a->piece[i].at);
}
