/* SPDX-License-Identifier: MIT */
/* What the tests' adapter needs of the tests' main program: here nobody takes a transcript, or counts rules shown. */
#include "support/check_rule.h"
#include "support/transcript.h"

void check_rule_record(const char *rule, const char *file, int line, const char *function)
{
    (void)rule;
    (void)file;
    (void)line;
    (void)function;
}

void transcript_ddi(const char *name, const uint64_t *argument, unsigned count, uint64_t result)
{
    (void)name;
    (void)argument;
    (void)count;
    (void)result;
}
