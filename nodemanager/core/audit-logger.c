/* See audit-logger.h. */
#include "nodemanager/core/audit-logger.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/container.h"

/* Tabs separate the fields, so no value may contain one; sv_escape writes them as \x09. */
static void audit(const char *user, const char *ip, const char *operation, const char *target,
                  const char *why, struct yarn_container_id id)
{
    char u[300], t[80], w[512], app[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX], addr[80] = "";

    sv_escape(u, sizeof(u), user ? user : "");
    sv_escape(t, sizeof(t), target);
    sv_escape(w, sizeof(w), why ? why : "");
    if (ip) {
        char *colon;

        snprintf(addr, sizeof(addr), "\tIP=%s", ip);
        colon = strrchr(addr, ':');
        if (colon)
            *colon = 0;
    }
    yarn_app_id_text(id.attempt.app, app);
    yarn_container_id_text(id, container);
    sv_log(SV_LOG_NOTICE, container,
           "NMAuditLogger: USER=%s%s\tOPERATION=%s\tTARGET=%s\tRESULT=%s%s%s\tAPPID=%s\t"
           "CONTAINERID=%s",
           u, addr, operation, t, why ? "FAILURE" : "SUCCESS", why ? "\tDESCRIPTION=" : "", w, app,
           container);
}

void nm_audit_success(const char *user, const char *ip, const char *operation, const char *target,
                      const struct nm_container *c)
{
    audit(user, ip, operation, target, NULL, c->id);
}

void nm_audit_failure(const char *user, const char *ip, const char *operation, const char *target,
                      const char *why, const struct nm_container *c)
{
    audit(user, ip, operation, target, why, c->id);
}

void nm_audit_failure_id(const char *user, const char *ip, const char *operation,
                         const char *target, const char *why, struct yarn_container_id id)
{
    audit(user, ip, operation, target, why, id);
}

void nm_audit_refuse(struct nm_audit_refused *r, struct yarn_container_id id)
{
    if (r->n < NM_AUDIT_FIRST)
        r->first[r->n] = id;
    r->n++;
}

void nm_audit_refused(const char *user, const char *ip, const char *operation, const char *target,
                      const char *why, const struct nm_audit_refused *r)
{
    char text[400], id[YARN_ID_TEXT_MAX];
    size_t shown = SV_MIN(r->n, (size_t)NM_AUDIT_FIRST), n = 0;

    if (r->n == 0)
        return;
    n += (size_t)snprintf(text, sizeof(text), "%.100s", why);
    for (size_t i = 0; i < shown && r->n > 1 && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
                              i ? ", " : " First: ", yarn_container_id_text(r->first[i], id));
    if (r->n > 1 && n < sizeof(text))
        (void)snprintf(text + n, sizeof(text) - n, "; %zu in this call", r->n);
    audit(user, ip, operation, target, text, r->first[0]);
}
