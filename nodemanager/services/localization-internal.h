/* Localization in three files, by what they own: localization.c the requests of containers and the
 * cache's answers, localization-process.c the localizers, localization-store.c what is stored and
 * read back. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_INTERNAL_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_INTERNAL_H

#include "localizer/cache.h"
#include "nodemanager/core/context.h"
#include "nodemanager/services/deletion-service.h"

struct loc_process; /* a localizer that runs */

struct nm_localization {
    struct nm_context *ctx;
    struct nm_deletion *deletion;
    struct loc_cache *cache;
    struct loc_process *processes;
    bool told_no_size;
    char *login; /* of the daemon: PUBLIC resources are fetched under its name */
};

/* Callbacks of the cache (struct loc_callbacks): start, stop, pick_dir. */
int nm_localization_process_start(void *userdata, uint64_t id, const struct loc_scope *scope,
                                  int *ret_fd, struct sv_error *err);
void nm_localization_process_stop(void *userdata, uint64_t id);
int nm_localization_pick_dir(void *userdata, uint64_t process, int64_t size);
/* Kills the localizers that still run. */
void nm_localization_processes_free(struct nm_localization *l);

/* Callbacks of the cache: started, completed, removed, remove. */
int nm_localization_record_started(void *userdata, const struct loc_record *r);
int nm_localization_record_completed(void *userdata, const struct loc_record *r);
void nm_localization_record_removed(void *userdata, const struct loc_record *r);
void nm_localization_remove(void *userdata, const struct loc_record *r);

#endif
