/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_check_output(int status)
{
    const char *why = fflush(stdout) != 0 ? strerror(errno) : "writing failed";

    if (!ferror(stdout))
        return status;
    clearerr(stdout); /* told once */
    fprintf(stderr, "dxgkhost: standard output: %s\n", why);
    return status == CLI_OK ? CLI_HOST : status;
}

bool cli_can_write(const char *path)
{
    struct stat is;
    bool there = stat(path, &is) == 0, can;
    FILE *file;

    if (strcmp(path, "-") == 0)
        return true;
    if (there && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)) {
        can = access(path, W_OK) == 0; /* opening a FIFO would block */
    } else {
        file = fopen(path, "a");
        can = file && fclose(file) == 0;
    }
    if (!can)
        fprintf(stderr, "dxgkhost: %s: %s\n", path, strerror(errno));
    return can;
}
