/* SPDX-License-Identifier: MIT */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "verify/verify.h"

/* The file of the case that runs, in the folder: test_<room>_<what>.tsv, begun anew by each process. */
static FILE *file_of_case(const char *folder)
{
    static const char *source; /* whose file is open; the cases of a source run one after another */
    static FILE *out;
    const char *file = test_running()->file;
    const char *what = strrchr(file, '/') + 1, *room = what - 1;
    char path[512];

    if (source && strcmp(source, file) == 0)
        return out;
    if (out)
        fclose(out);
    source = file;
    while (room[-1] != '/')
        room--;
    mkdir(folder, 0777);
    snprintf(path, sizeof(path), "%s/test_%.*s_%.*s.tsv", folder, (int)(what - 1 - room), room,
             (int)(strlen(what) - strlen("_test.c")), what);
    out = fopen(path, "w");
    return out;
}

static bool exists(const char *rule)
{
    char id[32];

    snprintf(id, sizeof(id), "%.*s", (int)strcspn(rule, "/"), rule);
    return verify_rule_find(id);
}

/* One line per rule and place; tools/conformance sorts and joins them. An id that does not exist fails the test. */
void check_rule_record(const char *rule, const char *file, int line, const char *function)
{
    const char *folder = getenv("DXGK_RULES_SHOWN");
    const char *source = getenv("DXGK_SOURCE");
    FILE *out;

    if (!exists(rule))
        fail_msg("%s:%d: no rule %s", file, line, rule);
    if (!folder)
        return;
    out = file_of_case(folder);
    if (!out)
        return;
    if (source && strncmp(file, source, strlen(source)) == 0)
        file += strlen(source) + 1;
    fprintf(out, "%s\t%s:%d\t%s\n", rule, file, line, function);
    fflush(out);
}
