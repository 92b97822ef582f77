/* Localization of containers' resources (ResourceLocalizationService): the NodeManager's side of
 * localizer/cache.h. Starts container-localizer processes through executor/, keeps the cache's
 * records in the state store, and turns the cache's answers into container events. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_H

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/services/container-resources.h"

struct nm_context;
struct nm_app;
struct nm_container;
struct nm_deletion;
struct nm_localization;
struct loc_resource_progress;
struct loc_stats;
struct nm_hdfs_tokens_counts;

int nm_localization_new(struct nm_context *ctx, struct nm_deletion *deletion,
                        struct nm_localization **ret, struct sv_error *err) _must_use_;
struct nm_localization *nm_localization_free(struct nm_localization *l);
/* Reads the store's records; unfinished downloads are deleted. */
int nm_localization_recover(struct nm_localization *l, struct sv_error *err) _must_use_;

/* 1: nothing to fetch; 0: RESOURCE_LOCALIZED or RESOURCE_FAILED follows; negative: refused. The
 * code of these events is the number of the part that they are about. */
int nm_localization_request(struct nm_localization *l, struct nm_container *c, struct sv_error *err)
    _must_use_;
/* Resources added to a running container; one RESOURCE_LOCALIZED or RESOURCE_FAILED follows for
 * each, unless it does not run then. */
void nm_localization_add(struct nm_localization *l, struct nm_container *c, nm_resource_rows rows,
                         size_t n);
/* Resources of the context that a re-initialization brings (NEXT), or of the one that a rollback
 * returns to (PREVIOUS, of which no event tells); results as of nm_localization_request(). */
int nm_localization_next(struct nm_localization *l, struct nm_container *c,
                         enum nm_resources_role role,
                         const Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_error *err)
    _must_use_;
/* The container changes to resources of the role `by`; `keep`: its present ones become PREVIOUS,
 * otherwise they are released, and PREVIOUS ones with them. */
void nm_localization_replace(struct nm_localization *l, struct nm_container *c,
                             enum nm_resources_role by, bool keep);
void nm_localization_forget(struct nm_localization *l, struct nm_container *c,
                            enum nm_resources_role role);
/* Releases the references and cancels pending requests. */
void nm_localization_release(struct nm_localization *l, struct nm_container *c);
void nm_localization_app_finished(struct nm_localization *l, const struct nm_app *a);
void nm_localization_dir_failed(struct nm_localization *l, int index, bool deletable);

/* Resource `index` of all of a container: its name and progress. NULL: no
 * more. */
const char *nm_localization_progress(const struct nm_localization *l, const struct nm_container *c,
                                     unsigned index, struct loc_resource_progress *ret);
void nm_localization_stats(const struct nm_localization *l, struct loc_stats *ret);
/* Tokens of HDFS for PUBLIC resources; in a secure cluster. */
void nm_localization_tokens(const struct nm_localization *l, struct nm_hdfs_tokens_counts *ret);

#endif
