/* NMAuditLogger: user, operation, container and result of each request, one tab-separated line
 * each, with Hadoop's keys and order. Logged at notice level under the name NMAuditLogger. */
#ifndef SELVEDGE_NODEMANAGER_CORE_AUDIT_LOGGER_H
#define SELVEDGE_NODEMANAGER_CORE_AUDIT_LOGGER_H

#include "wire/ids.h"

struct nm_container;

/* user may be "" or hostile; ip ("127.0.0.1:4711", the port is cut) may be NULL. */
void nm_audit_success(const char *user, const char *ip, const char *operation, const char *target,
                      const struct nm_container *c);
void nm_audit_failure(const char *user, const char *ip, const char *operation, const char *target,
                      const char *why, const struct nm_container *c);
/* For requests without a container object. */
void nm_audit_failure_id(const char *user, const char *ip, const char *operation,
                         const char *target, const char *why, struct yarn_container_id id);

/* Containers that one call was refused for: one line tells of all, because a call may name 10,000.
 * Zeroed: none. */
#define NM_AUDIT_FIRST 4
struct nm_audit_refused {
    size_t n;
    struct yarn_container_id first[NM_AUDIT_FIRST];
};
void nm_audit_refuse(struct nm_audit_refused *r, struct yarn_container_id id);
/* Logs as nm_audit_failure_id() about the first; of several also their number and the first ids. */
void nm_audit_refused(const char *user, const char *ip, const char *operation, const char *target,
                      const char *why, const struct nm_audit_refused *r);

#endif
