/* A terminal for a display that is drawn anew again and again: `top`. */
#ifndef SELVEDGE_CLIENT_UI_SCREEN_H
#define SELVEDGE_CLIENT_UI_SCREEN_H

#include <termios.h>

#include "common/base.h"

struct cli_screen {
    struct termios before;
};

/* stdin and stdout are both terminals. */
bool cli_screen_is_there(void);
/* Keys without Enter and without echo, and the alternate screen. -errno. */
int cli_screen_begin(struct cli_screen *s) _must_use_;
void cli_screen_end(const struct cli_screen *s);
/* `title`, then as many lines and columns of `text` as the terminal has. Both have no control
 * characters but line ends. */
void cli_screen_draw(const char *title, const char *text);

#endif
