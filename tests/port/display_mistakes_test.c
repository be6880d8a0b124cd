/* SPDX-License-Identifier: MIT */
/* Display drivers with one mistake each (support/mistaken.h): each is reported under its rule, and
 * the sound one never is, whatever the seed: of 6 or, with DXGK_LONG, 1000. */
#include "port/support/mistaken.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static void print_reports(const struct probe *p)
{
    for (size_t i = 0; i < verify_records(p->log); i++) {
        const struct verify_record *record = verify_record_at(p->log, i);

        print_message("    %s, severity %d: %s\n", record->rule, (int)record->severity,
                      record->seen);
    }
}

/* `id`: the rule, with the clause that is shown; `words` NULL: a call is refused for it. */
static bool is_told(const struct mistaken_run *run, const char *id, const char *words)
{
    struct probe *p = mistaken_run(run);
    char rule[16] = "";
    bool told;

    memcpy(rule, id, strcspn(id, "/"));
    told = words ? probe_said(p, rule, words)
                 : mistaken_refused() && strcmp(mistaken_refused(), rule) == 0;
    if (!told || getenv("DXGK_NOISY")) {
        print_message("mistake %d, %s\n", (int)run->mistake, id);
        print_reports(p);
    }
    probe_destroy(p);
    return told;
}

#define MISTAKEN(name, id, words, ...)                                                      \
    TEST(name)                                                                              \
    {                                                                                       \
        CHECK_RULE(id, is_told(&(struct mistaken_run){.mistake = __VA_ARGS__}, id, words)); \
    }

/* ---- VidPNs ---- */

MISTAKEN(a_set_leaks, "VIDPN-015", "mode set", MISTAKE_LEAKS_SET)
MISTAKEN(a_set_leaks_full, "VIDPN-015", "mode set", MISTAKE_LEAKS_SET, .full = true)
MISTAKEN(the_pivot_changes, "VIDPN-137", "scaling", MISTAKE_CHANGES_PIVOT, .strict = true)
MISTAKEN(a_format_is_wrong, "VIDPN-084", NULL, MISTAKE_WRONG_FORMAT)
MISTAKEN(a_mode_comes_twice, "VIDPN-072", NULL, MISTAKE_MODE_TWICE)
MISTAKEN(and_is_forgotten, "VIDPN-015", "source mode structure", MISTAKE_MODE_TWICE)
MISTAKEN(an_enumeration_pins, "VIDPN-078/a", "", MISTAKE_PINS)
MISTAKEN(a_set_is_empty, "VIDPN-143", "target 0x100", MISTAKE_EMPTY_SET)
MISTAKEN(a_handle_is_kept, "VIDPN-007", "", MISTAKE_KEEPS_HANDLE)
MISTAKEN(a_commit_changes, "VIDPN-014", "", MISTAKE_CHANGES_COMMIT)
MISTAKEN(a_commit_fails, "VIDPN-184/d", "", MISTAKE_COMMIT_FAILS)
MISTAKEN(a_source_stays_invisible, "VIDPN-189", "", MISTAKE_NOT_VISIBLE)

/* ---- children ---- */

MISTAKEN(another_child_answers, "DISP-040", "", MISTAKE_OTHER_CHILD)
MISTAKEN(no_child_answers, "DISP-040", "STATUS_UNSUCCESSFUL", MISTAKE_LOST_STATUS)

/* ---- pictures ---- */

MISTAKEN(a_place_is_ignored, "PRES-335/a", "", MISTAKE_IGNORES_PLACE)
MISTAKEN(the_first_rectangle_is_alone, "PRES-335/a", "", MISTAKE_FIRST_ALONE)
MISTAKEN(the_pitch_is_ignored, "PRES-335/a", "", MISTAKE_IGNORES_PITCH)
MISTAKEN(it_turns_the_other_way, "PRES-335/b", "", MISTAKE_TURNS_WRONG)
MISTAKEN(it_shows_early, "PRES-023", "", MISTAKE_SHOWS_EARLY)
MISTAKEN(it_shows_on, "PRES-337", "", MISTAKE_STAYS_VISIBLE)
MISTAKEN(a_present_never_ends, "PRES-218", "", MISTAKE_NEVER_DONE)
MISTAKEN(a_present_ends_twice, "PRES-216", "", MISTAKE_DONE_TWICE)
MISTAKEN(a_present_ends_and_says_so, "PRES-215", "", MISTAKE_DONE_AND_SAID)
MISTAKEN(a_pointer_leaves_the_screen, "NT-002", "", MISTAKE_POINTER_OUT)
MISTAKEN(a_picture_is_left, "PRES-038", "", MISTAKE_PICTURE_LEFT)

/* ---- flips and vertical syncs ---- */

MISTAKEN(a_flip_is_told_early, "PRES-336", "", MISTAKE_FLIP_EARLY)
MISTAKEN(an_address_is_nobodys, "PRES-143", "", MISTAKE_SYNC_ADDRESS)
MISTAKEN(an_address_is_none, "PRES-157", "", MISTAKE_SYNC_ZERO)
MISTAKEN(a_target_does_not_exist, "PRES-159/a", "", MISTAKE_SYNC_TARGET)
MISTAKEN(a_target_is_another, "PRES-327", "", MISTAKE_SYNC_OTHER)
MISTAKEN(no_sync_comes, "PRES-327", "", MISTAKE_SYNC_NEVER)
MISTAKEN(syncs_of_another_kind, "PRES-162/a", "", MISTAKE_SYNC_TYPE)
MISTAKEN(a_flip_fails, "PRES-132/b", "", MISTAKE_FLIP_FAILS)
MISTAKEN(a_primary_is_cached, "PRES-075", "", MISTAKE_CACHED)
MISTAKEN(a_primary_is_hidden, "PRES-077", "", MISTAKE_HIDDEN)

/* ---- without a mistake ---- */

static void sound(bool full)
{
    const uint64_t seeds = getenv("DXGK_LONG") ? 1000 : 6;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct probe *p = mistaken_run(
            &(struct mistaken_run){.full = full, .seed = seed, .strict = seed % 3 == 0});

        if (probe_reports(p, VERIFY_WARNING)) {
            print_message("seed %llu\n", (unsigned long long)seed);
            print_reports(p);
        }
        CHECK(probe_reports(p, VERIFY_WARNING) == 0 && !mistaken_refused());
        probe_destroy(p);
    }
}

TEST(pictures_of_the_sound_driver)
{
    sound(false);
}

TEST(flips_of_the_sound_driver)
{
    sound(true);
}
