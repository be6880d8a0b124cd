/* SPDX-License-Identifier: MIT */
/* Security descriptors in both forms, lists with entries of all kinds, and what is asked of them. */
#include "nt/base/current.h"
#include "nt/ps/process.h"
#include "support/harness.h"

#define READ_IT  0x1u
#define WRITE_IT 0x2u
#define RUN_IT   0x4u
#define GENERICS 0xF0000000u
#define MAXIMUM  0x02000000u
#define SECURITY 0x01000000u
#define OWNER    0x00060000u
#define RELATIVE 0x8004u
#define ABSOLUTE 0x0004u

static const GENERIC_MAPPING mapping = {0x10, 0x20, 0x40, 0xFF};
static SECURITY_SUBJECT_CONTEXT subject;
static struct nt_process *client;

/* A descriptor and its list, built up entry by entry. */
static union {
    uint8_t bytes[1024];
    uint64_t align;
} d;
static size_t end; /* of the list */

#define LIST 64u /* where it begins */

enum who { EVERYONE, AUTHENTICATED, INTERACTIVE, USERS, SYSTEM, ADMINISTRATORS, NOBODY, SIDS };

static size_t put_sid(uint8_t *at, enum who who)
{
    static const uint8_t sid[SIDS][16] = {
        [EVERYONE] = {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
        [AUTHENTICATED] = {1, 1, 0, 0, 0, 0, 0, 5, 11, 0, 0, 0},
        [INTERACTIVE] = {1, 1, 0, 0, 0, 0, 0, 5, 4, 0, 0, 0},
        [USERS] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x21, 2, 0, 0},
        [SYSTEM] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0},
        [ADMINISTRATORS] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0},
        [NOBODY] = {1, 1, 0, 0, 0, 0, 0, 5, 99, 0, 0, 0},
    };
    size_t bytes = 8 + 4u * sid[who][1];

    memcpy(at, sid[who], bytes);
    return bytes;
}

static void put16(size_t at, unsigned value)
{
    uint16_t word = (uint16_t)value;

    memcpy(d.bytes + at, &word, sizeof(word));
}

static void put32(size_t at, uint32_t value)
{
    memcpy(d.bytes + at, &value, sizeof(value));
}

static void put_pointer(size_t at, const void *value)
{
    memcpy(d.bytes + at, &value, sizeof(value));
}

/* An empty list, and no owner. */
static void begin(unsigned control)
{
    memset(&d, 0, sizeof(d));
    d.bytes[0] = 1;
    put16(2, control);
    if (control & 0x8000)
        put32(16, LIST);
    else
        put_pointer(32, d.bytes + LIST);
    end = LIST + 8;
    d.bytes[LIST] = 2;
    put16(LIST + 2, 8);
}

static void set_owner(unsigned control, enum who who)
{
    put_sid(d.bytes + 512, who);
    if (control & 0x8000)
        put32(4, 512);
    else
        put_pointer(8, d.bytes + 512);
}

/* 0: allows, 1: denies. */
static void entry(uint8_t type, uint8_t flags, ULONG mask, enum who who)
{
    size_t at = end, bytes = 8 + put_sid(d.bytes + end + 8, who);
    uint16_t count;

    d.bytes[at] = type;
    d.bytes[at + 1] = flags;
    put16(at + 2, (unsigned)bytes);
    put32(at + 4, mask);
    end += bytes;
    memcpy(&count, d.bytes + LIST + 4, sizeof(count));
    put16(LIST + 4, count + 1u);
    put16(LIST + 2, (unsigned)(end - LIST));
}

static NTSTATUS ask(ULONG wanted, ULONG before, ULONG *granted)
{
    NTSTATUS status = 5;
    BOOLEAN good;

    *granted = 0x5A;
    good = SeAccessCheck(&d, &subject, FALSE, wanted, before, NULL, (PGENERIC_MAPPING)&mapping,
                         UserMode, granted, &status);
    CHECK(good == NT_SUCCESS(status) && (good || *granted == 0));
    return status;
}

static bool grants(ULONG wanted, ULONG expected)
{
    ULONG granted;

    return ask(wanted, 0, &granted) == STATUS_SUCCESS && granted == expected;
}

static bool denies(ULONG wanted)
{
    ULONG granted;

    return ask(wanted, 0, &granted) == STATUS_ACCESS_DENIED;
}

static void as(PVOID token)
{
    memset(&subject, 0, sizeof(subject));
    subject.PrimaryToken = token;
}

static void use_descriptors(unsigned control)
{
    as(client);
    begin(control);
    CHECK(denies(READ_IT) && denies(MAXIMUM)); /* an empty list: nobody may do anything */
    entry(0, 0, READ_IT | WRITE_IT, EVERYONE);
    CHECK(grants(READ_IT, READ_IT) && grants(READ_IT | WRITE_IT, READ_IT | WRITE_IT));
    CHECK(denies(RUN_IT) && denies(READ_IT | RUN_IT) && grants(MAXIMUM, READ_IT | WRITE_IT));
    CHECK(grants(MAXIMUM | READ_IT, READ_IT | WRITE_IT) && denies(MAXIMUM | RUN_IT));
    CHECK(denies(OWNER));
    set_owner(control, USERS);
    CHECK(grants(OWNER, OWNER) && grants(MAXIMUM, READ_IT | WRITE_IT | OWNER));
    set_owner(control, NOBODY);
    CHECK(denies(OWNER));
    put16(2, control & ~4u); /* there is no list */
    CHECK(grants(0x00FFFFFF, 0x00FFFFFF));
    begin(control);
    if (control & 0x8000)
        put32(16, 0);
    else
        put_pointer(32, NULL);
    CHECK(grants(0x00FFFFFF, 0x00FFFFFF)); /* nor is an empty pointer one */
    CHECK(grants(MAXIMUM, ~(GENERICS | MAXIMUM | SECURITY)));
}

static void use_both_forms(void)
{
    use_descriptors(RELATIVE);
    use_descriptors(ABSOLUTE);
    CHECK(errors() == 0);
}

TEST_WITH(machine, both_forms_of_descriptors_are_read)
{
    client = nt_process_create("client");
    run(use_both_forms);
    nt_process_destroy(client);
}

static bool allowed_to(enum who who)
{
    begin(RELATIVE);
    entry(0, 0, READ_IT, who);
    return grants(READ_IT, READ_IT);
}

static void tell_groups(void)
{
    as(client);
    CHECK(allowed_to(EVERYONE) && allowed_to(AUTHENTICATED));
    CHECK(allowed_to(INTERACTIVE) && allowed_to(USERS));
    CHECK(!allowed_to(SYSTEM) && !allowed_to(ADMINISTRATORS) && !allowed_to(NOBODY));
    as(nt_process_system());
    CHECK(allowed_to(EVERYONE) && allowed_to(AUTHENTICATED));
    CHECK(allowed_to(SYSTEM) && allowed_to(ADMINISTRATORS));
    CHECK(!allowed_to(INTERACTIVE) && !allowed_to(USERS) && !allowed_to(NOBODY));
    /* who acts for a client is that one */
    subject.ClientToken = client;
    CHECK(allowed_to(USERS) && !allowed_to(SYSTEM));
    as(client);
    subject.ClientToken = nt_process_system();
    CHECK(!allowed_to(USERS) && allowed_to(SYSTEM));
}

TEST_WITH(machine, tokens_have_their_groups)
{
    client = nt_process_create("client");
    run(tell_groups);
    nt_process_destroy(client);
}

static void use_entries(void)
{
    as(client);
    begin(RELATIVE);
    entry(1, 0, WRITE_IT, USERS);
    entry(0, 0, READ_IT | WRITE_IT, EVERYONE);
    CHECK(grants(READ_IT, READ_IT) && denies(WRITE_IT)); /* denied first */
    begin(RELATIVE);
    entry(0, 0, READ_IT | WRITE_IT, EVERYONE);
    entry(1, 0, WRITE_IT | RUN_IT, USERS);
    entry(0, 0, RUN_IT, EVERYONE);
    CHECK(grants(MAXIMUM, READ_IT | WRITE_IT)); /* allowed first, denied first */
    begin(RELATIVE);
    entry(1, 0, READ_IT, SYSTEM);
    entry(0, 8, WRITE_IT, EVERYONE); /* for what inherits */
    entry(2, 0, RUN_IT, EVERYONE);   /* an audit */
    entry(0, 0, READ_IT, EVERYONE);
    CHECK(grants(MAXIMUM, READ_IT));
    begin(RELATIVE);
    entry(0, 0, 0x80000000, EVERYONE);
    CHECK(grants(0x80000000, 0x10) && grants(0x10, 0x10) && denies(0x20));
    begin(RELATIVE);
    entry(0, 0, 0x40000000, EVERYONE);
    CHECK(grants(MAXIMUM, 0x20) && denies(0x80000000));
    begin(RELATIVE);
    entry(0, 0, 0x20000000, EVERYONE);
    CHECK(grants(MAXIMUM, 0x40) && grants(0x20000000, 0x40));
    begin(RELATIVE);
    entry(0, 0, 0x10000000, EVERYONE);
    CHECK(grants(MAXIMUM, 0xFF) && grants(0x10000000, 0xFF) && grants(0xE0000000, 0x70));
}

/* What is behind the end of the list, or of its entry, is not read. */
static void use_broken_entries(void)
{
    size_t second;

    as(client);
    begin(RELATIVE);
    entry(0, 0, READ_IT, EVERYONE);
    second = end;
    entry(0, 0, WRITE_IT, EVERYONE);
    CHECK(grants(MAXIMUM, READ_IT | WRITE_IT));
    put16(LIST + 4, 1);
    CHECK(grants(MAXIMUM, READ_IT));
    put16(LIST + 4, 3); /* more than there are */
    CHECK(grants(MAXIMUM, READ_IT | WRITE_IT));
    put16(LIST + 2, (unsigned)(end - LIST) - 1);
    CHECK(grants(MAXIMUM, READ_IT));
    put16(LIST + 2, (unsigned)(end - LIST));
    put16(second + 2, 19); /* shorter than its identifier */
    CHECK(grants(MAXIMUM, READ_IT));
    put16(second + 2, 15);
    CHECK(grants(MAXIMUM, READ_IT));
    put16(second + 2, 21); /* longer than the list */
    CHECK(grants(MAXIMUM, READ_IT));
    put16(second + 2, 20);
    CHECK(grants(MAXIMUM, READ_IT | WRITE_IT));
    begin(RELATIVE);
    entry(0, 0, READ_IT, EVERYONE);
    second = end;
    entry(0, 0, WRITE_IT, NOBODY);
    /* an identifier has 15 parts at most */
    d.bytes[second + 9] = 15;
    end = second + 8 + 8 + 4 * 15;
    put16(second + 2, 8 + 8 + 4 * 15);
    entry(0, 0, RUN_IT, EVERYONE);
    CHECK(grants(MAXIMUM, READ_IT | RUN_IT));
    begin(RELATIVE);
    entry(0, 0, READ_IT, EVERYONE);
    entry(0, 0, WRITE_IT, NOBODY);
    d.bytes[second + 9] = 16;
    end = second + 8 + 8 + 4 * 16;
    put16(second + 2, 8 + 8 + 4 * 16);
    entry(0, 0, RUN_IT, EVERYONE);
    CHECK(grants(MAXIMUM, READ_IT));
}

TEST_WITH(machine, entries_decide_in_order)
{
    client = nt_process_create("client");
    run(use_entries);
    run(use_broken_entries);
    nt_process_destroy(client);
    CHECK(errors() == 0);
}

static void ask_more(void)
{
    PPRIVILEGE_SET privileges = (PPRIVILEGE_SET)(void *)&d;
    ULONG granted = 5;
    NTSTATUS status = 5;

    as(client);
    begin(RELATIVE);
    entry(0, 0, READ_IT, EVERYONE);
    /* what was granted before counts */
    CHECK(ask(READ_IT | RUN_IT, RUN_IT, &granted) == STATUS_SUCCESS &&
          granted == (READ_IT | RUN_IT));
    CHECK(ask(READ_IT, RUN_IT, &granted) == STATUS_SUCCESS && granted == (READ_IT | RUN_IT));
    CHECK(ask(0, RUN_IT, &granted) == STATUS_SUCCESS && granted == RUN_IT);
    CHECK(ask(MAXIMUM, RUN_IT, &granted) == STATUS_SUCCESS && granted == (READ_IT | RUN_IT));
    CHECK(ask(0, 0, &granted) == STATUS_ACCESS_DENIED); /* nothing is nothing to grant */
    /* the system's security is a privilege */
    CHECK(ask(SECURITY, 0, &granted) == STATUS_PRIVILEGE_NOT_HELD);
    CHECK(ask(SECURITY | WRITE_IT, 0, &granted) == STATUS_PRIVILEGE_NOT_HELD);
    CHECK(ask(SECURITY, SECURITY, &granted) == STATUS_SUCCESS && granted == SECURITY);
    as(nt_process_system());
    CHECK(ask(SECURITY, 0, &granted) == STATUS_SUCCESS && granted == SECURITY);
    CHECK(grants(MAXIMUM, READ_IT | SECURITY));
    /* of another revision, or of nobody */
    d.bytes[0] = 2;
    CHECK(denies(READ_IT));
    d.bytes[0] = 1;
    CHECK(!SeAccessCheck(&d, NULL, FALSE, READ_IT, 0, NULL, NULL, UserMode, &granted, &status) &&
          status == STATUS_ACCESS_DENIED && granted == 0);
    CHECK(
        !SeAccessCheck(NULL, &subject, FALSE, READ_IT, 0, NULL, NULL, UserMode, &granted, &status));
    /* neither of the answers is needed, and there are no privileges to tell */
    CHECK(SeAccessCheck(&d, &subject, FALSE, READ_IT, 0, &privileges, NULL, UserMode, NULL, NULL));
    CHECK(!privileges);
    CHECK(!SeAccessCheck(&d, &subject, FALSE, WRITE_IT, 0, NULL, NULL, UserMode, NULL, NULL));
    /* without a mapping generic rights stay what they are */
    CHECK(!SeAccessCheck(&d, &subject, FALSE, 0x80000000, 0, NULL, NULL, UserMode, NULL, NULL));
    /* the kernel may do all */
    CHECK(SeAccessCheck(NULL, NULL, FALSE, 0x80000002, 4, NULL, (PGENERIC_MAPPING)&mapping,
                        KernelMode, &granted, &status) &&
          granted == (0x10 | 2 | 4) && status == STATUS_SUCCESS);
    CHECK(SeAccessCheck(NULL, NULL, FALSE, MAXIMUM | 0x100, 0x200, NULL, (PGENERIC_MAPPING)&mapping,
                        KernelMode, &granted, &status) &&
          granted == (0xFF | 0x100 | 0x200));
    CHECK(SeAccessCheck(NULL, NULL, FALSE, 0x80000001, 0, NULL, NULL, KernelMode, &granted,
                        &status) &&
          granted == 0x80000001);
    CHECK(errors() == 0);
}

TEST_WITH(machine, rights_are_asked_for)
{
    client = nt_process_create("client");
    run(ask_more);
    nt_process_destroy(client);
}

static void capture(void)
{
    SECURITY_SUBJECT_CONTEXT now;
    LONG_PTR references;

    memset(&now, 0x5A, sizeof(now));
    SeCaptureSubjectContext(&now);
    CHECK(!now.ClientToken && now.PrimaryToken == IoGetCurrentProcess() &&
          now.ImpersonationLevel == SecurityAnonymous &&
          now.ProcessAuditId == PsGetCurrentProcessId());
    references = ObReferenceObject(now.PrimaryToken);
    ObDereferenceObject(now.PrimaryToken);
    SeReleaseSubjectContext(&now);
    CHECK(!now.PrimaryToken);
    CHECK(ObReferenceObject(IoGetCurrentProcess()) == references - 1);
    ObDereferenceObject(IoGetCurrentProcess());
    SeReleaseSubjectContext(&now); /* of nobody any more */
    SeReleaseSubjectContext(NULL);
    SeCaptureSubjectContext(NULL);
    PsDereferencePrimaryToken(NULL);
    CHECK(errors() == 1 && broken("NT-107"));
    forget_reports();
}

TEST_WITH(machine, subjects_are_captured)
{
    client = nt_process_create("client");
    run(capture);
    run_client(client, capture);
    nt_process_destroy(client);
}
