/* See kerberos-series.h. */
#include "nodemanager/web/kerberos-series.h"

#include "common/web/series.h"
#include "gss/daemon-series.h"
#include "nodemanager/services/hdfs-tokens.h"

#define TOKENS "selvedge_hdfs_token_"

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

    sgss_daemon_series(&series, s, now_s);
    put_tokens(&series, tokens);
    return series.error;
}
