/* libcurl loaded by curl-late.c: each function reaches the library with its arguments, over http:
 * and file:, alone and on fetch.c's event loop; and what is said where there is no libcurl. TLS is
 * in test-logs-webhdfs. */
#define CURL_DISABLE_TYPECHECK
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/http/fetch.h"
#include "common/fd.h"

#define WITHOUT "TEST_CURL_LATE_WITHOUT"
#define ANSWER "HTTP/1.1 200 OK\r\nX-Own: a value\r\nContent-Length: 5\r\n\r\nhello"

struct text {
    char s[64];
    size_t n;
};

static size_t on_data(char *p, size_t size, size_t n, void *userdata)
{
    struct text *t = userdata;

    assert_true(t->n + size * n < sizeof(t->s));
    memcpy(t->s + t->n, p, size * n);
    t->n += size * n;
    t->s[t->n] = '\0';
    return size * n;
}

/* A process that answers one request; its port. */
static pid_t serve(uint16_t *ret_port)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), connection;
    char request[4096];
    pid_t pid;

    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
    *ret_port = ntohs(sa.sin_port);
    pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) {
        close(fd);
        return pid;
    }
    alarm(60);
    connection = accept(fd, NULL, NULL);
    _exit(connection >= 0 && read(connection, request, sizeof(request)) > 0 &&
                  sv_write_all(connection, ANSWER, strlen(ANSWER)) >= 0
              ? 0
              : 1);
}

static void served(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Options that are a pointer, a function, a long and a curl_off_t. */
static void test_options(void **state)
{
    char path[] = "/tmp/test-curl-late.XXXXXX", url[64], *private = NULL, *word;
    struct curl_slist *list;
    struct text got = { .s = "" };
    curl_off_t size = 0;
    int fd = mkstemp(path);
    CURL *easy;

    (void)state;
    assert_true(fd >= 0 && write(fd, "0123456789", 10) == 10);
    close(fd);
    curl_global_cleanup(); /* nothing is loaded yet */
    assert_int_equal(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
    easy = curl_easy_init();
    assert_non_null(easy);
    (void)snprintf(url, sizeof(url), "file://%s", path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &got);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, url);
    assert_int_equal(curl_easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)7), CURLE_OK);
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    assert_string_equal(got.s, "789");
    assert_int_equal(curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &size), CURLE_OK);
    assert_int_equal(size, 3);
    assert_int_equal(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private), CURLE_OK);
    assert_ptr_equal(private, url);
    assert_int_equal(curl_easy_setopt(easy, CURLOPT_MAXREDIRS, -2L), CURLE_BAD_FUNCTION_ARGUMENT);
    curl_easy_reset(easy);
    assert_int_equal(curl_easy_perform(easy), CURLE_URL_MALFORMAT);
    assert_string_equal(curl_easy_strerror(CURLE_OK), "No error");
    word = curl_easy_escape(easy, "a b", 0);
    assert_string_equal(word, "a%20b");
    curl_free(word);
    list = curl_slist_append(curl_slist_append(NULL, "one"), "two");
    assert_string_equal(list->next->data, "two");
    curl_slist_free_all(list);
    curl_easy_cleanup(easy);
    unlink(path);
}

static void test_multi(void **state)
{
    struct text got = { .s = "" };
    struct curl_header *header = NULL;
    int running = 1, left, ready;
    CURLM *multi = curl_multi_init();
    CURL *easy = curl_easy_init();
    const CURLMsg *done;
    uint16_t port;
    pid_t pid = serve(&port);
    char url[64];
    long code = 0;

    (void)state;
    assert_non_null(multi);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/x", port);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &got);
    assert_int_equal(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L), CURLM_OK);
    assert_int_equal(curl_multi_add_handle(multi, easy), CURLM_OK);
    while (running) {
        assert_int_equal(curl_multi_perform(multi, &running), CURLM_OK);
        assert_int_equal(curl_multi_poll(multi, NULL, 0, running ? 1000 : 0, &ready), CURLM_OK);
    }
    done = curl_multi_info_read(multi, &left);
    assert_non_null(done);
    assert_int_equal(done->data.result, CURLE_OK);
    assert_int_equal(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code), CURLE_OK);
    assert_int_equal(code, 200);
    assert_string_equal(got.s, "hello");
    assert_int_equal(curl_easy_header(easy, "x-own", 0, CURLH_HEADER, -1, &header), CURLHE_OK);
    assert_string_equal(header->value, "a value");
    /* its connection is gone */
    assert_int_equal(curl_easy_pause(easy, CURLPAUSE_CONT), CURLE_BAD_FUNCTION_ARGUMENT);
    assert_int_equal(curl_multi_remove_handle(multi, easy), CURLM_OK);
    assert_int_equal(curl_multi_cleanup(multi), CURLM_OK);
    curl_easy_cleanup(easy);
    served(pid);
}

struct fetched {
    sd_event *event;
    int status;
    char body[64], why[256];
};

static void on_fetched(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct fetched *f = userdata;

    f->status = status;
    (void)snprintf(f->body, sizeof(f->body), "%.*s", (int)len, body);
    (void)snprintf(f->why, sizeof(f->why), "%s", why ? why : "");
    sd_event_exit(f->event, 0);
}

static struct fetched fetch(const char *url)
{
    struct cli_fetch *fetch = NULL;
    struct fetched got = { 0 };

    assert_true(sd_event_new(&got.event) >= 0);
    assert_int_equal(cli_fetch_new(got.event, &fetch), 0);
    assert_int_equal(cli_fetch_get(fetch, url, 64, on_fetched, &got), 0);
    assert_true(sd_event_loop(got.event) >= 0);
    cli_fetch_free(fetch);
    sd_event_unref(got.event);
    return got;
}

static void test_event_loop(void **state)
{
    char url[64];
    struct fetched got;
    uint16_t port;
    pid_t pid = serve(&port);

    (void)state;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/x", port);
    got = fetch(url);
    assert_int_equal(got.status, 200);
    assert_string_equal(got.body, "hello");
    served(pid);
    got = fetch(url); /* nobody listens there any more */
    assert_int_equal(got.status, -ECONNREFUSED);
    assert_non_null(strstr(got.why, "connect"));
    got = fetch("file:///etc/hostname");
    assert_int_equal(got.status, -EIO);
}

/* More requests than are under way at the same time; some wait until the others are answered, and
 * some are canceled. */
struct many {
    sd_event *event;
    int answered, canceled, wanted;
};

static void on_many(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct many *m = userdata;

    (void)body;
    (void)len;
    (void)why;
    m->answered += status == -ECONNREFUSED;
    m->canceled += status == -ECANCELED;
    if (m->answered == m->wanted)
        sd_event_exit(m->event, 0);
}

static void test_many(void **state)
{
    struct many m = { .wanted = 1000 };
    struct cli_fetch *fetch = NULL;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);
    char url[64];

    (void)state;
    /* bound, and nobody listens */
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(sa.sin_port));
    assert_true(sd_event_new(&m.event) >= 0);
    assert_int_equal(cli_fetch_new(m.event, &fetch), 0);
    for (int i = 0; i < m.wanted; i++)
        assert_int_equal(cli_fetch_get(fetch, url, 64, on_many, &m), 0);
    assert_true(sd_event_loop(m.event) >= 0);
    cli_fetch_free(fetch);
    sd_event_unref(m.event);
    assert_true(sd_event_new(&m.event) >= 0);
    assert_int_equal(cli_fetch_new(m.event, &fetch), 0);
    for (int i = 0; i < 200; i++)
        assert_int_equal(cli_fetch_post(fetch, url, "X: y", on_many, &m), 0);
    cli_fetch_free(fetch);
    assert_int_equal(m.canceled, 200);
    assert_int_equal(m.answered, 1000);
    sd_event_unref(m.event);
    close(fd);
}

/* In a process whose libcurl is an empty file. */
static int without(void)
{
    sd_event *event = NULL;
    struct cli_fetch *f = NULL;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_FAILED_INIT || sd_event_new(&event) < 0 ||
        cli_fetch_new(event, &f) < 0)
        return 1;
    curl_global_cleanup();
    return cli_fetch_get(f, "http://127.0.0.1:1/", 64, on_fetched, NULL) == -ELIBACC ? 0 : 2;
}

static void test_no_library(void **state)
{
    char place[] = "/tmp/test-curl-late.XXXXXX", path[64], said[1024];
    int out[2], status;
    size_t length = 0;
    ssize_t n;
    pid_t pid;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(place));
    (void)snprintf(path, sizeof(path), "%s/libcurl.so.4", place);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], STDERR_FILENO);
        close(out[0]);
        (void)setenv("LD_LIBRARY_PATH", place, 1);
        (void)setenv(WITHOUT, "1", 1);
        (void)execl("/proc/self/exe", "test-curl-late", (char *)NULL);
        _exit(99);
    }
    close(out[1]);
    while ((n = read(out[0], said + length, sizeof(said) - 1 - length)) > 0)
        length += (size_t)n; /* to its end: a closed pipe would kill the writer */
    said[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    unlink(path);
    rmdir(place);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(said, "selvedge: HTTP needs libcurl: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),    cmocka_unit_test(test_multi),
        cmocka_unit_test(test_event_loop), cmocka_unit_test(test_many),
        cmocka_unit_test(test_no_library),
    };

    if (getenv(WITHOUT))
        _exit(without()); /* what it has not freed does not count */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
