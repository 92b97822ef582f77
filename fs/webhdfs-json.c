/* See webhdfs-json.h. */
#include "fs/webhdfs-json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "hdfs/answers.h"

static void json_freep(json_t **j)
{
    json_decref(*j);
}

/* Octal, one to four digits. */
static int parse_mode(const char *s, uint32_t *ret)
{
    uint32_t v = 0;

    if (!s || !s[0] || strlen(s) > 4)
        return -EBADMSG;
    for (; *s; s++) {
        if (*s < '0' || *s > '7')
            return -EBADMSG;
        v = v << 3 | (uint32_t)(*s - '0');
    }
    *ret = v;
    return 0;
}

static int status_of(const json_t *s, struct webhdfs_status *ret)
{
    const char *type = json_string_value(json_object_get(s, "type"));
    const json_t *length = json_object_get(s, "length"),
                 *time = json_object_get(s, "modificationTime");
    uint32_t mode;

    if (!type || !json_is_integer(length) || !json_is_integer(time) ||
        json_integer_value(length) < 0 || json_integer_value(time) < 0 ||
        parse_mode(json_string_value(json_object_get(s, "permission")), &mode) < 0)
        return -EBADMSG;
    *ret = (struct webhdfs_status){ .file = sv_streq(type, "FILE"),
                                    .directory = sv_streq(type, "DIRECTORY"),
                                    .encrypted = json_is_true(json_object_get(s, "encBit")),
                                    .length = json_integer_value(length),
                                    .mtime_ms = json_integer_value(time),
                                    .mode = mode };
    return 0;
}

int fs_webhdfs_parse_status(const char *text, size_t n, struct webhdfs_status *ret)
{
    _cleanup_(json_freep) json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

    return status_of(json_object_get(j, "FileStatus"), ret);
}

/* Copies a name of at most WEBHDFS_OWNER_MAX bytes. */
static int parse_name(const json_t *name, char ret[WEBHDFS_OWNER_MAX + 1])
{
    const char *s = json_string_value(name);
    size_t n = json_string_length(name);

    if (!s || strlen(s) != n || n > WEBHDFS_OWNER_MAX)
        return -EBADMSG;
    memcpy(ret, s, n + 1);
    return 0;
}

int fs_webhdfs_parse_owner(const char *text, size_t n, struct webhdfs_owner *ret)
{
    _cleanup_(json_freep) json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *s = json_object_get(j, "FileStatus");
    struct webhdfs_owner o = { .acl = json_is_true(json_object_get(s, "aclBit")) };

    if (parse_name(json_object_get(s, "owner"), o.user) < 0 || !o.user[0] ||
        parse_name(json_object_get(s, "group"), o.group) < 0)
        return -EBADMSG;
    *ret = o;
    return 0;
}

static int child_of(const json_t *s, struct webhdfs_child *ret)
{
    const json_t *suffix = json_object_get(s, "pathSuffix");
    const char *name = json_string_value(suffix);
    size_t n = json_string_length(suffix);

    if (!name || strlen(name) != n || n > FS_NAME_MAX || !fs_name_valid(name))
        return -EBADMSG;
    memcpy(ret->name, name, n + 1);
    return status_of(s, &ret->st);
}

/* A file is listed as its own nameless child. */
static bool is_own_child(const json_t *s)
{
    return sv_streq(json_string_value(json_object_get(s, "pathSuffix")), "") &&
           sv_streq(json_string_value(json_object_get(s, "type")), "FILE");
}

int fs_webhdfs_parse_listing(const char *text, size_t n, struct webhdfs_listing *ret)
{
    _cleanup_(json_freep) json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *d = json_object_get(j, "DirectoryListing");
    const json_t *left = json_object_get(d, "remainingEntries");
    const json_t *all = json_object_get(
        json_object_get(json_object_get(d, "partialListing"), "FileStatuses"), "FileStatus");
    size_t count = json_array_size(all);
    _cleanup_free_ struct webhdfs_child *children = NULL;

    if (!json_is_array(all) || !json_is_integer(left) || json_integer_value(left) < 0 ||
        (json_integer_value(left) > 0 && count == 0))
        return -EBADMSG;
    if (count == 1 && is_own_child(json_array_get(all, 0)))
        return -ENOTDIR;
    children = calloc(count + 1, sizeof(*children));
    if (!children)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        int r = child_of(json_array_get(all, i), &children[i]);

        if (r < 0)
            return r;
    }
    *ret = (struct webhdfs_listing){ SV_TAKE(children), count, json_integer_value(left) > 0 };
    return 0;
}

int fs_webhdfs_parse_exception(const char *text, size_t n, char *ret_text, size_t size)
{
    _cleanup_(json_freep) json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *e = json_object_get(j, "RemoteException");
    const char *name = json_string_value(json_object_get(e, "exception")),
               *message = json_string_value(json_object_get(e, "message"));
    char line[200];

    ret_text[0] = 0;
    if (!name)
        return -EBADMSG;
    (void)snprintf(line, sizeof(line), "%.*s", message ? (int)strcspn(message, "\r\n") : 0,
                   message ? message : "");
    sv_escape(ret_text, size, *line ? line : name);
    return hdfs_answer_exception(name);
}
