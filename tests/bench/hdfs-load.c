/* Our side of `make bench-krb` at HDFS: reads and writes whole files, as a configuration says.
 *
 *   hdfs-load CONF-DIR CREDENTIALS URL LOCAL-FILE
 *
 * Stays resident and takes a command a line: "read N", the URL's file, or "write N", new files
 * beside it with the content of LOCAL-FILE. Answered by a line of JSON: bytes, seconds, processor
 * time of this process. The Java side is tests/bench/java/HdfsLoad.java. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "fs/configured.h"

static struct {
    struct fs *fs;
    const char *path; /* of the url */
    int local;
    uint64_t bytes;
    unsigned written;
} g;

static _Noreturn _printf_(1, 2) void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fprintf(stderr, "hdfs-load: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(1);
}

static int sink(void *userdata, const void *p, size_t n)
{
    (void)userdata, (void)p;
    g.bytes += n;
    return 0;
}

static void read_file(void)
{
    struct fs_stream s = { .sink = sink };
    struct sv_error err = { 0 };
    struct fs_status st;
    uint64_t before = g.bytes;
    int r = fs_status(g.fs, g.path, &st, NULL, &err);

    if (r >= 0)
        r = fs_stream(g.fs, g.path, &st, &s, &err);
    if (r < 0 || g.bytes - before != st.length)
        die("read: %s", err.text);
}

static void write_file(void)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    struct sv_error err = { 0 };
    char path[FS_URL_MAX];
    int r;

    snprintf(path, sizeof(path), "%s-ours%u", g.path, g.written++);
    r = fs_create(g.fs, path, 0644, &f, &err);
    if (r >= 0 && lseek(g.local, 0, SEEK_SET) == 0)
        r = fs_write_from(f, g.local, &err);
    if (r >= 0)
        r = fs_finish(f, &err);
    if (r < 0)
        die("write: %s", err.text);
    g.bytes += (uint64_t)lseek(g.local, 0, SEEK_END);
}

static double own_cpu(void)
{
    struct rusage r;

    (void)getrusage(RUSAGE_SELF, &r); /* cannot fail, ignoring */
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void command(const char *what, uint64_t n)
{
    int64_t start = sv_now_ms();
    double cpu = own_cpu();

    g.bytes = 0;
    for (uint64_t i = 0; i < n; i++)
        if (sv_streq(what, "read"))
            read_file();
        else
            write_file();
    printf("{\"bytes\": %" PRIu64 ", \"seconds\": %.4f, \"cpu\": %.4f}\n", g.bytes,
           (double)(sv_now_ms() - start) / 1000, own_cpu() - cpu);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct sv_error err = { 0 };
    struct fs_url url;
    struct fs_options o = { .url = &url,
                            .path = "/",
                            .root = -1,
                            .program = "selvedge-hdfs-load",
                            .identity = { .user = "alice" } };
    char line[64], what[16];
    uint64_t n;

    if (argc != 5 || !c)
        die("wrong arguments");
    if (sv_conf_load_hadoop(c, argv[1], &err) < 0 || fs_url_parse(argv[3], &url, &err) < 0)
        die("%s", err.text);
    o.identity.credentials = open(argv[2], O_RDONLY | O_CLOEXEC);
    g.local = open(argv[4], O_RDONLY | O_CLOEXEC);
    if (o.identity.credentials < 0 || g.local < 0)
        die("%s, %s: cannot be read", argv[2], argv[4]);
    if (fs_open_configured(c, &o, &g.fs, &err) < 0)
        die("%s", err.text);
    g.path = url.path + 1;
    while (fgets(line, sizeof(line), stdin))
        if (sscanf(line, "%15s %" SCNu64, what, &n) == 2)
            command(what, n);
    fs_close(g.fs);
    return 0;
}
