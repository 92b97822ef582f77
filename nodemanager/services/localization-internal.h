/* Localization in three files, by responsibility: localization.c has the requests of containers and
 * the cache's answers, localization-process.c the localizers, localization-store.c the records. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_INTERNAL_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_INTERNAL_H

#include "localizer/cache.h"
#include "nodemanager/core/context.h"
#include "nodemanager/services/deletion-service.h"

struct loc_process; /* a running localizer */

struct nm_localization {
    struct nm_context *ctx;
    struct nm_deletion *deletion;
    struct loc_cache *cache;
    struct loc_process *processes;
    unsigned parts; /* the last one's number */
    bool told_no_size;
    char *login; /* name of the daemon's account, used to fetch PUBLIC resources */
};

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
