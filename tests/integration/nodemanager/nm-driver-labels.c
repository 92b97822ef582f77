/* nm-driver as a ResourceManager: the labels, attributes and resource types that a NodeManager
 * tells, and the answers to them. */
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "tests/integration/nodemanager/nm-driver.h"

static struct {
    json_t *labels, *attributes; /* as told last; NULL = never */
    int told;                    /* heartbeats with either */
    bool refuse;
    char words[128];
} seen;

static json_t *labels_json(const Hadoop__Yarn__NodeLabelsProto *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->n_nodelabels; i++)
        json_array_append_new(list, json_string(m->nodelabels[i]->name));
    return list;
}

static json_t *attributes_json(const Hadoop__Yarn__NodeAttributesProto *m)
{
    json_t *j = json_object();

    for (size_t i = 0; i < m->n_nodeattributes; i++) {
        const Hadoop__Yarn__NodeAttributeProto *e = m->nodeattributes[i];
        char key[600];

        snprintf(key, sizeof(key), "%s/%s", e->attributekey->attributeprefix,
                 e->attributekey->attributename);
        json_object_set_new(j, key, json_string(e->attributevalue));
    }
    return j;
}

static void saw(const Hadoop__Yarn__NodeLabelsProto *labels,
                const Hadoop__Yarn__NodeAttributesProto *attributes)
{
    if (labels) {
        json_decref(seen.labels);
        seen.labels = labels_json(labels);
    }
    if (attributes) {
        json_decref(seen.attributes);
        seen.attributes = attributes_json(attributes);
    }
}

static json_t *types_json(const Hadoop__Yarn__ResourceProto *m)
{
    json_t *j = json_object();

    for (size_t i = 0; m && i < m->n_resource_value_map; i++)
        json_object_set_new(j, m->resource_value_map[i]->key,
                            json_pack("[I,s]", (json_int_t)m->resource_value_map[i]->value,
                                      m->resource_value_map[i]->units));
    return j;
}

void labels_registered(const Hadoop__Yarn__RegisterNodeManagerRequestProto *q,
                       Hadoop__Yarn__RegisterNodeManagerResponseProto *m, json_t *registered)
{
    const Hadoop__Yarn__ResourceProto *physical = q->physicalresource;

    saw(q->nodelabels, q->nodeattributes);
    json_object_set_new(registered, "labels",
                        q->nodelabels ? labels_json(q->nodelabels) : json_null());
    json_object_set_new(registered, "attributes",
                        q->nodeattributes ? attributes_json(q->nodeattributes) : json_null());
    json_object_set_new(registered, "types", types_json(q->resource));
    json_object_set_new(registered, "physical",
                        json_pack("[I,i]", (json_int_t)(physical ? physical->memory : 0),
                                  physical ? physical->virtual_cores : 0));
    m->has_arenodelabelsacceptedbyrm = m->has_arenodeattributesacceptedbyrm = true;
    m->arenodelabelsacceptedbyrm = q->nodelabels && !seen.refuse;
    m->arenodeattributesacceptedbyrm = q->nodeattributes && !seen.refuse;
    if (seen.refuse && *seen.words)
        m->diagnostics_message = seen.words;
}

void labels_heartbeat(const Hadoop__Yarn__NodeHeartbeatRequestProto *q,
                      Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    saw(q->nodelabels, q->nodeattributes);
    seen.told += q->nodelabels || q->nodeattributes;
    m->has_arenodelabelsacceptedbyrm = m->has_arenodeattributesacceptedbyrm = true;
    m->arenodelabelsacceptedbyrm = q->nodelabels && !seen.refuse;
    m->arenodeattributesacceptedbyrm = q->nodeattributes && !seen.refuse;
    if (seen.refuse && *seen.words)
        m->diagnostics_message = seen.words;
}

json_t *labels_command(const char *line)
{
    if (!strcmp(line, "described"))
        return json_pack("{s:O?,s:O?,s:i}", "labels", seen.labels, "attributes", seen.attributes,
                         "told", seen.told);
    if (!sv_has_prefix(line, "labels "))
        return NULL;
    seen.refuse = sv_has_prefix(line, "labels refuse");
    snprintf(seen.words, sizeof(seen.words), "%.127s",
             sv_has_prefix(line, "labels refuse ") ? line + strlen("labels refuse ") : "");
    return json_object();
}
