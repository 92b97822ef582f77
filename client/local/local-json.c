/* See local-json.h. */
#include "client/local/local-json.h"

#include <errno.h>
#include <string.h>

/* Converts basic types; *ret is NULL when out of memory or if text is not UTF-8. */
static int basic(sd_bus_message *m, char type, json_t **ret)
{
    union {
        uint8_t y;
        int b, i;
        int16_t n;
        uint16_t q;
        uint32_t u;
        int64_t x;
        uint64_t t;
        double d;
        const char *s;
    } v;
    int r = sd_bus_message_read_basic(m, type, &v);

    if (r <= 0)
        return r < 0 ? r : -EBADMSG;
    switch (type) {
    case 'y':
        *ret = json_integer(v.y);
        return 0;
    case 'b':
        *ret = json_boolean(v.b);
        return 0;
    case 'n':
        *ret = json_integer(v.n);
        return 0;
    case 'q':
        *ret = json_integer(v.q);
        return 0;
    case 'i':
        *ret = json_integer(v.i);
        return 0;
    case 'u':
        *ret = json_integer(v.u);
        return 0;
    case 'x':
        *ret = json_integer(v.x);
        return 0;
    case 't':
        *ret = json_integer((json_int_t)SV_MIN(v.t, (uint64_t)INT64_MAX));
        return 0;
    case 'd':
        *ret = json_real(v.d);
        return 0;
    case 's':
    case 'o':
    case 'g':
        *ret = json_string(v.s);
        return 0;
    default: /* a descriptor */
        return -EBADMSG;
    }
}

/* Converts the next entry {text, value} of a dictionary. */
static int entry(sd_bus_message *m, const char *contents, json_t *object)
{
    const char *key;
    json_t *value = NULL;
    int r = sd_bus_message_enter_container(m, 'e', contents);

    if (r >= 0)
        r = sd_bus_message_read_basic(m, contents[0], &key);
    if (r > 0)
        r = cli_json_of_message(m, &value);
    else
        r = r < 0 ? r : -EBADMSG;
    if (r >= 0 && json_object_set_new(object, key, value) < 0)
        r = -ENOMEM;
    return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int dictionary(sd_bus_message *m, const char *contents, json_t **ret)
{
    char pair[256];
    json_t *object = json_object();
    int r;

    if (!object || strlen(contents) >= sizeof(pair) || !strchr("sog", contents[1])) {
        json_decref(object);
        return object ? -EBADMSG : -ENOMEM;
    }
    memcpy(pair, contents + 1, strlen(contents) - 2); /* without the braces */
    pair[strlen(contents) - 2] = '\0';
    r = sd_bus_message_enter_container(m, 'a', contents);
    while (r >= 0 && (r = sd_bus_message_at_end(m, false)) == 0)
        r = entry(m, pair, object);
    if (r >= 0)
        r = sd_bus_message_exit_container(m);
    if (r < 0)
        json_decref(object);
    else
        *ret = object;
    return r < 0 ? r : 0;
}

static int variant(sd_bus_message *m, const char *contents, json_t **ret)
{
    json_t *value = NULL;
    int r = sd_bus_message_enter_container(m, 'v', contents);

    if (r >= 0)
        r = cli_json_of_message(m, &value);
    if (r >= 0)
        r = sd_bus_message_exit_container(m);
    if (r < 0)
        json_decref(value);
    else
        *ret = value;
    return r < 0 ? r : 0;
}

static int array_of(sd_bus_message *m, char type, const char *contents, json_t **ret)
{
    json_t *list = json_array(), *value;
    int r = list ? sd_bus_message_enter_container(m, type, contents) : -ENOMEM;

    while (r >= 0 && (r = sd_bus_message_at_end(m, false)) == 0) {
        value = NULL;
        r = cli_json_of_message(m, &value);
        if (r >= 0 && json_array_append_new(list, value) < 0)
            r = -ENOMEM;
    }
    if (r >= 0)
        r = sd_bus_message_exit_container(m);
    if (r < 0)
        json_decref(list);
    else
        *ret = list;
    return r < 0 ? r : 0;
}

/* libsystemd has validated the message, including its depth (64). */
int cli_json_of_message(sd_bus_message *m, json_t **ret)
{
    const char *contents;
    json_t *value = NULL;
    char type;
    int r = sd_bus_message_peek_type(m, &type, &contents);

    if (r <= 0)
        return r < 0 ? r : -EBADMSG;
    if (type == 'v')
        r = variant(m, contents, &value);
    else if (type == 'a' && contents[0] == '{')
        r = dictionary(m, contents, &value);
    else if (type == 'a' || type == 'r')
        r = array_of(m, type, contents, &value);
    else
        r = basic(m, type, &value);
    if (r >= 0 && !value)
        r = -ENOMEM;
    if (r >= 0)
        *ret = value;
    return r < 0 ? r : 0;
}

int64_t cli_json_number(const json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

bool cli_json_bool(const json_t *o, const char *name)
{
    return json_is_true(json_object_get(o, name));
}

const char *cli_json_text(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));

    return s ? s : "";
}

double cli_json_item(const json_t *o, const char *name, size_t i)
{
    return json_number_value(json_array_get(json_object_get(o, name), i));
}
