/* aux-services/aux-frame.c: accepted and rejected input of a service; frames in pieces. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/aux-services/aux-frame.h"

static struct nm_aux_answer answer;

static int take(const char *json, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);

    nm_aux_answer_free(&answer);
    assert_int_equal(nm_aux_frame_put(&b, json, strlen(json)), 0);
    return nm_aux_frame_take(&b, &answer, err);
}

static void refused(const char *json, const char *words)
{
    struct sv_error err = { 0 };

    assert_int_equal(take(json, &err), -EBADMSG);
    if (!strstr(err.text, words))
        fail_msg("%s: \"%s\" instead of \"%s\"", json, err.text, words);
}

static void accepted(void **state)
{
    (void)state;
    assert_int_equal(take("{\"type\":\"ready\",\"metadata\":\"AAA0+g==\",\"more\":[1]}", NULL), 1);
    assert_int_equal(answer.type, NM_AUX_READY);
    assert_int_equal(answer.metadata_len, 4);
    assert_memory_equal(answer.metadata, "\0\0\x34\xfa", 4);
    assert_int_equal(take("{\"type\":\"ready\",\"metadata\":\"\"}", NULL), 1);
    assert_int_equal(answer.metadata_len, 0);
    assert_int_equal(take("{\"type\":\"done\",\"seq\":7}", NULL), 1);
    assert_int_equal(answer.type, NM_AUX_DONE);
    assert_int_equal(answer.seq, 7);
    assert_int_equal(take("{\"type\":\"failed\",\"seq\":0,\"message\":\"a\\nb\"}", NULL), 1);
    assert_int_equal(answer.type, NM_AUX_FAILED);
    assert_string_equal(answer.message, "a\\x0ab");
    assert_int_equal(take("{\"type\":\"failed\",\"seq\":1}", NULL), 1);
    assert_string_equal(answer.message, "");
}

static void metrics(void **state)
{
    char many[1024] = "{\"type\":\"done\",\"seq\":1,\"metrics\":{\"a\":0";

    (void)state;
    assert_int_equal(take("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"ShuffleOutputsOK\":3,"
                          "\"B2\":9223372036854775807}}",
                          NULL),
                     1);
    assert_int_equal(answer.metrics.n, 2);
    assert_string_equal(answer.metrics.v[0].name, "ShuffleOutputsOK");
    assert_int_equal(answer.metrics.v[0].value, 3);
    assert_int_equal(answer.metrics.v[1].value, INT64_MAX);
    assert_int_equal(take("{\"type\":\"done\",\"seq\":1}", NULL), 1);
    assert_int_equal(answer.metrics.n, 0);
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":[1]}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"a\":\"1\"}}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"a\":-1}}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"a\":1.5}}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"a\\\"} 1\\n\":1}}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"1a\":1}}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"\":1}}", "metrics");
    refused("{\"type\":\"done\",\"seq\":1,\"metrics\":{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaa\":1}}",
            "metrics");
    for (char name[] = "b"; *name < 'b' + NM_AUX_METRICS_MAX; (*name)++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), ",\"%s\":1", name);
    snprintf(many + strlen(many), sizeof(many) - strlen(many), "}}");
    refused(many, "at most 16");
}

static void not_accepted(void **state)
{
    char *long_text = malloc(30000);

    (void)state;
    refused("[]", "not a JSON object");
    refused("{", "not a JSON object");
    refused("{\"type\":\"done\",\"seq\":1,\"seq\":2}", "not a JSON object");
    refused("{\"type\":\"done\",\"seq\":1} {}", "not a JSON object");
    refused("{\"type\":\"\\u001b[2J\"}", "type \"\\x1b[2J\"");
    refused("{}", "type \"\"");
    refused("{\"type\":\"done\"}", "without a \"seq\"");
    refused("{\"type\":\"done\",\"seq\":-1}", "without a \"seq\"");
    refused("{\"type\":\"done\",\"seq\":\"1\"}", "without a \"seq\"");
    refused("{\"type\":\"done\",\"seq\":1.5}", "without a \"seq\"");
    refused("{\"type\":\"ready\"}", "without \"metadata\"");
    refused("{\"type\":\"ready\",\"metadata\":\"x\"}", "without \"metadata\"");
    assert_non_null(long_text);
    memset(long_text, 'A', 29999);
    long_text[29999] = 0;
    memcpy(long_text, "{\"type\":\"ready\",\"metadata\":\"", 28);
    memcpy(long_text + 28 + 4 * (NM_AUX_METADATA_MAX / 3 + 1), "\"}", 3);
    refused(long_text, "at most 16384 bytes");
    free(long_text);
}

static void lengths(void **state)
{
    static const uint8_t heads[][4] = { { 0, 0, 0, 0 }, { 0, 1, 0, 1 }, { 255, 255, 255, 255 } };
    struct sv_error err = { 0 };
    struct sv_buf view;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(heads); i++) {
        view = SV_BUF_VIEW(heads[i], 4);
        assert_int_equal(nm_aux_frame_take(&view, &answer, &err), -EBADMSG);
        assert_non_null(strstr(err.text, "1 to 65536 are allowed"));
    }
    assert_int_equal(nm_aux_frame_put(&view, "", 0), -EMSGSIZE);
    assert_int_equal(nm_aux_frame_put(&view, "x", NM_AUX_FRAME_MAX + 1), -EMSGSIZE);
}

/* Two frames, one byte after the other. */
static void pieces(void **state)
{
    _cleanup_buf_ struct sv_buf all = SV_BUF_INIT(1000), b = SV_BUF_INIT(1000);
    unsigned found = 0;

    (void)state;
    assert_int_equal(nm_aux_frame_put(&all, "{\"type\":\"done\",\"seq\":1}", 23), 0);
    assert_int_equal(nm_aux_frame_put(&all, "{\"type\":\"done\",\"seq\":2}", 23), 0);
    for (size_t i = 0; i < all.len; i++) {
        int r;

        assert_int_equal(sv_buf_put(&b, all.data + i, 1), 0);
        r = nm_aux_frame_take(&b, &answer, NULL);
        assert_int_equal(r, i == 26 || i == 53);
        if (r)
            assert_int_equal(answer.seq, ++found);
    }
    assert_int_equal(found, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(metrics),
                                        cmocka_unit_test(not_accepted), cmocka_unit_test(lengths),
                                        cmocka_unit_test(pieces) };
    int r = cmocka_run_group_tests(tests, NULL, NULL);

    nm_aux_answer_free(&answer);
    return r;
}
