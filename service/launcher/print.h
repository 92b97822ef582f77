/* Frameworks as the REST API shows them. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_PRINT_H
#define SELVEDGE_SERVICE_LAUNCHER_PRINT_H

#include <jansson.h>

#include "service/launcher/model.h"

/* New references; NULL: no memory. */
json_t *svc_lr_framework_status(const struct svc_framework *f);
json_t *svc_lr_summary(const struct svc_framework *f);
json_t *svc_lr_role_status(const struct svc_framework *f, const char *role);
/* As texts, malloc'd, since they have the descriptor's in them. */
char *svc_lr_framework_request(const struct svc_framework *f);
char *svc_lr_aggregated_request(const struct svc_framework *f);
/* The state that is shown: of the application's, whether a task runs. */
int svc_lr_shown_state(const struct svc_framework *f);
/* A task's text as it is shown once the application has ended: malloc'd; NULL: no memory. */
char *svc_lr_ended_task(const struct svc_framework *f, const char *text);

/* For the store: the request and the status of a framework, malloc'd; NULL: no memory. */
char *svc_lr_record_request(const struct svc_framework *f);
char *svc_lr_record_status(const struct svc_framework *f);
/* -EUCLEAN: damaged. */
int svc_lr_read_request(struct svc_lr_all *all, struct svc_framework *f, const char *text)
    _must_use_;
int svc_lr_read_status(struct svc_lr_all *all, struct svc_framework *f, const char *text)
    _must_use_;

#endif
