/* service/api/: status, body and effect of each route, with a store, a ResourceManager and a master
 * in memory; hostile paths and bodies. Texts and codes are those of Hadoop 3.4.2's ApiServer. */
#include <stdlib.h>

#include "tests/unit/service/api/fake-backend.h"

static struct fake fake;
static struct svc_settings settings = { .upgrades = true, .max_services = 4 };
static char said[65536]; /* the last answer's body */

static int setup(void **state)
{
    (void)state;
    fake_begin(&fake);
    settings.upgrades = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_end(&fake);
    return 0;
}

static unsigned ask_n(const char *method, const char *uri, const void *body, size_t n)
{
    const struct svc_request q = {
        .user = "alice", .method = method, .uri = uri, .body = body, .body_len = n
    };
    struct svc_answer a;

    fake.log[0] = '\0';
    svc_api_answer(&fake.b, &settings, &q, &a);
    assert_true(a.body || a.status == 204);
    assert_true(a.body_len < sizeof(said));
    if (a.body)
        memcpy(said, a.body, a.body_len);
    said[a.body ? a.body_len : 0] = '\0';
    free(a.body);
    return a.status;
}

static unsigned ask(const char *method, const char *uri, const char *body)
{
    return ask_n(method, uri, body ? body : "", body ? strlen(body) : 0);
}

#define S "/app/v1/services"
#define WEB                                                                                        \
    "{\"name\":\"web\",\"number_of_containers\":2,\"launch_command\":\"sleep 1\","                 \
    "\"resource\":{\"cpus\":1,\"memory\":\"256\"}}"
#define DB                                                                                         \
    "{\"name\":\"db\",\"number_of_containers\":1,\"launch_command\":\"sleep 1\","                  \
    "\"resource\":{\"cpus\":1,\"memory\":\"256\"}}"
#define SERVICE(name, state)                                                                       \
    "{\"name\":\"" name "\",\"version\":\"1\"," state "\"components\":[" WEB "," DB "]}"
#define ID "application_1700000000000_0007"

static void assert_said(const char *expected)
{
    assert_string_equal(said, expected);
}

static const char *stored(const char *name)
{
    char **at = fake_find(&fake, name, NULL);

    assert_non_null(at);
    return *at;
}

/* A service whose master answers. */
static void running(const char *status)
{
    assert_int_equal(ask("POST", S, SERVICE("shop", "")), 202);
    fake.app = CLI_APP_RUNNING;
    fake.status = status;
}

/* ---- Launch, save, start ---- */

static void test_launch(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", S, SERVICE("shop", "")), 202);
    assert_said("{\"uri\":\"/v1/services/shop\",\"diagnostics\":\"Application ID: " ID
                "\",\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "create(shop) submit(shop) replace(shop) ");
    assert_non_null(strstr(stored("shop"), ID));
    assert_int_equal(ask("POST", S "/", SERVICE("shop", "")), 500);
    assert_said("{\"diagnostics\":\"Service name shop is already taken.\"}");
    assert_string_equal(fake.log, "");
}

/* A misspelt name is told, unless the caller says otherwise; it is not stored. */
static void test_unknown_names(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", S, SERVICE("shop", "\"colour\":\"red\",")), 400);
    assert_non_null(strstr(said, "colour"));
    assert_int_equal(ask("POST", S "?unknown=refused", SERVICE("shop", "\"colour\":1,")), 400);
    assert_int_equal(ask("POST", S "?unknown=ignored", SERVICE("shop", "\"colour\":1,")), 202);
    assert_null(strstr(stored("shop"), "colour"));
}

static void test_launch_that_fails(void **state)
{
    (void)state;
    fake.submit = -EREMOTEIO;
    assert_int_equal(ask("POST", S, SERVICE("shop", "")), 500);
    assert_said("{\"diagnostics\":\"queue root.x is not there\"}");
    assert_null(fake_find(&fake, "shop", NULL));
    fake.submit = 0;
    fake.replace = -EIO; /* a 202 would mean that the id is stored */
    assert_int_equal(ask("POST", S, SERVICE("shop", "")), 500);
    assert_non_null(strstr(fake.log, "kill("));
    assert_null(fake_find(&fake, "shop", NULL));
    fake.submit = -ETIMEDOUT;
    fake.live = false;
    assert_int_equal(ask("POST", S, SERVICE("shop", "")), 504);
}

static void test_save_and_start(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", S, SERVICE("shop", "\"state\":\"STOPPED\",")), 202);
    assert_said("{\"uri\":\"/v1/services/shop\",\"diagnostics\":\"Service shop version 1 "
                "saved.\",\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "create(shop) ");
    assert_non_null(strstr(stored("shop"), "STOPPED"));
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 200);
    assert_said("{\"diagnostics\":\"Service shop is successfully started with ApplicationId: " ID
                "\",\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "submit(shop) replace(shop) ");
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 400);
    assert_said("{\"diagnostics\":\"Failed to start service shop, because it already exists.\"}");
    assert_int_equal(ask("PUT", S "/none", "{\"state\":\"STARTED\"}"), 404);
}

/* A master that ends says STOPPED while its application still runs: a start waits for that. */
static void test_start_of_one_that_stops(void **state)
{
    (void)state;
    running("{\"name\":\"shop\",\"state\":\"STOPPED\",\"components\":[]}");
    fake.ends = true;
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 200);
    assert_string_equal(fake.log, "submit(shop) replace(shop) ");
    fake.app = CLI_APP_RUNNING;
    fake.ends = false;
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 400);
    assert_string_equal(fake.log, "");
}

static void test_start_ends_an_upgrade(void **state)
{
    (void)state;
    running("{\"name\":\"shop\",\"state\":\"UPGRADING\",\"components\":[]}");
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 200);
    assert_string_equal(fake.log, "restart() ");
}

static void test_external_service(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", S, SERVICE("other", "\"state\":\"STOPPED\",")), 202);
    assert_int_equal(ask("POST", S,
                         "{\"name\":\"shop\",\"version\":\"1\",\"state\":\"STOPPED\","
                         "\"components\":[{\"name\":\"all\",\"artifact\":{\"type\":\"SERVICE\","
                         "\"id\":\"other\"}}]}"),
                     202);
    assert_non_null(strstr(stored("shop"), "\"web\""));
    assert_null(strstr(stored("shop"), "\"all\""));
    assert_int_equal(ask("POST", S,
                         "{\"name\":\"shop2\",\"version\":\"1\",\"components\":[{\"name\":\"all\","
                         "\"artifact\":{\"type\":\"SERVICE\",\"id\":\"../alice/x\"}}]}"),
                     400);
    assert_int_equal(ask("POST", S,
                         "{\"name\":\"shop2\",\"version\":\"1\",\"components\":[{\"name\":\"all\","
                         "\"artifact\":{\"type\":\"SERVICE\",\"id\":\"none\"}}]}"),
                     500);
}

#define WITH(more)                                                                                 \
    "{\"name\":\"shop\",\"version\":\"1\",\"state\":\"STOPPED\",\"components\":[{\"name\":"        \
    "\"web\","                                                                                     \
    "\"number_of_containers\":1,\"launch_command\":\"sleep 1\",\"resource\":{\"cpus\":1,"          \
    "\"memory\":\"256\"}," more "}]}"
#define FILE_OF(type, src)                                                                         \
    WITH("\"configuration\":{\"files\":[{\"type\":\"" type                                         \
         "\",\"dest_file\":\"f\",\"src_file\":\"" src "\"}]}")

static void test_files_that_are_not_there(void **state)
{
    static const struct {
        const char *body, *said;
    } rows[] = {
        { WITH("\"artifact\":{\"type\":\"TARBALL\",\"id\":\"hdfs:///absent.tgz\"}"),
          "For component web with TARBALL artifact, path does not exist: hdfs:///absent.tgz" },
        { FILE_OF("STATIC", "/absent"), "Specified src_file does not exist on hdfs: /absent" },
        { FILE_OF("TEMPLATE", "/absent"), "Specified src_file does not exist on hdfs: /absent" },
        { FILE_OF("STATIC", "/directory"),
          "srcFile=/directory is a directory, which is not supported." },
    };
    char text[400];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        assert_int_equal(ask("POST", S, rows[i].body), 400);
        (void)snprintf(text, sizeof(text), "{\"diagnostics\":\"%s\"}", rows[i].said);
        assert_said(text);
        assert_string_equal(fake.log, ""); /* nothing is stored */
    }
    fake.look = -EACCES;
    assert_int_equal(ask("POST", S, FILE_OF("STATIC", "/file")), 403);
    fake.look = 0;
    assert_int_equal(ask("POST", S, FILE_OF("STATIC", "/file")), 202);
    fake.look = -ENOENT; /* what is stored is not looked at again */
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 200);
}

static void test_number_of_services(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", S, SERVICE("a1", "\"state\":\"STOPPED\",")), 202);
    assert_int_equal(ask("POST", S, SERVICE("a2", "\"state\":\"STOPPED\",")), 202);
    assert_int_equal(ask("POST", S, SERVICE("a3", "\"state\":\"STOPPED\",")), 202);
    assert_int_equal(ask("POST", S, SERVICE("a4", "\"state\":\"STOPPED\",")), 202);
    assert_int_equal(ask("POST", S, SERVICE("a5", "\"state\":\"STOPPED\",")), 500);
    assert_non_null(strstr(said, "selvedge.services.max-per-user"));
}

/* ---- Status ---- */

static void test_status(void **state)
{
    (void)state;
    assert_int_equal(ask("GET", S "/shop", NULL), 404);
    assert_said("{\"diagnostics\":\"Service shop not found\",\"code\":404004}");
    assert_int_equal(ask("POST", S, SERVICE("shop", "")), 202);
    assert_int_equal(ask("GET", "/v1/services/shop?user.name=alice", NULL), 200);
    assert_non_null(strstr(said, "\"state\":\"ACCEPTED\",\"components\":[]"));
    fake.app = CLI_APP_RUNNING;
    assert_int_equal(ask("GET", S "/shop", NULL), 500); /* the master does not answer */
    fake.status = "{\"name\":\"shop\",\"state\":\"STABLE\"}";
    assert_int_equal(ask("GET", S "/shop", NULL), 200);
    assert_said(fake.status);
    fake.status = "[1";
    assert_int_equal(ask("GET", S "/shop", NULL), 500);
    fake.app = CLI_APP_FAILED;
    assert_int_equal(ask("GET", S "/shop", NULL), 200);
    assert_non_null(strstr(said, "\"state\":\"FAILED\""));
    fake.app = 0; /* forgotten by the ResourceManager */
    assert_int_equal(ask("GET", S "/shop", NULL), 200);
    assert_non_null(strstr(said, "\"state\":\"STOPPED\""));
}

static void test_instances(void **state)
{
    (void)state;
    assert_int_equal(ask("GET", S "/shop/component-instances?containerState=BAD", NULL), 400);
    assert_said("{\"diagnostics\":\"valid container states are: [RUNNING_BUT_UNREADY, READY, "
                "STOPPED, NEEDS_UPGRADE, UPGRADING, SUCCEEDED, FAILED, FAILED_UPGRADE]\"}");
    running("{}");
    assert_int_equal(ask("GET",
                         S "/shop/component-instances?componentName=web&componentName=db&"
                           "version=2&containerState=READY",
                         NULL),
                     200);
    assert_string_equal(fake.log, "2(web,db) in(READY) ");
    assert_said("[{\"containers\":[],\"componentName\":\"web\"}]");
}

static void test_version(void **state)
{
    (void)state;
    assert_int_equal(ask("GET", S "/version", NULL), 200);
    assert_said("{\"hadoop_version\":\"3.4.2\"}");
}

/* ---- Stop, destroy ---- */

static void test_stop(void **state)
{
    (void)state;
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STOPPED\"}"), 404);
    running("{}");
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STOPPED\"}"), 200);
    assert_said("{\"diagnostics\":\"Successfully stopped service shop\"}");
    assert_string_equal(fake.log, "stop() ");
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STOPPED\"}"), 400);
    assert_said("{\"diagnostics\":\"Service shop is already stopped\"}");
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STARTED\"}"), 200);
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STOPPED\"}"), 200); /* still ACCEPTED */
    assert_string_equal(fake.log, "kill(shop is at ACCEPTED, forcefully killed by user!) ");
}

static void test_stop_of_a_silent_master(void **state)
{
    (void)state;
    running(NULL);
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STOPPED\"}"), 200);
    assert_string_equal(fake.log, "kill(Forcefully kill the app) ");
}

static void test_destroy(void **state)
{
    (void)state;
    assert_int_equal(ask("DELETE", S "/shop", NULL), 400);
    assert_said("{\"diagnostics\":\"Service shop doesn't exist\"}");
    running("{}");
    assert_int_equal(ask("DELETE", S "/shop", NULL), 200);
    assert_said("{\"diagnostics\":\"Successfully destroyed service shop\"}");
    assert_string_equal(fake.log, "stop() remove(shop) ");
    fake.live = true; /* another server has just started it */
    assert_int_equal(ask("DELETE", S "/shop", NULL), 400);
    assert_said("{\"diagnostics\":\"Failed to destroy service shop, because it is still "
                "running.\"}");
}

/* ---- Flex ---- */

static void test_flex(void **state)
{
    (void)state;
    running("{\"state\":\"STABLE\"}");
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"number_of_containers\":5}"), 200);
    assert_said("{\"diagnostics\":\"Updating component (web) size from 2 to 5\"}");
    assert_string_equal(fake.log, "replace(shop) flex(web=5) ");
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"number_of_containers\":\"+2\"}"),
                     200);
    assert_string_equal(fake.log, "replace(shop) flex(web=7) ");
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"number_of_containers\":\"-3\"}"),
                     200);
    assert_string_equal(fake.log, "replace(shop) flex(web=4) ");
    assert_int_equal(ask("PUT", S "/shop",
                         "{\"state\":\"FLEX\",\"components\":[{\"name\":\"web\","
                         "\"number_of_containers\":-9},{\"name\":\"db\","
                         "\"number_of_containers\":\"+1\"}]}"),
                     202);
    assert_said(
        "{\"diagnostics\":\"Service shop is successfully flexed.\",\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "replace(shop) flex(web=0,db=2) ");
}

static void test_flex_that_is_refused(void **state)
{
    static const struct {
        const char *body;
        unsigned status;
    } bad[] = {
        { "{}", 400 },
        { "{\"number_of_containers\":-1}", 400 },
        { "{\"number_of_containers\":1000000000}", 400 },
        { "{\"number_of_containers\":\"1000000000000000000000\"}", 400 },
        { "{\"number_of_containers\":1.5}", 400 },
        { "{\"number_of_containers\":{}}", 400 },
        { "{\"name\":\"db\",\"number_of_containers\":1}", 400 },
        { "[]", 400 },
        { "", 400 },
    };

    (void)state;
    running("{\"state\":\"STABLE\"}");
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(ask("PUT", S "/shop/components/web", bad[i].body), bad[i].status);
        assert_string_equal(fake.log, "");
    }
    assert_int_equal(ask("PUT", S "/shop/components/none", "{\"number_of_containers\":1}"), 500);
    assert_said("{\"diagnostics\":\"Components [none] do not exist in app definition.\"}");
    fake.status = "{\"state\":\"UPGRADING\"}";
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"number_of_containers\":1}"), 500);
    fake.app = CLI_APP_FAILED;
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"number_of_containers\":1}"), 500);
    assert_said("{\"diagnostics\":\"shop is at FAILED state, flex can only be invoked when service "
                "is running\"}");
    assert_string_equal(fake.log, ""); /* Hadoop would have stored the count */
}

static void test_decommission(void **state)
{
    (void)state;
    running("{}");
    assert_int_equal(ask("PUT", S "/shop",
                         "{\"components\":[{\"name\":\"web\",\"decommissioned_instances\":"
                         "[\"web-1\",\"web-0.shop.alice\",\"web-1\"]}]}"),
                     202);
    assert_said("{\"diagnostics\":\"Service shop has successfully decommissioned instances.\","
                "\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "replace(shop) decommission(web-1,web-0,web-1) ");
    assert_non_null(strstr(stored("shop"), "\"web-0\""));
    assert_int_equal(ask("PUT", S "/shop",
                         "{\"components\":[{\"decommissioned_instances\":[\"web-1.shop.bob\"]}]}"),
                     500);
    assert_int_equal(
        ask("PUT", S "/shop", "{\"components\":[{\"decommissioned_instances\":[\"x\"]}]}"), 400);
}

static void test_lifetime(void **state)
{
    (void)state;
    running("{}");
    assert_int_equal(ask("PUT", S "/shop", "{\"lifetime\":600}"), 200);
    assert_string_equal(fake.log, "lifetime(600) ");
    assert_non_null(strstr(said, ", 600 seconds remaining"));
    assert_int_equal(ask("PUT", S "/shop", "{\"lifetime\":99999999999}"), 500);
    assert_int_equal(ask("PUT", S "/shop", "{}"), 204);
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"STABLE\"}"), 204);
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"NONE\"}"), 400);
    assert_non_null(strstr(said, "no state of a service"));
}

/* ---- Upgrade ---- */

#define NEW(state, version)                                                                        \
    "{\"name\":\"x\",\"version\":\"" version "\",\"state\":\"" state "\",\"components\":[" WEB     \
    "," DB "]}"

static void test_upgrade(void **state)
{
    (void)state;
    running("{\"state\":\"STABLE\"}");
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "2")), 202);
    assert_said("{\"diagnostics\":\"Service shop version 2 saved.\",\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "create(shop/2) upgrade(2) ");
    /* its master is as before, so it has not taken the version that is stored */
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "2")), 202);
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING_AUTO_FINALIZE", "3")), 202);
    assert_string_equal(fake.log, "create(shop/3) upgrade(3 auto) ");
    assert_int_equal(ask("PUT", S "/shop", NEW("EXPRESS_UPGRADING", "4")), 202);
    assert_string_equal(fake.log, "create(shop/4) upgrade(4 auto express) ");
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "1")), 400);
    assert_said("{\"diagnostics\":\"shop is already at version 1. There is nothing to upgrade.\"}");
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "../../x")), 500);
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "..")), 500);
    fake.status = "{\"state\":\"STARTED\"}";
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "5")), 400);
    assert_string_equal(fake.log, "");
    settings.upgrades = false;
    assert_int_equal(ask("PUT", S "/shop", NEW("UPGRADING", "5")), 400);
    assert_said("{\"diagnostics\":\"Service upgrade is disabled.\"}");
}

static void test_cancel(void **state)
{
    (void)state;
    running("{\"state\":\"STABLE\"}");
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"CANCEL_UPGRADING\"}"), 400);
    fake.status = "{\"state\":\"EXPRESS_UPGRADING\"}";
    assert_int_equal(ask("PUT", S "/shop", "{\"state\":\"CANCEL_UPGRADING\"}"), 202);
    assert_said("{\"diagnostics\":\"Service shop cancelling upgrade.\",\"state\":\"ACCEPTED\"}");
    assert_string_equal(fake.log, "cancel() ");
}

#define UPGRADING(state)                                                                           \
    "{\"state\":\"" state "\",\"components\":[{\"name\":\"web\",\"state\":\"NEEDS_UPGRADE\","      \
    "\"containers\":[{\"id\":\"c1\",\"component_instance_name\":\"web-0\","                        \
    "\"state\":\"NEEDS_UPGRADE\"},{\"id\":\"c2\",\"component_instance_name\":\"web-1\","           \
    "\"state\":\"READY\"}]},{\"name\":\"db\",\"state\":\"STABLE\",\"containers\":[]}]}"

static void test_upgrade_of_parts(void **state)
{
    (void)state;
    running(UPGRADING("STABLE"));
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"state\":\"UPGRADING\"}"), 400);
    assert_said("{\"diagnostics\":\"The upgrade of service shop has not been initiated.\"}");
    fake.status = UPGRADING("UPGRADING");
    assert_int_equal(ask("PUT", S "/shop/components/web", "{\"state\":\"UPGRADING\"}"), 202);
    assert_said("{\"diagnostics\":\"Upgrading components web.\"}");
    assert_string_equal(fake.log, "containers(c1) ");
    assert_int_equal(
        ask("PUT", S "/shop/components", "[{\"name\":\"db\",\"state\":\"UPGRADING\"}]"), 400);
    assert_said("{\"diagnostics\":\"The component (db) does not need an upgrade.\"}");
    assert_int_equal(ask("PUT", S "/shop/components", "[]"), 400);
    assert_int_equal(ask("PUT", S "/shop/component-instances",
                         "[{\"component_instance_name\":\"web-0\",\"state\":\"UPGRADING\"}]"),
                     202);
    assert_said("{\"diagnostics\":\"Upgrading component instances c1.\"}");
    assert_int_equal(ask("PUT", S "/shop/component-instances",
                         "[{\"component_instance_name\":\"web-1\",\"state\":\"UPGRADING\"}]"),
                     400);
    assert_int_equal(
        ask("PUT", S "/shop/components/web/component-instances/web-0", "{\"state\":\"UPGRADING\"}"),
        202);
    assert_int_equal(
        ask("PUT", S "/shop/components/web/component-instances/web-9", "{\"state\":\"UPGRADING\"}"),
        400);
    assert_int_equal(ask("PUT", S "/shop/components/web/component-instances/web-0", "{}"), 204);
}

/* ---- Hostile requests ---- */

static void test_names(void **state)
{
    static const char *const names[] = { "..", "%2e%2e", "..%2fbob", "a%2fb", "A",         "a_b",
                                         "-a", "a b",    "a%00",     "%zz",   "%e2%82%ac", "a.b" };
    char uri[200];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        (void)snprintf(uri, sizeof(uri), S "/%s", names[i]);
        assert_true(ask("GET", uri, NULL) == 404 || ask("GET", uri, NULL) == 400);
        assert_true(ask("DELETE", uri, NULL) == 400);
        assert_true(ask("PUT", uri, "{\"state\":\"STOPPED\"}") >= 400);
        assert_true(ask("PUT", uri, "{\"state\":\"STARTED\"}") >= 400);
        assert_string_equal(fake.log, "");
    }
    (void)snprintf(uri, sizeof(uri), S "/%064d", 0);
    memset(uri + strlen(S "/"), 'a', 64);
    assert_int_equal(ask("GET", uri, NULL), 404);
    assert_int_equal(ask("POST", S, SERVICE("../x", "")), 400);
    assert_int_equal(ask("POST", S, "{\"name\":7}"), 400);
    assert_int_equal(ask("POST", S, "{}"), 400);
    assert_said("{\"diagnostics\":\"Service name is either empty or not provided\"}");
}

static void test_bodies(void **state)
{
    enum { BIG = SVC_JSON_MAX + 1 };
    char *big = malloc(BIG);

    (void)state;
    assert_non_null(big);
    memset(big, '[', BIG);
    assert_int_equal(ask_n("POST", S, big, BIG), 400);
    assert_int_equal(ask_n("POST", S, big, BIG - 1), 400); /* too deep */
    assert_int_equal(ask_n("POST", S, "{\"name\":\"a\0b\"}", 15), 400);
    assert_int_equal(ask("POST", S, "{bad"), 400);
    assert_non_null(strstr(said, "\"exception\":\"JsonParseException\""));
    assert_non_null(strstr(said, "\"javaClassName\":\"com.fasterxml.jackson.core."));
    assert_int_equal(ask("POST", S,
                         "{\"name\":\"shop\",\"version\":\"1\",\"components\":[{\"name\":\"web\","
                         "\"number_of_containers\":1000000000,\"launch_command\":\"x\","
                         "\"resource\":{\"cpus\":1,\"memory\":\"1\"}}]}"),
                     400);
    free(big);
}

static void test_paths(void **state)
{
    (void)state;
    assert_int_equal(ask("GET", S "/a/b", NULL), 404);
    assert_int_equal(ask("GET", S "//a", NULL), 400);
    assert_int_equal(ask("GET", S "/a/components/b/component-instances/c/d/e/f/g", NULL), 400);
    assert_int_equal(ask("PATCH", S "/a", NULL), 405);
    assert_int_equal(ask("GET", S, NULL), 405);
    assert_true(svc_api_takes("/v1/services"));
    assert_true(svc_api_takes("/app/v1/services/x?y"));
    assert_false(svc_api_takes("/v1/servicesx"));
    assert_false(svc_api_takes("/ws/v1/cluster"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_launch),
                                        T(test_unknown_names),
                                        T(test_launch_that_fails),
                                        T(test_save_and_start),
                                        T(test_start_of_one_that_stops),
                                        T(test_start_ends_an_upgrade),
                                        T(test_external_service),
                                        T(test_files_that_are_not_there),
                                        T(test_number_of_services),
                                        T(test_status),
                                        T(test_instances),
                                        T(test_version),
                                        T(test_stop),
                                        T(test_stop_of_a_silent_master),
                                        T(test_destroy),
                                        T(test_flex),
                                        T(test_flex_that_is_refused),
                                        T(test_decommission),
                                        T(test_lifetime),
                                        T(test_upgrade),
                                        T(test_cancel),
                                        T(test_upgrade_of_parts),
                                        T(test_names),
                                        T(test_bodies),
                                        T(test_paths) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
