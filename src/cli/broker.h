/* SPDX-License-Identifier: MIT */
/* Files of an isolated machine: its process cannot open any, and asks its supervisor. */
#ifndef DXGK_CLI_BROKER_H
#define DXGK_CLI_BROKER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct cli_options;

enum cli_file_operation { CLI_FILE_OPEN, CLI_FILE_STAT, CLI_FILE_LINK };

struct cli_file_request {
    enum cli_file_operation operation;
    int flags; /* of open */
    mode_t mode;
    char path[PATH_MAX];
};

struct cli_file_answer {
    int error;          /* an errno; 0: it was done. A file comes along with the message */
    struct stat status; /* CLI_FILE_STAT */
    char link[256];     /* CLI_FILE_LINK: what the link says, without terminator */
    size_t length;
};

#define CLI_READ_FOLDERS 160u
#define CLI_WRITE_PLACES 80u

/* Of the supervisor: what may be opened. */
struct cli_broker {
    int socket;
    pid_t worker;
    const char *writable[CLI_WRITE_PLACES]; /* files, and folders with all below; resolved, owned */
    unsigned places;
    const char *readable[CLI_READ_FOLDERS]; /* files, and folders with all that is below; owned */
    unsigned count;
};

/* The options name what the machine needs. `other`: the worker's end of the channel, for
 * cli_isolate. False: errno says why. */
bool cli_broker_init(struct cli_broker *broker, const struct cli_options *options, int *other);
/* Also closes the channel. */
void cli_broker_finish(struct cli_broker *broker);
/* Answer the requests that have come; does not wait for any. */
void cli_broker_serve(const struct cli_broker *broker);

#endif
