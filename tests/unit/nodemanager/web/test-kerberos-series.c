/* web/kerberos-series.c: the series of the node's login and its tokens of HDFS. */
#include "nodemanager/web/kerberos-series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gss/daemon.h"
#include "nodemanager/services/hdfs-tokens.h"

static const char *text_of(const struct sgss_daemon_state *s, int64_t now_s)
{
    static const struct nm_hdfs_tokens_counts tokens = { 2, 1, 7, 4 };
    static char text[8192];
    struct sv_buf b = SV_BUF_INIT(sizeof(text) - 1);
    char *help;

    assert_true(nm_kerberos_series(s, &tokens, now_s, &b) >= 0);
    memcpy(text, b.data, b.len);
    text[b.len] = 0;
    sv_buf_free(&b);
    while ((help = strstr(text, "# HELP"))) {
        const char *rest = help + strcspn(help, "\n") + 1;

        memmove(help, rest, strlen(rest) + 1);
    }
    return text;
}

static void series(void **state)
{
    struct sgss_daemon_state s = { .until = 1000,
                                   .words = "",
                                   .helper = { .runs = true, .starts = 2, .answers = 3 } };
    const char *text = text_of(&s, 400);

    (void)state;
    assert_string_equal(text, "# TYPE selvedge_kerberos_ticket_seconds gauge\n"
                              "selvedge_kerberos_ticket_seconds 600\n"
                              "# TYPE selvedge_kerberos_login_failing gauge\n"
                              "selvedge_kerberos_login_failing 0\n"
                              "# TYPE selvedge_kerberos_helper_up gauge\n"
                              "selvedge_kerberos_helper_up 1\n"
                              "# TYPE selvedge_kerberos_helper_starts_total counter\n"
                              "selvedge_kerberos_helper_starts_total 2\n"
                              "# TYPE selvedge_kerberos_helper_answers_total counter\n"
                              "selvedge_kerberos_helper_answers_total 3\n"
                              "# TYPE selvedge_hdfs_token_valid gauge\n"
                              "selvedge_hdfs_token_valid 2\n"
                              "# TYPE selvedge_hdfs_token_failing gauge\n"
                              "selvedge_hdfs_token_failing 1\n"
                              "# TYPE selvedge_hdfs_token_received_total counter\n"
                              "selvedge_hdfs_token_received_total 7\n"
                              "# TYPE selvedge_hdfs_token_failed_total counter\n"
                              "selvedge_hdfs_token_failed_total 4\n");
    s.words = "no KDC answers";
    s.helper.runs = false;
    text = text_of(&s, 1000);
    assert_non_null(strstr(text, "ticket_seconds 0\n"));
    assert_non_null(strstr(text, "login_failing 1\n"));
    assert_non_null(strstr(text, "helper_up 0\n"));
    assert_non_null(strstr(text_of(&s, -1), "ticket_seconds 1000\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(series) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
