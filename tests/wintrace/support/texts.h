/* SPDX-License-Identifier: MIT */
/* A trace as the programs of Windows write it: what tracerpt makes of it, and the dumper of xperf. */
#ifndef DXGK_TESTS_TEXTS_H
#define DXGK_TESTS_TEXTS_H

#include "wintrace/wintrace.h"

enum text_form { TEXT_XML, TEXT_CSV, TEXT_DUMPER };

struct written {
    char *bytes; /* with a zero behind */
    size_t length, room;
};

/* To be given to written_finish. Times are rounded to 100 ns, those of TEXT_DUMPER to us. */
struct written written_of(const struct wintrace *trace, enum text_form form);
/* The same in UTF-16, little or big, with or without a mark; `from` (all ASCII) is finished. */
struct written written_utf16(struct written from, bool big, bool mark);
void written_finish(struct written *written);
/* Read; fails the test if that fails. */
struct wintrace *written_read(const struct written *written);
/* Change the first place where `from` stands into `to`; the test fails if it is nowhere. */
void written_replace(struct written *written, const char *from, const char *to);

#endif
