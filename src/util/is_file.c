/* SPDX-License-Identifier: MIT */
#include "util/is_file.h"
#include "util/explain.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

bool util_is_file(const char *path, uint64_t most, char *error, size_t error_bytes)
{
    struct stat is;

    if (stat(path, &is) != 0) {
        util_explain(error, error_bytes, "%s", strerror(errno));
        return false;
    }
    if (!S_ISREG(is.st_mode)) {
        util_explain(error, error_bytes, "this is %s, and must be a file", kind_of(is.st_mode));
        return false;
    }
    if ((uint64_t)is.st_size > most) {
        util_explain(error, error_bytes, "the file has %llu bytes, at most %llu are possible",
                     (unsigned long long)is.st_size, (unsigned long long)most);
        return false;
    }
    return true;
}
