/* SPDX-License-Identifier: MIT */
/* The log of broken rules: severities, merging, places, the simulated bug check. */
#include "support/check_rule.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/alloc.h"
#include "verify/verify.h"

static struct verify_log *install(void)
{
    struct verify_log *log = verify_log_create();

    CHECK(log);
    verify_log_install(log);
    return log;
}

/* ---- a stand-in for the room that knows where the driver is ---- */

static const char *place_where = "DxgkDdiPatch";
static unsigned bugchecks;
static struct verify_bugcheck carried_out;

static void describe(struct verify_record *record)
{
    snprintf(record->where, sizeof(record->where), "%s", place_where);
    snprintf(record->thread, sizeof(record->thread), "worker 3");
    record->irql = 2;
    record->time = 1234;
}

static void carry_out(const struct verify_bugcheck *bugcheck)
{
    bugchecks++;
    carried_out = *bugcheck;
}

static unsigned stacks;

static bool tell_stack(char *text, size_t bytes)
{
    stacks++;
    snprintf(text, bytes, "a.sys!f+0x1\na.sys!g+0x2");
    return true;
}

static const struct verify_place place = {
    .describe = describe, .stack = tell_stack, .bugcheck = carry_out};

static struct verify_log *install_with_place(void)
{
    struct verify_log *log = install();

    bugchecks = 0;
    place_where = "DxgkDdiPatch";
    verify_set_place(log, &place);
    return log;
}

/* ---- tests ---- */

TEST(without_a_log_reports_vanish)
{
    verify_log_install(NULL);
    VIOLATION("PATCH-017", "nobody listens");
    verify_report_code("NT-010", 0xC4, 0, 0, 0, 0, "nobody listens");
    verify_fatal("PHYS-136", 0x1E4, 6, 0, 0, 0, "nobody listens");
    verify_client_error("KMT-388", "nobody listens");
    verify_client_fatal("KMT-456", 0xE2, 1, 2, 3, "nobody listens");
    verify_refusal("CAPS-048", "nobody listens");
    verify_decline("CAPS-066", "nobody listens");
    /* what decides on them goes by the class of the rule alone */
    CHECK(verify_finding("CAPS-048", "refused") && !verify_finding("CAPS-052", "expected"));
    CHECK(!verify_expected("CAPS-048", "expected") && verify_unserved("LIFE-069", "one display"));
    CHECK(!verify_undoing(NULL));
    verify_set_undoing(NULL, true);
}

/* Without a room that knows where, nothing is said of it; without the log's own, nobody carries out. */
TEST(a_log_needs_no_place)
{
    struct verify_log *log = install();
    static const struct verify_place nothing = {.describe = NULL};
    const struct verify_record *record;

    for (int i = 0; i < 2; i++) {
        verify_fatal(i ? "NT-010" : "PHYS-136", 0x1E4 + (uint32_t)i, 6, 7, 8, 9, "seen %d", i);
        record = verify_record_at(log, (size_t)i);
        CHECK(record && !record->where[0] && !record->thread[0] && !record->stack &&
              record->code == 0x1E4u + (uint32_t)i);
        verify_set_place(log, &nothing);
    }
    CHECK(verify_bugcheck_state(log)->code == 0x1E4 &&
          verify_bugcheck_state(log)->parameter[3] == 9);
    CHECK(!verify_record_at(log, 2));
    verify_log_destroy(log);
}

/* The first sight of each record is news, with what was seen. */
static unsigned told;
static char told_seen[64];

static void tell_news(void *context, const struct verify_record *record)
{
    CHECK(context == &told && record->count == 1);
    snprintf(told_seen, sizeof(told_seen), "%s", record->seen);
    told++;
}

TEST(new_records_are_told)
{
    struct verify_log *log = install();

    told = 0;
    verify_set_news(log, tell_news, &told);
    for (int i = 0; i < 3; i++)
        VIOLATION("PATCH-017", "offset %d", i);
    CHECK(told == 1 && strcmp(told_seen, "offset 0") == 0);
    WARNING("PATCH-018", "another");
    CHECK(told == 2 && strcmp(told_seen, "another") == 0);
    verify_log_destroy(log);
}

/* One more than the buffer holds, and one that just fits it. */
TEST(sentences_around_the_size_of_the_buffer_are_whole)
{
    struct verify_log *log = install();

    for (int bytes = 500; bytes <= 1030; bytes += 1) {
        verify_refusal("CAPS-048", "%0*d", bytes, 7);
        CHECK(strlen(verify_record_at(log, verify_records(log) - 1)->seen) == (size_t)bytes);
    }
    CHECK(verify_records(log) == 531 && verify_lost(log) == 0);
    verify_log_destroy(log);
}

TEST(destroying_the_installed_log_uninstalls_it)
{
    verify_log_destroy(install());
    CHECK(!verify_current);
    verify_log_destroy(NULL);
}

TEST(a_record_holds_what_was_seen_and_where)
{
    struct verify_log *log = install_with_place();
    const struct verify_record *record;

    verify_report_code("NT-025", 0xC4, 0x51, 2, 3, 4, "%d bytes past the end", 8);
    CHECK_RULE("LIFE-001/a", verify_records(log) == 1);
    record = verify_record_at(log, 0);
    CHECK_RULE("LIFE-001/a",
               strcmp(record->rule, "NT-025") == 0 && record->severity == VERIFY_ERROR);
    CHECK_RULE("LIFE-001/a", record->code == 0xC4 && record->parameter[0] == 0x51 &&
                                 record->parameter[1] == 2 && record->parameter[2] == 3 &&
                                 record->parameter[3] == 4);
    CHECK_RULE("LIFE-001/b", strcmp(record->where, "DxgkDdiPatch") == 0);
    CHECK_RULE("LIFE-001/b", strcmp(record->thread, "worker 3") == 0 && record->irql == 2);
    CHECK(strcmp(record->seen, "8 bytes past the end") == 0 && record->time == 1234 &&
          record->count == 1);
    CHECK_RULE("LIFE-001/c",
               bugchecks == 0); /* goes on: an error with a code is not yet a bug check */
    verify_log_destroy(log);
}

TEST(a_long_sentence_is_kept_whole)
{
    struct verify_log *log = install();
    char text[1000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    VIOLATION("PATCH-017", "%s", text);
    CHECK(strcmp(verify_record_at(log, 0)->seen, text) == 0);
    verify_log_destroy(log);
}

TEST(identical_ones_merge_into_the_first)
{
    struct verify_log *log = install_with_place();

    for (int i = 0; i < 5; i++)
        VIOLATION("PATCH-017", "offset %d", i);
    CHECK(verify_records(log) == 1);
    CHECK(verify_record_at(log, 0)->count == 5 &&
          strcmp(verify_record_at(log, 0)->seen, "offset 0") == 0);
    CHECK(verify_rule_count(log, "PATCH-017") == 5 && verify_count(log, VERIFY_NOTE) == 5);
    verify_log_destroy(log);
}

TEST(another_rule_place_severity_or_cause_is_another_record)
{
    struct verify_log *log = install_with_place();

    VIOLATION("PATCH-017", "first");
    VIOLATION("PATCH-018", "other rule");
    place_where = "DxgkDdiRender";
    VIOLATION("PATCH-017", "other place");
    WARNING("PATCH-017", "other place");
    VIOLATION("PATCH-017", "other place");
    VIOLATION("PATCH-017", "other cause");
    CHECK(verify_records(log) == 5);
    CHECK(verify_record_at(log, 2)->count == 2 && verify_record_at(log, 3)->count == 1);
    CHECK(!verify_record_at(log, 5));
    CHECK(verify_rule_count(log, "PATCH-017") == 5 && verify_rule_count(log, "PATCH-018") == 1);
    verify_log_destroy(log);
}

TEST(counts_are_by_severity)
{
    struct verify_log *log = install();

    NOTE("CAPS-061", "both models");
    WARNING("CAPS-019", "reserved bit");
    WARNING("CAPS-019", "reserved bit");
    VIOLATION("PATCH-017", "offset");
    CHECK(verify_count(log, VERIFY_NOTE) == 4 && verify_count(log, VERIFY_WARNING) == 3);
    CHECK(verify_count(log, VERIFY_ERROR) == 1 && verify_count(log, VERIFY_FATAL) == 0);
    verify_log_destroy(log);
}

TEST(the_first_fatal_one_is_the_bug_check)
{
    struct verify_log *log = install_with_place();
    const struct verify_bugcheck *bugcheck = verify_bugcheck_state(log);

    CHECK(!bugcheck->happened);
    verify_fatal("PHYS-136", 0x1E4, 6, 7, 8, 9, "%d adapter object left", 1);
    CHECK_RULE("LIFE-002/a", bugcheck->happened && bugcheck->code == 0x1E4 &&
                                 bugcheck->parameter[0] == 6 && bugcheck->parameter[1] == 7 &&
                                 bugcheck->parameter[2] == 8 && bugcheck->parameter[3] == 9);
    CHECK(strcmp(bugcheck->rule, "PHYS-136") == 0);
    CHECK(bugchecks == 1 && carried_out.code == 0x1E4);
    CHECK(verify_records(log) == 1 && verify_record_at(log, 0)->severity == VERIFY_FATAL);
    verify_log_destroy(log);
}

TEST(a_report_can_have_the_stack_of_who_has_returned)
{
    struct verify_log *log = install_with_place();

    stacks = 0;
    verify_set_stack("a.sys!made+0x5");
    WARNING("NT-002", "1");
    VIOLATION("NT-003", "2");
    verify_set_stack("a.sys!made+0x5");
    verify_set_stack(NULL);
    VIOLATION("NT-004", "3");
    CHECK(strcmp(verify_record_at(log, 0)->stack, "a.sys!made+0x5") == 0);
    CHECK(stacks == 2 && strcmp(verify_record_at(log, 1)->stack, "a.sys!f+0x1\na.sys!g+0x2") == 0);
    CHECK(strcmp(verify_record_at(log, 2)->stack, "a.sys!f+0x1\na.sys!g+0x2") == 0);
    verify_log_destroy(log);
}

TEST(errors_have_a_stack_once)
{
    struct verify_log *log = install_with_place();

    stacks = 0;
    WARNING("PHYS-136", "of no weight");
    VIOLATION("PHYS-136", "an error");
    VIOLATION("PHYS-136", "an error");
    CHECK(verify_records(log) == 2 && stacks == 1);
    CHECK(!verify_record_at(log, 0)->stack &&
          strcmp(verify_record_at(log, 1)->stack, "a.sys!f+0x1\na.sys!g+0x2") == 0);
    verify_log_destroy(log);
}

TEST(a_second_fatal_one_leaves_the_bug_check_alone)
{
    struct verify_log *log = install_with_place();

    verify_fatal("PHYS-136", 0x1E4, 6, 0, 0, 0, "first");
    verify_fatal("PHYS-143", 0x1E4, 7, 0, 0, 0, "second");
    CHECK(verify_bugcheck_state(log)->parameter[0] == 6 && bugchecks == 2 &&
          carried_out.parameter[0] == 6);
    CHECK(verify_records(log) == 2);
    verify_log_destroy(log);
}

TEST(a_lowered_rule_no_longer_stops)
{
    struct verify_log *log = install_with_place();

    CHECK(verify_set_severity(log, "PHYS-136", VERIFY_WARNING));
    verify_fatal("PHYS-136", 0x1E4, 6, 0, 0, 0, "one left");
    CHECK_RULE("LIFE-004/a", !verify_bugcheck_state(log)->happened && bugchecks == 0);
    CHECK_RULE("LIFE-004/a", verify_record_at(log, 0)->severity == VERIFY_WARNING);
    CHECK(verify_record_at(log, 0)->code == 0x1E4 && verify_record_at(log, 0)->parameter[0] == 6);
    verify_log_destroy(log);
}

TEST(a_raised_rule_stops)
{
    struct verify_log *log = install_with_place();

    CHECK(verify_set_severity(log, "CAPS-019", VERIFY_FATAL));
    WARNING("CAPS-019", "reserved bit");
    CHECK_RULE("LIFE-004/c", verify_bugcheck_state(log)->happened && bugchecks == 1);
    CHECK(verify_bugcheck_state(log)->code == 0xC4);
    WARNING("CAPS-058", "reserved bit of another rule");
    CHECK_RULE("LIFE-004/a", verify_record_at(log, 1)->severity == VERIFY_WARNING);
    verify_log_destroy(log);
}

TEST(an_unknown_rule_cannot_be_configured)
{
    struct verify_log *log = install();

    CHECK(!verify_set_severity(log, "PATCH-999", VERIFY_NOTE));
    CHECK(verify_rule_count(log, "PATCH-999") == 0);
    verify_log_destroy(log);
}

TEST(strict_mode_raises_errors_only)
{
    struct verify_log *log = install_with_place();

    CHECK(!verify_strict(log));
    VIOLATION("PATCH-017", "goes on");
    CHECK_RULE("TDR-002", bugchecks == 0 && verify_rule_count(log, "PATCH-017") == 1);
    verify_set_strict(log, true);
    CHECK(verify_strict(log));
    NOTE("CAPS-061", "a note");
    WARNING("CAPS-019", "a warning");
    CHECK(bugchecks == 0);
    VIOLATION("PATCH-018", "stops");
    CHECK_RULE("TDR-002", bugchecks == 1 && verify_bugcheck_state(log)->happened);
    CHECK(verify_bugcheck_state(log)->code == 0xC4 &&
          strcmp(verify_bugcheck_state(log)->rule, "PATCH-018") == 0);
    verify_log_destroy(log);
}

TEST(strict_mode_leaves_a_lowered_rule_lowered)
{
    struct verify_log *log = install_with_place();

    verify_set_strict(log, true);
    CHECK(verify_set_severity(log, "PATCH-017", VERIFY_WARNING));
    VIOLATION("PATCH-017", "goes on");
    CHECK(bugchecks == 0 && verify_count(log, VERIFY_ERROR) == 0);
    verify_log_destroy(log);
}

TEST(reports_beyond_the_limit_are_counted)
{
    struct verify_log *log = install_with_place();

    verify_log_limit(log, 1);
    VIOLATION("PATCH-017", "kept");
    VIOLATION("PATCH-018", "lost");
    VIOLATION("PATCH-017", "kept");
    verify_fatal("PHYS-136", 0x1E4, 6, 0, 0, 0, "lost, and still a bug check");
    CHECK(verify_records(log) == 1 && verify_lost(log) == 2 && verify_count(log, VERIFY_NOTE) == 4);
    CHECK(verify_rule_count(log, "PATCH-018") == 1);
    CHECK(verify_bugcheck_state(log)->happened && bugchecks == 1);
    verify_log_destroy(log);
}

TEST(records_stay_in_place)
{
    struct verify_log *log = install();
    const struct verify_record *first;

    VIOLATION("LIFE-098", "number %zu", (size_t)7);
    first = verify_record_at(log, 0);
    for (size_t i = 0; i < 2000; i++)
        VIOLATION(verify_rules[i].id, "number %zu", i);
    CHECK(verify_record_at(log, 0) == first && first->count == 2);
    CHECK(verify_records(log) == 2000);
    verify_log_destroy(log);
}

TEST(faults_injected_into_the_machine_do_not_reach_the_log)
{
    struct util_heap heap = {.fail_at = 1, .fail_onward = true};
    struct verify_log *log;

    util_heap_current = &heap;
    log = install();
    VIOLATION("PATCH-017", "kept");
    util_heap_current = NULL;
    CHECK(verify_records(log) == 1 && verify_lost(log) == 0 && heap.requests == 0);
    verify_log_destroy(log);
}

/* The host's own mistake: loud where whole structures are checked, recorded everywhere else. */
TEST(an_unknown_rule_is_recorded_or_asserted)
{
    struct verify_log *log = install();
    int status;
    pid_t child;

    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr)); /* the message of assert */
        VIOLATION("PATCH-999", "no such rule");
        VIOLATION("PATCH-998", "no such rule either");
        VIOLATION("PATCH-999", "no such rule");
        if (verify_records(log) != 2 || verify_count(log, VERIFY_ERROR) != 3)
            _exit(1);
        _exit(strcmp(verify_record_at(log, 0)->rule, "PATCH-999") != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
#ifdef DXGK_DEBUG_CHECKS
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#else
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
    verify_log_destroy(log);
}

/* ---- findings ---- */

TEST(the_class_of_the_rule_decides_on_a_finding)
{
    struct verify_log *log = install();
    const struct verify_record *record;

    CHECK(verify_rule_find("CAPS-048")->admission == VERIFY_REFUSED);
    CHECK(verify_rule_find("CAPS-052")->admission == VERIFY_EXPECTED);
    CHECK(verify_rule_find("PATCH-017")->admission == VERIFY_NO_ADMISSION);
    CHECK(verify_finding("CAPS-048", "one"));
    CHECK(!verify_finding("CAPS-052", "two"));
    CHECK(!verify_expected("CAPS-048", "three")); /* a clause of it */
    record = verify_record_at(log, 0);
    CHECK(record->severity == VERIFY_ERROR && record->refuses && !record->undoing);
    record = verify_record_at(log, 1);
    CHECK(record->severity == VERIFY_WARNING && !record->refuses);
    record = verify_record_at(log, 2);
    CHECK(record->severity == VERIFY_WARNING && !record->refuses);
    verify_log_destroy(log);
}

TEST(a_configured_severity_decides_before_the_class)
{
    struct verify_log *log = install();

    CHECK(verify_set_severity(log, "CAPS-048", VERIFY_WARNING));
    CHECK(verify_set_severity(log, "CAPS-052", VERIFY_ERROR));
    CHECK(!verify_finding("CAPS-048", "one"));
    CHECK(verify_finding("CAPS-052", "two"));
    CHECK(verify_set_severity(log, "CAPS-048", VERIFY_NOTE));
    CHECK(!verify_finding("CAPS-048", "three"));
    verify_refusal("CAPS-048", "nobody can go on"); /* whatever the severity */
    verify_decline("CAPS-066", "there is no IOMMU");
    CHECK(verify_record_at(log, 3)->severity == VERIFY_NOTE && verify_record_at(log, 3)->refuses);
    CHECK(verify_record_at(log, 4)->severity == VERIFY_WARNING && verify_record_at(log, 4)->refuses);
    verify_log_destroy(log);
}

TEST(what_can_be_done_without_refuses_unless_it_is_taken_for_less)
{
    struct verify_log *log = install();

    CHECK(verify_unserved("LIFE-069", "one display"));
    CHECK(verify_record_at(log, 0)->severity == VERIFY_WARNING && verify_record_at(log, 0)->refuses);
    CHECK(verify_set_severity(log, "LIFE-069", VERIFY_WARNING));
    CHECK(!verify_unserved("LIFE-069", "two displays"));
    CHECK(verify_set_severity(log, "LIFE-069", VERIFY_NOTE));
    CHECK(!verify_unserved("LIFE-069", "three displays"));
    CHECK(verify_set_severity(log, "LIFE-069", VERIFY_ERROR));
    CHECK(verify_unserved("LIFE-069", "four displays"));
    CHECK(!verify_record_at(log, 1)->refuses && !verify_record_at(log, 2)->refuses);
    CHECK(verify_record_at(log, 3)->severity == VERIFY_ERROR && verify_record_at(log, 3)->refuses);
    verify_log_destroy(log);
}

TEST(strict_mode_refuses_for_findings_and_does_not_stop)
{
    struct verify_log *log = install();

    verify_set_strict(log, true);
    CHECK(verify_finding("CAPS-048", "one") && verify_finding("CAPS-052", "two"));
    CHECK(verify_record_at(log, 0)->severity == VERIFY_ERROR &&
          verify_record_at(log, 1)->severity == VERIFY_ERROR);
    CHECK(!verify_bugcheck_state(log)->happened);
    CHECK(verify_set_severity(log, "CAPS-052", VERIFY_WARNING));
    CHECK(!verify_finding("CAPS-052", "three"));
    verify_log_destroy(log);
}

TEST(findings_that_say_different_things_stay_apart)
{
    struct verify_log *log = install();

    for (int i = 0; i < 4; i++)
        CHECK(!verify_finding("CAPS-027", "member %d", i % 2));
    CHECK(verify_records(log) == 2 && verify_record_at(log, 1)->count == 2);
    verify_set_undoing(log, true);
    CHECK(!verify_finding("CAPS-027", "member 0"));
    CHECK(verify_records(log) == 3 && verify_record_at(log, 2)->undoing);
    verify_log_destroy(log);
}

/* ---- what clients do ---- */

TEST(errors_of_clients_are_counted_apart)
{
    struct verify_log *log = install_with_place();
    const struct verify_record *record;

    verify_client_error("KMT-388", "a mutex of somebody else");
    verify_client_error("KMT-388", "a mutex of somebody else");
    VIOLATION("KMT-388", "and a driver");
    CHECK_RULE("KMT-493", verify_client_errors(log) == 2 && verify_count(log, VERIFY_NOTE) == 1);
    CHECK(verify_records(log) == 2 && verify_rule_count(log, "KMT-388") == 3);
    record = verify_record_at(log, 0);
    CHECK(record->client && record->severity == VERIFY_ERROR && record->count == 2);
    CHECK(!verify_record_at(log, 1)->client);
    verify_log_destroy(log);
}

TEST(strict_mode_does_not_stop_for_clients)
{
    struct verify_log *log = install_with_place();

    verify_set_strict(log, true);
    verify_client_error("KMT-388", "a mutex of somebody else");
    CHECK_RULE("KMT-493", bugchecks == 0 && verify_client_errors(log) == 1);
    CHECK(verify_set_severity(log, "SUBMIT-134", VERIFY_WARNING));
    verify_client_error("SUBMIT-134", "lowered");
    CHECK(verify_client_errors(log) == 1 && verify_count(log, VERIFY_NOTE) == 0);
    CHECK(verify_set_severity(log, "SUBMIT-134", VERIFY_FATAL));
    verify_client_error("SUBMIT-134", "raised");
    CHECK(bugchecks == 1 && carried_out.client && verify_client_errors(log) == 2);
    verify_log_destroy(log);
}

TEST(a_client_can_ask_for_a_bug_check)
{
    struct verify_log *log = install_with_place();

    verify_client_fatal("KMT-456", 0xE2, 1, 2, 3, "asked for");
    CHECK_RULE("KMT-493", bugchecks == 1 && carried_out.client && carried_out.code == 0xE2 &&
                              carried_out.parameter[2] == 3);
    verify_log_destroy(log);
    log = install_with_place();
    verify_fatal("NT-010", 0xC4, 1, 2, 3, 4, "a driver");
    verify_client_fatal("KMT-456", 0xE2, 1, 2, 3, "too late");
    CHECK(!verify_bugcheck_state(log)->client && verify_bugcheck_state(log)->code == 0xC4);
    verify_log_destroy(log);
}
