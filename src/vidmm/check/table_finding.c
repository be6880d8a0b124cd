/* SPDX-License-Identifier: MIT */
#include "vidmm/check/table_finding.h"
#include "ddi/routine.h"
#include "dxgkhost/page_tables.h"
#include "nt/base/kprocess.h"
#include "util/address.h"
#include "util/text_line.h"
#include "verify/verify.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/address_text.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/table_asked.h"

/* ---- words ---- */

struct table_call_text table_call_say(const struct table_call *call, bool flush)
{
    struct table_call_text out = {""};
    struct text_line line = text_line_begin(out.text, sizeof(out.text));

    if (!call) {
        text_line_add(&line, "no call");
        return out;
    }
    text_line_add(&line, "DxgkDdiBuildPagingBuffer call %llu (%s, ",
                  (unsigned long long)call->number, flush ? "FLUSH_TLB" : "UPDATE_PAGE_TABLE");
    if (!flush)
        text_line_add(&line, "level %u [%u] to [%u], ", call->level, call->start,
                      call->start + call->count - 1);
    text_line_add(
        &line, "addresses 0x%llx to 0x%llx%s%s, at %.6f ms)", (unsigned long long)call->address,
        (unsigned long long)(call->address + call->bytes - 1), call->repeat ? ", Repeat" : "",
        call->initial ? ", InitialUpdate" : "", (double)call->time / 1e6);
    return out;
}

struct table_call_text table_process_say(const struct vidmm_space *space)
{
    const struct nt_process *process = space->process->nt;
    struct table_call_text out = {""};
    struct text_line line = text_line_begin(out.text, sizeof(out.text));

    if (space->paging)
        text_line_add(&line, "the paging process");
    else if (process)
        text_line_add(&line, "process %u (%s)", process->id, process->name);
    else
        text_line_add(&line, "a process that has ended");
    return out;
}

static void add_place(struct text_line *line, const struct page_table *table)
{
    const D3DGPU_PHYSICAL_ADDRESS at = table_address(table);

    if (at.SegmentId == 0)
        text_line_add(line, "system memory 0x%llx", (unsigned long long)at.SegmentOffset);
    else
        text_line_add(line, "segment %u offset 0x%llx", at.SegmentId,
                      (unsigned long long)at.SegmentOffset);
}

static uint64_t address_at(const struct page_table *table, uint32_t index)
{
    unsigned shift = table_shift(&table->space->mmu->geometry, table);

    return (table->first + ((uint64_t)index << shift)) << PAGE_BITS;
}

/* The entries that lead to the table and the one in question, as they stand in memory. */
static void add_walk(struct text_line *line, const struct dxgk_table_format *format,
                     const struct page_table *table, uint32_t index)
{
    const uint8_t *bytes = table_entry_at(format, table, index);

    if (table->parent)
        add_walk(line, format, table->parent, table->index);
    text_line_add(line, "%slevel %u [%u] ", table->parent ? ", " : "", table->level, index);
    if (bytes)
        text_line_add(line, "0x%llx", (unsigned long long)table_entry_bits(format, bytes));
    else
        text_line_add(line, "unseen");
}

void table_finding_entry(const struct dxgk_table_format *format, const struct page_table *table,
                         uint32_t index, const void *bytes, char *text, size_t size)
{
    struct text_line line = text_line_begin(text, size);
    const struct asked_entry *entry = &table->asked->entry[index];
    struct table_entry asked = table_entry_asked(&entry->now, table->level),
                       found = table_entry_read(format, bytes, table->level);

    text_line_add(&line, " (0x%llx", (unsigned long long)table_entry_bits(format, bytes));
    if (!entry->by)
        text_line_add(&line, ", never asked for)");
    else if (!asked_done(table->space->vidmm, entry->by))
        text_line_add(&line, ", call %llu not completed)", (unsigned long long)entry->by->number);
    else if (table_entry_differ(format, &asked, &found, table->level) == ENTRY_SAME)
        text_line_add(&line, ", by call %llu)", (unsigned long long)entry->by->number);
    else
        text_line_add(&line, ", NOT as call %llu asked)", (unsigned long long)entry->by->number);
}

/* ---- reports ---- */

bool table_finding_continues(const struct table_finding *run, const struct table_finding *next)
{
    return next->index == run->index + run->count && next->kind == run->kind &&
           next->part == run->part && next->by == run->by;
}

static void report(const struct table_finding *finding, const char *what)
{
    switch (finding->kind) {
    case FINDING_LEFT:
        VIOLATION("GPUVA-260", "an update of page tables was not carried out: %s", what);
        return;
    case FINDING_LATE:
        VIOLATION("GPUVA-260", "an update of page tables was carried out after its completion: %s",
                  what);
        return;
    case FINDING_UNASKED:
        VIOLATION("GPUVA-261", "a valid entry of a page table that nobody asked for: %s", what);
        return;
    default:
        break;
    }
    switch (finding->part) {
    case ENTRY_VALID:
        VIOLATION("GPUVA-191", "an entry of a page table should be valid: %s", what);
        return;
    case ENTRY_ZERO_BIT:
        VIOLATION("GPUVA-192", "the Zero state of an entry is wrong: %s", what);
        return;
    case ENTRY_LARGE:
        VIOLATION("GPUVA-213",
                  "an entry maps a large page where a table was asked for, or a table "
                  "where a large page was: %s",
                  what);
        return;
    case ENTRY_BIG:
        VIOLATION("GPUVA-206", "the page size of a leaf table is wrong: %s", what);
        return;
    case ENTRY_SEGMENT:
        VIOLATION("GPUVA-196", "an entry of a page table points into another segment: %s", what);
        return;
    case ENTRY_READ_ONLY:
        VIOLATION("GPUVA-193", "the write protection of an entry is wrong: %s", what);
        return;
    case ENTRY_NO_EXECUTE:
        VIOLATION("GPUVA-194", "the execute protection of an entry is wrong: %s", what);
        return;
    case ENTRY_COHERENT:
        VIOLATION("GPUVA-195", "the cache coherence of an entry is wrong: %s", what);
        return;
    default:
        break;
    }
    if (finding->table->level == 0)
        VIOLATION("GPUVA-197", "an entry of a page table points to another page: %s", what);
    else
        VIOLATION("GPUVA-198", "an entry of a page table points to another table: %s", what);
}

void table_finding_report(const struct table_finding *finding)
{
    const struct page_table *table = finding->table;
    const uint64_t first = address_at(table, finding->index);
    char text[2048];
    struct text_line line = text_line_begin(text, sizeof(text));
    struct vidmm_address_text owner = {.owner = ""};

    text_line_add(&line, "%s, addresses 0x%llx to 0x%llx: level %u [%u]",
                  table_process_say(table->space).text, (unsigned long long)first,
                  (unsigned long long)address_at(table, finding->index + finding->count) - 1,
                  table->level, finding->index);
    if (finding->count > 1)
        text_line_add(&line, " to [%u]", finding->index + finding->count - 1);
    text_line_add(&line, " of the table at ");
    add_place(&line, table);
    text_line_add(&line, " is ");
    table_entry_say(&line, &finding->found, table->level);
    text_line_add(&line, " (0x%llx); %s asked for ", (unsigned long long)finding->bits,
                  table_call_say(finding->by, false).text);
    table_entry_say(&line, &finding->asked, table->level);
    if (finding->kind == FINDING_LEFT)
        text_line_add(&line, "; it has what was asked for before, by %s",
                      table_call_say(finding->by_before, false).text);
    text_line_add(&line, "; entries: ");
    add_walk(&line, finding->format, table, finding->index);
    vidmm_address_text(table->space->process, first, &owner);
    if (owner.owner[0])
        text_line_add(&line, "; %s", owner.owner);
    ddi_blame(finding->table->space->vidmm->ddi, "DxgkDdiBuildPagingBuffer");
    report(finding, text);
}

void table_finding_short(const struct dxgk_table_format *format, const struct page_table *table)
{
    char text[128];
    struct text_line line = text_line_begin(text, sizeof(text));

    add_place(&line, table);
    VIOLATION("GPUVA-155",
              "%s: the root table at %s has %llu bytes, which hold %llu entries of %u bytes; the "
              "driver says that they hold %u",
              table_process_say(table->space).text, text,
              (unsigned long long)(table->place.pages << PAGE_BITS),
              (unsigned long long)table_entry_room(format, table), format->entry_bytes,
              table->entries);
}

/* ---- the model's own walk ---- */

void table_finding_walk(const struct vidmm_space *space, uint64_t address,
                        const struct table_call *by, const struct table_entry *asked,
                        const struct dxgk_walk *walk)
{
    const uint64_t in_page = address & (PAGE_BYTES - 1);
    char text[1024];
    struct text_line line = text_line_begin(text, sizeof(text));

    if (asked->valid == walk->valid &&
        (!asked->valid ||
         (asked->zero == walk->zero && (asked->zero || (asked->segment == walk->segment &&
                                                        asked->offset + in_page == walk->offset)))))
        return;
    text_line_add(&line, "%s, address 0x%llx: the device finds ", table_process_say(space).text,
                  (unsigned long long)address);
    if (!walk->valid)
        text_line_add(&line, "nothing valid");
    else if (walk->zero)
        text_line_add(&line, "Zero");
    else
        text_line_add(&line, "segment %u offset 0x%llx", walk->segment,
                      (unsigned long long)walk->offset);
    text_line_add(&line, "; %s asked for ", table_call_say(by, false).text);
    table_entry_say(&line, asked, 0);
    text_line_add(&line, "; entries: ");
    for (uint32_t i = 0; i < walk->steps; i++)
        text_line_add(&line, "%slevel %u [%u] 0x%llx", i ? ", " : "", walk->step[i].level,
                      walk->step[i].index, (unsigned long long)walk->step[i].entry);
    VIOLATION("GPUVA-264", "the walk of the device ends elsewhere: %s", text);
}
