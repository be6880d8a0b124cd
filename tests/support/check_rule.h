/* SPDX-License-Identifier: MIT */
/*
 * CHECK_RULE("PHYS-012", condition): an assertion that shows a rule of docs/spec/rules. When it ran and held, the rule's
 * id is recorded with the test's place for tools/conformance (a file per source of tests in $DXGK_RULES_SHOWN).
 * Attach an id only to an assertion that fails when the behaviour is broken. A rule whose `test` cell has the marks (a), (b)
 * ... is shown clause by clause: CHECK_RULE("PHYS-012/b", ...), or "PHYS-012/ab" where an assertion shows both.
 */
#ifndef DXGK_TESTS_CHECK_RULE_H
#define DXGK_TESTS_CHECK_RULE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/test.h"

void check_rule_record(const char *rule, const char *file, int line, const char *function);

#define CHECK_RULE(rule, condition)                             \
    do {                                                        \
        if (!(condition))                                       \
            fail_msg("%s does not hold: %s", rule, #condition); \
        check_rule_record(rule, __FILE__, __LINE__, __func__);  \
    } while (0)

#define CHECK(condition)                \
    do {                                \
        if (!(condition))               \
            fail_msg("%s", #condition); \
    } while (0)

#endif
