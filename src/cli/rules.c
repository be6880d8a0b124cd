/* SPDX-License-Identifier: MIT */
/* explain and rules: print the rule tables that are compiled into the program. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/source_page.h"
#include "verify/verify.h"

static void print_wrapped(const char *label, const char *text)
{
    size_t column = (size_t)printf("  %-8s", label);

    while (*text) {
        size_t word = strcspn(text, " ");

        if (column + word + 1 > 100 && column > 10)
            column = (size_t)printf("\n%10s", "") - 1;
        column += (size_t)printf("%.*s ", (int)word, text);
        text += word;
        while (*text == ' ')
            text++;
    }
    putchar('\n');
}

/* Where its sources are published, as far as that is known. */
static void print_pages(const char *sources)
{
    const char *label = "pages", *name;
    char address[256];
    size_t length;

    while ((name = cli_source_next(&sources, &length)) != NULL) {
        if (!cli_source_page(name, length, address, sizeof(address)))
            continue;
        printf("  %-8s%s\n", label, address);
        label = "";
    }
}

static void print_rule(const struct verify_rule *rule)
{
    printf("%s  %s%s\n", rule->id, strcmp(rule->since, "-") == 0 ? "any version" : "since WDDM ",
           strcmp(rule->since, "-") == 0 ? "" : rule->since);
    print_wrapped("about", rule->applies_to);
    print_wrapped("rule", rule->text);
    print_wrapped("source", rule->source);
    print_pages(rule->source);
    print_wrapped("basis", rule->rests_on);
    print_wrapped("test", rule->test);
    if (rule->admission) {
        print_wrapped("class", rule->admission == VERIFY_REFUSED
                                   ? "refused: a breach refuses the adapter or the object"
                                   : "expected: a breach is a warning; --strict refuses");
        print_wrapped("because", rule->evidence);
    }
    if (rule->absent) {
        printf("  %-8s", "state");
        printf("not in force: this host does not do it yet (%s)\n", verify_absent[rule->absent]);
    }
}

/* Finds the next rule id in a text, such as PATCH-072. */
static size_t next_id(const char *text, char id[16])
{
    for (size_t at = 0; text[at]; at++) {
        size_t letters = 0, digits = 0;

        while (text[at + letters] >= 'A' && text[at + letters] <= 'Z' && letters < 10)
            letters++;
        if (letters < 2 || text[at + letters] != '-') {
            at += letters ? letters - 1 : 0;
            continue;
        }
        while (text[at + letters + 1 + digits] >= '0' && text[at + letters + 1 + digits] <= '9')
            digits++;
        if (digits == 3) {
            memcpy(id, text + at, letters + 4);
            id[letters + 4] = 0;
            return at + letters + 4;
        }
        at += letters;
    }
    return 0;
}

int cli_explain(int argc, char **argv)
{
    const struct verify_rule *rule;
    const char *text;
    char id[16];
    size_t step;

    if (argc != 1) {
        fputs("dxgkhost: explain wants the ID of one rule, like PATCH-017\n", stderr);
        return CLI_USAGE;
    }
    snprintf(id, sizeof(id), "%s", argv[0]);
    for (char *c = id; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    rule = strlen(argv[0]) < sizeof(id) ? verify_rule_find(id) : NULL;
    if (!rule) {
        fprintf(stderr, "dxgkhost: no rule %s; 'dxgkhost rules' lists them\n", argv[0]);
        return CLI_FAILED;
    }
    print_rule(rule);
    for (text = rule->text; (step = next_id(text, id)) != 0; text += step) {
        const struct verify_rule *other = verify_rule_find(id);

        if (other && other != rule) {
            putchar('\n');
            print_rule(other);
        }
    }
    return CLI_OK;
}

int cli_rules(int argc, char **argv)
{
    size_t shown = 0;

    if (argc > 1) {
        fputs("dxgkhost: rules wants one series, like PATCH, or nothing\n", stderr);
        return CLI_USAGE;
    }
    for (size_t i = 0; i < verify_rules_count; i++) {
        const struct verify_rule *rule = &verify_rules[i];
        size_t series = strcspn(rule->id, "-");

        if (argc == 1 && (strlen(argv[0]) != series || strncmp(rule->id, argv[0], series) != 0))
            continue;
        printf("%-12s %-4s %s\n", rule->id, rule->since, rule->applies_to);
        shown++;
    }
    if (!shown) {
        fprintf(stderr, "dxgkhost: no series %s\n", argv[0]);
        return CLI_FAILED;
    }
    return CLI_OK;
}
