/* SPDX-License-Identifier: MIT */
/* The power management framework and power settings. */
#include "nt/io/image_life.h"
#include "support/harness.h"

#include <initguid.h>

#define LOG_LENGTH 16

/* {6FE69556-704A-47A0-8F24-C28D936FDA47}, the state of the display; and one that nobody has */
DEFINE_GUID(display_state, 0x6FE69556, 0x704A, 0x47A0, 0x8F, 0x24, 0xC2, 0x8D, 0x93, 0x6F, 0xDA,
            0x47);
DEFINE_GUID(no_setting, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

static DEVICE_OBJECT pdo;
static char told[LOG_LENGTH]; /* A0, I1, ...: component active, idle */
static POHANDLE handle;
static BOOLEAN complete, unregister;

static void NTAPI on_active(PVOID context, ULONG component)
{
    CHECK(context == &pdo);
    sprintf(told + strlen(told), "A%u", component);
}

static void NTAPI on_idle(PVOID context, ULONG component)
{
    CHECK(context == &pdo);
    sprintf(told + strlen(told), "I%u", component);
    if (unregister)
        PoFxUnregisterDevice(handle);
    else if (complete)
        PoFxCompleteIdleCondition(handle, component);
}

static PO_FX_COMPONENT_IDLE_STATE states[2] = {{0, 0, PO_FX_UNKNOWN_POWER}, {100, 1000, 0}};
static struct {
    PO_FX_DEVICE_V1 device;
    PO_FX_COMPONENT_V1 more;
} description;

static void describe(void)
{
    memset(&description, 0, sizeof(description));
    memset(told, 0, sizeof(told));
    complete = TRUE;
    unregister = FALSE;
    description.device.Version = PO_FX_VERSION_V1;
    description.device.ComponentCount = 2;
    description.device.ComponentActiveConditionCallback = on_active;
    description.device.ComponentIdleConditionCallback = on_idle;
    description.device.DeviceContext = &pdo;
    for (ULONG i = 0; i < 2; i++) {
        PO_FX_COMPONENT_V1 *component = &description.device.Components[0] + i;

        component->IdleStateCount = 2;
        component->DeepestWakeableIdleState = 1;
        component->IdleStates = states;
    }
}

static NTSTATUS enlist(void)
{
    return PoFxRegisterDevice(&pdo, &description.device, &handle);
}

TEST_WITH(driver, components_follow_their_references)
{
    describe();
    CHECK_RULE("NT-181/a", enlist() == STATUS_SUCCESS && told[0] == '\0');
    PoFxActivateComponent(handle, 1, 0);
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/b", strcmp(told, "I0") == 0);
    PoFxActivateComponent(handle, 0, PO_FX_FLAG_BLOCKING);
    PoFxActivateComponent(handle, 0, 0);
    CHECK_RULE("NT-181/c", strcmp(told, "I0A0") == 0);
    PoFxIdleComponent(handle, 0, 0);
    CHECK_RULE("NT-181/c", strcmp(told, "I0A0") == 0);
    PoFxIdleComponent(handle, 0, 0);
    PoFxIdleComponent(handle, 1, PO_FX_FLAG_ASYNC_ONLY);
    CHECK_RULE("NT-181/g", strcmp(told, "I0A0I0I1") == 0 && errors() == 0);
    PoFxReportDevicePoweredOn(handle);
    PoFxUnregisterDevice(handle);
    CHECK_RULE("NT-181/g", errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, activity_waits_for_idleness)
{
    describe();
    complete = FALSE;
    enlist();
    PoFxActivateComponent(handle, 1, 0);
    PoFxStartDevicePowerManagement(handle);
    PoFxActivateComponent(handle, 0, 0);
    CHECK_RULE("NT-181/b", strcmp(told, "I0") == 0);
    PoFxCompleteIdleCondition(handle, 0);
    CHECK_RULE("NT-181/c", strcmp(told, "I0A0") == 0 && errors() == 0);
    PoFxCompleteIdleCondition(handle, 0);
    CHECK_RULE("NT-181/e", broken("NT-181"));
    forget_reports();
    CHECK_RULE("NT-181/f", nt_image_leak_check(h.image) == 1);
    forget_reports();
}

TEST_WITH(driver, devices_must_be_described)
{
    PO_FX_COMPONENT_V1 *second = &description.device.Components[0] + 1;

    describe();
    description.device.ComponentCount = 0;
    CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER);
    describe();
    description.device.Version = 7;
    CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER);
    describe();
    second->IdleStateCount = 0;
    CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER);
    describe();
    second->IdleStates = NULL;
    CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER);
    describe();
    second->DeepestWakeableIdleState = 2;
    CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER);
    describe();
    CHECK_RULE("NT-181/d",
               PoFxRegisterDevice(NULL, &description.device, &handle) == STATUS_INVALID_PARAMETER);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, the_second_version_is_taken)
{
    PO_FX_DEVICE_V2 second = {
        .Version = PO_FX_VERSION_V2,
        .ComponentCount = 1,
        .ComponentIdleConditionCallback = on_idle,
        .DeviceContext = &pdo,
        .Components = {{.IdleStateCount = 2, .DeepestWakeableIdleState = 1, .IdleStates = states}},
    };
    PPO_FX_DEVICE_V1 device = (PPO_FX_DEVICE_V1)(void *)&second;

    describe();
    CHECK_RULE("NT-181/h", PoFxRegisterDevice(&pdo, device, &handle) == STATUS_SUCCESS);
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/h", strcmp(told, "I0") == 0);
    PoFxUnregisterDevice(handle);
    second.Components[0].DeepestWakeableIdleState = 2;
    CHECK_RULE("NT-181/d", PoFxRegisterDevice(&pdo, device, &handle) == STATUS_INVALID_PARAMETER);
    CHECK(errors() == 0);
}

TEST_WITH(driver, handles_and_components_must_exist)
{
    describe();
    enlist();
    PoFxActivateComponent(handle, 2, 0);
    CHECK_RULE("NT-181/e", broken("NT-181"));
    forget_reports();
    PoFxIdleComponent(handle, 0, 0); /* no reference */
    CHECK_RULE("NT-181/e", broken("NT-181"));
    forget_reports();
    PoFxCompleteIdleState(handle, 0);
    CHECK_RULE("NT-181/e", broken("NT-181"));
    forget_reports();
    PoFxUnregisterDevice((POHANDLE)(void *)&pdo);
    CHECK_RULE("NT-181/e", broken("NT-181"));
    forget_reports();
    PoFxUnregisterDevice(handle);
    CHECK(errors() == 0);
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/e", broken("NT-181"));
    forget_reports();
}

/* Hints, which change nothing, but of devices and components that there are. */
TEST_WITH(driver, hints_name_what_there_is)
{
    describe();
    enlist();
    PoFxSetComponentLatency(handle, 1, 1000);
    PoFxSetComponentResidency(handle, 1, 1000);
    PoFxSetDeviceIdleTimeout(handle, 1000);
    CHECK_RULE("NT-181/g", errors() == 0);
    PoFxSetComponentLatency(handle, 2, 1000);
    CHECK_RULE("NT-181/e", errors() == 1);
    PoFxSetComponentResidency(handle, 2, 1000);
    CHECK_RULE("NT-181/e", errors() == 2);
    PoFxCompleteDevicePowerNotRequired(handle); /* nobody asked */
    CHECK_RULE("NT-181/e", errors() == 3);
    PoFxUnregisterDevice(handle);
    PoFxSetDeviceIdleTimeout(handle, 1000);
    CHECK_RULE("NT-181/e", errors() == 4);
    PoFxSetComponentLatency(handle, 0, 1000);
    CHECK_RULE("NT-181/e", errors() == 5);
    PoFxSetComponentResidency(handle, 0, 1000);
    CHECK_RULE("NT-181/e", errors() == 6);
    PoFxCompleteDevicePowerNotRequired(handle);
    CHECK_RULE("NT-181/e", errors() == 7);
    forget_reports();
}

TEST_WITH(driver, a_callback_may_end_the_registration)
{
    describe();
    unregister = TRUE;
    enlist();
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/g", strcmp(told, "I0") == 0 && errors() == 0);
    CHECK(nt_image_leak_check(h.image) == 0);
}

static ULONG setting, calls;

static NTSTATUS NTAPI on_setting(LPCGUID guid, PVOID value, ULONG length, PVOID context)
{
    CHECK(IsEqualGUID(guid, &display_state) && length == sizeof(setting) && context == &pdo);
    memcpy(&setting, value, sizeof(setting));
    calls++;
    return STATUS_SUCCESS;
}

TEST_WITH(driver, settings_are_told_at_once)
{
    PVOID first, second;

    calls = 0;
    CHECK_RULE("NT-182/a", PoRegisterPowerSettingCallback(&pdo, &display_state, on_setting, &pdo,
                                                          &first) == STATUS_SUCCESS);
    CHECK_RULE("NT-182/a", calls == 1 && setting == 1);
    CHECK_RULE("NT-182/b", PoRegisterPowerSettingCallback(NULL, &no_setting, on_setting, &pdo,
                                                          &second) == STATUS_SUCCESS);
    CHECK_RULE("NT-182/b", calls == 1 && errors() == 0);
    CHECK_RULE("NT-182/c", PoRegisterPowerSettingCallback(NULL, NULL, on_setting, NULL, &second) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-182/d", PoUnregisterPowerSettingCallback(first) == STATUS_SUCCESS);
    CHECK_RULE("NT-182/d", errors() == 0);
    CHECK_RULE("NT-182/d", PoUnregisterPowerSettingCallback(first) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-182/d", broken("NT-182"));
    forget_reports();
    CHECK_RULE("NT-182/e", nt_image_leak_check(h.image) == 1);
    forget_reports();
}
