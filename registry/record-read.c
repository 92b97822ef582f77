/* Reads records: see record.h. Accepts what Hadoop's client accepts: unknown members are
 * attributes, those of endpoints are ignored. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "registry/record.h"

#define TYPE "JSONServiceRecord"

struct reading {
    struct sv_arena *a;
    struct sv_error *err;
};

static int broken(struct reading *q, const char *where, const char *rule)
{
    return sv_error_set(q->err, -EBADMSG, "record: %.64s: %s", where, rule);
}

static int no_memory(struct reading *q)
{
    return sv_error_errno(q->err, -ENOMEM, "record");
}

static int copy(struct reading *q, const char *text, const char **ret)
{
    *ret = sv_arena_strdup(q->a, text);
    return *ret ? 0 : no_memory(q);
}

static int read_text(struct reading *q, const json_t *object, const char *name, const char **ret)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value) ? copy(q, json_string_value(value), ret)
                                 : broken(q, name, "a text is needed");
}

/* ---- Endpoints ---- */

static int read_address(struct reading *q, json_t *object, struct reg_address *ret)
{
    struct reg_pair *fields;
    const char *name;
    json_t *value;
    int r = 0;

    if (!json_is_object(object) || json_object_size(object) > REG_ADDRESS_FIELDS_MAX)
        return broken(q, "addresses", "each has at most 16 texts");
    fields = sv_newn(q->a, struct reg_pair, json_object_size(object) + 1);
    if (!fields)
        return no_memory(q);
    ret->fields = fields;
    json_object_foreach(object, name, value)
    {
        if (!json_is_string(value))
            return broken(q, name, "a text is needed");
        r = copy(q, name, &fields[ret->n].name);
        if (r == 0)
            r = copy(q, json_string_value(value), &fields[ret->n++].value);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_addresses(struct reading *q, const json_t *list, struct reg_endpoint *ret)
{
    struct reg_address *to;
    int r = 0;

    if (!json_is_array(list) || json_array_size(list) > REG_LIST_MAX)
        return broken(q, "addresses", "a list of at most 256");
    to = sv_newn(q->a, struct reg_address, json_array_size(list) + 1);
    if (!to)
        return no_memory(q);
    ret->addresses = to;
    ret->n = json_array_size(list);
    for (size_t i = 0; r == 0 && i < ret->n; i++) {
        to[i] = (struct reg_address){ 0 };
        r = read_address(q, json_array_get(list, i), &to[i]);
    }
    return r;
}

static int read_endpoint(struct reading *q, const json_t *object, struct reg_endpoint *ret)
{
    int r;

    *ret = (struct reg_endpoint){ 0 };
    if (!json_is_object(object))
        return broken(q, "endpoints", "each is an object");
    r = read_text(q, object, "api", &ret->api);
    if (r == 0)
        r = read_text(q, object, "addressType", &ret->address_type);
    if (r == 0)
        r = read_text(q, object, "protocolType", &ret->protocol);
    return r < 0 ? r : read_addresses(q, json_object_get(object, "addresses"), ret);
}

static int read_endpoints(struct reading *q, const json_t *list, const char *name,
                          const struct reg_endpoint **ret, size_t *ret_n)
{
    struct reg_endpoint *to;
    int r = 0;

    if (!list || json_is_null(list))
        return 0;
    if (!json_is_array(list) || json_array_size(list) > REG_LIST_MAX)
        return broken(q, name, "a list of at most 256");
    to = sv_newn(q->a, struct reg_endpoint, json_array_size(list) + 1);
    if (!to)
        return no_memory(q);
    for (size_t i = 0; r == 0 && i < json_array_size(list); i++)
        r = read_endpoint(q, json_array_get(list, i), &to[i]);
    *ret = to;
    *ret_n = json_array_size(list);
    return r;
}

/* ---- Attributes ---- */

static bool is_member(const char *name)
{
    static const char *const members[] = { "type", "description", "external", "internal" };

    for (size_t i = 0; i < SV_ARRAY_LEN(members); i++)
        if (strcmp(name, members[i]) == 0)
            return true;
    return false;
}

static int read_attribute(struct reading *q, const char *name, json_t *value, struct reg_pair *ret)
{
    _cleanup_free_ char *text = NULL;
    int r = copy(q, name, &ret->name);

    if (r < 0)
        return r;
    if (json_is_string(value))
        return copy(q, json_string_value(value), &ret->value);
    if (json_is_null(value))
        return broken(q, name, "null is no value");
    text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    return text ? copy(q, text, &ret->value) : no_memory(q);
}

static int read_attributes(struct reading *q, json_t *object, struct reg_record *ret)
{
    struct reg_pair *to;
    const char *name;
    json_t *value;
    int r = 0;

    if (json_object_size(object) > REG_LIST_MAX)
        return broken(q, "attributes", "at most 256");
    to = sv_newn(q->a, struct reg_pair, json_object_size(object) + 1);
    if (!to)
        return no_memory(q);
    ret->attributes = to;
    json_object_foreach(object, name, value)
    {
        if (is_member(name))
            continue;
        r = read_attribute(q, name, value, &to[ret->n_attributes]);
        if (r < 0)
            return r;
        ret->n_attributes++;
    }
    return 0;
}

/* ---- The whole ---- */

static int read_all(struct reading *q, json_t *object, struct reg_record *ret)
{
    const json_t *type = json_object_get(object, "type");
    const json_t *description = json_object_get(object, "description");
    int r = 0;

    if (!json_is_string(type) || strcmp(json_string_value(type), TYPE) != 0)
        return broken(q, "type", "\"" TYPE "\" is needed");
    if (description && !json_is_null(description))
        r = read_text(q, object, "description", &ret->description);
    if (r == 0)
        r = read_endpoints(q, json_object_get(object, "external"), "external", &ret->external,
                           &ret->n_external);
    if (r == 0)
        r = read_endpoints(q, json_object_get(object, "internal"), "internal", &ret->internal,
                           &ret->n_internal);
    return r < 0 ? r : read_attributes(q, object, ret);
}

int reg_record_parse(const void *json, size_t len, struct sv_arena *a, struct reg_record *ret,
                     struct sv_error *err)
{
    struct reading q = { a, err };
    struct reg_record record = { 0 };
    json_error_t at;
    json_t *object;
    int r;

    if (len > REG_RECORD_MAX)
        return sv_error_set(err, -EBADMSG, "record: %zu bytes: at most %zu", len, REG_RECORD_MAX);
    if (len < strlen(TYPE) || !memmem(json, len, TYPE, strlen(TYPE)))
        return sv_error_set(err, -ENODATA, "no record");
    object = json_loadb(json, len, 0, &at);
    if (!json_is_object(object)) {
        json_decref(object);
        return sv_error_set(err, -EBADMSG, "record: line %d: %s", at.line,
                            object ? "an object is needed" : at.text);
    }
    r = read_all(&q, object, &record);
    json_decref(object);
    if (r == 0)
        *ret = record;
    return r;
}
