/* Tests client/service/call.h: what a failure of the services API becomes, of ours and Apache's
 * words, and of none. */
#include "client/service/call.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

#include "client/core/commands.h"

static char user[] = "ann";
static const struct cli_command command = { .name = "service status" };
static const struct cli_ctx ctx = { .command = &command, .subject = "shop", .user = user };

/* The line that is printed, without its newline. */
static const char *refused(int status, const char *answer, const char *why)
{
    static char line[8192];
    json_t *tree = answer ? json_loads(answer, 0, NULL) : NULL;
    int saved = dup(STDERR_FILENO);
    FILE *f = tmpfile();
    size_t n;

    assert_non_null(f);
    assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
    assert_int_equal(cli_service_refused(&ctx, status, tree, why), 1);
    (void)fflush(stderr);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)close(saved);
    json_decref(tree);
    rewind(f);
    n = fread(line, 1, sizeof(line) - 1, f);
    (void)fclose(f);
    assert_true(n > 0 && line[n - 1] == '\n');
    line[n - 1] = '\0';
    assert_null(strchr(line, '\n'));
    return line;
}

#define SAYS(text) "{\"diagnostics\":\"" text "\"}"

static void remedies(void **state)
{
    (void)state;
    assert_string_equal(refused(400, SAYS("Service shop is already stopped"), NULL),
                        "selvedge: shop: Service shop is already stopped; selvedge service start "
                        "shop starts it again");
    assert_string_equal(
        refused(500, SAYS("shop is at STABLE state and upgrade is odd."), NULL),
        "selvedge: shop: shop is at STABLE state and upgrade is odd; selvedge service status shop "
        "shows its state");
    assert_string_equal(
        refused(500,
                SAYS("shop is at ACCEPTED state, flex can only be invoked when service is "
                     "running"),
                NULL),
        "selvedge: shop: shop is at ACCEPTED state, flex can only be invoked when service is "
        "running; its master does not run yet: selvedge service status shop tells when");
}

static void absent(void **state)
{
    static const char says[] = "selvedge: shop: ann has no service of this name; selvedge ps --all "
                               "--type yarn-service lists services";

    (void)state;
    assert_string_equal(refused(404, SAYS("Service shop not found"), NULL), says);
    assert_string_equal(refused(400, SAYS("Service shop doesn't exist"), NULL), says);
    assert_string_equal(refused(500, SAYS("File does not exist: /a/shop.json"), NULL), says);
}

/* Not the API: a ResourceManager's own words, a page, nobody. */
static void no_api(void **state)
{
    const char *line;

    (void)state;
    line = refused(
        403, "{\"RemoteException\":{\"message\":\"selvedge.rm.webapp.put.enabled is false\"}}",
        NULL);
    assert_non_null(strstr(line, "put.enabled is false; the cluster's administrator"));
    line = refused(404, NULL, NULL);
    assert_non_null(strstr(line, "HTTP status 404, and no answer of the services API"));
    line = refused(-ECONNREFUSED, NULL, "Failed to connect to rm port 8088");
    assert_non_null(strstr(line, "does not answer: Failed to connect to rm port 8088; "));
    line = refused(-ETIMEDOUT, NULL, NULL);
    assert_non_null(strstr(line, "timed out"));
    line = refused(503, SAYS("is selvedge-services running on the machine?"), NULL);
    assert_string_equal(line, "selvedge: shop: is selvedge-services running on the machine?");
}

static void hostile(void **state)
{
    const char *line = refused(500, SAYS("a\\u001b[31m\\nb %s%n"), NULL);
    char *text = malloc(20000), *json = malloc(21000);

    (void)state;
    assert_null(strchr(line, '\033'));
    assert_non_null(strstr(line, "%s%n"));
    assert_true(text && json);
    memset(text, '.', 19999);
    text[19999] = '\0';
    snprintf(json, 21000, SAYS("%s"), text);
    line = refused(500, json, NULL);
    assert_string_equal(line, "selvedge: shop: ; selvedge service status shop shows its state");
    memset(text, 'a', 19999);
    snprintf(json, 21000, SAYS("%s"), text);
    line = refused(500, json, NULL);
    assert_true(strlen(line) < 3000);
    assert_non_null(strstr(line, "; selvedge service status shop shows its state"));
    (void)refused(500, "[1]", NULL);
    (void)refused(500, "{\"diagnostics\":1,\"message\":[],\"RemoteException\":2}", NULL);
    free(text);
    free(json);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(cli_service_name(&ctx, "shop-2"), 0);
    assert_int_equal(cli_service_name(&ctx, "../x"), 2);
    assert_int_equal(cli_service_name(&ctx, ""), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(remedies), cmocka_unit_test(absent),
                                        cmocka_unit_test(no_api), cmocka_unit_test(hostile),
                                        cmocka_unit_test(names) };

    return cmocka_run_group_tests_name("client/service/call", tests, NULL, NULL);
}
