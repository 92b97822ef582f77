/* Log aggregation (LogAggregationService): when an application has ended on this node, log-uploader
 * writes its containers' logs into the remote log directory, as the application's account; the
 * daemon opens no log. Uploads wait in the state store. Without yarn.log-aggregation-enable ended
 * applications only pass to the log handler.
 *
 * Local logs keep the log handler's deadline (yarn.nodemanager.log.retain-seconds) until they are
 * uploaded, and are then deleted immediately: an upload that fails for good, or takes longer, loses
 * nothing before that. */
#ifndef SELVEDGE_NODEMANAGER_LOGS_LOG_AGGREGATION_H
#define SELVEDGE_NODEMANAGER_LOGS_LOG_AGGREGATION_H

#include "common/arena.h"
#include "common/error.h"
#include "fs/tokens.h"
#include "proto/yarn_server.pb-c.h"

struct nm_app;
struct nm_container;
struct nm_context;
struct nm_log_aggregation;
struct nm_log_failures;
struct nm_log_handler;
struct yarn_container_token;

int nm_aggregation_new(struct nm_context *ctx, struct nm_log_handler *handler,
                       struct nm_log_aggregation **ret, struct sv_error *err) _must_use_;
struct nm_log_aggregation *nm_aggregation_free(struct nm_log_aggregation *g);
/* Restores uploads from the state store, after the applications. */
int nm_aggregation_recover(struct nm_log_aggregation *g) _must_use_;

/* The application's first container on this node; its token has the application's log aggregation
 * context, its launch context the credentials. */
int nm_aggregation_app_started(struct nm_log_aggregation *g, const struct nm_app *a,
                               const struct yarn_container_token *t,
                               struct fs_credentials credentials) _must_use_;
/* Applies the application's policy to the container's logs. */
void nm_aggregation_container_done(struct nm_log_aggregation *g, const struct nm_container *c);
/* Starts the upload; notifies the log handler. */
void nm_aggregation_app_finished(struct nm_log_aggregation *g, struct nm_app *a);

/* The ResourceManager says that the application has ended: its tokens are valid for a while. */
void nm_aggregation_app_ends(struct nm_log_aggregation *g, const char *app);
/* Ended applications whose tokens are still needed, for the status of the node, in `a`; NULL: out
 * of memory. */
Hadoop__Yarn__ApplicationIdProto **nm_aggregation_keep_alive(struct nm_log_aggregation *g,
                                                             struct sv_arena *a, size_t *ret_n);

/* Reports that the ResourceManager has not acknowledged, in `a`; NULL: out of memory. */
Hadoop__Yarn__LogAggregationReportProto **nm_aggregation_reports(struct nm_log_aggregation *g,
                                                                 struct sv_arena *a, size_t *ret_n);
/* The message with the reports, and with the status of the node, was acknowledged. */
void nm_aggregation_reports_delivered(struct nm_log_aggregation *g);
/* Uploads that failed for good, of logs still on this node. */
const struct nm_log_failures *nm_aggregation_failures(const struct nm_log_aggregation *g);

#endif
