/* SPDX-License-Identifier: MIT */
#include <initguid.h> /* the GUIDs of the interfaces are defined here */

#include <stddef.h>
#include <string.h>

#include "port/running/brightness.h"
#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "port/running/query_interface.h"
#include "verify/verify.h"

union any_interface {
    INTERFACE header;
    DXGK_BRIGHTNESS_INTERFACE one;
    DXGK_BRIGHTNESS_INTERFACE_2 two;
    DXGK_BRIGHTNESS_INTERFACE_3 three;
};

static const struct {
    const GUID *type;
    USHORT version, bytes;
    size_t functions; /* where its functions begin, up to its end */
} kinds[PORT_BRIGHTNESS_KINDS] = {
    {&GUID_DEVINTERFACE_BRIGHTNESS, DXGK_BRIGHTNESS_INTERFACE_VERSION_1,
     sizeof(DXGK_BRIGHTNESS_INTERFACE), offsetof(DXGK_BRIGHTNESS_INTERFACE, GetPossibleBrightness)},
    {&GUID_DEVINTERFACE_BRIGHTNESS_2, DXGK_BRIGHTNESS_INTERFACE_VERSION_2,
     sizeof(DXGK_BRIGHTNESS_INTERFACE_2),
     offsetof(DXGK_BRIGHTNESS_INTERFACE_2, GetPossibleBrightness)},
    {&GUID_DEVINTERFACE_BRIGHTNESS_3, DXGK_BRIGHTNESS_INTERFACE_VERSION_3,
     sizeof(DXGK_BRIGHTNESS_INTERFACE_3), offsetof(DXGK_BRIGHTNESS_INTERFACE_3, SetBrightness)},
};

/* DISP-158 */
static void check_functions(const union any_interface *interface, unsigned kind)
{
    for (size_t at = kinds[kind].functions; at < kinds[kind].bytes; at += sizeof(void *)) {
        void *function;

        memcpy(&function, (const char *)interface + at, sizeof(function));
        if (!function)
            VIOLATION("DISP-158", "function %zu of version %u of the brightness interface is NULL",
                      (at - kinds[kind].functions) / sizeof(void *), kinds[kind].version);
    }
}

void port_brightness_begin(struct port_adapter *adapter, UINT target)
{
    struct port_brightness *brightness = &adapter->display.brightness;

    if (brightness->asked)
        return;
    brightness->asked = true;
    brightness->target = target;
    for (unsigned i = 0; i < PORT_BRIGHTNESS_KINDS; i++) {
        union any_interface interface;

        memset(&interface, 0, sizeof(interface));
        interface.header.Size = kinds[i].bytes;
        interface.header.Version = kinds[i].version;
        if (!NT_SUCCESS(
                port_child_query_interface(adapter, target, kinds[i].type, &interface.header)))
            continue;
        brightness->granted[i] = interface.header;
        check_functions(&interface, i);
    }
}

void port_brightness_end(struct port_adapter *adapter, UINT target)
{
    struct port_brightness *brightness = &adapter->display.brightness;

    if (!brightness->asked || brightness->target != target)
        return;
    for (unsigned i = 0; i < PORT_BRIGHTNESS_KINDS; i++) {
        const INTERFACE *granted = &brightness->granted[i];

        if (granted->InterfaceDereference)
            ddi_dereference_interface(&adapter->ddi, granted->InterfaceDereference,
                                      granted->Context);
    }
    memset(brightness, 0, sizeof(*brightness));
}
