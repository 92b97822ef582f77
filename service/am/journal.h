/* Which container has which instance's name, as a file beside the definition: the next attempt of
 * the master gives the containers that the ResourceManager kept their names again. Pure.
 *
 *     selvedge-instances 1
 *     application_1700000000000_0001
 *     container_e01_1700000000000_0001_01_000002 web-0
 *
 * Hostile: the file, which others with the user's account may write. */
#ifndef SELVEDGE_SERVICE_AM_JOURNAL_H
#define SELVEDGE_SERVICE_AM_JOURNAL_H

#include "common/buf.h"
#include "common/error.h"
#include "service/am/containers.h"

#define SVC_JOURNAL_FILE "selvedge-instances"
#define SVC_JOURNAL_MAX ((size_t)48 << 20) /* bytes */

/* Appends the file: the containers that have a name. */
int svc_journal_print(const struct svc_containers *c, struct yarn_app_id app, struct sv_buf *out)
    _must_use_;
/* Calls `row` for each container in the file's order; its error ends it. A file of another
 * application has no rows. -EBADMSG: not such a file, err names the line. */
int svc_journal_parse(const char *text, size_t len, struct yarn_app_id app,
                      int (*row)(void *userdata, struct yarn_container_id id, const char *instance),
                      void *userdata, struct sv_error *err) _must_use_;

#endif
