/* SPDX-License-Identifier: MIT */
/*
 * The registry: a tree of keys in memory, with the keys that drivers expect at its top. The
 * services are in registry_zw.c and registry_rtl.c, loading and saving in registry_file.c.
 */
#include <string.h>

#include "nt/cm/registry.h"
#include "nt/base/items.h"
#include "nt/base/state.h"
#include "nt/cm/registry_key.h"
#include "nt/ke/time.h"
#include "nt/ob/object.h"
#include "nt/rtl/rtl_string.h"
#include "util/alloc.h"
#include "util/list.h"

/* ---- keys ---- */

static bool copy_name(struct reg_name *name, const WCHAR *text, size_t length)
{
    name->text = util_alloc(length ? length * sizeof(WCHAR) : 1);
    if (!name->text)
        return false;
    memcpy(name->text, text, length * sizeof(WCHAR));
    name->length = (uint32_t)length;
    return true;
}

static void free_value(struct reg_value *value)
{
    list_remove(&value->link);
    util_free(value->name.text);
    util_free(value->data);
    util_free(value);
}

static void free_key(struct reg_key *key)
{
    while (!list_empty(&key->values))
        free_value(CONTAINER(key->values.next, struct reg_value, link));
    list_remove(&key->link);
    util_free(key->name.text);
    util_free(key);
}

static void destroy_object(struct nt_object *object)
{
    free_key(CONTAINER(object, struct reg_key, object));
}

static uint64_t now(void)
{
    return nt_time_system();
}

static struct reg_key *create_key(struct reg_key *parent, const WCHAR *name, size_t length,
                                  bool temporary)
{
    struct reg_key *key = util_zalloc(1, sizeof(*key));

    if (!key)
        return NULL;
    list_init(&key->link);
    list_init(&key->children);
    list_init(&key->values);
    key->parent = parent;
    key->temporary = temporary; /* what is below a key that is not saved is not, either */
    key->written = now();
    key->object.host_references = 1; /* held by the tree */
    if (!copy_name(&key->name, name, length) ||
        !nt_object_init(&key->object, NT_OBJECT_KEY, key, destroy_object)) {
        free_key(key);
        return NULL;
    }
    if (parent)
        list_push_back(&parent->children, &key->link);
    return key;
}

void reg_delete_key(struct reg_key *key)
{
    list_remove(&key->link);
    key->deleted = true;
    key->object.host_references = 0;
    nt_object_release(&key->object);
}

static bool same_name(const struct reg_name *name, const WCHAR *text, size_t length,
                      bool ignore_case)
{
    if (name->length != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (ignore_case ? nt_string_upcase(name->text[i]) != nt_string_upcase(text[i])
                        : name->text[i] != text[i])
            return false;
    }
    return true;
}

struct reg_key *reg_find_child(const struct reg_key *key, const WCHAR *name, size_t length,
                               bool ignore_case)
{
    LIST_FOR(node, &key->children) {
        struct reg_key *child = CONTAINER(node, struct reg_key, link);

        if (same_name(&child->name, name, length, ignore_case))
            return child;
    }
    return NULL;
}

/* ---- paths ---- */

static size_t part_length(const WCHAR *path, size_t length)
{
    size_t part = 0;

    while (part < length && path[part] != '\\')
        part++;
    return part;
}

struct reg_key *reg_walk(struct reg_key *key, const WCHAR *path, size_t length, bool ignore_case,
                         bool create, bool temporary, bool *created)
{
    if (created)
        *created = false;
    while (key && length > 0) {
        size_t part = part_length(path, length);
        struct reg_key *child = key;

        if (part > 0) {
            child = reg_find_child(key, path, part, ignore_case);
            if (created)
                *created = !child;
            if (!child && create)
                child = create_key(key, path, part, temporary);
        }
        key = child;
        part += part < length; /* the separator */
        path += part;
        length -= part;
    }
    return key;
}

struct reg_key *reg_path(const WCHAR *path, size_t length, bool ignore_case, bool create,
                         bool temporary, bool *created)
{
    struct reg_key *root = nt_state()->registry->root;
    size_t first;

    if (length == 0 || path[0] != '\\')
        return NULL;
    first = part_length(path + 1, length - 1);
    /* Case is ignored: paths given to drivers begin with \Registry (LIFE-007, LIFE-008), those that
     * the system shows with \REGISTRY. */
    if (!same_name(&root->name, path + 1, first, true))
        return NULL;
    return reg_walk(root, path + 1 + first, length - 1 - first, ignore_case, create, temporary,
                    created);
}

size_t reg_widen(const char *text, WCHAR *wide, size_t room)
{
    size_t length = 0;

    while (text[length] && length < room) {
        wide[length] = (unsigned char)text[length];
        length++;
    }
    return length;
}

struct reg_key *reg_ascii_path(const char *path, bool create)
{
    WCHAR wide[512];

    return reg_path(wide, reg_widen(path, wide, NT_ITEMS(wide)), true, create, false, NULL);
}

/* ---- values ---- */

struct reg_value *reg_find_value(const struct reg_key *key, const WCHAR *name, size_t length)
{
    LIST_FOR(node, &key->values) {
        struct reg_value *value = CONTAINER(node, struct reg_value, link);

        if (same_name(&value->name, name, length, true))
            return value;
    }
    return NULL;
}

static struct reg_value *create_value(const WCHAR *name, size_t length)
{
    struct reg_value *value = util_zalloc(1, sizeof(*value));

    if (!value)
        return NULL;
    list_init(&value->link);
    if (copy_name(&value->name, name, length))
        return value;
    util_free(value);
    return NULL;
}

bool reg_set_value(struct reg_key *key, const WCHAR *name, size_t length, uint32_t type,
                   const void *data, uint32_t bytes)
{
    struct reg_value *value = reg_find_value(key, name, length);
    uint8_t *copy = util_alloc(bytes ? bytes : 1);

    if (!copy)
        return false;
    if (!value) {
        value = create_value(name, length);
        if (!value) {
            util_free(copy);
            return false;
        }
        list_push_back(&key->values, &value->link);
    }
    if (bytes)
        memcpy(copy, data, bytes);
    util_free(value->data);
    value->data = copy;
    value->bytes = bytes;
    value->type = type;
    key->written = now();
    return true;
}

void reg_delete_value(struct reg_value *value)
{
    free_value(value);
}

/* ---- the whole ---- */

static const char *const usual_keys[] = {
    "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\Class",
    "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers",
    "\\Registry\\Machine\\System\\CurrentControlSet\\Enum",
    "\\Registry\\Machine\\System\\CurrentControlSet\\Services",
    "\\Registry\\Machine\\Software\\Microsoft\\Windows NT\\CurrentVersion",
    "\\Registry\\Machine\\Hardware\\DeviceMap",
    "\\Registry\\User\\.Default",
};

static bool init(struct nt *nt)
{
    static const WCHAR registry[] = {'R', 'E', 'G', 'I', 'S', 'T', 'R', 'Y'};

    nt->registry = util_zalloc(1, sizeof(*nt->registry));
    if (!nt->registry)
        return false;
    nt->registry->root = create_key(NULL, registry, NT_ITEMS(registry), false);
    if (!nt->registry->root)
        return false;
    /* Case is ignored: the host's own paths are written in lower case. */
    for (size_t i = 0; i < NT_ITEMS(usual_keys); i++) {
        if (!reg_ascii_path(usual_keys[i], true))
            return false;
    }
    return true;
}

static void delete_tree(struct reg_key *key)
{
    while (!list_empty(&key->children))
        delete_tree(CONTAINER(key->children.next, struct reg_key, link));
    reg_delete_key(key);
}

static void finish(struct nt *nt)
{
    if (!nt->registry)
        return;
    if (nt->registry->root)
        delete_tree(nt->registry->root);
    util_free(nt->registry);
    nt->registry = NULL;
}

const struct nt_component nt_registry_component = {.init = init, .finish = finish};

/* ---- for the rooms above ---- */

bool nt_registry_set(const char *path, const char *name, uint32_t type, const void *data,
                     uint32_t bytes)
{
    struct reg_key *key = reg_ascii_path(path, true);
    WCHAR wide[256];

    if (!key)
        return false;
    return !name ||
           reg_set_value(key, wide, reg_widen(name, wide, NT_ITEMS(wide)), type, data, bytes);
}

const void *nt_registry_get(const char *path, const char *name, uint32_t *type, uint32_t *bytes)
{
    struct reg_key *key = reg_ascii_path(path, false);
    struct reg_value *value;
    WCHAR wide[256];

    if (!key)
        return NULL;
    value = reg_find_value(key, wide, reg_widen(name, wide, NT_ITEMS(wide)));
    if (!value)
        return NULL;
    *type = value->type;
    *bytes = value->bytes;
    return value->data;
}
