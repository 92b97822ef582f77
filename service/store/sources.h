/* Archives and sources that a definition names: are they there? The default file system alone is
 * asked, as with Hadoop, so that a definition cannot make the server call another one; and no files
 * of this machine, which are not the nodes'. Hostile: the names. */
#ifndef SELVEDGE_SERVICE_STORE_SOURCES_H
#define SELVEDGE_SERVICE_STORE_SOURCES_H

#include "common/conf.h"
#include "common/error.h"

struct svc_sources;

enum svc_source_kind {
    SVC_SOURCE_ELSEWHERE, /* nobody looked */
    SVC_SOURCE_FILE,
    SVC_SOURCE_DIRECTORY,
};

/* `conf`, `user` and `credentials`, as in svc_store_open(), must outlive it. */
int svc_sources_open(struct sv_conf *conf, const char *user, int credentials,
                     struct svc_sources **ret, struct sv_error *err) _must_use_;
struct svc_sources *svc_sources_close(struct svc_sources *s);
/* A kind; -ENOENT: it is not there; -EACCES: the user may not look. */
int svc_sources_look(struct svc_sources *s, const char *name, struct sv_error *err) _must_use_;

#endif
