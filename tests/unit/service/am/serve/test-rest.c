/* Tests service/am/serve/rest.c: the routes of Slider's REST API v2 over a connection, who may,
 * what a change does, how a refusal looks. */
#include "service/am/serve/rest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/str.h"
#include "tests/unit/service/am-fixture.h"

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"components\":[{\"name\":\"db\","                       \
    "\"number_of_containers\":1,\"launch_command\":\"db\",\"resource\":{\"cpus\":1,"               \
    "\"memory\":\"64\"}},{\"name\":\"web\",\"number_of_containers\":2,\"launch_command\":\"web\"," \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}"
#define BASE "/ws/v1/slider/application"
#define RESOURCES(web)                                                                             \
    "{\"schema\":\"http://example.org/specification/v2.0.0\",\"metadata\":{},\"global\":{},"       \
    "\"components\":{\"db\":{\"yarn.component.instances\":\"1\"},"                                 \
    "\"web\":{\"yarn.component.instances\":\"" web "\"}}}"

static struct {
    struct am_fixture f;
    sd_event *event;
    struct svc_status *status;
    struct svc_rest *rest;
    char log[512]; /* "flex(web=3) stop() …" */
    int result;    /* of a change */
    char answer[1 << 16];
} w;

/* ---- A master that notes what it is asked ---- */

static int note(struct sv_error *err, const char *text)
{
    size_t n = strlen(w.log);

    (void)snprintf(w.log + n, sizeof(w.log) - n, "%s ", text);
    return w.result < 0 ? sv_error_set(err, w.result, "not now") : 0;
}

static int on_flex(void *m, const struct svc_flex *list, size_t n, bool store, struct sv_error *err)
{
    char text[200];

    (void)m;
    assert_int_equal(n, 2);
    assert_true(store);
    (void)snprintf(text, sizeof(text), "flex(%s=%lld,%s=%lld)", list[0].component,
                   (long long)list[0].count, list[1].component, (long long)list[1].count);
    return note(err, text);
}

static int on_stop(void *m, const char *diagnostics, struct sv_error *err)
{
    char text[200];

    (void)m;
    (void)snprintf(text, sizeof(text), "stop(%s)", diagnostics);
    return note(err, text);
}

static int on_kill(void *m, struct yarn_container_id id, struct sv_error *err)
{
    char text[200], name[YARN_ID_TEXT_MAX];

    (void)m;
    (void)snprintf(text, sizeof(text), "kill(%s)", yarn_container_id_text(id, name));
    return note(err, text);
}

static bool on_may(void *m, const char *user, enum svc_access access)
{
    (void)m;
    return strcmp(user, "alice") == 0 || (strcmp(user, "viewer") == 0 && access == SVC_VIEW);
}

static const struct svc_control_ops ops = {
    .flex = on_flex, .stop = on_stop, .kill = on_kill, .may = on_may
};

static void on_view(void *userdata, struct svc_slider_view *ret)
{
    (void)userdata;
    *ret = (struct svc_slider_view){ w.f.engine, &w.f.containers, w.f.plan->stored,
                                     w.f.plan->resolved, "alice" };
}

static void on_status(int status, void *userdata)
{
    (void)status;
    (void)userdata;
    svc_rest_status_done(w.rest);
}

static int set_up(void **state)
{
    struct svc_rest_config cfg = { .host = "127.0.0.1",
                                   .control = { &ops, NULL },
                                   .view = on_view };
    struct sv_error err = { 0 };

    (void)state;
    memset(&w, 0, sizeof(w));
    am_fixture_new(&w.f, SHOP);
    assert_int_equal(sd_event_new(&w.event), 0);
    assert_int_equal(
        svc_status_new(w.event, w.f.engine, &w.f.containers, on_status, NULL, &w.status), 0);
    assert_int_equal(svc_status_definition(w.status, w.f.plan->stored), 0);
    cfg.status = w.status;
    if (svc_rest_new(w.event, &cfg, &w.rest, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    svc_rest_free(w.rest);
    svc_status_free(w.status);
    sd_event_unref(w.event);
    am_fixture_free(&w.f);
    return 0;
}

/* ---- A client ---- */

static int connect_port(void)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                    .sin_port = htons(svc_rest_port(w.rest)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int send_request(const char *method, const char *uri, const char *headers, const char *body)
{
    char text[8192];
    int fd = connect_port();
    int n = snprintf(text, sizeof(text),
                     "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%sContent-Length: %zu\r\n"
                     "\r\n%s",
                     method, uri, headers, strlen(body), body);

    assert_true(n > 0 && n < (int)sizeof(text));
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    return fd;
}

/* Reads to the end; the status. */
static int answered(int fd)
{
    size_t n = 0;
    int64_t status;
    ssize_t k;
    char digits[4] = "";

    for (;;) {
        k = recv(fd, w.answer + n, sizeof(w.answer) - 1 - n, MSG_DONTWAIT);
        if (k == 0 || (k < 0 && errno != EAGAIN))
            break;
        if (k > 0)
            n += (size_t)k;
        else
            assert_true(sd_event_run(w.event, 10000000) >= 0);
    }
    close(fd);
    assert_true(n > 12);
    w.answer[n] = '\0';
    memcpy(digits, w.answer + 9, 3);
    assert_int_equal(sv_parse_i64(digits, 100, 599, &status), 0);
    return (int)status;
}

static int ask_as(const char *user, const char *method, const char *path, const char *body)
{
    char uri[512];

    w.log[0] = '\0';
    (void)snprintf(uri, sizeof(uri), "%s?user.name=%s", path, user);
    return answered(send_request(method, uri, "", body));
}

static int ask(const char *method, const char *path, const char *body)
{
    return ask_as("alice", method, path, body);
}

static const char *body(void)
{
    const char *at = strstr(w.answer, "\r\n\r\n");

    assert_non_null(at);
    return at + 4;
}

static json_t *json(void)
{
    json_error_t why;
    json_t *tree = json_loads(body(), 0, &why);

    if (!tree)
        fail_msg("%s: %s", why.text, body());
    return tree;
}

/* The id of the first container of a component. */
static void first_container(const char *component, char ret[YARN_ID_TEXT_MAX])
{
    char path[256];
    json_t *list;

    (void)snprintf(path, sizeof(path), BASE "/live/components/%s/containers", component);
    assert_int_equal(ask("GET", path, ""), 200);
    list = json();
    (void)snprintf(ret, YARN_ID_TEXT_MAX, "%s", json_string_value(json_array_get(list, 0)));
    json_decref(list);
}

/* ---- Tests ---- */

static const char *const readable[] = {
    "/",
    "/status",
    "/metrics",
    BASE,
    BASE "/",
    BASE "/model",
    BASE "/model/internal",
    BASE "/model/desired",
    BASE "/model/desired/appconf",
    BASE "/model/desired/resources",
    BASE "/model/resolved",
    BASE "/model/resolved/appconf",
    BASE "/model/resolved/resources",
    BASE "/live",
    BASE "/live/resources",
    BASE "/live/containers",
    BASE "/live/components",
    BASE "/live/components/web",
    BASE "/live/components/web/containers",
    BASE "/live/components/web/instances/0",
    BASE "/live/nodes",
    BASE "/live/nodes/node1",
    BASE "/live/liveness",
    BASE "/live/liveness/web",
    BASE "/live/statistics",
    BASE "/live/diagnostics",
    BASE "/action/ping",
};

/* Each answers, without being kept by caches, changes nothing, and takes no other method. */
static void readers(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(readable); i++) {
        if (ask("GET", readable[i], "") != 200)
            fail_msg("GET %s: %s", readable[i], w.answer);
        assert_non_null(strstr(w.answer, "\r\nCache-Control: no-cache, no-store"));
        assert_true(*body());
        assert_int_equal(ask("HEAD", readable[i], ""), 200);
        assert_string_equal(w.log, "");
        if (!strstr(readable[i], "/ping") && !strstr(readable[i], "desired/resources"))
            for (size_t k = 0; k < 3; k++)
                assert_int_equal(
                    ask((const char *const[]){ "PUT", "POST", "DELETE" }[k], readable[i], "{}"),
                    405);
        assert_string_equal(w.log, "");
    }
}

static void only_those_who_may(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } changes[] = {
        { "PUT", BASE "/model/desired/resources", RESOURCES("3") },
        { "POST", BASE "/action/stop", "" },
        { "DELETE", BASE "/live/containers/container_1_0001_01_000001", "" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(readable); i++) {
        assert_int_equal(ask_as("viewer", "GET", readable[i], ""), 200);
        assert_int_equal(ask_as("mallory", "GET", readable[i], ""), 403);
        assert_null(strstr(body(), "node1"));
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(changes); i++) {
        assert_int_equal(ask_as("viewer", changes[i].method, changes[i].path, changes[i].body),
                         403);
        assert_int_equal(ask_as("mallory", changes[i].method, changes[i].path, changes[i].body),
                         403);
        assert_int_equal(
            answered(send_request(changes[i].method, changes[i].path, "", changes[i].body)), 403);
        assert_string_equal(w.log, "");
    }
    assert_int_equal(answered(send_request("POST", BASE "/action/stop?user.name=alice",
                                           "Origin: http://evil.example\r\n", "")),
                     403);
    assert_string_equal(w.log, "");
}

static void flexes(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) { /* the same again is the same */
        assert_int_equal(ask("PUT", BASE "/model/desired/resources", RESOURCES("3")), 200);
        assert_string_equal(w.log, "flex(db=1,web=3) ");
        assert_string_equal(body(), RESOURCES("3"));
    }
    assert_int_equal(ask("PUT", BASE "/model/desired/resources", ""), 400);
    assert_non_null(strstr(body(), "No JSON in PUT"));
    assert_int_equal(ask("PUT", BASE "/model/desired/resources", RESOURCES("-1")), 400);
    assert_non_null(strstr(body(), "components.web.yarn.component.instances"));
    assert_string_equal(w.log, "");
    w.result = -EBUSY;
    assert_int_equal(ask("PUT", BASE "/model/desired/resources", RESOURCES("4")), 409);
    w.result = -ESHUTDOWN;
    assert_int_equal(ask("PUT", BASE "/model/desired/resources", RESOURCES("4")), 503);
    assert_non_null(strstr(body(), "not now"));
}

static void actions(void **state)
{
    json_t *pong;

    (void)state;
    assert_int_equal(ask("POST", BASE "/action/stop", ""), 202);
    assert_string_equal(w.log, "stop(Stopped by user alice) ");
    for (size_t i = 0; i < 4; i++) {
        const char *method = (const char *const[]){ "GET", "POST", "PUT", "DELETE" }[i];

        assert_int_equal(ask(method, BASE "/action/ping", "text=hello"), 200);
        pong = json();
        assert_string_equal(json_string_value(json_object_get(pong, "verb")), method);
        assert_string_equal(json_string_value(json_object_get(pong, "body")), "text=hello");
        json_decref(pong);
    }
    assert_string_equal(w.log, "");
}

static void containers(void **state)
{
    char id[YARN_ID_TEXT_MAX], path[256], wanted[256];
    json_t *one;

    (void)state;
    first_container("web", id);
    assert_int_equal(ask("GET", BASE "/live/components/web/instances/0", ""), 200);
    one = json();
    assert_string_equal(json_string_value(json_object_get(one, "containerId")), id);
    json_decref(one);
    (void)snprintf(path, sizeof(path), BASE "/live/components/web/containers/%s", id);
    assert_int_equal(ask("GET", path, ""), 200);
    (void)snprintf(path, sizeof(path), BASE "/live/components/db/containers/%s", id);
    assert_int_equal(ask("GET", path, ""), 404); /* another component's */
    (void)snprintf(path, sizeof(path), BASE "/live/containers/%s", id);
    (void)snprintf(wanted, sizeof(wanted), "kill(%s) ", id);
    assert_int_equal(ask("DELETE", path, ""), 202);
    assert_string_equal(w.log, wanted);
    w.result = -ENOENT;
    assert_int_equal(ask("DELETE", path, ""), 404);
    (void)snprintf(path, sizeof(path), BASE "/live/containers/%s/logs", id);
    assert_int_equal(ask("GET", path, ""), 302);
    (void)snprintf(wanted, sizeof(wanted),
                   "\r\nLocation: http://node1:8042/node/containerlogs/%s/alice\r\n", id);
    assert_non_null(strstr(w.answer, wanted));
}

static void master_in_resources(void **state)
{
    json_t *tree, *master;

    (void)state;
    assert_int_equal(ask("GET", BASE "/live/resources", ""), 200);
    tree = json();
    master = json_object_get(json_object_get(tree, "components"), "slider-appmaster");
    assert_string_equal(
        json_string_value(json_object_get(master, "yarn.component.instances.actual")), "1");
    json_decref(tree);
    assert_int_equal(ask("GET", BASE "/model/desired/resources", ""), 200);
    assert_null(strstr(body(), "slider-appmaster"));
    assert_int_equal(ask("GET", BASE "/live/liveness/web", ""), 200);
    tree = json();
    assert_true(json_is_true(json_object_get(tree, "allRequestsSatisfied")));
    assert_int_equal(json_integer_value(json_object_get(tree, "requestsOutstanding")), 0);
    json_decref(tree);
}

static void errors(void **state)
{
    static const char *const absent[] = {
        "/nowhere",
        BASE "/nowhere",
        BASE "/live/containers/container_1_0001_01_009999",
        BASE "/live/containers/nonsense",
        BASE "/live/containers/nonsense/logs",
        BASE "/live/components/nothing",
        BASE "/live/components/nothing/containers",
        BASE "/live/components/web/containers/nonsense",
        BASE "/live/components/web/instances/9",
        BASE "/live/components/web/instances/-1",
        BASE "/live/components/../instances/0",
        BASE "/live/nodes/nothing",
        BASE "/live/liveness/nothing",
        BASE "/live/components/%2e%2e/instances/0",
    };
    char path[480] = BASE "/live/components/";
    json_t *tree;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(absent); i++) {
        if (ask("GET", absent[i], "") != 404)
            fail_msg("%s: %s", absent[i], w.answer);
        assert_true(strlen(body()) > 512); /* shorter ones are replaced by browsers */
        tree = json();
        assert_string_equal(json_string_value(json_object_get(tree, "exception")),
                            "NotFoundException");
        assert_true(*json_string_value(json_object_get(tree, "message")));
        json_decref(tree);
    }
    memset(path + strlen(path), 'a', 400);
    (void)snprintf(path + strlen(path), 32, "/instances/0");
    assert_int_equal(ask("GET", path, ""), 404);
}

/* The beginning of 100 MiB of JSON. */
static void large_body(void **state)
{
    static const char head[] = "PUT " BASE "/model/desired/resources?user.name=alice HTTP/1.1\r\n"
                               "Host: x\r\nConnection: close\r\n"
                               "Content-Length: 104857600\r\n\r\n";
    static char part[64 << 10];
    int fd = connect_port();

    (void)state;
    memset(part, '[', sizeof(part));
    assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), (ssize_t)strlen(head));
    for (int i = 0; i < 4; i++) {
        (void)!send(fd, part, sizeof(part),
                    MSG_NOSIGNAL | MSG_DONTWAIT); /* as far as it takes it */
        assert_true(sd_event_run(w.event, 0) >= 0);
    }
    assert_int_equal(answered(fd), 413);
    assert_string_equal(w.log, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(readers),    TEST(only_those_who_may),  TEST(flexes), TEST(actions),
        TEST(containers), TEST(master_in_resources), TEST(errors), TEST(large_body),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
