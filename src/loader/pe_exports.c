/* SPDX-License-Identifier: MIT */
/* The exports of a PE image: by name or by ordinal, from its export directory. Forwarders to other
 * modules are not supported. */
#include <string.h>

#include "loader/pe.h"

/* NULL: no such entry, or a forwarder, which is an address inside the directory itself, of the name
 * in the other module. */
static void *function_at(const struct pe_image *image, const struct pe_export_directory *e,
                         uint32_t index)
{
    const uint8_t *at = index < e->functions
                            ? pe_at(image, e->function_table + (uint64_t)index * 4, 4)
                            : NULL;
    uint32_t address;

    if (!at)
        return NULL;
    memcpy(&address, at, sizeof(address));
    if (address == 0 || address - image->exports.address < image->exports.bytes)
        return NULL;
    return pe_at(image, address, 1);
}

/* The names should be sorted; a linear search does not depend on it. */
static void *by_name(const struct pe_image *image, const struct pe_export_directory *e,
                     const char *wanted)
{
    for (uint32_t i = 0; i < e->names && i < PE_MAX_EXPORTS; i++) {
        const uint8_t *name = pe_at(image, e->name_table + (uint64_t)i * 4, 4);
        const uint8_t *ordinal = pe_at(image, e->ordinal_table + (uint64_t)i * 2, 2);
        const char *text;
        uint32_t address;
        uint16_t index;

        if (!name || !ordinal)
            return NULL;
        memcpy(&address, name, sizeof(address));
        memcpy(&index, ordinal, sizeof(index));
        text = pe_text_at(image, address);
        if (text && strcmp(text, wanted) == 0)
            return function_at(image, e, index);
    }
    return NULL;
}

void *pe_export_find(const struct pe_image *image, const char *name, uint16_t ordinal)
{
    struct pe_export_directory e;

    if (image->exports.bytes < sizeof(e))
        return NULL;
    memcpy(&e, image->base + image->exports.address, sizeof(e));
    return name ? by_name(image, &e, name) : function_at(image, &e, ordinal - e.ordinal_base);
}
