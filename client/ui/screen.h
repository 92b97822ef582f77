/* Full-screen terminal output for a display that is refreshed: `top`. */
#ifndef SELVEDGE_CLIENT_UI_SCREEN_H
#define SELVEDGE_CLIENT_UI_SCREEN_H

#include <termios.h>

#include "common/base.h"

struct cli_screen {
    struct termios before;
};

/* True if stdin and stdout are both terminals. */
bool cli_screen_is_there(void);
/* Enters the alternate screen, with unbuffered keys and no echo. -errno. */
int cli_screen_begin(struct cli_screen *s) _must_use_;
void cli_screen_end(const struct cli_screen *s);
size_t cli_screen_columns(void);
/* Draws `title`, then as many lines and columns of `text` as fit. Both have no control characters
 * except newlines. */
void cli_screen_draw(const char *title, const char *text);
/* As above; the first line of `text` is its head, and `chosen` the number of a row below it, from 0
 * on, which is marked and always visible; -1: none. */
void cli_screen_draw_rows(const char *title, const char *text, int chosen);
/* Asks for a key, shown behind `prompt`, when the screen has ended for a while. */
void cli_screen_pause(const char *prompt);

#endif
