/* SPDX-License-Identifier: MIT */
/* What library.c offers, and what uses_library.c found. */
#ifndef DXGK_TESTS_LIBRARY_H
#define DXGK_TESTS_LIBRARY_H

struct library_report {
    int by_name, by_ordinal, counter, initialized;
};

#endif
