/* SPDX-License-Identifier: MIT */
/* Parts of segments that must not be used: what becomes of ranges that are not in whole pages, leave the segment, or overlap. */
#include "port/record/adapter_record.h"
#include "port/support/admission.h"
#include "vidmm/record/vidmm_config.h"

#include <string.h>

#define SIZE (16u << 20) /* of the first segment */

struct range {
    uint64_t offset, bytes;
};

struct mended {
    const char *what;
    struct range said[3]; /* by the driver */
    struct range kept[3];
};

static const struct mended in_pages[] = {
    {"whole pages", {{0x10000, 0x1000}}, {{0x10000, 0x1000}}},
    {"both ends inside pages", {{0x10800, 0x1000}}, {{0x10000, 0x2000}}},
    {"the end inside a page", {{0x10000, 0x1800}}, {{0x10000, 0x2000}}},
    {"past the segment", {{SIZE - 0x2000, 0x3000}}, {{SIZE - 0x2000, 0x2000}}},
    {"up to its end", {{SIZE - 0x1800, 0x1800}}, {{SIZE - 0x2000, 0x2000}}},
    {"behind it", {{SIZE, 0x1000}}, {{0, 0}}},
    {"wrapping", {{~0xFFFull, 0x2000}}, {{0, 0}}},
    {"wrapping from inside", {{SIZE / 2, ~0xFFFull}}, {{SIZE / 2, SIZE / 2}}},
    {"without bytes", {{0x10000, 0}, {0x20000, 0x1000}}, {{0x20000, 0x1000}}},
    {"neighbours", {{0x10000, 0x1000}, {0x11000, 0x1000}}, {{0x10000, 0x1000}, {0x11000, 0x1000}}},
    {"the first part is taken",
     {{0x10000, 0x3000}, {0x12000, 0x2000}},
     {{0x10000, 0x3000}, {0x13000, 0x1000}}},
    {"the last part is taken",
     {{0x10000, 0x3000}, {0xF000, 0x2000}},
     {{0x10000, 0x3000}, {0xF000, 0x1000}}},
    {"all is taken", {{0x10000, 0x3000}, {0x10000, 0x3000}}, {{0x10000, 0x3000}}},
    {"all is taken, and more", {{0x10000, 0x3000}, {0x11000, 0x1000}}, {{0x10000, 0x3000}}},
    {"between two",
     {{0x10000, 0x1000}, {0x20000, 0x1000}, {0x10000, 0x11000}},
     {{0x10000, 0x1000}, {0x20000, 0x1000}, {0x11000, 0xF000}}},
    {"between two neighbours",
     {{0x10000, 0x1000}, {0x12000, 0x1000}, {0x11800, 0x400}},
     {{0x10000, 0x1000}, {0x12000, 0x1000}, {0x11000, 0x1000}}},
    {"beside one, far from another",
     {{0x10000, 0x1000}, {0x30000, 0x1000}, {0x10800, 0x1000}},
     {{0x10000, 0x1000}, {0x30000, 0x1000}, {0x11000, 0x1000}}},
};

static const struct mended in_large_pages[] = {
    {"whole pages", {{0x20000, 0x10000}}, {{0x20000, 0x10000}}},
    {"the start inside a page", {{0x28000, 0x8000}}, {{0x20000, 0x10000}}},
    {"both ends inside pages", {{0x28000, 0x10000}}, {{0x20000, 0x20000}}},
    {"the end inside a page", {{0x20000, 0x8000}}, {{0x20000, 0x10000}}},
};

static void say(struct probe *p, UINT segment, const struct mended *m)
{
    UINT count = 0;

    for (UINT i = 0; i < 3; i++)
        if (m->said[i].offset || m->said[i].bytes) {
            p->bad_range[i].SegmentOffset = m->said[i].offset;
            p->bad_range[i].SizeInBytes = m->said[i].bytes;
            count++;
        }
    p->segment[segment].NumInvalidMemoryRanges = count;
}

static void check_kept(const struct probe *p, UINT segment, const struct mended *m)
{
    const struct port_segments *s = &p->adapter[0]->segments;
    UINT count = 0;

    for (UINT i = 0; i < 3 && m->kept[i].bytes; i++, count++)
        if (i >= s->bad_range_count || s->bad_range[i].range.SegmentOffset != m->kept[i].offset ||
            s->bad_range[i].range.SizeInBytes != m->kept[i].bytes ||
            s->bad_range[i].segment != segment + 1)
            fail_msg("%s: range %u", m->what, i);
    if (s->bad_range_count != count)
        fail_msg("%s: %u ranges", m->what, s->bad_range_count);
}

static bool differs(const struct mended *m)
{
    return memcmp(m->said, m->kept, sizeof(m->said)) != 0;
}

TEST(ranges_in_pages)
{
    for (size_t i = 0; i < sizeof(in_pages) / sizeof(in_pages[0]); i++) {
        struct probe *p = probe_create(NULL);

        say(p, 0, &in_pages[i]);
        CHECK(NT_SUCCESS(probe_start(p)) &&
              (probe_rule(p, "CAPS-083") > 0) == differs(&in_pages[i]));
        check_kept(p, 0, &in_pages[i]);
        probe_destroy(p);
    }
}

/* A third segment, of pages of 64 KB. */
static void add_large(struct probe *p)
{
    p->segment[2] = p->segment[0];
    p->segment[2].BaseAddress.QuadPart = 1ll << 40;
    p->segment[2].Flags.CpuVisible = 0;
    p->segment[2].Flags.Use64KBPages = 1;
    p->segments = 3;
}

TEST(ranges_in_large_pages)
{
    for (size_t i = 0; i < sizeof(in_large_pages) / sizeof(in_large_pages[0]); i++) {
        struct probe *p = probe_create(NULL);

        add_large(p);
        say(p, 2, &in_large_pages[i]);
        CHECK(NT_SUCCESS(probe_start(p)) &&
              (probe_rule(p, "CAPS-083") > 0) == differs(&in_large_pages[i]));
        check_kept(p, 2, &in_large_pages[i]);
        probe_destroy(p);
    }
}

/* Those of one segment are none of another's. */
TEST(ranges_of_two_segments)
{
    struct probe *p = probe_create(NULL);
    const struct port_segments *s;

    add_large(p);
    p->bad_range[0] = (DXGK_MEMORYRANGE){.SegmentOffset = 0x40000, .SizeInBytes = 0x10000};
    p->bad_range[1] = (DXGK_MEMORYRANGE){.SegmentOffset = 0x80000, .SizeInBytes = 0x20000};
    p->segment[0].NumInvalidMemoryRanges = 2;
    p->segment[2].NumInvalidMemoryRanges = 1;
    CHECK(NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-083") == 0);
    CHECK_RULE("CAPS-082", probe_queries(p, DXGKQAITYPE_SEGMENTMEMORYSTATE) == 2);
    s = &p->adapter[0]->segments;
    CHECK(s->bad_range_count == 3 && s->bad_range[0].segment == 1 && s->bad_range[1].segment == 1 &&
          s->bad_range[2].segment == 3 && s->bad_range[1].range.SegmentOffset == 0x80000 &&
          s->bad_range[2].range.SegmentOffset == 0x40000);
    CHECK(probe_run(p, probe_restart) == SIM_DONE); /* asked again, not added */
    CHECK(s->bad_range_count == 3 && probe_queries(p, DXGKQAITYPE_SEGMENTMEMORYSTATE) == 4);
    probe_destroy(p);
}

static bool refused_for_their_number(UINT first, UINT second)
{
    struct probe *p = probe_create(NULL);
    NTSTATUS status;
    bool refused;

    add_large(p);
    p->segment[0].NumInvalidMemoryRanges = first;
    p->segment[2].NumInvalidMemoryRanges = second;
    status = probe_start(p);
    refused = probe_said(p, "CAPS-083", "the segments have 4097 invalid memory ranges");
    CHECK(refused ? status == STATUS_DEVICE_CONFIGURATION_ERROR : NT_SUCCESS(status));
    CHECK(!refused || probe_queries(p, DXGKQAITYPE_SEGMENTMEMORYSTATE) == 0);
    probe_destroy(p);
    return refused;
}

TEST(numbers_of_ranges)
{
    CHECK(!refused_for_their_number(4095, 1));
    CHECK(refused_for_their_number(4095, 2));
}

static void fail_state(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_SEGMENTMEMORYSTATE)
        call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

TEST(a_failed_query_of_ranges_fails_the_start)
{
    struct probe *p = probe_create(NULL);

    say(p, 0, &in_pages[0]);
    p->after[PROBE_QueryAdapterInfo] = fail_state;
    CHECK((NTSTATUS)probe_start(p) == STATUS_UNSUCCESSFUL && p->adapters == 0);
    probe_destroy(p);
}
