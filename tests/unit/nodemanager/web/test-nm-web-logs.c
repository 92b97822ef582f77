/* web/nm-web-logs.c over a real socket: hostile contents of a job's log directories, the files that
 * are read and sent, and a disk that hangs. Linked through functions of the test (-Wl,--wrap):
 * readdir, which it counts; sv_open_beneath and pread, which block on a pipe while a disk hangs;
 * and sd_event_add_time_relative, for the deadlines of disks, which pass when the test says so. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/web/log-send.h"
#include "nodemanager/web/nm-web-logs.h"

#define LINKS 1500
#define BIG 300000
#define APP "application_1700000000000_0001"
#define CONTAINER "container_1700000000000_0001_01_000001"

static char top[] = "/tmp/selvedge-logs-XXXXXX", local_dir[64], log_a[64], log_b[64];
static char *local[] = { local_dir, NULL }, *log_dirs[] = { log_a, log_b, NULL };
static struct nm_conf conf = { .local_dirs = local,
                               .log_dirs = log_dirs,
                               .web = { .logs_enabled = true } };
static struct nm_context ctx = { .conf = &conf, .node_id_text = "node:8041" };
static unsigned sends;
static struct nm_web web = { .ctx = &ctx, .sends = &sends };
static struct yarn_container_id id;

/* ---- Functions in the place of others ---- */

static atomic_int entries_read;
static atomic_int hanging;                /* calls that wait */
static int gate[2] = { -1, -1 };          /* while it is open they do */
static _Atomic ino_t hangs_in;            /* opening below this directory does; 0: none */
static atomic_int reads_left = INT32_MAX; /* reads before one hangs */
static atomic_int shrink_fd = -1;         /* cut to nothing before a read */
static sd_event_source *deadlines[64];
static size_t n_deadlines;

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);
int __real_sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode);
int __wrap_sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode);
ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);
int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
                                      void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
                                      void *userdata);

struct dirent *__wrap_readdir(DIR *d)
{
    entries_read++;
    return __real_readdir(d);
}

static void hang(void)
{
    char byte;

    hanging++;
    (void)!read(gate[0], &byte, 1);
    hanging--;
}

int __wrap_sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
    struct stat st;

    if (hangs_in && fstat(dirfd, &st) == 0 && st.st_ino == hangs_in)
        hang();
    return __real_sv_open_beneath(dirfd, path, flags, mode);
}

ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
    if (reads_left-- <= 0)
        hang();
    if (shrink_fd >= 0)
        (void)!ftruncate(shrink_fd, 0);
    return __real_pread(fd, p, n, at);
}

int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
                                      void *userdata)
{
    bool of_disk = usec == NM_LOG_DISK_MS * 1000;
    int r = __real_sd_event_add_time_relative(e, ret, clock, of_disk ? usec * 100 : usec, accuracy,
                                              fn, userdata);

    if (r >= 0 && of_disk) {
        if (n_deadlines == SV_ARRAY_LEN(deadlines)) /* no test has as many at a time */
            sd_event_source_unref(deadlines[--n_deadlines]);
        deadlines[n_deadlines++] = sd_event_source_ref(*ret);
    }
    return r;
}

/* The deadlines of all jobs pass that have not ended. */
static void expire(void)
{
    while (n_deadlines > 0) {
        sd_event_source *s = deadlines[--n_deadlines];

        assert_true(sd_event_source_set_time_relative(s, 0) >= 0);
        sd_event_source_unref(s);
    }
}

/* ---- The server ---- */

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    json_t *names;
    int r;

    (void)userdata;
    if (sv_streq(req->path, "/list"))
        return nm_web_log_list(&web, req, id, ret);
    if (sv_has_prefix(req->path, "/bare/"))
        return nm_web_log_file(&web, id, req->path + strlen("/bare/"), false, req, ret);
    if (sv_has_prefix(req->path, "/framed/"))
        return nm_web_log_file(&web, id, req->path + strlen("/framed/"), true, req, ret);
    if (!sv_streq(req->path, "/names"))
        return 0;
    r = nm_web_log_names(&web, req, id, &names);
    if (r < 0)
        return r;
    ret->status = 200;
    ret->body = json_dumps(names, JSON_COMPACT);
    ret->body_len = strlen(ret->body);
    json_decref(names);
    return 0;
}

static int ask_as(const char *method, const char *path)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(web.http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char request[300];
    int n = snprintf(request, sizeof(request), "%s %s HTTP/1.0\r\n\r\n", method, path);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, (size_t)n, 0), n);
    return fd;
}

static int ask(const char *path)
{
    return ask_as("GET", path);
}

static void run_event(void)
{
    assert_true(sd_event_run(ctx.event, 1000) >= 0);
}

/* The whole answer, until the server closes. */
static const char *answer_of(int fd)
{
    static char text[1 << 20];
    size_t n = 0;

    for (;;) {
        ssize_t got = recv(fd, text + n, sizeof(text) - n - 1, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno == ECONNRESET))
            break;
        n += got > 0 ? (size_t)got : 0;
        run_event();
    }
    text[n] = 0;
    sv_close(fd);
    return text;
}

static const char *get(const char *path)
{
    return answer_of(ask(path));
}

static void has(const char *answer, const char *part)
{
    if (!strstr(answer, part))
        fail_msg("\"%s\" is not in: %.600s", part, answer);
}

static const char *body_of(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");

    assert_non_null(end);
    return end + 4;
}

/* ---- Files ---- */

/* A handle to the container's directory below a log directory. */
static int container_dir(const char *log)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/" APP "/" CONTAINER, log);
    assert_true(sv_mkdir_p(path, 0755) >= 0);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void write_bytes(int dir, const char *name, const char *bytes, size_t n)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static void write_file(int dir, const char *name)
{
    write_bytes(dir, name, "text\n", 5);
}

static int entries_of(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    assert_non_null(d);
    while (__real_readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Below `log` every opening hangs from now on. */
static void hang_disk(const char *log)
{
    struct stat st;

    assert_int_equal(pipe(gate), 0);
    assert_int_equal(stat(log, &st), 0);
    hangs_in = st.st_ino;
}

static void wait_hanging(void)
{
    while (!hanging)
        run_event();
}

static void wait_descriptors(int n)
{
    while (entries_of("/proc/self/fd") != n)
        run_event();
}

/* Every call that hangs returns, and the threads end. */
static void let_go(void)
{
    hangs_in = 0;
    reads_left = INT32_MAX;
    gate[1] = sv_close(gate[1]);
    while (hanging || entries_of("/proc/self/task") > 3) /* with "." and ".." */
        run_event();
    gate[0] = sv_close(gate[0]);
}

static int setup(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top) || sd_event_default(&ctx.event) < 0)
        return -1;
    snprintf(local_dir, sizeof(local_dir), "%s/local", top);
    snprintf(log_a, sizeof(log_a), "%s/a", top);
    snprintf(log_b, sizeof(log_b), "%s/b", top);
    entries_read = 0;
    return yarn_container_id_parse(CONTAINER, &id) < 0 ||
                   nm_dirs_new(ctx.event, &conf, NULL, NULL, &ctx.dirs, &err) < 0 ||
                   nm_log_disks_new(ctx.event, ctx.dirs, &ctx.log_disks) < 0 ||
                   sv_http_new(ctx.event, "127.0.0.1", 0, handler, NULL, &web.http, &err) < 0
               ? -1
               : 0;
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));

    (void)state;
    sv_close(tmp);
    expire();
    web.http = sv_http_free(web.http);
    assert_int_equal(sends, 0);
    ctx.log_disks = nm_log_disks_free(ctx.log_disks);
    ctx.dirs = nm_dirs_free(ctx.dirs);
    ctx.event = sd_event_unref(ctx.event);
    return r;
}

/* ---- Tests ---- */

/* 300,000 links stopped the daemon's only thread for more than a second a request. */
static void entries_are_bounded(void **state)
{
    int dirs[] = { container_dir(log_a), container_dir(log_b) };
    char name[32];

    (void)state;
    for (size_t d = 0; d < 2; d++) {
        for (int i = 0; i < LINKS; i++) {
            snprintf(name, sizeof(name), "%d", i);
            assert_int_equal(symlinkat("/nothing", dirs[d], name), 0);
        }
        close(dirs[d]);
    }
    has(get("/names"), "\r\n\r\n[]");
    assert_int_equal(entries_read, 2000);
    has(get("/list"), "\"entriesRead\":2000,\"cut\":true}");
    assert_int_equal(entries_read, 4000);
}

static void only_files_with_one_name(void **state)
{
    int dir = container_dir(log_b);
    char path[64];

    (void)state;
    write_file(dir, "stdout");
    write_file(dir, "twice");
    write_file(dir, "launch_container.sh");
    write_file(dir, "directory.info");
    assert_int_equal(linkat(dir, "twice", dir, "again", 0), 0);
    assert_int_equal(symlinkat("stdout", dir, "link"), 0);
    assert_int_equal(mkfifoat(dir, "fifo", 0644), 0);
    has(get("/names"), "\r\n\r\n[\"stdout\"]");
    has(get("/framed/stdout"), " 200 ");
    for (char **n = (char *[]){ "twice", "again", "link", "fifo", "nothing", "launch_container.sh",
                                "directory.info", NULL };
         *n; n++) {
        snprintf(path, sizeof(path), "/framed/%s", *n);
        has(get(path), " 404 ");
    }
    has(get("/framed/."), " 400 ");
    has(get("/framed/.."), " 400 ");
    close(dir);
}

static void no_directory(void **state)
{
    (void)state;
    has(get("/list"), " 404 ");
    has(get("/names"), "\r\n\r\n[]");
    assert_int_equal(entries_read, 0);
}

static void ranges_and_frames(void **state)
{
    int dir = container_dir(log_a);
    _cleanup_free_ char *bytes = malloc(BIG + 1);
    const char *a;

    (void)state;
    for (int i = 0; i < BIG; i++)
        bytes[i] = (char)('a' + i % 23);
    bytes[BIG] = 0;
    write_bytes(dir, "big", bytes, BIG);
    write_bytes(dir, "empty", "", 0);
    a = get("/bare/big");
    has(a, "Content-Length: 300000\r\n");
    has(a, "X-Content-Type-Options: nosniff\r\n");
    assert_string_equal(body_of(a), bytes);
    has(get("/bare/big?start=3&end=7"), "\r\n\r\ndefg");
    assert_string_equal(body_of(get("/bare/big?start=-5")), bytes + BIG - 5);
    assert_string_equal(body_of(get("/bare/empty")), "");
    has(get("/bare/big?start=x"), " 400 ");
    a = get("/framed/big?size=2");
    has(a, "Container: " CONTAINER " on node:8041\n");
    has(a, "LogContents:\nab");
    assert_true(a[strlen(a) - 1] == '\n');
    a = answer_of(ask_as("HEAD", "/bare/big"));
    has(a, "Content-Length: 300000\r\n");
    assert_string_equal(body_of(a), "");
    assert_int_equal(sends, 0);
    close(dir);
}

/* A launch that was repeated on another disk left a file of that name. */
static void its_own_directory_first(void **state)
{
    int a = container_dir(log_a), b = container_dir(log_b);
    struct nm_container c = { .ctx = &ctx, .text = CONTAINER, .launch = { .log_dir = 1 } };

    (void)state;
    write_bytes(a, "stdout", "old\n", 4);
    write_bytes(b, "stdout", "new\n", 4);
    HASH_ADD_STR(ctx.containers, text, &c);
    assert_string_equal(body_of(get("/bare/stdout")), "new\n");
    write_bytes(a, "stderr", "only here\n", 10);
    assert_string_equal(body_of(get("/bare/stderr")), "only here\n");
    HASH_DEL(ctx.containers, &c);
    close(a);
    close(b);
}

/* A disk hangs when a file is opened: the others are served meanwhile, those who ask for its files
 * get its name when their time is over, and at once from then on. It comes back: nothing is left.
 */
static void hanging_disk(void **state)
{
    int a = container_dir(log_a), b = container_dir(log_b), waiting, descriptors;

    (void)state;
    write_file(a, "stdout");
    write_file(b, "stderr");
    descriptors = entries_of("/proc/self/fd");
    has(get("/bare/stdout"), "text\n");
    hang_disk(log_a);
    waiting = ask("/framed/stdout");
    wait_hanging();
    has(get("/bare/stderr"), "\r\n\r\ntext\n");
    has(get("/none"), " 404 ");
    expire();
    has(answer_of(waiting), " 503 ");
    has(get("/framed/stdout"), "does not answer: its disk hangs");
    has(get("/bare/stderr"), "\r\n\r\ntext\n");
    has(get("/names"), "[\"stderr\"]");
    has(get("/list"), "\"cut\":false,\"unread\":\"log directory /tmp/selvedge-logs-");
    assert_int_equal(hanging, 1);
    let_go();
    while (!strstr(get("/framed/stdout"), "LogContents:\ntext\n"))
        run_event();
    wait_descriptors(descriptors);
    close(a);
    close(b);
}

/* A client leaves while the disk of its log hangs. */
static void client_leaves(void **state)
{
    int dir = container_dir(log_a), descriptors, client;

    (void)state;
    write_file(dir, "stdout");
    descriptors = entries_of("/proc/self/fd");
    hang_disk(log_a);
    client = ask("/bare/stdout");
    wait_hanging(); /* before that the server may forget the request unread */
    sv_close(client);
    let_go();
    has(get("/bare/stdout"), "text\n");
    wait_descriptors(descriptors);
    close(dir);
}

/* The server ends while the disk hangs. */
static void end_while_it_hangs(void **state)
{
    int dir = container_dir(log_a), client;
    struct sv_error err;

    (void)state;
    write_file(dir, "stdout");
    hang_disk(log_a);
    client = ask("/bare/stdout");
    wait_hanging();
    web.http = sv_http_free(web.http);
    sv_close(client);
    ctx.log_disks = nm_log_disks_free(ctx.log_disks);
    let_go();
    assert_int_equal(nm_log_disks_new(ctx.event, ctx.dirs, &ctx.log_disks), 0);
    assert_int_equal(sv_http_new(ctx.event, "127.0.0.1", 0, handler, NULL, &web.http, &err), 0);
    close(dir);
}

/* The disk hangs, or the file shrinks, when a part has been sent: the client sees it is short. */
static void broken_off(void **state)
{
    int dir = container_dir(log_a), client, descriptors;
    _cleanup_free_ char *bytes = calloc(1, BIG);
    const char *a;

    (void)state;
    memset(bytes, 'x', BIG);
    write_bytes(dir, "big", bytes, BIG);
    descriptors = entries_of("/proc/self/fd");
    assert_int_equal(pipe(gate), 0);
    reads_left = 2;
    client = ask("/bare/big");
    wait_hanging();
    expire();
    a = answer_of(client);
    has(a, "Content-Length: 300000\r\n");
    assert_in_range(strlen(body_of(a)), 1, BIG - 1);
    let_go();
    assert_int_equal(sends, 0);
    shrink_fd = openat(dir, "big", O_WRONLY | O_CLOEXEC);
    a = get("/bare/big");
    shrink_fd = sv_close(shrink_fd);
    assert_int_equal(strlen(body_of(a)), 0);
    wait_descriptors(descriptors);
    close(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(only_files_with_one_name, setup, teardown),
        cmocka_unit_test_setup_teardown(no_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges_and_frames, setup, teardown),
        cmocka_unit_test_setup_teardown(its_own_directory_first, setup, teardown),
        cmocka_unit_test_setup_teardown(hanging_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(client_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(end_while_it_hangs, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_off, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
