/* Blocking work as jobs of one thread, in order: launches are prepared, the journal and the
 * definition are stored, another version is read. A job that was given up has no effect but what
 * was written. */
#ifndef SELVEDGE_SERVICE_AM_LAUNCH_WORK_H
#define SELVEDGE_SERVICE_AM_LAUNCH_WORK_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "service/am/launch/files.h"
#include "service/am/launch/launch.h"
#include "service/am/launch/plan.h"

struct svc_work;

/* Takes the files, which are the thread's from now on, with their configuration; they are closed
 * when no job uses them any more. */
int svc_work_new(sd_event *event, struct svc_files *files, struct sv_conf *conf,
                 struct svc_work **ret) _must_use_;
/* No callback runs afterwards; does not wait. Plans and texts that jobs use must live until the
 * process ends. Accepts NULL, returns NULL. */
struct svc_work *svc_work_free(struct svc_work *w);

/* All callbacks run once, from the loop: status 0, or -errno and a text. */
typedef void (*svc_launched_fn)(struct yarn_container_id id, int status,
                                const struct cli_launch *launch, const struct sv_error *err,
                                void *userdata);
/* Names and container id of the request are copied, and its peers shared; component, definition,
 * tokens and credentials must live until the callback. */
int svc_work_launch(struct svc_work *w, struct yarn_container_id id,
                    const struct svc_launch_request *q, svc_launched_fn fn, void *userdata)
    _must_use_;

typedef void (*svc_stored_fn)(int status, const struct sv_error *err, void *userdata);
/* Replaces a file of the service's directory by the bytes of the buffer, which is taken. */
int svc_work_replace(struct svc_work *w, const char *name, struct sv_buf *bytes, svc_stored_fn fn,
                     void *userdata) _must_use_;

/* Any other job: `run` on the thread, with the files; `done` from the loop, unless it was given up;
 * then `free`, on either. */
struct svc_any_job {
    void *data, *userdata;
    void (*run)(struct svc_files *files, void *data);
    void (*done)(void *data, void *userdata);
    void (*free)(void *data);
};
/* On failure the caller keeps the data. */
int svc_work_any(struct svc_work *w, const struct svc_any_job *any) _must_use_;

/* The plan belongs to the callee. */
typedef void (*svc_plan_fn)(int status, struct svc_plan *plan, const struct sv_error *err,
                            void *userdata);
/* Reads "upgrade/VERSION/NAME.json". -EINVAL: not the name of a version. */
int svc_work_plan(struct svc_work *w, const char *version, svc_plan_fn fn, void *userdata)
    _must_use_;

#endif
