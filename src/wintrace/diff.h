/* SPDX-License-Identifier: MIT */
/*
 * Where two sequences of numbers agree: the longest common subsequence by Myers' greedy algorithm,
 * after what both begin and end with was taken off. It costs O((N + M) D) time and O(D^2) memory
 * for D differences; with more than DIFF_MOST of them it stops, and what lies between the common
 * begin and the common end is told to be different as a whole. So the place where the sequences
 * first part is exact in either case.
 */
#ifndef DXGK_WINTRACE_DIFF_H
#define DXGK_WINTRACE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_MOST 1000u
#define DIFF_NONE SIZE_MAX

/* match[i] is the index in b with which a[i] agrees, increasing; DIFF_NONE: with none. `match` has
 * room for n. False: out of memory. */
bool diff_run(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t *match);

#endif
