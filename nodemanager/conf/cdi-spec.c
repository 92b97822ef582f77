/* See cdi-spec.h: the parser. */
#include "nodemanager/conf/cdi-spec.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define ARENA_MAX ((size_t)8 << 20)

static inline void json_freep(json_t **j)
{
    json_decref(*j);
}

struct parser {
    struct sv_arena *arena;
    const char *file;
    char at[128]; /* "devices[3].containerEdits." */
    struct sv_error *err;
};

static int refuse(const struct parser *p, const char *field, const char *why)
{
    return sv_error_set(p->err, -EBADMSG, "%s: %s%s: %s", p->file, p->at, field, why);
}

static int no_memory(const struct parser *p)
{
    return sv_error_errno(p->err, -ENOMEM, "%s", p->file);
}

/* ---- values ---- */

static bool printable(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 127)
            return false;
    return true;
}

static bool path_ok(const char *s)
{
    if (s[0] != '/' || !s[1])
        return false;
    for (const char *name = s; name; name = strchr(name + 1, '/'))
        if (strncmp(name, "/..", 3) == 0 && (name[3] == '/' || name[3] == '\0'))
            return false;
    return true;
}

static bool word_ok(const char *s, const char *more)
{
    if (!*s || strlen(s) > 255)
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              strchr(more, *s)))
            return false;
    return true;
}

/* A text that is there, printable and not too long; copied. */
static int text(const struct parser *p, const json_t *in, const char *field, const char **ret)
{
    const char *s = json_string_value(in);

    if (!s)
        return refuse(p, field, in ? "it is not a string" : "it is missing");
    if (strlen(s) > NM_CDI_TEXT_MAX || !printable(s))
        return refuse(p, field, "it is too long, or has a control character");
    *ret = sv_arena_strdup(p->arena, s);
    return *ret ? 0 : no_memory(p);
}

static int path(const struct parser *p, const json_t *in, const char *field, const char **ret)
{
    int r = text(p, in, field, ret);

    if (r >= 0 && !path_ok(*ret))
        return refuse(p, field, "it is not an absolute path without \"..\"");
    return r;
}

/* Members of an object beside those named are no part of CDI, or of a later version of it. */
static int only(const struct parser *p, const json_t *object, const char *what,
                const char *const *names)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        return refuse(p, what, "it is not an object");
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *const *n = names;

        while (*n && strcmp(*n, key) != 0)
            n++;
        if (!*n) {
            char shown[48];

            sv_escape(shown, sizeof(shown), key);
            return refuse(p, shown, "this field is not known");
        }
    }
    return 0;
}

static int list_of(const struct parser *p, const json_t *in, const char *field, size_t max,
                   size_t *ret_n)
{
    *ret_n = json_array_size(in);
    if (in && !json_is_array(in))
        return refuse(p, field, "it is not a list");
    return *ret_n > max ? refuse(p, field, "it has too many entries") : 0;
}

/* ---- containerEdits ---- */

static int node(const struct parser *p, const json_t *in, struct nm_cdi_place *ret)
{
    static const char *const names[] = { "path",        "hostPath", "type", "major",    "minor",
                                         "permissions", "uid",      "gid",  "fileMode", NULL };
    const json_t *type = json_object_get(in, "type"), *host = json_object_get(in, "hostPath");
    int r = only(p, in, "deviceNodes", names);

    if (r >= 0)
        r = path(p, json_object_get(in, "path"), "deviceNodes.path", &ret->inside);
    ret->host = ret->inside;
    if (r >= 0 && host)
        r = path(p, host, "deviceNodes.hostPath", &ret->host);
    if (r >= 0 && type && !sv_streq(json_string_value(type), "c") &&
        !sv_streq(json_string_value(type), ""))
        return refuse(p, "deviceNodes.type", "a container gets character devices alone");
    if (r >= 0 && !sv_has_prefix(ret->host, "/dev/"))
        return refuse(p, "deviceNodes.hostPath", "it is not below /dev");
    return r;
}

static int mount(const struct parser *p, const json_t *in, struct nm_cdi_place *ret)
{
    static const char *const names[] = { "hostPath", "containerPath", "options", "type", NULL };
    const json_t *options = json_object_get(in, "options");
    int r = only(p, in, "mounts", names);
    size_t n;

    if (r >= 0)
        r = path(p, json_object_get(in, "hostPath"), "mounts.hostPath", &ret->host);
    if (r >= 0)
        r = path(p, json_object_get(in, "containerPath"), "mounts.containerPath", &ret->inside);
    if (r >= 0)
        r = list_of(p, options, "mounts.options", NM_CDI_LIST_MAX, &n);
    ret->writable = true;
    for (size_t i = 0; r >= 0 && i < n; i++) {
        const char *o = json_string_value(json_array_get(options, i));

        if (!o)
            return refuse(p, "mounts.options", "an entry is not a string");
        ret->writable = ret->writable && strcmp(o, "ro") != 0;
    }
    return r;
}

static int variable(const struct parser *p, const json_t *in, const char **ret_name,
                    const char **ret_value)
{
    const char *one = NULL, *equals;
    char *name;
    int r = text(p, in, "env", &one);

    if (r < 0)
        return r;
    equals = strchr(one, '=');
    name = equals ? sv_arena_strdup(p->arena, one) : NULL;
    if (equals && !name)
        return no_memory(p);
    if (name)
        name[equals - one] = '\0';
    if (!name || !word_ok(name, "_") || (*name >= '0' && *name <= '9'))
        return refuse(p, "env", "an entry is not NAME=value");
    *ret_name = name;
    *ret_value = equals + 1;
    return 0;
}

static int places(const struct parser *p, const json_t *list, const char *field,
                  int (*one)(const struct parser *p, const json_t *in, struct nm_cdi_place *ret),
                  struct nm_cdi_place **ret, size_t *ret_n)
{
    size_t n;
    int r = list_of(p, list, field, NM_CDI_LIST_MAX, &n);

    if (r < 0)
        return r;
    *ret = sv_newn(p->arena, struct nm_cdi_place, n + 1);
    if (!*ret)
        return no_memory(p);
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = one(p, json_array_get(list, i), &(*ret)[i]);
    *ret_n = n;
    return r;
}

static int environment(const struct parser *p, const json_t *list, struct nm_cdi_edits *ret)
{
    size_t n;
    int r = list_of(p, list, "env", NM_CDI_LIST_MAX, &n);

    if (r < 0)
        return r;
    ret->env_names = sv_newn(p->arena, const char *, n + 1);
    ret->env_values = sv_newn(p->arena, const char *, n + 1);
    if (!ret->env_names || !ret->env_values)
        return no_memory(p);
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = variable(p, json_array_get(list, i), &ret->env_names[i], &ret->env_values[i]);
    ret->n_env = n;
    return r;
}

/* Features that are not done; their contents are not looked at. */
static int refused(const struct parser *p, const json_t *in, struct nm_cdi_edits *ret)
{
    static const char *const features[] = { "hooks", "intelRdt", "additionalGids", "netDevices" };

    for (size_t i = 0; i < SV_ARRAY_LEN(features); i++) {
        const json_t *value = json_object_get(in, features[i]);

        if (!value || (json_is_array(value) && json_array_size(value) == 0))
            continue;
        ret->refused = sv_arena_printf(p->arena, "%s%s%s", ret->refused ? ret->refused : "",
                                       ret->refused ? ", " : "", features[i]);
        if (!ret->refused)
            return no_memory(p);
    }
    return 0;
}

static int edits(const struct parser *p, const json_t *in, struct nm_cdi_edits *ret)
{
    static const char *const names[] = { "deviceNodes", "mounts",         "env",        "hooks",
                                         "intelRdt",    "additionalGids", "netDevices", NULL };
    int r = in ? only(p, in, "containerEdits", names) : 0;

    if (!in || r < 0)
        return r;
    r = places(p, json_object_get(in, "deviceNodes"), "deviceNodes", node, &ret->nodes,
               &ret->n_nodes);
    if (r >= 0)
        r = places(p, json_object_get(in, "mounts"), "mounts", mount, &ret->mounts, &ret->n_mounts);
    if (r >= 0)
        r = environment(p, json_object_get(in, "env"), ret);
    return r < 0 ? r : refused(p, in, ret);
}

/* ---- the file ---- */

static int device(struct parser *p, const json_t *in, size_t i, struct nm_cdi_device *ret)
{
    static const char *const names[] = { "name", "annotations", "containerEdits", NULL };
    int r;

    (void)snprintf(p->at, sizeof(p->at), "devices[%zu].", i);
    r = only(p, in, "", names);
    if (r >= 0)
        r = text(p, json_object_get(in, "name"), "name", &ret->name);
    if (r >= 0 && !word_ok(ret->name, "_-.:"))
        return refuse(p, "name", "it has a character that CDI does not allow");
    (void)snprintf(p->at, sizeof(p->at), "devices[%zu].containerEdits.", i);
    return r < 0 ? r : edits(p, json_object_get(in, "containerEdits"), &ret->edits);
}

static int document(struct parser *p, const json_t *in, struct nm_cdi_spec *s)
{
    static const char *const names[] = { "cdiVersion",  "kind",           "devices",
                                         "annotations", "containerEdits", NULL };
    const json_t *devices = json_object_get(in, "devices");
    const char *version = NULL;
    int r = only(p, in, "the file", names);

    if (r >= 0)
        r = text(p, json_object_get(in, "cdiVersion"), "cdiVersion", &version);
    if (r >= 0 && !sv_has_prefix(version, "0.") && !sv_has_prefix(version, "1."))
        return refuse(p, "cdiVersion", "versions 0 and 1 are known");
    if (r >= 0)
        r = text(p, json_object_get(in, "kind"), "kind", &s->kind);
    if (r >= 0 && (!word_ok(s->kind, "_-./") || !strchr(s->kind, '/')))
        return refuse(p, "kind", "it is not VENDOR/CLASS");
    if (r >= 0)
        r = list_of(p, devices, "devices", NM_CDI_DEVICES_MAX, &s->n);
    if (r < 0)
        return r;
    s->devices = sv_newn(p->arena, struct nm_cdi_device, s->n + 1);
    if (!s->devices)
        return no_memory(p);
    for (size_t i = 0; r >= 0 && i < s->n; i++)
        r = device(p, json_array_get(devices, i), i, &s->devices[i]);
    for (size_t i = 0; r >= 0 && i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (sv_streq(s->devices[i].name, s->devices[k].name)) {
                (void)snprintf(p->at, sizeof(p->at), "devices[%zu].", i);
                return refuse(p, "name", "another device has the same");
            }
    (void)snprintf(p->at, sizeof(p->at), "containerEdits.");
    return r < 0 ? r : edits(p, json_object_get(in, "containerEdits"), &s->all);
}

int nm_cdi_parse(const char *bytes, size_t len, const char *file, struct nm_cdi_spec **ret,
                 struct sv_error *err)
{
    struct parser p = { .file = file, .err = err };
    _cleanup_(json_freep) json_t *j = NULL;
    struct nm_cdi_spec *s;
    json_error_t why;
    int r;

    if (len > NM_CDI_FILE_MAX)
        return refuse(&p, "", "it is larger than 1 MiB");
    j = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &why);
    if (!j) {
        char shown[128];

        sv_escape(shown, sizeof(shown), why.text);
        return sv_error_set(err, -EBADMSG, "%s:%d: it is not JSON: %s", file, why.line, shown);
    }
    p.arena = sv_arena_new(ARENA_MAX);
    s = p.arena ? sv_new(p.arena, struct nm_cdi_spec) : NULL;
    r = s ? document(&p, j, s) : no_memory(&p);
    if (r >= 0) {
        s->arena = p.arena;
        s->file = sv_arena_strdup(p.arena, file);
        r = s->file ? 0 : no_memory(&p);
    }
    if (r < 0) {
        sv_arena_free(p.arena);
        return r;
    }
    *ret = s;
    return 0;
}

struct nm_cdi_spec *nm_cdi_spec_free(struct nm_cdi_spec *s)
{
    if (s)
        sv_arena_free(s->arena);
    return NULL;
}
