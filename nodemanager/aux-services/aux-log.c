/* See aux-log.h. */
#include "nodemanager/aux-services/aux-log.h"

#include <errno.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

#define READ_MAX 65536

static void report_dropped(struct nm_aux_log *l)
{
    if (l->dropped)
        sv_log_warning("auxiliary service %s: %u more lines are not logged, at most %d in a second "
                       "are",
                       l->service, l->dropped, NM_AUX_LINES_MAX);
    l->dropped = 0;
}

static void write_line(struct nm_aux_log *l)
{
    enum sv_log_level level = SV_LOG_INFO;
    const char *text = l->line;
    int64_t now = sv_now_ms();

    l->line[l->len] = 0;
    if (l->len > 3 && text[0] == '<' && text[1] >= '0' && text[1] <= '7' && text[2] == '>') {
        level = text[1] <= '3' ? SV_LOG_ERR : (enum sv_log_level)(text[1] - '0');
        text += 3;
    }
    if (now - l->second_ms >= 1000) {
        report_dropped(l);
        l->second_ms = now;
        l->written = 0;
    }
    if (l->len > 0 && l->written++ < NM_AUX_LINES_MAX)
        sv_log(level, NULL, "auxiliary service %s: %s", l->service, text);
    else if (l->len > 0)
        l->dropped++;
    l->len = 0;
}

bool nm_aux_log_read(struct nm_aux_log *l, int fd)
{
    char part[READ_MAX];
    ssize_t n = read(fd, part, sizeof(part));

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    for (ssize_t i = 0; i < n; i++)
        if (part[i] == '\n')
            write_line(l);
        else if (l->len < NM_AUX_LINE_MAX)
            l->line[l->len++] = part[i] ? part[i] : ' ';
    return n > 0;
}

void nm_aux_log_finish(struct nm_aux_log *l)
{
    write_line(l);
    report_dropped(l);
}
