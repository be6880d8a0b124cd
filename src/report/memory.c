/* SPDX-License-Identifier: MIT */
#include "report/memory.h"

#include <inttypes.h>

#include "util/alloc.h"
#include "util/array.h"

#define MIB     ((uint64_t)1 << 20)
#define GIB     ((uint64_t)1 << 30)
#define COLUMNS 96u
#define ROWS    64u
#define CELL    8u /* pixels */

/* ---- owners ---- */

static const struct {
    const char *name, *colour;
} owners[] = {
    [RAM_FREE] = {"free", "#eeeeee"},
    [RAM_HOST] = {"host", "#7f7f7f"},
    [RAM_POOL] = {"pool", "#1f77b4"},
    [RAM_CONTIGUOUS] = {"contiguous, by the kernel", "#17becf"},
    [RAM_DRIVER_BLOCK] = {"contiguous, by DxgkCb", "#2ca02c"},
    [RAM_MDL_PAGES] = {"pages for MDLs", "#98df8a"},
    [RAM_OBJECT] = {"physical memory objects", "#bcbd22"},
    [RAM_ALLOCATION] = {"allocations", "#ff7f0e"},
    [RAM_CLIENT] = {"clients", "#9467bd"},
    [RAM_QUARANTINED] = {"quarantined", "#d62728"},
};

enum { OWNERS = ARRAY_COUNT(owners) };

/* The cache attributes of pages in use, and their marks in the picture: lines inside a cell. Cached
 * pages have no mark. */
static const struct {
    const char *name, *mark;
} caches[] = {
    [RAM_NON_CACHED] = {"non-cached", "m1 4h6"},
    [RAM_CACHED] = {"cached", NULL},
    [RAM_WRITE_COMBINED] = {"write-combined", "m1 7l6 -6"},
};

enum { CACHES = ARRAY_COUNT(caches) };

const char *report_owner_name(enum ram_owner owner)
{
    return owners[owner].name;
}

const char *report_cache_name(enum ram_cache cache)
{
    return caches[cache].name;
}

/* The longest run from `first` up to `top` with one owner and one cache attribute; a free run
 * counts as one. */
static uint64_t stretch(const struct ram *ram, uint64_t first, uint64_t top, enum ram_owner *owner)
{
    enum ram_cache cache = ram_page_cache(ram, (struct page_number){first});
    uint64_t end = first + 1, free_pages;
    struct page_number page = {first};

    *owner = ram_page_owner(ram, page);
    free_pages = *owner == RAM_FREE ? ram_free_run(ram, page) : 0;
    if (free_pages > 0)
        return free_pages < top - first ? free_pages : top - first;
    while (end < top && ram_page_owner(ram, (struct page_number){end}) == *owner &&
           ram_page_cache(ram, (struct page_number){end}) == cache)
        end++;
    return end - first;
}

/* ---- text ---- */

struct zone {
    const char *name;
    uint64_t end; /* bytes */
    uint64_t pages, free_pages;
};

static void add_to_zone(struct zone *zone, uint64_t first, uint64_t pages, bool is_free)
{
    uint64_t end = zone->end / PAGE_BYTES, here = first >= end          ? 0
                                                  : first + pages > end ? end - first
                                                                        : pages;

    zone->pages += here;
    zone->free_pages += is_free ? here : 0;
}

/* The pages of an owner, and how many of them do not have the usual cache attribute. */
static void write_owner(unsigned owner, const uint64_t pages[CACHES], FILE *out)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < CACHES; i++)
        all += pages[i];
    if (all == 0)
        return;
    fprintf(out, "  %-26s %10" PRIu64 " KiB", owners[owner].name, all * 4);
    for (unsigned i = 0; i < CACHES && owner != RAM_FREE; i++)
        if (i != RAM_CACHED && pages[i] > 0)
            fprintf(out, ", %s %" PRIu64 " KiB", caches[i].name, pages[i] * 4);
    fprintf(out, "\n");
}

static void write_zones(const struct ram *ram, FILE *out)
{
    struct zone zones[] = {{"below 1 MiB", MIB, 0, 0},
                           {"below 16 MiB", 16 * MIB, 0, 0},
                           {"below 4 GiB", 4 * GIB, 0, 0},
                           {"all", UINT64_MAX, 0, 0}};
    uint64_t top = ram_bytes(ram) / PAGE_BYTES, of[OWNERS][CACHES] = {{0}}, runs = 0, longest = 0,
             free_pages = 0;
    enum ram_owner owner;

    for (uint64_t at = 0, pages; at < top; at += pages) {
        pages = stretch(ram, at, top, &owner);
        of[owner][ram_page_cache(ram, (struct page_number){at})] += pages;
        free_pages += owner == RAM_FREE ? pages : 0;
        runs += owner == RAM_FREE;
        if (owner == RAM_FREE && pages > longest)
            longest = pages;
        for (unsigned i = 0; i < 4; i++)
            add_to_zone(&zones[i], at, pages, owner == RAM_FREE);
    }
    fprintf(out, "physical memory\n");
    for (unsigned i = 0; i < 4; i++)
        fprintf(out, "  %-26s %10" PRIu64 " KiB, %10" PRIu64 " KiB free\n", zones[i].name,
                zones[i].pages * 4, zones[i].free_pages * 4);
    fprintf(out, "owners\n");
    for (unsigned i = 0; i < OWNERS; i++)
        write_owner(i, of[i], out);
    fprintf(out,
            "fragmentation\n  %-26s %10" PRIu64 "\n  %-26s %10" PRIu64 " KiB\n  %-26s %10.1f %%\n",
            "free runs", runs, "longest free run", longest * 4, "free outside of the longest",
            free_pages ? 100.0 * (double)(free_pages - longest) / (double)free_pages : 0.0);
}

static void write_domain(const struct report_adapter *adapter, FILE *out)
{
    static const char *const modes[] = {"physical", "isolated", "logical"};

    fprintf(out, "  %-26s %s, %" PRIu64 " pages mapped, %" PRIu64 " map operations\n",
            adapter->name, modes[iommu_domain_mode(adapter->domain)],
            iommu_domain_mapped_pages(adapter->domain), iommu_domain_map_count(adapter->domain));
}

static bool alike(const struct physical_holding *a, const struct physical_holding *b)
{
    return a->kind == b->kind && a->has_cache == b->has_cache &&
           (!a->has_cache || a->cache == b->cache);
}

/* What the driver holds, by kind and cache attribute, in the order of the first of each. */
static bool write_holdings(const struct report_memory *memory, const char *name,
                           const struct physical_adapter *adapter, FILE *out)
{
    size_t count = physical_holdings(memory->physical, adapter, NULL, 0);
    struct physical_holding *list = count ? util_alloc(count * sizeof(*list)) : NULL;

    if (count && !list)
        return false;
    physical_holdings(memory->physical, adapter, list, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0, bytes = 0;
        bool first = true;

        for (size_t k = 0; k < i && first; k++)
            first = !alike(&list[k], &list[i]);
        for (size_t k = i; k < count && first; k++) {
            number += alike(&list[k], &list[i]);
            bytes += alike(&list[k], &list[i]) ? list[k].bytes : 0;
        }
        if (first)
            fprintf(out, "  %-26s %" PRIu64 " x %s, %" PRIu64 " bytes%s%s\n", name, number,
                    physical_kind_name(list[i].kind), bytes, list[i].has_cache ? ", " : "",
                    list[i].has_cache ? caches[list[i].cache].name : "");
    }
    util_free(list);
    return true;
}

bool report_memory_text(const struct report_memory *memory, FILE *out)
{
    bool done = true;

    write_zones(memory->ram, out);
    fprintf(out, "IOMMU domains\n");
    for (size_t i = 0; i < memory->adapter_count; i++)
        if (memory->adapters[i].domain)
            write_domain(&memory->adapters[i], out);
    fprintf(out, "held by drivers\n");
    for (size_t i = 0; i < memory->adapter_count; i++)
        if (memory->adapters[i].physical)
            done &= write_holdings(memory, memory->adapters[i].name, memory->adapters[i].physical,
                                   out);
    done &= write_holdings(memory, "no adapter", NULL, out);
    fprintf(out, "  %-26s %" PRIu64 " bytes\n", "committed sections",
            physical_memory_commit(memory->physical));
    return done && !ferror(out);
}

/* ---- picture ---- */

struct picture {
    uint64_t cell_pages;
    uint64_t cells;
    uint32_t (*frames)[OWNERS]; /* number of frames in each cell, by owner */
    uint8_t *marks;             /* for each cell, a bit for each cache attribute in it */
};

static void count_frames(const struct ram *ram, struct picture *picture)
{
    uint64_t top = ram_bytes(ram) / PAGE_BYTES;
    enum ram_owner owner;

    for (uint64_t at = 0, pages; at < top; at += pages) {
        uint64_t cell = at / picture->cell_pages, end = (cell + 1) * picture->cell_pages;

        pages = stretch(ram, at, end < top ? end : top, &owner);
        picture->frames[cell][owner] += (uint32_t)pages;
        if (owner != RAM_FREE)
            picture->marks[cell] |= (uint8_t)(1u << ram_page_cache(ram, (struct page_number){at}));
    }
}

/* A cell shows what is in use, however little it is. */
static unsigned colour_of(const uint32_t frames[OWNERS])
{
    unsigned best = RAM_FREE;

    for (unsigned i = RAM_FREE + 1; i < OWNERS; i++)
        if (frames[i] > 0 && (best == RAM_FREE || frames[i] > frames[best]))
            best = i;
    return best;
}

/* Neighboring cells of one color in a row become one rectangle. */
static void write_cells(const struct picture *picture, FILE *out)
{
    for (uint64_t first = 0, next; first < picture->cells; first = next) {
        unsigned colour = colour_of(picture->frames[first]);

        for (next = first + 1; next < picture->cells && next % COLUMNS != 0 &&
                               colour_of(picture->frames[next]) == colour;
             next++)
            ;
        fprintf(out,
                "<rect x=\"%" PRIu64 "\" y=\"%" PRIu64 "\" width=\"%" PRIu64
                "\" height=\"%u\" fill=\"%s\"/>\n",
                first % COLUMNS * CELL, first / COLUMNS * CELL, (next - first) * CELL, CELL,
                owners[colour].colour);
    }
}

/* One path for each cache attribute, over all cells that have some of it. */
static void write_marks(const struct picture *picture, FILE *out)
{
    for (unsigned i = 0; i < CACHES; i++) {
        if (!caches[i].mark)
            continue;
        fprintf(out, "<path fill=\"none\" stroke=\"black\" d=\"");
        for (uint64_t cell = 0; cell < picture->cells; cell++)
            if (picture->marks[cell] & 1u << i)
                fprintf(out, "M%" PRIu64 " %" PRIu64 "%s", cell % COLUMNS * CELL,
                        cell / COLUMNS * CELL, caches[i].mark);
        fprintf(out, "\"/>\n");
    }
}

static void write_legend(const struct picture *picture, unsigned y, FILE *out)
{
    for (unsigned i = 0; i < OWNERS; i++) {
        unsigned x = i % 3 * (COLUMNS * CELL / 3), line = y + i / 3 * 20;

        fprintf(out,
                "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                "<text x=\"%u\" y=\"%u\">%s</text>\n",
                x, line, owners[i].colour, x + 18, line + 11, owners[i].name);
    }
    fprintf(out, "<text x=\"0\" y=\"%u\">one cell: %" PRIu64 " KiB</text>\n", y + 95,
            picture->cell_pages * 4);
    for (unsigned i = 0, x = COLUMNS * CELL / 3; i < CACHES; i++) {
        if (!caches[i].mark)
            continue;
        fprintf(out,
                "<path fill=\"none\" stroke=\"black\" d=\"M%u %u%s\"/>"
                "<text x=\"%u\" y=\"%u\">some %s</text>\n",
                x, y + 87, caches[i].mark, x + 18, y + 95, caches[i].name);
        x += COLUMNS * CELL / 3;
    }
}

bool report_memory_svg(const struct report_memory *memory, FILE *out)
{
    uint64_t pages = ram_bytes(memory->ram) / PAGE_BYTES;
    struct picture picture = {.cell_pages = pages / (COLUMNS * ROWS) +
                                            (pages % (COLUMNS * ROWS) != 0)};
    unsigned rows;

    picture.cells = (pages + picture.cell_pages - 1) / picture.cell_pages;
    picture.frames = util_zalloc(picture.cells, sizeof(*picture.frames));
    picture.marks = util_zalloc(picture.cells, sizeof(*picture.marks));
    if (!picture.frames || !picture.marks) {
        util_free(picture.frames);
        util_free(picture.marks);
        return false;
    }
    count_frames(memory->ram, &picture);
    rows = (unsigned)((picture.cells + COLUMNS - 1) / COLUMNS);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<title>physical memory by owner</title>\n",
        COLUMNS * CELL, rows * CELL + 120);
    write_cells(&picture, out);
    write_marks(&picture, out);
    write_legend(&picture, rows * CELL + 16, out);
    fprintf(out, "</svg>\n");
    util_free(picture.frames);
    util_free(picture.marks);
    return !ferror(out);
}
