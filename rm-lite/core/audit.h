/* Log lines in Hadoop's formats: RMAuditLogger, and the ApplicationSummary of RMAppManager. */
#ifndef SELVEDGE_RM_LITE_CORE_AUDIT_H
#define SELVEDGE_RM_LITE_CORE_AUDIT_H

#include "rm-lite/core/context.h"

struct rm_audit { /* NULL: the field is absent */
    const char *user, *ip, *operation, *target, *permissions, *description;
    const char *app, *attempt, *container, *queue;
};
void rm_audit_ok(const struct rm_audit *a);
void rm_audit_fail(const struct rm_audit *a);
void rm_audit_app_end(const struct rm_app *app); /* RESULT of the whole application */
void rm_audit_summary(const struct rm_app *app);
/* Escapes , = \ CR LF as Hadoop's StringUtils.escapeString. */
void rm_audit_escape(char *dst, size_t size, const char *src);

#endif
