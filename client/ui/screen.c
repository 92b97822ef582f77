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

/* Keys one by one, without echo. */
static int keys_begin(struct cli_screen *s)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &s->before) < 0)
        return -errno;
    raw = s->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw); /* on failure keys need Enter, ignoring */
    return 0;
}

int cli_screen_begin(struct cli_screen *s)
{
    int r = keys_begin(s);

    if (r >= 0)
        fputs("\033[?1049h", stdout);
    return r;
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

static const char *next_line(const char *line)
{
    size_t n = strcspn(line, "\n");

    return line + n + (line[n] == '\n');
}

void cli_screen_draw_rows(const char *title, const char *text, int chosen)
{
    struct winsize w = size_of_screen();
    int first = 0, row = -1; /* row -1 is the head */

    if (chosen >= 0)
        first = SV_MAX(0, chosen - (w.ws_row - 4)); /* below title and head, above the last line */
    printf("\033[H\033[J%.*s\n", w.ws_col, title);
    for (const char *line = text; *line && w.ws_row > 2; line = next_line(line), row++) {
        int n = (int)SV_MIN(strcspn(line, "\n"), (size_t)w.ws_col);

        if (row >= 0 && row < first)
            continue;
        if (row == chosen && row >= 0)
            printf("\033[7m%-*.*s\033[0m\n", w.ws_col, n, line);
        else
            printf("%.*s\n", n, line);
        w.ws_row--;
    }
    (void)fflush(stdout);
}

void cli_screen_draw(const char *title, const char *text)
{
    cli_screen_draw_rows(title, text, -1);
}

void cli_screen_pause(const char *prompt)
{
    struct cli_screen s;
    char key;
    int r = keys_begin(&s);

    printf("%s", prompt);
    (void)fflush(stdout);
    while (r >= 0 && read(STDIN_FILENO, &key, 1) < 0 && errno == EINTR)
        ;
    fputs("\r\033[K", stdout);
    if (r >= 0)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &s.before); /* best effort, ignoring */
}
