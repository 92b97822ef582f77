/* See kerberos-series.h. */
#include "nodemanager/web/kerberos-series.h"

#include <inttypes.h>

#include "gss/daemon.h"

#define PREFIX "selvedge_kerberos_"

static int put(struct sv_buf *b, const char *name, const char *type, uint64_t n)
{
    return sv_buf_printf(b, "# TYPE " PREFIX "%s %s\n" PREFIX "%s %" PRIu64 "\n", name, type, name,
                         n);
}

int nm_kerberos_series(const struct sgss_daemon_state *s, int64_t now_s, struct sv_buf *out)
{
    const uint64_t now = (uint64_t)SV_MAX(now_s, (int64_t)0);
    int r = put(out, "ticket_seconds", "gauge", s->until > now ? s->until - now : 0);

    if (r >= 0) /* a ticket that was due to be renewed, and was not, is one as well */
        r = put(out, "login_failing", "gauge", *s->words ? 1 : 0);
    if (r >= 0)
        r = put(out, "helper_up", "gauge", s->helper.runs ? 1 : 0);
    if (r >= 0)
        r = put(out, "helper_starts_total", "counter", s->helper.starts);
    if (r >= 0)
        r = put(out, "helper_answers_total", "counter", s->helper.answers);
    return r;
}
