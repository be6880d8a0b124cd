/* SPDX-License-Identifier: MIT */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "verify/verify.h"

extern char *program_invocation_short_name;

/* One line per rule and place; tools/conformance sorts and joins them. An id that does not exist fails the test. */
void check_rule_record(const char *rule, const char *file, int line, const char *function)
{
    const char *folder = getenv("DXGK_RULES_SHOWN");
    const char *source = getenv("DXGK_SOURCE");
    static FILE *out; /* one per test program */

    if (!verify_rule_find(rule))
        fail_msg("%s:%d: no rule %s", file, line, rule);
    if (!folder)
        return;
    if (!out) {
        char path[512];

        mkdir(folder, 0777);
        snprintf(path, sizeof(path), "%s/%s.tsv", folder, program_invocation_short_name);
        out = fopen(path, "w");
        if (!out)
            return;
    }
    if (source && strncmp(file, source, strlen(source)) == 0)
        file += strlen(source) + 1;
    fprintf(out, "%s\t%s:%d\t%s\n", rule, file, line, function);
    fflush(out);
}
