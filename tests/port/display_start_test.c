/* SPDX-License-Identifier: MIT */
/* A display-only driver from its registration to its first picture. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static void is_lit(struct probe *p)
{
    const RECT whole = {0, 0, 1024, 768};

    CHECK_RULE("VIDPN-190", display_seen.commits == 1 && display_seen.commit[0].source == 0 &&
                                display_seen.commit[0].size.cx == 1024 &&
                                display_seen.commit[0].target == DISPLAY_CHILD);
    CHECK_RULE("VIDPN-188/e", display_seen.visible[0]);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-222", display_seen.presents == 1 &&
                               memcmp(&display_seen.dirty, &whole, sizeof(whole)) == 0);
    CHECK(display_seen.failure == 0);
}

TEST(lights_a_screen)
{
    display_run(NULL, is_lit);
}
