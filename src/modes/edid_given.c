/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/edid_given.h"
#include "modes/edid.h"
#include "modes/timing_list.h"
#include "util/alloc.h"
#include "util/explain.h"

/* ---- bytes ---- */

static bool check_blocks(const uint8_t *bytes, unsigned blocks, char *error, size_t error_bytes)
{
    for (unsigned i = 0; i < blocks; i++) {
        const uint8_t *block = bytes + (size_t)i * EDID_BLOCK;

        if (edid_block_valid(block, i == 0))
            continue;
        util_explain(error, error_bytes, "block %u of the EDID has %s", i,
                     i == 0 && edid_block_valid(block, false) ? "no header of a base block"
                                                              : "a sum that is not 0");
        return false;
    }
    if (blocks == 1 + edid_extensions(bytes))
        return true;
    util_explain(error, error_bytes, "the EDID announces %u extensions, and has %u",
                 edid_extensions(bytes), blocks - 1);
    return false;
}

bool edid_given_check(const uint8_t *bytes, size_t size, bool force, char *error, size_t error_bytes)
{
    if (!size || size % EDID_BLOCK || size / EDID_BLOCK > EDID_MOST_BLOCKS) {
        util_explain(error, error_bytes, "an EDID has 1 to %u blocks of %u bytes, not %zu bytes",
                     EDID_MOST_BLOCKS, EDID_BLOCK, size);
        return false;
    }
    return force || check_blocks(bytes, (unsigned)(size / EDID_BLOCK), error, error_bytes);
}

/* ---- a list ---- */

#define MOST_DIGITS 5

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits at *text, and *text behind them; false: there is none, or there are too many. */
static bool take_number(const char **text, uint32_t *value)
{
    unsigned digits = 0;

    for (*value = 0; is_digit(**text) && digits <= MOST_DIGITS; digits++)
        *value = *value * 10 + (uint32_t)(*(*text)++ - '0');
    return digits && digits <= MOST_DIGITS;
}

static bool take(const char **text, char c)
{
    if (**text != c)
        return false;
    ++*text;
    return true;
}

/* "60" or "59.94", with three decimals at most. */
static bool take_rate(const char **text, uint32_t *millihertz)
{
    if (!take_number(text, millihertz))
        return false;
    *millihertz *= 1000;
    if (!take(text, '.'))
        return true;
    if (!is_digit(**text))
        return false;
    for (uint32_t unit = 100; unit && is_digit(**text); unit /= 10)
        *millihertz += unit * (uint32_t)(*(*text)++ - '0');
    return true;
}

static bool take_mode(const char **text, struct timing *timing)
{
    uint32_t width, height, millihertz = 60000;
    bool interlaced;

    if (!take_number(text, &width) || !take(text, 'x') || !take_number(text, &height))
        return false;
    interlaced = take(text, 'i');
    if (take(text, '@') && !take_rate(text, &millihertz))
        return false;
    return (!**text || **text == ',') &&
           timing_wanted(width, height, millihertz, interlaced, timing);
}

static unsigned parts(const char *text)
{
    unsigned count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

struct timing *edid_given_modes(const char *text, unsigned *count, char *error, size_t error_bytes)
{
    const unsigned all = parts(text);
    struct timing *list = util_zalloc(all, sizeof(*list));

    if (!list)
        util_explain(error, error_bytes, "out of memory");
    for (unsigned i = 0; list && i < all; i++) {
        const char *part = text;

        if (take_mode(&text, &list[i]) && (i + 1 == all || take(&text, ',')))
            continue;
        util_explain(error, error_bytes, "\"%.*s\" is no mode such as 1024x768@60",
                     (int)strcspn(part, ","), part);
        util_free(list);
        return NULL;
    }
    *count = all;
    return list;
}
