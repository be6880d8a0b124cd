/* SPDX-License-Identifier: MIT */
#include "images/support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check_rule.h"

static char folder[PATH_BYTES - 64];

void in_folder(char path[PATH_BYTES], const char *name)
{
    const char *where = getenv("TMPDIR");

    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "%s/dxgk-images-XXXXXX", where ? where : "/tmp");
        CHECK(mkdtemp(folder) != NULL);
    }
    CHECK(snprintf(path, PATH_BYTES, "%s/%s", folder, name) < PATH_BYTES);
}

void remove_folder(void)
{
    DIR *open = folder[0] ? opendir(folder) : NULL;
    const struct dirent *entry;

    if (!open)
        return;
    while ((entry = readdir(open)) != NULL)
        unlinkat(dirfd(open), entry->d_name, 0); /* "." and ".." stay */
    closedir(open);
    CHECK(rmdir(folder) == 0);
    folder[0] = '\0';
}
