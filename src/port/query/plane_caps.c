/* SPDX-License-Identifier: MIT */
#include "port/query/plane_caps.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "port/record/versions.h"

#define FEWEST 2u
#define MOST   16u

/* The pairs of entries, the newest first (PRES-181). */
struct form {
    unsigned number;
    UINT since; /* interface version */
    const char *check, *show;
    bool has_check, has_show;
};

#define FORMS 3u

static void list_forms(const struct ddi_adapter *d, struct form *form)
{
    form[0] = (struct form){3,
                            DXGKDDI_INTERFACE_VERSION_WDDM2_1,
                            "DxgkDdiCheckMultiPlaneOverlaySupport3",
                            "DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3",
                            ddi_has(d, DxgkDdiCheckMultiPlaneOverlaySupport3),
                            ddi_has(d, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3)};
    form[1] = (struct form){2,
                            DXGKDDI_INTERFACE_VERSION_WDDM2_0,
                            "DxgkDdiCheckMultiPlaneOverlaySupport2",
                            "DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay2",
                            ddi_has(d, DxgkDdiCheckMultiPlaneOverlaySupport2),
                            ddi_has(d, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay2)};
    form[2] = (struct form){1,
                            DXGKDDI_INTERFACE_VERSION_WDDM1_3,
                            "DxgkDdiCheckMultiPlaneOverlaySupport",
                            "DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay",
                            ddi_has(d, DxgkDdiCheckMultiPlaneOverlaySupport),
                            ddi_has(d, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay)};
}

static bool is_sound(const DXGK_DRIVERCAPS *caps)
{
    if (!caps->SupportMultiPlaneOverlay && !caps->MaxOverlayPlanes)
        return true;
    if (!caps->SupportMultiPlaneOverlay)
        WARNING("DISP-169", "MaxOverlayPlanes is %u, but SupportMultiPlaneOverlay is clear",
                caps->MaxOverlayPlanes);
    else if (caps->MaxOverlayPlanes < FEWEST || caps->MaxOverlayPlanes > MOST)
        WARNING("DISP-169",
                "SupportMultiPlaneOverlay is set, and MaxOverlayPlanes is %u, not %u "
                "to %u",
                caps->MaxOverlayPlanes, FEWEST, MOST);
    else
        return true;
    return false;
}

/* 0: there is no pair. What is wanted is that of the driver's version (PRES-180). */
static unsigned find_form(struct port_adapter *adapter, UINT version)
{
    struct form form[FORMS];
    bool first = true;
    unsigned found = 0;

    list_forms(&adapter->ddi, form);
    for (unsigned i = 0; i < FORMS; i++) {
        if (version < form[i].since)
            continue;
        if (first && (!form[i].has_check || !form[i].has_show))
            PORT_FINDING(adapter, "PRES-180",
                         "SupportMultiPlaneOverlay is set with %u planes, but %s is NULL",
                         adapter->caps.driver.MaxOverlayPlanes,
                         form[i].has_check ? form[i].show : form[i].check);
        first = false;
        if (!found && form[i].has_check && form[i].has_show)
            found = form[i].number;
    }
    return found;
}

void port_plane_caps_check(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const UINT version = port_driver_version(adapter);
    bool good = version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 && is_sound(caps) &&
                caps->SupportMultiPlaneOverlay;

    adapter->display.plane_form = good ? find_form(adapter, version) : 0;
    if (good && version >= DXGKDDI_INTERFACE_VERSION_WDDM2_2 &&
        !ddi_has(&adapter->ddi, DxgkDdiGetMultiPlaneOverlayCaps))
        PORT_FINDING(adapter, "PRES-180",
                     "SupportMultiPlaneOverlay is set with %u planes, but "
                     "DxgkDdiGetMultiPlaneOverlayCaps is NULL",
                     caps->MaxOverlayPlanes);
    if (adapter->display.plane_form)
        return;
    caps->SupportMultiPlaneOverlay = FALSE;
    caps->MaxOverlayPlanes = 0;
}
