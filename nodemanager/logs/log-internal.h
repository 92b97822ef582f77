/* Shared by the files of nodemanager/logs/. */
#ifndef SELVEDGE_NODEMANAGER_LOGS_LOG_INTERNAL_H
#define SELVEDGE_NODEMANAGER_LOGS_LOG_INTERNAL_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "executor/exe.h"
#include "logs/upload-request.h"
#include "nodemanager/core/context.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/logs/log-failures.h"
#include "nodemanager/logs/log-policy.h"
#include "nodemanager/logs/log-remote.h"

/* Mask of a container's number: without the epoch. */
#define NM_UPLOAD_SEQUENCE ((INT64_C(1) << 40) - 1)

enum nm_upload_state {
    NM_UPLOAD_APP_RUNS,
    NM_UPLOAD_ROLLS, /* a process uploads rolled logs of the application, which runs */
    NM_UPLOAD_WAITS, /* for its turn, or until retry_ms */
    NM_UPLOAD_RUNS,
    NM_UPLOAD_OVER, /* only its last report remains to be delivered */
};

/* Start of the record: host byte order, followed by the request's fields. */
struct nm_upload_head {
    uint16_t categories[EXE_CATEGORIES];
    uint32_t log_dirs;
    uint8_t policy; /* enum nm_log_policy */
    bool too_long;  /* a pattern was too long */
    uint8_t unused[2];
};

struct nm_upload {
    struct nm_upload *prev, *next;
    struct nm_log_aggregation *g;
    struct yarn_app_id app;
    char text[YARN_ID_TEXT_MAX];
    char account[EXE_USER_MAX + 1];
    struct nm_upload_head head;
    struct nm_log_sample sample; /* of the policy; recorded among the fields */
    struct sv_buf fields;        /* those of the application */
    struct sv_buf skips;         /* fields LOGS_TAG_SKIP */
    struct sv_buf credentials;   /* its tokens of file systems, "HDTS…"; empty: none */
    enum nm_upload_state state;
    unsigned attempts;
    int64_t retry_ms;

    /* log-rolling.c: */
    bool rolls;
    bool app_ended;      /* meanwhile: its last upload follows */
    bool recovered;      /* and nothing uploaded since: earlier ends of containers are unknown */
    int64_t roll_ms;     /* of the next upload while the application runs */
    struct sv_buf ended; /* fields LOGS_TAG_CONTAINER and LOGS_TAG_ENDED of containers that have
                            ended since */
    size_t ended_sent;   /* bytes of it in the current upload */

    /* log-keep-alive.c: when the ResourceManager is to hear that its tokens are needed, monotonic;
     * 0: its application runs, or the cluster is not secure */
    int64_t keep_alive_ms;
    bool keep_alive_told; /* by the message that is under way */

    /* log-process.c: while it runs */
    struct exe_localizer *exe;
    int channel;
    sd_event_source *io, *limit, *reap;

    /* log-reports.c: the next report to deliver; 0: none. A final one follows `status`. */
    int status, final_status;
    bool in_flight;
    char diagnostics[LOGS_UPLOAD_TEXT_MAX + 200];
};

struct nm_log_aggregation {
    struct nm_context *ctx;
    struct nm_log_handler *handler;
    struct nm_log_remote remote;
    struct nm_upload *list;
    struct nm_log_failures failures;
    unsigned running;
    /* The process has answered, or failed. */
    void (*answered)(struct nm_upload *u, const struct logs_answer *a);
    sd_event_source *timer;
};

/* log-find.c */
struct nm_upload *nm_upload_find(struct nm_log_aggregation *g, const char *app);
/* log-uploads.c */
struct nm_upload *nm_upload_add(struct nm_log_aggregation *g, struct yarn_app_id app,
                                const char *account); /* NULL: out of memory */
void nm_upload_drop(struct nm_upload *u);
int nm_upload_record(const struct nm_upload *u) _must_use_;
void nm_upload_unrecord(const struct nm_upload *u);
/* log-credentials.c */
/* Keeps those of the launch context of the application's first container here. */
void nm_upload_credentials_submitted(struct nm_upload *u, struct fs_credentials submitted);
/* Call it when the application has ended, before the renewed credentials are dropped. */
void nm_upload_credentials_last(struct nm_upload *u);
/* A sealed memfd with the tokens for an upload that starts now; -1: none. */
int nm_upload_credentials(const struct nm_upload *u, int *ret, struct sv_error *err) _must_use_;
void nm_upload_credentials_forget(struct nm_upload *u); /* and their record */
/* After the uploads. */
int nm_upload_credentials_restore(struct nm_log_aggregation *g) _must_use_;
/* log-keep-alive.c */
/* The application has ended. `at_once`: the next message tells it, since an earlier one may not
 * have. */
void nm_upload_keep_alive(struct nm_upload *u, bool at_once);
void nm_upload_keep_alive_told(struct nm_upload *u); /* the message was acknowledged */
/* log-process.c */
/* `more`: fields that follow those of the application. */
int nm_upload_start(struct nm_upload *u, const struct sv_buf *more, struct sv_error *err)
    _must_use_;
void nm_upload_stop(struct nm_upload *u);
/* Sends each process its share of the node's bytes per second, after a change of their number. */
void nm_uploads_share(const struct nm_log_aggregation *g);
/* log-rolling.c */
void nm_rolling_begin(struct nm_upload *u); /* its fields are complete */
bool nm_rolling_due(const struct nm_upload *u, int64_t now);
/* -ENODATA: no container has logs to upload now. */
int nm_rolling_start(struct nm_upload *u, struct sv_error *err) _must_use_;
void nm_rolling_answered(struct nm_upload *u, const struct logs_answer *a);
void nm_rolling_container_done(struct nm_upload *u, const char *container);
/* log-reports.c */
void nm_upload_report(struct nm_upload *u, int status, int final_status, const char *text);

#endif
