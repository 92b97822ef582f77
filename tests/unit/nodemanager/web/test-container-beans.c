/* web/container-beans.c over a real socket: a bean a container behind the node's, in turns, chosen
 * by query, and only of containers that the caller may see. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/web/jmx.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/container-beans.h"

#define BEAN "Hadoop:service=NodeManager,name=ContainerResource_"
#define N 200 /* more than one turn writes */

static struct nm_conf conf;
static struct nm_context ctx = { .conf = &conf };
static struct nm_app app;
static struct nm_container containers[N];
static unsigned lists;
static struct nm_web web = { .ctx = &ctx, .lists = &lists };
static struct sv_http *http;

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    json_t *node = json_array();
    int r;

    (void)userdata;
    assert_int_equal(
        json_array_append_new(node, sv_jmx_bean("NodeManager", "JvmMetrics", "JvmMetrics", "jvm")),
        0);
    return nm_container_beans(&web, node, req, ret, &r) ? r : sv_jmx_answer(req, node, ret);
}

static void add(struct nm_container *c, int i)
{
    *c = (struct nm_container){
        .ctx = &ctx,
        .app = &app,
        .state = NM_CONTAINER_RUNNING,
        .resource = { .memory_mb = 1000 + i, .vcores = 2 },
        .start_ms = 5000,
        .localize_ms = 300,
        .launch_ms = 5350,
        .launch.pid = 77,
        .usage = { .last.memory_current = 12 << 20, .peak_bytes = 34 << 20, .cpu_cores = 1.5f }
    };
    (void)snprintf(c->text, sizeof(c->text), "container_1_0001_01_%06d", i);
    HASH_ADD_STR(ctx.containers, text, c);
}

static int set_up(void **state)
{
    struct sv_error err;

    (void)state;
    conf.vmem_ratio = 2;
    conf.web.container_metrics = true;
    conf.web.auth.acl_enabled = false;
    for (int i = 0; i < N; i++)
        add(&containers[i], i);
    return sd_event_new(&ctx.event) < 0
               ? -1
               : sv_http_new(ctx.event, "127.0.0.1", 0, handler, NULL, &http, &err);
}

static int tear_down(void **state)
{
    (void)state;
    HASH_CLEAR(hh, ctx.containers);
    http = sv_http_free(http);
    assert_int_equal(lists, 0);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

/* The beans of an answer, which the caller frees; NULL: another status. */
static json_t *ask(const char *query)
{
    static char text[1 << 20];
    char request[512];
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = 0;
    ssize_t got;
    json_t *all, *beans;

    (void)snprintf(request, sizeof(request), "GET /jmx%s HTTP/1.0\r\n\r\n", query);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    while ((got = recv(fd, text + n, sizeof(text) - n - 1, MSG_DONTWAIT)) != 0) {
        n += got > 0 ? (size_t)got : 0;
        assert_true(sd_event_run(ctx.event, 100000) >= 0);
    }
    text[n] = 0;
    sv_close(fd);
    if (!strstr(text, " 200 "))
        return NULL;
    assert_non_null(strstr(text, "\r\n\r\n"));
    all = json_loads(strstr(text, "\r\n\r\n") + 4, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(all);
    beans = json_incref(json_object_get(all, "beans"));
    json_decref(all);
    return beans;
}

static void expect(const char *query, size_t n)
{
    json_t *beans = ask(query);

    if (json_array_size(beans) != n)
        fail_msg("%s: %zu beans, not %zu", query, json_array_size(beans), n);
    json_decref(beans);
}

static double number(const json_t *bean, const char *key)
{
    return json_number_value(json_object_get(bean, key));
}

static void one_bean(void **state)
{
    json_t *b = nm_container_bean(&ctx, "container_1_0001_01_000003");

    (void)state;
    assert_non_null(b);
    assert_string_equal(json_string_value(json_object_get(b, "name")),
                        BEAN "container_1_0001_01_000003");
    assert_string_equal(json_string_value(json_object_get(b, "tag.ContainerPid")), "77");
    assert_true(number(b, "pMemLimitMBs") == 1003);
    assert_true(number(b, "vMemLimitMBs") == 2006);
    assert_true(number(b, "vCoreLimit") == 2);
    assert_true(number(b, "PMemUsageMBsAvgMBs") == 12);
    assert_true(number(b, "PMemUsageMBsMaxMBs") == 34);
    assert_true(number(b, "PCpuUsagePercentAvgPercents") == 150);
    assert_true(number(b, "MilliVcoreUsageAvgMilliVcores") == 1500);
    assert_true(number(b, "launchDurationMs") == 50);
    assert_true(number(b, "localizationDurationMs") == 300);
    json_decref(b);
    containers[3].launch_ms = 0;
    assert_null(nm_container_bean(&ctx, "container_1_0001_01_000003"));
    assert_null(nm_container_bean(&ctx, "container_1_0001_01_999999"));
}

static void lists_of_beans(void **state)
{
    json_t *beans = ask("");

    (void)state;
    assert_int_equal(json_array_size(beans), N + 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(beans, 0), "name")),
                        "Hadoop:service=NodeManager,name=JvmMetrics");
    json_decref(beans);
    expect("?qry=Hadoop:*", N + 1);
    expect("?qry=*name=ContainerResource_*", N);
    expect("?qry=*000007", 1);
    expect("?qry=*JvmMetrics", 1);
    expect("?qry=nothing", 0);
    beans = ask("?get=" BEAN "container_1_0001_01_000009::vCoreLimit");
    assert_int_equal(json_array_size(beans), 1);
    assert_true(number(json_array_get(beans, 0), "vCoreLimit") == 2);
    assert_null(json_object_get(json_array_get(beans, 0), "pMemLimitMBs"));
    json_decref(beans);
    assert_null(ask("?get=x"));
}

/* Off, or for a caller whom the server does not know, only the node's beans are left. */
static void not_for_everybody(void **state)
{
    (void)state;
    conf.web.container_metrics = false;
    expect("", 1);
    conf.web.container_metrics = true;
    conf.web.auth.acl_enabled = true;
    conf.web.auth.auth_type = "simple";
    conf.web.auth.admin_acl = "";
    conf.web.auth.daemon_user = (char *)"yarn";
    expect("", 1);
    expect("?user.name=yarn", N + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_bean, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_of_beans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_for_everybody, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("container-beans", tests, NULL, NULL);
}
