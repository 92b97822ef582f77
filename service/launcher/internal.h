/* Private to service/launcher/. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_INTERNAL_H
#define SELVEDGE_SERVICE_LAUNCHER_INTERNAL_H

#include "service/launcher/launcher.h"

/* Reads everything from the store, and goes on from there. */
int svc_lr_load(struct svc_lr *l, struct sv_error *err) _must_use_;
void svc_lr_clear(struct svc_lr *l); /* memory alone */
/* Adds a kill, or what is new to the one of that application. `framework` "": its files stay. NULL:
 * no memory. */
struct svc_lr_kill *svc_lr_kill_add(struct svc_lr *l, const char *app, const char *user,
                                    const char *framework);
void svc_lr_kill_remove(struct svc_lr *l, struct svc_lr_kill *k);
struct svc_lr_kill *svc_lr_kill_of(const struct svc_lr *l, const char *app);

/* families.c: a framework and those that stop or go with it, between begin and commit: at once, or
 * what is more in turns. -ENOMEM; -EBUSY: some of them are being stopped. */
int svc_lr_stop_family(struct svc_lr *l, struct svc_framework *first) _must_use_;
int svc_lr_delete_family(struct svc_lr *l, struct svc_framework *first) _must_use_;
void svc_lr_families_turn(struct svc_lr *l);
void svc_lr_families_resume(struct svc_lr *l); /* what the store says */
void svc_lr_families_clear(struct svc_lr *l);  /* memory alone */

/* Between begin and commit. -EIO: the store is down; memory is read anew from it. */
void svc_lr_begin(struct svc_lr *l);
int svc_lr_commit(struct svc_lr *l) _must_use_;
/* Runs an event, and what follows from the state it leads to; writes the status. */
void svc_lr_post(struct svc_lr *l, struct svc_framework *f, enum svc_lr_event e,
                 struct svc_lr_input *in);
/* The list of those that wait for an id or a process. */
void svc_lr_enqueue(struct svc_lr *l, struct svc_framework *f);
void svc_lr_dequeue(struct svc_lr *l, struct svc_framework *f);
/* Does what the state asks for. */
void svc_lr_settle(struct svc_lr *l, struct svc_framework *f);
void svc_lr_write_request(struct svc_lr *l, struct svc_framework *f); /* a new revision */
void svc_lr_write_status(struct svc_lr *l, struct svc_framework *f);
void svc_lr_write_meta(struct svc_lr *l, const char *key, json_t *value);
/* Its tasks were of an application that has ended. Writes the request, too. */
void svc_lr_forget_tasks(struct svc_lr *l, struct svc_framework *f);
/* Removes it, and has its application killed. */
void svc_lr_forget(struct svc_lr *l, struct svc_framework *f);
/* A new version: the application is killed, the status begins anew. */
void svc_lr_restart(struct svc_lr *l, struct svc_framework *f);
int64_t svc_lr_now(const struct svc_lr *l);

#endif
