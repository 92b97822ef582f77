/* See kerberos-series.h. */
#include "nodemanager/web/kerberos-series.h"

#include <inttypes.h>

#include "gss/daemon.h"
#include "nodemanager/services/hdfs-tokens.h"

#define LOGIN "kerberos_"
#define TOKENS "hdfs_token_"

static int put(struct sv_buf *b, const char *name, const char *type, uint64_t n)
{
    return sv_buf_printf(b, "# TYPE selvedge_%s %s\nselvedge_%s %" PRIu64 "\n", name, type, name,
                         n);
}

static int put_login(const struct sgss_daemon_state *s, int64_t now_s, struct sv_buf *out)
{
    const uint64_t now = (uint64_t)SV_MAX(now_s, (int64_t)0);
    int r = put(out, LOGIN "ticket_seconds", "gauge", s->until > now ? s->until - now : 0);

    if (r >= 0) /* a ticket that was due to be renewed, and was not, is one as well */
        r = put(out, LOGIN "login_failing", "gauge", *s->words ? 1 : 0);
    if (r >= 0)
        r = put(out, LOGIN "helper_up", "gauge", s->helper.runs ? 1 : 0);
    if (r >= 0)
        r = put(out, LOGIN "helper_starts_total", "counter", s->helper.starts);
    if (r >= 0)
        r = put(out, LOGIN "helper_answers_total", "counter", s->helper.answers);
    return r;
}

static int put_tokens(const struct nm_hdfs_tokens_counts *t, struct sv_buf *out)
{
    int r = put(out, TOKENS "valid", "gauge", t->valid);

    if (r >= 0)
        r = put(out, TOKENS "failing", "gauge", t->failing);
    if (r >= 0)
        r = put(out, TOKENS "received_total", "counter", t->received);
    if (r >= 0)
        r = put(out, TOKENS "failed_total", "counter", t->failed);
    return r;
}

int nm_kerberos_series(const struct sgss_daemon_state *s,
                       const struct nm_hdfs_tokens_counts *tokens, int64_t now_s,
                       struct sv_buf *out)
{
    int r = put_login(s, now_s, out);

    return r < 0 ? r : put_tokens(tokens, out);
}
