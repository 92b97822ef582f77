/* Logging to the journal or to stderr. Hostile: names and texts of peers, users and archives in
 * messages, so all but printable ASCII is escaped. */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/str.h"

#define MESSAGE_MAX 4096

static const char *const level_names[] = {
    [SV_LOG_ERR] = "err",   [SV_LOG_WARNING] = "warning", [SV_LOG_NOTICE] = "notice",
    [SV_LOG_INFO] = "info", [SV_LOG_DEBUG] = "debug",
};

static const char *program = "selvedge";
static enum sv_log_level max_level = SV_LOG_INFO;
static bool to_journal;

/* systemd sets JOURNAL_STREAM=device:inode of the stream it passed; if stderr was redirected since,
 * the numbers differ and plain lines are written. */
static bool stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char now[64];
    struct stat st;

    if (!stream || fstat(STDERR_FILENO, &st) < 0)
        return false;
    (void)snprintf(now, sizeof(now), "%llu:%llu", (unsigned long long)st.st_dev,
                   (unsigned long long)st.st_ino);
    return strcmp(stream, now) == 0;
}

int sv_log_level_of(const char *name, enum sv_log_level *ret)
{
    for (int i = SV_LOG_ERR; i <= SV_LOG_DEBUG; i++)
        if (strcmp(name, level_names[i]) == 0) {
            *ret = (enum sv_log_level)i;
            return 0;
        }
    return -EINVAL;
}

const char *sv_log_level_word(enum sv_log_level level)
{
    return level_names[level];
}

const char *sv_log_program(void)
{
    return program;
}

bool sv_log_to_journal(void)
{
    return to_journal;
}

void sv_log_set_journal(bool on)
{
    to_journal = on;
}

void sv_log_init(const char *name)
{
    const char *wanted = getenv("SELVEDGE_LOG_LEVEL");

    program = name;
    to_journal = stderr_is_journal();
    if (wanted && sv_log_level_of(wanted, &max_level) < 0)
        sv_log_warning("SELVEDGE_LOG_LEVEL: \"%s\" is not a level: use err, warning, notice, info "
                       "or debug; logging at info",
                       wanted);
}

void sv_log_set_level(enum sv_log_level level)
{
    max_level = level;
}

enum sv_log_level sv_log_get_level(void)
{
    return max_level;
}

/* "nodemanager/launch.c" → "nodemanager"; a file without a folder is its own component. */
static int component_len(const char *file)
{
    return (int)strcspn(file, "/.");
}

static void write_line(enum sv_log_level level, const char *object, const char *file,
                       const char *message)
{
    int64_t wall = sv_wall_ms();
    time_t sec = (time_t)(wall / 1000);
    char stamp[32], line[MESSAGE_MAX + 512];
    struct tm tm;
    int n;

    if (object && strstr(message, object)) /* the message names it already */
        object = NULL;
    if (!gmtime_r(&sec, &tm) || !strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm))
        stamp[0] = '\0';
    n = snprintf(line, sizeof(line), "%s.%03dZ %s %.*s: %s%s%s\n", stamp, (int)(wall % 1000),
                 level_names[level], component_len(file), file, object ? object : "",
                 object ? ": " : "", message);
    if (n < 0)
        return;
    if ((size_t)n >= sizeof(line)) {
        n = (int)sizeof(line) - 1;
        line[n - 1] = '\n';
    }
    /* one write per line, so that lines of several processes on one pipe do not mix */
    while (write(STDERR_FILENO, line, (size_t)n) < 0 && errno == EINTR)
        ;
}

static void write_journal(enum sv_log_level level, const char *object, const char *file, int line,
                          const char *func, const char *message)
{
    char message_f[MESSAGE_MAX + 16], priority_f[16], object_f[256], ident_f[128];
    char file_f[256], line_f[32];
    struct iovec iov[5];
    int n = 0;

    (void)snprintf(message_f, sizeof(message_f), "MESSAGE=%s", message);
    (void)snprintf(priority_f, sizeof(priority_f), "PRIORITY=%d", level);
    (void)snprintf(ident_f, sizeof(ident_f), "SYSLOG_IDENTIFIER=%s", program);
    (void)snprintf(file_f, sizeof(file_f), "CODE_FILE=%s", file);
    (void)snprintf(line_f, sizeof(line_f), "CODE_LINE=%d", line);
    iov[n++] = (struct iovec){ message_f, strlen(message_f) };
    iov[n++] = (struct iovec){ priority_f, strlen(priority_f) };
    iov[n++] = (struct iovec){ ident_f, strlen(ident_f) };
    if (object) {
        (void)snprintf(object_f, sizeof(object_f), "%s=%s",
                       sv_has_prefix(object, "application_") ? "APPLICATION_ID" : "CONTAINER_ID",
                       object);
        iov[n++] = (struct iovec){ object_f, strlen(object_f) };
    }
    if (sd_journal_sendv_with_location(file_f, line_f, func, iov, n) < 0)
        write_line(level, object, file, message);
}

/* Escapes all but tabs, which separate the fields of audit lines (whose values are escaped
 * before). */
static void escape_fields(char *dst, size_t size, char *src)
{
    char *tab;

    for (; (tab = strchr(src, '\t')); src = tab + 1) {
        size_t n;

        *tab = '\0';
        sv_escape(dst, size, src);
        n = strlen(dst);
        if (n + 2 > size)
            return;
        dst[n] = '\t';
        dst += n + 1;
        size -= n + 1;
    }
    sv_escape(dst, size, src);
}

void sv_log_full(enum sv_log_level level, const char *object, const char *file, int line,
                 const char *func, const char *fmt, ...)
{
    char raw[MESSAGE_MAX], message[MESSAGE_MAX], safe_object[128];
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(raw, sizeof(raw), fmt, ap);
    va_end(ap);
    escape_fields(message, sizeof(message), raw);
    if (object) {
        sv_escape(safe_object, sizeof(safe_object), object);
        object = safe_object;
    }
    if (to_journal)
        write_journal(level, object, file, line, func, message);
    else
        write_line(level, object, file, message);
    errno = saved;
}
