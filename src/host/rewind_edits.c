/* SPDX-License-Identifier: MIT */
/* What was done to mappings since, and taking it back. */
#include "host/rewind.h"

#include <sys/mman.h>

#include "util/address.h"
#include "util/min_max.h"

/* ---- what is done to them ---- */

enum cover { OUTSIDE, PARTLY, INSIDE };

/* How much of the range there was. */
static enum cover covered(const struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    uintptr_t bytes = 0;

    for (size_t i = rewind_find_area(rewind, first);
         i < rewind->areas && rewind->area[i].first < end; i++)
        bytes += min_of(rewind->area[i].end, end) - max_of(rewind->area[i].first, first);
    return bytes == 0 ? OUTSIDE : bytes == end - first ? INSIDE : PARTLY;
}

static struct rewind_edit *find_edit(struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    for (size_t i = rewind->edits; i-- > 0;)
        if (rewind->edit[i].first == first && rewind->edit[i].end == end)
            return &rewind->edit[i];
    return NULL;
}

static struct rewind_edit *edit_of(struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    struct rewind_edit *edit = find_edit(rewind, first, end);

    if (edit)
        return edit;
    if (rewind->edits == REWIND_EDITS) {
        rewind->lost = "too many mappings were changed";
        return NULL;
    }
    edit = &rewind->edit[rewind->edits++];
    *edit = (struct rewind_edit){.first = first, .end = end, .file = -1};
    return edit;
}

static int file_of(const struct rewind *rewind, int descriptor)
{
    for (int i = 0; i < rewind->files && descriptor >= 0; i++)
        if (rewind->file[i].ram.file == descriptor)
            return i;
    return -1;
}

static void on_mapped(struct rewind *rewind, const struct util_map_event *event, uintptr_t first,
                      uintptr_t end)
{
    struct rewind_edit *edit = edit_of(rewind, first, end);

    if (!edit)
        return;
    edit->replaced = true;
    edit->file = file_of(rewind, event->file);
    edit->offset = (uint64_t)event->offset;
    if (edit->file >= 0 && !rewind_track(rewind, first, end))
        rewind->lost = "pages of a new mapping cannot be tracked";
}

/* Whether pages of files may be there. */
static bool shows_file(const struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    for (size_t i = 0; i < rewind->edits; i++)
        if (rewind->edit[i].file >= 0 && rewind->edit[i].first < end && rewind->edit[i].end > first)
            return true;
    for (size_t i = rewind_find_area(rewind, first);
         i < rewind->areas && rewind->area[i].first < end; i++)
        if (rewind->area[i].file >= 0)
            return true;
    return false;
}

/* What was there before stays there, without access. */
static bool on_removing(struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    struct rewind_edit *edit = find_edit(rewind, first, end);

    if (shows_file(rewind, first, end))
        rewind_note_dirty(rewind, first, end);
    switch (covered(rewind, first, end)) {
    case INSIDE:
        (void)edit_of(rewind, first, end);
        return mprotect((void *)first, end - first, PROT_NONE) == 0; // NOLINT: of the maps
    case OUTSIDE:
        if (edit)
            *edit = rewind->edit[--rewind->edits];
        return false;
    default:
        rewind->lost = "a mapping was removed together with its neighbor";
        return false;
    }
}

static void on_protected(struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    for (size_t i = rewind_find_area(rewind, first);
         i < rewind->areas && rewind->area[i].first < end; i++) {
        const struct rewind_area *area = &rewind->area[i];

        (void)edit_of(rewind, first, end);
        if (area->lazy && !rewind_track(rewind, max_of(first, area->first), min_of(end, area->end)))
            rewind->lost = "pages of a reservation cannot be tracked";
        else if (!area->lazy && !area->tracked)
            rewind->lost = "memory whose pages are not tracked got another protection";
    }
}

bool rewind_map_changed(struct util_map_listener *listener, const struct util_map_event *event)
{
    struct rewind *rewind = (struct rewind *)(void *)listener; /* its first member */
    const uintptr_t first = align_down((uintptr_t)event->start, PAGE_BYTES);
    const uintptr_t end = align_up((uintptr_t)event->start + event->bytes, PAGE_BYTES);
    struct rewind_edit *edit;

    switch (event->change) {
    case UTIL_MAP_NEW:
    case UTIL_MAP_REPLACED:
        on_mapped(rewind, event, first, end);
        return false;
    case UTIL_MAP_REPLACING:
        if (shows_file(rewind, first, end))
            rewind_note_dirty(rewind, first, end);
        return false;
    case UTIL_MAP_REMOVING:
        return on_removing(rewind, first, end);
    case UTIL_MAP_PROTECTED:
        on_protected(rewind, first, end);
        return false;
    default:
        edit = covered(rewind, first, end) == OUTSIDE ? NULL : edit_of(rewind, first, end);
        if (edit)
            edit->discarded = true;
        return false;
    }
}

/* ---- taking it back ---- */

static bool map_again(struct rewind *rewind, const struct rewind_area *area, uintptr_t first,
                      uintptr_t end)
{
    const int flags = MAP_FIXED | MAP_NORESERVE |
                      (area->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
    const int file = area->file >= 0 ? rewind->file[area->file].ram.file : -1;
    const uint64_t offset = area->file >= 0 ? area->offset + (first - area->first) : 0;

    if (!(area->tracked || area->lazy) || (area->file < 0 && !area->anonymous)) {
        rewind->lost = "a mapping was replaced that cannot be made again";
        return false;
    }
    if (mmap((void *)first, end - first, area->protection, flags, file, // NOLINT: of the maps
             (off_t)offset) == MAP_FAILED ||
        (area->tracked && !rewind_track(rewind, first, end))) {
        rewind->lost = "a mapping could not be made again";
        return false;
    }
    return area->file >= 0 || area->lazy || rewind_put_back(rewind, area, first, end);
}

static bool undo_part(struct rewind *rewind, const struct rewind_edit *edit,
                      const struct rewind_area *area, uintptr_t first, uintptr_t end)
{
    if (edit->replaced)
        return map_again(rewind, area, first, end);
    if (mprotect((void *)first, end - first, area->protection) != 0) { // NOLINT: of the maps
        rewind->lost = "a protection could not be set again";
        return false;
    }
    return !edit->discarded || area->shared || rewind_put_back(rewind, area, first, end);
}

static bool undo(struct rewind *rewind, const struct rewind_edit *edit)
{
    uintptr_t at = edit->first;

    if (edit->file >= 0)
        rewind_note_dirty(rewind, edit->first, edit->end);
    for (size_t i = rewind_find_area(rewind, at); at < edit->end; i++) {
        const struct rewind_area *area = i < rewind->areas ? &rewind->area[i] : NULL;
        const uintptr_t next = area && area->first < edit->end ? max_of(area->first, at) : edit->end;

        if (next > at && edit->replaced)
            munmap((void *)at, next - at); // NOLINT: of the edit
        if (next == edit->end)
            break;
        at = min_of(area->end, edit->end);
        if (!undo_part(rewind, edit, area, next, at))
            return false;
    }
    return true;
}

bool rewind_undo_edits(struct rewind *rewind)
{
    for (size_t i = rewind->edits; i-- > 0;)
        if (!undo(rewind, &rewind->edit[i]))
            return false;
    rewind->edits = 0;
    return true;
}
