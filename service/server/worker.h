/* The process of one request: becomes the caller's account where definitions are files of this
 * machine, answers, ends. What hangs or crashes in it is this request's alone. */
#ifndef SELVEDGE_SERVICE_SERVER_WORKER_H
#define SELVEDGE_SERVICE_SERVER_WORKER_H

#include "service/server/conf.h"

/* In a new process. `request`: of svc_request_put(); `answer`: where svc_answer_write() goes. The
 * exit status of the process. */
int svc_worker_run(const struct svc_conf *conf, int request, int answer) _must_use_;

#endif
