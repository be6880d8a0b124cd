/* SPDX-License-Identifier: MIT */
/* A ring of the views unmapped last. It is searched only on an access to an unmapped address. */
#include <stdio.h>

#include "nt/mm/retired_view.h"
#include "nt/base/caller.h"
#include "nt/base/state.h"
#include "nt/mm/address_query.h"
#include "nt/mm/user_range.h"
#include "util/address.h"

struct nt_retired_views {
    struct nt_retired_view {
        uintptr_t first, end; /* whole pages */
        bool user;            /* it belonged to a process */
        char text[192];
    } view[NT_RETIRED_VIEWS];
    uint64_t count; /* total so far; the next one goes to view[count % NT_RETIRED_VIEWS] */
};

const struct nt_component nt_retired_view_component = {
    .slot = offsetof(struct nt, retired_views),
    .bytes = sizeof(struct nt_retired_views),
};

void nt_retired_view_add(const void *address, uint64_t bytes, const char *what, const char *routine,
                         const void *caller)
{
    struct nt_retired_views *retired = nt_state() ? nt_state()->retired_views : NULL;
    struct nt_retired_view *view;
    char place[96] = "";

    if (!retired)
        return;
    view = &retired->view[retired->count++ % NT_RETIRED_VIEWS];
    if (caller)
        nt_caller_name(caller, place, sizeof(place));
    view->first = align_down((uintptr_t)address, PAGE_BYTES);
    view->end = align_up((uintptr_t)address + bytes, PAGE_BYTES);
    view->user = nt_user_range_holds(address);
    snprintf(view->text, sizeof(view->text), "a view of %.80s that %s had ended%s%.60s", what,
             routine ? routine : "the host", place[0] ? ", called at " : "", place);
}

/* The newest of several, since addresses may be reused. */
static const struct nt_retired_view *retired_at(const void *address)
{
    const struct nt_retired_views *retired = nt_state() ? nt_state()->retired_views : NULL;

    for (uint64_t i = 0; retired && i < retired->count && i < NT_RETIRED_VIEWS; i++) {
        const struct nt_retired_view *view =
            &retired->view[(retired->count - 1 - i) % NT_RETIRED_VIEWS];

        if ((uintptr_t)address >= view->first && (uintptr_t)address < view->end)
            return view;
    }
    return NULL;
}

bool nt_retired_view_at(const void *address, char *text, size_t bytes)
{
    const struct nt_retired_view *view = retired_at(address);

    if (view)
        snprintf(text, bytes, "%s", view->text);
    return view != NULL;
}

bool nt_retired_view_is_of_kernel(const void *address)
{
    const struct nt_retired_view *view = retired_at(address);

    return view ? !view->user : nt_address_is_kernel(address);
}
