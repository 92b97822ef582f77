/* See gpu-discovery.h. */
#include "nodemanager/resources/gpu-discovery.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/resources/gpu-proc.h"
#include "nodemanager/resources/gpu-smi.h"

#define ALLOWED "yarn.nodemanager.resource-plugins.gpu.allowed-gpu-devices"
#define LISTED_MAX 64

/* ---- the operator's list ---- */

struct listed {
    uint32_t index[LISTED_MAX], minor[LISTED_MAX];
    size_t n;
};

static bool add_listed(struct listed *l, uint64_t index, uint64_t minor)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->minor[i] == minor)
            return false;
    if (l->n == LISTED_MAX)
        return false;
    l->index[l->n] = (uint32_t)index;
    l->minor[l->n++] = (uint32_t)minor;
    return true;
}

static int parse_allowed(const char *allowed, struct listed *ret, struct sv_error *err)
{
    _cleanup_strv_ char **list = NULL;
    int r = sv_strv_split(allowed, ',', &list);

    ret->n = 0;
    if (r < 0)
        return sv_error_errno(err, r, ALLOWED);
    for (char **one = list; one && *one; one++) {
        char *colon = strchr(*one, ':');
        uint64_t index, minor;

        if (colon)
            *colon = '\0';
        if (!colon || sv_parse_u64(*one, 0, NM_GPU_MINOR_MAX, &index) < 0 ||
            sv_parse_u64(colon + 1, 0, NM_GPU_MINOR_MAX, &minor) < 0 ||
            !add_listed(ret, index, minor))
            return sv_error_set(err, -EINVAL,
                                ALLOWED ": \"%s\" is not auto and not a list of index:minor, each "
                                        "minor number once",
                                allowed);
    }
    return ret->n ? 0 : sv_error_set(err, -EINVAL, ALLOWED ": no device; auto finds them");
}

static bool is_auto(const struct nm_gpu_sources *s)
{
    return strcmp(s->allowed, "auto") == 0;
}

/* Without the driver's files, perhaps another vendor's cards, a listed card is its node. */
static void add_absent(const struct nm_gpu_sources *s, bool driver, uint32_t index, uint32_t minor,
                       const char *why, struct nm_gpus *to)
{
    struct nm_gpu g = { .index = index, .minor = minor, .mig_index = -1 };

    nm_gpu_check_node(s->root, s->major, minor, g.gone);
    if (!*g.gone && (driver || !*why))
        (void)snprintf(g.gone, sizeof(g.gone), "%s",
                       *why ? why
                            : "the driver does not list it in /proc/driver/nvidia/gpus: it was "
                              "removed, or " ALLOWED " is wrong");
    if (to->n < NM_GPUS_MAX)
        to->v[to->n++] = g;
}

/* Leaves the cards of the list, with its indices, and those that cannot be read. */
static void restrict_to(const struct nm_gpu_sources *s, const struct listed *l, bool driver,
                        struct nm_gpus *g)
{
    size_t all = g->n;
    bool seen[LISTED_MAX] = { false };

    g->n = 0;
    for (size_t i = 0; i < all; i++) {
        bool keep = g->v[i].minor == NM_GPU_NO_MINOR;

        for (size_t k = 0; k < l->n; k++)
            if (l->minor[k] == g->v[i].minor) {
                g->v[i].index = l->index[k];
                keep = seen[k] = true;
            }
        if (keep && g->n != i)
            g->v[g->n] = g->v[i];
        g->n += keep;
    }
    for (size_t k = 0; k < l->n; k++)
        if (!seen[k])
            add_absent(s, driver, l->index[k], l->minor[k], g->why, g);
}

void nm_gpu_look(const struct nm_gpu_sources *s, bool driver, struct nm_gpus *ret)
{
    struct listed listed;

    nm_gpu_scan(s->root, s->major, ret);
    if (!is_auto(s) && parse_allowed(s->allowed, &listed, NULL) == 0)
        restrict_to(s, &listed, driver, ret);
    nm_gpu_sort(ret);
}

/* ---- names ---- */

static void name_instance(const struct nm_smi_gpu *card, struct nm_gpu *g)
{
    for (size_t i = 0; i < card->n_mig; i++) {
        if (card->mig[i].gi != g->gi || card->mig[i].ci != g->ci)
            continue;
        g->mig_index = (int32_t)card->mig[i].index;
        if (*card->mig[i].uuid)
            (void)snprintf(g->uuid, sizeof(g->uuid), "%s", card->mig[i].uuid);
        else if (*card->uuid)
            (void)snprintf(g->uuid, sizeof(g->uuid), "MIG-%.60s/%u/%u", card->uuid, g->gi, g->ci);
    }
}

/* nvidia-smi's order decides indices that no list gives. Which cards there are, the driver's files
 * decide. */
static void take_names(const struct nm_gpu_sources *s, const struct nm_smi *smi, struct nm_gpus *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct nm_gpu *one = &g->v[i];
        size_t k = 0;

        while (k < smi->n && smi->v[k].minor != one->minor)
            k++;
        if (k == smi->n)
            continue;
        if (is_auto(s))
            one->index = (uint32_t)k;
        if (!*one->model)
            (void)snprintf(one->model, sizeof(one->model), "%s", smi->v[k].model);
        if (one->instance)
            name_instance(&smi->v[k], one);
        else if (!*one->uuid)
            (void)snprintf(one->uuid, sizeof(one->uuid), "%s", smi->v[k].uuid);
    }
    nm_gpu_sort(g);
}

static int ask_program(const struct nm_gpu_sources *s, struct nm_gpus *g, struct sv_error *err)
{
    _cleanup_free_ struct nm_smi *smi = malloc(sizeof(*smi));
    struct sv_error why = { 0 };
    char path[PATH_MAX];
    int r = smi ? nm_smi_find(s->program, path, sizeof(path), err)
                : sv_error_errno(err, -ENOMEM, "GPUs");

    if (r < 0)
        return r;
    if (nm_smi_run(path, smi, &why) < 0)
        sv_log_warning("GPUs: %s: the driver's files decide", why.text);
    else
        take_names(s, smi, g);
    return 0;
}

int nm_gpu_discover(const struct nm_gpu_sources *s, struct nm_gpus *ret, struct sv_error *err)
{
    struct listed listed;
    int r = is_auto(s) ? 0 : parse_allowed(s->allowed, &listed, err);

    if (r < 0)
        return r;
    nm_gpu_look(s, false, ret);
    return s->program && *s->program ? ask_program(s, ret, err) : 0;
}

/* ---- changes ---- */

static struct nm_gpu *find(struct nm_gpus *in, const struct nm_gpu *g)
{
    for (size_t i = 0; i < in->n; i++) {
        struct nm_gpu *x = &in->v[i];

        if (x->minor == g->minor && x->instance == g->instance &&
            (g->minor != NM_GPU_NO_MINOR || sv_streq(x->bus, g->bus)) &&
            (!g->instance || (x->gi == g->gi && x->ci == g->ci)))
            return x;
    }
    return NULL;
}

static const struct nm_gpu *same_bus(const struct nm_gpus *in, const struct nm_gpu *g, bool read)
{
    for (size_t i = 0; *g->bus && i < in->n; i++)
        if ((in->v[i].minor != NM_GPU_NO_MINOR) == read && sv_streq(in->v[i].bus, g->bus))
            return &in->v[i];
    return NULL;
}

static bool set_gone(struct nm_gpu *g, const char *why)
{
    char text[256];

    if (strcmp(g->gone, why) == 0)
        return false;
    nm_gpu_text(g, text, sizeof(text));
    if (*why)
        sv_log_warning("%s is withdrawn: %s", text, why);
    else
        sv_log_notice("%s is offered again", text);
    (void)snprintf(g->gone, sizeof(g->gone), "%s", why);
    return true;
}

/* True if it is to be forgotten: what an operator has partitioned anew, or a card that can be read
 * now, is no fault. */
static bool take_absence(struct nm_gpu *g, const struct nm_gpus *found, bool *ret_changed)
{
    const struct nm_gpu *unread = same_bus(found, g, false), *other = same_bus(found, g, true);

    if (!g->owner && other && (g->instance || other->instance || g->minor == NM_GPU_NO_MINOR)) {
        *ret_changed = true;
        return true;
    }
    *ret_changed |= set_gone(g, unread        ? unread->gone
                                : *found->why ? found->why
                                : other && other->instance != g->instance
                                    ? "the card was partitioned anew"
                                    : "the driver does not list it any more");
    return false;
}

/* Names that are known already are kept: those of nvidia-smi are better. */
static bool take_found(struct nm_gpu *g, const struct nm_gpu *f)
{
    memcpy(g->access, f->access, sizeof(g->access));
    if (!*g->uuid)
        (void)snprintf(g->uuid, sizeof(g->uuid), "%s", f->uuid);
    if (!*g->model)
        (void)snprintf(g->model, sizeof(g->model), "%s", f->model);
    if (!*g->bus)
        (void)snprintf(g->bus, sizeof(g->bus), "%s", f->bus);
    return set_gone(g, f->gone);
}

bool nm_gpu_merge(struct nm_gpus *known, const struct nm_gpus *found)
{
    const size_t before = known->n;
    bool changed = false;
    char text[256];

    known->n = 0;
    for (size_t i = 0; i < before; i++) {
        struct nm_gpu *g = &known->v[i];
        const struct nm_gpu *f = find((struct nm_gpus *)(uintptr_t)found, g);

        if (f)
            changed |= take_found(g, f);
        else if (take_absence(g, found, &changed))
            continue;
        if (known->n != i)
            known->v[known->n] = *g;
        known->n++;
    }
    for (size_t i = 0; i < found->n && known->n < NM_GPUS_MAX; i++) {
        const struct nm_gpu *f = &found->v[i];

        if (find(known, f) || (f->minor == NM_GPU_NO_MINOR && same_bus(known, f, true)))
            continue;
        nm_gpu_text(f, text, sizeof(text));
        sv_log_notice("%s was found%s%s", text, *f->gone ? ", withdrawn: " : "", f->gone);
        known->v[known->n++] = *f;
        changed = true;
    }
    if (strcmp(known->why, found->why) != 0) {
        if (*found->why)
            sv_log_warning("GPUs: %s", found->why);
        memcpy(known->why, found->why, sizeof(known->why));
        changed = true;
    }
    if (*found->driver)
        memcpy(known->driver, found->driver, sizeof(known->driver));
    nm_gpu_sort(known);
    return changed;
}

size_t nm_gpu_offered(const struct nm_gpus *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        n += !*g->v[i].gone;
    return n;
}

void nm_gpu_report(const struct nm_gpus *g, char *text, size_t size)
{
    size_t at = 0;
    char one[256];

    text[0] = '\0';
    for (size_t i = 0; i < g->n && at < size; i++) {
        if (!*g->v[i].gone)
            continue;
        nm_gpu_text(&g->v[i], one, sizeof(one));
        at += (size_t)snprintf(text + at, size - at, "%s%s is withdrawn: %s", at ? ";" : "", one,
                               g->v[i].gone);
    }
    if (!at && !g->n)
        (void)snprintf(text, size, "no GPU: %s",
                       *g->why ? g->why : "the driver lists none in /proc/driver/nvidia/gpus");
}

/* A container's process has its user's groups and no other: a group like video would give it every
 * node of that group, and container-executor has no CAP_MKNOD to make nodes of its own. The device
 * filter guards the cards, so that their mode need not. */
static void warn_mode(const char *root, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/dev/%s", root, name);
    if (stat(path, &st) < 0 || (st.st_mode & 06) == 06)
        return;
    sv_log_warning("/dev/%s: mode %04o, group %u: in a container only users of that group can open "
                   "it, if selvedge.banned.groups does not name it. Set NVreg_DeviceFileMode=0666 "
                   "for the module nvidia: the device filter keeps a card from all but its "
                   "container",
                   name, (unsigned)(st.st_mode & 07777), (unsigned)st.st_gid);
}

void nm_gpu_warn_modes(const char *root, const struct nm_gpus *g)
{
    static const char *const controls[] = { "nvidiactl", "nvidia-uvm" };
    char name[32];

    for (size_t i = 0; g->n && i < SV_ARRAY_LEN(controls); i++)
        warn_mode(root, controls[i]);
    for (size_t i = 0; i < g->n; i++) {
        if (g->v[i].minor == NM_GPU_NO_MINOR || (i && g->v[i].minor == g->v[i - 1].minor))
            continue;
        (void)snprintf(name, sizeof(name), "nvidia%u", g->v[i].minor);
        warn_mode(root, name);
    }
}
