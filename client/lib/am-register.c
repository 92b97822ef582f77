/* Content of the registration of an ApplicationMaster and of its answer. The answer comes from the
 * ResourceManager, which is trusted; an unusable entry is skipped. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

/* ---- Constraints ---- */

static int add_constraint(struct cli_am *am, const struct cli_tagged_constraint *from,
                          struct sv_error *err)
{
    struct sv_arena *a = am->constraints_arena;
    Hadoop__Yarn__PlacementConstraintMapEntryProto *m =
        sv_new(a, Hadoop__Yarn__PlacementConstraintMapEntryProto);
    int r = cli_constraint_check(from->constraint, err);

    if (r < 0)
        return r;
    if (from->n_tags == 0 || from->n_tags > CLI_CONSTRAINT_TEXTS_MAX)
        return sv_error_set(err, -EINVAL,
                            "constraint %zu of the registration: %zu tags, 1 to %d are possible",
                            am->n_constraints, from->n_tags, CLI_CONSTRAINT_TEXTS_MAX);
    if (!m)
        return -ENOMEM;
    hadoop__yarn__placement_constraint_map_entry_proto__init(m);
    m->allocation_tags = cli_texts_to(a, from->tags, from->n_tags);
    m->n_allocation_tags = from->n_tags;
    m->placement_constraint = cli_constraint_to(a, from->constraint);
    if (!m->allocation_tags || !m->placement_constraint)
        return -ENOMEM;
    am->constraints[am->n_constraints++] = m;
    return 0;
}

int cli_am_constraints(struct cli_am *am, const struct cli_tagged_constraint *list, size_t n,
                       struct sv_error *err)
{
    int r = 0;

    if (am->phase != NEW)
        return sv_error_set(err, -EALREADY, "ApplicationMaster: it is registered already");
    am->n_constraints = 0;
    sv_arena_free(am->constraints_arena);
    am->constraints_arena = sv_arena_new(0);
    am->constraints =
        am->constraints_arena
            ? sv_newn(am->constraints_arena, Hadoop__Yarn__PlacementConstraintMapEntryProto *, n)
            : NULL;
    if (!am->constraints)
        r = -ENOMEM;
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = add_constraint(am, &list[i], err);
    if (r < 0)
        am->n_constraints = 0;
    return r == -ENOMEM ? sv_error_errno(err, r, "placement constraints") : r;
}

/* ---- Answer ---- */

static int copy_to(char **to, const char *from)
{
    char *copy = from ? strdup(from) : NULL;

    if (from && !copy)
        return -ENOMEM;
    free(*to);
    *to = copy;
    return 0;
}

/* Types of resources beside memory, vcores and GPUs, as the ResourceManager has them. */
static void learn_types(const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m)
{
    static const char *const known[] = { "memory-mb", "vcores", YARN_GPU };

    for (size_t i = 0; i < m->n_resource_types; i++) {
        const Hadoop__Yarn__ResourceTypeInfoProto *t = m->resource_types[i];
        bool other = true;

        for (size_t j = 0; j < SV_ARRAY_LEN(known); j++)
            other = other && strcmp(t->name, known[j]) != 0;
        if (other && yarn_types_add(t->name, cli_text(t->units)) < 0)
            continue; /* more than this library knows, or unusable: dropped */
    }
}

/* Without its key the master would take clients without tokens: an unusable one is an error. */
static int take_key(struct cli_am *am, const ProtobufCBinaryData *key)
{
    if (key->len > sizeof(am->client_key))
        return -EMSGSIZE;
    memcpy(am->client_key, key->data, key->len);
    am->client_key_len = key->len;
    return 0;
}

int cli_am_take_registration(struct cli_am *am,
                             const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m)
{
    int r = copy_to(&am->queue, m->queue);

    for (size_t i = 0; r >= 0 && i < m->n_application_acls; i++) {
        const Hadoop__Yarn__ApplicationACLMapProto *acl = m->application_acls[i];

        r = copy_to(acl->accesstype ==
                            HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP
                        ? &am->modify_acl
                        : &am->view_acl,
                    cli_text(acl->acl));
    }
    if (r >= 0 && m->has_client_to_am_token_master_key)
        r = take_key(am, &m->client_to_am_token_master_key);
    learn_types(m);
    cli_am_take_nm_tokens(am, m->nm_tokens_from_previous_attempts,
                          m->n_nm_tokens_from_previous_attempts);
    cli_am_take_previous(am, m->containers_from_previous_attempts,
                         m->n_containers_from_previous_attempts);
    return r;
}

void cli_am_report_registered(struct cli_am *am,
                              const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m)
{
    struct cli_registration told = { .queue = cli_text(am->queue),
                                     .view_acl = am->view_acl,
                                     .modify_acl = am->modify_acl,
                                     .client_key = am->client_key,
                                     .client_key_len = am->client_key_len };

    if (!m || yarn_resource_from(m->maximumcapability, &told.maximum) < 0)
        told.maximum = (struct yarn_resource){ 0 }; /* no known limit */
    am->was_registered = true;
    if (am->on_key)
        am->on_key(am->on_key_userdata);
    if (am->ops.registered)
        am->ops.registered(am, &told, am->userdata);
}
