/* federation/policy/weights.c: the texts of tests/golden/federation/weights.json as Hadoop 3.4.2
 * reads them (weights-3.4.2, recorded by tests/interop/java/reference/FederationPolicies.java), the
 * bytes that it writes, refusals and bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "federation/policy/java-text.h"
#include "federation/policy/weights.h"
#include "federation/store/store.h"

#define DIR "tests/golden/federation/"

static int read_text(struct sv_arena *a, const char *s, struct fed_weights *w, struct sv_error *err)
{
    *err = (struct sv_error){ 0 };
    return fed_weights_read(a, (const uint8_t *)s, strlen(s), w, err);
}

static int by_id(const void *a, const void *b)
{
    const struct fed_weight *x = a, *y = b;

    return strcmp(x->id, y->id);
}

/* As the recorder prints a map: {SC-1=0.7, SC-2=0.3}. */
static void print_list(FILE *f, const struct fed_weight_list *list)
{
    struct fed_weight *sorted = calloc(list->n + 1, sizeof(*sorted));
    char text[FED_FLOAT_TEXT];

    assert_non_null(sorted);
    for (size_t i = 0; i < list->n; i++)
        sorted[i] = list->v[i];
    qsort(sorted, list->n, sizeof(*sorted), by_id);
    fputc('{', f);
    for (size_t i = 0; i < list->n; i++) {
        fed_java_float(sorted[i].value, text);
        fprintf(f, "%s%s=%s", i ? ", " : "", sorted[i].id, text);
    }
    fputc('}', f);
    free(sorted);
}

static char *print(const struct fed_weights *w)
{
    char *text = NULL, alpha[FED_FLOAT_TEXT];
    size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    print_list(f, &w->router);
    fputs("; ", f);
    print_list(f, &w->amrm);
    fed_java_float(w->headroom_alpha, alpha);
    fprintf(f, "; %s", alpha);
    fclose(f);
    return text;
}

/* Java reads it, and later fails or does what nobody wants: an entry without id or number, a number
 * without end, a share of the headroom above all, its own spelling of XML, no object at all. */
static bool we_refuse(const char *json, const char *java)
{
    static const char *const odd[] = { "null", "NaN", "Infinity", "{=", "; 2.5", "; -1.0" };

    if (strcmp(java, "refused") == 0 || !strchr("{ ", *json))
        return true;
    for (size_t i = 0; i < SV_ARRAY_LEN(odd); i++)
        if (strstr(java, odd[i]))
            return true;
    return strstr(json, "\"$\"") || strstr(json, "[\"1\",\"2\"]");
}

static void check_line(const char *json, const char *java)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
    _cleanup_free_ char *text = NULL;
    struct fed_weights w = { 0 };
    struct sv_error err;
    int r = read_text(a, json, &w, &err);

    if (we_refuse(json, java)) {
        if (r != -EINVAL || !*err.text)
            fail_msg("%s: read, Java says %s", json, java);
        return;
    }
    if (r < 0)
        fail_msg("%s: %s, Java reads %s", json, err.text, java);
    text = print(&w);
    if (strcmp(text, java) != 0)
        fail_msg("%s: read %s, Java %s", json, text, java);
}

static bool next_line(FILE *f, char **line, size_t *room)
{
    ssize_t n = getline(line, room, f);

    if (n > 0 && (*line)[n - 1] == '\n')
        (*line)[n - 1] = '\0';
    return n >= 0;
}

static void as_java_reads_and_writes(void **state)
{
    FILE *texts = fopen(DIR "weights.json", "re"), *java = fopen(DIR "weights-3.4.2", "re");
    _cleanup_free_ char *text = NULL, *line = NULL;
    size_t text_room = 0, line_room = 0, n = 0, n_written = 0;

    (void)state;
    assert_non_null(texts);
    assert_non_null(java);
    for (; next_line(texts, &text, &text_room); n++) {
        assert_true(next_line(java, &line, &line_room));
        check_line(text, line);
    }
    assert_true(n > 60);
    assert_true(next_line(java, &line, &line_room));
    assert_string_equal(line, "");
    for (; next_line(java, &line, &line_room); n_written++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
        _cleanup_free_ char *ours = NULL;
        struct fed_weights w;
        struct sv_error err;

        assert_int_equal(read_text(a, line, &w, &err), 0);
        assert_int_equal(fed_weights_write(&w, &ours), 0);
        if (strncmp(line, "{\"amrm", 6) != 0) /* a list that Java had none of */
            assert_string_equal(ours, line);
    }
    assert_true(n_written >= 10);
    fclose(texts);
    fclose(java);
}

static void refuse(const char *json, const char *word)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
    struct fed_weights w;
    struct sv_error err;

    assert_int_equal(read_text(a, json, &w, &err), -EINVAL);
    if (!strstr(err.text, word))
        fail_msg("%s: \"%s\" does not say %s", json, err.text, word);
}

static void refusals(void **state)
{
    (void)state;
    refuse("{", "line 1");
    refuse("[]", "not an object");
    refuse("{\"amrmPolicyWeights\":1}", "amrmPolicyWeights is not an object");
    refuse("{\"amrmPolicyWeights\":{\"entry\":{\"value\":1}}}", "has no sub-cluster");
    refuse("{\"amrmPolicyWeights\":{\"entry\":{\"key\":{\"id\":\"a\"},\"value\":\"1e10\"}}}",
           "1e9");
    refuse("{\"amrmPolicyWeights\":{\"entry\":{\"key\":{\"id\":\"a\"},\"value\":\"--1\"}}}",
           "number");
    refuse("{\"amrmPolicyWeights\":{\"entry\":{\"key\":{\"id\":\"a\"},\"value\":\"1 1\"}}}",
           "number");
    refuse("{\"headroomAlpha\":1.5}", "headroomAlpha is 1.5");
}

static void bounds(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
    char *big = calloc(1, FED_PARAMS_MAX + 2), deep[128] = "{\"a\":";
    struct fed_weights w;
    struct sv_error err;

    (void)state;
    assert_non_null(big);
    memset(big, ' ', FED_PARAMS_MAX + 1);
    refuse(big, "more than 32768");
    memcpy(big, "{}", 2);
    big[FED_PARAMS_MAX] = '\0';
    assert_int_equal(read_text(a, big, &w, &err), 0);
    free(big);
    memset(deep + 5, '[', 20);
    refuse(deep, "nested deeper than 16");
    refuse("{\"a\":\"[[[[[[[[[[[[[[[[[[[[[[\"]", "line 1"); /* brackets of a text are no levels */
}

/* More entries than a federation has members cannot be in 32 KiB: the list is bounded all the same.
 */
static void many_entries(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
    struct fed_weight v[FED_MEMBERS_MAX];
    struct fed_weights w = { .router = { v, FED_MEMBERS_MAX } };
    struct sv_error err;
    char *text = NULL;

    (void)state;
    for (size_t i = 0; i < FED_MEMBERS_MAX; i++)
        v[i] = (struct fed_weight){ sv_arena_printf(a, "SC-%zu", i), 1 };
    assert_int_equal(fed_weights_write(&w, &text), -EMSGSIZE);
    w.router.n = 600;
    assert_int_equal(fed_weights_write(&w, &text), 0);
    assert_int_equal(read_text(a, text, &w, &err), 0);
    assert_int_equal(w.router.n, 600);
    assert_true(fed_weight_of(&w.router, "SC-599") == 1);
    assert_true(fed_weight_of(&w.router, "SC-600") == 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_java_reads_and_writes),
        cmocka_unit_test(refusals),
        cmocka_unit_test(bounds),
        cmocka_unit_test(many_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
