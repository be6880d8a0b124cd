/* SPDX-License-Identifier: MIT */
/* What a report says of a value that a driver or a client passes as a handle. */
#include "port/support/probe.h"

#include "ddi/client_handle.h"
#include "ddi/handle.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLES (&port_adapter_ddi(p->adapter[0])->handles)

static bool is(const struct ddi_handles *handles, uint64_t value, const char *text)
{
    struct ddi_handle_text got = ddi_handle_describe(handles, (HANDLE)(uintptr_t)value);
    const char *behind = strstr(got.text, ", ");

    if (behind && strcmp(behind + 2, text) == 0 && strtoull(got.text, NULL, 16) == value)
        return true;
    printf("got %s, expected %s\n", got.text, text);
    return false;
}

TEST_WITH(probe, handles_of_the_host_are_named)
{
    static const char *const names[] = {
        [DDI_HANDLE_ADAPTER] = "an adapter (DeviceHandle)",
        [DDI_HANDLE_DEVICE] = "a device",
        [DDI_HANDLE_CONTEXT] = "a context",
        [DDI_HANDLE_CONTEXT_ALLOCATION] = "a context allocation",
        [DDI_HANDLE_PROCESS] = "a process",
        [DDI_HANDLE_CPU_EVENT] = "a CPU event",
        [DDI_HANDLE_ACQUIRED_ALLOCATION] = "an acquired allocation",
        [DDI_HANDLE_ACQUIRED_RESOURCE] = "an acquired resource",
    };
    struct ddi_handles others;
    int object;

    ddi_handles_init(&others);
    others.adapter = HANDLES->adapter + 1;
    for (unsigned kind = 0; kind < sizeof(names) / sizeof(names[0]); kind++) {
        bool of_machine = kind == DDI_HANDLE_ADAPTER || kind == DDI_HANDLE_CPU_EVENT;
        char text[128];
        HANDLE handle;
        uint64_t value;

        if (!names[kind])
            continue;
        handle = ddi_handle_create(HANDLES, (enum ddi_handle)kind, &object);
        value = (uintptr_t)handle;
        CHECK(ddi_handle_lookup(HANDLES, handle, (enum ddi_handle)kind) == &object);
        snprintf(text, sizeof(text), "the handle of %s", names[kind]);
        CHECK(is(HANDLES, value, text));
        if (of_machine)
            CHECK(is(&others, value, text));
        snprintf(text, sizeof(text), "the handle of %s of another adapter", names[kind]);
        if (!of_machine)
            CHECK(is(&others, value, text));
        CHECK(ddi_handle_remove(HANDLES, handle, (enum ddi_handle)kind) == &object);
        CHECK(!ddi_handle_lookup(HANDLES, handle, (enum ddi_handle)kind));
        snprintf(text, sizeof(text), "the retired handle of %s", names[kind]);
        CHECK(is(HANDLES, value, text));
    }
    ddi_handles_finish(&others);
    CHECK(is(HANDLES, 0xD3D1F00000100000, "no handle of the host's"));
    CHECK(is(HANDLES, 0xD3D1000000100000, "no handle of the host's"));
}

TEST_WITH(probe, other_values_are_named)
{
    static const struct {
        enum ddi_client_handle kind;
        const char *text;
    } kinds[] = {{DDI_CLIENT_ADAPTER, "a D3DKMT handle, of an adapter"},
                 {DDI_CLIENT_DEVICE, "a D3DKMT handle, of a device"},
                 {DDI_CLIENT_CONTEXT, "a D3DKMT handle, of a context"},
                 {DDI_CLIENT_ALLOCATION, "a D3DKMT handle, of an allocation"},
                 {DDI_CLIENT_RESOURCE, "a D3DKMT handle, of a resource"}};
    struct handle_table *table = &nt_process_current()->handles;
    int object;

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        D3DKMT_HANDLE handle = handle_create(table, (uint8_t)kinds[i].kind, &object);

        CHECK(handle && is(HANDLES, handle, kinds[i].text));
        CHECK(handle_remove(table, handle, (uint8_t)kinds[i].kind) == &object);
        CHECK(is(HANDLES, handle, "a D3DKMT handle"));
    }
    CHECK(strcmp(ddi_handle_describe(HANDLES, NULL).text, "NULL") == 0);
    CHECK(is(HANDLES, 1, "no handle of the host's"));
    CHECK(is(HANDLES, 0xFFFFF, "no handle of the host's"));
    CHECK(is(HANDLES, 0x100000, "no handle of the host's (one cut down to 32 bits?)"));
    CHECK(is(HANDLES, 0x3FFFFFFF, "no handle of the host's (one cut down to 32 bits?)"));
    CHECK(is(HANDLES, 0x40000000, "a D3DKMT handle"));
    CHECK(is(HANDLES, 0x40000001, "no handle of the host's (one cut down to 32 bits?)"));
    CHECK(is(HANDLES, 0x1C0000000, "no handle of the host's"));
    CHECK(is(HANDLES, 0xD3D0000000000, "no handle of the host's"));
    CHECK(is(HANDLES, 0xD3D00000000001, "no handle of the host's"));
}
