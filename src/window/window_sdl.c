/* SPDX-License-Identifier: MIT */
/*
 * The window by SDL 2. All of SDL runs in a thread of its own: the machine runs on small stacks,
 * and a window must answer while the machine does not.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL2/SDL.h>

#include "window/window.h"

#define KEYS      16u
#define SLOW_MS   15
#define FIRST_W   1024
#define FIRST_H   768
#define MOST_SIDE 16384u

struct window {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool opened, failed, stop;
    char why[256];
    /* what is to be shown */
    uint8_t *rgb; /* NULL: nothing */
    uint32_t width, height;
    char title[256];
    bool new_picture, new_title;
    int key[KEYS]; /* oldest first */
    unsigned keys;
};

/* What the thread has. */
struct shown {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture; /* NULL: none */
    uint32_t width, height;
};

/* ---- the thread ---- */

static void press(struct window *w, int key)
{
    pthread_mutex_lock(&w->lock);
    if (w->keys < KEYS)
        w->key[w->keys++] = key;
    else if (key == WINDOW_CLOSED)
        w->key[KEYS - 1] = key;
    pthread_mutex_unlock(&w->lock);
}

/* Where there is no display, SDL draws into memory, where nobody sees it, nor ends the run. */
static bool nobody_sees(void)
{
    const char *driver = SDL_GetCurrentVideoDriver();

    return !getenv("SDL_VIDEODRIVER") && driver &&
           (strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0);
}

static bool create(struct shown *s)
{
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    if (SDL_Init(SDL_INIT_VIDEO) != 0)
        return false;
    if (nobody_sees()) {
        SDL_SetError("there is no display (DISPLAY, WAYLAND_DISPLAY)");
        return false;
    }
    s->window = SDL_CreateWindow("dxgkhost", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                 FIRST_W, FIRST_H, SDL_WINDOW_RESIZABLE);
    s->renderer = s->window ? SDL_CreateRenderer(s->window, -1, SDL_RENDERER_SOFTWARE) : NULL;
    return s->renderer != NULL;
}

static void destroy(struct shown *s)
{
    if (s->texture)
        SDL_DestroyTexture(s->texture);
    if (s->renderer)
        SDL_DestroyRenderer(s->renderer);
    if (s->window)
        SDL_DestroyWindow(s->window);
    SDL_Quit();
}

/* Lock held. A texture as large as the picture; the window follows it. */
static void fit(struct shown *s, const struct window *w)
{
    if (s->texture && s->width == w->width && s->height == w->height)
        return;
    if (s->texture)
        SDL_DestroyTexture(s->texture);
    s->width = w->width;
    s->height = w->height;
    s->texture = SDL_CreateTexture(s->renderer, SDL_PIXELFORMAT_RGB24, SDL_TEXTUREACCESS_STREAMING,
                                   (int)w->width, (int)w->height);
    SDL_SetWindowSize(s->window, (int)w->width, (int)w->height);
    SDL_RenderSetLogicalSize(s->renderer, (int)w->width, (int)w->height);
}

static void take(struct shown *s, struct window *w)
{
    pthread_mutex_lock(&w->lock);
    if (w->new_title)
        SDL_SetWindowTitle(s->window, w->title);
    if (w->new_picture && w->rgb) {
        fit(s, w);
        if (s->texture)
            SDL_UpdateTexture(s->texture, NULL, w->rgb, (int)(3 * w->width));
    } else if (w->new_picture && s->texture) {
        SDL_DestroyTexture(s->texture);
        s->texture = NULL;
    }
    w->new_title = w->new_picture = false;
    pthread_mutex_unlock(&w->lock);
}

static void draw(const struct shown *s)
{
    SDL_SetRenderDrawColor(s->renderer, 0x20, 0x20, 0x20, 0xff);
    SDL_RenderClear(s->renderer);
    if (s->texture)
        SDL_RenderCopy(s->renderer, s->texture, NULL, NULL);
    SDL_RenderPresent(s->renderer);
}

static void note_event(struct window *w, const SDL_Event *event)
{
    if (event->type == SDL_QUIT) {
        press(w, WINDOW_CLOSED);
    } else if (event->type == SDL_KEYDOWN && !event->key.repeat) {
        const SDL_Keycode code = event->key.keysym.sym;

        if (code == SDLK_ESCAPE)
            press(w, WINDOW_CLOSED);
        else if (code > 0 && code < 0x80)
            press(w, code);
    }
}

static void *window_main(void *argument)
{
    struct window *w = argument;
    struct shown s = {0};
    const bool created = create(&s);
    bool stop = !created;
    SDL_Event event;

    pthread_mutex_lock(&w->lock);
    w->opened = true;
    w->failed = !created;
    if (!created)
        snprintf(w->why, sizeof(w->why), "%s", SDL_GetError());
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    while (!stop) {
        take(&s, w);
        draw(&s);
        if (SDL_WaitEventTimeout(&event, SLOW_MS))
            do
                note_event(w, &event);
            while (SDL_PollEvent(&event));
        pthread_mutex_lock(&w->lock);
        stop = w->stop;
        pthread_mutex_unlock(&w->lock);
    }
    destroy(&s);
    return NULL;
}

/* ---- functions ---- */

/* Signals go to the thread of the machine. */
static bool begin_thread(struct window *w)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&w->thread, NULL, window_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static void window_free(struct window *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w->rgb);
    free(w);
}

static struct window *window_open(char *why, size_t why_bytes)
{
    struct window *w = calloc(1, sizeof(*w));

    if (!w) {
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (!begin_thread(w)) {
        snprintf(why, why_bytes, "no thread for it can be made");
        window_free(w);
        return NULL;
    }
    pthread_mutex_lock(&w->lock);
    while (!w->opened)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    if (!w->failed)
        return w;
    pthread_join(w->thread, NULL);
    snprintf(why, why_bytes, "%s", w->why);
    window_free(w);
    return NULL;
}

static void window_show(struct window *w, uint32_t width, uint32_t height, const uint8_t *rgb)
{
    const size_t bytes = 3 * (size_t)width * height;
    uint8_t *copy = NULL;

    if (rgb && width && height && width <= MOST_SIDE && height <= MOST_SIDE)
        copy = malloc(bytes);
    if (copy)
        memcpy(copy, rgb, bytes);
    pthread_mutex_lock(&w->lock);
    free(w->rgb);
    w->rgb = copy;
    w->width = width;
    w->height = height;
    w->new_picture = true;
    pthread_mutex_unlock(&w->lock);
}

static void window_title(struct window *w, const char *title)
{
    pthread_mutex_lock(&w->lock);
    snprintf(w->title, sizeof(w->title), "%s", title);
    w->new_title = true;
    pthread_mutex_unlock(&w->lock);
}

static int window_key(struct window *w)
{
    int key = WINDOW_NO_KEY;

    pthread_mutex_lock(&w->lock);
    if (w->keys) {
        key = w->key[0];
        memmove(w->key, w->key + 1, --w->keys * sizeof(w->key[0]));
    }
    pthread_mutex_unlock(&w->lock);
    return key;
}

static void window_close(struct window *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    window_free(w);
}

extern const struct window_functions dxgkhost_window;
__attribute__((visibility("default"))) const struct window_functions dxgkhost_window = {
    window_open, window_show, window_title, window_key, window_close};
