/* See kerberos-series.h. */
#include "rm-lite/web/kerberos-series.h"

#include "common/web/series.h"
#include "gss/daemon-series.h"
#include "rm-lite/security/system-credentials.h"
#include "rm-lite/security/token-renewer.h"

#define RENEWALS "selvedge_token_renewal_"
#define SYSTEM "selvedge_system_credentials_"

static void put_renewals(struct sv_series *s, const struct rm *rm)
{
    struct rm_renewals_counts c;

    rm_token_renewer_counts(rm, &c);
    sv_series_one(s, RENEWALS "applications", "gauge", "Applications whose tokens are renewed.",
                  (double)c.applications);
    sv_series_one(s, RENEWALS "tokens", "gauge", "Tokens that are renewed.", (double)c.tokens);
    sv_series_one(s, RENEWALS "failing", "gauge", "Tokens whose last renewal has failed.",
                  (double)c.failing);
    sv_series_one(s, RENEWALS "open_calls", "gauge", "Calls that are not answered yet.",
                  (double)c.open);
    sv_series_one(s, RENEWALS "renewed_total", "counter", "Renewals.", (double)c.renewed);
    sv_series_one(s, RENEWALS "lost_total", "counter",
                  "Tokens that were refused, or ended before a renewal.", (double)c.failed);
    sv_series_one(s, RENEWALS "cancelled_total", "counter", "Tokens cancelled at the end of jobs.",
                  (double)c.cancelled);
}

static void put_system(struct sv_series *s, const struct rm_system_credentials *system)
{
    struct rm_credentials_counts c;

    rm_system_credentials_counts(system, &c);
    sv_series_one(s, SYSTEM "applications", "gauge",
                  "Applications for which nodes have a token of their user.",
                  (double)c.applications);
    sv_series_one(s, SYSTEM "bytes", "gauge", "Their size.", (double)c.bytes);
    sv_series_one(s, SYSTEM "waiting", "gauge", "Applications for which one is requested.",
                  (double)(c.waiting + c.open));
    sv_series_one(s, SYSTEM "received_total", "counter", "Tokens received.", (double)c.received);
    sv_series_one(s, SYSTEM "failed_total", "counter", "Requests for a token that failed.",
                  (double)c.failed);
}

void rm_kerberos_series(struct sv_series *s, const struct rm *rm)
{
    const struct rm_system_credentials *system = rm_token_renewer_system(rm);
    struct sgss_daemon_state state;

    if (!rm->login)
        return;
    state = sgss_daemon_state(rm->login);
    sgss_daemon_series(s, &state, sv_wall_ms() / 1000);
    put_renewals(s, rm);
    if (system)
        put_system(s, system);
}
