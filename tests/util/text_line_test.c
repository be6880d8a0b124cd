/* SPDX-License-Identifier: MIT */
/* A line that grows by parts, up to its end and beyond. */
#include "support/check_rule.h"
#include "util/text_line.h"

#include <string.h>

TEST(parts_follow_each_other)
{
    char text[32] = "before";
    struct text_line line = text_line_begin(text, sizeof(text));

    CHECK(text[0] == '\0' && line.used == 0);
    text_line_add(&line, "level %u", 3u);
    text_line_add(&line, "%s", "");
    text_line_add(&line, " [%u]", 17u);
    CHECK(strcmp(text, "level 3 [17]") == 0 && line.used == 12);
}

TEST(what_does_not_fit_is_left_out)
{
    char text[9];
    struct text_line line;

    memset(text, 'x', sizeof(text));
    line = text_line_begin(text, sizeof(text) - 1);
    text_line_add(&line, "1234");
    text_line_add(&line, "56789");
    CHECK(strcmp(text, "1234567") == 0);
    text_line_add(&line, "more");
    CHECK(strcmp(text, "1234567") == 0 && text[8] == 'x');
}
