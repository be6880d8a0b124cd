/* SPDX-License-Identifier: MIT */
/* tools/layers on a project of a few rooms. */
#include "support/check_rule.h"

#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

#define TOOL "$TOOLS/layers --source . "

static struct fixture fixture;

static int set_up(void)
{
    fixture_init(&fixture);
    fixture_write(&fixture, "include/wdk/ntddk.h", "");
    fixture_write(&fixture, "include/dxgkhost/device.h", "");
    fixture_write(&fixture, "src/util/list.h", "");
    fixture_write(&fixture, "src/verify/verify.h", "#include \"util/list.h\"\n");
    fixture_write(&fixture, "src/trace/trace.h", "");
    fixture_write(&fixture, "src/trace/sink.h", "");
    fixture_write(&fixture, "src/sim/sim.h", "#include \"util/list.h\"\n");
    fixture_write(&fixture, "src/nt/nt.h",
                  "#include <ntddk.h>\n#include \"sim/sim.h\"\n#include \"verify/verify.h\"\n");
    fixture_write(&fixture, "src/lua/lua.c",
                  "#include \"nt/nt.h\"\n#include \"dxgkhost/device.h\"\n#include <lua.h>\n");
    fixture_write(&fixture, "drivers/refgpu/refgpu_hw.h", "#include <stdint.h>\n");
    fixture_write(&fixture, "drivers/refgpu/driver.c",
                  "#include <ntddk.h>\n#include \"refgpu_hw.h\"\n");
    fixture_write(&fixture, "devices/refgpu/device.c",
                  "#include \"dxgkhost/device.h\"\n#include \"refgpu_hw.h\"\n#include <string.h>\n"
                  "#include \"../common/edid.h\"\n");
    fixture_write(&fixture, "devices/common/edid.h", "#include \"dxgkhost/device.h\"\n");
    return 0;
}

static int tear_down(void)
{
    fixture_finish(&fixture);
    return 0;
}

#define RIG_ARGUMENT_layers void
#define RIG_RUN_layers(body)        \
    test_set_up(set_up, tear_down); \
    body()

static void expect(const char *command, int status, const char *output)
{
    CHECK(fixture_run(&fixture, command) == status);
    assert_string_equal(fixture.output, output);
}

TEST_WITH(layers, a_project_in_order_passes)
{
    expect(TOOL, 0, "");
}

TEST_WITH(layers, a_header_of_a_higher_room_is_an_offence)
{
    fixture_write(&fixture, "src/sim/fiber.c", "#include \"sim/sim.h\"\n\n#  include \"nt/nt.h\"\n");
    expect(TOOL, 1, "src/sim/fiber.c:3: room sim includes src/nt/nt.h\n");
}

TEST_WITH(layers, only_the_narrow_header_of_trace_is_for_all)
{
    fixture_write(&fixture, "src/nt/mm/pool.c",
                  "#include \"trace/trace.h\"\n#include \"trace/sink.h\"\n");
    expect(TOOL, 1, "src/nt/mm/pool.c:2: room nt includes src/trace/sink.h\n");
}

TEST_WITH(layers, verify_and_trace_include_util_only)
{
    fixture_write(&fixture, "src/verify/verify.c",
                  "#include \"util/list.h\"\n#include \"sim/sim.h\"\n");
    expect(TOOL, 1, "src/verify/verify.c:2: room verify includes src/sim/sim.h\n");
}

TEST_WITH(layers, a_room_outside_the_order_is_an_offence)
{
    fixture_write(&fixture, "src/attic/old.c", "");
    expect(TOOL, 1, "src/attic: this room is not in the order of tools/layers\n");
}

TEST_WITH(layers, a_driver_sees_the_windows_headers_only)
{
    fixture_write(
        &fixture, "drivers/refgpu/wrong.c",
        "#include <stdio.h>\n#include \"dxgkhost/device.h\"\n#include \"../../src/sim/sim.h\"\n");
    expect(TOOL, 1,
           "drivers/refgpu/wrong.c:1: drivers includes stdio.h\n"
           "drivers/refgpu/wrong.c:2: drivers includes include/dxgkhost/device.h\n"
           "drivers/refgpu/wrong.c:3: drivers includes src/sim/sim.h\n");
}

TEST_WITH(layers, a_device_sees_its_interface_and_the_hardware_header_only)
{
    fixture_write(&fixture, "drivers/refgpu/driver.h", "");
    fixture_write(&fixture, "devices/refgpu/wrong.c", "#include <ntddk.h>\n#include \"driver.h\"\n");
    fixture_write(&fixture, "devices/refgpu/own.h", "");
    fixture_write(&fixture, "devices/other/wrong.c", "#include \"../refgpu/own.h\"\n");
    expect(TOOL, 1,
           "devices/other/wrong.c:1: devices includes devices/refgpu/own.h\n"
           "devices/refgpu/wrong.c:1: devices includes include/wdk/ntddk.h\n"
           "devices/refgpu/wrong.c:2: devices includes drivers/refgpu/driver.h\n");
}

/* `place`: a room, or a sub-room of one. */
static void compile(const char *place, const char *name, const char *text)
{
    int room = (int)strcspn(place, "/");
    char path[128];
    char command[512];

    snprintf(path, sizeof(path), "%s.c", name);
    fixture_write(&fixture, path, text);
    snprintf(
        command, sizeof(command),
        "mkdir -p build/src/CMakeFiles/room_%.*s.dir/%s && cc -c %s.c -o build/src/CMakeFiles/room_%.*s.dir/%s/%s.c.o",
        room, place, place, name, room, place, place, name);
    CHECK(fixture_run(&fixture, command) == 0);
}

TEST_WITH(layers, a_call_upward_is_an_offence)
{
    compile("util", "list", "void util_list(void) {}\n");
    compile("verify", "verify",
            "void util_list(void);\nvoid verify_report(void) { util_list(); }\n");
    compile("nt", "pool", "void verify_report(void);\nvoid nt_pool(void) { verify_report(); }\n");
    expect(TOOL "--build build", 0, "");
    compile("sim", "fiber", "void nt_pool(void);\nvoid sim_fiber(void) { nt_pool(); }\n");
    expect(TOOL "--build build", 1, "sim/fiber.c: room sim uses nt_pool of room nt\n");
}

/* Two files of a room that call each other, and how docs/architecture.md names them. */
static void circle(const char *table)
{
    compile("sim", "event", "void sim_thread(void);\nvoid sim_event(void) { sim_thread(); }\n");
    compile("sim", "thread", "void sim_event(void);\nvoid sim_thread(void) { sim_event(); }\n");
    fixture_write(&fixture, "docs/architecture.md", table);
}

TEST_WITH(layers, a_circle_of_files_needs_a_reason)
{
    circle("# Architecture\n");
    expect(TOOL "--build build", 1,
           "sim: event thread use each other, and docs/architecture.md does not say why\n");
    circle("| `sim` circle | event, thread | a reason |\n");
    expect(TOOL "--build build", 0, "");
    expect(TOOL "--build build --circles", 0, "| `sim` circle | event, thread |\n");
    circle("| `sim` circle | event, thread | a reason |\n| `nt` circle | a, b | once |\n");
    expect(TOOL "--build build", 1, "docs/architecture.md: a b of nt do not use each other\n");
}

TEST_WITH(layers, a_circle_of_seven_files_is_too_large)
{
    char text[64], name[4];

    for (unsigned i = 0; i < 7; i++) {
        snprintf(text, sizeof(text), "void f%u(void);\nvoid f%u(void) { f%u(); }\n", (i + 1) % 7, i,
                 (i + 1) % 7);
        snprintf(name, sizeof(name), "f%u", i);
        compile("sim", name, text);
    }
    expect(TOOL "--build build", 1, "sim: 7 files use each other: f0 f1 f2 f3 f4 f5 f6\n");
}

TEST_WITH(layers, sub_rooms_have_an_order_too)
{
    fixture_write(&fixture, "src/vidmm/paging/paging.h", "");
    fixture_write(&fixture, "src/vidmm/vidmm.h", "#include \"vidmm/paging/paging.h\"\n");
    fixture_write(&fixture, "src/vidmm/paging/worker.c", "#include \"vidmm/paging/paging.h\"\n");
    expect(TOOL, 0, "");
    fixture_write(&fixture, "src/vidmm/record/open.c", "#include \"vidmm/paging/paging.h\"\n");
    fixture_write(&fixture, "src/vidmm/paging/worker.c", "#include \"vidmm/vidmm.h\"\n");
    fixture_write(&fixture, "src/vidmm/attic/old.c", "");
    expect(TOOL, 1,
           "src/vidmm/attic/old.c: sub-room attic of vidmm is not in the order of tools/layers\n"
           "src/vidmm/paging/worker.c:1: paging of room vidmm includes src/vidmm/vidmm.h\n"
           "src/vidmm/record/open.c:1: record of room vidmm includes src/vidmm/paging/paging.h\n");
}

TEST_WITH(layers, a_call_to_a_higher_sub_room_is_an_offence)
{
    compile("vidmm/record", "open",
            "void paging_flush(void);\nvoid open_end(void) { paging_flush(); }\n");
    compile("vidmm/paging", "paging", "void paging_flush(void) {}\n");
    expect(TOOL "--build build", 1,
           "vidmm/record/open.c: record of room vidmm uses paging_flush of vidmm/paging/paging.c\n");
}

TEST_WITH(layers, a_build_without_objects_is_an_offence)
{
    expect(TOOL "--build nowhere", 1, "nowhere: no object files of rooms\n");
}
