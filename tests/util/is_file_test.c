/* SPDX-License-Identifier: MIT */
/* What may be read as a file, and what is said of the rest. */
#include "support/check_rule.h"

#include "util/explain.h"
#include "util/is_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/dxgkhost-is-file-XXXXXX";
static char why[128];

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static bool refused(const char *path, uint64_t most, const char *what)
{
    why[0] = '\0';
    return !util_is_file(path, most, why, sizeof(why)) && strcmp(why, what) == 0;
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int one = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    CHECK(one >= 0 && bind(one, (struct sockaddr *)&address, sizeof(address)) == 0);
    close(one);
}

TEST(only_files_are_files)
{
    FILE *file;

    CHECK(mkdtemp(folder));
    CHECK(refused(path_of("none"), 10, "No such file or directory"));
    CHECK(refused(folder, 10, "this is a directory, and must be a file"));
    CHECK(refused("/dev/null", 10, "this is a device, and must be a file"));
    CHECK(mkfifo(path_of("fifo"), 0600) == 0);
    CHECK(refused(path_of("fifo"), 10, "this is a FIFO, and must be a file"));
    make_socket(path_of("socket"));
    CHECK(refused(path_of("socket"), 10, "this is a socket, and must be a file"));
    file = fopen(path_of("file"), "w");
    CHECK(file && fwrite("0123456789", 1, 10, file) == 10 && fclose(file) == 0);
    why[0] = '\0';
    CHECK(util_is_file(path_of("file"), 10, why, sizeof(why)) && !why[0]);
    CHECK(util_is_file(path_of("file"), UINT64_MAX, NULL, 0));
    CHECK(refused(path_of("file"), 9, "the file has 10 bytes, at most 9 are possible"));
    CHECK(!util_is_file(path_of("file"), 9, NULL, 0) && !util_is_file(folder, 9, NULL, 0));
    unlink(path_of("fifo"));
    unlink(path_of("socket"));
    unlink(path_of("file"));
    rmdir(folder);
}

TEST(an_explanation_is_cut_to_its_buffer)
{
    char text[8] = "before";

    util_explain(text, 0, "not written");
    CHECK(strcmp(text, "before") == 0);
    util_explain(NULL, 8, "not written");
    util_explain(text, sizeof(text), "%s %d", "more than", 7);
    CHECK(strcmp(text, "more th") == 0);
    util_explain(text, sizeof(text), "%d", 7);
    CHECK(strcmp(text, "7") == 0);
    util_explain(text, sizeof(text), "a\nb"); /* one line */
    CHECK(strcmp(text, "a") == 0);
    util_explain(text, sizeof(text), "\r\nb");
    CHECK(strcmp(text, "") == 0);
}
