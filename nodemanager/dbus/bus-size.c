/* See bus-size.h. sd-bus tells no size, so the values are walked. Hostile: every byte. */
#include "nodemanager/dbus/bus-size.h"

#include <errno.h>
#include <string.h>

#define CONTAINERS_MAX 64 /* nested; D-Bus allows 64 in all */

static int count(size_t *left, size_t n)
{
    if (n > *left)
        return -EMSGSIZE;
    *left -= n;
    return 0;
}

static int count_text(size_t *left, const char *text)
{
    return text ? count(left, strnlen(text, *left) + 8) : 0;
}

static bool is_text(char type)
{
    return type == SD_BUS_TYPE_STRING || type == SD_BUS_TYPE_OBJECT_PATH ||
           type == SD_BUS_TYPE_SIGNATURE;
}

static bool is_container(char type)
{
    return type == SD_BUS_TYPE_ARRAY || type == SD_BUS_TYPE_VARIANT || type == SD_BUS_TYPE_STRUCT ||
           type == SD_BUS_TYPE_DICT_ENTRY;
}

/* Elements of a size of their own, which sd-bus gives as one block. */
static bool is_block(char type, const char *contents)
{
    return type == SD_BUS_TYPE_ARRAY && strlen(contents) == 1 && strchr("ynqiuxtd", *contents);
}

/* Reads one value that is no container. */
static int count_value(sd_bus_message *m, char type, const char *contents, size_t *left)
{
    const char text_type[] = { type, 0 };
    const void *block;
    const char *text;
    size_t n;
    int r;

    if (is_text(type)) {
        r = sd_bus_message_read_basic(m, type, &text);
        return r < 0 ? r : count_text(left, text);
    }
    if (is_block(type, contents)) {
        r = sd_bus_message_read_array(m, *contents, &block, &n);
        return r < 0 ? r : count(left, n + 8);
    }
    r = sd_bus_message_skip(m, text_type);
    return r < 0 ? r : count(left, 8);
}

/* 0: there is no value any more. */
static int next_type(sd_bus_message *m, char *ret_type, const char **ret_contents)
{
    int r = sd_bus_message_peek_type(m, ret_type, ret_contents);

    return r < 0 ? -EBADMSG : r;
}

/* Not recursive: a container's end is where it has no further value. */
static int count_values(sd_bus_message *m, size_t *left)
{
    int depth = 0, r;

    for (;;) {
        const char *contents = NULL;
        char type;

        r = next_type(m, &type, &contents);
        if (r == 0 && depth-- == 0)
            return 0;
        if (r == 0)
            r = sd_bus_message_exit_container(m);
        else if (r > 0 && is_container(type) && !is_block(type, contents)) {
            if (++depth > CONTAINERS_MAX)
                return -EBADMSG;
            r = sd_bus_message_enter_container(m, type, contents);
            if (r >= 0)
                r = count(left, 8);
        } else if (r > 0)
            r = count_value(m, type, contents, left);
        if (r < 0)
            return r == -EMSGSIZE ? r : -EBADMSG;
    }
}

int nm_bus_check_size(sd_bus_message *m)
{
    size_t left = NM_BUS_MESSAGE_MAX;
    int r = count_text(&left, sd_bus_message_get_path(m));

    if (r >= 0)
        r = count_text(&left, sd_bus_message_get_interface(m));
    if (r >= 0)
        r = count_text(&left, sd_bus_message_get_member(m));
    if (r >= 0)
        r = count_values(m, &left);
    if (r < 0)
        return r;
    return sd_bus_message_rewind(m, true) < 0 ? -EBADMSG : 0;
}
