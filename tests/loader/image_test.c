/* SPDX-License-Identifier: MIT */
/* The loader on bad files, on small drivers, and on addresses that want a name. */
#include "support/check_rule.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/loader.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "verify/verify.h"

struct fixture {
    struct sim_machine *sim;
    struct verify_log *log;
    char error[1024];
};

static struct fixture *begin(struct fixture *f)
{
    struct sim_config config = {.seed = 1, .processors = 1};

    f->sim = sim_machine_create(&config);
    f->log = verify_log_create();
    CHECK(f->sim && f->log);
    sim_enter(f->sim);
    verify_log_install(f->log);
    return f;
}

static void end(struct fixture *f)
{
    verify_log_install(NULL);
    sim_leave();
    sim_machine_destroy(f->sim);
    verify_log_destroy(f->log);
}

static const char *driver(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *text = path[turn++ % 4];

    snprintf(text, sizeof(path[0]), "%s/tests/drivers/%s.so",
             getenv("DXGK_BUILD") ? getenv("DXGK_BUILD") : ".", name);
    return text;
}

static NTSTATUS load(struct fixture *f, const char *path, struct loader_image **image)
{
    *image = NULL;
    return loader_image_load(path, 0, image, f->error, sizeof(f->error));
}

static bool one_line(const char *text)
{
    return text[0] && !strchr(text, '\n');
}

/* ---- files that are no drivers ---- */

TEST(missing_file_is_named)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;

    CHECK(load(f, "/nowhere/driver.so", &image) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(!image && strstr(f->error, "/nowhere/driver.so") && strstr(f->error, "No such file"));
    end(f);
}

static const char *write_file(const void *bytes, size_t size)
{
    static char path[] = "/tmp/dxgkhost-loader-test-XXXXXX";
    FILE *file;

    strcpy(path + sizeof(path) - 7, "XXXXXX");
    file = fdopen(mkstemp(path), "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    return path;
}

static void refuses(struct fixture *f, const void *bytes, size_t size, const char *why)
{
    const char *path = write_file(bytes, size);
    struct loader_image *image;
    NTSTATUS status = load(f, path, &image);

    unlink(path);
    CHECK(status == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(!image && one_line(f->error));
    if (!strstr(f->error, why))
        fail_msg("\"%s\" does not say \"%s\"", f->error, why);
}

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    char *bytes;

    CHECK(file && fstat(fileno(file), &about) == 0);
    *size = (size_t)about.st_size;
    bytes = malloc(*size);
    CHECK(bytes && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

TEST(foreign_files_are_told_apart)
{
    struct fixture fixture, *f = begin(&fixture);
    size_t size;
    char *bytes = read_file(driver("counter"), &size);
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)bytes;

    refuses(f, "", 0, "empty");
    refuses(f, "#!/bin/sh\n", 10, "neither an ELF file nor a Windows image");
    refuses(f, "MZ\x90\0\3", 5, "DOS header is not complete");
    refuses(f, bytes, 30, "header is not complete");
    refuses(f, bytes, 100, "truncated");
    refuses(f, bytes, 0x1010, "truncated"); /* inside the second segment */
    header->e_machine = EM_AARCH64;
    refuses(f, bytes, size, "x86-64");
    header->e_machine = EM_X86_64;
    header->e_type = ET_REL;
    refuses(f, bytes, size, "object file");
    header->e_type = ET_DYN;
    header->e_phentsize = 7;
    refuses(f, bytes, size, "program headers");
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phoff = UINT64_MAX - 8;
    refuses(f, bytes, size, "program headers");
    free(bytes);
    end(f);
}

TEST(directory_is_no_driver)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;

    CHECK(!NT_SUCCESS(load(f, "/tmp", &image)) && one_line(f->error));
    end(f);
}

/* Any damage is either refused with a line or harmless; nothing is executed, since a damaged file is never mapped here: DriverEntry
 * is renamed first. */
TEST(damaged_files_never_crash)
{
    struct fixture fixture, *f = begin(&fixture);
    size_t size;
    char *bytes = read_file(driver("counter"), &size);
    char *copy = malloc(size);
    struct rng rng = {.state = 7};

    CHECK(copy != NULL);
    for (size_t i = 0; i + 11 < size; i++)
        if (memcmp(bytes + i, "DriverEntry", 11) == 0)
            bytes[i] = 'X';
    for (unsigned round = 0; round < 3000; round++) {
        struct loader_image *image;
        const char *path;

        memcpy(copy, bytes, size);
        for (unsigned k = 0; k < 4; k++)
            copy[rng_below(&rng, round % 2 ? (uint32_t)size : 1024)] = (char)rng_next(&rng);
        path = write_file(copy, size);
        CHECK(!NT_SUCCESS(load(f, path, &image)));
        CHECK(one_line(f->error));
        unlink(path);
    }
    CHECK(f->sim->heap.live_blocks <= 1);
    free(copy);
    free(bytes);
    end(f);
}

/* ---- drivers that cannot run ---- */

TEST(driver_needs_an_exported_entry)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;

    CHECK(load(f, driver("no_entry"), &image) == STATUS_DRIVER_ENTRYPOINT_NOT_FOUND);
    CHECK(strstr(f->error, "no DriverEntry"));
    CHECK(load(f, driver("hidden_entry"), &image) == STATUS_DRIVER_ENTRYPOINT_NOT_FOUND);
    CHECK(strstr(f->error, "not exported"));
    end(f);
}

TEST(all_missing_imports_are_listed_at_once)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;
    const struct verify_record *record;

    CHECK_RULE("LIFE-005/a", load(f, driver("missing_imports"), &image) == (NTSTATUS)0xC0000263);
    CHECK(!image);
    CHECK(strstr(f->error, "ExAnotherMissingRoutine, KeNoSuchRoutine") &&
          !strstr(f->error, "MmOptionalRoutine"));
    record = verify_record_at(f->log, 0);
    CHECK_RULE("LIFE-005/b", record && strcmp(record->rule, "LIFE-005") == 0 &&
                                 strstr(record->seen, "KeNoSuchRoutine") &&
                                 strstr(record->seen, "ExAnotherMissingRoutine"));
    end(f);
}

/* ---- drivers that load ---- */

TEST(names_come_from_the_file)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;

    CHECK(NT_SUCCESS(load(f, driver("counter"), &image)));
    CHECK(strcmp(loader_image_name(image), "counter.so") == 0);
    CHECK(strcmp(loader_image_service(image), "counter") == 0);
    CHECK(loader_image_entry(image) != NULL);
    loader_image_unload(image);
    end(f);
}

TEST(imports_can_be_asked_for)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;

    CHECK(NT_SUCCESS(load(f, driver("contiguous"), &image)));
    CHECK(loader_image_imports(image, "MmAllocateContiguousMemory"));
    CHECK(loader_image_imports(image, "MmFreeContiguousMemory"));
    CHECK(!loader_image_imports(image, "MmProbeAndLockPages"));
    CHECK(!loader_image_imports(image, "DriverEntry"));
    loader_image_unload(image);
    end(f);
}

TEST(two_images_of_one_file_share_no_globals)
{
    struct fixture first, second;
    struct loader_image *a, *b, *c;

    begin(&first);
    CHECK(NT_SUCCESS(load(&first, driver("counter"), &a)));
    begin(&second);
    CHECK(NT_SUCCESS(load(&second, driver("counter"), &b)));
    CHECK(loader_image_entry(a) != loader_image_entry(b));
    CHECK(loader_image_entry(a)(NULL, NULL) == 1);
    CHECK(loader_image_entry(a)(NULL, NULL) == 2);
    CHECK(loader_image_entry(b)(NULL, NULL) == 1);
    CHECK(NT_SUCCESS(load(&second, driver("counter"), &c)));
    CHECK(loader_image_entry(c)(NULL, NULL) == 1);
    loader_image_unload(b);
    loader_image_unload(c);
    end(&second); /* which leads back into the first */
    loader_image_unload(a);
    CHECK(NT_SUCCESS(load(&first, driver("counter"), &a)));
    CHECK(loader_image_entry(a)(NULL, NULL) == 1);
    loader_image_unload(a);
    end(&first);
}

/* ---- names of addresses ---- */

TEST(addresses_get_names)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image;
    UNICODE_STRING path = {0};
    char text[128];
    uintptr_t entry, function;

    CHECK(NT_SUCCESS(load(f, driver("counter"), &image)));
    loader_image_entry(image)(NULL, &path);
    entry = (uintptr_t)loader_image_entry(image);
    function = (uintptr_t)path.Buffer;
    CHECK(loader_symbolize(entry, text, sizeof(text)) &&
          strcmp(text, "counter.so!DriverEntry+0x0") == 0);
    CHECK(loader_symbolize(entry + 2, text, sizeof(text)) &&
          strcmp(text, "counter.so!DriverEntry+0x2") == 0);
    CHECK(loader_symbolize(function + 1, text, sizeof(text)) &&
          strcmp(text, "counter.so!count_up+0x1") == 0);
    CHECK(!loader_symbolize((uintptr_t)&addresses_get_names, text, sizeof(text)));
    CHECK(!loader_symbolize(0, text, sizeof(text)));
    CHECK(loader_image_contains(image, entry));
    loader_image_unload(image);
    CHECK(!loader_symbolize(entry, text, sizeof(text)));
    end(f);
}

/* ---- memory ---- */

TEST(loading_survives_every_failing_allocation)
{
    struct fixture fixture, *f = begin(&fixture);
    struct loader_image *image = NULL;
    uint64_t live = 0;
    unsigned failures = 0;

    for (uint64_t n = 1; !image; n++) {
        NTSTATUS status;

        f->sim->heap.fail_at = f->sim->heap.requests + n;
        status = load(f, driver("counter"), &image);
        f->sim->heap.fail_at = 0;
        if (image)
            break;
        CHECK(status == STATUS_NO_MEMORY && one_line(f->error));
        if (n == 1)
            live = f->sim->heap.live_blocks;
        CHECK(f->sim->heap.live_blocks <= live + 1);
        failures++;
    }
    CHECK(failures >= 5);
    loader_image_unload(image);
    end(f);
}
