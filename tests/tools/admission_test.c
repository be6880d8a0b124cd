/* SPDX-License-Identifier: MIT */
/* tools/admission on a project of a few reports that can refuse. */
#include "support/check_rule.h"

#include <string.h>

#include "support/fixture.h"

#define TOOL "$TOOLS/admission --source . "

static struct fixture fixture;

static int set_up(void)
{
    fixture_init(&fixture);
    fixture_write(&fixture, "docs/spec/admission.tsv",
                  "id\tclass\tevidence\n"
                  "CAPS-001\trefused\tpage\nCAPS-002\texpected\tpage\nSEG-001\trefused\tpage\n");
    fixture_write(&fixture, "src/port/record/refuse.h",
                  "#define PORT_FINDING(adapter, rule, ...) ((adapter)->refused |= "
                  "verify_finding(rule, __VA_ARGS__))\n"
                  "#define PORT_REFUSE(rule, ...) \\\n    do { \\\n"
                  "        verify_refusal(rule, __VA_ARGS__); \\\n"
                  "        return 1; \\\n    } while (0)\n");
    fixture_write(
        &fixture, "src/port/query/caps.c",
        "/* verify_refusal(\"CAPS-009\", \"in a comment\") */\n"
        "static void expect(struct a *adapter, const char *rule)\n{\n"
        "    verify_expected(rule, \"that %s\", \"CAPS-008\");\n}\n"
        "static int check(struct a *adapter)\n{\n"
        "    PORT_FINDING(adapter, old ? \"CAPS-001\" : \"CAPS-002\", \"CAPS-007 %u\", 1);\n"
        "    expect(adapter, \"CAPS-002\");\n"
        "    VIOLATION(\"CAPS-006\", \"only told\");\n"
        "    if (adapter)\n        PORT_REFUSE(\"SEG-001\", \"gone\");\n"
        "    return 0;\n}\n");
    return 0;
}

static int tear_down(void)
{
    fixture_finish(&fixture);
    return 0;
}

#define RIG_ARGUMENT_admission void
#define RIG_RUN_admission(body)     \
    test_set_up(set_up, tear_down); \
    body()

static void expect(int status, const char *output)
{
    CHECK(fixture_run(&fixture, TOOL) == status);
    assert_string_equal(fixture.output, output);
}

/* More of the project, in the folder where adapters are admitted, and what is wrong with it. */
static void finds(const char *code, const char *output)
{
    fixture_write(&fixture, "src/port/query/more.c", code);
    expect(1, output);
}

TEST_WITH(admission, a_table_that_agrees_passes)
{
    expect(0, "3 rules, 4 reports that can refuse\n");
}

TEST_WITH(admission, every_report_that_can_refuse_has_a_row)
{
    finds("int f(void)\n{\n    verify_finding(\"CAPS-003\", \"x\");\n}\n",
          "src/port/query/more.c:3: CAPS-003 can refuse, and has no row in admission.tsv\n");
    finds("\nint f(void)\n{\n    expect(a, \"CAPS-002\");\n    PORT_REFUSE(\n        \"CAPS-003\",\n"
          "        \"x\");\n}\n",
          "src/port/query/more.c:5: CAPS-003 can refuse, and has no row in admission.tsv\n");
    finds("static void own(int n, const char *rule)\n{\n    PORT_FINDING(a, rule, \"x\");\n}\n"
          "int f(void)\n{\n    own(2, \"CAPS-003\");\n}\n",
          "src/port/query/more.c:7: CAPS-003 can refuse, and has no row in admission.tsv\n");
}

#define GIVES_UP                                                                      \
    "src/port/query/more.c:3: CAPS-004 is only told of, and then the code gives up: " \
    "verify_refusal says that it refuses\n"

TEST_WITH(admission, a_report_before_the_code_gives_up_refuses)
{
    finds(
        "int f(void)\n{\n    VIOLATION(\"CAPS-004\", \"x (%u)\", 1);\n    return STATUS_NO_MEMORY;\n}\n",
        GIVES_UP);
    finds("int f(void)\n{\n    WARNING(\"CAPS-004\", \"x\");\n    status = STATUS_NO_MEMORY;\n}\n",
          GIVES_UP);
    fixture_write(
        &fixture, "src/port/query/more.c",
        "int f(void)\n{\n    VIOLATION(\"CAPS-004\", \"x\");\n    return STATUS_SUCCESS;\n}\n");
    expect(0, "3 rules, 4 reports that can refuse\n");
}

TEST_WITH(admission, a_class_fits_its_reports)
{
    finds(
        "int f(void)\n{\n    verify_decline(\"CAPS-002\", \"x\");\n}\n",
        "src/port/query/more.c:3: CAPS-002 refuses at any severity, and is of the class expected\n");
    fixture_write(&fixture, "docs/spec/admission.tsv",
                  "id\tclass\tevidence\n"
                  "CAPS-001\trefused\tpage\nCAPS-002\texpected\tpage\nSEG-001\trefused\tpage\n"
                  "SEG-002\trefused\tpage\n");
    finds("int f(void)\n{\n    verify_expected(\"SEG-002\", \"x\");\n}\n",
          "admission.tsv: SEG-002 is of the class refused, and only expected in src\n");
    fixture_write(&fixture, "src/port/query/more.c",
                  "int f(void)\n{\n    verify_decline(\"CAPS-002\", \"x\");\n}\n");
    fixture_write(&fixture, "docs/spec/admission.tsv",
                  "id\tclass\tevidence\n"
                  "CAPS-001\trefused\tpage\nCAPS-002\texpected\tpage; refused only for x\n"
                  "SEG-001\trefused\tpage\n");
    expect(0, "3 rules, 5 reports that can refuse\n");
}

TEST_WITH(admission, this_project_passes)
{
    CHECK(fixture_run(&fixture, "$TOOLS/admission") == 0);
}
