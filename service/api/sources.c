/* The files that a new definition names must be there: told now, not by an instance that fails. The
 * texts are Hadoop's. See call.h. */
#include <errno.h>
#include <string.h>

#include "service/api/call.h"

/* 1: a directory. */
static int look(struct svc_call *c, const char *name, const char *absent)
{
    struct sv_error err = { 0 };
    int r = c->b->look(c->b->userdata, name, &err);

    if (r == -ENOENT)
        return svc_fail(c, SVC_FAIL_ARGUMENT, "%.300s: %.600s", absent, name);
    if (r < 0) {
        c->err = err;
        return svc_fail_of(c, r);
    }
    return r;
}

static int look_at_artifact(struct svc_call *c, const struct svc_artifact *a, const char *component)
{
    char absent[200];

    if (a->type != SVC_ARTIFACT_TARBALL)
        return 0;
    (void)snprintf(absent, sizeof(absent),
                   "For component %.63s with TARBALL artifact, path does not exist", component);
    return look(c, a->id, absent) < 0 ? -1 : 0;
}

static int look_at_files(struct svc_call *c, const struct svc_configuration *f)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < f->n_files; i++) {
        if (!*f->files[i].src)
            continue;
        r = look(c, f->files[i].src, "Specified src_file does not exist on hdfs");
        if (r > 0 && f->files[i].type == SVC_FILE_STATIC)
            r = svc_fail(c, SVC_FAIL_ARGUMENT,
                         "srcFile=%.600s is a directory, which is not supported.", f->files[i].src);
    }
    return r < 0 ? r : 0;
}

int svc_look(struct svc_call *c, const struct svc_definition *d)
{
    int r = look_at_artifact(c, &d->artifact, "of the service");

    if (r == 0)
        r = look_at_files(c, &d->configuration);
    for (size_t i = 0; r == 0 && i < d->n_components; i++) {
        r = look_at_artifact(c, &d->components[i].artifact, d->components[i].name);
        if (r == 0)
            r = look_at_files(c, &d->components[i].configuration);
    }
    return r;
}
