/* Properties, environment and files of a service or component (check.h). */
#include <stdlib.h>
#include <string.h>

#include "service/definition/check.h"
#include "service/definition/service-keys.h"

/* As the nodes demand of a container. */
static bool variable_valid(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return *s && !s[n] && !(*s >= '0' && *s <= '9');
}

static int check_env(const struct svc_map *env, const char *path, struct sv_error *err)
{
    for (size_t i = 0; i < env->n; i++)
        if (!variable_valid(env->pairs[i].name))
            return svc_refuse(err, path, env->pairs[i].name,
                              "not a variable's name: letters, digits and _, no digit first");
    return 0;
}

static int check_dest(const struct svc_file *f, const char *path, struct sv_error *err)
{
    if (!*f->dest)
        return svc_refuse(err, path, NULL, "dest_file is empty");
    if (strchr(f->dest, '/') || !strcmp(f->dest, ".") || !strcmp(f->dest, ".."))
        return svc_refuse(err, path, f->dest, "dest_file is one name, without directories");
    for (const char *p = f->dest; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            return svc_refuse(err, path, f->dest, "dest_file has a control character");
    return 0;
}

static int check_file(const struct svc_file *f, const char *path, struct sv_error *err)
{
    bool as_it_is = f->type == SVC_FILE_STATIC || f->type == SVC_FILE_ARCHIVE;
    bool from = as_it_is || f->type == SVC_FILE_TEMPLATE || f->type == SVC_FILE_XML ||
                f->type == SVC_FILE_HADOOP_XML;

    if (as_it_is && !*f->src)
        return svc_refuse(err, path, NULL, "STATIC and ARCHIVE need src_file");
    if (as_it_is && f->properties.n)
        return svc_refuse(err, path, NULL,
                          "STATIC and ARCHIVE have no properties: src_file is "
                          "used as it is");
    if (!from && *f->src)
        return svc_refuse(err, path, f->src,
                          "src_file: PROPERTIES, JSON and YAML are written of "
                          "the properties alone");
    if (f->type == SVC_FILE_TEMPLATE && !*f->src && !svc_map_get(&f->properties, "content"))
        return svc_refuse(err, path, NULL,
                          "TEMPLATE needs src_file, or the text in properties.content");
    return check_dest(f, path, err);
}

static int by_dest(const void *a, const void *b)
{
    return strcmp((*(const struct svc_file *const *)a)->dest,
                  (*(const struct svc_file *const *)b)->dest);
}

static int check_files(const struct svc_configuration *c, const char *path, struct sv_error *err)
{
    const struct svc_file *sorted[SVC_FILES_MAX];
    struct svc_path at;

    if (c->n_files > SVC_FILES_MAX)
        return svc_refuse(err, path, NULL, "files: at most %d", SVC_FILES_MAX);
    for (size_t i = 0; i < c->n_files; i++) {
        int r;

        at = svc_path("%s.files[%zu]", path, i);
        r = check_file(&c->files[i], at.text, err);
        if (r < 0)
            return r;
        sorted[i] = &c->files[i];
    }
    qsort(sorted, c->n_files, sizeof *sorted, by_dest);
    for (size_t i = 1; i < c->n_files; i++)
        if (!strcmp(sorted[i - 1]->dest, sorted[i]->dest)) {
            at = svc_path("%s.files", path);
            return svc_refuse(err, at.text, sorted[i]->dest, "dest_file of two files");
        }
    return 0;
}

int svc_check_configuration(const struct svc_configuration *c, const char *path,
                            struct sv_error *err)
{
    struct svc_path at;
    int r;

    at = svc_path("%s.properties", path);
    r = svc_keys_check(&c->properties, at.text, err);
    if (r < 0)
        return r;
    at = svc_path("%s.env", path);
    r = check_env(&c->env, at.text, err);
    return r < 0 ? r : check_files(c, path, err);
}
