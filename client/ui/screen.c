/* See screen.h. */
#include "client/ui/screen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool cli_screen_is_there(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

int cli_screen_begin(struct cli_screen *s)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &s->before) < 0)
        return -errno;
    raw = s->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw); /* on failure keys need Enter, ignoring */
    fputs("\033[?1049h", stdout);
    return 0;
}

void cli_screen_end(const struct cli_screen *s)
{
    fputs("\033[?1049l", stdout);
    (void)fflush(stdout);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &s->before); /* best effort, ignoring */
}

static struct winsize size_of_screen(void)
{
    struct winsize w;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_row == 0 || w.ws_col == 0)
        w = (struct winsize){ .ws_row = 24, .ws_col = 80 }; /* unknown size */
    return w;
}

size_t cli_screen_columns(void)
{
    return size_of_screen().ws_col;
}

void cli_screen_draw(const char *title, const char *text)
{
    struct winsize w = size_of_screen();

    printf("\033[H\033[J%.*s\n", w.ws_col, title);
    for (const char *line = text; *line && w.ws_row > 2; w.ws_row--) {
        size_t n = strcspn(line, "\n");

        printf("%.*s\n", (int)SV_MIN(n, (size_t)w.ws_col), line);
        line += n + (line[n] == '\n');
    }
    (void)fflush(stdout);
}
