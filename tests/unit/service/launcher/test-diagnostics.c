/* service/launcher/diagnostics.c: a master's last words, as they are and forged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/engine/exit-table.h"
#include "service/framework/link.h"
#include "service/launcher/diagnostics.h"

#define IN(json) "App: " SVC_FW_DIAGNOSTICS_START json SVC_FW_DIAGNOSTICS_END " more"

static void read_words(void **state)
{
    static const char text[] =
        IN("{\"applicationExitCode\":-7103,\"applicationExitDescription\":\"d\","
           "\"applicationExitDiagnostics\":\"e\",\"applicationExitType\":\"TRANSIENT_NORMAL\","
           "\"applicationExitTriggerMessage\":\"m\",\"applicationExitTriggerTaskRoleName\":\"W\","
           "\"applicationExitTriggerTaskIndex\":3,\"unknown\":[1]}");
    struct svc_lr_exit x;

    (void)state;
    assert_int_equal(svc_lr_diagnostics(text, &x), 0);
    assert_int_equal(x.code, -7103);
    assert_int_equal(x.type, SVC_FW_TRANSIENT_NORMAL);
    assert_string_equal(x.description, "d");
    assert_string_equal(x.diagnostics, "e");
    assert_string_equal(x.trigger, "m");
    assert_string_equal(x.trigger_role, "W");
    assert_int_equal(x.trigger_index, 3);
    svc_lr_exit_free(&x);
}

static void forged(void **state)
{
    static const struct {
        const char *text;
        int r;
    } rows[] = {
        { "", -ENOENT },
        { "AM Container exited with 1", -ENOENT },
        { SVC_FW_DIAGNOSTICS_START "{}", -EBADMSG },
        { IN(""), -EBADMSG },
        { IN("[]"), -EBADMSG },
        { IN("{}"), -EBADMSG },
        { IN("{\"applicationExitCode\":\"0\"}"), -EBADMSG },
        { IN("{\"applicationExitCode\":4294967296}"), -EBADMSG },
        { IN("{\"applicationExitCode\":0,\"applicationExitType\":\"NONE\"}"), -EBADMSG },
        { IN("{\"applicationExitCode\":0,\"applicationExitType\":7}"), -EBADMSG },
        { IN("{\"applicationExitCode\":0,\"applicationExitTriggerTaskRoleName\":\"a b\"}"),
          -EBADMSG },
        { IN("{\"applicationExitCode\":0,\"applicationExitTriggerTaskIndex\":-4}"), 0 },
        { IN("{\"applicationExitCode\":0}"), 0 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct svc_lr_exit x = { .trigger_index = -1 };
        int r = svc_lr_diagnostics(rows[i].text, &x);

        if (r != rows[i].r || x.trigger_index != -1)
            fail_msg("%s: %d", rows[i].text, r);
        svc_lr_exit_free(&x);
    }
}

static void too_long(void **state)
{
    size_t n = SVC_FW_DIAGNOSTICS_MAX + 100;
    char *text = malloc(2 * n);
    struct svc_lr_exit x;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', 2 * n);
    memcpy(text, SVC_FW_DIAGNOSTICS_START, strlen(SVC_FW_DIAGNOSTICS_START));
    memcpy(text + n, SVC_FW_DIAGNOSTICS_END, sizeof(SVC_FW_DIAGNOSTICS_END));
    assert_int_equal(svc_lr_diagnostics(text, &x), -EBADMSG);
    memset(text, 'x', 2 * n);
    text[2 * n - 1] = '\0';
    svc_lr_diagnostics_lost(SVC_FW_EXIT_DIAGNOSTICS_LOST, text, &x);
    assert_int_equal(x.code, -7352);
    assert_int_equal(x.type, SVC_FW_TRANSIENT_NORMAL);
    assert_int_equal(strlen(x.diagnostics), SVC_FW_DIAGNOSTICS_MAX);
    svc_lr_exit_free(&x);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_words),
        cmocka_unit_test(forged),
        cmocka_unit_test(too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
