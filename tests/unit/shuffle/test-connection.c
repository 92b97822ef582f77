/* Tests shuffle/connection.c: how many maps and indexes one turn of a connection takes. The map
 * outputs are stubs that count. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "shuffle/connection.h"
#include "shuffle/url-hash.h"

#define TOKEN "\x02id\x06secret\x0dmapreduce.job\x00"
#define COLD 20

static struct shf_service service;
static struct shf_connection *connection;
static int far = -1;
static bool cached;
static unsigned found, read_indexes, missing; /* missing: the number of a map without output */

int shf_output_find(const struct shf_local_dirs *dirs, struct shf_index_cache *cache,
                    const struct shf_job *job, const char *map, uint32_t reduce, bool *may_read,
                    struct shf_output *ret, int *ret_fd, struct sv_error *err)
{
    (void)dirs, (void)cache, (void)reduce;
    assert_string_equal(job->id, "job_1_0002");
    if (!cached && !*may_read)
        return -EAGAIN;
    read_indexes += !cached;
    *may_read = cached;
    if (missing && strcmp(strrchr(map, '_'), "_2") == 0)
        return sv_error_set(err, -ENOENT, "%s: no output in any local directory", map);
    found++;
    *ret = (struct shf_output){ .segment = { 0, 1, 1 } };
    *ret_fd = memfd_create("file.out", MFD_CLOEXEC);
    assert_int_equal(write(*ret_fd, "x", 1), 1);
    return 0;
}

int shf_output_open(const struct shf_local_dirs *dirs, const struct shf_job *job, const char *map,
                    const struct shf_output *o, int *ret_fd, struct sv_error *err)
{
    (void)dirs, (void)job, (void)map, (void)o, (void)err;
    *ret_fd = memfd_create("file.out", MFD_CLOEXEC);
    return write(*ret_fd, "x", 1) == 1 ? 0 : -EIO;
}

static int set_up(void **state)
{
    int s[2];

    (void)state;
    service =
        (struct shf_service){ .conf = { .keep_alive_s = 5, .session_files = 3, .sendfile = true },
                              .jobs = shf_jobs_new(),
                              .port = 13562 };
    found = read_indexes = missing = 0;
    cached = false;
    if (shf_jobs_add(service.jobs, "application_1_0002",
                     "usercache/alice/appcache/application_1_0002", 1000, TOKEN, sizeof(TOKEN) - 1,
                     NULL) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, s) < 0)
        return -1;
    far = s[0];
    connection = shf_connection_new(&service, s[1], false);
    return connection ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    connection = shf_connection_free(connection);
    far = sv_close(far);
    service.jobs = shf_jobs_free(service.jobs);
    return 0;
}

static void ask(unsigned maps)
{
    char uri[SHF_REQUEST_MAX], text[SHF_REQUEST_MAX + 500], hash[SHF_HASH_TEXT + 1];
    int n = snprintf(uri, sizeof(uri), "/mapOutput?job=job_1_0002&reduce=0&map=");

    for (unsigned i = 0; i < maps; i++)
        n += snprintf(uri + n, sizeof(uri) - (size_t)n, "%sm_%u", i ? "," : "", i);
    n = snprintf(text, sizeof(text), "13562%s", uri);
    assert_int_equal(shf_hash("secret", 6, text, (size_t)n, hash), 0);
    n = snprintf(text, sizeof(text),
                 "GET %s HTTP/1.1\r\nHost: a:13562\r\nname: mapreduce\r\nversion: 1.0.0\r\n"
                 "UrlHash: %s\r\n\r\n",
                 uri, hash);
    assert_int_equal(send(far, text, (size_t)n, 0), n);
}

static uint32_t run(void)
{
    return shf_connection_run(connection, NULL);
}

static void answered(const char *line)
{
    char text[65536];
    ssize_t n = recv(far, text, sizeof(text) - 1, 0);

    assert_true(n > 0);
    text[n] = 0;
    if (!strstr(text, line))
        fail_msg("%s: not %s", text, line);
}

static void test_one_index_a_turn(void **state)
{
    (void)state;
    ask(COLD);
    assert_int_equal(run(), SHF_LOOKUP);
    assert_string_equal(shf_connection_job(connection), "job_1_0002");
    assert_int_equal(read_indexes, 0); /* not before its job's turn */
    for (unsigned i = 1; i <= COLD; i++) {
        assert_int_equal(run(), i < COLD ? SHF_LOOKUP : EPOLLOUT);
        assert_int_equal(read_indexes, i);
    }
    (void)run();
    answered("HTTP/1.1 200 OK");
    assert_int_equal(service.outputs_ok, COLD);
}

static void test_cached_indexes(void **state)
{
    unsigned turns = 0;

    (void)state;
    cached = true;
    ask(20); /* as many as Hadoop's reducers ask for: no turn of its own */
    assert_true(run() != SHF_LOOKUP);
    answered("HTTP/1.1 200 OK");
    (void)tear_down(NULL);
    assert_int_equal(set_up(NULL), 0);
    cached = true;
    ask(1000);
    while (run() == SHF_LOOKUP) {
        turns++;
        assert_true(found <= turns * SHF_MAPS_A_TURN);
    }
    assert_int_equal(found, 1000);
    assert_int_equal(turns, 1000 / SHF_MAPS_A_TURN);
}

/* Found out later than in the first turn, the answer is a refusal of the whole request. */
static void test_missing(void **state)
{
    (void)state;
    missing = 2;
    ask(5);
    while (run() == SHF_LOOKUP)
        ;
    assert_int_equal(read_indexes, 3);
    (void)run();
    answered("HTTP/1.1 500");
    assert_int_equal(service.outputs_failed, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_one_index_a_turn), T(test_cached_indexes),
                                        T(test_missing) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
