/* SPDX-License-Identifier: MIT */
#include "cli/page_parts.h"
#include "cli/session.h"
#include "dxgkhost/display.h"
#include "images/png_file.h"
#include "util/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ADAPTERS 16u
#define MOST_SOURCES  16u
#define SCREEN_BYTES  400000u /* of a PNG; a larger picture is made smaller */
#define LEAST_SIDE    320u

static struct cli_page_part *add(struct cli_page_parts *page)
{
    if (page->parts == CLI_PAGE_PARTS)
        return NULL;
    return &page->part[page->parts++];
}

/* ---- screens ---- */

/* Every pixel is the mean of a square of `by` times `by`. */
static bool shrink(const struct dxgk_picture *from, unsigned by, struct picture *to)
{
    *to = (struct picture){from->width / by, from->height / by, NULL};
    to->rows = malloc((size_t)to->width * to->height * 3);
    for (uint32_t y = 0; to->rows && y < to->height; y++)
        for (uint32_t x = 0; x < to->width * 3; x++) {
            const uint8_t *corner = from->rgb +
                                    ((size_t)y * by * from->width + (size_t)(x / 3) * by) * 3 +
                                    x % 3;
            unsigned sum = 0;

            for (unsigned k = 0; k < by * by; k++)
                sum += corner[((size_t)(k / by) * from->width + k % by) * 3];
            to->rows[(size_t)y * to->width * 3 + x] = (uint8_t)(sum / (by * by));
        }
    return to->rows != NULL;
}

static void encode(const struct dxgk_picture *seen, struct cli_page_part *part)
{
    const struct picture whole = {seen->width, seen->height, seen->rgb};
    struct picture small;

    part->png = png_encode(&part->bytes, &whole, part->note, sizeof(part->note));
    for (unsigned by = 2; part->png && part->bytes > SCREEN_BYTES && seen->width / by > LEAST_SIDE;
         by++) {
        free(part->png);
        part->png = NULL;
        if (!shrink(seen, by, &small)) {
            snprintf(part->note, sizeof(part->note), "out of memory");
            return;
        }
        part->png = png_encode(&part->bytes, &small, part->note, sizeof(part->note));
        free(small.rows);
        if (part->png)
            snprintf(part->note, sizeof(part->note), "drawn at 1/%u of its size", by);
    }
}

/* False: there is no such source, or nothing can be told of it. */
static bool keep_screen(struct cli_session *session, unsigned adapter, unsigned source)
{
    struct dxgk_picture seen;
    struct cli_page_part *part;
    char why[200] = "";

    if (dxgk_machine_capture(session->machine, adapter, source, &seen, why, sizeof(why)) != DXGK_OK)
        return false;
    part = add(session->page);
    if (part) {
        snprintf(part->title, sizeof(part->title), "Screen of source %u of adapter %u", source,
                 adapter);
        if (seen.rgb) {
            const size_t length = strlen(part->title);

            snprintf(part->title + length, sizeof(part->title) - length, ", %u x %u%s", seen.width,
                     seen.height, seen.black ? ", not visible" : "");
            encode(&seen, part);
        } else {
            snprintf(part->note, sizeof(part->note), "The screen has no signal.");
        }
    }
    dxgk_picture_free(&seen);
    return true;
}

static void keep_screens(struct cli_session *session)
{
    const unsigned adapters = dxgk_machine_adapters(session->machine);

    for (unsigned adapter = 0; adapter < adapters && adapter < MOST_ADAPTERS; adapter++)
        for (unsigned source = 0; source < MOST_SOURCES && keep_screen(session, adapter, source);
             source++)
            ;
}

/* ---- memory ---- */

/* `report` of an adapter, or the memory of the machine (NULL). */
static bool write_part(struct cli_session *session, const enum dxgk_report *report,
                       unsigned adapter, enum dxgk_memory_form form, FILE *out)
{
    return report ? dxgk_machine_write_report(session->machine, adapter, *report, form, out)
                  : dxgk_machine_write_memory(session->machine, form, out);
}

/* To be freed; NULL: it could not be written. */
static char *text_of(struct cli_session *session, const enum dxgk_report *report, unsigned adapter,
                     enum dxgk_memory_form form, size_t *bytes)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, bytes);
    bool good = memory && write_part(session, report, adapter, form, memory);

    if (memory && fclose(memory) == 0 && good)
        return text;
    free(text);
    return NULL;
}

static void keep(struct cli_session *session, const char *title, const enum dxgk_report *report,
                 unsigned adapter)
{
    struct cli_page_part *part = add(session->page);
    size_t bytes;

    if (!part)
        return;
    snprintf(part->title, sizeof(part->title), "%s", title);
    part->svg = text_of(session, report, adapter, DXGK_MEMORY_SVG, &part->bytes);
    part->text = text_of(session, report, adapter, DXGK_MEMORY_TEXT, &bytes);
    if (!part->svg) {
        part->bytes = 0;
        snprintf(part->note, sizeof(part->note), "No picture: out of memory.");
    }
    if (part->text && bytes > CLI_PAGE_PART_BYTES / 4) {
        free(part->text);
        part->text = NULL;
    }
}

static void keep_adapter(struct cli_session *session, unsigned adapter)
{
    static const struct {
        enum dxgk_report report;
        const char *title;
    } kinds[] = {{DXGK_REPORT_RESIDENCY, "Segments"}, {DXGK_REPORT_GPUVA, "GPU address spaces"}};
    char title[64], why[200];

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (!dxgk_machine_has_report(session->machine, adapter, kinds[i].report, why, sizeof(why)))
            continue;
        snprintf(title, sizeof(title), "%s of adapter %u, over time", kinds[i].title, adapter);
        keep(session, title, &kinds[i].report, adapter);
    }
}

/* A page stays one that a browser opens. */
static void limit(struct cli_page_parts *page)
{
    for (size_t i = 0; i < page->parts; i++) {
        struct cli_page_part *part = &page->part[i];

        if (part->bytes <= CLI_PAGE_PART_BYTES && page->bytes + part->bytes <= CLI_PAGE_BYTES) {
            page->bytes += part->bytes;
            continue;
        }
        snprintf(part->note, sizeof(part->note),
                 "The picture is left out: it has %.1f MB. %s writes it into a file of its own.",
                 (double)part->bytes / 1e6, part->svg ? "--report" : "--screen");
        part->bytes = 0;
    }
}

void cli_page_keep(struct cli_session *session)
{
    unsigned adapters;

    if (!session->options->result[CLI_RESULT_HTML].path)
        return;
    session->page = calloc(1, sizeof(*session->page));
    if (!session->page)
        return;
    adapters = session->loaded == DXGK_OK ? dxgk_machine_adapters(session->machine) : 0;
    if (session->loaded == DXGK_OK)
        keep_screens(session);
    keep(session, "Physical memory at the end of the workload", NULL, 0);
    for (unsigned adapter = 0; adapter < adapters && adapter < MOST_ADAPTERS; adapter++)
        keep_adapter(session, adapter);
    limit(session->page);
}

void cli_page_free(struct cli_session *session)
{
    for (size_t i = 0; session->page && i < session->page->parts; i++) {
        free(session->page->part[i].svg);
        free(session->page->part[i].png);
        free(session->page->part[i].text);
    }
    free(session->page);
    session->page = NULL;
}
