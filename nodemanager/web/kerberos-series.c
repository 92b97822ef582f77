/* See kerberos-series.h. */
#include "nodemanager/web/kerberos-series.h"

#include "common/web/series.h"
#include "gss/daemon.h"
#include "nodemanager/services/hdfs-tokens.h"

#define LOGIN "selvedge_kerberos_"
#define TOKENS "selvedge_hdfs_token_"

static void put_login(struct sv_series *s, const struct sgss_daemon_state *state, int64_t now_s)
{
    const uint64_t now = (uint64_t)SV_MAX(now_s, (int64_t)0);

    sv_series_one(s, LOGIN "ticket_seconds", "gauge",
                  "What is left of the node's Kerberos ticket; 0: there is none.",
                  (double)(state->until > now ? state->until - now : 0));
    /* a ticket that was due to be renewed, and was not, is one as well */
    sv_series_one(s, LOGIN "login_failing", "gauge",
                  "1: there is no ticket, or it was not renewed when it was due.",
                  *state->words ? 1 : 0);
    sv_series_one(s, LOGIN "helper_up", "gauge", "1: selvedge-gss is connected.",
                  state->helper.runs ? 1 : 0);
    sv_series_one(s, LOGIN "helper_starts_total", "counter", "Starts of selvedge-gss.",
                  (double)state->helper.starts);
    sv_series_one(s, LOGIN "helper_answers_total", "counter", "Answers of selvedge-gss.",
                  (double)state->helper.answers);
}

static void put_tokens(struct sv_series *s, const struct nm_hdfs_tokens_counts *t)
{
    sv_series_one(s, TOKENS "valid", "gauge", "File systems for which the node has a token.",
                  (double)t->valid);
    sv_series_one(s, TOKENS "failing", "gauge",
                  "File systems whose last request for a token has failed.", (double)t->failing);
    sv_series_one(s, TOKENS "received_total", "counter", "Tokens received.", (double)t->received);
    sv_series_one(s, TOKENS "failed_total", "counter", "Requests for a token that failed.",
                  (double)t->failed);
}

int nm_kerberos_series(const struct sgss_daemon_state *s,
                       const struct nm_hdfs_tokens_counts *tokens, int64_t now_s,
                       struct sv_buf *out)
{
    struct sv_series series = { .out = out };

    put_login(&series, s, now_s);
    put_tokens(&series, tokens);
    return series.error;
}
