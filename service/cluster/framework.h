/* Work of the FrameworkLauncher in a process of its own, as a framework's user: submits a master,
 * kills one, removes its files. The request is this program's own: "/submit" or "/kill" with a JSON
 * body; its texts are users'. */
#ifndef SELVEDGE_SERVICE_CLUSTER_FRAMEWORK_H
#define SELVEDGE_SERVICE_CLUSTER_FRAMEWORK_H

#include "service/api/api.h"
#include "service/cluster/cluster.h"

/* Statuses of the answer, whose body is {"diagnostics": …}. */
#define SVC_WORK_DONE 200
#define SVC_WORK_REFUSED 409 /* by the ResourceManager, or the file system: for good */
#define SVC_WORK_AWAY 503    /* the ResourceManager, or the file system, did not answer */

void svc_framework_work(struct svc_cluster *c, const struct svc_request *q, struct svc_answer *ret);

#endif
