/* SPDX-License-Identifier: MIT */
/* The cells of a line that are separated by commas. A comma within quotation marks, brackets or
 * braces separates nothing. */
#ifndef DXGK_WINTRACE_CELLS_H
#define DXGK_WINTRACE_CELLS_H

#include "wintrace/text_event.h"

#define CELLS 512u

struct cells {
    struct text cell[CELLS]; /* without white space around; point into the line */
    unsigned count;
};

/* What is behind the last of CELLS is left out. */
void cells_split(struct cells *cells, struct text line);
/* The text of a cell without the quotation marks around it. */
struct text cells_unquoted(struct text cell);

#endif
