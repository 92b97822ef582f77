/* Localization of containers' resources (ResourceLocalizationService): the NodeManager's side of
 * localizer/cache.h. Starts container-localizer processes through executor/, keeps the cache's
 * records in the state store, and turns the cache's answers into container events. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"
#include "executor/script.h"
#include "wire/ipc/methods.h"

struct nm_context;
struct nm_app;
struct nm_container;
struct nm_deletion;
struct nm_localization;
struct loc_resource_progress;
struct loc_stats;

int nm_localization_new(struct nm_context *ctx, struct nm_deletion *deletion,
                        struct nm_localization **ret, struct sv_error *err) _must_use_;
struct nm_localization *nm_localization_free(struct nm_localization *l);
/* Reads the store's records; unfinished downloads are deleted. */
int nm_localization_recover(struct nm_localization *l, struct sv_error *err) _must_use_;

/* 1: nothing to fetch; 0: RESOURCE_LOCALIZED or RESOURCE_FAILED follows; negative: refused. */
int nm_localization_request(struct nm_localization *l, struct nm_container *c, struct sv_error *err)
    _must_use_;
/* Releases the references and cancels a pending request. */
void nm_localization_release(struct nm_localization *l, struct nm_container *c);
void nm_localization_app_finished(struct nm_localization *l, const struct nm_app *a);
void nm_localization_dir_failed(struct nm_localization *l, int index, bool deletable);

/* Resource `index` of a container whose files are being fetched: its name and progress. NULL: no
 * more. */
const char *nm_localization_progress(const struct nm_localization *l, const struct nm_container *c,
                                     unsigned index, struct loc_resource_progress *ret);
void nm_localization_stats(const struct nm_localization *l, struct loc_stats *ret);

/* Links of the work directory, in the arena; valid until released. */
int nm_localization_links(const struct nm_container *c, struct sv_arena *a, struct exe_link **ret,
                          size_t *ret_n) _must_use_;
/* "bytes missed,bytes cached,files missed,files cached,ms" */
const char *nm_localization_counters(const struct nm_container *c, struct sv_arena *a);
/* For getLocalizationStatuses: NULL when the arena is exhausted. */
Hadoop__Yarn__ContainerLocalizationStatusesProto *
nm_localization_status(const struct nm_container *c, struct sv_arena *a);

#endif
