/* SPDX-License-Identifier: MIT */
/* The table compiled in from docs/spec/rules. */
#include "support/check_rule.h"

#include <string.h>

#include "verify/verify.h"

TEST(the_table_is_sorted_and_complete)
{
    CHECK(verify_rules_count >= 3336);
    for (size_t i = 0; i < verify_rules_count; i++) {
        const struct verify_rule *rule = &verify_rules[i];

        CHECK(i == 0 || strcmp(verify_rules[i - 1].id, rule->id) < 0);
        CHECK(rule->since[0] && rule->applies_to[0] && rule->text[0] && rule->source[0] &&
              rule->test[0]);
    }
}

TEST(what_is_absent_is_named)
{
    const unsigned resources = verify_rule_find("ALLOC-144")->absent;
    size_t absent = 0;

    for (size_t i = 0; i < verify_rules_count; i++)
        absent += verify_rules[i].absent != 0;
    CHECK(absent > 0 && absent < 100);
    CHECK(resources && strcmp(verify_absent[resources], "cross-adapter resources") == 0);
    CHECK(verify_rule_find("KMT-210")->absent == resources);
    CHECK(verify_rule_find("PRES-279")->absent && verify_rule_find("PRES-279")->absent != resources);
    CHECK(!verify_rule_find("DISP-001")->absent && !verify_rule_find("VIDPN-149")->absent &&
          !verify_rule_find("PRES-210")->absent && !verify_rule_find("PRES-041")->absent);
    CHECK(!verify_rule_find("PATCH-099")->absent && !verify_rule_find("PATCH-121")->absent);
}

TEST(every_rule_is_found_by_its_id)
{
    for (size_t i = 0; i < verify_rules_count; i++)
        CHECK(verify_rule_find(verify_rules[i].id) == &verify_rules[i]);
}

TEST(other_ids_are_not_found)
{
    static const char *const others[] = {"",          "LIFE",     "LIFE-",    "LIFE-000",
                                         "LIFE-0001", "life-001", "AAAA-001", "ZZZZ-999"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!verify_rule_find(others[i]));
}
