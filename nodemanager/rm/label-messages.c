/* See label-messages.h. */
#include "nodemanager/rm/label-messages.h"

#include <errno.h>

#include "nodemanager/labels/described.h"
#include "nodemanager/rm/rm-session.h"
#include "wire/ipc/methods.h"

#define PREFIX "nm.yarn.io" /* of attributes that a node tells */

static Hadoop__Yarn__NodeLabelsProto *labels(const struct nm_labels *l, struct sv_arena *a)
{
    Hadoop__Yarn__NodeLabelsProto *m = sv_new(a, Hadoop__Yarn__NodeLabelsProto);

    if (!m)
        return NULL;
    hadoop__yarn__node_labels_proto__init(m);
    m->nodelabels = sv_newn(a, Hadoop__Yarn__NodeLabelProto *, l->n + 1);
    for (size_t i = 0; m->nodelabels && i < l->n; i++) {
        Hadoop__Yarn__NodeLabelProto *e = sv_new(a, Hadoop__Yarn__NodeLabelProto);

        if (!e)
            return NULL;
        hadoop__yarn__node_label_proto__init(e);
        e->name = sv_arena_strdup(a, l->list[i].name);
        if (!e->name)
            return NULL;
        m->nodelabels[m->n_nodelabels++] = e;
    }
    return m->nodelabels ? m : NULL;
}

static Hadoop__Yarn__NodeAttributeProto *attribute(const struct nm_label *l, struct sv_arena *a)
{
    Hadoop__Yarn__NodeAttributeProto *m = sv_new(a, Hadoop__Yarn__NodeAttributeProto);
    Hadoop__Yarn__NodeAttributeKeyProto *key = sv_new(a, Hadoop__Yarn__NodeAttributeKeyProto);

    if (!m || !key)
        return NULL;
    hadoop__yarn__node_attribute_proto__init(m);
    hadoop__yarn__node_attribute_key_proto__init(key);
    key->attributeprefix = (char *)(uintptr_t)PREFIX;
    key->attributename = sv_arena_strdup(a, l->name);
    m->attributekey = key;
    m->has_attributetype = true;
    m->attributetype = HADOOP__YARN__NODE_ATTRIBUTE_TYPE_PROTO__STRING;
    m->attributevalue = sv_arena_strdup(a, l->value);
    return key->attributename && m->attributevalue ? m : NULL;
}

static Hadoop__Yarn__NodeAttributesProto *attributes(const struct nm_labels *l, struct sv_arena *a)
{
    Hadoop__Yarn__NodeAttributesProto *m = sv_new(a, Hadoop__Yarn__NodeAttributesProto);

    if (!m)
        return NULL;
    hadoop__yarn__node_attributes_proto__init(m);
    m->nodeattributes = sv_newn(a, Hadoop__Yarn__NodeAttributeProto *, l->n + 1);
    for (size_t i = 0; m->nodeattributes && i < l->n; i++) {
        m->nodeattributes[i] = attribute(&l->list[i], a);
        if (!m->nodeattributes[i])
            return NULL;
        m->n_nodeattributes++;
    }
    return m->nodeattributes ? m : NULL;
}

int nm_rm_labels(struct nm_updater *u, struct sv_arena *a, bool registration,
                 Hadoop__Yarn__NodeLabelsProto **ret_labels,
                 Hadoop__Yarn__NodeAttributesProto **ret_attributes)
{
    const struct nm_labels *l = nm_describer_tell(u->config.labels[NM_LABELS], registration);
    const struct nm_labels *t = nm_describer_tell(u->config.labels[NM_ATTRIBUTES], registration);

    *ret_labels = l ? labels(l, a) : NULL;
    *ret_attributes = t ? attributes(t, a) : NULL;
    return (l && !*ret_labels) || (t && !*ret_attributes) ? -ENOMEM : 0;
}

void nm_rm_labels_answered(struct nm_updater *u, bool for_labels, bool for_attributes,
                           const char *why)
{
    nm_describer_answered(u->config.labels[NM_LABELS], for_labels, why);
    nm_describer_answered(u->config.labels[NM_ATTRIBUTES], for_attributes, why);
}

void nm_rm_labels_unanswered(struct nm_updater *u)
{
    nm_describer_unanswered(u->config.labels[NM_LABELS]);
    nm_describer_unanswered(u->config.labels[NM_ATTRIBUTES]);
}
