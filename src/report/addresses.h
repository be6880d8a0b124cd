/* SPDX-License-Identifier: MIT */
/*
 * GPU virtual address spaces for people: what each process had mapped, from when to when, with
 * which protection, and how much memory its page tables took.
 */
#ifndef DXGK_REPORT_ADDRESSES_H
#define DXGK_REPORT_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct vidmm;

/* `name` is the adapter's, `now` the virtual time. Text: for each process what was mapped at the
 * moment at which it had most pages mapped. SVG: a chart for each process, a row for each address
 * at which anything was mapped. False: out of memory, or writing failed. The cost is that of
 * sorting the events. */
bool report_addresses_text(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out);
bool report_addresses_svg(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out);

#endif
