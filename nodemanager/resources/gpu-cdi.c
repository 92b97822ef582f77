/* See gpu-cdi.h. */
#include "nodemanager/resources/gpu-cdi.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/conf/conf-shown.h"

#define TOLD_MAX 32 /* nodes that are not given, in the log */

struct nm_gpu_cdi {
    const char *root;
    struct nm_cdi *specs;
    const struct nm_cdi_place *told[TOLD_MAX];
    size_t n_told;
};

static void on_tell(const char *text, void *userdata)
{
    (void)userdata;
    sv_log_warning("CDI: %s", text);
}

static int check_mount(struct nm_shown *shown, const struct nm_cdi_spec *s,
                       const struct nm_cdi_place *m)
{
    char at[PATH_MAX];
    const char *why;
    int r;

    if (!sv_streq(m->host, m->inside)) {
        sv_log_warning("CDI: %s: mount %s: a container sees it there, if anywhere, and not at %s",
                       s->file, m->host, m->inside);
        return 0;
    }
    if (m->writable)
        sv_log_warning("CDI: %s: mount %s: a container sees it read-only", s->file, m->host);
    r = nm_shown_add(shown, m->host, at, &why);
    if (r == NM_SHOWN_ADDED)
        sv_log_warning("CDI: %s: mount %s: containers do not see it: container-executor.cfg does "
                       "not allow %s; `selvedge doctor` prints the line that does",
                       s->file, m->host, at);
    else if (r == NM_SHOWN_REFUSED)
        sv_log_warning("CDI: %s: mount %s: containers do not see it: %s: %s", s->file, m->host, at,
                       why);
    else if (r == NM_SHOWN_ABSENT)
        sv_log_warning("CDI: %s: mount %s: it is not on this node", s->file, m->host);
    return r < 0 ? r : 0;
}

static int check_mounts(struct nm_shown *shown, const struct nm_cdi_spec *s,
                        const struct nm_cdi_edits *e)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < e->n_mounts; i++)
        r = check_mount(shown, s, &e->mounts[i]);
    return r;
}

static int check_all(const struct nm_conf *conf, const struct nm_cdi *c)
{
    struct nm_shown *shown = nm_shown_new(conf, NULL);
    int r = shown ? 0 : -ENOMEM;

    for (size_t i = 0; r >= 0 && i < c->n; i++) {
        r = check_mounts(shown, c->specs[i], &c->specs[i]->all);
        for (size_t k = 0; r >= 0 && k < c->specs[i]->n; k++)
            r = check_mounts(shown, c->specs[i], &c->specs[i]->devices[k].edits);
    }
    (void)nm_shown_free(shown);
    return r;
}

int nm_gpu_cdi_new(const char *root, uid_t owner, const struct nm_conf *conf,
                   struct nm_gpu_cdi **ret)
{
    struct nm_gpu_cdi *c;
    int r;

    *ret = NULL;
    if (!conf->gpu_cdi || !*conf->gpu_cdi)
        return 0;
    c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->root = root;
    r = nm_cdi_load(root, conf->gpu_cdi, owner, on_tell, NULL, &c->specs);
    if (r >= 0 && c->specs->n == 0)
        sv_log_warning("CDI: neither /etc/cdi nor /var/run/cdi has a specification of %s that can "
                       "be used (selvedge.nodemanager.gpu.cdi-kind)",
                       conf->gpu_cdi);
    if (r >= 0)
        r = check_all(conf, c->specs);
    if (r < 0)
        return (void)nm_gpu_cdi_free(c), r;
    *ret = c;
    return 0;
}

struct nm_gpu_cdi *nm_gpu_cdi_free(struct nm_gpu_cdi *c)
{
    if (c)
        (void)nm_cdi_free(c->specs);
    free(c);
    return NULL;
}

bool nm_gpu_cdi_edits(const struct nm_gpu_cdi *c, const struct nm_gpu *g,
                      const struct nm_cdi_edits *ret[2])
{
    const struct nm_cdi_spec *spec = NULL;
    const struct nm_cdi_device *d = NULL;
    char number[32] = "";

    if (!c)
        return false;
    if (!g->instance)
        (void)snprintf(number, sizeof(number), "%u", g->index);
    else if (g->mig_index >= 0)
        (void)snprintf(number, sizeof(number), "%u:%d", g->index, g->mig_index);
    if (*g->uuid)
        d = nm_cdi_find(c->specs, g->uuid, &spec);
    if (!d && *number)
        d = nm_cdi_find(c->specs, number, &spec);
    if (!d)
        return false;
    ret[0] = &spec->all;
    ret[1] = &d->edits;
    return true;
}

/* Those that container-executor gives with any card (policy-compile.c). */
static bool is_control(const char *path)
{
    static const char *const names[] = { "/dev/nvidiactl", "/dev/nvidia-modeset", "/dev/nvidia-uvm",
                                         "/dev/nvidia-uvm-tools" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (sv_streq(path, names[i]))
            return true;
    return false;
}

static void tell_once(struct nm_gpu_cdi *c, const struct nm_cdi_place *node, const char *why)
{
    for (size_t i = 0; i < c->n_told; i++)
        if (c->told[i] == node)
            return;
    if (c->n_told == TOLD_MAX)
        return;
    c->told[c->n_told++] = node;
    sv_log_warning("CDI: device node %s: containers do not get it: %s", node->host, why);
}

bool nm_gpu_cdi_node(struct nm_gpu_cdi *c, const struct exe *exe, const struct nm_cdi_place *node,
                     struct exe_device *ret)
{
    char path[PATH_MAX], why[160];
    struct stat st;

    if (is_control(node->host))
        return false;
    if (!sv_streq(node->host, node->inside)) {
        tell_once(c, node, "a node has the same name in a container");
        return false;
    }
    (void)snprintf(path, sizeof(path), "%s%s", c->root, node->host);
    if (stat(path, &st) < 0 || !S_ISCHR(st.st_mode)) {
        tell_once(c, node, "it is not a character device of this node");
        return false;
    }
    *ret = (struct exe_device){ major(st.st_rdev), minor(st.st_rdev) };
    if (exe_assignable(exe, ret))
        return true;
    (void)snprintf(why, sizeof(why),
                   "container-executor.cfg does not allow %u:%u: add it to devices.allowed-numbers "
                   "of [devices]",
                   ret->major, ret->minor);
    tell_once(c, node, why);
    return false;
}
