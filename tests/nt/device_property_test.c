/* SPDX-License-Identifier: MIT */
/* What is told about a device: its properties, its paths, its registry keys. */
#include "bus/bus.h"
#include "bus/device.h"
#include "nt/io/device_object.h"
#include "support/harness.h"
#include "support/inert_device.h"
#include "support/test_device.h"

static DEVICE_OBJECT pdo, computing, driver_object;

static bool is(PDEVICE_OBJECT device, DEVICE_REGISTRY_PROPERTY property, const WCHAR *expected,
               ULONG bytes)
{
    uint8_t value[512];
    ULONG length = 5;

    memset(value, 0x5A, sizeof(value));
    CHECK(IoGetDeviceProperty(device, property, bytes - 1, value, &length) ==
              STATUS_BUFFER_TOO_SMALL &&
          length == bytes && value[0] == 0x5A);
    CHECK(IoGetDeviceProperty(device, property, sizeof(value), NULL, &length) ==
          STATUS_BUFFER_TOO_SMALL);
    CHECK(IoGetDeviceProperty(device, property, bytes, value, &length) == STATUS_SUCCESS);
    return length == bytes && value[bytes] == 0x5A && memcmp(value, expected, bytes) == 0;
}

#define IS(device, property, expected) CHECK(is(device, property, expected, sizeof(expected)))

static void ask(void)
{
    ULONG number, length;

    IS(&pdo, DevicePropertyHardwareID,
       L"PCI\\VEN_1234&DEV_5678&SUBSYS_11001AF4&REV_03\0PCI\\VEN_1234&DEV_5678&SUBSYS_11001AF4\0"
       L"PCI\\VEN_1234&DEV_5678&CC_030000\0");
    IS(&pdo, DevicePropertyCompatibleIDs,
       L"PCI\\VEN_1234&DEV_5678&REV_03\0PCI\\VEN_1234&DEV_5678\0PCI\\CC_030000\0");
    IS(&pdo, DevicePropertyClassGuid, L"{4d36e968-e325-11ce-bfc1-08002be10318}");
    IS(&pdo, DevicePropertyDriverKeyName, L"{4d36e968-e325-11ce-bfc1-08002be10318}\\0007");
    IS(&pdo, DevicePropertyLocationInformation, L"PCI bus 3, device 5, function 2");
    IS(&pdo, DevicePropertyPhysicalDeviceObjectName, L"\\Device\\NTPNP_PCI0007");
    IS(&computing, DevicePropertyClassGuid, L"{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}");
    IS(&computing, DevicePropertyDriverKeyName, L"{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}\\0001");

    CHECK(IoGetDeviceProperty(&pdo, DevicePropertyAddress, 3, &number, &length) ==
              STATUS_BUFFER_TOO_SMALL &&
          length == 4);
    CHECK(IoGetDeviceProperty(&pdo, DevicePropertyAddress, 4, &number, &length) == STATUS_SUCCESS &&
          length == 4 && number == (5u << 16 | 2));
    length = 5;
    CHECK(IoGetDeviceProperty(&pdo, DevicePropertyContainerID, 4, &number, &length) ==
              STATUS_OBJECT_NAME_NOT_FOUND &&
          length == 0);
    length = 5;
    CHECK(IoGetDeviceProperty(&pdo, (DEVICE_REGISTRY_PROPERTY)(DevicePropertyContainerID + 1), 4,
                              &number, &length) == STATUS_INVALID_PARAMETER_2 &&
          length == 0);
    length = 5;
    CHECK(IoGetDeviceProperty(&driver_object, DevicePropertyAddress, 4, &number, &length) ==
              STATUS_INVALID_DEVICE_REQUEST &&
          length == 0);
    CHECK(IoGetDeviceProperty(NULL, DevicePropertyAddress, 4, &number, &length) ==
          STATUS_INVALID_DEVICE_REQUEST);
    CHECK(IoGetDeviceProperty(&pdo, DevicePropertyAddress, 4, &number, NULL) ==
          STATUS_INVALID_DEVICE_REQUEST);
    CHECK(errors() == 0);
}

/* Keys of one device are not those of another, and those of one kind not those of the other. */
static void open_keys(void)
{
    static const ULONG kinds[] = {PLUGPLAY_REGKEY_DEVICE, PLUGPLAY_REGKEY_DRIVER};
    UNICODE_STRING name = unicode_text(L"value");
    PDEVICE_OBJECT devices[] = {&pdo, &computing};
    struct {
        KEY_VALUE_PARTIAL_INFORMATION head;
        uint8_t more[8];
    } found;
    ULONG length, number;
    HANDLE key;

    for (ULONG i = 0; i < 4; i++) {
        CHECK(IoOpenDeviceRegistryKey(devices[i / 2], kinds[i % 2], KEY_ALL_ACCESS, &key) ==
              STATUS_SUCCESS);
        CHECK(ZwQueryValueKey(key, &name, KeyValuePartialInformation, &found, sizeof(found),
                              &length) == STATUS_OBJECT_NAME_NOT_FOUND);
        CHECK(ZwSetValueKey(key, &name, 0, REG_DWORD, &i, sizeof(i)) == STATUS_SUCCESS);
        ZwClose(key);
    }
    for (ULONG i = 0; i < 4; i++) {
        CHECK(IoOpenDeviceRegistryKey(devices[i / 2],
                                      kinds[i % 2] | PLUGPLAY_REGKEY_CURRENT_HWPROFILE, KEY_READ,
                                      &key) == STATUS_SUCCESS);
        CHECK(ZwQueryValueKey(key, &name, KeyValuePartialInformation, &found, sizeof(found),
                              &length) == STATUS_SUCCESS);
        memcpy(&number, found.head.Data, sizeof(number));
        CHECK(number == i);
        ZwClose(key);
    }
    key = &pdo;
    CHECK(IoOpenDeviceRegistryKey(&driver_object, kinds[0], KEY_READ, &key) ==
              STATUS_INVALID_PARAMETER &&
          key == &pdo);
    CHECK(IoOpenDeviceRegistryKey(&pdo, kinds[0], KEY_READ, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(IoOpenDeviceRegistryKey(&pdo, 0, KEY_READ, &key) == STATUS_INVALID_PARAMETER);
    CHECK(IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_CURRENT_HWPROFILE, KEY_READ, &key) ==
          STATUS_INVALID_PARAMETER);
    CHECK(errors() == 0);
}

/* ---- a device that computes ---- */

static bool configure_computing(const struct dxgk_device_config *config,
                                struct dxgk_device_description *description, const char **error)
{
    inert_device_configure(config, description, error);
    description->class_code = 0x120000;
    return true;
}

static const struct dxgk_device_model computing_model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "computing",
    .configure = configure_computing,
    .create = inert_device_create,
    .destroy = inert_device_destroy,
    .reset = inert_device_reset,
    .read = inert_device_read,
    .write = inert_device_write,
    .timer = inert_device_timer,
};

TEST_WITH(machine, devices_are_described)
{
    struct nt_device_info info = {.instance = 7, .bus = 3, .slot = 5, .function = 2};
    struct bus_refusal error;
    char path[128] = "x";

    info.device = test_device_add(h.bus);
    CHECK(nt_device_object_register_physical(&pdo, &info));
    CHECK(nt_device_object_path(&pdo, path, sizeof(path)) &&
          strcmp(path, "\\\\?\\PCI#VEN_1234&DEV_5678&SUBSYS_11001AF4&REV_03#0007#") == 0);
    CHECK(nt_device_object_device(&pdo) == info.device);
    info.instance = 8;
    for (unsigned i = 0; i < 8; i++) /* the last one counts */
        CHECK(nt_device_object_register_physical(&computing, &info));
    info.device = bus_device_add(h.bus, &computing_model, NULL, &error);
    info.instance = 1;
    CHECK(nt_device_object_register_physical(&computing, &info));
    CHECK(nt_device_object_register(&driver_object));
    CHECK(!nt_device_object_path(&driver_object, path, sizeof(path)) &&
          !nt_device_object_path(&info, path, sizeof(path)));
    CHECK(!nt_device_object_device(&driver_object) && !nt_device_object_device(&info));
    run(ask);
    run(open_keys);
    nt_device_object_unregister(&computing);
    nt_device_object_unregister(&pdo);
    CHECK(!nt_device_object_device(&pdo));
    nt_device_object_unregister(&driver_object);
}

/* ---- objects by name ---- */

static NTSTATUS look_up(const WCHAR *text, PFILE_OBJECT *file, PDEVICE_OBJECT *device)
{
    UNICODE_STRING name = unicode_text(text);

    return IoGetDeviceObjectPointer(&name, FILE_READ_DATA, file, device);
}

static void look_up_names(void)
{
    static WCHAR odd[] = L"\\Device\\Thing";
    static WCHAR longest[80];
    UNICODE_STRING name = {5, sizeof(odd), odd};
    PDEVICE_OBJECT device = NULL;
    PFILE_OBJECT file = NULL;
    KEVENT event;

    CHECK(look_up(L"\\Device\\Thing", &file, &device) == STATUS_SUCCESS && device == &pdo);
    CHECK(file->DeviceObject == &pdo && file->Type == IO_TYPE_FILE &&
          file->Size == sizeof(FILE_OBJECT));
    CHECK(IoGetRelatedDeviceObject(file) == &pdo);
    ObDereferenceObject(file);
    CHECK(look_up(L"\\dEVICE\\thing", &file, &device) == STATUS_SUCCESS && device == &pdo);
    ObDereferenceObject(file);
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    CHECK(!IoGetRelatedDeviceObject((PFILE_OBJECT)(void *)KeGetCurrentThread()));
    CHECK(!IoGetRelatedDeviceObject((PFILE_OBJECT)(void *)&event));

    device = (PDEVICE_OBJECT)(void *)&file;
    file = (PFILE_OBJECT)(void *)&event;
    CHECK(look_up(L"", &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(look_up(L"\\Device\\Thin", &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(look_up(L"\\Device\\Thing2", &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(look_up(L"\\Device\\Th\x0169ng", &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(IoGetDeviceObjectPointer(&name, 0, &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    name.Length = sizeof(odd); /* with the terminator */
    CHECK(IoGetDeviceObjectPointer(&name, 0, &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    name.Buffer = (PWCH)8;
    CHECK(IoGetDeviceObjectPointer(&name, 0, &file, &device) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(IoGetDeviceObjectPointer((PUNICODE_STRING)8, 0, &file, &device) ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    for (unsigned i = 0; i < 79; i++)
        longest[i] = 'a';
    for (USHORT count = 62; count < 66; count++) { /* 63 is the last that any object can have */
        UNICODE_STRING of_many = {(USHORT)(count * 2), sizeof(longest), longest};

        CHECK(IoGetDeviceObjectPointer(&of_many, 0, &file, &device) ==
              (count == 63 ? STATUS_SUCCESS : STATUS_OBJECT_NAME_NOT_FOUND));
        if (count == 63)
            ObDereferenceObject(file);
    }
    device = (PDEVICE_OBJECT)(void *)&file;
    CHECK(IoGetDeviceObjectPointer(NULL, 0, &file, &device) == STATUS_INVALID_PARAMETER);
    CHECK(look_up(L"\\Device\\Thing", NULL, &device) == STATUS_INVALID_PARAMETER);
    CHECK(look_up(L"\\Device\\Thing", &file, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(device == (PDEVICE_OBJECT)(void *)&file && errors() == 0);
}

TEST_WITH(machine, devices_are_found_by_name)
{
    static char name[64];

    memset(name, 'a', 63);
    CHECK(nt_device_object_name(&pdo, "\\Device\\Thing"));
    CHECK(nt_device_object_name(&computing, name));
    run(look_up_names);
    nt_device_object_unregister(&computing);
    nt_device_object_unregister(&pdo);
}
