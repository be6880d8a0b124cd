/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's side of isolation: it opens files for the machine's process, as far as the run
 * needs them.
 *
 *   to read      what the options name, with the folders of the driver, the device model and the
 *                workload, since they bring files along; the system's libraries; a few files of
 *                /proc about the process itself
 *   to look at   the folders on the way to these: their names are resolved by the process
 *   to write     what is below --out and --frames, and the files of --screen and --animation
 *
 * Paths are resolved before they are judged, so that no link leads out of a folder. The process may
 * change its files between the judgement and the opening, but cannot make links: it has no rights.
 */
#include "cli/broker.h"
#include "cli/monitors.h"
#include "cli/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what may be opened ---- */

/* Resolves a path of which the last part need not be there, or is not followed. */
static bool resolve(const char *path, bool follow, char *whole)
{
    char folder[PATH_MAX], resolved[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    if (follow && realpath(path, whole))
        return true;
    if ((follow && errno != ENOENT) || !name[0] || strcmp(name, "..") == 0)
        return false;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return realpath(folder, resolved) &&
           snprintf(whole, PATH_MAX, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, name) <
               PATH_MAX;
}

static void allow(struct cli_broker *broker, const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL;

    if (whole && broker->count < CLI_READ_FOLDERS)
        broker->readable[broker->count++] = whole;
    else
        free(whole);
}

static void allow_folder_of(struct cli_broker *broker, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (!path)
        return;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    allow(broker, folder[0] ? folder : "/");
}

/* The values of "key=value" may be names of files. */
static void allow_values(struct cli_broker *broker, const char *const *option, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = strchr(option[i], '=');

        if (value && access(value + 1, R_OK) == 0)
            allow(broker, value + 1);
    }
}

/* A folder, or a file that need not be there. */
static void allow_to_write(struct cli_broker *broker, const char *path)
{
    char whole[PATH_MAX];
    char *copy = path && resolve(path, true, whole) ? strdup(whole) : NULL;

    if (copy && broker->places < CLI_WRITE_PLACES)
        broker->writable[broker->places++] = copy;
    else
        free(copy);
}

static void allow_pictures(struct cli_broker *broker, const struct cli_picture_options *pictures)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < pictures->screens; i++)
        if (snprintf(path, sizeof(path), "%.*s", (int)pictures->screen[i].length,
                     pictures->screen[i].text) < (int)sizeof(path))
            allow_to_write(broker, path);
    allow_to_write(broker, pictures->frames);
    allow_to_write(broker, pictures->animation);
}

bool cli_broker_init(struct cli_broker *broker, const struct cli_options *options, int *other)
{
    static const char *const system[] = {
        "/lib",       "/lib64",         "/usr/lib",         "/usr/lib64",
        "/usr/share", "/usr/local/lib", "/etc/ld.so.cache", "/dev/null"};
    char program[PATH_MAX];
    int ends[2];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    *other = ends[1];
    *broker = (struct cli_broker){.socket = ends[0]};
    for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++)
        allow(broker, system[i]);
    if (length > 0) {
        program[length] = '\0';
        allow_folder_of(broker, program);
    }
    allow_folder_of(broker, options->driver);
    if (options->device && strcmp(options->device, "null") != 0)
        allow_folder_of(broker, options->device);
    allow_folder_of(broker, options->workload);
    allow(broker, options->registry);
    allow_values(broker, options->set, options->sets);
    for (size_t i = 0; i < options->monitors.monitors; i++)
        allow(broker, cli_monitor_file(&options->monitors.monitor[i]));
    allow_values(broker, options->device_set, options->device_sets);
    allow_to_write(broker, options->out);
    allow_pictures(broker, &options->pictures);
    return true;
}

void cli_broker_finish(struct cli_broker *broker)
{
    for (unsigned i = 0; i < broker->count; i++)
        free((void *)(uintptr_t)broker->readable[i]);
    for (unsigned i = 0; i < broker->places; i++)
        free((void *)(uintptr_t)broker->writable[i]);
    close(broker->socket);
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;

    return length && strncmp(path, folder, length) == 0 &&
           (path[length] == '\0' || path[length] == '/' || folder[length - 1] == '/');
}

/* The process means itself, not the supervisor. */
static bool of_process(const struct cli_broker *broker, const char *path, char *whole, size_t bytes)
{
    static const char *const files[] = {"maps", "exe", "fd/"};

    if (strncmp(path, "/proc/self/", 11) != 0 || strstr(path, ".."))
        return false;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (strncmp(path + 11, files[i], strlen(files[i])) == 0) {
            snprintf(whole, bytes, "/proc/%d/%s", (int)broker->worker, path + 11);
            return true;
        }
    return false;
}

/* Returns 0 and the path to use, or an errno. */
static int judge(const struct cli_broker *broker, const struct cli_file_request *request,
                 char *whole)
{
    const bool writes = request->operation == CLI_FILE_OPEN &&
                        ((request->flags & O_ACCMODE) != O_RDONLY ||
                         (request->flags & (O_CREAT | O_TRUNC)));

    if (!writes && of_process(broker, request->path, whole, PATH_MAX))
        return 0;
    if (!resolve(request->path, request->operation != CLI_FILE_LINK, whole))
        return errno ? errno : ENOENT;
    for (unsigned i = 0; i < broker->places; i++)
        if (is_below(whole, broker->writable[i]))
            return 0;
    for (unsigned i = 0; !writes && i < broker->count; i++)
        if (is_below(whole, broker->readable[i]) ||
            (request->operation != CLI_FILE_OPEN && is_below(broker->readable[i], whole)))
            return 0;
    return EACCES;
}

/* ---- requests ---- */

static int carry_out(const struct cli_broker *broker, const struct cli_file_request *request,
                     struct cli_file_answer *answer)
{
    char whole[PATH_MAX];
    ssize_t length;
    int file = -1;

    answer->error = judge(broker, request, whole);
    if (answer->error)
        return -1;
    switch (request->operation) {
    case CLI_FILE_OPEN:
        file = open(whole, request->flags | O_CLOEXEC | O_NOCTTY, request->mode);
        answer->error = file < 0 ? errno : 0;
        break;
    case CLI_FILE_STAT:
        answer->error = stat(whole, &answer->status) == 0 ? 0 : errno;
        break;
    default:
        length = readlink(whole, answer->link, sizeof(answer->link));
        answer->error = length < 0 ? errno : 0;
        answer->length = length < 0 ? 0 : (size_t)length;
        break;
    }
    return file;
}

static void reply(const struct cli_broker *broker, const struct cli_file_answer *answer, int file)
{
    struct iovec part = {(void *)(uintptr_t)answer, sizeof(*answer)};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (file >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
    }
    (void)!sendmsg(broker->socket, &message, MSG_NOSIGNAL);
}

void cli_broker_serve(const struct cli_broker *broker)
{
    struct cli_file_request request;

    while (recv(broker->socket, &request, sizeof(request), MSG_DONTWAIT) == sizeof(request)) {
        struct cli_file_answer answer;
        int file;

        memset(&answer, 0, sizeof(answer));
        request.path[sizeof(request.path) - 1] = '\0';
        file = carry_out(broker, &request, &answer);
        reply(broker, &answer, file);
        if (file >= 0)
            close(file);
    }
}
