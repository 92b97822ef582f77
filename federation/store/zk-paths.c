/* See zk-paths.h. */
#include "federation/store/zk-paths.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define ROUTER "router_rm_dt_secret_manager_root/"

static const char *const folders[FED_KINDS] = {
    [FED_MEMBER] = "memberships",
    [FED_HOME] = "applications",
    [FED_RESERVATION] = "reservation",
    [FED_POLICY] = "policies",
    [FED_KEY] = ROUTER "router_rm_dt_master_keys_root",
    [FED_TOKEN] = ROUTER "router_rm_delegation_tokens_root",
};

const char *fed_zk_folder(struct sv_arena *a, const char *root, enum fed_kind kind, unsigned split)
{
    if (split > 0)
        return sv_arena_printf(a, "%s/%s/HIERARCHIES/%u", root, folders[kind], split);
    return sv_arena_printf(a, "%s/%s", root, folders[kind]);
}

const char *fed_zk_name(struct fed_call *c)
{
    const struct fed_request *q = &c->request;
    char text[YARN_ID_TEXT_MAX];

    switch (fed_operations[q->op].kind) {
    case FED_MEMBER:
        return q->member.id;
    case FED_HOME:
        return sv_arena_strdup(c->arena, yarn_app_id_text(q->home.app, text));
    case FED_RESERVATION:
        return q->reservation.id;
    case FED_POLICY:
        return q->policy.queue;
    case FED_KEY:
        return sv_arena_printf(c->arena, "%d", q->key.id);
    default:
        return sv_arena_printf(c->arena, "%d", q->token.sequence);
    }
}

/* The application's place that is looked in as the nth. */
static unsigned split_of(const struct fed_zk *z, unsigned nth)
{
    return nth == 0 ? z->split : nth <= z->split ? nth - 1 : nth;
}

static const char *home_path(const struct fed_zk *z, struct fed_call *c, unsigned nth,
                             const char *name)
{
    unsigned split = split_of(z, nth);
    const char *folder = fed_zk_folder(c->arena, z->root, FED_HOME, split);
    int first = (int)(strlen(name) - split);

    if (!folder || split == 0)
        return folder ? sv_arena_printf(c->arena, "%s/%s", folder, name) : NULL;
    return sv_arena_printf(c->arena, "%s/%.*s/%s", folder, first, name, name + first);
}

static const char *record_path(const struct fed_zk *z, struct fed_call *c, unsigned nth,
                               const char *name)
{
    enum fed_kind kind = fed_operations[c->request.op].kind;
    bool of_keys = kind == FED_SEQUENCE && c->request.sequence.counter == FED_KEY_SEQUENCE;

    switch (kind) {
    case FED_HOME:
        return home_path(z, c, nth, name);
    case FED_KEY:
        return sv_arena_printf(c->arena, "%s/%s/delegation_key_%s", z->root, folders[kind], name);
    case FED_TOKEN:
        return sv_arena_printf(c->arena, "%s/%s/" FED_ZK_TOKEN "%s", z->root, folders[kind], name);
    case FED_SEQUENCE:
        return sv_arena_printf(c->arena, "%s/" ROUTER "%s", z->root,
                               of_keys ? "router_rm_dt_master_key_id"
                                       : "router_rm_dt_sequential_number");
    case FED_VERSION:
        return sv_arena_printf(c->arena, "%s/version", z->root);
    default:
        return sv_arena_printf(c->arena, "%s/%s/%s", z->root, folders[kind], name);
    }
}

int fed_zk_path(const struct fed_zk *z, struct fed_call *c, unsigned nth, const char **ret)
{
    const char *name = fed_zk_name(c);
    const char *path;

    if (!name)
        return -ENOMEM;
    if (strchr(name, '/') || sv_streq(name, ".") || sv_streq(name, ".."))
        return -EINVAL;
    path = record_path(z, c, nth, name);
    if (!path)
        return -ENOMEM;
    *ret = path;
    return strlen(path) <= SV_ZK_PATH_MAX ? 0 : -EINVAL;
}
