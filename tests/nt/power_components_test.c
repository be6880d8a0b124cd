/* SPDX-License-Identifier: MIT */
/* Components of devices that lack callbacks, of the second version, of several; and who registers twice. */
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "support/harness.h"

static DEVICE_OBJECT pdo, other;
static char told[32];
static POHANDLE handle;
static bool complete, end, activate;

static void NTAPI on_active(PVOID context, ULONG component)
{
    CHECK(context == told);
    sprintf(told + strlen(told), "A%u", component);
}

static void NTAPI on_idle(PVOID context, ULONG component)
{
    CHECK(context == told);
    sprintf(told + strlen(told), "I%u", component);
    if (activate)
        PoFxActivateComponent(handle, component, 0);
    if (complete)
        PoFxCompleteIdleCondition(handle, component);
    if (end)
        PoFxUnregisterDevice(handle);
}

static PO_FX_COMPONENT_IDLE_STATE states[2] = {{0, 0, PO_FX_UNKNOWN_POWER}, {100, 1000, 0}};
static struct {
    PO_FX_DEVICE_V1 device;
    PO_FX_COMPONENT_V1 more[2];
} first;
static struct {
    PO_FX_DEVICE_V2 device;
    PO_FX_COMPONENT_V2 more[2];
} second;

static void describe(void)
{
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    memset(told, 0, sizeof(told));
    complete = true;
    end = activate = false;
    handle = NULL;
    first.device.Version = PO_FX_VERSION_V1;
    second.device.Version = PO_FX_VERSION_V2;
    first.device.ComponentCount = second.device.ComponentCount = 3;
    first.device.ComponentActiveConditionCallback = on_active;
    second.device.ComponentActiveConditionCallback = on_active;
    first.device.ComponentIdleConditionCallback = on_idle;
    second.device.ComponentIdleConditionCallback = on_idle;
    first.device.DeviceContext = second.device.DeviceContext = told;
    for (ULONG i = 0; i < 3; i++) {
        PO_FX_COMPONENT_V1 *one = &first.device.Components[0] + i;
        PO_FX_COMPONENT_V2 *two = &second.device.Components[0] + i;

        one->IdleStateCount = two->IdleStateCount = 2;
        one->DeepestWakeableIdleState = two->DeepestWakeableIdleState = 1;
        one->IdleStates = two->IdleStates = states;
    }
}

static NTSTATUS enlist(void)
{
    return PoFxRegisterDevice(&pdo, &first.device, &handle);
}

static NTSTATUS enlist_second(void)
{
    return PoFxRegisterDevice(&pdo, (PPO_FX_DEVICE_V1)(void *)&second, &handle);
}

static bool heard(const char *expected)
{
    bool good = strcmp(told, expected) == 0;

    memset(told, 0, sizeof(told));
    return good;
}

static void use_components(void)
{
    PoFxActivateComponent(handle, 2, 0);
    CHECK_RULE("NT-181/b", heard("")); /* not started */
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/b", heard("I0I1"));
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/b", heard(""));
    PoFxActivateComponent(handle, 2, 0);
    PoFxIdleComponent(handle, 2, 0);
    CHECK_RULE("NT-181/c", heard(""));
    PoFxIdleComponent(handle, 2, 0);
    CHECK_RULE("NT-181/c", heard("I2"));
    PoFxActivateComponent(handle, 0, 0);
    CHECK_RULE("NT-181/c", heard("A0"));
    CHECK(errors() == 0);
    PoFxIdleComponent(handle, 3, 0);
    CHECK_RULE("NT-181/e", broken("NT-181") && errors() == 1);
    forget_reports();
    PoFxUnregisterDevice(handle);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, several_components_have_their_own_conditions)
{
    describe();
    CHECK_RULE("NT-181/a", enlist() == STATUS_SUCCESS);
    use_components();
    describe();
    CHECK_RULE("NT-181/h", enlist_second() == STATUS_SUCCESS);
    use_components();
}

TEST_WITH(driver, callbacks_may_be_missing)
{
    describe();
    first.device.ComponentIdleConditionCallback = NULL;
    enlist();
    PoFxStartDevicePowerManagement(handle);
    PoFxActivateComponent(handle, 1, 0);
    CHECK_RULE("NT-181/c", heard("A1")); /* idle before, which nobody was told */
    PoFxIdleComponent(handle, 1, 0);
    PoFxCompleteIdleCondition(handle, 1);
    CHECK_RULE("NT-181/e", broken("NT-181") && errors() == 1);
    forget_reports();
    PoFxActivateComponent(handle, 1, 0);
    CHECK_RULE("NT-181/c", heard("A1"));
    PoFxUnregisterDevice(handle);
    describe();
    second.device.ComponentActiveConditionCallback = NULL;
    enlist_second();
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/b", heard("I0I1I2"));
    PoFxActivateComponent(handle, 1, 0);
    CHECK(heard("") && errors() == 0);
    PoFxIdleComponent(handle, 1, 0);
    CHECK_RULE("NT-181/c", heard("I1") && errors() == 0);
    PoFxUnregisterDevice(handle);
}

/* While an idle condition is owed, what the references say waits; several changes become one. */
TEST_WITH(driver, changes_wait_for_the_idle_condition)
{
    describe();
    complete = false;
    enlist();
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/b", heard("I0I1I2"));
    PoFxActivateComponent(handle, 1, 0);
    PoFxIdleComponent(handle, 1, 0);
    CHECK(heard(""));
    PoFxCompleteIdleCondition(handle, 1);
    CHECK_RULE("NT-181/c", heard("") && errors() == 0); /* idle it is */
    PoFxActivateComponent(handle, 0, 0);
    PoFxCompleteIdleCondition(handle, 0);
    CHECK_RULE("NT-181/c", heard("A0") && errors() == 0);
    PoFxCompleteIdleCondition(handle, 3);
    CHECK_RULE("NT-181/e", errors() == 1);
    PoFxCompleteIdleState(handle, 3);
    PoFxReportDevicePoweredOn(NULL);
    CHECK_RULE("NT-181/e", errors() == 3);
    PoFxUnregisterDevice(handle);
    PoFxCompleteIdleCondition(handle, 0);
    PoFxIdleComponent(handle, 0, 0);
    PoFxActivateComponent(handle, 0, 0);
    PoFxCompleteIdleState(handle, 0);
    CHECK_RULE("NT-181/e", errors() == 7);
    forget_reports();
}

TEST_WITH(driver, a_callback_may_use_its_component)
{
    describe();
    activate = true;
    enlist();
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/c", heard("I0A0I1A1I2A2") && errors() == 0);
    activate = false;
    end = true; /* in the middle of the others */
    PoFxIdleComponent(handle, 1, 0);
    CHECK_RULE("NT-181/c", heard("I1"));
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
    describe();
    end = true;
    enlist();
    PoFxStartDevicePowerManagement(handle);
    CHECK_RULE("NT-181/b", heard("I0") && errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, both_versions_are_looked_at)
{
    PO_FX_COMPONENT_V1 *one = &first.device.Components[0] + 2;
    PO_FX_COMPONENT_V2 *two = &second.device.Components[0] + 2;

    for (unsigned i = 0; i < 3; i++) {
        describe();
        if (i == 0)
            one->IdleStateCount = two->IdleStateCount = 0;
        else if (i == 1)
            one->IdleStates = two->IdleStates = NULL;
        else
            one->DeepestWakeableIdleState = two->DeepestWakeableIdleState = 2;
        CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER);
        CHECK_RULE("NT-181/d", enlist_second() == STATUS_INVALID_PARAMETER && !handle);
    }
    describe();
    second.device.ComponentCount = 0;
    CHECK_RULE("NT-181/d", enlist_second() == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-181/d",
               PoFxRegisterDevice(&pdo, NULL, &handle) == STATUS_INVALID_PARAMETER && !handle);
    CHECK_RULE("NT-181/d",
               PoFxRegisterDevice(&pdo, &first.device, NULL) == STATUS_INVALID_PARAMETER);
    nt_device_object_register(&other);
    CHECK_RULE("NT-181/d", enlist() == STATUS_INVALID_PARAMETER && !handle);
    nt_device_object_register(&pdo);
    CHECK_RULE("NT-181/a", enlist() == STATUS_SUCCESS && handle);
    PoFxUnregisterDevice(handle);
    nt_device_object_unregister(&pdo);
    nt_device_object_unregister(&other);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

static void use_raised(void)
{
    PoFxActivateComponent(handle, 0, 0);
    PoFxIdleComponent(handle, 0, 0);
}

TEST_WITH(driver, components_are_used_up_to_dispatch_level)
{
    describe();
    enlist();
    PoFxStartDevicePowerManagement(handle);
    CHECK(heard("I0I1I2"));
    in_dpc(use_raised);
    CHECK_RULE("NT-181/c", heard("A0I0") && errors() == 0);
    in_interrupt(use_raised);
    CHECK(broken("NT-181") && heard("A0I0"));
    forget_reports();
    PoFxUnregisterDevice(handle);
}
