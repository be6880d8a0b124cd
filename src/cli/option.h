/* SPDX-License-Identifier: MIT */
/*
 * Rows of the tables of options. tools/gen_options.py makes them of src/cli/options.txt, for each
 * command that has some:
 *
 *     #define CLI_OPTION_STRUCT struct cli_options // what the members are of
 *     #define CLI_OPTION_PARSER run                // whose parsers they are
 *     static const struct cli_option table[] = {CLI_RUN_OPTIONS};
 */
#ifndef DXGK_CLI_OPTION_H
#define DXGK_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_options;
struct compare_options;
struct explore_options;
struct fuzz_options;

enum cli_option_kind {
    CLI_KIND_SWITCH, /* sets a bool; has no value */
    CLI_KIND_PATH,
    CLI_KIND_NUMBER,
    CLI_KIND_PARSED
};

enum cli_answer {
    CLI_NOT_MINE, /* it is for the command whose options are taken, too */
    CLI_MINE,
    CLI_WRONG /* value */
};

struct cli_option {
    const char *name; /* "--seed" */
    enum cli_option_kind kind;
    unsigned not_for; /* CLI_NOT_EXPLORE, ... */
    size_t member;    /* its place in the structure of the command's options */
    uint64_t least, most;
    union {
        /* prints what is wrong; returns the exit status */
        int (*run)(struct cli_options *options, const char *name, const char *value);
        enum cli_answer (*explore)(struct explore_options *options, const char *value);
        enum cli_answer (*fuzz)(struct fuzz_options *options, const char *value);
        bool (*compare)(struct compare_options *options, const char *value); /* prints, too */
    } parse;
};

#define CLI_SETS(option, flag, refused)                                  \
    {                                                                    \
        .name = (option), .kind = CLI_KIND_SWITCH, .not_for = (refused), \
        .member = CLI_OFFSET(flag, bool)                                 \
    }
#define CLI_PATH(option, path, refused)                                \
    {                                                                  \
        .name = (option), .kind = CLI_KIND_PATH, .not_for = (refused), \
        .member = CLI_OFFSET(path, const char *)                       \
    }
#define CLI_NUMBER(option, number, low, high, refused)                         \
    {                                                                          \
        .name = (option), .kind = CLI_KIND_NUMBER, .not_for = (refused),       \
        .member = CLI_OFFSET(number, uint64_t), .least = (low), .most = (high) \
    }
#define CLI_PARSER(option, routine, refused)                                        \
    {                                                                               \
        .name = (option), .kind = CLI_KIND_PARSED, .not_for = (refused), .parse = { \
            .CLI_OPTION_PARSER = (routine)                                          \
        }                                                                           \
    }
/* Of a member of this type; of another one it does not compile. */
#define CLI_OFFSET(path, type) \
    _Generic(((CLI_OPTION_STRUCT *)NULL)->path, type : offsetof(CLI_OPTION_STRUCT, path))

/* NULL: there is none of this name. */
const struct cli_option *cli_option_find(const struct cli_option *table, size_t count,
                                         const char *name);
/* Stores the value of a row that has no parser in the structure of its command. False: a path is
 * empty, a number is none or outside of its limits. */
bool cli_option_store(const struct cli_option *option, void *options, const char *value);

#endif
