/* SPDX-License-Identifier: MIT */
#include "wintrace/cells.h"

/* Where the cell that begins at `at` ends: at a comma, or at the end of the line. A mark or bracket
 * without its partner counts for nothing, so that it cannot swallow the rest of a line; *plain is
 * set then, with which none counts. */
static size_t end_of(struct text line, size_t at, bool *plain)
{
    size_t first_comma = line.length;
    unsigned depth = 0;
    bool quoted = false;

    for (; at < line.length; at++) {
        char c = line.at[at];

        if (c == ',' && first_comma == line.length)
            first_comma = at;
        if (c == ',' && !quoted && depth == 0)
            return at;
        if (*plain)
            continue;
        if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && depth && (c == ']' || c == '}'))
            depth--;
    }
    *plain |= quoted || depth;
    return quoted || depth ? first_comma : line.length;
}

void cells_split(struct cells *cells, struct text line)
{
    bool plain = false;

    cells->count = 0;
    for (size_t at = 0; cells->count < CELLS;) {
        size_t end = end_of(line, at, &plain);

        cells->cell[cells->count++] = text_trim((struct text){line.at + at, end - at});
        if (end == line.length)
            return;
        at = end + 1;
    }
}

struct text cells_unquoted(struct text cell)
{
    if (cell.length >= 2 && cell.at[0] == '"' && cell.at[cell.length - 1] == '"')
        return (struct text){cell.at + 1, cell.length - 2};
    return cell;
}
