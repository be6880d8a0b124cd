/* SPDX-License-Identifier: MIT */
#include "wintrace/layout.h"
#include "util/assert.h"

#include <string.h>

uint64_t layout_count(const struct wintrace_kind *kind, unsigned field, const uint64_t *first)
{
    unsigned i = 0;

    if (!kind->field[field].count)
        return 1;
    while (i < field && strcmp(kind->field[i].name, kind->field[field].count) != 0)
        i++;
    util_assert(i < field);
    return first[i];
}

struct layout layout_of(const struct wintrace_kind *kind, const uint8_t *payload)
{
    return (struct layout){.kind = kind, .at = payload};
}

static uint64_t extended(enum wintrace_type type, uint64_t value)
{
    return type == WINTRACE_INT32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

bool layout_next(struct layout *layout)
{
    const struct wintrace_field *field;
    uint64_t value = 0;

    while (layout->field < layout->kind->fields &&
           layout->kind->field[layout->field].type != WINTRACE_STRING &&
           layout->next == layout_count(layout->kind, layout->field, layout->first)) {
        layout->field++;
        layout->next = 0;
    }
    if (layout->field == layout->kind->fields)
        return false;
    field = &layout->kind->field[layout->field];
    memcpy(&value, layout->at, layout_bytes(field->type));
    layout->at += layout_bytes(field->type);
    if (layout->next == 0)
        layout->first[layout->field] = value;
    layout->name = field->name;
    layout->type = field->type;
    layout->value = extended(field->type, value);
    layout->element = layout->next++;
    if (field->type == WINTRACE_STRING && value == 0) {
        layout->field++;
        layout->next = 0;
    }
    return true;
}
