/* Tests client/service/definition-file.h: files good and bad, both dialects, another name. */
#include "client/service/definition-file.h"

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

#include "client/core/input-file.h"

#define REST                                                                                       \
    "\"version\":\"1\",\"components\":[{\"name\":\"web\",\"number_of_containers\":1,"              \
    "\"launch_command\":\"x\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}"
#define GOOD "{\"name\":\"shop\",\"state\":\"STOPPED\",\"id\":\"application_1_0001\"," REST

static char path[] = "/tmp/test-definition-XXXXXX";

static int read_text(const char *text, const struct cli_definition_options *o, json_t **ret,
                     struct sv_error *err)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
    *err = (struct sv_error){ 0 };
    return cli_definition_read(path, o, ret, err);
}

/* State and id are those of a stored file, and none of a request. */
static void good(void **state)
{
    struct sv_error err;
    json_t *v = NULL;

    (void)state;
    assert_int_equal(read_text(GOOD, &(struct cli_definition_options){ 0 }, &v, &err), 0);
    assert_string_equal(json_string_value(json_object_get(v, "name")), "shop");
    assert_int_equal(json_array_size(json_object_get(v, "components")), 1);
    assert_null(json_object_get(v, "id"));
    assert_null(json_object_get(v, "state"));
    json_decref(v);
    assert_int_equal(read_text(GOOD, &(struct cli_definition_options){ .name = "other" }, &v, &err),
                     0);
    assert_string_equal(json_string_value(json_object_get(v, "name")), "other");
    json_decref(v);
    assert_int_equal(
        read_text("{" REST, &(struct cli_definition_options){ .name = "other" }, &v, &err), 0);
    json_decref(v);
}

static void dialects(void **state)
{
    static const char text[] = "{\"name\":\"shop\",\"colour\":\"red\"," REST;
    struct sv_error err;
    json_t *v = NULL;

    (void)state;
    assert_int_equal(read_text(text, &(struct cli_definition_options){ 0 }, &v, &err), -EINVAL);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "colour"));
    assert_int_equal(read_text(text, &(struct cli_definition_options){ .hadoop = true }, &v, &err),
                     0);
    assert_null(json_object_get(v, "colour"));
    json_decref(v);
}

static void bad(void **state)
{
    static const struct {
        const char *text, *why;
    } files[] = {
        { "", "not JSON" },
        { "[]", "a JSON object is expected" },
        { "{\"name\":\"Shop\"," REST, "name: \"Shop\"" },
        { "{" REST, "name" },
    };
    struct sv_error err;
    json_t *v = NULL;
    char *text;
    size_t len;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        assert_true(read_text(files[i].text, &(struct cli_definition_options){ 0 }, &v, &err) < 0);
        assert_non_null(strstr(err.text, files[i].why));
    }
    err = (struct sv_error){ 0 };
    assert_int_equal(cli_file_read("/nowhere/at/all", 10, &text, &len, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_true(read_text(GOOD, &(struct cli_definition_options){ 0 }, &v, &err) == 0);
    json_decref(v);
    assert_int_equal(cli_file_read(path, 10, &text, &len, &err), -EFBIG);
    assert_int_equal(cli_file_read("/", 10, &text, &len, &err), -EISDIR);
}

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(good), cmocka_unit_test(dialects),
                                        cmocka_unit_test(bad) };

    return cmocka_run_group_tests_name("client/service/definition-file", tests, make_file,
                                       remove_file);
}
