/* SPDX-License-Identifier: MIT */
/* A small project in a temporary folder, and a tool of tools/ run on it. */
#ifndef DXGK_TESTS_TOOLS_FIXTURE_H
#define DXGK_TESTS_TOOLS_FIXTURE_H

struct fixture {
    char folder[64];
    char output[65536]; /* of the last run, standard output and errors together */
};

void fixture_init(struct fixture *fixture);
/* Removes the folder. */
void fixture_finish(struct fixture *fixture);
/* Make a file with its folders; `path` is relative to the fixture. */
void fixture_write(const struct fixture *fixture, const char *path, const char *text);
/* Run a shell command with $TOOLS set to tools/, in the folder. Returns its exit status. */
int fixture_run(struct fixture *fixture, const char *command);

#endif
