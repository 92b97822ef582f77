/* Which container has which instance's name, and the upgrade that goes on, as a file beside the
 * definition: the next attempt of the master gives the containers that the ResourceManager kept
 * their names again, and goes on with the upgrade. Pure.
 *
 *     selvedge-instances 2
 *     application_1700000000000_0001
 *     upgrade manual 2.0.0
 *     container_e01_1700000000000_0001_01_000002 web-0
 *     container_e01_1700000000000_0001_01_000003 web-1 new
 *     container_e01_1700000000000_0001_01_000004 web-2 turning
 *
 * Hostile: the file, which others with the user's account may write. */
#ifndef SELVEDGE_SERVICE_AM_FACTS_JOURNAL_H
#define SELVEDGE_SERVICE_AM_FACTS_JOURNAL_H

#include "common/buf.h"
#include "common/error.h"
#include "service/am/facts/containers.h"

#define SVC_JOURNAL_FILE "selvedge-instances"
#define SVC_JOURNAL_MAX ((size_t)48 << 20) /* bytes */

#define SVC_JOURNAL_VERSION_MAX 255 /* bytes of a version */

enum svc_journal_upgrade {
    SVC_NO_UPGRADE,
    SVC_UPGRADE_MANUAL,
    SVC_UPGRADE_AUTO_FINALIZE,
    SVC_UPGRADE_EXPRESS,
    SVC_UPGRADE_CANCELLED, /* instances go back */
    SVC_N_UPGRADES
};
struct svc_journal_head {
    struct yarn_app_id app;
    enum svc_journal_upgrade upgrade;
    unsigned number;                           /* of the upgrade, in struct svc_container */
    char version[SVC_JOURNAL_VERSION_MAX + 1]; /* of its target */
};
/* Appends the file: the containers that have a name, also those that were not handed back yet. */
int svc_journal_print(const struct svc_journal_head *head, const struct svc_containers *c,
                      const struct svc_containers *expected, struct sv_buf *out) _must_use_;
struct svc_journal_row {
    struct yarn_container_id id;
    const char *instance;
    bool new, turning; /* it runs the version of the upgrade; or one of both */
};
/* Calls `row` for each container in the file's order; its error ends it. A file of another
 * application than `app` has no upgrade and no rows. `ret`: always set, without a number.
 * -EBADMSG: not such a file, err names the line. */
int svc_journal_parse(const char *text, size_t len, struct yarn_app_id app,
                      struct svc_journal_head *ret,
                      int (*row)(void *userdata, const struct svc_journal_row *row), void *userdata,
                      struct sv_error *err) _must_use_;

#endif
