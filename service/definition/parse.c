/* Text to definition: what read.h and check.h do, together (definition.h). */
#include <errno.h>

#include "service/definition/check.h"
#include "service/definition/read.h"
#include "service/definition/service-keys.h"

static void free_json(json_t **v)
{
    json_decref(*v);
}
#define _cleanup_json_ _cleanup_(free_json)

int svc_definition_read(const char *json, size_t len, enum svc_dialect dialect, struct sv_arena *a,
                        struct svc_definition **ret, struct sv_error *err)
{
    _cleanup_json_ json_t *v = NULL;
    struct svc_definition *d = sv_new(a, struct svc_definition);
    int r = svc_json_load(json, len, &v, err);

    if (r < 0)
        return r;
    if (!d)
        return sv_error_errno(err, -ENOMEM, "definition");
    r = svc_record_read(&svc_definition_record, v, dialect, a, d, err);
    if (r < 0)
        return r;
    *ret = d;
    return 0;
}

int svc_component_read(const char *json, size_t len, enum svc_dialect dialect, struct sv_arena *a,
                       struct svc_component *ret, struct sv_error *err)
{
    _cleanup_json_ json_t *v = NULL;
    struct svc_component c = { 0 };
    int r = svc_json_load(json, len, &v, err);

    if (r == 0)
        r = svc_record_read(&svc_component_record, v, dialect, a, &c, err);
    if (r < 0)
        return r;
    *ret = c;
    return 0;
}

static int check_keys(const struct svc_definition *d, struct sv_error *err)
{
    struct svc_path path;
    int r = svc_keys_known(&d->configuration.properties, "configuration.properties", err);

    for (size_t i = 0; r == 0 && i < d->n_components; i++) {
        path = svc_path("components[%zu].configuration.properties", i);
        r = svc_keys_known(&d->components[i].configuration.properties, path.text, err);
    }
    return r;
}

int svc_definition_parse(const char *json, size_t len, enum svc_dialect dialect, struct sv_arena *a,
                         struct svc_definition **ret, struct sv_error *err)
{
    struct svc_definition *d = NULL;
    int r = svc_definition_read(json, len, dialect, a, &d, err);

    if (r == 0)
        r = svc_definition_check(d, err);
    if (r == 0 && dialect == SVC_STRICT)
        r = check_keys(d, err);
    if (r < 0)
        return r;
    *ret = d;
    return 0;
}
