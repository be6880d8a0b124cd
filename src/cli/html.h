/* SPDX-License-Identifier: MIT */
/* A page of one file, that needs nothing from elsewhere: headings, texts and tables. All texts are
 * escaped. */
#ifndef DXGK_CLI_HTML_H
#define DXGK_CLI_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_html {
    FILE *file;
    const char *path;
};

/* The beginning of a page up to what is inside its body; `style` is added to the style sheet that
 * all pages have. It needs `file` alone. */
void cli_html_head(const struct cli_html *html, const char *title, const char *style);
/* A text, escaped: valid whatever its bytes are. */
void cli_html_put(const struct cli_html *html, const char *text);
void cli_html_put_bytes(const struct cli_html *html, const char *text, size_t length);
void cli_html_print(const struct cli_html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* False, with a message: it cannot be written. The title is its heading, too. */
bool cli_html_open(struct cli_html *html, const char *path, const char *title);
/* An element with a text; `style` is "" or one of "good", "bad", "rule", "first", "number", "text",
 * "dim", "message". */
void cli_html_text(const struct cli_html *html, const char *element, const char *style,
                   const char *text);
void cli_html_format(const struct cli_html *html, const char *element, const char *style,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void cli_html_begin(const struct cli_html *html, const char *element);
void cli_html_end(const struct cli_html *html, const char *element);
/* A table begins with the names of its columns, up to a NULL. */
void cli_html_table(const struct cli_html *html, const char *const *columns);
/* False, with a message: something of it could not be written. */
bool cli_html_close(struct cli_html *html);

#endif
