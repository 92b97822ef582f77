/* See daemon-log.h. */
#include "gss/daemon-log.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/log.h"

void sgss_log_changed(const struct sgss_daemon *d, bool *had_ticket)
{
    const struct sgss_daemon_state now = sgss_daemon_state(d);

    if (now.until > 0 && *now.words)
        sv_log_warning("Kerberos: %s", now.words);
    else if (now.until > 0 && !*had_ticket)
        sv_log_info("Kerberos: %s has a ticket for %" PRId64 " s", sgss_daemon_principal(d),
                    (int64_t)now.until - sv_wall_ms() / 1000);
    *had_ticket = now.until > 0;
}

void sgss_log_told(const char *text, void *userdata)
{
    (void)userdata;
    sv_log_warning("Kerberos: %s", text);
}
