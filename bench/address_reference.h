/* SPDX-License-Identifier: MIT */
/*
 * What the address map is measured against: the textbook's answer, an AVL tree of mapped ranges,
 * each of which knows the longest gap under it. It finds the lowest fitting gap; of alignment it knows
 * nothing, so it tries each gap that is long enough.
 */
#ifndef DXGK_BENCH_ADDRESS_REFERENCE_H
#define DXGK_BENCH_ADDRESS_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/extent.h"

struct reference;

struct reference *reference_create(uint64_t first, uint64_t end);
void reference_destroy(struct reference *reference);
bool reference_take(struct reference *reference, const struct extent_request *want, uint64_t *start);
bool reference_take_fixed(struct reference *reference, uint64_t start, uint64_t size);
void reference_give(struct reference *reference, uint64_t start);
uint64_t reference_bytes(const struct reference *reference);

#endif
