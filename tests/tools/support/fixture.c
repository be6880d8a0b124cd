/* SPDX-License-Identifier: MIT */
#include "support/fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check_rule.h"

void fixture_init(struct fixture *fixture)
{
    snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/dxgkhost-tools-XXXXXX");
    CHECK(mkdtemp(fixture->folder));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void fixture_finish(struct fixture *fixture)
{
    CHECK(nftw(fixture->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

void fixture_write(const struct fixture *fixture, const char *path, const char *text)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof(full), "%s/%s", fixture->folder, path);
    for (char *slash = full + strlen(fixture->folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0777);
        *slash = '/';
    }
    file = fopen(full, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

int fixture_run(struct fixture *fixture, const char *command)
{
    const char *source = getenv("DXGK_SOURCE");
    char line[2048];
    size_t used;
    FILE *pipe;
    int status;

    if (!source)
        fail_msg("DXGK_SOURCE is not set: run by ctest");
    snprintf(line, sizeof(line), "cd %s && TOOLS=%s/tools && { %s; } 2>&1", fixture->folder, source,
             command);
    pipe = popen(line, "r");
    CHECK(pipe);
    used = fread(fixture->output, 1, sizeof(fixture->output) - 1, pipe);
    fixture->output[used] = '\0';
    status = pclose(pipe);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}
