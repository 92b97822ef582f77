/* See series.h. */
#include "common/web/series.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/version.h"

static void note(struct sv_series *s, int r)
{
    if (r < 0 && s->error >= 0)
        s->error = r;
}

void sv_series_head(struct sv_series *s, const char *name, const char *type, const char *help)
{
    if (s->error >= 0)
        note(s, sv_buf_printf(s->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type));
}

void sv_series_value(struct sv_series *s, const char *name, const char *labels, double value)
{
    bool some = *labels;

    if (s->error >= 0)
        note(s, sv_buf_printf(s->out, "%s%s%s%s %.15g\n", name, some ? "{" : "", labels,
                              some ? "}" : "", value));
}

void sv_series_histogram(struct sv_series *s, const char *name, const char *labels,
                         const struct sv_histogram *h)
{
    if (s->error >= 0)
        note(s, sv_histogram_put(h, name, labels, s->out));
}

void sv_series_one(struct sv_series *s, const char *name, const char *type, const char *help,
                   double value)
{
    sv_series_head(s, name, type, help);
    sv_series_value(s, name, "", value);
}

void sv_series_one_histogram(struct sv_series *s, const char *name, const char *help,
                             const struct sv_histogram *h)
{
    sv_series_head(s, name, "histogram", help);
    sv_series_histogram(s, name, "", h);
}

/* ---- Labels ---- */

/* Appends, escaped, and leaves room for the closing quote. */
static size_t put_label(char *ret, size_t n, const char *value)
{
    for (; *value && n + 4 < SV_SERIES_LABELS; value++) {
        if (*value == '"' || *value == '\\' || *value == '\n')
            ret[n++] = '\\';
        ret[n++] = *value == '\n' ? 'n' : *value;
    }
    ret[n++] = '"';
    ret[n] = '\0';
    return n;
}

const char *sv_series_labels(char ret[static SV_SERIES_LABELS], const char *name, ...)
{
    size_t n = 0;
    va_list ap;

    ret[0] = '\0';
    va_start(ap, name);
    for (; name; name = va_arg(ap, const char *)) {
        const char *value = va_arg(ap, const char *);

        if (n + strlen(name) + 8 > SV_SERIES_LABELS)
            break;
        n += (size_t)snprintf(ret + n, SV_SERIES_LABELS - n, "%s%s=\"", n ? "," : "", name);
        n = put_label(ret, n, value ? value : "");
    }
    va_end(ap);
    return ret;
}

/* ---- This process ---- */

/* Field 22 of its stat: when it began, in ticks since the machine did. */
static double start_time_s(void)
{
    double booted = (double)(sv_wall_ms() - sv_now_ms()) / 1000;
    _cleanup_free_ char *text = NULL;
    const char *at;

    if (sv_read_file_at(AT_FDCWD, "/proc/self/stat", 4096, &text, NULL) < 0)
        return 0;
    at = strrchr(text, ')'); /* behind the name, which may have blanks */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? booted + strtod(at, NULL) / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double resident_bytes(void)
{
    _cleanup_free_ char *text = NULL;
    long long pages = 0;

    if (sv_read_file_at(AT_FDCWD, "/proc/self/statm", 4096, &text, NULL) < 0 ||
        sscanf(text, "%*s %lld", &pages) != 1)
        return 0;
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = -3; /* ".", ".." and the directory */

    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir); /* only read, ignoring */
    return SV_MAX(n, 0);
}

void sv_series_process(struct sv_series *s, const char *component)
{
    char labels[SV_SERIES_LABELS];
    struct rusage use = { 0 };
    struct rlimit fds = { 0 };

    (void)getrusage(RUSAGE_SELF, &use);   /* cannot fail, ignoring */
    (void)getrlimit(RLIMIT_NOFILE, &fds); /* as above, ignoring */
    sv_series_head(s, "selvedge_build_info", "gauge", "1; the labels say what runs here.");
    sv_series_value(s, "selvedge_build_info",
                    sv_series_labels(labels, "component", component, "version", SV_VERSION, NULL),
                    1);
    sv_series_one(s, "process_cpu_seconds_total", "counter", "Processor time of the daemon.",
                  (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                      (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
    sv_series_one(s, "process_resident_memory_bytes", "gauge", "Resident memory of the daemon.",
                  resident_bytes());
    sv_series_one(s, "process_open_fds", "gauge", "Open descriptors of the daemon.", open_fds());
    sv_series_one(s, "process_max_fds", "gauge", "Limit of open descriptors of the daemon.",
                  (double)fds.rlim_cur);
    sv_series_one(s, "process_start_time_seconds", "gauge",
                  "Start of the daemon, in seconds since 1970.", start_time_s());
}

/* ---- RPC ---- */

static void put_methods(struct sv_series *s, const struct sv_series_rpc *server)
{
    char labels[SV_SERIES_LABELS];

    for (size_t i = 0; i < server->n_methods; i++)
        if (sv_histogram_count(&server->methods[i].times) > 0)
            sv_series_histogram(s, "selvedge_rpc_seconds",
                                sv_series_labels(labels, "service", server->service, "method",
                                                 server->methods[i].name, NULL),
                                &server->methods[i].times);
}

void sv_series_rpc(struct sv_series *s, const struct sv_series_rpc *servers, size_t n)
{
    char labels[SV_SERIES_LABELS];

    sv_series_head(s, "selvedge_rpc_connections", "gauge", "Open connections of clients.");
    for (size_t i = 0; i < n; i++)
        sv_series_value(s, "selvedge_rpc_connections",
                        sv_series_labels(labels, "service", servers[i].service, NULL),
                        (double)servers[i].connections);
    sv_series_head(s, "selvedge_rpc_open_calls", "gauge", "Calls that are not answered yet.");
    for (size_t i = 0; i < n; i++)
        sv_series_value(s, "selvedge_rpc_open_calls",
                        sv_series_labels(labels, "service", servers[i].service, NULL),
                        (double)servers[i].open_calls);
    sv_series_head(s, "selvedge_rpc_errors_total", "counter",
                   "Calls answered by an error or an exception.");
    for (size_t i = 0; i < n; i++)
        sv_series_value(s, "selvedge_rpc_errors_total",
                        sv_series_labels(labels, "service", servers[i].service, NULL),
                        (double)servers[i].counters->errors);
    sv_series_head(s, "selvedge_rpc_seconds", "histogram",
                   "From the start of a call to its answer, waits for a commit included.");
    for (size_t i = 0; i < n; i++)
        put_methods(s, &servers[i]);
}
