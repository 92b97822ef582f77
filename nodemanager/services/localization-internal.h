/* Localization in four files, by responsibility: localization.c has the requests of containers and
 * the cache's answers, localization-credentials.c the credentials of downloads,
 * localization-process.c the localizers, localization-store.c the records. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_INTERNAL_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_INTERNAL_H

#include "gss/daemon.h"
#include "localizer/cache.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/hdfs-tokens.h"

struct loc_process; /* a running localizer */

struct nm_localization {
    struct nm_context *ctx;
    struct nm_deletion *deletion;
    struct loc_cache *cache;
    struct loc_process *processes;
    unsigned parts; /* the last one's number */
    bool told_no_size;
    char *login; /* name of the daemon's account, used to fetch PUBLIC resources */
    /* In a secure cluster its login at NameNodes, and what it gets there, in the place of `login`;
     * else unused and NULL. */
    struct sgss_service namenode;
    struct nm_hdfs_tokens *tokens;
};

/* The launch context whose credentials are used: the one that a re-initialization brings. */
static inline const Hadoop__Yarn__ContainerLaunchContextProto *
nm_localization_context(const struct nm_container *c)
{
    return c->reinit.clc ? c->reinit.clc : c->clc;
}

/* Callbacks of the cache: credentials, refused. */
int nm_localization_credentials(void *userdata, struct yarn_container_id id,
                                const struct loc_resource *r, int *ret, struct sv_error *err);
bool nm_localization_refused(void *userdata, const struct loc_resource *r);
/* Prepares tokens of the node, in a secure cluster; else a no-op. */
int nm_localization_tokens_new(struct nm_localization *l) _must_use_;

/* Callbacks of the cache (struct loc_callbacks): start, stop, pick_dir. */
int nm_localization_process_start(void *userdata, uint64_t id, const struct loc_scope *scope,
                                  int *ret_fd, struct sv_error *err);
void nm_localization_process_stop(void *userdata, uint64_t id);
int nm_localization_pick_dir(void *userdata, uint64_t process, int64_t size);
/* Kills the running localizers. */
void nm_localization_processes_free(struct nm_localization *l);

/* Callbacks of the cache: started, completed, removed, remove. */
int nm_localization_record_started(void *userdata, const struct loc_record *r);
int nm_localization_record_completed(void *userdata, const struct loc_record *r);
void nm_localization_record_removed(void *userdata, const struct loc_record *r);
void nm_localization_remove(void *userdata, const struct loc_record *r);

#endif
