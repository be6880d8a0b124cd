/* SPDX-License-Identifier: MIT */
/* What the page of --html shows of a machine at the end of its workload: kept before adapters stop,
 * when there is still something to see. */
#ifndef DXGK_CLI_PAGE_PARTS_H
#define DXGK_CLI_PAGE_PARTS_H

#include <stddef.h>

struct cli_session;

#define CLI_PAGE_PARTS      64u
#define CLI_PAGE_PART_BYTES 1500000u /* of one, and */
#define CLI_PAGE_BYTES      6000000u /* of all of them */

struct cli_page_part {
    char title[96];
    char *svg;    /* a picture; NULL: it is a PNG */
    void *png;    /* the same */
    size_t bytes; /* of the picture; 0: it is left out, and `note` says why */
    char *text;   /* the same in words; NULL: none */
    char note[200];
};

struct cli_page_parts {
    struct cli_page_part part[CLI_PAGE_PARTS];
    size_t parts, bytes;
};

/* Nothing without --html. What cannot be kept is missing, and said to be. */
void cli_page_keep(struct cli_session *session);
void cli_page_free(struct cli_session *session);

#endif
