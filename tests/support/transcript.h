/* SPDX-License-Identifier: MIT */
/*
 * Transcripts: what can be seen of a case from outside, in the order in which it happened. Assertions look at what a case is
 * about; its transcript is everything else: each event of the trace with its time, each call of the driver and of a client with
 * its arguments and results, each report and each reason with its text. A machine repeats from its seed, so a transcript
 * changes only with the code. tests/transcripts/<room>.tsv keeps the number of lines and a digest of each; a case whose
 * transcript is another one fails, and leaves the text in transcripts/ of the build folder. tools/transcripts shows what has
 * changed since a commit, and keeps the new ones when that was meant.
 *
 * Host addresses are all written as @. DXGK_TRANSCRIPTS chooses: "check" (ctest, in the builds of CONTRIBUTING.md), "write" (each
 * text is left, and nothing is compared); else no transcript is taken.
 */
#ifndef DXGK_TESTS_TRANSCRIPT_H
#define DXGK_TESTS_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

struct test_case;

void transcript_begin(void);
/* 0; else the case has failed for its transcript, and says so. */
int transcript_end(const struct test_case *test);

/* A line of one's own, while a transcript is taken. */
void transcript_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A call of a driver in the test that has returned: its arguments, what the last one points to, and its result. */
void transcript_ddi(const char *name, const uint64_t *argument, unsigned count, uint64_t result);

#endif
