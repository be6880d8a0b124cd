/* SPDX-License-Identifier: MIT */
/* Reading an image file, and the one-line error text if that fails. */
#include "loader/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/loader.h"
#include "util/alloc.h"
#include "util/explain.h"

#define MAX_FILE_BYTES ((uint64_t)1 << 30)

static NTSTATUS read_all(struct loader_file *file, int descriptor, char *error, size_t error_bytes)
{
    struct stat about;
    size_t done = 0;

    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        util_explain(error, error_bytes, "%s: not a regular file", file->name);
        return STATUS_INVALID_IMAGE_FORMAT;
    }
    if (about.st_size < 1 || (uint64_t)about.st_size > MAX_FILE_BYTES) {
        util_explain(error, error_bytes, "%s: %s", file->name,
                     about.st_size < 1 ? "empty file" : "larger than 1 GiB");
        return STATUS_INVALID_IMAGE_FORMAT;
    }
    file->size = (size_t)about.st_size;
    file->bytes = util_alloc(file->size);
    if (!file->bytes) {
        util_explain(error, error_bytes, "%s: out of memory", file->name);
        return STATUS_NO_MEMORY;
    }
    while (done < file->size) {
        ssize_t got = read(descriptor, file->bytes + done, file->size - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            util_explain(error, error_bytes, "%s: cannot be read: %s", file->name,
                         got < 0 ? strerror(errno) : "it became shorter");
            return STATUS_INVALID_IMAGE_FORMAT;
        }
        done += (size_t)got;
    }
    return STATUS_SUCCESS;
}

NTSTATUS loader_file_read(struct loader_file *file, const char *path, const char *name, char *error,
                          size_t error_bytes)
{
    NTSTATUS status;
    int descriptor;
    char *slash;

    *file = (struct loader_file){.name = name};
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        util_explain(error, error_bytes, "%s: %s", path, strerror(errno));
        return STATUS_OBJECT_NAME_NOT_FOUND;
    }
    status = read_all(file, descriptor, error, error_bytes);
    close(descriptor);
    if (!NT_SUCCESS(status)) {
        loader_file_free(file);
        return status;
    }
    file->folder = realpath(path, NULL);
    slash = file->folder ? strrchr(file->folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    return status;
}

void loader_file_free(struct loader_file *file)
{
    util_free(file->bytes);
    file->bytes = NULL;
    free(file->folder);
    file->folder = NULL;
}

bool loader_file_is_pe(const struct loader_file *file)
{
    return file->size >= 2 && memcmp(file->bytes, "MZ", 2) == 0;
}
