/* See daemon-series.h. */
#include "gss/daemon-series.h"

#include "common/web/series.h"

#define LOGIN "selvedge_kerberos_"

void sgss_daemon_series(struct sv_series *s, const struct sgss_daemon_state *state, int64_t now_s)
{
    const uint64_t now = (uint64_t)SV_MAX(now_s, (int64_t)0);

    sv_series_one(s, LOGIN "ticket_seconds", "gauge",
                  "What is left of the daemon's Kerberos ticket; 0: there is none.",
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
