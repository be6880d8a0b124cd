/* SPDX-License-Identifier: MIT */
/* The report of physical memory: the figures are those of the machine, and the picture shows every owner. */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "physmem/physical_adapter.h"
#include "physmem/physical_services.h"
#include "report/memory.h"
#include "util/alloc.h"

#define MIB ((uint64_t)1 << 20)

static struct {
    struct util_heap heap;
    struct ram *ram;
    struct iommu_domain *domain;
    struct physical_memory *physical;
    struct physical_adapter *adapter;
    struct report_adapter listed;
    struct report_memory memory;
} t;

static int set_up(void)
{
    struct physical_adapter_config config = {.name = "adapter"};

    memset(&t, 0, sizeof(t));
    util_heap_current = &t.heap;
    t.ram = ram_create(&(struct ram_config){.bytes = 64 * MIB});
    t.domain = iommu_domain_create(t.ram, IOMMU_ISOLATION, (struct logical_addr){64 * MIB - 1});
    t.physical = physical_memory_create(t.ram, NULL);
    config.memory = t.physical;
    config.domain = t.domain;
    t.adapter = physical_adapter_create(&config);
    t.listed = (struct report_adapter){"adapter 0", t.domain, t.adapter};
    t.memory = (struct report_memory){t.ram, t.physical, &t.listed, 1};
    return t.adapter ? 0 : -1;
}

static int tear_down(void)
{
    physical_adapter_destroy(t.adapter);
    physical_memory_destroy(t.physical);
    iommu_domain_destroy(t.domain);
    ram_destroy(t.ram);
    util_heap_current = NULL;
    return t.heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_memory void
#define RIG_RUN_memory(body)        \
    test_set_up(set_up, tear_down); \
    body()

static void allocate_as(uint64_t bytes, DXGK_MEMORY_CACHING_TYPE cache)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {
        .NumberOfBytes = bytes, .HighestAcceptableAddress.QuadPart = -1, .CacheType = cache};

    CHECK(physical_contiguous_allocate(t.adapter, &args) == STATUS_SUCCESS);
}

static void allocate(uint64_t bytes)
{
    allocate_as(bytes, DXGK_MEMORY_CACHING_TYPE_CACHED);
}

/* Freed by the caller. */
static char *written(bool (*write)(const struct report_memory *memory, FILE *out), bool expected)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK(out != NULL && write(&t.memory, out) == expected && fclose(out) == 0);
    return text;
}

TEST_WITH(memory, text_gives_the_figures_of_the_machine)
{
    char *text;

    allocate(2 * MIB);
    allocate(MIB);
    text = written(report_memory_text, true);
    CHECK(strstr(text, "all                             65536 KiB,      62460 KiB free"));
    CHECK(strstr(text, "below 1 MiB                      1024 KiB,       1020 KiB free"));
    CHECK(strstr(text, "contiguous, by DxgkCb            3072 KiB"));
    CHECK(strstr(text, "free runs                           1"));
    CHECK(strstr(text, "adapter 0                  isolated, 768 pages mapped"));
    CHECK(strstr(text, "adapter 0                  2 x contiguous block, 3145728 bytes, cached\n"));
    CHECK(!strstr(text, "non-cached") && !strstr(text, "write-combined"));
    free(text);
}

/* Beside the pages of each owner, and of each kind of holding. */
TEST_WITH(memory, text_tells_how_memory_is_cached)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = {.TotalBytes = 8192,
                                           .HighAddress.QuadPart = -1,
                                           .CacheType = DXGK_MEMORY_CACHING_TYPE_NON_CACHED};
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = {
        .Size = MIB,
        .Type = DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
        .CacheType = DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED};
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = {.Size = 4096};
    char *text;

    allocate(MIB);
    allocate_as(MIB, DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED);
    allocate_as(2 * MIB, DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED);
    allocate_as(4096, DXGK_MEMORY_CACHING_TYPE_NON_CACHED);
    CHECK(physical_mdl_allocate(t.adapter, &pages) == STATUS_SUCCESS);
    object.Section.PageProtection = PAGE_READWRITE;
    object.Section.AllocationAttributes = SEC_COMMIT;
    CHECK(physical_object_create(t.physical, t.adapter, NULL, NULL, &object) == STATUS_SUCCESS);
    view.hPhysicalMemoryObject = object.hPhysicalMemoryObject;
    CHECK(physical_object_map(t.physical, NULL, &view) == STATUS_SUCCESS);
    text = written(report_memory_text, true);
    CHECK_RULE("PHYS-024/a", strstr(text, "contiguous, by DxgkCb            4100 KiB, "
                                          "non-cached 4 KiB, write-combined 3072 KiB\n"));
    CHECK_RULE("PHYS-024/a", strstr(text, "pages for MDLs                      8 KiB, "
                                          "non-cached 8 KiB\n"));
    CHECK_RULE("PHYS-024/a", strstr(text, "1 x contiguous block, 1048576 bytes, cached\n"));
    CHECK_RULE("PHYS-024/a", strstr(text, "2 x contiguous block, 3145728 bytes, write-combined\n"));
    CHECK_RULE("PHYS-024/a", strstr(text, "1 x contiguous block, 4096 bytes, non-cached\n"));
    CHECK_RULE("PHYS-024/a", strstr(text, "1 x pages for an MDL, 8192 bytes, non-cached\n"));
    CHECK_RULE("PHYS-151", strstr(text, "1 x CPU mapping, 4096 bytes, write-combined\n"));
    CHECK(strstr(text, "1 x physical memory object, 1048576 bytes, write-combined\n"));
    CHECK(strstr(text, "1 x adapter memory object, 1048576 bytes\n"));
    free(text);
}

/* A mark in each cell that holds some; lines "m1 7..." of write-combined, "m1 4..." of non-cached pages. */
TEST_WITH(memory, the_picture_marks_how_memory_is_cached)
{
    unsigned marks = 0;
    char *svg;

    allocate(MIB);
    svg = written(report_memory_svg, true);
    CHECK(strstr(svg, "some write-combined") && strstr(svg, "some non-cached"));
    for (char *at = svg; (at = strstr(at, "m1 7l6 -6")) != NULL; at++)
        marks++;
    CHECK(marks == 1); /* of the legend */
    free(svg);
    allocate_as(5 * 12288, DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED);
    allocate_as(4096, DXGK_MEMORY_CACHING_TYPE_NON_CACHED);
    svg = written(report_memory_svg, true);
    marks = 0;
    for (char *at = svg; (at = strstr(at, "m1 7l6 -6")) != NULL; at++)
        marks++;
    CHECK(marks >= 1 + 5 && marks <= 1 + 6);
    marks = 0;
    for (char *at = svg; (at = strstr(at, "m1 4h6")) != NULL; at++)
        marks++;
    CHECK(marks == 1 + 1);
    free(svg);
}

TEST_WITH(memory, the_picture_shows_every_owner)
{
    struct ram_request request = {.pages = 1, .owner = RAM_POOL, .low.value = 32 * MIB};
    struct page_number first;
    char *svg;

    request.high.value = 32 * MIB + PAGE_BYTES - 1;
    CHECK(ram_take_contiguous(t.ram, &request, &first));
    allocate(20 * MIB);
    svg = written(report_memory_svg, true);
    CHECK(strncmp(svg, "<svg ", 5) == 0 && strstr(svg, "</svg>"));
    /* One frame of 16384 has its own cell; a cell is three frames. */
    CHECK(strstr(svg, "width=\"8\" height=\"8\" fill=\"#1f77b4\"/>") &&
          strstr(svg, "width=\"768\" height=\"8\" fill=\"#2ca02c\"/>") &&
          strstr(svg, "one cell: 12 KiB"));
    CHECK(!strstr(svg, "height=\"8\" fill=\"#d62728\"/>"));
    free(svg);
}

TEST_WITH(memory, running_out_of_memory_is_survived)
{
    char *text;

    allocate(MIB);
    t.heap.fail_at = t.heap.requests + 1;
    text = written(report_memory_text, false);
    free(text);
    for (unsigned n = 1; n <= 2; n++) {
        t.heap.fail_at = t.heap.requests + n;
        text = written(report_memory_svg, false);
        free(text);
    }
    t.heap.fail_at = 0;
}
