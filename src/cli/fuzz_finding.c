/* SPDX-License-Identifier: MIT */
#include "cli/fuzz_finding.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dxgkhost/dxgkhost.h"
#include "util/array.h"
#include "util/crc32.h"

#define LINE_BYTES 4000u /* less than a pipe takes at once */

/* As much as there is room for, without what separates members and lines. */
static void put(char *to, size_t bytes, const char *text, size_t length)
{
    size_t count = 0;

    for (; count + 1 < bytes && count < length && text[count]; count++)
        to[count] = (unsigned char)text[count] < ' ' ? ' ' : text[count];
    to[count] = '\0';
}

void fuzz_finding_of_violation(struct fuzz_finding *finding, const struct dxgk_violation *v)
{
    memset(finding, 0, sizeof(*finding));
    put(finding->rule, sizeof(finding->rule), v->rule, SIZE_MAX);
    put(finding->severity, sizeof(finding->severity), v->severity, SIZE_MAX);
    put(finding->where, sizeof(finding->where), v->where ? v->where : "", SIZE_MAX);
    put(finding->seen, sizeof(finding->seen), v->seen, SIZE_MAX);
    if (v->stack) /* the source, in parentheses, depends on where it was compiled */
        put(finding->frame, sizeof(finding->frame), v->stack, strcspn(v->stack, " \n"));
}

void fuzz_finding_of_ending(struct fuzz_finding *finding, const char *rule, const char *where,
                            const char *seen)
{
    memset(finding, 0, sizeof(*finding));
    put(finding->rule, sizeof(finding->rule), rule, SIZE_MAX);
    put(finding->severity, sizeof(finding->severity), "error", SIZE_MAX);
    put(finding->where, sizeof(finding->where), where, SIZE_MAX);
    put(finding->seen, sizeof(finding->seen), seen, SIZE_MAX);
}

bool fuzz_finding_same(const struct fuzz_finding *a, const struct fuzz_finding *b)
{
    return strcmp(a->rule, b->rule) == 0 && strcmp(a->where, b->where) == 0 &&
           strcmp(a->frame, b->frame) == 0;
}

void fuzz_finding_name(const struct fuzz_finding *finding, char *name, size_t bytes)
{
    char key[512];

    snprintf(key, sizeof(key), "%s\n%s\n%s", finding->rule, finding->where, finding->frame);
    snprintf(name, bytes, "%s-%08x", finding->rule, crc32_of(key, strlen(key)));
}

void fuzz_finding_write(int to, const struct fuzz_finding *finding, const char *file)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof(line), "finding\t%s\t%s\t%s\t%s\t%s\t%s\n", finding->rule,
                          finding->severity, finding->where, finding->frame, finding->seen, file);

    if (length > 0 && (size_t)length < sizeof(line))
        (void)!write(to, line, (size_t)length);
}

bool fuzz_finding_read(char *line, struct fuzz_finding *finding, char **file)
{
    char *member[7], *rest = line;

    for (size_t i = 0; i < ARRAY_COUNT(member); i++) {
        member[i] = strsep(&rest, "\t");
        if (!member[i])
            return false;
    }
    if (rest || strcmp(member[0], "finding") != 0)
        return false;
    memset(finding, 0, sizeof(*finding));
    put(finding->rule, sizeof(finding->rule), member[1], SIZE_MAX);
    put(finding->severity, sizeof(finding->severity), member[2], SIZE_MAX);
    put(finding->where, sizeof(finding->where), member[3], SIZE_MAX);
    put(finding->frame, sizeof(finding->frame), member[4], SIZE_MAX);
    put(finding->seen, sizeof(finding->seen), member[5], SIZE_MAX);
    *file = member[6];
    return true;
}
