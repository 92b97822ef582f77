/* See check.h. */
#include "service/definition/check.h"

#include <inttypes.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/probe.h"

/* ---- The service ---- */

/* A version names a directory of the stored definition and of what its instances are given. */
static int check_version(const char *v, struct sv_error *err)
{
    if (!*v)
        return svc_refuse(err, "version", NULL, "missing or empty");
    if (strpbrk(v, "/:\\") || !strcmp(v, ".") || !strcmp(v, ".."))
        return svc_refuse(err, "version", v, "names a directory: no / : \\, not . or ..");
    for (const char *p = v; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            return svc_refuse(err, "version", v, "has a control character");
    return 0;
}

static int check_name(const char *path, const char *name, size_t max, struct sv_error *err)
{
    if (!*name)
        return svc_refuse(err, path, NULL, "missing or empty");
    if (strchr(name, '_'))
        return svc_refuse(err, path, name, "a name of DNS has no _: use -");
    if (strlen(name) > max || !svc_name_valid(name))
        return svc_refuse(err, path, name,
                          "lower-case letters, digits and -, a letter first, at most %zu bytes",
                          max);
    return 0;
}

static int check_kerberos(const struct svc_definition *d, struct sv_error *err)
{
    if (*d->principal && !strchr(d->principal, '/'))
        return svc_refuse(err, "kerberos_principal.principal_name", d->principal,
                          "has no host: NAME/_HOST@REALM");
    if (*d->keytab && !strstr(d->keytab, "://"))
        return svc_refuse(err, "kerberos_principal.keytab", d->keytab,
                          "an URL: hdfs://… or file:///…");
    return 0;
}

/* Hadoop's names: a file with another one is none for its readers. NULL-terminated. */
static const char *const service_states[] = { "ACCEPTED",
                                              "STARTED",
                                              "STABLE",
                                              "STOPPED",
                                              "FAILED",
                                              "FLEX",
                                              "UPGRADING",
                                              "UPGRADING_AUTO_FINALIZE",
                                              "EXPRESS_UPGRADING",
                                              "SUCCEEDED",
                                              "CANCEL_UPGRADING",
                                              NULL },
                         *const component_states[] = { "FLEXING",   "STABLE",    "NEEDS_UPGRADE",
                                                       "UPGRADING", "SUCCEEDED", "FAILED",
                                                       NULL };

static int check_state(const char *path, const char *state, const char *const *names,
                       struct sv_error *err)
{
    if (!*state)
        return 0;
    for (; *names; names++)
        if (!strcmp(state, *names))
            return 0;
    return svc_refuse(err, path, state, "no state of Hadoop's; leave it out");
}

static int check_service(const struct svc_definition *d, struct sv_error *err)
{
    struct svc_path path;
    int r = check_name("name", d->name, SVC_NAME_MAX, err);

    if (r == 0)
        r = check_version(d->version, err);
    if (r == 0)
        r = check_state("state", d->saved_state, service_states, err);
    if (r < 0)
        return r;
    if (!d->n_components)
        return svc_refuse(err, "components", NULL, "at least one");
    if (d->artifact.type == SVC_ARTIFACT_SERVICE)
        return svc_refuse(err, "artifact.type", "SERVICE", "of a component alone");
    for (size_t i = 0; i < d->n_dependencies; i++) {
        path = svc_path("dependencies[%zu]", i);
        r = check_name(path.text, d->dependencies[i], SVC_NAME_MAX, err);
        if (r == 0 && !strcmp(d->dependencies[i], d->name))
            r = svc_refuse(err, path.text, d->name, "the service itself");
        if (r < 0)
            return r;
    }
    r = check_kerberos(d, err);
    return r < 0 ? r : svc_check_configuration(&d->configuration, "configuration", err);
}

/* ---- A component ---- */

static int check_artifact(const struct svc_artifact *a, const char *path, struct sv_error *err)
{
    struct svc_path at;

    if (a->type == SVC_ARTIFACT_NONE)
        return 0;
    at = svc_path("%s%sartifact.id", path, *path ? "." : "");
    if (a->type == SVC_ARTIFACT_SERVICE)
        return check_name(at.text, a->id, SVC_NAME_MAX, err);
    return *a->id ? 0 : svc_refuse(err, at.text, NULL, "empty: URL of the archive");
}

static int check_decommissioned(const struct svc_component *c, const char *path,
                                struct sv_error *err)
{
    size_t n = strlen(c->name);

    for (size_t i = 0; i < c->n_decommissioned; i++) {
        const char *s = c->decommissioned[i];
        int64_t number;

        if (strncmp(s, c->name, n) || s[n] != '-' ||
            sv_parse_i64(s + n + 1, 0, INT64_MAX, &number) < 0) {
            struct svc_path at;

            at = svc_path("%s.decommissioned_instances[%zu]", path, i);
            return svc_refuse(err, at.text, s, "not an instance of this component: %s-NUMBER",
                              c->name);
        }
    }
    return 0;
}

/* The least that a component needs, be it from the service that another one stands for. */
static int check_needs(const struct svc_definition *d, const struct svc_component *c,
                       const char *path, struct sv_error *err)
{
    if (!*c->launch_command)
        return svc_refuse(err, path, NULL, "launch_command is missing or empty");
    if (!c->resource.memory_mb && !d->resource.memory_mb)
        return svc_refuse(err, path, NULL,
                          "resource is missing, here and in the service: memory and cpus");
    if (c->count < 0)
        return svc_refuse(err, path, NULL, "number_of_containers is missing");
    return 0;
}

static int check_readiness(const struct svc_component *c, const char *path, struct sv_error *err)
{
    struct svc_path at = svc_path("%s.readiness_check", path);

    return svc_probe_of(&c->readiness, at.text, &(struct svc_probe){ 0 }, err);
}

static int check_component(const struct svc_definition *d, const struct svc_component *c,
                           const char *path, const struct svc_names *names, struct sv_error *err)
{
    struct svc_path at;
    int r;

    at = svc_path("%s.name", path);
    r = check_name(at.text, c->name, SVC_COMPONENT_NAME_MAX, err);
    if (r == 0 && !strcmp(c->name, d->name))
        r = svc_refuse(err, at.text, c->name, "the service's name: give the component another");
    if (r == 0)
        r = check_state(svc_path("%s.state", path).text, c->state, component_states, err);
    if (r == 0)
        r = check_artifact(&c->artifact, path, err);
    if (r == 0 && !names->open)
        r = check_needs(d, c, path, err);
    if (r == 0)
        r = check_readiness(c, path, err);
    if (r == 0)
        r = svc_check_placement(c, path, names, err);
    if (r == 0)
        r = check_decommissioned(c, path, err);
    at = svc_path("%s.configuration", path);
    return r < 0 ? r : svc_check_configuration(&c->configuration, at.text, err);
}

int svc_definition_check(const struct svc_definition *d, struct sv_error *err)
{
    struct svc_names names;
    struct svc_path path;
    int64_t instances = 0;
    int r = check_service(d, err);

    if (r == 0)
        r = check_artifact(&d->artifact, "", err);
    if (r == 0)
        r = svc_names_of(d, &names, err);
    for (size_t i = 0; r == 0 && i < d->n_components; i++) {
        path = svc_path("components[%zu]", i);
        r = check_component(d, &d->components[i], path.text, &names, err);
        if (d->components[i].count > 0) /* at most 256 times 100,000 */
            instances += d->components[i].count;
    }
    if (r < 0)
        return r;
    if (instances > SVC_INSTANCES_MAX)
        return svc_refuse(err, "components", NULL,
                          "number_of_containers of all together: %" PRId64 ", at most %d",
                          instances, SVC_INSTANCES_MAX);
    return svc_check_dependencies(d, &names, err);
}
