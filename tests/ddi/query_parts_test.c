/* SPDX-License-Identifier: MIT */
/* Parts whose size follows from the structure: answers of queries, data of standard allocations, and debug reports. */
#include "ddi/support/catalogue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

#define DOOR   port_adapter_ddi(p->adapter[0])
#define DRIVER ((void *)(uintptr_t)0x5A5A5A5A5000)

/* ---- answers of queries ---- */

static struct {
    size_t pointer;   /* where the answer (or the input) has its pointer */
    bool input;       /* it is the input */
    const void *seen; /* what the driver was given there */
    void *write;      /* what it leaves there; NULL: the same */
    size_t mark;      /* byte of what is pointed to that it changes */
    bool marks;
} query;

static void on_query(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *args = (const void *)(uintptr_t)call->arg[1];
    uint8_t *at = (uint8_t *)(query.input ? args->pInputData : args->pOutputData) + query.pointer;

    (void)p;
    call->answered = true;
    memcpy(&query.seen, at, sizeof(query.seen));
    if (query.marks)
        ((uint8_t *)(uintptr_t)query.seen)[query.mark] ^= 1;
    if (query.write)
        memcpy(at, &query.write, sizeof(query.write));
}

struct answer {
    DXGK_QUERYADAPTERINFOTYPE type;
    size_t bytes, pointer, count; /* of the structure; where its pointer and its count are */
    size_t each, more;            /* bytes of an element; elements beyond the count */
    bool input, told;
};

#define ANSWER(type_, structure, member, counter, element, ...)                        \
    {                                                                                  \
        .type = DXGKQAITYPE_##type_, .bytes = sizeof(structure),                       \
        .pointer = offsetof(structure, member), .count = offsetof(structure, counter), \
        .each = sizeof(element), __VA_ARGS__                                           \
    }

static const struct answer answers[] = {
    ANSWER(QUERYSEGMENT, DXGK_QUERYSEGMENTOUT, pSegmentDescriptor, NbSegment,
           DXGK_SEGMENTDESCRIPTOR, .more = 1),
    ANSWER(QUERYSEGMENT3, DXGK_QUERYSEGMENTOUT3, pSegmentDescriptor, NbSegment,
           DXGK_SEGMENTDESCRIPTOR3, .more = 1),
    ANSWER(QUERYSEGMENT4, DXGK_QUERYSEGMENTOUT4, pSegmentDescriptor, NbSegment,
           DXGK_SEGMENTDESCRIPTOR4, .more = 1, .told = true),
    ANSWER(HARDWARERESERVEDRANGES, DXGK_HARDWARERESERVEDRANGES, pPhysicalRanges, NumRanges,
           DXGK_PHYSICAL_MEMORY_RANGE, .told = true),
    ANSWER(SEGMENTMEMORYSTATE, DXGK_QUERYSEGMENTMEMORYSTATE, pMemoryRanges, NumInvalidMemoryRanges,
           DXGK_MEMORYRANGE, .input = true),
};

/* Ask with a structure of `bytes`, whose pointer leads to `elements`; the pointer that is left there. */
static const void *ask(struct probe *p, const struct answer *a, size_t bytes, void *elements)
{
    uint8_t own[256] = {0};
    DXGKARG_QUERYADAPTERINFO args;
    const UINT count = 2;
    const void *left;

    memset(&args, 0, sizeof(args));
    memcpy(own + a->pointer, &elements, sizeof(elements));
    memcpy(own + a->count, &count, sizeof(count));
    if (a->type == DXGKQAITYPE_QUERYSEGMENT4)
        ((DXGK_QUERYSEGMENTOUT4 *)(void *)own)->SegmentDescriptorStride = (SIZE_T)a->each;
    args.Type = a->type;
    if (a->input) {
        args.pInputData = own;
        args.InputDataSize = (UINT)bytes;
    } else {
        args.pOutputData = own;
        args.OutputDataSize = (UINT)bytes;
    }
    query.pointer = a->pointer;
    query.input = a->input;
    query.seen = NULL;
    p->before[PROBE_QueryAdapterInfo] = on_query;
    (void)ddi_query_adapter_info(DOOR, &args);
    p->before[PROBE_QueryAdapterInfo] = NULL;
    memcpy(&left, own + a->pointer, sizeof(left));
    return left;
}

static void each_answer(struct probe *p)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        const struct answer *a = &answers[i];
        const size_t bytes = (2 + a->more) * a->each;
        uint8_t *elements = calloc(1, bytes + 1);
        uint64_t reports = probe_rule(p, "LIFE-191"), warnings = probe_rule(p, "LIFE-192");

        memset(&query, 0, sizeof(query));
        query.marks = true;
        query.mark = bytes - 1; /* the last byte comes back */
        CHECK(ask(p, a, a->bytes, elements) == elements && query.seen != elements);
        CHECK(elements[bytes - 1] == 1 && probe_rule(p, "LIFE-191") == reports);
        query.mark = bytes; /* the one behind it is a zone */
        CHECK(ask(p, a, a->bytes, elements) == elements && elements[bytes] == 0);
        CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == reports + 1);
        query.marks = false; /* a structure that is cut off has no pointer to follow */
        CHECK(ask(p, a, a->bytes - 1, elements) == elements &&
              (uintptr_t)query.seen << 8 == (uintptr_t)elements << 8);
        query.write = DRIVER;
        CHECK(probe_rule(p, "LIFE-192") == warnings);
        CHECK(ask(p, a, a->bytes, elements) == (a->told ? DRIVER : elements));
        CHECK_RULE("LIFE-192/a", probe_rule(p, "LIFE-192") == warnings + !a->input);
        free(elements);
    }
}

TEST(pointers_in_answers_are_followed_by_type_and_size)
{
    struct probe *p = probe_started(NULL);

    CHECK(probe_run(p, each_answer) == SIM_DONE);
    probe_destroy(p);
}

/* ---- standard allocations ---- */

static long surface_at;

static void on_surface(struct probe *p, struct probe_call *call)
{
    const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    if (surface_at >= 0)
        ((uint8_t *)args->pCreateGdiSurfaceData)[surface_at] ^= 1;
    query.seen = args->pCreateGdiSurfaceData;
}

static void each_surface(struct probe *p)
{
    static const struct {
        D3DKMDT_STANDARDALLOCATION_TYPE type;
        size_t bytes;
    } kinds[] = {
        {D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE, sizeof(D3DKMDT_SHAREDPRIMARYSURFACEDATA)},
        {D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE, sizeof(D3DKMDT_SHADOWSURFACEDATA)},
        {D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE, sizeof(D3DKMDT_STAGINGSURFACEDATA)},
        {D3DKMDT_STANDARDALLOCATION_GDISURFACE, sizeof(D3DKMDT_GDISURFACEDATA)},
        {D3DKMDT_STANDARDALLOCATION_VGPU, sizeof(D3DKMDT_VIRTUALGPUSURFACEDATA)},
    };
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA args;
    uint8_t own[256] = {0};

    memset(&args, 0, sizeof(args));
    args.pCreateGdiSurfaceData = (void *)own;
    p->before[PROBE_GetStandardAllocationDriverData] = on_surface;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        uint64_t reports = probe_rule(p, "LIFE-191");

        memset(own, 0, sizeof(own));
        args.StandardAllocationType = kinds[i].type;
        surface_at = (long)kinds[i].bytes - 1;
        (void)ddi_standard_data(DOOR, &args);
        CHECK(own[surface_at] == 1 && probe_rule(p, "LIFE-191") == reports &&
              query.seen != (void *)own);
        surface_at = (long)kinds[i].bytes;
        (void)ddi_standard_data(DOOR, &args);
        CHECK_RULE("LIFE-191", own[surface_at] == 0 && probe_rule(p, "LIFE-191") == reports + 1);
    }
    surface_at = -1;
    args.StandardAllocationType = (D3DKMDT_STANDARDALLOCATION_TYPE)77; /* nothing is known of it */
    (void)ddi_standard_data(DOOR, &args);
    CHECK(query.seen == (void *)own);
    p->before[PROBE_GetStandardAllocationDriverData] = NULL;
}

TEST(data_of_surfaces_have_the_size_of_their_type)
{
    struct probe *p = probe_started(NULL);

    catalogue_provide(p);
    CHECK(probe_run(p, each_surface) == SIM_DONE);
    probe_destroy(p);
}

/* ---- debug reports ---- */

static struct {
    size_t reserved; /* offset of a member of the extension that the driver writes; 0: none */
    NTSTATUS status;
    DXGKARG_COLLECTDBGINFO args;
    bool zero;
} report;

static void on_collect(struct probe *p, struct probe_call *call)
{
    const DXGKARG_COLLECTDBGINFO *args = (const void *)(uintptr_t)call->arg[1];
    const uint8_t *bytes = args->pBuffer;

    (void)p;
    call->answered = true;
    call->result = (uint32_t)report.status;
    report.args = *args;
    report.zero = true;
    for (size_t i = 0; i < args->BufferSize; i++)
        report.zero &= bytes[i] == 0;
    ((uint8_t *)args->pBuffer)[args->BufferSize - 1] = 1;
    args->pExtension->BucketingKey = 0x77;
    if (report.reserved)
        ((uint8_t *)args->pExtension)[report.reserved] = 1;
}

static NTSTATUS collect(struct probe *p, size_t reserved, NTSTATUS status)
{
    DXGKARG_COLLECTDBGINFO_EXT extension;

    report.reserved = reserved;
    report.status = status;
    status = ddi_debug_report(DOOR, 0x117, &extension);
    CHECK(report.zero && report.args.Reason == 0x117 && extension.BucketingKey == 0x77);
    return status;
}

#define RESERVED(n) offsetof(DXGKARG_COLLECTDBGINFO_EXT, Reserved##n)

static void each_report(struct probe *p)
{
    static const size_t reserved[] = {RESERVED(2), RESERVED(3), RESERVED(4),
                                      RESERVED(5), RESERVED(6), RESERVED(7)};
    static const NTSTATUS usual[] = {STATUS_SUCCESS, STATUS_NO_MEMORY, STATUS_UNSUCCESSFUL,
                                     STATUS_DEVICE_REMOVED};

    p->before[PROBE_CollectDbgInfo] = on_collect;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        CHECK(collect(p, 0, usual[i]) == usual[i]);
    CHECK_RULE("LIFE-141/b", probe_rule(p, "LIFE-141") == 0 && report.args.BufferSize == 65536);
    CHECK(collect(p, 0, STATUS_INVALID_PARAMETER) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("LIFE-141/b", probe_rule(p, "LIFE-141") == 1 &&
                                 probe_said(p, "LIFE-141", "returned STATUS_INVALID_PARAMETER"));
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        CHECK(collect(p, reserved[i], STATUS_SUCCESS) == STATUS_SUCCESS);
        CHECK_RULE("LIFE-141/b", probe_rule(p, "LIFE-141") == i + 2);
    }
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(collect(p, 0, STATUS_SUCCESS) == STATUS_SUCCESS && report.args.BufferSize == 1024);
    p->sim->heap.fail_at = 0;
    report.status = STATUS_SUCCESS;
    CHECK(ddi_debug_report(DOOR, 5, NULL) == STATUS_SUCCESS && report.args.Reason == 5);
    p->before[PROBE_CollectDbgInfo] = NULL;
}

TEST(debug_reports_have_room_also_without_memory)
{
    struct probe *p = probe_started(NULL);

    catalogue_provide(p);
    CHECK(probe_run(p, each_report) == SIM_DONE);
    probe_destroy(p);
}
