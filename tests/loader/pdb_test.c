/* SPDX-License-Identifier: MIT */
/* Which file is the PDB of an image: by its name, beside the image or where the linker left it, and by GUID and age. The image is
 * tests/drivers/msvc/faults.sys, copied to folders of the test. */
#include "support/check_rule.h"

#include "loader/pdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH 1200u

static char *image, *pdb; /* their bytes */
static size_t image_bytes, pdb_bytes;
static char folder[64], image_path[PATH], pdb_path[PATH];

/* NULL: it is not there. */
static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *read;

    if (!file)
        return NULL;
    read = malloc(4u << 20);
    CHECK(read);
    *bytes = fread(read, 1, 4u << 20, file);
    CHECK(fclose(file) == 0 && *bytes > 0 && *bytes < 4u << 20);
    return read;
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static char *find(char *bytes, size_t size, const char *what, size_t length)
{
    char *found = memmem(bytes, size, what, length);

    CHECK(found);
    return found;
}

/* The record: RSDS, the GUID, the age, the path, for which there is some room. */
static char *record(void)
{
    return find(image, image_bytes, "RSDS", 4);
}

/* The path of the record leads nowhere, unless the test says where. */
static int begin(void)
{
    const char *build = getenv("DXGK_BUILD");
    char path[PATH];

    snprintf(path, sizeof(path), "%s/tests/drivers/msvc/faults.sys", build ? build : ".");
    image = read_file(path, &image_bytes);
    pdb = image ? read_file(record() + 24, &pdb_bytes) : NULL; /* the image may be a copy */
    if (!pdb) {
        free(image);
        skip();
    }
    strcpy(folder, "/tmp/dxgkhost-pdb-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(image_path, sizeof(image_path), "%s/f.sys", folder);
    snprintf(pdb_path, sizeof(pdb_path), "%s/f.pdb", folder);
    CHECK(strlen(record() + 24) > 20);
    strcpy(record() + 24, "Z:\\x/y\\f.pdb");
    write_file(image_path, image, image_bytes);
    return 0;
}

static int end(void)
{
    unlink(image_path);
    unlink(pdb_path);
    rmdir(folder);
    free(image);
    free(pdb);
    return 0;
}

#define RIG_ARGUMENT_image void
#define RIG_RUN_image(body)  \
    test_set_up(begin, end); \
    body()

static bool finds(enum pdb_found wanted, const char *where)
{
    char path[PATH];
    enum pdb_found found = pdb_find(image_path, path, sizeof(path));

    if (found == wanted && strcmp(path, where) == 0)
        return true;
    printf("    %d, %s\n", (int)found, path);
    return false;
}

/* Something else than what is there, and then what was there. */
static bool finds_with(char *byte, enum pdb_found wanted)
{
    bool found;

    *byte = (char)(*byte + 1);
    write_file(pdb_path, pdb, pdb_bytes);
    found = finds(wanted, pdb_path);
    *byte = (char)(*byte - 1);
    return found;
}

TEST_WITH(image, it_is_beside_the_image)
{
    CHECK(finds(PDB_ABSENT, "f.pdb"));
    write_file(pdb_path, pdb, pdb_bytes);
    CHECK(finds(PDB_FOUND, pdb_path));
}

TEST_WITH(image, it_is_where_the_linker_left_it)
{
    char *path = record() + 24;
    char other[PATH];

    snprintf(other, sizeof(other), "%s.pdb", folder);
    CHECK(strlen(other) < 40);
    strcpy(path, other);
    write_file(image_path, image, image_bytes);
    write_file(other, pdb, pdb_bytes);
    CHECK(finds(PDB_FOUND, other));
    CHECK(unlink(other) == 0);
    CHECK(finds(PDB_ABSENT, strrchr(other, '/') + 1));
}

TEST_WITH(image, one_of_another_build_is_none)
{
    char guid[16], *age = record() + 20;

    memcpy(guid, record() + 4, sizeof(guid));
    CHECK(finds_with(find(pdb, pdb_bytes, guid, sizeof(guid)) + 15, PDB_OTHER));
    CHECK(finds_with(find(pdb, pdb_bytes, guid, sizeof(guid)), PDB_OTHER));
    write_file(pdb_path, pdb, pdb_bytes);
    *age = (char)(*age + 1);
    write_file(image_path, image, image_bytes);
    CHECK(finds(PDB_OTHER, pdb_path));
}

TEST_WITH(image, one_that_is_damaged_is_none)
{
    CHECK(finds_with(&pdb[2], PDB_DAMAGED));  /* what it begins with */
    CHECK(finds_with(&pdb[33], PDB_DAMAGED)); /* bytes of a block: 0x1100 */
    CHECK(finds_with(&pdb[55], PDB_DAMAGED)); /* where the directory is */
    write_file(pdb_path, pdb, 40);
    CHECK(finds(PDB_DAMAGED, pdb_path));
    write_file(pdb_path, "", 0);
    CHECK(finds(PDB_DAMAGED, pdb_path));
    /* cut off anywhere it is one or the other, and ends */
    for (size_t bytes = 0; bytes < pdb_bytes; bytes += 4093) {
        char path[PATH];
        enum pdb_found found;

        write_file(pdb_path, pdb, bytes);
        found = pdb_find(image_path, path, sizeof(path));
        CHECK(found == PDB_DAMAGED || found == PDB_FOUND);
    }
}

TEST_WITH(image, an_image_without_a_record_has_none)
{
    char path[PATH];

    memcpy(record(), "NB10", 4);
    write_file(image_path, image, image_bytes);
    write_file(pdb_path, pdb, pdb_bytes);
    CHECK(finds(PDB_NO_RECORD, ""));
    write_file(image_path, image, 100);
    CHECK(finds(PDB_NO_RECORD, ""));
    unlink(image_path);
    CHECK(finds(PDB_NO_RECORD, ""));
    CHECK(pdb_find("/proc/self/exe", path, sizeof(path)) == PDB_NO_RECORD);
}
