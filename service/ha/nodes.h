/* Rows of the launcher's store as nodes of ZooKeeper, below the root:
 *
 *     Launcher/KEY                     a part of the launcher's own request
 *     Requests/FRAMEWORK               the number of its set of tasks, a line feed, its request
 *     Statuses/FRAMEWORK               its status
 *     TaskStatuses/SET/ROLE:N/INDEX    a task; N: its index / 1000, for no list of names is long
 *     Kills/APPLICATION                user, a line feed, a framework or nothing
 *
 * Names and places are those of the original launcher where it has them; values are the JSON of
 * record.c. A framework named "." or ".." has dots as "%2E". Hostile: what is read, which anybody
 * may have written whom the nodes' ACL admits. */
#ifndef SELVEDGE_SERVICE_HA_NODES_H
#define SELVEDGE_SERVICE_HA_NODES_H

#include "common/buf.h"
#include "service/launcher/store-backend.h"

#define SVC_HA_PATH_MAX 640 /* of a node, below the root */

/* The directories, and how many levels of nodes are below each; the last has values. */
struct svc_ha_directory {
    const char *name;
    unsigned levels;
};
const struct svc_ha_directory *svc_ha_directories(size_t *ret_n);

/* The node of a row, without a slash before it; a row that removes one has no value. -EINVAL: not
 * a row that has a node (SVC_LR_ROW_REMOVE has two, SVC_LR_ROW_DROP none). */
int svc_ha_node_path(const struct svc_lr_row *row, char ret[SVC_HA_PATH_MAX]) _must_use_;
/* Adds the value of such a row to `ret`. -ENOMEM, -EMSGSIZE: of the buffer. */
int svc_ha_node_value(const struct svc_lr_row *row, struct sv_buf *ret) _must_use_;

/* A node as the row that it is: REQUEST, STATUS, TASK, KILL or META, whose texts point into `path`
 * and `value`, which are changed; the latter has `len` bytes and a NUL. -EUCLEAN: it is none. */
int svc_ha_node_read(char *path, char *value, size_t len, struct svc_lr_row *ret) _must_use_;
/* "TaskStatuses/SET", above the nodes of a set. */
void svc_ha_set_path(int64_t tasks, char ret[SVC_HA_PATH_MAX]);

#endif
