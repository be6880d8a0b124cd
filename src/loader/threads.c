/* SPDX-License-Identifier: MIT */
/*
 * Threads of the host process that began after an image was loaded. Where the process had one
 * thread alone, they are the driver's; an embedding program may start some itself, so there the
 * image must also import a routine that starts threads.
 */
#include "loader/threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/image.h"
#include "loader/loader.h"
#include "util/alloc.h"
#include "util/array.h"

#define MOST_THREADS 1024u

/* Calls fn for each thread until it returns false. */
static void each_thread(bool (*fn)(void *context, int id), void *context)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        int id = atoi(entry->d_name);

        if (id > 0 && !fn(context, id))
            break;
    }
    if (folder)
        closedir(folder);
}

static bool note(void *context, int id)
{
    struct loader_image *image = context;

    image->thread[image->threads++] = id;
    return image->threads < MOST_THREADS;
}

static bool hidden;

void loader_threads_hide(void)
{
    hidden = true;
}

bool loader_threads_note(struct loader_image *image)
{
    if (hidden)
        return true;
    image->thread = util_alloc(MOST_THREADS * sizeof(*image->thread));
    if (!image->thread)
        return false;
    each_thread(note, image);
    return true;
}

void loader_threads_forget(struct loader_image *image)
{
    util_free(image->thread);
    image->thread = NULL;
    image->threads = 0;
}

struct search {
    const struct loader_image *image;
    unsigned count;
    char *names;
    size_t bytes;
};

static void add_name(struct search *search, int id)
{
    char path[64], name[32] = "";
    size_t length = strlen(search->names);
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/comm", id);
    file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(name, sizeof(name), file))
        name[strcspn(name, "\n")] = '\0';
    fclose(file);
    snprintf(search->names + length, search->bytes - length, "%s\"%s\"", length ? ", " : "", name);
}

static bool look(void *context, int id)
{
    struct search *search = context;

    for (uint32_t i = 0; i < search->image->threads; i++)
        if (search->image->thread[i] == id)
            return true;
    search->count++;
    add_name(search, id);
    return true;
}

static bool may_start_threads(const struct loader_image *image)
{
    static const char *const starters[] = {"pthread_create", "thrd_create", "clone"};

    for (size_t i = 0; i < ARRAY_COUNT(starters); i++)
        if (loader_image_imports(image, starters[i]))
            return true;
    /* std::thread::_M_start_thread */
    return loader_image_imports(
        image,
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE");
}

unsigned loader_image_threads(struct loader_image *image, char *names, size_t bytes)
{
    struct search search = {.image = image, .names = names, .bytes = bytes};

    names[0] = '\0';
    if (!image->thread || image->threads >= MOST_THREADS ||
        (image->threads > 1 && !may_start_threads(image)))
        return 0;
    each_thread(look, &search);
    image->stays = search.count != 0;
    return search.count;
}
