/* NodesListManager. See nodes-list.h. The files are the operator's: a host is a word, a comment
 * begins with #. */
#include "rm-lite/nodes/nodes-list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "rm-lite/core/node-updates.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/nodes/hosts-xml.h"
#include "rm-lite/store/store.h"

#define LIST_MAX (16 * 1024 * 1024)

static int read_list(const char *path, struct rm_name_set **ret, struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    size_t len;
    int r;

    *ret = NULL;
    if (!path || !*path)
        return 0;
    r = sv_read_file_at(AT_FDCWD, path, LIST_MAX, &text, &len);
    if (r < 0)
        return sv_error_errno(err, r, "list of nodes %s", path);
    if (sv_has_suffix(path, ".xml"))
        return rm_hosts_xml(text, len, path, ret, err);
    for (char *p = text; *p;) {
        size_t n = strcspn(p, "# \t\r\n,");
        char end = p[n];

        p[n] = 0;
        if (n)
            rm_set_add(ret, p)->number = RM_NO_TIMEOUT;
        if (!end)
            break;
        p += n + 1;
        if (end == '#')
            p += strcspn(p, "\n");
    }
    return 0;
}

int rm_nodes_list_read(struct rm *rm, struct sv_error *err)
{
    struct rm_name_set *in = NULL, *ex = NULL;
    int r = read_list(rm->conf.nodes_include, &in, err);

    if (r >= 0)
        r = read_list(rm->conf.nodes_exclude, &ex, err);
    if (r < 0) {
        rm_set_clear(&in);
        return r;
    }
    rm_set_clear(&rm->include);
    rm_set_clear(&rm->exclude);
    rm->include = in;
    rm->exclude = ex;
    return 0;
}

bool rm_nodes_list_allows(struct rm *rm, const char *host)
{
    if (rm_set_has(rm->exclude, host))
        return false;
    return !rm->include || rm_set_has(rm->include, host);
}

/* A host's own timeout in the list takes precedence. */
static int64_t timeout_of(struct rm *rm, const char *host, int64_t timeout_ms)
{
    const struct rm_name_set *one = rm_set_get(rm->exclude, host);

    return one && one->number != RM_NO_TIMEOUT ? one->number : timeout_ms;
}

void rm_nodes_list_apply(struct rm *rm, bool graceful, int64_t timeout_ms)
{
    SV_DISPATCH_BATCH(rm->dispatcher); /* decommissioning a node changes the table */
    struct rm_node *n, *tmp;

    HASH_ITER (hh, rm->nodes, n, tmp) {
        bool allowed = rm_nodes_list_allows(rm, n->id.host);

        if (allowed && n->state == RM_NODE_ST_DECOMMISSIONING)
            rm_node_post(n, RM_NODE_EV_RECOMMISSION);
        else if (!allowed && graceful)
            rm_node_post_graceful(n, timeout_of(rm, n->id.host, timeout_ms));
        else if (!allowed)
            rm_node_post(n, RM_NODE_EV_DECOMMISSION);
    }
}

bool rm_nodes_list_drains(struct rm *rm, const char *key)
{
    const struct rm_name_set *one = rm_set_get(rm->draining, key);

    return one && (one->number == 0 || one->number > sv_wall_ms());
}

void rm_nodes_list_joined(struct rm *rm, struct rm_node *n)
{
    const struct rm_name_set *one = rm_set_get(rm->draining, n->key);

    if (!one)
        return;
    if (rm_nodes_list_allows(rm, n->id.host)) {
        rm_set_remove(&rm->draining, n->key);
        rm_store_drained(rm, n->key);
        return;
    }
    rm_node_post_graceful(n,
                          one->number == 0 ? -1 : SV_MAX(one->number - sv_wall_ms(), (int64_t)0));
}

static bool untracked(struct rm *rm, const char *host)
{
    return rm->include && !rm_set_has(rm->include, host) && !rm_set_has(rm->exclude, host);
}

void rm_nodes_list_forget(struct rm *rm, int64_t now_ms)
{
    struct rm_node *n, *tmp;

    HASH_ITER (hh, rm->inactive_nodes, n, tmp) {
        if (!untracked(rm, n->id.host))
            n->untracked_since_ms = 0;
        else if (!n->untracked_since_ms)
            n->untracked_since_ms = now_ms;
        else if (now_ms - n->untracked_since_ms >= rm->conf.untracked_ms) {
            sv_log_info("node %s: in no list of hosts: forgotten", n->key);
            HASH_DEL(rm->inactive_nodes, n);
            rm_node_updates_forget(n);
            rm_node_recount(n, false);
            HASH_ADD_STR(rm->dead_nodes, key, n); /* freed when the event queue is empty */
        }
    }
}
